"""MurTree as published (Algorithms 1 to 4), in plain Python, with the variants of Tables 1 to 3.

The package itself searches otherwise (``optimal/bits``). Here the published forms of what it has
replaced or left out can be read, counted and compared.

paper                               here
SolveSubtree, Algorithm 1           ``solve``
GeneralCase, Algorithm 2            ``_general_case``
SolveSubtreeGivenRootFeature (3)    ``_split``
Algorithm 4                         ``_depth_two``
4.3.3, incremental counts           ``_pair_counts``: from the nearest of two old datasets
4.4, similarity bound               ``_learn_from_similar``, two old datasets for each depth
4.5, caches by branch or dataset    ``_key``
4.5.3, Proposition 10, Eq. 15, 17   ``_store``, ``_general_case``
4.5.4, Proposition 11               ``_bound``
4.5.6, recovery of the tree         ``tree``
4.6, order of nodes                 ``_split``
4.7, order of columns               ``_columns``
"""

import random
import time
from collections import defaultdict

import numpy as np

INFINITY = float("inf")


class StoppedError(Exception):
    """The time limit ended a search."""


class MurTree:
    """Trees of the least error by depth and number of tests, over one 0/1 table.

    Parameters
    ----------
    X, y : array-like
        0/1 table, class labels.

    cache : {"dataset", "branch"}

    columns : {"in order", "gini", "random"}

    nodes : {"dynamic", "post-order"}

    incremental, similarity : bool
        Whether counts are updated, and bounds taken, from similar datasets.

    inference : bool
        Whether entries of other limits are filled and asked (Propositions 10 and 11).

    seconds : float
        Time limit.

    Attributes
    ----------
    n_solved, n_depth_two, n_counted_rows : int
        Calls of Algorithms 2 and 4, and rows whose pairs of columns were counted.
    """

    def __init__(
        self,
        X,
        y,
        *,
        cache="dataset",
        columns="in order",
        nodes="dynamic",
        incremental=True,
        similarity=True,
        inference=True,
        seconds=INFINITY,
    ):
        self.X = np.asarray(X, dtype=np.int64)
        self.labels, codes = np.unique(y, return_inverse=True)
        self.members = [codes == code for code in range(len(self.labels))]
        self.class_bits = [bits_of(flags) for flags in self.members]
        self.column_bits = [bits_of(column == 1) for column in self.X.T]
        self.all_rows = (1 << len(self.X)) - 1
        self.cache, self.columns, self.nodes = cache, columns, nodes
        self.incremental, self.similarity, self.inference = incremental, similarity, inference
        self.random, self.deadline = random.Random(0), time.monotonic() + seconds
        self.optimal = defaultdict(dict)  # by key, then (depth, tests): error, root's split
        self.bounds = defaultdict(dict)
        self.old_counts = []  # pairs of rows and counts
        self.similar = defaultdict(list)  # by depth: pairs of rows and branch
        self.n_solved = self.n_depth_two = self.n_counted_rows = 0

    def least_error(self, depth, n_tests):
        """The least error within a depth and a number of tests."""
        return self.solve(self.all_rows, frozenset(), depth, n_tests, len(self.X))

    @property
    def n_entries(self):
        """Entries of the cache: subproblems with a tree or a bound."""
        return sum(len(self.optimal[key].keys() | self.bounds[key].keys()) for key in self._keys())

    def _keys(self):
        return list(self.optimal.keys() | self.bounds.keys())

    def _key(self, rows, branch):
        return rows if self.cache == "dataset" else branch

    def _leaf_error(self, rows):
        return rows.bit_count() - max((rows & members).bit_count() for members in self.class_bits)

    def _leaf_label(self, rows):
        counts = [(rows & members).bit_count() for members in self.class_bits]
        return self.labels[counts.index(max(counts))]

    # --- Algorithm 1

    def solve(self, rows, branch, depth, n_tests, upper):
        """The least error, or None if it is larger than `upper`."""
        if upper < 0:
            return None
        depth, n_tests = limits_of(depth, n_tests)
        leaf = self._leaf_error(rows)
        if n_tests == 0:
            return within(leaf, upper)
        key, limits = self._key(rows, branch), (depth, n_tests)
        if limits not in self.optimal[key] and self.similarity:
            self._learn_from_similar(rows, key, depth, n_tests)
        if limits in self.optimal[key]:
            return within(self.optimal[key][limits][0], upper)
        bound = self._bound(key, depth, n_tests)
        if bound > upper:
            return None
        if bound == leaf:
            return leaf
        if time.monotonic() > self.deadline:
            raise StoppedError
        if depth <= 2:
            self._depth_two(rows, key)
            return within(self.optimal[key][limits][0], upper)
        return self._general_case(rows, branch, depth, n_tests, upper)

    # --- Algorithms 2 and 3

    def _general_case(self, rows, branch, depth, n_tests, upper):
        self.n_solved += 1
        key, leaf = self._key(rows, branch), self._leaf_error(rows)
        best, root = (leaf, None) if leaf <= upper else (INFINITY, None)
        bound, refined = self._bound(key, depth, n_tests), INFINITY
        most = min(2 ** (depth - 1) - 1, n_tests - 1)
        for column in self._columns(rows):
            if best == bound:
                break
            sides = rows & ~self.column_bits[column], rows & self.column_bits[column]
            if not all(sides):
                continue
            for n_left in range(n_tests - 1 - most, most + 1):
                counts = n_left, n_tests - 1 - n_left
                limit = min(upper, best - 1)
                error, local = self._split(sides, branch, column, depth, counts, limit)
                if error is None:
                    refined = min(refined, local)
                else:
                    best, root = error, (column, *counts)
        if best <= upper:
            self._store(key, depth, n_tests, best, root)
        else:
            bound = max(bound, upper + 1)
            self.bounds[key][depth, n_tests] = max(bound, refined if refined < INFINITY else 0)
        self._remember(rows, branch, depth)
        return within(best, upper)

    def _split(self, sides, branch, column, depth, counts, upper):
        """Error of the best trees below a test, or None, and a lower bound (Eq. 15)."""
        branches = [branch | {(column, value)} for value in (0, 1)]
        order = [0, 1]
        if self.nodes == "dynamic" and self._leaf_error(sides[1]) > self._leaf_error(sides[0]):
            order = [1, 0]
        first, second = order

        def bound_of(side):
            key = self._key(sides[side], branches[side])
            return self._bound(key, *limits_of(depth - 1, counts[side]))

        room = upper - bound_of(second)
        error = self.solve(sides[first], branches[first], depth - 1, counts[first], room)
        if error is not None:
            room = upper - error
            other = self.solve(sides[second], branches[second], depth - 1, counts[second], room)
            if other is not None:
                return error + other, error + other
        return None, bound_of(first) + bound_of(second)

    def _columns(self, rows):
        """Columns in the order in which they are tried."""
        columns = list(range(self.X.shape[1]))
        if self.columns == "random":
            self.random.shuffle(columns)
        elif self.columns == "gini":
            columns.sort(key=lambda column: self._gini(rows, column))
        return columns

    def _gini(self, rows, column):
        total = 0.0
        for side in (rows & self.column_bits[column], rows & ~self.column_bits[column]):
            if side:
                squares = sum((side & members).bit_count() ** 2 for members in self.class_bits)
                total += side.bit_count() - squares / side.bit_count()
        return total

    # --- The cache

    def _store(self, key, depth, n_tests, error, root):
        """Keep the best tree, for all limits between what it needs and what it was allowed."""
        known = self.optimal[key]
        known[depth, n_tests] = error, root
        if not self.inference:
            return
        least_depth, least_tests = depth, n_tests
        if root is None:
            least_depth = least_tests = 0
        for d in range(max(1, least_depth), depth + 1):
            for n in range(max(1, least_tests), n_tests + 1):
                known.setdefault(limits_of(d, n), (error, root))

    def _bound(self, key, depth, n_tests):
        """The largest bound of this problem and of larger ones (Proposition 11)."""
        known = dict(self.bounds.get(key, {}))
        for limits, (error, _) in self.optimal.get(key, {}).items():
            known[limits] = error
        if not self.inference or n_tests == 0:
            return known.get((depth, n_tests), 0)
        return max((b for (d, n), b in known.items() if d >= depth and n >= n_tests), default=0)

    # --- The similarity bound

    def _remember(self, rows, branch, depth):
        """Replace the most similar of two datasets."""
        known = self.similar[depth]
        if len(known) == 2:
            known.remove(min(known, key=lambda old: (old[0] ^ rows).bit_count()))
        known.append((rows, self._key(rows, branch)))

    def _learn_from_similar(self, rows, key, depth, n_tests):
        for old_rows, old_key in self.similar[depth]:
            if old_rows == rows:
                self.optimal[key].update(self.optimal[old_key])
                self.bounds[key].update(self.bounds[old_key])
            n_out = (old_rows & ~rows).bit_count()
            bound = self._bound(old_key, depth, n_tests) - n_out
            if bound > self.bounds[key].get((depth, n_tests), 0):
                self.bounds[key][depth, n_tests] = bound

    # --- Algorithm 4

    def _depth_two(self, rows, key):
        """The best trees of one, two and three tests, from counts of pairs of columns."""
        self.n_depth_two += 1
        none, one, both = self._below_root(rows)
        for n_tests, table in ((1, none), (2, one), (3, both)):
            column = int(table.argmin())
            error, leaf = int(table[column]), self._leaf_error(rows)
            best = leaf if leaf <= error else error
            root = None if leaf <= error else (column, n_tests)
            depth, n = limits_of(2, n_tests)
            self.optimal[key].setdefault((min(depth, n), n), (best, root))

    def _below_root(self, rows):
        """Errors by the root's column: with no test below it, with the best one, and two."""
        pairs = self._pair_counts(rows)
        ones = np.diagonal(pairs, axis1=1, axis2=2)
        totals = np.array([(rows & members).bit_count() for members in self.class_bits])
        totals = totals[:, None, None]
        sides = []
        for of_root, joint in (
            (ones[:, :, None], pairs),
            (totals - ones[:, :, None], ones[:, None, :] - pairs),
        ):
            leaf = errors_of(of_root)[:, 0]
            split = (errors_of(joint) + errors_of(of_root - joint)).min(axis=1)
            sides.append((leaf, np.minimum(leaf, split)))
        (leaf_with, with_test), (leaf_without, without_test) = sides
        none = leaf_with + leaf_without
        one = np.minimum(with_test + leaf_without, leaf_with + without_test)
        return none, one, with_test + without_test

    def _pair_counts(self, rows):
        """Rows of each class with both columns, updated from the nearest of two old datasets."""
        near = min(self.old_counts, key=lambda old: (old[0] ^ rows).bit_count(), default=None)
        if (
            self.incremental
            and near is not None
            and (near[0] ^ rows).bit_count() < rows.bit_count()
        ):
            counts = near[1] + self._count(rows & ~near[0]) - self._count(near[0] & ~rows)
        else:
            counts = self._count(rows)
        if self.incremental:
            if len(self.old_counts) == 2:
                self.old_counts.remove(near)
            self.old_counts.append((rows, counts))
        return counts

    def _count(self, rows):
        chosen = np.array([k for k in range(len(self.X)) if rows >> k & 1], dtype=np.int64)
        self.n_counted_rows += len(chosen)
        parts = [self.X[chosen[members[chosen]]] for members in self.members]
        return np.stack([part.T @ part for part in parts])

    # --- The tree

    def tree(self, depth, n_tests, rows=None, branch=frozenset()):
        """The best tree from the cache: (column, tree without it, tree with it), or a label."""
        rows = self.all_rows if rows is None else rows
        depth, n_tests = limits_of(depth, n_tests)
        error = self.solve(rows, branch, depth, n_tests, rows.bit_count())
        if error == self._leaf_error(rows):
            return self._leaf_label(rows)
        root = self.optimal[self._key(rows, branch)][depth, n_tests][1]
        column = root[0]
        sides = rows & ~self.column_bits[column], rows & self.column_bits[column]
        if len(root) == 2:
            # Algorithm 4 keeps the root alone: its children are found again.
            return (column, *self._children_of_two(sides, branch, column, error, n_tests))
        below = zip(sides, root[1:], (0, 1), strict=True)
        return (
            column,
            *(self.tree(depth - 1, n, side, branch | {(column, v)}) for side, n, v in below),
        )

    def _children_of_two(self, sides, branch, column, error, n_tests):
        for n_left in range(max(0, n_tests - 2), min(1, n_tests - 1) + 1):
            counts = n_left, n_tests - 1 - n_left
            branches = [branch | {(column, value)} for value in (0, 1)]
            parts = list(zip(sides, branches, counts, strict=True))
            errors = [self.solve(side, b, 1, n, side.bit_count()) for side, b, n in parts]
            if sum(errors) == error:
                return [self.tree(1, n, side, b) for side, b, n in parts]
        raise LookupError("no subtrees have the error of the root")


def bits_of(flags):
    return sum(1 << k for k, flag in enumerate(flags) if flag)


def limits_of(depth, n_tests):
    """Limits that can be reached together: n tests need a depth up to n."""
    n_tests = min(n_tests, 2**depth - 1)
    return min(depth, n_tests), n_tests


def within(error, upper):
    return error if error <= upper else None


def errors_of(counts):
    """Rows outside the largest class; classes are the first axis."""
    return counts.sum(axis=0) - counts.max(axis=0)
