"""A tree in C."""

import json
import re

import numpy as np

from sktree_opt._version import __version__
from sktree_opt.export.code._procedures import ProcedureWriter, numbers_for_doubles
from sktree_opt.preprocessing._times import DATETIME, DATETIME_UTC, TIMEDELTA

# Units of dates, times and durations.
UNITS = {
    DATETIME: ", in seconds since 1970-01-01 00:00",
    DATETIME_UTC: ", in seconds since 1970-01-01 00:00 UTC",
    TIMEDELTA: ", in seconds",
}


class CWriter(ProcedureWriter):
    """C99."""

    comment, close = "//", "}"
    open_if, open_else_if, open_else = "if ({}) {{", "}} else if ({}) {{", "} else {"
    assign = "share[{}] = share[{}]{};"
    is_known = "!isnan({})"

    def variable(self, feature):
        """A member of the struct."""
        return f"row->{self.member(feature)}"

    def member(self, feature):
        """Name of the member that holds a feature."""
        return f"x{feature}_{re.sub('[^A-Za-z0-9_]+', '_', self.program.names[feature])}".rstrip(
            "_"
        )

    def return_leaf(self, leaf):
        """The end of a path."""
        return f"return {leaf}; // {self.answer_note(leaf)}"

    def is_in(self, feature, group):
        """A value being one of some categories."""
        name = self.variable(feature)
        if self._is_text(feature):
            # A number beside strings is never equal to a string of the row.
            texts = [c_string(value) for value in group if isinstance(value, str)]
            same = " || ".join(f"strcmp({name}, {text}) == 0" for text in texts)
            return f"{name} != NULL && ({same or '0'})"
        return " || ".join(f"{name} == {float(value)!r}" for value in numbers_for_doubles(group))

    def _is_text(self, feature):
        categories = self.program.categories.get(feature, ())
        return any(isinstance(value, str) for value in categories)

    def code(self):
        """The source file."""
        program, name = self.program, self.name
        n_leaves, n_outputs = np.shape(self.probabilities)
        lines = [
            f"// A {self.what}, written by sktree_opt {__version__}. C99.",
            "// NAN and a null pointer are missing values. Do not compile with -ffast-math, which",
            "// breaks the tests for NAN.",
            "#include <math.h>",
            "#include <stddef.h>",
            "#include <string.h>",
            "",
            "typedef struct {",
            *(
                f"    {'const char *' if self._is_text(j) else 'double '}{self.member(j)};"
                f"  // {json.dumps(program.names[j])}{UNITS.get(program.times.get(j), '')}"
                for j in program.features
            ),
            *([] if program.features else ["    char unused;"]),
            f"}} {name}_row;",
            "",
        ]
        if program.is_classifier:
            labels = ", ".join(c_string(str(label)) for label in program.labels)
            lines += [f"const char *const {name}_classes[] = {{{labels}}};"]
        lines += self._table("values", self.probabilities)
        if program.is_distributed and program.is_classifier:
            lines += self._table("worth", self.worth)
        lines += ["", *self._walk_lines(n_leaves), "", *self._answer_lines(n_leaves, n_outputs)]
        return "\n".join(lines) + "\n"

    def _table(self, what, rows):
        size = f"[{len(rows)}][{len(rows[0])}]"
        lines = [f"static const double {self.name}_{what}{size} = {{"]
        return [*lines, *(f"    {{{', '.join(map(repr, row))}}}," for row in rows), "};"]

    def _walk_lines(self, n_leaves):
        name, n_nodes = self.name, len(self.program.tests)
        if self.is_nested:
            head = [f"static int {name}_leaf(const {name}_row *row) {{", "    (void)row;"]
            return [*head, *self.walk(), "}"]
        leaves = ", ".join(map(str, self.leaves))
        return [
            f"static void {name}_shares(const {name}_row *row, double *shares) {{",
            f"    static const int leaves[{n_leaves}] = {{{leaves}}};",
            f"    double share[{n_nodes}] = {{1.0}};",
            "    (void)row;",
            *self.walk(),
            f"    for (int leaf = 0; leaf < {n_leaves}; ++leaf)",
            "        shares[leaf] = share[leaves[leaf]];",
            "}",
        ]

    def _answer_lines(self, n_leaves, n_outputs):
        name, program = self.name, self.program
        shares = [f"    double shares[{n_leaves}];", f"    {name}_shares(row, shares);"]
        each_leaf = f"for (int leaf = 0; leaf < {n_leaves}; ++leaf)"
        each_class = f"for (int k = 0; k < {n_outputs}; ++k)"
        head = f"{'int' if program.is_classifier else 'double'} {name}(const {name}_row *row) {{"
        if not program.is_classifier:
            if self.is_nested:
                return [head, f"    return {name}_values[{name}_leaf(row)][0];", "}"]
            total = f"    {each_leaf} total += shares[leaf] * {name}_values[leaf][0];"
            return [head, *shares, "    double total = 0.0;", total, "    return total;", "}"]
        answers = f"    static const int answers[] = {{{', '.join(map(str, self.answers))}}};"
        if self.is_nested:
            lines = [head, answers, f"    return answers[{name}_leaf(row)];", "}"]
            copy = f"    {each_class} probabilities[k] = {name}_values[{name}_leaf(row)][k];"
        elif program.is_distributed:
            lines = [
                head,
                *shares,
                f"    double worth[{n_outputs}] = {{0.0}}, best = -INFINITY;",
                f"    {each_class} {{",
                f"        {each_leaf} worth[k] += shares[leaf] * {name}_worth[leaf][k];",
                "        if (worth[k] > best) best = worth[k];",
                "    }",
                "    int k = 0;",
                f"    while (worth[k] < best - {program.tolerance!r}) ++k;",
                "    return k;",
                "}",
            ]
        else:
            last = f"    for (int leaf = 0; leaf < {n_leaves - 1}; ++leaf)"
            test = "        if (shares[leaf] > 0.0) return answers[leaf];"
            lines = [
                head,
                answers,
                *shares,
                last,
                test,
                f"    return answers[{n_leaves - 1}];",
                "}",
            ]
        proba = f"void {name}_proba(const {name}_row *row, double *probabilities) {{"
        if self.is_nested:
            return [*lines, "", proba, copy, "}"]
        sums = [
            f"    {each_class} {{",
            "        probabilities[k] = 0.0;",
            f"        {each_leaf} probabilities[k] += shares[leaf] * {name}_values[leaf][k];",
            "    }",
        ]
        return [*lines, "", proba, *shares, *sums, "}"]


def c_string(text):
    """A string literal of C, in UTF-8."""
    if "\0" in text:
        raise ValueError(f"C strings cannot hold the NUL character in {text!r}.")
    plain = set(range(32, 127)) - set(b'"\\?')
    encoded = (chr(b) if b in plain else f"\\{b:03o}" for b in text.encode())
    return '"' + "".join(encoded) + '"'
