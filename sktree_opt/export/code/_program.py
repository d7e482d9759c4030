"""A fitted tree as plain Python values: what code, pages and single rows are made from."""

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from sktree_opt.export._description import missing_shares
from sktree_opt.tree._node import IS_MISSING, LEAF, NUMERIC


@dataclass(frozen=True)
class Test:
    """The test of a node.

    Attributes
    ----------
    feature : int
        The column that it asks about.

    threshold : float or None
        A number that is at most the threshold takes branch 0, a larger one branch 1. None for
        tests of categories, and for a test that asks whether a number is missing.

    groups : list of list or None
        Categories of each branch; None for a column of numbers.

    children : list of int
        The nodes that the branches lead to.

    missing : int
        Branch of a missing value or of a category that fit never saw; -1 if such a row goes down
        every branch.

    shares : list of float
        Share of such a row that goes down each branch.
    """

    feature: int
    threshold: float | None
    groups: list | None
    children: list
    missing: int
    shares: list


@dataclass(frozen=True)
class Program:
    """All that prediction needs.

    Attributes
    ----------
    names : list of str
        Names of the columns.

    categories : dict of int to list
        Categories of the tested columns that have any, in the order of their codes.

    tests : list of Test or None
        One for each node; None for a leaf.

    labels : list or None
        The classes; None for regression.

    decisions : list of int or None
        Index of the class that each node answers.

    frequencies, probabilities : ndarray of shape (n_nodes, n_outputs)
        What answers are decided from, and what ``predict_proba`` gives. Both are the mean for
        regression.

    costs : ndarray or None
        Cost of answering the class of a column when the class of the row is right.

    tolerance : float
        Worths that are closer than this are equal.

    times : dict of int to str
        Kind of the tested columns of dates, times and durations, whose thresholds are seconds.

    rules : list of list of (int, int), or None
        For a rule list: the tests of each rule and the branches that it asks for, in order.
        Decisions, frequencies and probabilities are then those of the rules, and last those of the
        default.
    """

    names: list
    categories: dict
    tests: list
    labels: list | None
    decisions: list | None
    frequencies: np.ndarray
    probabilities: np.ndarray
    costs: np.ndarray | None
    tolerance: float
    times: dict
    rules: list | None = None

    @property
    def features(self):
        """Sorted indices of the tested columns."""
        if self.rules is not None:
            return sorted({self.tests[i].feature for rule in self.rules for i, _ in rule})
        return sorted({test.feature for test in self.tests if test is not None})

    @property
    def leaves(self):
        """The nodes without a test; for a rule list, the rules and the default."""
        if self.rules is not None:
            return list(range(len(self.rules) + 1))
        return [index for index, test in enumerate(self.tests) if test is None]

    @property
    def is_classifier(self):
        """Whether the answer is a class."""
        return self.labels is not None

    @property
    def is_distributed(self):
        """Whether a row may end in several leaves."""
        return self.rules is None and any(test and test.missing < 0 for test in self.tests)

    def worth(self, frequencies):
        """How good each class is as the answer, for rows of class frequencies."""
        return frequencies if self.costs is None else -(frequencies @ self.costs)

    def decide(self, frequencies):
        """Index of the class to answer for one row of class frequencies."""
        worth = self.worth(np.asarray(frequencies))
        return int(np.argmax(worth >= worth.max() - self.tolerance))


def make_program(words):
    """The ``Program`` of a ``Description``."""
    tree = words.tree
    tests = [
        None if node["kind"] == LEAF else make_test(words, index, node)
        for index, node in enumerate(tree.nodes)
    ]
    tested = sorted({test.feature for test in tests if test is not None})
    return Program(
        names=list(words.feature_names),
        categories={j: known_categories(words, j) for j in tested if has_categories(words, j)},
        tests=tests,
        labels=None if words.labels is None else np.asarray(words.labels).tolist(),
        decisions=None if words.decisions is None else np.asarray(words.decisions).tolist(),
        frequencies=words.frequencies,
        probabilities=words.probabilities,
        costs=words.costs,
        tolerance=words.tie_tolerance,
        times={j: kind for j, kind in words.times.items() if j in tested},
        rules=words.rules,
    )


def make_test(words, index, node):
    """The test of a node, thresholds on ordered categories as groups of these."""
    feature, first = int(node["feature"]), int(node["first_child"])
    categories = known_categories(words, feature) if has_categories(words, feature) else None
    count, target = int(node["n_children"]), int(node["missing_branch"])
    threshold = groups = None
    if node["kind"] == IS_MISSING:
        target, groups = 0, None if categories is None else [[], categories]
    elif node["kind"] == NUMERIC and categories is None:
        threshold = float(node["threshold"])
    elif node["kind"] == NUMERIC:
        n_first = min(len(categories), max(0, math.floor(node["threshold"]) + 1))
        groups = [categories[:n_first], categories[n_first:]]
    else:
        branch_of = words.tree.branches(index).tolist()
        groups = [[] for _ in range(count)]
        for category, branch in zip(categories, branch_of, strict=False):
            groups[branch].append(category)
    shares = missing_shares(words.tree, index).tolist()
    return Test(feature, threshold, groups, list(range(first, first + count)), target, shares)


def has_categories(words, feature):
    """Whether a column holds categories; for a bare tree, whether a test says so."""
    nodes = words.tree.nodes
    return words.categories[feature] is not None or bool(
        np.any(nodes["n_categories"][nodes["feature"] == feature] > 0)
    )


def known_categories(words, feature):
    """Categories of a column as plain values, in the order of their codes."""
    categories = words.categories[feature]
    if categories is None:
        return list(range(words.n_codes(feature)))
    return [c.item() if isinstance(c, np.generic) else c for c in categories]


def refuse_other_values(values, what):
    """Raise unless all values are strings, numbers or Booleans, which all languages know."""
    value: Any
    for value in values:
        is_finite = isinstance(value, float) and math.isfinite(value)
        if not (isinstance(value, (str, bool, Integral)) or is_finite):
            raise ValueError(
                f"{what} must be strings, finite numbers or Booleans, got {value!r} of type "
                f"{type(value).__name__}."
            )
