"""A tree in languages that have if, else and lists: Python, JavaScript, and C in ``_c.py``.

A tree that sends each row to one leaf becomes nested ifs, and a rule list one if for each rule. A
tree that sends a row without a tested value down every branch becomes a list of shares, one for
each node, computed from the root on; the answer is the mean of the leaves, weighted by share.
"""

import json

from sktree_opt._version import __version__
from sktree_opt.preprocessing._times import TIMEDELTA

# Parsers limit nesting, so deeper trees become a list of shares too.
MAX_NESTED_DEPTH = 40
# A double holds every whole number up to this one.
LARGEST_WHOLE = 2**53


PYTHON_SECONDS = [
    "",
    "",
    "def seconds(row, name):",
    '    """The seconds of a duration, or since 1970 of a date or time; NaN if it is missing.',
    "",
    "    Dates and times may be written in ISO format; without a zone they are as in training.",
    '    """',
    "    value = row.get(name)",
    "    if value is None or value != value:",
    '        return float("nan")',
    "    if isinstance(value, str):",
    "        value = datetime.datetime.fromisoformat(value)",
    "    if isinstance(value, datetime.timedelta):",
    "        return value.total_seconds()",
    "    if not isinstance(value, datetime.datetime):",
    "        value = datetime.datetime(value.year, value.month, value.day)",
    "    zone = None if value.tzinfo is None else datetime.timezone.utc",
    "    return (value - datetime.datetime(1970, 1, 1, tzinfo=zone)).total_seconds()",
]
JAVASCRIPT_SECONDS = [
    "    // Seconds since 1970 of a Date, or of a text in ISO format; without a zone it is UTC.",
    "    const seconds = (name) => {",
    "        const value = row[name];",
    "        if (value === null || value === undefined) return NaN;",
    "        if (value instanceof Date) return value.getTime() / 1000;",
    '        const text = String(value).replace(" ", "T");',
    "        const hasZone = /T.*(Z|[+-]\\d\\d(:?\\d\\d)?)$/i.test(text);",
    '        const found = Date.parse(text.includes("T") && !hasZone ? text + "Z" : text) / 1000;',
    "        if (Number.isNaN(found))",
    "            throw new TypeError(`Column ${name} must hold dates or times, got ${value}.`);",
    "        return found;",
    "    };",
]


