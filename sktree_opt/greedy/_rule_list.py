"""An ordered list of rules read off a tree, pruned one by one."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted

from sktree_opt.greedy._classifier import GreedyTreeClassifier
from sktree_opt.preprocessing._encoder import TableEncoder
from sktree_opt.preprocessing._times import TIME_KINDS, time_of_seconds
from sktree_opt.tree._mixin import TreeClassifierMixin
from sktree_opt.tree._node import IS_MISSING, LEAF, NUMERIC
from sktree_opt.utils._compat import DocLinkMixin, Interval, fit_context
from sktree_opt.utils._fitting import all_or_nothing
from sktree_opt.utils._params import document_shared, shared_constraints
from sktree_opt.utils._typing import RandomState, TableLike
from sktree_opt.utils._validation import (
    check_columns,
    check_training_data,
    encode_rows,
)


@dataclass(frozen=True)
class Rule:
    """A rule of a rule list.

    Attributes
    ----------
    conditions : tuple of (int, int)
        Node of the tree and branch of its test, in the order of the path.

    answer : int
        Index of the class.

    accuracy : float
        Estimated on the validation rows.
    """

    conditions: tuple
    answer: int
    accuracy: float


@document_shared
class RuleListClassifier(DocLinkMixin, ClassifierMixin, BaseEstimator):
    """An ordered list of if-then rules, read off a decision tree.

    Each leaf of a tree gives a rule: the tests of its path and its answer. A rule loses the
    conditions whose removal does not raise its error on validation rows. The rules are sorted by
    their estimated accuracy, and the first one that a row meets answers; a row that meets none gets
    the default class.

    Read more in the :ref:`User Guide <greedy_trees>`.

    Parameters
    ----------
    estimator : estimator or None, default=None
        A tree classifier of this package, greedy or optimal. None for ``GreedyTreeClassifier()``.

    validation_fraction : float, default=0.3
        Share of the rows of each class that the rules are pruned and rated on. The tree is not
        grown from them. Equal rows stay together. Not used if `fit` gets validation rows.

    %(random_state)s The choice
        of the validation rows is random.

    %(n_jobs)s

    Attributes
    ----------
    estimator_ : estimator
        The tree.

    rules_ : list of dict
        The rules in their order. Each has "conditions" (dicts of "feature", "operator" and
        "value"), "answer", "accuracy" (estimated on the validation rows) and "n_samples" (rows of
        `fit` that meet it first).

    default_ : object
        The class of rows that meet no rule.

    classes_ : ndarray of shape (n_classes,)
        Class labels.

    %(columns_seen)s

    See Also
    --------
    GreedyTreeClassifier : The tree that the rules come from by default.
    sktree_opt.export.export_rules : The leaves of a tree as rules, without pruning.

    Notes
    -----
    The error of a rule is the share of the weight that it misclassifies of the validation rows that
    meet it. Conditions leave one by one, each time the one whose removal gives the smallest error.
    The accuracy that sorts the rules counts one more row of each class (Laplace), so that a rule of
    few rows does not look certain. Where the tree sends a missing value down every branch, a row
    without the value does not meet the condition. `predict_proba` gives the class frequencies of
    the rows of `fit` that meet the rule first.

    Examples
    --------
    >>> from sktree_opt import RuleListClassifier
    >>> from sktree_opt.datasets import load_loans
    >>> X, y = load_loans(return_X_y=True, as_frame=True)
    >>> rules = RuleListClassifier(random_state=0).fit(X, y)
    >>> rules.score(X, y) > 0.7
    True
    """

    estimator_: TreeClassifierMixin
    rules_: list[dict[str, Any]]
    default_: Any
    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    _parameter_constraints: ClassVar[dict] = {
        "estimator": [TreeClassifierMixin, None],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        **shared_constraints("random_state", "n_jobs"),
    }

    def __init__(
        self,
        estimator: TreeClassifierMixin | None = None,
        *,
        validation_fraction: float = 0.3,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: TableLike | None = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Grow the tree and make the list of rules.

        Parameters
        ----------
        %(fit_classes)s

        X_val : {array-like, dataframe, sparse matrix} or None, default=None
            Rows to prune and rate the rules on, with the columns of `X`. The tree is then grown
            from all rows of `X`.

        y_val : array-like or None, default=None
            Class labels of `X_val`.

        Returns
        -------
        self : RuleListClassifier
            The fitted rule list.
        """
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val must be given together.")
        with all_or_nothing(self):
            tree = GreedyTreeClassifier() if self.estimator is None else clone(self.estimator)
            encoder = TableEncoder(getattr(tree, "categorical_features", "from_dtype"))
            data = check_training_data(self, encoder, X, y, sample_weight, is_classifier=True)
            self.classes_ = data.classes
            growing = np.arange(len(data.y))
            if X_val is None:
                growing, held_back = self._split(data)
            # A row of weight 0 is as good as absent.
            labels = column_or_1d(y)
            of_growing = np.zeros(len(data.y))
            of_growing[growing] = data.weights[growing]
            weights = np.zeros(len(labels))
            weights[data.kept_rows] = of_growing
            self.estimator_ = tree.fit(X, labels, sample_weight=weights)
            self._encoder = encoder = tree._encoder
            matrix = dense(encoder.transform(X))[data.kept_rows]
            if X_val is None:
                part = held_back if len(held_back) else growing
                validation = matrix[part], data.y[part], data.weights[part]
            else:
                validation = self._check_validation(X_val, y_val)
            rules = [self._pruned_rule(leaf, path, *validation) for leaf, path in self._paths()]
            self._order(rules, matrix, data)
        return self

    def _split(self, data):
        """Rows to grow from and rows to hold back; equal rows of a class are on the same side."""
        rng = check_random_state(self.random_state)
        cells = np.nan_to_num(dense(data.matrix).astype(np.float64), nan=np.finfo(float).max)
        _, group = np.unique(np.column_stack([data.y, cells]), axis=0, return_inverse=True)
        group = group.ravel()
        is_held_back = np.zeros(len(data.y), dtype=bool)
        for label in range(len(data.classes)):
            groups = np.unique(group[data.y == label])
            picked = rng.permutation(groups)[: round(self.validation_fraction * len(groups))]
            is_held_back |= np.isin(group, picked)
        if is_held_back.all():
            is_held_back[:] = False
        return np.flatnonzero(~is_held_back), np.flatnonzero(is_held_back)

    def _check_validation(self, X_val, y_val):
        """Encoded validation rows, their class codes and their weights."""
        check_columns(self, X_val)
        matrix = dense(encode_rows(self, X_val))
        y_val = np.asarray(y_val)
        if len(y_val) != len(matrix) or not len(y_val):
            raise ValueError(
                f"X_val has {len(matrix)} rows and y_val has {len(y_val)} labels; the same number "
                "is needed, and at least one."
            )
        unknown = sorted(set(y_val.tolist()) - set(self.classes_.tolist()), key=str)
        if unknown:
            raise ValueError(f"y_val has labels that y does not have: {unknown}.")
        return matrix, np.searchsorted(self.classes_, y_val), np.ones(len(y_val))

    def _paths(self):
        """Each leaf that rows reached, and the tests of its path: (node, branch)."""
        nodes, parents = self.estimator_.tree_.nodes, self.estimator_.tree_.parents()
        for leaf in np.flatnonzero((nodes["kind"] == LEAF) & (nodes["weight"] > 0.0)).tolist():
            path, child = [], leaf
            while child > 0:
                parent = int(parents[child])
                path.append((parent, child - int(nodes["first_child"][parent])))
                child = parent
            yield leaf, path[::-1]

    def _pruned_rule(self, leaf, path, matrix, y, weights):
        """The rule of a leaf without the conditions that the validation rows do not ask for."""
        tree = self.estimator_.tree_
        labels = self.estimator_.classes_[self.estimator_._decide_nodes()[leaf]]
        answer = int(np.searchsorted(self.classes_, labels))
        meets = [branches_of(tree, node, matrix) == branch for node, branch in path]
        is_wrong = y != answer
        kept = list(range(len(path)))

        def error_of(conditions):
            covered = np.logical_and.reduce([meets[i] for i in conditions], initial=True)
            covered = np.broadcast_to(covered, len(y))
            weight = weights[covered].sum()
            return weights[covered & is_wrong].sum() / weight if weight > 0.0 else 1.0

        error = error_of(kept)
        while kept:
            without = [error_of([j for j in kept if j != i]) for i in kept]
            least = int(np.argmin(without))
            if without[least] > error + 1e-12:
                break
            error = without[least]
            del kept[least]
        covered = np.logical_and.reduce([meets[i] for i in kept], initial=True)
        covered = np.broadcast_to(covered, len(y))
        # A row of mean weight counts as one row where weights are small.
        row = min(1.0, weights.mean())
        right, total = weights[covered & ~is_wrong].sum() / row, weights[covered].sum() / row
        accuracy = (right + 1.0) / (total + len(self.classes_))
        return Rule(tuple(path[i] for i in kept), answer, float(accuracy))

    def _order(self, rules, matrix, data):
        """Sort the rules, drop those that no row of `fit` meets first, and find the default."""
        n_classes = len(self.classes_)
        self._rules, self.rules_, frequencies = [], [], []
        is_open = np.ones(len(matrix), dtype=bool)
        for rule in sorted(rules, key=lambda rule: (-rule.accuracy, len(rule.conditions))):
            first = is_open & self._meets(rule, matrix)
            if not first.any():
                continue
            is_open &= ~first
            counts = np.bincount(data.y[first], data.weights[first], minlength=n_classes)
            self._rules.append(rule)
            frequencies.append(counts / counts.sum())
            self.rules_.append(self._record(rule, int(first.sum()), frequencies[-1]))
        self._n_default = int(is_open.sum())
        rest = is_open if is_open.any() else np.ones(len(matrix), dtype=bool)
        counts = np.bincount(data.y[rest], data.weights[rest], minlength=n_classes)
        frequencies.append(counts / counts.sum())
        self._frequencies = np.array(frequencies)
        self.default_ = self.classes_[self._decide(self._frequencies[-1:])[0]]

    def _decide(self, frequencies):
        """Index of the class to answer for rows of frequencies."""
        costs = getattr(self.estimator_, "_costs", None)
        if costs is None or len(costs) != len(self.classes_):
            return np.argmax(frequencies, axis=1)
        return np.argmin(frequencies @ costs, axis=1)

    def _meets(self, rule, matrix):
        """Whether each row meets all conditions of a rule."""
        found = np.ones(len(matrix), dtype=bool)
        for node, branch in rule.conditions:
            found &= branches_of(self.estimator_.tree_, node, matrix) == branch
        return found

    def _record(self, rule, n_samples, frequencies):
        """A rule for people."""
        return {
            "conditions": [self._condition(node, branch) for node, branch in rule.conditions],
            "answer": self.classes_[self._decide(frequencies[np.newaxis])[0]],
            "accuracy": rule.accuracy,
            "n_samples": n_samples,
        }

    def _condition(self, index, branch):
        """One condition: feature, operator, value."""
        tree, node = self.estimator_.tree_, self.estimator_.tree_.nodes[index]
        name = self._encoder.feature_names_[node["feature"]]
        if node["kind"] == IS_MISSING:
            operator, value = ("is missing" if branch == 0 else "is not missing"), None
        elif node["kind"] == NUMERIC:
            operator, value = ("<=" if branch == 0 else ">"), float(node["threshold"])
            kind = self._encoder.kinds_[node["feature"]]
            value = time_of_seconds(value, kind) if kind in TIME_KINDS else value
        else:
            categories = self._encoder.categories_[node["feature"]]
            chosen = np.flatnonzero(tree.branches(index) == branch)
            operator, value = "in", [categories[c] for c in chosen]
        return {"feature": name, "operator": operator, "value": value}

    def _first_rules(self, X):
        """Index of the first rule that each row meets; the number of rules for the default."""
        check_is_fitted(self, "rules_")
        check_columns(self, X)
        matrix = dense(encode_rows(self, X))
        found = np.full(len(matrix), len(self._rules))
        for index in reversed(range(len(self._rules))):
            found[self._meets(self._rules[index], matrix)] = index
        return found

    def predict(self, X: TableLike) -> NDArray[Any]:
        """Predict the class of each row: the answer of the first rule that it meets.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels.
        """
        first = self._first_rules(X)
        return self.classes_[self._decide(self._frequencies)][first]

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Predict class probabilities: the frequencies of the first rule that a row meets.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            One column for each of ``classes_``; rows sum to 1.
        """
        first = self._first_rules(X)
        return self._frequencies[first]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags


def dense(matrix):
    """A matrix as an array."""
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def branches_of(tree, index, matrix):
    """Branch of each row at a test; -1 where a missing value goes down every branch."""
    node = tree.nodes[index]
    values = matrix[:, node["feature"]].astype(np.float64)
    is_missing = np.isnan(values)
    if node["kind"] == IS_MISSING:
        return np.where(is_missing, 0, 1)
    if node["kind"] == NUMERIC:
        branches = np.where(values <= node["threshold"], 0, 1)
    else:
        codes = np.where(is_missing, 0, values).astype(np.int64)
        branches = tree.branches(index)[codes]
    return np.where(is_missing, node["missing_branch"], branches)
