"""The best classification tree that treats groups alike, up to a limit."""

from __future__ import annotations

from copy import copy
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from sktree_opt.optimal.estimators._base import (
    BaseOptimalTree,
    class_problem,
    document_optimal,
    what_is_known,
)
from sktree_opt.optimal.estimators.queries._rates import RATES, group_codes
from sktree_opt.optimal.objectives._for_data import positive_code
from sktree_opt.optimal.run._plan import make_plan
from sktree_opt.optimal.run._trees import fitted_attributes
from sktree_opt.optimal.run.queries._fair import FRONT_DTYPE, TOLERANCE, Groups, find_fair_tree
from sktree_opt.tree._mixin import TreeClassifierMixin
from sktree_opt.utils._compat import Interval, StrOptions, fit_context
from sktree_opt.utils._params import DEFAULT_TIME_LIMIT, shared_constraints, warn_of_limit
from sktree_opt.utils._typing import (
    CategoricalFeatures,
    CategoricalSplit,
    Label,
    TableLike,
    Thresholds,
)


@document_optimal
class FairTreeClassifier(TreeClassifierMixin, BaseOptimalTree):
    """The best classification tree whose answers differ little between groups, with proof.

    No tree within the limits that answers the positive class about as often in all groups has a
    smaller objective. A leaf may answer the rarer of its classes where that brings the groups
    together.

    Read more in the :ref:`User Guide <fair_trees>`.

    Parameters
    ----------
    max_difference : float or None, default=None
        Largest difference of any two groups' rates that is acceptable, between 0 and 1. None means
        no limit: the best tree.

    rate : {"positive", "true_positive"}, default="positive"
        Share of the positive answers among all rows of a group (demographic parity), or among its
        rows of the positive class (equal opportunity).

    pos_label : label or None, default=None
        The positive class. For "positive" it may be left out, as the rates of both classes differ
        by the same. For "true_positive" None means 1 if the classes are 0 and 1, or -1 and 1;
        otherwise it is required.

    %(size_limits)s

    objective : {"error", "balanced_error", "cost"}, default="error"
        What is minimised, summed over leaves: the weight of misclassified rows; the mean of the
        classes' error rates, times the total weight; the cost of the answers by `cost_matrix`.

    %(cost_matrix)s Read by the
        objective "cost".

    %(complexity_cost)s

    %(leaf_smoothing)s

    %(hierarchical_shrinkage)s

    %(thresholds)s

    %(categorical_features)s

    %(categorical_splits)s

    %(time_limit)s

    %(memory_limit)s

    %(n_jobs)s

    Attributes
    ----------
    tree_ : Tree
        The tree. It does not know all answers of its leaves: predict with, and export, the
        estimator.

    difference_ : float
        Largest difference of two groups' rates on the training rows; nan without groups.

    groups_ : ndarray of shape (n_groups,)
        The groups; empty without groups.

    fairness_front_ : ndarray of records
        Trees that no other one betters in both objective and difference, from the best tree to
        ``tree_``: ``objective``, ``difference`` and ``n_splits``. With ``max_difference=0`` it is
        the whole front. It is proved where the objective is at most ``lower_bound_``.

    %(proof)s

    search_stats_ : dict
        Counters of the search.

    classes_ : ndarray of shape (2,)
        Class labels.

    %(columns)s

    See Also
    --------
    rate_difference : The difference of the rates on any rows.
    TreeSetClassifier : All trees that are nearly as good; any condition can choose among them.

    Notes
    -----
    MurTree [1]_ names the constraint. As in [2]_, the search keeps the least objective for each
    signed difference of every part of the tree, up to a bound that rises. With more than two
    groups, it does so for each combination of their counts of positive answers. This takes longer,
    and sample weights must be multiples of one number. The search takes binary tests, at
    most 10,000 of them; if there are more, some thresholds of each column are searched, with a
    warning. Fewer `thresholds` make it much faster.

    The limit holds for the training rows. On new rows the difference varies: measure it with
    :func:`rate_difference`.

    References
    ----------
    .. [1] E. Demirovic et al., "MurTree: Optimal Decision Trees via Dynamic Programming and
       Search", JMLR 23, 2022.
    .. [2] J. van der Linden, M. de Weerdt, E. Demirovic, "Fair and Optimal Decision Trees: A
       Dynamic Programming Approach", NeurIPS 2022.

    Examples
    --------
    >>> from sktree_opt import FairTreeClassifier
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [0, 1]]
    >>> y, group = [0, 1, 1, 1, 1, 0], ["a", "a", "b", "b", "b", "a"]
    >>> model = FairTreeClassifier(max_difference=0, max_depth=2)
    >>> model.fit(X, y, sensitive_features=group).difference_
    0.0
    >>> model.fairness_front_["objective"].tolist()
    [1.0, 2.0]
    """

    difference_: float
    groups_: NDArray
    fairness_front_: NDArray[np.void]

    _parameter_constraints: ClassVar[dict] = {
        name: constraint
        for name, constraint in {
            **BaseOptimalTree._parameter_constraints,
            "max_difference": [Interval(Real, 0, 1, closed="both"), None],
            "rate": [StrOptions(set(RATES))],
            "pos_label": [Real, str, "boolean", None],
            "objective": [StrOptions({"error", "balanced_error", "cost"})],
            **shared_constraints("cost_matrix", "leaf_smoothing", "hierarchical_shrinkage"),
        }.items()
        if name != "warm_start"
    }

    def __init__(
        self,
        *,
        max_difference: float | None = None,
        rate: Literal["positive", "true_positive"] = "positive",
        pos_label: Label | None = None,
        max_depth: int | None = 3,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_leaf: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        objective: Literal["error", "balanced_error", "cost"] = "error",
        cost_matrix: ArrayLike | None = None,
        complexity_cost: float = 0.0,
        leaf_smoothing: Literal["laplace"] | float | None = None,
        hierarchical_shrinkage: float = 0.0,
        thresholds: Thresholds = "all",
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_splits: CategoricalSplit = "one_vs_rest",
        time_limit: float | None = DEFAULT_TIME_LIMIT,
        memory_limit: float | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_difference = max_difference
        self.rate = rate
        self.pos_label = pos_label
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.objective = objective
        self.cost_matrix = cost_matrix
        self.complexity_cost = complexity_cost
        self.leaf_smoothing = leaf_smoothing
        self.hierarchical_shrinkage = hierarchical_shrinkage
        self.thresholds = thresholds
        self.categorical_features = categorical_features
        self.categorical_splits = categorical_splits
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        """Tags: two classes only."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        sensitive_features: ArrayLike | None = None,
    ) -> Self:
        """Find the best tree within the limit on the difference.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows; NaN, None and NA are missing values.

        y : array-like of shape (n_samples,)
            Class labels, of two classes.

        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights; None for equal ones. They count for the objective and for the rates.

        sensitive_features : array-like of shape (n_samples,) or None, default=None
            The group of each row. It need not be a column of `X`, and the tree does not need it to
            predict. None is possible without `max_difference` only.

        Returns
        -------
        self : FairTreeClassifier
            The fitted tree.
        """
        with self._fitting(X, y, sample_weight) as session:
            problem = class_problem(self, X, y, sample_weight, takes_positive=False)
            groups, self.groups_ = self._groups(problem, sensitive_features)
            plan = make_plan(
                problem,
                session,
                thresholds=self.thresholds,
                categorical_splits=self.categorical_splits,
                sums_one_tree=False,
            )
            session.begin()
            solution = find_fair_tree(plan, session, groups)
            self._keep(plan, solution)
            self._keep_front(plan, solution)
        warn_of_limit(self, self.status_, what_is_known(self))
        return self

    def within(self, max_difference: float) -> Self:
        """Return the best tree of the front within another limit.

        Parameters
        ----------
        max_difference : float
            Largest difference that is acceptable, no smaller than that of the fit.

        Returns
        -------
        tree : FairTreeClassifier
            Fitted.
        """
        check_is_fitted(self, "fairness_front_")
        good = np.flatnonzero(self.fairness_front_["difference"] <= max_difference + TOLERANCE)
        if len(good) == 0:
            raise ValueError(
                f"max_difference must be at least {self.fairness_front_['difference'].min():g}, "
                f"the least difference of the front, got {max_difference!r}."
            )
        one: Any = copy(self)
        rank = int(good[0])
        one.max_difference = max_difference
        vars(one).update(self._front_trees[rank])
        one.fairness_front_ = self.fairness_front_[: rank + 1]
        one._front_trees = self._front_trees[: rank + 1]
        one.objective_ = float(self.fairness_front_["objective"][rank])
        one.difference_ = float(self.fairness_front_["difference"][rank])
        is_proved = one.objective_ <= self.lower_bound_
        one.lower_bound_ = min(one.objective_, self.lower_bound_)
        one.gap_ = one.objective_ - one.lower_bound_
        one.status_ = "optimal" if is_proved else self.status_
        return one

    def _groups(self, problem, sensitive_features):
        """The groups as the search takes them, and their labels."""
        data = problem.data
        if len(data.given_classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass."
            )
        # Where all rows count, the rates of both classes differ by the same.
        is_symmetric = sensitive_features is None or not RATES[self.rate]
        is_needed = self.pos_label is not None or not is_symmetric
        positive = positive_code("rate", self.pos_label, data.classes) if is_needed else 1
        if sensitive_features is None:
            if self.max_difference is not None:
                raise ValueError("max_difference needs sensitive_features: pass them to fit.")
            # All rows are one group, and nothing differs.
            return Groups.of(problem, 0, 1, positive, False, 1.0), np.empty(0)
        n_rows = len(data.y) if isinstance(data.kept_rows, slice) else len(data.kept_rows)
        groups, codes = group_codes(sensitive_features, n_rows)
        limit = 1.0 if self.max_difference is None else self.max_difference
        codes, of_positives = codes[data.kept_rows], RATES[self.rate]
        return Groups.of(problem, codes, len(groups), positive, of_positives, limit), groups

    def _keep_front(self, plan, solution):
        front = solution.found
        self.fairness_front_ = np.array(
            [(one.cost, one.difference, one.n_splits) for one in front], dtype=FRONT_DTYPE
        )
        self._front_trees = [
            {
                name: value
                for name, value in fitted_attributes(
                    plan.problem, plan.tests, one.nodes, one.answers
                ).items()
                if name in ("tree_", "_answers")
            }
            for one in front
        ]
        self.difference_ = float(self.fairness_front_["difference"][-1])
        if len(self.groups_) == 0:
            self.difference_ = np.nan