class ProcedureWriter:
    """The parts that all languages share.

    Parameters
    ----------
    program : Program
        What to write.

    name : str
        Name of the function.
    """

    comment: str
    open_if: str
    open_else_if: str
    open_else: str
    close: str
    assign: str
    is_known: str
    both, negation = "&&", "!"

    def __init__(self, program, name):
        self.program, self.name = program, name
        self.leaves = program.leaves
        self.what = "decision tree" if program.rules is None else "rule list"
        depths = [0] * len(program.tests)
        for index, test in enumerate(program.tests):
            for child in test.children if test else ():
                depths[child] = depths[index] + 1
        is_shallow = max(depths) <= MAX_NESTED_DEPTH or program.rules is not None
        self.is_nested = not program.is_distributed and is_shallow
        self.probabilities = program.probabilities[self.leaves].tolist()
        # The answer has the largest worth; for regression, it is the mean.
        self.worth = program.frequencies[self.leaves]
        if program.is_classifier:
            self.worth = program.worth(self.worth)
            self.answers = [program.decisions[index] for index in self.leaves]
        self.worth = self.worth.tolist()
        self.lines = []

    def variable(self, feature):
        """Name of the variable that holds the value of a feature."""
        return f"x{feature}"

    def walk(self):
        """The lines that find the leaf, or the shares, of a row."""
        self.lines = []
        if self.program.rules is not None:
            self._write_rules()
        elif self.is_nested:
            self._write_nested(0, 0)
        else:
            self._write_shares()
        return self.lines

    def _write(self, depth, text):
        self.lines.append("    " * (1 + depth) + text)

    def _write_nested(self, index, depth):
        test = self.program.tests[index]
        if test is None:
            leaf = self.leaves.index(index)
            self._write(depth, self.return_leaf(leaf))
            return
        branches = [
            (condition, child)
            for b, (condition, child) in enumerate(self._conditions(test))
            if b != test.missing and condition is not None
        ]
        for number, (condition, child) in enumerate(branches):
            opening = self.open_else_if if number else self.open_if
            self._write(depth, opening.format(condition))
            self._write_nested(child, depth + 1)
        if branches:
            self._write(depth, self.open_else)
        self._write_nested(test.children[test.missing], depth + bool(branches))
        if branches and self.close:
            self._write(depth, self.close)

    def _write_rules(self):
        for number, rule in enumerate(self.program.rules):
            parts = [
                part
                for index, branch in rule
                for part in self._meets(self.program.tests[index], branch)
            ]
            if len(parts) > 1:
                parts = [f"({part})" for part in parts]
            if parts:
                self._write(0, self.open_if.format(f" {self.both} ".join(parts)))
            self._write(bool(parts), self.return_leaf(number))
            if parts and self.close:
                self._write(0, self.close)
        self._write(0, self.return_leaf(len(self.program.rules)))

    def _meets(self, test, branch):
        """Conditions that a row meets which takes a branch; missing values may take it, too."""
        conditions = [condition for condition, _ in self._conditions(test)]
        if branch != test.missing:
            return [conditions[branch]]
        others = [condition for b, condition in enumerate(conditions) if b != branch and condition]
        return [f"{self.negation}({condition})" for condition in others]

    def _write_shares(self):
        for index, test in enumerate(self.program.tests):
            if test is None:
                continue
            opening = self.open_if
            for condition, child in self._conditions(test):
                if condition is not None:
                    self._write(0, opening.format(condition))
                    self._write(1, self.assign.format(child, index, ""))
                    opening = self.open_else_if
            self._write(0, self.open_else)
            for b, child in enumerate(test.children):
                if test.missing == b:
                    self._write(1, self.assign.format(child, index, ""))
                elif test.missing < 0 and test.shares[b] > 0:
                    self._write(1, self.assign.format(child, index, f" * {test.shares[b]!r}"))
            if self.close:
                self._write(0, self.close)

    def _conditions(self, test):
        """When a known value takes each branch (None: never), and the node it leads to."""
        name = self.variable(test.feature)
        if test.groups is not None:
            texts = [self.is_in(test.feature, group) if group else None for group in test.groups]
        elif test.threshold is None:
            texts = [None, self.is_known.format(name)]
        else:
            texts = [f"{name} <= {test.threshold!r}", f"{name} > {test.threshold!r}"]
        return zip(texts, test.children, strict=True)

    def answer_note(self, leaf):
        """The answer of a leaf, for a comment."""
        if self.program.is_classifier:
            return json.dumps(self.program.labels[self.answers[leaf]])
        return f"{self.worth[leaf][0]:.6g}"


