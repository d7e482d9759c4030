"""A tree as a SQL query: one WHEN for each rule, or a share of the row for each leaf."""

import math

import numpy as np

from sktree_opt.export._rules import allowed_codes, ordered_rules, reachable_leaves
from sktree_opt.preprocessing._times import DATETIME, DATETIME_UTC, time_of_seconds


def sql_code(program, words, name):
    """A query that adds the answers to the rows of table `name`."""
    leaf = "tree_leaf"
    while any(column.lower().startswith(leaf) for column in program.names):
        leaf += "_"
    leaves = ordered_rules(words) if words.rules is not None else reachable_leaves(words.tree)
    rules = [(index, conditions_of(program, words, conditions)) for index, conditions in leaves]
    write = shared_query if program.is_distributed else plain_query
    return "\n".join(write(program, rules, leaf, identifier(name)))


def conditions_of(program, words, conditions):
    """For each column of a rule: when it holds, when it does not, and the share without a value.

    A condition is SQL text. The second one is None for a column of numbers.
    """
    found = []
    for feature, condition in conditions.items():
        column = identifier(program.names[feature])
        operator, codes = allowed_codes(words, feature, condition)
        if operator is None:
            parts = []
            if not condition.is_known:
                parts = ["1 = 0"]
            else:
                kind = program.times.get(feature)
                if condition.lower > -math.inf:
                    parts.append(f"{column} > {threshold_text(condition.lower, kind)}")
                if condition.upper < math.inf:
                    parts.append(f"{column} <= {threshold_text(condition.upper, kind)}")
            holds = " AND ".join(parts) or f"{column} IS NOT NULL"
            found.append((column, holds, None, condition.missing))
            continue
        categories = program.categories[feature]
        listed = [categories[code] for code in codes]
        others = [c for code, c in enumerate(categories) if code not in set(codes)]
        inside, outside = (listed, others) if operator == "in" else (others, listed)
        found.append((column, in_list(column, inside), in_list(column, outside), condition.missing))
    return found


def plain_query(program, rules, leaf, table):
    """The query of a tree that sends each row to one leaf."""
    yield "WITH tree_leaves AS (\n  SELECT *, CASE"
    for index, conditions in rules:
        parts = []
        for column, holds, fails, missing in conditions:
            if fails is not None and missing == 1.0:
                fails = fails.replace(f"{column} IN (", f"{column} NOT IN (", 1)
                is_never = fails == "1 = 0"
                parts.append("1 = 1" if is_never else f"({column} IS NULL OR {fails})")
            elif missing == 1.0:
                is_never = holds == "1 = 0"
                parts.append(f"{column} IS NULL" if is_never else f"({column} IS NULL OR {holds})")
            else:
                parts.append(holds)
        yield f"    WHEN {' AND '.join(parts) or '1 = 1'} THEN {index}"
    yield f"  END AS {leaf} FROM {table}\n)"
    leaves = [index for index, _ in rules]
    yield "SELECT *,"
    if not program.is_classifier:
        means = [(index, double(program.frequencies[index, 0])) for index in leaves]
        yield f"  {case_of(leaf, means)} AS prediction"
    else:
        labels = [(index, literal(program.labels[program.decisions[index]])) for index in leaves]
        columns = [f"  {case_of(leaf, labels)} AS prediction"]
        for k, label in enumerate(program.labels):
            shares = [(index, double(program.probabilities[index, k])) for index in leaves]
            columns.append(f"  {case_of(leaf, shares)} AS {probability_name(label)}")
        yield ",\n".join(columns)
    yield "FROM tree_leaves;\n"


