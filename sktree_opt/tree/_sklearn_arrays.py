"""The arrays by which tools read scikit-learn's ``tree_``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sktree_opt.tree._node import IS_MISSING, LEAF, NUMERIC, is_category

TREE_LEAF, TREE_UNDEFINED = -1, -2


class SklearnArrays:
    """Read-only arrays of a binary tree of numeric tests, in scikit-learn's layout and order.

    A tree with tests of categories has none of them: reading one is an ``AttributeError`` that
    names :func:`~sktree_opt.export.to_sklearn`. A test that asks whether a value is missing reads
    as ``x <= infinity``, with missing values on the right. A missing value that goes down every
    branch reads as going down the one with more weight.
    """

    nodes: NDArray[np.void]
    values: NDArray[np.float64]
    n_features: int
    is_classifier: bool

    def _numeric_nodes(self, name):
        """The nodes, unless a test is on categories."""
        if is_category(self.nodes["kind"]).any():
            raise AttributeError(
                f"'Tree' object has no attribute {name!r}: scikit-learn's arrays describe tests of "
                "numbers only, and this tree tests categories. sktree_opt.export.to_sklearn makes "
                "a pipeline with a tree of scikit-learn that has them."
            )
        return self.nodes

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return len(self._numeric_nodes("node_count"))

    @property
    def max_depth(self) -> int:
        """Number of tests on the longest path."""
        self._numeric_nodes("max_depth")
        return int(self.node_depths().max())  # type: ignore[attr-defined]

    @property
    def n_outputs(self) -> int:
        """1, the number of targets."""
        return 1

    @property
    def max_n_classes(self) -> int:
        """Number of classes; 1 for regression."""
        return self.values.shape[1]

    @property
    def n_classes(self) -> NDArray[np.int64]:
        """Number of classes of each target; 1 for regression."""
        return fixed(np.array([self.max_n_classes], dtype=np.int64))

    @property
    def children_left(self) -> NDArray[np.int64]:
        """Left child of each node; -1 for leaves."""
        nodes = self._numeric_nodes("children_left")
        # Missing values are on the right of x <= infinity, but are the first branch here.
        return self._of_tests(nodes["first_child"] + (nodes["kind"] == IS_MISSING), TREE_LEAF)

    @property
    def children_right(self) -> NDArray[np.int64]:
        """Right child of each node; -1 for leaves."""
        nodes = self._numeric_nodes("children_right")
        return self._of_tests(nodes["first_child"] + (nodes["kind"] != IS_MISSING), TREE_LEAF)

    @property
    def feature(self) -> NDArray[np.int64]:
        """Feature that each node tests; -2 for leaves."""
        return self._of_tests(self._numeric_nodes("feature")["feature"], TREE_UNDEFINED)

    @property
    def threshold(self) -> NDArray[np.float64]:
        """Threshold of each test: values that are at most it go left; -2 for leaves."""
        nodes = self._numeric_nodes("threshold")
        thresholds = np.where(nodes["kind"] == NUMERIC, nodes["threshold"], np.inf)
        return fixed(np.where(nodes["kind"] == LEAF, float(TREE_UNDEFINED), thresholds))

    @property
    def missing_go_to_left(self) -> NDArray[np.uint8]:
        """1 where a missing value goes left."""
        nodes = self._numeric_nodes("missing_go_to_left")
        is_test = nodes["kind"] == NUMERIC
        first = np.where(is_test, nodes["first_child"], 0)
        weight = nodes["weight"]
        is_heavier = weight[first] > weight[np.minimum(first + 1, len(nodes) - 1)]
        goes_left = np.where(nodes["missing_branch"] < 0, is_heavier, nodes["missing_branch"] == 0)
        return fixed((goes_left & is_test).astype(np.uint8))

    @property
    def value(self) -> NDArray[np.float64]:
        """Class frequencies, or the mean, of each node; shape (node_count, 1, max_n_classes)."""
        self._numeric_nodes("value")
        return fixed(self.node_values()[:, np.newaxis, :])  # type: ignore[attr-defined]

    @property
    def impurity(self) -> NDArray[np.float64]:
        """Impurity of each node, by the measure that the tree was fitted with."""
        return fixed(self._numeric_nodes("impurity")["impurity"].copy())

    @property
    def n_node_samples(self) -> NDArray[np.int64]:
        """Number of training rows at each node."""
        return fixed(self._numeric_nodes("n_node_samples")["n_samples"].copy())

    @property
    def weighted_n_node_samples(self) -> NDArray[np.float64]:
        """Weight of the training rows at each node."""
        return fixed(self._numeric_nodes("weighted_n_node_samples")["weight"].copy())

    def compute_feature_importances(self, normalize: bool = True) -> NDArray[np.float64]:
        """Return the decrease of impurity by each feature.

        Parameters
        ----------
        normalize : bool, default=True
            Whether the decreases are divided by their sum; otherwise by the weight of the root.

        Returns
        -------
        importances : ndarray of shape (n_features,)
            As scikit-learn computes them from the arrays.
        """
        left, right, feature = self.children_left, self.children_right, self.feature
        weighted = self.weighted_n_node_samples * self.impurity
        tests = np.flatnonzero(left != TREE_LEAF)
        decrease = weighted[tests] - weighted[left[tests]] - weighted[right[tests]]
        sums = np.bincount(feature[tests], weights=decrease, minlength=self.n_features)
        sums = sums / self.weighted_n_node_samples[0]
        total = sums.sum()
        return sums / total if normalize and total > 0 else sums

    def _of_tests(self, entries, otherwise):
        """Entries of tests as whole numbers, and another one for leaves."""
        entries = np.where(self.nodes["kind"] == LEAF, otherwise, entries)
        return fixed(entries.astype(np.int64))


def fixed(array):
    """The array, made read-only."""
    array.flags.writeable = False
    return array
