"""From tests and an objective to a proved tree: what every optimal estimator runs."""

from dataclasses import dataclass

import numpy as np

from sktree_opt.optimal._engine import Engine, visit_nodes
from sktree_opt.optimal.objectives import LeafObjective
from sktree_opt.preprocessing import Table
from sktree_opt.preprocessing._binary_tests import BinaryTests
from sktree_opt.tree import NODE_DTYPE, Tree
from sktree_opt.tree._node import CATEGORY_KINDS, LEAF
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


def breadth_first(nodes):
    """Nodes of a search result level by level, siblings side by side.

    Returns
    -------
    ordered : ndarray of int32, shape (n_nodes, 3)
    order : list of int
        Index of each of them in `nodes`.
    """
    given = nodes.tolist()
    order, ordered = [0], []
    for index in order:
        test, with_test, without = given[index]
        if test < 0:
            ordered.append((-1, -1, -1))
        else:
            ordered.append((test, len(order), len(order) + 1))
            order += [with_test, without]
    return np.array(ordered, dtype=np.int32), order


@dataclass
class NodeRows:
    """What reaches the nodes of a search result.

    Attributes
    ----------
    nodes : ndarray of int32, shape (n_nodes, 3)
        Breadth first.
    weights : ndarray of float64, shape (n_nodes, n_classes)
        By class; one column for a regression.
    n_rows : ndarray of int64, shape (n_nodes,)
    leaves : ndarray of int32, shape (n_rows,)
        Where each row ends.
    """

    nodes: np.ndarray
    weights: np.ndarray
    n_rows: np.ndarray
    leaves: np.ndarray

    @classmethod
    def of(cls, problem, nodes):
        """The rows of a problem in breadth-first nodes."""
        data, n_nodes = problem.data, len(nodes)
        is_classifier = data.classes is not None
        reached = cls(
            nodes=nodes,
            weights=np.zeros((n_nodes, len(data.classes) if is_classifier else 1)),
            n_rows=np.zeros(n_nodes, dtype=np.int64),
            leaves=np.empty(len(data.y), dtype=np.int32),
        )
        visit_nodes(
            problem.tests.bits,
            nodes,
            data.y if is_classifier else np.zeros(len(data.y), dtype=np.int32),
            data.weights,
            reached.weights,
            reached.n_rows,
            reached.leaves,
        )
        return reached


def make_tree(problem, reached, values, impurities, n_features):
    """The immutable tree of a search result; `values` and `impurities` are by node."""
    tests, n_categories = problem.tests, problem.n_categories
    is_inner = reached.nodes[:, 0] >= 0
    test = reached.nodes[is_inner, 0]
    records = np.zeros(len(reached.nodes), dtype=NODE_DTYPE)
    records["kind"] = LEAF
    records["missing_branch"] = records["feature"] = records["first_child"] = -1
    records["category_start"] = -1
    records["threshold"] = np.nan
    records["impurity"], records["weight"] = impurities, reached.weights.sum(axis=1)
    records["n_samples"] = reached.n_rows
    records["kind"][is_inner] = tests.kind[test]
    records["missing_branch"][is_inner] = tests.missing_branch[test]
    records["feature"][is_inner] = tests.feature[test]
    records["first_child"][is_inner] = reached.nodes[is_inner, 1]
    records["n_children"][is_inner] = 2
    records["threshold"][is_inner] = tests.threshold[test]
    branches = []
    for at in np.flatnonzero(np.isin(records["kind"], CATEGORY_KINDS)):
        branch = tests.category_branch(reached.nodes[at, 0], n_categories[records["feature"][at]])
        records["category_start"][at] = sum(map(len, branches))
        records["n_categories"][at] = len(branch)
        branches.append(branch)
    return Tree(
        records,
        values,
        np.concatenate(branches) if branches else (),
        n_features=n_features,
        is_classifier=problem.data.classes is not None,
        is_sound=True,
    )
