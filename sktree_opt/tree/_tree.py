"""The result of every search: one immutable tree of node records."""

from __future__ import annotations

import json
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

import sktree_opt.tree._predict as _predict
from sktree_opt.tree._node import (
    CATEGORY_MULTIWAY,
    IS_MISSING,
    LEAF,
    NODE_DTYPE,
    NUMERIC,
    is_category,
)
from sktree_opt.tree._sklearn_arrays import SklearnArrays
from sktree_opt.utils._typing import FloatMatrix

FORMAT_VERSION = 1
# Importances of larger trees follow about so many parts of rows, whatever the size of the tree.
MAX_EXACT_LEAVES = 256
MAX_IMPORTANCE_STEPS = 2e6
FIELDS = [name for name in NODE_DTYPE.names or () if not name.startswith("pad")]


class Tree(SklearnArrays):
    """A decision tree: an array of nodes, and for each node its class weights or mean.

    A binary tree of numeric tests has the arrays of scikit-learn's ``tree_`` as well:
    ``children_left``, ``children_right``, ``feature``, ``threshold``, ``value`` and so on.

    The arrays are read-only, so a tree can be shared by threads, memory-mapped by joblib and kept
    in several places at once. A tree is made once and never changed.

    Parameters
    ----------
    nodes : ndarray of dtype NODE_DTYPE, shape (n_nodes,)
        Node 0 is the root; the children of a node are contiguous and come after it.

    values : ndarray of shape (n_nodes, n_outputs)
        Weight of each class at the node, or, for regression, the mean (one column).

    category_branch : ndarray of int32
        Branch of each category at each category test, from the node's ``category_start`` on.

    n_features : int
        Number of columns of the matrix that the tests refer to.

    is_classifier : bool
        Whether `values` are class weights.

    is_sound : bool, default=False
        The arrays come from a search and need no checks, which take as long as a search in a small
        table.
    """

    nodes: NDArray[np.void]
    values: NDArray[np.float64]
    category_branch: NDArray[np.int32]
    n_features: int
    is_classifier: bool

    def __init__(
        self,
        nodes: ArrayLike,
        values: ArrayLike,
        category_branch: ArrayLike = (),
        *,
        n_features: int,
        is_classifier: bool,
        is_sound: bool = False,
    ) -> None:
        nodes = np.ascontiguousarray(nodes, dtype=NODE_DTYPE)
        values = np.ascontiguousarray(values, dtype=np.float64)
        category_branch = np.ascontiguousarray(category_branch, dtype=np.int32)
        if not is_sound:
            check_arrays(nodes, values, category_branch, n_features)
        self.nodes = read_only(nodes)
        self.values = read_only(values)
        self.category_branch = read_only(category_branch)
        self.n_features = int(n_features)
        self.is_classifier = bool(is_classifier)

    def __setattr__(self, name, value):
        if name in self.__dict__:
            raise AttributeError(f"a Tree is immutable: {name} cannot be changed")
        super().__setattr__(name, value)

    def __delattr__(self, name):
        raise AttributeError(f"a Tree is immutable: {name} cannot be deleted")

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.nodes)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.nodes["kind"] == LEAF))

    @property
    def n_splits(self) -> int:
        """Number of tests."""
        return self.n_nodes - self.n_leaves

    @property
    def depth(self) -> int:
        """Number of tests on the longest path from the root to a leaf."""
        return int(self.node_depths().max())

    @property
    def features(self) -> NDArray[np.int64]:
        """Sorted indices of the features that a test asks about."""
        return np.unique(self.nodes["feature"][self.nodes["kind"] != LEAF]).astype(np.int64)

    def node_depths(self) -> NDArray[np.int64]:
        """Depth of each node; the root's is 0."""
        depths = [0]
        for parent in self.parents()[1:].tolist():
            depths.append(depths[parent] + 1)
        return np.array(depths, dtype=np.int64)

    def parents(self) -> NDArray[np.int64]:
        """Parent of each node; -1 for the root."""
        inner = np.flatnonzero(self.nodes["n_children"])
        inner = inner[np.argsort(self.nodes["first_child"][inner])]
        return np.append(-1, np.repeat(inner, self.nodes["n_children"][inner])).astype(np.int64)

    def children(self, index: int) -> slice:
        """Indices of the children of node `index`, as a slice."""
        node = self.nodes[index]
        first = int(node["first_child"])
        return slice(first, first + int(node["n_children"])) if first >= 0 else slice(0, 0)

    def branches(self, index: int) -> NDArray[np.int32]:
        """Branch of each category at the category test `index`."""
        node = self.nodes[index]
        start = int(node["category_start"])
        return self.category_branch[start : start + int(node["n_categories"])]

    def node_values(self) -> NDArray[np.float64]:
        """What a leaf answers: class frequencies, or the mean."""
        if not self.is_classifier:
            return self.values
        totals = self.values.sum(axis=1, keepdims=True)
        return np.divide(self.values, totals, out=np.zeros_like(self.values), where=totals > 0)

    @overload
    def walk(
        self, X: FloatMatrix, n_threads: int = 1
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
    @overload
    def walk(
        self, X: FloatMatrix, n_threads: int = 1, n_codes: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]] | tuple[None, None]: ...
    def walk(
        self, X: FloatMatrix, n_threads: int = 1, n_codes: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]] | tuple[None, None]:
        """Leaf of each row of the encoded matrix `X`, and the rows that have no single leaf.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Of float32 or float64.

        n_threads : int
            Number of threads.

        n_codes : ndarray of int64, shape (n_features,), or None
            For an `X` that no encoder has seen: number of codes of each column, -1 for a column of
            numbers.

        Returns
        -------
        leaves : ndarray of int32, shape (n_rows,)
            -1 for a row that is distributed over several leaves. None, if by `n_codes` a cell is
            infinite or no code.

        distributed : ndarray of int64
            Those rows.
        """
        self._check_width(X)
        leaves = np.empty(X.shape[0], dtype=np.int32)
        n_distributed = _predict.apply(
            self.nodes, self.category_branch, X, n_codes, leaves, n_threads
        )
        if n_distributed < 0:
            return None, None
        # Looking for such rows takes a tenth of the walk, and few tables have any.
        return leaves, np.flatnonzero(leaves < 0) if n_distributed else np.empty(0, dtype=np.int64)

    def share(
        self, X: FloatMatrix, rows: NDArray[np.int64], leaf_values: ArrayLike, n_threads: int = 1
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Leaf with the largest share, and `leaf_values` averaged by share, of some rows of `X`."""
        self._check_width(X)
        leaf_values = np.ascontiguousarray(leaf_values, dtype=np.float64)
        averages = np.empty((len(rows), leaf_values.shape[1]))
        heaviest = np.empty(len(rows), dtype=np.int32)
        _predict.distribute(
            self.nodes,
            self.category_branch,
            X,
            np.ascontiguousarray(rows, dtype=np.int64),
            leaf_values,
            averages,
            heaviest,
            n_threads,
        )
        return heaviest, averages

    def _check_width(self, X):
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"A matrix with {self.n_features} columns is expected: {X.shape}.")

    def evaluate(
        self, X: FloatMatrix, leaf_values: ArrayLike, n_threads: int = 1
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Leaf of each row and its row of `leaf_values`, averaged over leaves by share.

        Returns
        -------
        leaves : ndarray of int32, shape (n_rows,)
            Of a row that is distributed over several leaves, the one with the largest share.

        values : ndarray of shape (n_rows, n_outputs)
        """
        return self.evaluate_walked(X, *self.walk(X, n_threads), leaf_values, n_threads)

    def evaluate_walked(
        self,
        X: FloatMatrix,
        leaves: NDArray[np.int32],
        distributed: NDArray[np.int64],
        leaf_values: ArrayLike,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The same for rows that have been walked already."""
        values = np.take(leaf_values, leaves, axis=0, mode="clip")
        if distributed.size:
            leaves[distributed], values[distributed] = self.share(
                X, distributed, leaf_values, n_threads
            )
        return leaves, values

    def decision_path(self, X: FloatMatrix) -> sparse.csr_matrix:
        """CSR indicator matrix of the nodes that each row of `X` reaches."""
        self._check_width(X)
        indptr = np.zeros(X.shape[0] + 1, dtype=np.int64)
        indices = _predict.decision_path(self.nodes, self.category_branch, X, indptr)
        ones = np.ones(len(indices), dtype=np.int64)
        path = sparse.csr_matrix((ones, indices, indptr), shape=(X.shape[0], self.n_nodes))
        path.sort_indices()
        return path

    def importances(self, leaf_answers: ArrayLike | None = None) -> NDArray[np.float64]:
        """Change of the answers when a feature is not known, as shares of the total.

        A row without a known value of the feature goes down every branch of the tests on it, in
        proportion to the training weight of the branches. The importance is the mean squared change
        of the answer over the training rows of the leaves. For class frequencies this is the
        increase of the Brier score, for means that of the squared error.

        Parameters
        ----------
        leaf_answers : array-like of shape (n_nodes, n_outputs) or None, default=None
            The answer of each leaf; rows of inner nodes are not read. None for ``node_values()``.

        Returns
        -------
        importances : ndarray of shape (n_features,)
            They sum to 1, or are all 0 if no answer depends on a feature.

        Notes
        -----
        Only the tree is read. All rows of a leaf are taken for rows of which no more is known than
        the tests on their path. In trees of more than 256 leaves, small parts of a row are not
        followed to the leaves; they are answered by the mean of an inner node.
        """
        answers = self.node_values() if leaf_answers is None else leaf_answers
        n_pairs = self.n_leaves * max(1, len(self.features))
        is_exact = self.n_leaves <= MAX_EXACT_LEAVES
        return self._importances(answers, 0.0 if is_exact else n_pairs / MAX_IMPORTANCE_STEPS)

    def _importances(self, leaf_answers, least_share):
        """The importances; parts of a row below `least_share` end at an inner node."""
        changes, answers = np.zeros(self.n_features), np.asarray(leaf_answers, dtype=np.float64)
        _predict.add_importances(
            self.nodes, self.category_branch, np.ascontiguousarray(answers), least_share, changes
        )
        largest = changes.max(initial=0.0)
        if not largest > 0.0:
            return changes
        # Divided first: squares of large numbers may sum to infinity.
        changes /= largest
        return changes / changes.sum()

    def to_dict(self) -> dict[str, Any]:
        """The tree as plain numbers, strings and lists, for JSON."""
        nodes = {
            # NaN, which JSON does not know, is the only number unequal to itself.
            name: [value if value == value else None for value in self.nodes[name].tolist()]
            for name in FIELDS
        }
        return {
            "format_version": FORMAT_VERSION,
            "n_features": self.n_features,
            "is_classifier": self.is_classifier,
            "nodes": nodes,
            "values": self.values.tolist(),
            "category_branch": self.category_branch.tolist(),
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Self:
        """The tree that ``to_dict`` wrote."""
        if state.get("format_version") != FORMAT_VERSION:
            raise ValueError(
                f"Unknown tree format {state.get('format_version')!r}; this version reads "
                f"{FORMAT_VERSION}."
            )
        if not isinstance(state["is_classifier"], bool):
            raise ValueError(f"is_classifier must be a bool, got {state['is_classifier']!r}.")
        columns = state["nodes"]
        nodes = np.zeros(len(columns["kind"]), dtype=NODE_DTYPE)
        for name in FIELDS:
            # One value would do for all nodes otherwise.
            if len(columns[name]) != len(nodes):
                raise ValueError(f"{name} must have {len(nodes)} values, got {len(columns[name])}.")
            nodes[name] = [np.nan if value is None else value for value in columns[name]]
        values = np.array(state["values"], dtype=np.float64).reshape(len(nodes), -1)
        return cls(
            nodes,
            values,
            state["category_branch"],
            n_features=state["n_features"],
            is_classifier=state["is_classifier"],
        )

    def to_json(self) -> str:
        """The tree as a JSON string."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The tree that ``to_json`` wrote."""
        return cls.from_dict(json.loads(text))

    def __eq__(self, other):
        if not isinstance(other, Tree):
            return NotImplemented
        return (
            self.n_features == other.n_features
            and self.is_classifier == other.is_classifier
            and self.n_nodes == other.n_nodes
            and all(
                np.array_equal(self.nodes[name], other.nodes[name], equal_nan=True)
                for name in FIELDS
            )
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.category_branch, other.category_branch)
        )

    def __hash__(self):
        # Integers only: equal floats need not have equal bytes.
        shape = (self.nodes[name].tobytes() for name in ("kind", "feature", "first_child"))
        return hash((self.n_features, self.is_classifier, *shape))

    def __reduce__(self):
        return rebuild_tree, (
            self.nodes,
            self.values,
            packed(self.category_branch),
            self.n_features,
            self.is_classifier,
        )

    def __repr__(self):
        kind = "classification" if self.is_classifier else "regression"
        return f"<Tree: {kind}, {self.n_splits} tests, {self.n_leaves} leaves, depth {self.depth}>"


def packed(branches):
    """Branches in little memory: bits and their number, if there are two, else an array."""
    if len(branches) and branches.max() <= 1:
        return np.packbits(branches.astype(bool)), len(branches)
    return branches


def rebuild_tree(nodes, values, category_branch, n_features, is_classifier):
    """Unpickle a tree."""
    if isinstance(category_branch, tuple):
        bits, n_branches = category_branch
        category_branch = np.unpackbits(bits, count=n_branches)
    return Tree(nodes, values, category_branch, n_features=n_features, is_classifier=is_classifier)


def read_only(array):
    """A view of `array` that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def check_arrays(nodes, values, category_branch, n_features):
    """Refuse arrays on which a walk could leave the tree: they may come from a file."""
    n_nodes = len(nodes)
    if n_nodes == 0 or values.ndim != 2 or len(values) != n_nodes or values.shape[1] == 0:
        raise ValueError("A tree needs at least one node, and one row of values per node.")
    inner = nodes["kind"] != LEAF
    index = np.flatnonzero(inner)
    first, count = nodes["first_child"][inner].astype(np.int64), nodes["n_children"][inner]
    feature, missing = nodes["feature"][inner], nodes["missing_branch"][inner]
    kind = nodes["kind"][inner]
    order = np.argsort(first)
    sound = (
        np.all(nodes["kind"] <= IS_MISSING)
        and np.all(nodes["n_samples"] >= 0)
        and np.all(nodes["n_children"][~inner] == 0)
        and np.all((first > index) & (count > 0))
        and np.all(count[kind != CATEGORY_MULTIWAY] == 2)
        # The children of all nodes, one after the other, are all nodes but the root.
        and np.array_equal(first[order], 1 + np.cumsum(count[order]) - count[order])
        and int(count.sum()) == n_nodes - 1
        and np.all((feature >= 0) & (feature < n_features))
        and np.all((missing >= -1) & (missing < count))
        and np.all(np.isfinite(nodes["threshold"][inner][kind == NUMERIC]))
        and check_categories(nodes[inner], category_branch)
        and check_weights(nodes, first[order], index[order])
    )
    if not sound:
        raise ValueError("The arrays do not describe a tree.")


def check_categories(inner, category_branch):
    """Whether each category of a test has a branch that exists."""
    tests = inner[is_category(inner["kind"])]
    start, size = tests["category_start"].astype(np.int64), tests["n_categories"].astype(np.int64)
    if not np.all((start >= 0) & (size >= 0) & (start + size <= len(category_branch))):
        return False
    ends = np.cumsum(size)
    cells = np.arange(size.sum()) + np.repeat(start - (ends - size), size)
    branches = category_branch[cells]
    return np.all((branches >= 0) & (branches < np.repeat(tests["n_children"], size)))


def check_weights(nodes, first, index):
    """Whether a missing value can be distributed by weight wherever it has to be."""
    weight = nodes["weight"]
    if not np.all(np.isfinite(weight) & (weight >= 0)):
        return False
    if not len(first):
        return True
    below = np.add.reduceat(weight, first)
    tests = nodes[index]
    by_weight = (tests["missing_branch"] < 0) & (tests["kind"] != IS_MISSING)
    return np.all(below[by_weight] > 0)
