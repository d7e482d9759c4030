"""Executes exported trees from their words alone: what a careful reader would do by hand."""

import json
import re
from dataclasses import dataclass, field

import numpy as np

CATEGORY = re.compile(r'"(?:[^"\\]|\\.)*"|[^",{}]+')


@dataclass
class Leaf:
    """What a leaf says."""

    answer: str
    weight: float
    # Weight of each class; the mean alone for regression.
    content: dict

    def shares(self, _):
        return [(self, 1.0)]


@dataclass
class Question:
    """A test, and the words of its branches."""

    feature: str
    branches: list = field(default_factory=list)
    # By the last line of the text, whether a missing value takes the last branch.
    last_takes_missing: bool = False

    @property
    def weight(self):
        return sum(child.weight for _, child in self.branches)

    def shares(self, row):
        """Leaves that a row ends in, each with its share."""
        texts = [text for text, _ in self.branches]
        chosen = choose(texts, row[self.feature])
        if chosen is None and self.last_takes_missing:
            chosen = len(texts) - 1
        if chosen is not None:
            return self.branches[chosen][1].shares(row)
        found = []
        for _, child in self.branches:
            if child.weight > 0:
                below = child.shares(row)
                found += [(leaf, share * child.weight / self.weight) for leaf, share in below]
        return found


@dataclass
class Cell:
    """A value as a reader of the words sees it: None where missing or never seen."""

    value: object
    categories: list | None


def choose(texts, cell):
    """Branch that a cell takes; None for all of them."""
    if texts == ["is missing", "is not missing"]:
        return 0 if cell.value is None else 1
    bare = [text.removesuffix(" or missing") for text in texts]
    if cell.value is None:
        named = [b for b, text in enumerate(texts) if text != bare[b]]
        assert len(named) <= 1
        return named[0] if named else None
    holds = [b for b, text in enumerate(bare) if is_met(text, cell)]
    if not holds:
        assert bare[-1] == "is any other"
        return len(bare) - 1
    assert len(holds) == 1, (texts, cell)
    return holds[0]


def is_met(text, cell):
    """Whether a known value meets what a branch asks."""
    operator, _, operand = text.partition(" ")
    if operator == "not":
        return not is_met(operand, cell)
    if operator == "in":
        return str(cell.value) in parse_categories(operand)
    if operator in ("=", "!="):
        return (str(cell.value) in parse_categories(operand)) == (operator == "=")
    if operator in ("<=", ">"):
        value, bound = cell.value, operand
        if cell.categories is None:
            bound = float(operand)
        else:
            order = [str(category) for category in cell.categories]
            value, bound = order.index(str(value)), order.index(parse_categories(operand)[0])
        return (value <= bound) == (operator == "<=")
    assert text == "is any other", text
    return False


def parse_categories(text):
    """Categories of ``a`` or ``{a, "b, c"}``."""
    found = [word.strip() for word in CATEGORY.findall(text)]
    return [json.loads(word) if word.startswith('"') else word for word in found if word]


def parse_leaf(answer, content):
    """A leaf from the class or mean it answers and what stands in brackets."""
    weight, above = None, content
    if content.startswith("no row; above it "):
        weight, above = 0.0, content.removeprefix("no row; above it ")
    try:
        parts = {answer: float(above)}
    except ValueError:
        pairs = [part.rpartition(" ") for part in above.split(", ")]
        parts = {name: float(number) for name, _, number in pairs}
    return Leaf(answer, sum(parts.values()) if weight is None else weight, parts)


def obey_note(root, note):
    """Let each test do what the closing line says of missing values."""
    open_tests = [root] if isinstance(root, Question) else []
    for test in open_tests:
        test.last_takes_missing = "takes the last branch" in note
        open_tests += [child for _, child in test.branches if isinstance(child, Question)]
    return root


def read_row(row, columns):
    """A row of cells by column name, as `is_met` wants them."""
    cells = {}
    for column, value in zip(columns, row, strict=True):
        categories = column.get("categories")
        is_nan = value is None or (isinstance(value, float) and np.isnan(value))
        unknown = categories is not None and not is_nan and value not in categories
        cells[column["name"]] = Cell(None if is_nan or unknown else value, categories)
    return cells


def predict(root, row, columns, classes=None):
    """Class probabilities in the order of `classes`, or the mean."""
    total = np.zeros(1 if classes is None else len(classes))
    for leaf, share in root.shares(read_row(row, columns)):
        if classes is None:
            total += share * float(leaf.answer)
        else:
            sums = np.array([leaf.content.get(name, 0.0) for name in classes])
            total += share * sums / sums.sum()
    return total


# Operators of the records of `export_rules`.
OPERATORS = {
    "<=": lambda v, a: v <= a,
    ">": lambda v, a: v > a,
    "between": lambda v, a: a[0] < v <= a[1],
    "in": lambda v, a: v in a,
    "not in": lambda v, a: v not in a,
    "known": lambda v, a: True,
    "missing": lambda v, a: False,
}


def share_of(rule, row, listed=()):
    """Share of a row, a dict, that a rule holds for, by the records alone.

    `listed` are the categories that the rules list, by feature.
    """
    share = 1.0
    for condition in rule["conditions"]:
        name, value = condition["feature"], row[condition["feature"]]
        is_by_weight = 0.0 < condition["missing"] < 1.0
        if value is None or (is_by_weight and name in listed and value not in listed[name]):
            share *= condition["missing"]
        else:
            share *= OPERATORS[condition["operator"]](value, condition["value"])
    return share
