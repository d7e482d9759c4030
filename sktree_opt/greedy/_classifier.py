"""The greedy classification tree."""

from numbers import Real
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from sktree_opt.greedy._base import MAX_CLASSES, BaseGreedyTree
from sktree_opt.greedy._criteria import CLASSIFICATION_CRITERIA
from sktree_opt.greedy._prunings import CLASSIFICATION_PRUNINGS
from sktree_opt.tree import TreeClassifierMixin
from sktree_opt.utils._compat import Interval, StrOptions, fit_context
from sktree_opt.utils._typing import (
    CategoricalFeatures,
    ClassWeight,
    GreedyCriterion,
    NominalSplit,
    RandomState,
    TableLike,
)


class GreedyTreeClassifier(TreeClassifierMixin, BaseGreedyTree):
    """A C4.5-style decision tree.

    Grown from the root down: each node takes the split that is best by itself, on numbers,
    categories and missing values as they come. Nominal columns are split by category, a case with
    a missing value goes down every branch with a share of its weight.

    Read more in the :ref:`User Guide <greedy_trees>`.

    Parameters
    ----------
    criterion : {"information_gain", "entropy", "log_loss", "gain_ratio", "gini", "gini_cost", \
            "error"}, default="information_gain"
        Quality of a split. "entropy" and "log_loss" are scikit-learn's names of
        "information_gain". "gain_ratio" divides the information gain by the entropy of the split;
        "gini_cost" weighs pairs of classes by `cost_matrix`; "error" counts misclassified cases.

    nominal_split : {"multiway", "one_vs_rest", "subset"}, default="multiway"
        How a nominal column is split: a branch for each category, one category against the rest,
        or the best division of the categories into two sets. "subset" tries all divisions when
        there are three or more classes, and then takes columns of at most 12 categories.

    max_depth : int or None, default=None
        Most tests on a path; None for no limit.

    min_samples_split : float, default=2
        A node of smaller weight is a leaf.

    min_samples_leaf : float, default=1
        At least two branches of a split must have this weight (C4.5's rule).

    max_leaf_nodes : int or None, default=None
        Most leaves; nodes are then split in the order of what they gain. None for no limit.

    min_gain : float, default=0.0
        Least gain of a split, in the units of `criterion` (bits for "gain_ratio" too). A split
        that gains nothing is never made.

    numeric_gain_penalty : bool, default=False
        Whether the gain of a numeric split is reduced by ``log2(n_thresholds) / weight``, as in
        release 8 of C4.5, where ``n_thresholds`` are those tried at the node.

    pruning : {"error_based", "reduced_error"} or None, default=None
        "error_based" is C4.5's, with subtree raising; "reduced_error" keeps part of the rows back
        to judge by.

    confidence : float, default=0.25
        Of "error_based" pruning: less prunes more.

    validation_fraction : float, default=0.3
        Share of the rows of each class that "reduced_error" pruning keeps back.

    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights by class.

    cost_matrix : array-like of shape (n_classes, n_classes) or None, default=None
        Cost of answering class `j` (columns) for class `i` (rows), classes in sorted order; zero
        on the diagonal. With costs, `predict` answers the class of least expected cost.

    categorical_features : "from_dtype", array-like of bool, int or str, or None, \
            default="from_dtype"
        Nominal columns: by their dtype, a mask, indices, names, or none. Ordered categorical and
        Boolean columns that are not named are split as numbers.

    laplace_smoothing : bool, default=False
        Whether `predict_proba` counts one more case of every class in each leaf.

    random_state : int, RandomState instance or None, default=None
        Which rows "reduced_error" pruning keeps back. Nothing else is random.

    n_jobs : int or None, default=None
        Threads; the tree does not depend on them. None means 1, -1 all.

    Attributes
    ----------
    tree_ : Tree
        The tree.

    classes_ : ndarray of shape (n_classes,)
        Class labels.

    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of impurity.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_features,)
        Their names, when all are strings.

    See Also
    --------
    GreedyTreeRegressor : The tree for numeric targets.

    Notes
    -----
    `min_samples_split` and `min_samples_leaf` count weights: a row of weight k is k rows. Where
    the mean weight is below 1, a row of mean weight counts as one.

    Of equally good splits the one on the first column is taken, then the one of lowest threshold.
    The quality of a split depends on the cases at the node and on its own column alone, so that
    columns a tree does not use can be left out without changing it (Lemma 6 of [2]_).

    References
    ----------
    .. [1] J. R. Quinlan, "C4.5: Programs for Machine Learning", 1993.
    .. [2] S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20, 2019.

    Examples
    --------
    >>> from sktree_opt.datasets import load_restaurant
    >>> from sktree_opt.greedy import GreedyTreeClassifier
    >>> X, y = load_restaurant(return_X_y=True, as_frame=True)
    >>> clf = GreedyTreeClassifier(criterion="gain_ratio").fit(X, y)
    >>> clf.get_n_leaves(), clf.score(X, y)
    (7, 1.0)
    """

    _criteria = CLASSIFICATION_CRITERIA
    _prunings = CLASSIFICATION_PRUNINGS

    _parameter_constraints: ClassVar[dict] = {
        **BaseGreedyTree._parameter_constraints,
        "criterion": [StrOptions(set(CLASSIFICATION_CRITERIA))],
        "pruning": [StrOptions(set(CLASSIFICATION_PRUNINGS)), None],
        "confidence": [Interval(Real, 0, 0.5, closed="right")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "cost_matrix": ["array-like", None],
        "laplace_smoothing": ["boolean"],
    }

    def __init__(
        self,
        *,
        criterion: GreedyCriterion = "information_gain",
        nominal_split: NominalSplit = "multiway",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        max_leaf_nodes: int | None = None,
        min_gain: float = 0.0,
        numeric_gain_penalty: bool = False,
        pruning: Literal["error_based", "reduced_error"] | None = None,
        confidence: float = 0.25,
        validation_fraction: float = 0.3,
        class_weight: ClassWeight = None,
        cost_matrix: ArrayLike | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        laplace_smoothing: bool = False,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.nominal_split = nominal_split
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_gain = min_gain
        self.numeric_gain_penalty = numeric_gain_penalty
        self.pruning = pruning
        self.confidence = confidence
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.categorical_features = categorical_features
        self.laplace_smoothing = laplace_smoothing
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows; NaN, None and NA are missing values.

        y : array-like of shape (n_samples,)
            Class labels.

        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights; None for equal ones.

        Returns
        -------
        self : GreedyTreeClassifier
            The fitted tree.
        """
        return self._fit_tree(
            X, y, sample_weight, is_classifier=True, class_weight=self.class_weight
        )

    def _check_costs(self, n_classes):
        """The cost matrix as floats, or None."""
        if n_classes > MAX_CLASSES:
            raise ValueError(f"y has {n_classes} classes; at most {MAX_CLASSES} are possible.")
        if self.cost_matrix is None:
            if self._criteria[self.criterion].needs_costs:
                raise ValueError(f"criterion={self.criterion!r} needs a cost_matrix.")
            return None
        costs = np.asarray(self.cost_matrix, dtype=np.float64)
        if costs.shape != (n_classes, n_classes):
            raise ValueError(
                f"cost_matrix has shape {costs.shape}; y has {n_classes} classes, so that "
                f"{(n_classes, n_classes)} is expected."
            )
        if not np.isfinite(costs).all() or (costs < 0.0).any() or costs.diagonal().any():
            raise ValueError(
                "cost_matrix must hold finite numbers that are not negative, with zeros on its "
                "diagonal."
            )
        return costs
