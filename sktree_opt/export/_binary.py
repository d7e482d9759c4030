"""Any tree as one that compares numbers only: what scikit-learn and ONNX can run.

A column of categories becomes one number for each order of its categories that the tests need: the
place of the category in that order, and -1 for a missing value or a category that fit never saw. A
row that goes down several branches becomes a row that ends in one leaf, which holds their mean; the
tree grows by the number of ways that such rows can take.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from sktree_opt.export._rules import was_distributed
from sktree_opt.export.code._program import make_program

MAX_NODES = 100_000
# Beside the categories of a column, and beside the branches of a test.
UNKNOWN = object()
ALL = -1


@dataclass(frozen=True)
class BinaryColumn:
    """A column of numbers, or, with an order, of places of categories.

    Attributes
    ----------
    feature : int
        The column of the table.

    order : tuple or None
        Categories by place.
    """

    feature: int
    order: tuple | None = None


@dataclass
class BinaryTree:
    """Nodes as parallel lists; a leaf has -1 for its column and children.

    A value that is at most the threshold goes left, and a missing value where `missing_left` says.
    """

    columns: list = field(default_factory=list)
    column: list = field(default_factory=list)
    threshold: list = field(default_factory=list)
    missing_left: list = field(default_factory=list)
    left: list = field(default_factory=list)
    right: list = field(default_factory=list)
    weight: list = field(default_factory=list)
    probabilities: list = field(default_factory=list)
    answer: list = field(default_factory=list)


@dataclass(frozen=True)
class ReachingNumbers:
    """The numbers that can reach a node: a range, and whether missing or known ones can."""

    lower: float = -math.inf
    upper: float = math.inf
    may_miss: bool = True
    may_have: bool = True


def make_binary(words, *, is_exact):
    """The ``BinaryTree`` of a ``Description``.

    If not `is_exact`, a missing value goes down the branch with more weight at tests of columns
    that missed no value in training, as in scikit-learn.
    """
    program, with_holes = make_program(words), columns_with_holes(words)
    tests = list(program.tests)
    for index, test in enumerate(tests):
        is_shared = test is not None and test.missing < 0
        if is_shared and not is_exact and test.feature not in with_holes:
            tests[index] = replace(test, missing=int(np.argmax(test.shares)))
    return Builder(words, program, tests).build()


def columns_with_holes(words):
    """Columns that missed values in training, by what the estimator and the tree know."""
    encoder, tree = getattr(words.model, "_encoder", None), words.tree
    known = getattr(encoder, "had_holes_", None) or [False] * tree.n_features
    inner = np.flatnonzero(tree.nodes["n_children"] > 0)
    shared = {int(tree.nodes["feature"][i]) for i in inner if was_distributed(tree, i)}
    return shared | {j for j, has_holes in enumerate(known) if has_holes}


class Builder:
    """Grows a ``BinaryTree`` depth first, the left child before the right one."""

    def __init__(self, words, program, tests):
        self.words, self.program, self.tests = words, program, tests
        self.weights = words.tree.nodes["weight"].tolist()
        self.made = BinaryTree()
        self._place = {}

    def build(self):
        """The whole tree."""
        self._grow([(0, 1.0)], [], {}, self.weights[0])
        return self.made

    def _grow(self, open_nodes, leaves, known, weight):
        """Add the sub-tree of a row that is at some nodes by share; returns its index."""
        open_nodes, leaves = list(open_nodes), list(leaves)
        while open_nodes:
            index, share = open_nodes[-1]
            test = self.tests[index]
            if test is None:
                leaves.append(open_nodes.pop())
                continue
            split = self._split(test, known.get(test.feature))
            if isinstance(split, int):
                # All rows that come here take the same branch, or go down all.
                open_nodes.pop()
                open_nodes += self._ways(test, share, split)
                continue
            column, threshold, missing_left, sides, parts = split
            place = self._add(column, threshold, missing_left, weight)
            feature, total = test.feature, sum(parts)
            children = [
                self._grow(open_nodes, leaves, {**known, feature: side}, weight * part / total)
                for side, part in zip(sides, parts, strict=True)
            ]
            self.made.left[place], self.made.right[place] = children
            means = [np.asarray(self.made.probabilities[child]) for child in children]
            shares = np.array(parts) / total
            self.made.probabilities[place] = (shares[0] * means[0] + shares[1] * means[1]).tolist()
            return place
        return self._add_leaf(leaves, weight)

    def _ways(self, test, share, label):
        if label != ALL:
            return [(test.children[label], share)]
        ways = zip(test.children, test.shares, strict=True)
        return [(child, share * part) for child, part in ways if part > 0]

    def _split(self, test, known):
        """Where rows part at a test: column, threshold, missing_left, what is known, and weights.

        An integer if they do not part: the branch, or ALL.
        """
        if test.groups is not None:
            return self._split_categories(test, known)
        known = ReachingNumbers() if known is None else known
        if test.threshold is None:
            can_left, can_right = False, known.may_have
        else:
            can_left = known.may_have and known.lower < test.threshold
            can_right = known.may_have and known.upper > test.threshold
        labels = [b for b, can in enumerate((can_left, can_right)) if can]
        labels += [test.missing] if known.may_miss else []
        if len(set(labels)) == 1:
            return labels[0]
        column, parts = BinaryColumn(test.feature), [self.weights[child] for child in test.children]
        if known.may_miss and (test.missing == ALL or test.threshold is None):
            # First whether it is missing: a known number is at most infinity.
            sides = [replace(known, may_miss=False), replace(known, may_have=False)]
            missing = parts[0] if test.threshold is None else 0.0
            rest = parts[1] if test.threshold is None else sum(parts)
            return column, math.inf, False, sides, self._positive(rest, missing)
        t, misses_left = test.threshold, test.missing == 0
        sides = [
            ReachingNumbers(
                known.lower, min(known.upper, t), known.may_miss and misses_left, can_left
            ),
            ReachingNumbers(
                max(known.lower, t), known.upper, known.may_miss and not misses_left, can_right
            ),
        ]
        return column, t, misses_left, sides, self._positive(*parts)

    def _split_categories(self, test, known):
        label_of = {c: b for b, group in enumerate(test.groups) for c in group}
        label_of[UNKNOWN] = test.missing
        order = self._order_of(test)
        allowed = [c for c in (UNKNOWN, *order) if known is None or c in known]
        labels = [label_of[c] for c in allowed]
        ends = [i for i in range(1, len(allowed)) if labels[i] != labels[i - 1]]
        if not ends:
            return labels[0]
        cut = ends[len(ends) // 2]
        place = {c: i for i, c in enumerate(order)}
        sides = [frozenset(allowed[:cut]), frozenset(allowed[cut:])]
        # The weight of a branch is shared equally by its categories.
        part = {b: self.weights[test.children[b]] / labels.count(b) for b in set(labels) - {ALL}}
        halves = (labels[:cut], labels[cut:])
        sums = [sum(part.get(label, 0.0) for label in half) for half in halves]
        column = BinaryColumn(test.feature, order)
        return column, place[allowed[cut]] - 0.5, False, sides, self._positive(*sums)

    def _order_of(self, test):
        """The order of categories in which a test has the fewest runs.

        For strings, the categories of the branch that takes missing values come first. Numbers
        are in ascending order, because scikit-learn wants them sorted.
        """
        categories, groups = self.program.categories[test.feature], test.groups
        is_in_order = test.missing == 0 and [c for g in groups for c in g] == categories
        if is_in_order or not all(isinstance(c, str) for c in categories):
            return tuple(categories)
        first = max(test.missing, 0)
        groups = [test.groups[first], *(g for b, g in enumerate(test.groups) if b != first)]
        return tuple(c for group in groups for c in group)

    @staticmethod
    def _positive(*parts):
        """Weights of both sides; none is zero, because readers divide by them."""
        least = 1e-3 * max(1.0, sum(parts))
        return [max(part, least) for part in parts]

    def _add(self, column, threshold, missing_left, weight):
        made = self.made
        if len(made.column) >= MAX_NODES:
            raise ValueError(
                f"The tree needs more than {MAX_NODES} nodes, because its tests send missing "
                "values down every branch. Use a smaller max_depth, or export_code."
            )
        key = (column.feature, column.order)
        if column.feature >= 0 and key not in self._place:
            self._place[key] = len(made.columns)
            made.columns.append(column)
        made.column.append(self._place[key] if column.feature >= 0 else -1)
        made.threshold.append(threshold)
        made.missing_left.append(missing_left)
        made.weight.append(weight)
        for entries, value in (
            (made.left, -1), (made.right, -1), (made.probabilities, None), (made.answer, None)
        ):  # fmt: skip
            entries.append(value)
        return len(made.column) - 1

    def _add_leaf(self, leaves, weight):
        program, place = self.program, self._add(BinaryColumn(-1), 0.0, False, weight)
        made = self.made
        made.probabilities[place] = mean_of(leaves, program.probabilities)
        if not program.is_classifier:
            made.answer[place] = made.probabilities[place][0]
        elif len(leaves) == 1:
            made.answer[place] = program.decisions[leaves[0][0]]
        else:
            made.answer[place] = program.decide(mean_of(leaves, program.frequencies))
        return place


def mean_of(leaves, values):
    """Mean of the values of some leaves by share."""
    if len(leaves) == 1:
        return values[leaves[0][0]].tolist()
    return np.sum([share * values[leaf] for leaf, share in leaves], axis=0).tolist()
