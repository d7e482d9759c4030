"""The greedy classification tree."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from numpy.typing import ArrayLike

from sktree_opt.greedy._base import BaseGreedyTree, document_greedy
from sktree_opt.greedy._registries import CLASSIFICATION_CRITERIA, CLASSIFICATION_PRUNINGS
from sktree_opt.tree._mixin import TreeClassifierMixin
from sktree_opt.utils._compat import StrOptions, fit_context
from sktree_opt.utils._params import OF_CLASSIFIERS, shared_constraints
from sktree_opt.utils._typing import (
    CategoricalFeatures,
    ClassWeight,
    GreedyCriterion,
    NominalSplit,
    RandomState,
    TableLike,
)


@document_greedy
class GreedyTreeClassifier(TreeClassifierMixin, BaseGreedyTree):
    """A C4.5-style decision tree.

    Grown from the root down: each node takes the split that is best by itself, on numbers,
    categories and missing values without preparation. Nominal columns are split by category. By
    default a row with a missing value goes down every branch with a share of its weight.

    Read more in the :ref:`User Guide <greedy_trees>`.

    Parameters
    ----------
    criterion : {"information_gain", "entropy", "log_loss", "gain_ratio", \
            "above_average_gain_ratio", "gini", "gini_cost", "error"}, default="information_gain"
        Quality of a split. "entropy" and "log_loss" are scikit-learn's names of
        "information_gain". "gain_ratio" divides the information gain by the entropy of the split;
        "above_average_gain_ratio" does so for columns of at least the average gain;
        "gini_cost" weighs pairs of classes by `cost_matrix`; "error" counts misclassified cases.

    nominal_split : {"multiway", "one_vs_rest", "subset"}, default="multiway"
        How a nominal column is split: a branch for each category, one category against the rest,
        or the best division of the categories into two sets. "subset" tries all divisions when
        there are three or more classes, and then takes columns of at most 12 categories.

    %(missing)s

    %(max_depth)s

    %(min_samples_split)s

    %(min_samples_leaf)s

    %(min_weight_split)s

    %(min_weight_branch)s

    %(min_weight_branches)s

    %(max_leaf_nodes)s Nodes are then split in the order of their gain.

    %(max_features)s

    min_gain : float, default=0.0
        Minimum gain of a split, in the units of `criterion` (bits for "gain_ratio" too).

    allow_zero_gain : bool, default=False
        Whether a node may be split without any gain, as the parity of two columns needs it. The
        tree then grows until no column tells its rows apart.

    acceptable_error : float, default=0.0
        A node that misclassifies at most this share of its weight is a leaf.

    numeric_gain_penalty : bool, default=False
        Whether the gain of a numeric split is reduced by ``log2(n_thresholds) / weight``, as in
        release 8 of C4.5, where ``n_thresholds`` are those tried at the node.

    pruning : {"error_based", "reduced_error"} or None, default=None
        "error_based" is C4.5's, with subtree raising; "reduced_error" keeps part of the rows back
        to judge by.

    %(confidence)s Read by
        "error_based" pruning.

    validation_fraction : float, default=0.3
        Share of the rows of each class that "reduced_error" pruning keeps back.

    %(class_weight)s

    %(cost_matrix)s With costs,
        `predict` answers the class of least expected cost.

    %(categorical_features)s

    %(leaf_smoothing)s

    %(hierarchical_shrinkage)s

    %(random_state)s Only the
        columns that `max_features` draws and the rows that "reduced_error" pruning keeps back are
        random.

    %(n_jobs)s

    Attributes
    ----------
    tree_ : Tree
        The tree.

    classes_ : ndarray of shape (n_classes,)
        Class labels.

    %(columns)s

    See Also
    --------
    GreedyTreeRegressor : The tree for numeric targets.

    Notes
    -----
    By default a row with a missing value goes down every branch of a test, with a share of its
    weight. `min_samples_split` counts it at every node that it reaches; `min_samples_leaf` counts,
    in each branch, the rows whose value leads there. The branch of categories that do not occur at
    the node gets no rows and needs none.

    The defaults of the other two minima are C4.5's: they keep nodes from being split for the sake
    of small shares of rows. The weight of one row is 1, or the mean weight if that is below 1. A
    sample weight of k gives the same tree as k copies of the row, unless `min_samples_split` or
    `min_samples_leaf`, which count rows whatever their weight, say otherwise.

    If several splits are equally good, the tree takes the one on the first column, then the one of
    lowest threshold.
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

    _parameter_constraints: ClassVar[dict] = {
        **BaseGreedyTree._parameter_constraints,
        "criterion": [StrOptions(set(CLASSIFICATION_CRITERIA))],
        "pruning": [StrOptions(set(CLASSIFICATION_PRUNINGS)), None],
        **shared_constraints(*OF_CLASSIFIERS),
    }

    def __init__(
        self,
        *,
        criterion: GreedyCriterion = "information_gain",
        nominal_split: NominalSplit = "multiway",
        missing: Literal["distribute", "category", "majority"] = "distribute",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_split: float | None = None,
        min_weight_branch: float | None = None,
        min_weight_branches: Literal["two", "every"] = "two",
        max_leaf_nodes: int | None = None,
        max_features: float | Literal["sqrt", "log2"] | None = None,
        min_gain: float = 0.0,
        allow_zero_gain: bool = False,
        acceptable_error: float = 0.0,
        numeric_gain_penalty: bool = False,
        pruning: Literal["error_based", "reduced_error"] | None = None,
        confidence: float = 0.25,
        validation_fraction: float = 0.3,
        class_weight: ClassWeight = None,
        cost_matrix: ArrayLike | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        leaf_smoothing: Literal["laplace"] | float | None = None,
        hierarchical_shrinkage: float = 0.0,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.nominal_split = nominal_split
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_split = min_weight_split
        self.min_weight_branch = min_weight_branch
        self.min_weight_branches = min_weight_branches
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.min_gain = min_gain
        self.allow_zero_gain = allow_zero_gain
        self.acceptable_error = acceptable_error
        self.numeric_gain_penalty = numeric_gain_penalty
        self.pruning = pruning
        self.confidence = confidence
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.categorical_features = categorical_features
        self.leaf_smoothing = leaf_smoothing
        self.hierarchical_shrinkage = hierarchical_shrinkage
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        %(fit_classes)s

        Returns
        -------
        self : GreedyTreeClassifier
            The fitted tree.
        """
        return self._fit_tree(
            X, y, sample_weight, is_classifier=True, class_weight=self.class_weight
        )
