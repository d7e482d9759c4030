"""From tests and an objective to a proved tree: what every optimal estimator runs."""

from dataclasses import dataclass

import numpy as np

from sktree_opt.optimal._engine import Engine
from sktree_opt.optimal.objectives import LeafObjective
from sktree_opt.preprocessing import Table
from sktree_opt.preprocessing._binary_tests import BinaryTests
from sktree_opt.tree import NODE_DTYPE, Tree
from sktree_opt.tree._node import CATEGORY_ONE, LEAF
from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._validation import TrainingData

# What caches may take when the user sets no limit.
DEFAULT_CACHE_BYTES = 1 << 30


@dataclass
class SearchLimits:
    """Constraints on the tree, and on the search for it.

    Attributes
    ----------
    max_depth, max_splits : int
    min_samples_leaf : int
    min_weight_leaf : float
    split_cost : float
        In units of the objective.
    time_limit : float or None
    memory_limit : int or None
        Bytes.
    n_threads : int
    """

    max_depth: int
    max_splits: int
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    split_cost: float = 0.0
    time_limit: float | None = None
    memory_limit: int | None = None
    n_threads: int = 1


@dataclass
class SearchResult:
    """What a search found.

    Attributes
    ----------
    nodes : ndarray of shape (n_nodes, 3)
        Test or -1, child of the rows that pass it, child of the others.
    cost, lower_bound : float
        In units of the objective, splits included.
    status : str
    incumbents : list of (float, float)
        Seconds and cost.
    stats : dict
    """

    nodes: np.ndarray
    cost: float
    lower_bound: float
    status: str
    incumbents: list
    stats: dict


@dataclass
class Problem:
    """What a search is about.

    Attributes
    ----------
    tests : BinaryTests or None
        None until a search over all thresholds of `table` has chosen some.
    y : ndarray
        Class codes or targets.
    weights : ndarray or None
        None when all are 1.
    leaf_form : LeafObjective
    limits : SearchLimits
    data : TrainingData or None
        What trees are made with; a search does without.
    n_categories : ndarray or None
        By feature, -1 for numeric ones; as `data`.
    table : Table or None
        What a search over all thresholds takes instead of `tests`.
    """

    tests: BinaryTests | None
    y: np.ndarray
    weights: np.ndarray | None
    leaf_form: LeafObjective
    limits: SearchLimits
    data: TrainingData | None = None
    n_categories: np.ndarray | None = None
    table: Table | None = None

    def in_units(self, cost):
        """An engine's cost in units of the objective."""
        return self.leaf_form.scale * cost + self.leaf_form.constant

    def moments_in_units(self, moments):
        """(seconds, cost, bound) of an engine in units of the objective."""
        return [(t, self.in_units(cost), self.in_units(bound)) for t, cost, bound in moments]

    def control(self):
        """What may end a search that begins now."""
        return SearchControl(self.limits.time_limit, self.limits.memory_limit)

    def engine(self, control, off=()):
        """An engine for the problem; see ``_engine.SWITCHES`` for `off`."""
        limits = self.limits
        no_limit = limits.memory_limit is None
        return Engine(
            self.tests.bits,
            self.tests.n_tests,
            self.y,
            self.weights,
            self.leaf_form,
            control,
            min_samples_leaf=limits.min_samples_leaf,
            min_weight_leaf=limits.min_weight_leaf,
            cache_bytes=DEFAULT_CACHE_BYTES if no_limit else limits.memory_limit,
            off=off,
        )


def search(problem, off=()):
    """Find the best tree of binary tests.

    Parameters
    ----------
    problem : Problem
    off : tuple of str
        Techniques to do without (see ``_engine.SWITCHES``).

    Returns
    -------
    result : SearchResult
    """
    limits = problem.limits
    control = problem.control()
    engine = problem.engine(control, off)
    engine.begin(limits.max_depth, limits.max_splits, limits.split_cost / problem.leaf_form.scale)
    for depth in range(3, limits.max_depth + 1):
        if control.poll() or engine.cost <= engine.lower_bound:
            break
        engine.deepen(depth, n_threads=limits.n_threads)
    control.raise_pending()
    proved = engine.cost <= engine.lower_bound
    status = "optimal" if proved else control.status
    nodes = engine.tree()
    control.raise_pending()
    return SearchResult(
        nodes=nodes,
        cost=problem.in_units(engine.cost),
        lower_bound=problem.in_units(engine.lower_bound),
        status=status,
        incumbents=problem.moments_in_units(engine.incumbents),
        stats=engine.stats | {"seconds": control.seconds},
    )


def passes(tests, index):
    """Which rows pass test `index`."""
    return (tests.bits[:, index >> 3] >> (index & 7)) & 1 == 1


def rows_by_node(tests, nodes):
    """Rows that reach each node of a search result, in breadth-first order of the nodes.

    Returns
    -------
    order : list of int
        Indices into `nodes`.
    rows : list of ndarray of intp
        Of each node of `order`.
    """
    order, rows = [0], [np.arange(len(tests.bits))]
    for at in range(len(nodes)):
        test, with_test, without = nodes[order[at]].tolist()
        if test < 0:
            continue
        passed = passes(tests, test)[rows[at]]
        order += [with_test, without]
        rows += [rows[at][passed], rows[at][~passed]]
    return order, rows


def make_tree(
    tests,
    nodes,
    values,
    impurities,
    weights,
    n_samples,
    order,
    n_features,
    n_categories,
    is_classifier,
):
    """The immutable tree of a search result.

    `values`, `impurities`, `weights` and `n_samples` are by node, in the order of `order`.
    """
    records = np.zeros(len(order), dtype=NODE_DTYPE)
    records["missing_branch"] = records["feature"] = records["first_child"] = -1
    records["category_start"] = -1
    records["threshold"] = np.nan
    records["impurity"], records["weight"], records["n_samples"] = impurities, weights, n_samples
    branches, next_child = [], 1
    for at, index in enumerate(order):
        test = int(nodes[index, 0])
        if test < 0:
            records["kind"][at] = LEAF
            continue
        feature = int(tests.feature[test])
        records["kind"][at] = tests.kind[test]
        records["missing_branch"][at] = tests.missing_branch[test]
        records["feature"][at] = feature
        records["first_child"][at], records["n_children"][at] = next_child, 2
        records["threshold"][at] = tests.threshold[test]
        next_child += 2
        if tests.kind[test] == CATEGORY_ONE:
            branch = np.ones(n_categories[feature], dtype=np.int32)
            branch[tests.category[test]] = 0
            records["category_start"][at] = sum(map(len, branches))
            records["n_categories"][at] = len(branch)
            branches.append(branch)
    category_branch = np.concatenate(branches) if branches else np.empty(0, dtype=np.int32)
    return Tree(
        records, values, category_branch, n_features=n_features, is_classifier=is_classifier
    )