def shared_query(program, rules, leaf, table):
    """The query of a tree that sends a row without a tested value down every branch."""
    yield "WITH tree_shares AS (\n  SELECT *,"
    columns = []
    for index, conditions in rules:
        factors = [factor(*condition) for condition in conditions]
        columns.append(f"    {' * '.join(factors) or '1.0e0'} AS {leaf}_{index}")
    yield ",\n".join(columns)
    yield f"  FROM {table}\n)"
    leaves = [index for index, _ in rules]

    def mean(values):
        terms = [f"{leaf}_{i} * {double(values[i])}" for i in leaves if values[i] != 0]
        return balanced_sum(terms)

    if not program.is_classifier:
        yield f"SELECT *,\n  {mean(program.frequencies[:, 0])} AS prediction"
        yield "FROM tree_shares;\n"
        return
    worth = program.worth(program.frequencies)
    yield ", tree_worth AS (\n  SELECT *,"
    columns = [
        f"    {mean(program.probabilities[:, k])} AS {probability_name(label)}"
        for k, label in enumerate(program.labels)
    ]
    columns += [f"    {mean(worth[:, k])} AS {leaf}_worth_{k}" for k in range(worth.shape[1])]
    yield ",\n".join(columns)
    yield "  FROM tree_shares\n)\nSELECT *,\n  CASE"
    for k, label in enumerate(program.labels[:-1]):
        better = [
            f"{leaf}_worth_{k} >= {leaf}_worth_{j} - {double(program.tolerance)}"
            for j in range(len(program.labels))
            if j != k
        ]
        yield f"    WHEN {' AND '.join(better)} THEN {literal(label)}"
    last = literal(program.labels[-1])
    yield (
        f"    ELSE {last} END AS prediction"
        if len(program.labels) > 1
        else f"    WHEN 1 = 1 THEN {last} END AS prediction"
    )
    yield "FROM tree_worth;\n"


def factor(column, holds, fails, missing):
    """Share of a row that one condition lets through."""
    share = double(missing)
    if fails is None:
        return f"CASE WHEN {column} IS NULL THEN {share} WHEN {holds} THEN 1.0e0 ELSE 0.0e0 END"
    return f"CASE WHEN {holds} THEN 1.0e0 WHEN {fails} THEN 0.0e0 ELSE {share} END"


def case_of(column, pairs):
    """The value that belongs to a leaf; equal values share a WHEN."""
    by_value = {}
    for index, value in pairs:
        by_value.setdefault(value, []).append(str(index))
    whens = (f"WHEN {column} IN ({', '.join(i)}) THEN {v}" for v, i in by_value.items())
    return f"CASE {' '.join(whens)} END"


def balanced_sum(terms):
    """A sum in nested brackets, because databases limit the depth of an expression."""
    if len(terms) < 2:
        return terms[0] if terms else "0.0e0"
    middle = len(terms) // 2
    return f"({balanced_sum(terms[:middle])} + {balanced_sum(terms[middle:])})"


def in_list(column, values):
    """A value being one of some categories."""
    return f"{column} IN ({', '.join(map(literal, values))})" if values else "1 = 0"


def probability_name(label):
    """Name of the column with the probability of a class."""
    return identifier(f"probability_{label}")


def identifier(name):
    """A quoted name of a table or column."""
    refuse_nul(name)
    return '"' + name.replace('"', '""') + '"'


def literal(value):
    """A category or class as SQL text."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        refuse_nul(value)
        return "'" + value.replace("'", "''") + "'"
    return str(value) if isinstance(value, int) else double(value)


def refuse_nul(text):
    """Raise for the one character that SQL text cannot hold."""
    if "\0" in text:
        raise ValueError(f"SQL cannot hold the NUL character in {text!r}.")


def double(value):
    """A number as SQL text that databases read as a double."""
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


def threshold_text(value, kind=None):
    """A threshold; without an exponent where every numeric type of a database holds it exactly.

    Dates and times are texts, which databases compare with their own types and with such texts.
    Durations are numbers of seconds.
    """
    if kind in (DATETIME, DATETIME_UTC):
        when = time_of_seconds(value, kind)
        return f"'{when.isoformat(sep=' ') if hasattr(when, 'isoformat') else when}'"
    is_short = float(np.float32(value)) == value and abs(value) < 2.0**24
    return repr(float(value)) if is_short and "e" not in repr(float(value)) else double(value)