class PythonWriter(ProcedureWriter):
    """Python that needs no other package."""

    comment, close = "#", ""
    open_if, open_else_if, open_else = "if {}:", "elif {}:", "else:"
    assign = "share[{}] = share[{}]{}"
    is_known = "{0} == {0}"
    both, negation = "and", "not "

    def return_leaf(self, leaf):
        """The end of a path."""
        return f"return {leaf}  # {self.answer_note(leaf)}"

    def is_in(self, feature, group):
        """A value being one of some categories."""
        if len(group) == 1:
            return f"{self.variable(feature)} == {group[0]!r}"
        return f"{self.variable(feature)} in ({', '.join(map(repr, group))})"

    def code(self):
        """The module."""
        program, name = self.program, self.name
        proba = f"{name}_proba"
        lines = [
            f'"""A {self.what}, written by sktree_opt {__version__}.',
            "",
            f"{name}(row) answers for a mapping from column names to values. None, NaN and an",
            "absent key are missing values.",
        ]
        if program.is_classifier:
            lines += [f"{proba}(row) returns the probabilities, in the order of CLASSES."]
        lines += ['"""', ""]
        if program.times:
            lines += ["import datetime", ""]
        if program.is_classifier:
            lines += [f"CLASSES = {program.labels!r}"]
        values = self.probabilities if program.is_classifier else [v for (v,) in self.worth]
        what = "PROBABILITIES" if program.is_classifier else "MEANS"
        leaf = "leaf" if program.rules is None else "rule, the default last"
        lines += [f"{what} = [  # of each {leaf}", *(f"    {value!r}," for value in values), "]"]
        lines += self._walk_lines()
        lines += self._answer_lines(proba)
        return "\n".join(lines) + "\n"

    def _walk_lines(self):
        program = self.program
        found = (
            "The number of the leaf that a row ends in." if self.is_nested else "Shares of a row."
        )
        if program.rules is not None:
            found = "The number of the first rule that a row meets."
        lines = ["", "", "def find_leaf(row):" if self.is_nested else "def find_shares(row):"]
        lines += [f'    """{found}"""']
        for j in program.features:
            key = repr(program.names[j])
            reads = "seconds" if j in program.times else "number"
            value = f"row.get({key})" if j in program.categories else f"{reads}(row, {key})"
            lines.append(f"    {self.variable(j)} = {value}")
        if not self.is_nested:
            lines.append(f"    share = [1.0] + [0.0] * {len(program.tests) - 1}")
        lines += self.walk()
        if not self.is_nested:
            lines.append(f"    return [share[leaf] for leaf in {tuple(self.leaves)}]")
        if program.times:
            lines += PYTHON_SECONDS
        if any(j not in program.categories and j not in program.times for j in program.features):
            lines += [
                "",
                "",
                "def number(row, name):",
                '    """The number in a column; NaN if it is missing."""',
                "    value = row.get(name)",
                "    if isinstance(value, str):",
                '        raise TypeError(f"Column {name!r} must hold numbers, got {value!r}.")',
                '    return float("nan") if value is None else float(value)',
            ]
        return lines

    def _answer_lines(self, proba):
        program = self.program
        lines = ["", "", f"def {self.name}(row):", '    """The answer for a row."""']
        is_class = program.is_classifier
        if self.is_nested and not is_class:
            return [*lines, "    return MEANS[find_leaf(row)]"]
        if not is_class:
            total = "sum(share * value for share, value in zip(find_shares(row), MEANS))"
            return [*lines, f"    return {total}"]
        leaf = "find_leaf(row)" if self.is_nested else "shares.index(1.0)"
        lines += [] if self.is_nested else ["    shares = find_shares(row)"]
        if program.is_distributed:
            lines += [
                "    worth = mean(shares, WORTH)",
                "    enough = max(worth) - TOLERANCE",
                "    return next(label for label, w in zip(CLASSES, worth) if w >= enough)",
            ]
        else:
            lines += [f"    return CLASSES[ANSWERS[{leaf}]]"]
        lines += [
            "",
            "",
            f"def {proba}(row):",
            '    """The probability of each class for a row."""',
        ]
        if self.is_nested:
            lines += ["    return list(PROBABILITIES[find_leaf(row)])"]
        else:
            lines += ["    return mean(find_shares(row), PROBABILITIES)"]
            lines += [
                "",
                "",
                "def mean(shares, values):",
                '    """Mean of the values of the leaves, weighted by share."""',
                "    return [sum(map(float.__mul__, shares, column)) for column in zip(*values)]",
            ]
        if program.is_distributed:
            worth = [f"    {value!r}," for value in self.worth]
            lines += ["", "", "# The answer is the first class of the largest worth.", "WORTH = ["]
            lines += [*worth, "]", f"TOLERANCE = {program.tolerance!r}"]
        else:
            lines += ["", "", f"ANSWERS = {self.answers!r}  # positions in CLASSES"]
        return lines


