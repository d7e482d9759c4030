"""The question of a search and its answer: two frozen records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sktree_opt.optimal.objectives._forest_targets import Given
from sktree_opt.optimal.tree_sets._bit_rows import LeafMinima
from sktree_opt.preprocessing._binary_tests import BinaryTests
from sktree_opt.utils._validation import TrainingData


@dataclass(frozen=True)
class Limits:
    """Constraints on the tree, and on the search for it.

    Attributes
    ----------
    max_depth, max_splits : int
        Maximum number of tests on a path, and in the tree.

    any_depth : bool
        Whether searches that need no maximum number of tests on a path may go without.

    min_samples_leaf, min_weight_leaf : int, float
        Minimum number of rows, and minimum weight, of every leaf.

    min_class_weight : tuple of float or None
        Minimum weight of each class in every leaf, for searches that know it.

    min_purity : float
        Minimum share of the most frequent class of every leaf, likewise.

    split_cost : float
        Cost of a test, in units of the objective.

    depth_cost : float
        Cost of a level, in units of the objective; for searches that know it.

    time_limit : float or None
        Seconds.

    memory_limit : int or None
        Bytes.

    n_threads : int
        Number of threads.

    looks_ahead : bool
        Whether the answer is the tree that an exact search begins with.
    """

    max_depth: int
    max_splits: int
    any_depth: bool = False
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_class_weight: tuple[float, ...] | None = None
    min_purity: float = 0.0
    split_cost: float = 0.0
    depth_cost: float = 0.0
    time_limit: float | None = None
    memory_limit: int | None = None
    n_threads: int = 1
    looks_ahead: bool = False

    @property
    def minima(self):
        """Minima of a leaf, as searches for several trees at each node take them."""
        return LeafMinima(
            self.min_samples_leaf, self.min_weight_leaf, self.min_class_weight, self.min_purity
        )

    @property
    def has_class_minima(self):
        """Whether the classes of a leaf decide whether it may be one."""
        return self.min_class_weight is not None or self.min_purity > 0.0


@dataclass(frozen=True)
class Problem:
    """Rows, objective and limits of a search.

    Engines have units of their own: the objective is an engine's cost times ``form.scale``, plus
    ``form.constant``.

    Attributes
    ----------
    data : TrainingData
        The rows.

    objective : ClassObjective or TargetObjective
        What is minimised.

    limits : Limits
        Which trees are allowed.

    given : Given or None
        The rows with the targets that leaves answer, where the tree is fitted to others.
    """

    data: TrainingData
    objective: Any
    limits: Limits
    given: Given | None = None

    @property
    def form(self):
        """What engines minimise, a ``LeafObjective``."""
        return self.objective.form

    @property
    def weights(self):
        """Weights as engines take them: None when all are 1."""
        return None if self.data.has_unit_weights else self.data.weights

    def in_units(self, cost):
        """An engine's cost in units of the objective."""
        return self.form.scale * cost + self.form.constant

    def in_engine_units(self, objective):
        """An objective in the engine's units."""
        return (objective - self.form.constant) / self.form.scale

    def moments_in_units(self, moments):
        """(seconds, cost, bound) of an engine in units of the objective."""
        return [(t, self.in_units(cost), self.in_units(bound)) for t, cost, bound in moments]

    def within(self, **limits):
        """The same problem within other limits."""
        return replace(self, limits=replace(self.limits, **limits))

    def without_matrix(self):
        """The same problem without its table, which searches of tests do not read."""
        return replace(self, data=replace(self.data, matrix=None))

    def by(self, form):
        """The same problem with another sum over leaves as objective."""
        return replace(self, objective=replace(self.objective, form=form))


@dataclass(frozen=True)
class Solution:
    """What a search found.

    Attributes
    ----------
    tests : BinaryTests
        What the nodes refer to.

    nodes : ndarray of int32, shape (n_nodes, 3)
        Test or -1, child of the rows that pass it, child of the others; the root first.

    cost, lower_bound : float
        In units of the objective, cost of the tests included.

    status : str
        "optimal", or what ended the search.

    incumbents : list of (float, float, float)
        Seconds, cost and lower bound.

    stats : dict
        Counters of the search.

    answers : ndarray or None
        Class that each node answers, where that is not its most frequent one.

    front : ndarray or None
        Record array of the errors that no tree betters in both.

    found : FoundTrees or None
        All trees of a set.
    """

    tests: BinaryTests
    nodes: np.ndarray
    cost: float
    lower_bound: float
    status: str
    incumbents: list
    stats: dict
    answers: np.ndarray | None = None
    front: np.ndarray | None = None
    found: Any = None


def closed(incumbents, seconds, cost, bound):
    """Incumbents as plain numbers, the last of them what the search has ended with."""
    entries = [(float(t), float(c), float(min(b, c))) for t, c, b in incumbents if c >= cost]
    last = (float(seconds), float(cost), float(bound))
    return entries if entries and entries[-1][1:] == last[1:] else [*entries, last]


def raised(bound, other, cost):
    """The larger of two lower bounds; rounding does not raise it above the cost of a tree."""
    return max(bound, min(other, cost))
