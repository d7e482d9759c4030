"""The greedy regression tree."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from numpy.typing import ArrayLike

from sktree_opt.greedy._base import BaseGreedyTree, document_greedy
from sktree_opt.greedy._registries import REGRESSION_CRITERIA, REGRESSION_PRUNINGS
from sktree_opt.tree._mixin import TreeRegressorMixin
from sktree_opt.utils._compat import StrOptions, fit_context
from sktree_opt.utils._typing import CategoricalFeatures, NominalSplit, RandomState, TableLike


@document_greedy
class GreedyTreeRegressor(TreeRegressorMixin, BaseGreedyTree):
    """A regression tree grown like C4.5 grows classification trees.

    Grown from the root down: each node takes the split that most reduces the squared error, on
    numbers, categories and missing values without preparation.

    Read more in the :ref:`User Guide <greedy_trees>`.

    Parameters
    ----------
    criterion : {"squared_error"}, default="squared_error"
        Quality of a split.

    nominal_split : {"multiway", "one_vs_rest", "subset"}, default="multiway"
        How a nominal column is split: a branch for each category, one category against the rest,
        or the best division of the categories into two sets.

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
        Minimum decrease of the mean squared error of a node.

    allow_zero_gain : bool, default=False
        Whether a node may be split without any gain. The tree then grows until no column tells its
        rows apart.

    acceptable_error : float, default=0.0
        A node whose mean squared error is at most this is a leaf.

    pruning : {"reduced_error"} or None, default=None
        "reduced_error" keeps part of the rows back to judge by.

    validation_fraction : float, default=0.3
        Share of the rows that "reduced_error" pruning keeps back.

    %(categorical_features)s

    %(random_state)s Only the
        columns that `max_features` draws and the rows that "reduced_error" pruning keeps back are
        random.

    %(n_jobs)s

    Attributes
    ----------
    tree_ : Tree
        The tree.

    %(columns)s

    See Also
    --------
    GreedyTreeClassifier : The tree for classes.

    Notes
    -----
    Rows and weights are counted as in :class:`GreedyTreeClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sktree_opt.greedy import GreedyTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = GreedyTreeRegressor(max_leaf_nodes=8).fit(X, y)
    >>> reg.get_n_leaves(), round(reg.score(X, y), 2)
    (8, 0.51)
    """

    _parameter_constraints: ClassVar[dict] = {
        **BaseGreedyTree._parameter_constraints,
        "criterion": [StrOptions(set(REGRESSION_CRITERIA))],
        "pruning": [StrOptions(set(REGRESSION_PRUNINGS)), None],
    }
    _parameter_constraints.pop("numeric_gain_penalty")

    def __init__(
        self,
        *,
        criterion: Literal["squared_error"] = "squared_error",
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
        pruning: Literal["reduced_error"] | None = None,
        validation_fraction: float = 0.3,
        categorical_features: CategoricalFeatures = "from_dtype",
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
        self.pruning = pruning
        self.validation_fraction = validation_fraction
        self.categorical_features = categorical_features
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
            Numbers.

        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights; None for equal ones.

        Returns
        -------
        self : GreedyTreeRegressor
            The fitted tree.
        """
        return self._fit_tree(X, y, sample_weight, is_classifier=False)
