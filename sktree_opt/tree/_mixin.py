"""Methods of every fitted tree estimator: answers for new rows, and facts about its tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from sktree_opt.tree._smoothing import smoothed_probabilities
from sktree_opt.tree._tree import Tree
from sktree_opt.utils._compat import DocLinkMixin, n_threads_for
from sktree_opt.utils._typing import TableLike
from sktree_opt.utils._validation import check_columns, encode_rows, rows_as_they_are

# A sparse table is made dense this many cells at a time: 32 MB of float64.
CELLS_AT_A_TIME = 1 << 22


class TreeMixin(DocLinkMixin):
    """Methods of an estimator whose fit leaves ``tree_`` and ``_encoder``."""

    tree_: Tree
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    def apply(self, X: TableLike) -> NDArray[np.int64]:
        """Return the index of the leaf that each row ends in.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
            Indices into ``tree_.nodes``. For a row that is distributed over several leaves because
            it misses a value, the leaf that gets the largest share.
        """
        no_values = np.zeros((self._fitted_tree().n_nodes, 1))
        return self._evaluate(X, no_values)[0].astype(np.int64)

    def decision_path(self, X: TableLike) -> sparse.csr_matrix:
        """Return the nodes that each row passes.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        indicator : csr_matrix of shape (n_samples, n_nodes)
            Nonzero where the row, or a share of it, passes the node.
        """
        tree = self._fitted_tree()
        return sparse.vstack([tree.decision_path(block) for block in self._blocks(X)], format="csr")

    def get_depth(self) -> int:
        """Return the depth of the tree: tests on the longest path.

        Returns
        -------
        depth : int
            0 for a single leaf.
        """
        return self._fitted_tree().depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves.

        Returns
        -------
        n_leaves : int
            At least 1.
        """
        return self._fitted_tree().n_leaves

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Change of the answers when a feature is not known, as shares of the total.

        Unlike the decrease of an impurity, this does not depend on what the tree was fitted for,
        and a feature on which the answers depend has an importance above 0. See
        :meth:`sktree_opt.tree.Tree.importances`.
        """
        return self._fitted_tree().importances(self._leaf_answers())

    def _leaf_answers(self):
        """What the importances compare: one row for each node."""
        return self._fitted_tree().node_values()

    def _html_repr(self):
        """scikit-learn's diagram, and below it the fitted tree.

        Notebooks show it; ``sklearn.utils.estimator_html_repr`` makes the diagram alone.
        """
        diagram = super()._html_repr()
        if not hasattr(self, "tree_"):
            return diagram
        # Only a notebook needs it.
        from sktree_opt.export.page._tree_page import notebook_html

        return diagram + notebook_html(self)

    def _n_threads(self):
        return n_threads_for(getattr(self, "n_jobs", None))

    def _fitted_tree(self):
        check_is_fitted(self, "tree_")
        return self.tree_

    def _blocks(self, X):
        """The encoded rows of `X` as dense matrices, one after the other."""
        self._fitted_tree()
        check_columns(self, X)
        yield from self._blocks_of_checked(X)

    def _blocks_of_checked(self, X):
        matrix = encode_rows(self, X)
        if not sparse.issparse(matrix):
            yield matrix
            return
        n_rows = max(1, CELLS_AT_A_TIME // max(1, matrix.shape[1]))
        for start in range(0, matrix.shape[0], n_rows):
            yield matrix[start : start + n_rows].toarray()

    def _walked_blocks(self, X):
        """The same, with the leaf of each row and the rows that have none (see ``Tree.walk``)."""
        tree, n_threads = self._fitted_tree(), self._n_threads()
        check_columns(self, X)
        matrix = rows_as_they_are(self, X)
        if matrix is not None:
            leaves, distributed = tree.walk(matrix, n_threads, self._encoder.n_codes_)
            if leaves is not None:
                yield matrix, leaves, distributed
                return
        for block in self._blocks_of_checked(X):
            yield block, *tree.walk(block, n_threads)

    def _evaluate(self, X, leaf_values):
        """Leaf of each row of `X`, and its mean of `leaf_values` (see ``Tree.evaluate``)."""
        parts = [
            self.tree_.evaluate_walked(*walked, leaf_values, self._n_threads())
            for walked in self._walked_blocks(X)
        ]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags


# Probabilities closer than this are equal: sums of shares of cases differ by rounding.
TIE_TOLERANCE = 1e-9


class TreeClassifierMixin(TreeMixin, ClassifierMixin):
    """A classifier whose fit leaves ``tree_``, ``classes_`` and ``_encoder``."""

    classes_: NDArray[Any]

    def predict(self, X: TableLike) -> NDArray[Any]:
        """Predict the class of each row.

        The most frequent class of the row's leaf; with a cost matrix, the class of least expected
        cost. If several classes are equally good up to rounding, the first in ``classes_``.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels.
        """
        frequencies = self._fitted_tree().node_values()
        # Rows with one leaf need no row of probabilities: the leaf's decision is made once.
        label_of_leaf = self.classes_[self._decide_nodes()]
        parts = []
        for block, leaves, distributed in self._walked_blocks(X):
            labels = np.take(label_of_leaf, leaves, mode="clip")
            if distributed.size:
                shares = self.tree_.share(block, distributed, frequencies, self._n_threads())[1]
                labels[distributed] = self.classes_[self._decide(shares)]
            parts.append(labels)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Predict class probabilities.

        The weighted class frequencies of the row's leaf, smoothed by `leaf_smoothing` and
        `hierarchical_shrinkage` of estimators that have these parameters. A tree of the balanced
        error weighs the classes equally.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            One column for each of ``classes_``; rows sum to 1.
        """
        return self._evaluate(X, self._node_probabilities())[1]

    def predict_log_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Predict logarithms of class probabilities.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            ``-inf`` where the probability is zero.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _node_probabilities(self):
        """Class probabilities at each node of the tree."""
        return smoothed_probabilities(self._fitted_tree(), **self._smoothing())

    def _smoothing(self):
        """The parameters of ``smoothed_probabilities``, of a selector those of its tree."""
        smooths = getattr(self, "estimator_", self)
        return {
            "leaf_smoothing": getattr(smooths, "leaf_smoothing", None),
            "hierarchical_shrinkage": getattr(smooths, "hierarchical_shrinkage", 0.0),
            "class_factors": getattr(self, "_class_factors", None),
        }

    def _decide_nodes(self):
        """Index of the class that each node of the tree answers."""
        values = self._fitted_tree().node_values()
        # The answers of a metric do not follow from the class frequencies of the leaf.
        answers = getattr(self, "_answers", None)
        return self._decide(values) if answers is None else answers

    def _leaf_answers(self):
        frequencies = self._fitted_tree().node_values()
        answers = getattr(self, "_answers", None)
        # Leaves of equal frequencies may have different answers.
        return frequencies if answers is None else np.hstack([frequencies, np.eye(2)[answers]])

    def _decide(self, proba):
        """Index of the class to answer for each row of probabilities."""
        costs = getattr(self, "_costs", None)
        worth = proba if costs is None else -(proba @ costs)
        tolerance = TIE_TOLERANCE if costs is None else TIE_TOLERANCE * np.abs(costs).max()
        return np.argmax(worth >= worth.max(axis=1, keepdims=True) - tolerance, axis=1)


class TreeRegressorMixin(TreeMixin, RegressorMixin):
    """A regressor whose fit leaves ``tree_`` and ``_encoder``."""

    def predict(self, X: TableLike) -> NDArray[np.float64]:
        """Predict the target of each row.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The answer of the row's leaf: the mean of its targets, or their median in a tree of
            least absolute error.
        """
        return self._evaluate(X, self._fitted_tree().node_values())[1][:, 0]