class JavaScriptWriter(ProcedureWriter):
    """JavaScript for browsers and node."""

    comment, close = "//", "}"
    open_if, open_else_if, open_else = "if ({}) {{", "}} else if ({}) {{", "} else {"
    assign = "share[{}] = share[{}]{};"
    is_known = "!Number.isNaN({})"

    def return_leaf(self, leaf):
        """The end of a path."""
        return f"return {leaf}; // {self.answer_note(leaf)}"

    def is_in(self, feature, group):
        """A value being one of some categories."""
        values = numbers_for_doubles(group)
        if len(values) == 1:
            return f"{self.variable(feature)} === {json.dumps(values[0])}"
        return f"{json.dumps(values)}.includes({self.variable(feature)})"

    def code(self):
        """The script."""
        program, name = self.program, self.name
        values = self.probabilities if program.is_classifier else [v for (v,) in self.worth]
        data = {"values": values, "worth": self.worth, "tolerance": program.tolerance}
        if program.is_classifier:
            data = {"classes": program.labels, "answers": self.answers, **data}
        if not program.is_distributed:
            del data["worth"], data["tolerance"]
        lines = [
            f"// A {self.what}, written by sktree_opt {__version__}.",
            f"// {name}(row) answers for an object. null, undefined and NaN are missing values.",
            f"const {name}_tree = {{",
            *(f"  {key}: {json.dumps(value)}," for key, value in data.items()),
            "};",
            "",
            f"function {name}_{'leaf' if self.is_nested else 'shares'}(row) {{",
            "    const number = (name) => {",
            "        const value = row[name];",
            "        if (value === null || value === undefined) return NaN;",
            '        if (typeof value !== "number" && typeof value !== "boolean")',
            "            throw new TypeError(`Column ${name} must hold numbers, got ${value}.`);",
            "        return Number(value);",
            "    };",
            *(JAVASCRIPT_SECONDS if set(program.times.values()) - {TIMEDELTA} else ()),
            *(f"    const {self._read(j)};" for j in program.features),
        ]
        if not self.is_nested:
            lines.append(f"    const share = [1].concat(Array({len(program.tests) - 1}).fill(0));")
        lines += self.walk()
        if not self.is_nested:
            lines.append(f"    return {self.leaves}.map((leaf) => share[leaf]);")
        lines += ["}", "", *self._answer_lines()]
        exported = [name, f"{name}_proba"] if program.is_classifier else [name]
        names = ", ".join(exported)
        lines.append(f'if (typeof module !== "undefined") module.exports = {{ {names} }};')
        return "\n".join(lines) + "\n"

    def _read(self, feature):
        key, categories = json.dumps(self.program.names[feature]), self.program.categories
        is_text = feature in categories and any(isinstance(c, str) for c in categories[feature])
        is_time = self.program.times.get(feature, TIMEDELTA) != TIMEDELTA
        reads = "seconds" if is_time else "number"
        value = f"row[{key}]" if is_text else f"{reads}({key})"
        return f"{self.variable(feature)} = {value}"

    def _answer_lines(self):
        name, tree = self.name, f"{self.name}_tree"
        lines = []
        if not self.is_nested:
            lines += [
                f"function {name}_mean(shares, values) {{",
                "    return values[0].map((_, k) =>",
                "        shares.reduce((sum, share, leaf) => sum + share * values[leaf][k], 0));",
                "}",
                "",
            ]
        if not self.program.is_classifier:
            one = f"{tree}.values[{name}_leaf(row)]"
            many = f"{name}_mean({name}_shares(row), {tree}.values.map((v) => [v]))[0]"
            return [
                *lines,
                f"function {name}(row) {{",
                f"    return {one if self.is_nested else many};",
                "}",
                "",
            ]
        if self.program.is_distributed:
            answer = [
                f"    const worth = {name}_mean({name}_shares(row), {tree}.worth);",
                f"    const enough = Math.max(...worth) - {tree}.tolerance;",
                f"    return {tree}.classes[worth.findIndex((w) => w >= enough)];",
            ]
        else:
            leaf = f"{name}_leaf(row)" if self.is_nested else f"{name}_shares(row).indexOf(1)"
            answer = [f"    return {tree}.classes[{tree}.answers[{leaf}]];"]
        one = f"{tree}.values[{name}_leaf(row)].slice()"
        many = f"{name}_mean({name}_shares(row), {tree}.values)"
        lines += [f"function {name}(row) {{", *answer, "}", ""]
        lines += [f"function {name}_proba(row) {{"]
        return [*lines, f"    return {one if self.is_nested else many};", "}", ""]


def numbers_for_doubles(values):
    """Categories for a language whose numbers are doubles; Booleans are numbers."""
    for value in values:
        if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
            raise ValueError(
                f"The category {value} is too large for a double, the only type of numbers here."
            )
    if any(isinstance(value, str) for value in values):
        return list(values)
    return [int(value) if isinstance(value, bool) else value for value in values]
