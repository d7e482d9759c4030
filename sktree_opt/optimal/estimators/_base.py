"""What the optimal estimators share: parameters, and the way from a table to a proved tree."""

import copy
import warnings
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from sktree_opt.optimal.bits._engine import SCORES
from sktree_opt.optimal.run import _driver, _solve
from sktree_opt.optimal.run._initial import initial_nodes
from sktree_opt.optimal.run._table_search import FewTests, search_table
from sktree_opt.optimal.run._warm import KeptSearch
from sktree_opt.preprocessing import Table, TableEncoder
from sktree_opt.preprocessing._binary_tests import CATEGORICAL_SPLITS, BinaryTests, OneVsRest
from sktree_opt.preprocessing._thresholds import THRESHOLDS, AllThresholds, resolve_thresholds
from sktree_opt.tree import Tree
from sktree_opt.utils._callbacks import Progress
from sktree_opt.utils._compat import (
    CallbackSupportMixin,
    HasMethods,
    Interval,
    StrOptions,
    n_threads_for,
)
from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._memory import parse_memory
from sktree_opt.utils._validation import all_or_nothing, check_training_data

# Its fourth power, times the square of a target, is a float still.
EXTREME_WEIGHT = 1e60
# From this factor between all and one weights may be lost in rounding.
MOST_UNEQUAL = 1e10


def threshold_constraints(registry):
    """What `thresholds` may be."""
    return [
        StrOptions(set(registry)),
        Interval(Integral, 1, None, closed="left"),
        HasMethods("fit"),
    ]


class BaseOptimalTree(CallbackSupportMixin, BaseEstimator):
    """Parameters and fit of both optimal trees."""

    trees_: list[Tree]
    tree_objectives_: NDArray[np.float64]
    objective_: float
    lower_bound_: float
    gap_: float
    status_: str
    incumbents_: list[tuple[float, float, float]]
    optimality_scope_: str
    search_stats_: dict[str, Any]

    _parameter_constraints: ClassVar[dict] = {
        "max_depth": [Interval(Integral, 0, 20, closed="both")],
        "max_splits": [Interval(Integral, 0, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "min_weight_leaf": [Interval(Real, 0, None, closed="left")],
        "min_weight_fraction_leaf": [Interval(Real, 0, 0.5, closed="both")],
        "complexity_cost": [Interval(Real, 0, None, closed="left")],
        "thresholds": threshold_constraints(THRESHOLDS),
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "categorical_splits": [StrOptions(set(CATEGORICAL_SPLITS))],
        "time_limit": [Interval(Real, 0, None, closed="both"), None],
        "memory_limit": [Interval(Real, 1, None, closed="left"), str, None],
        "n_jobs": [Integral, None],
        "warm_start": ["boolean"],
        "initial_tree": [HasMethods("decision_path"), None],
    }

    def _fit_tree(self, X, y, sample_weight, *, is_classifier, class_weight=None):
        """Set all fitted attributes."""
        progress = Progress(self, X, y, sample_weight)
        with all_or_nothing(self):
            problem = self._prepare(
                X, y, sample_weight, is_classifier=is_classifier, class_weight=class_weight
            )
            problem.progress = progress
            if self.initial_tree is not None:
                problem.initial = initial_nodes(self.initial_tree, X, problem)
            if self.warm_start:
                problem.kept = vars(self).setdefault("_kept_search", KeptSearch())
            else:
                vars(self).pop("_kept_search", None)
            self._keep_result(problem, self._search(problem))
        progress.finish()
        if self.status_ not in ("optimal", "stopped"):
            warnings.warn(
                f"The search ended by {self.status_} before it proved an optimum: the objective "
                f"of the tree is {self.objective_:.6g}, its lower bound {self.lower_bound_:.6g}.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _prepare(
        self, X, y, sample_weight, *, is_classifier, class_weight=None, prefers_tests=False
    ):
        """The checked problem; sets what depends on the data alone.

        It has a table, and no tests yet, if all thresholds can be searched and there are many; if
        it `prefers_tests`, too many for binary tests.
        """
        encoder = TableEncoder(self.categorical_features)
        memory_limit = parse_memory(self.memory_limit)
        control = SearchControl(self._seconds(), memory_limit)
        data = check_training_data(
            self,
            encoder,
            X,
            y,
            sample_weight,
            class_weight=class_weight,
            is_classifier=is_classifier,
            keep_integers=True,
        )
        refuse_extreme_weights(data.weights)
        self._refuse_impossible_leaves(data)
        n_threads = n_threads_for(self.n_jobs)
        limits = self._search_limits(data, memory_limit, n_threads)
        self._prepare_objective(data)
        self._encoder = encoder
        leaf_form = self._leaf_form(data)
        choice = resolve_thresholds(self.thresholds)
        split = CATEGORICAL_SPLITS[self.categorical_splits]
        tests, table, table_thresholds, few_tests = tests_or_table(
            data, choice, split, n_threads, leaf_form, self._asks_for_one_tree(), prefers_tests
        )
        self.optimality_scope_ = (
            f"all trees of depth at most {limits.max_depth} with at most {limits.max_splits} "
            f"tests, of numbers at {choice.scope}, of categories as {split.scope}"
        )
        problem = _driver.Problem(
            tests=tests,
            data=data,
            y=self._targets(data),
            weights=None if data.has_unit_weights else data.weights,
            leaf_form=leaf_form,
            limits=limits,
            n_categories=encoder.n_categories_,
            table=table,
            thresholds=table_thresholds,
            few_tests=few_tests,
            started=control,
        )
        problem.cost_of = lambda nodes: self._make_tree(problem, nodes)[1]
        problem.node_costs = partial(self._group_costs, data)
        problem.costs_in = lambda reached: self._node_values(data, reached)[1]
        problem.attributes_of = partial(self._attributes, problem)
        return problem

    def _search_limits(self, data, memory_limit, n_threads):
        total = float(data.weights.sum())
        return _driver.SearchLimits(
            max_depth=self.max_depth,
            max_splits=self._splits_within_depth(),
            min_samples_leaf=self.min_samples_leaf,
            min_weight_leaf=max(self.min_weight_leaf, self.min_weight_fraction_leaf * total),
            split_cost=self.complexity_cost * total,
            time_limit=self._seconds(),
            memory_limit=memory_limit,
            n_threads=n_threads,
        )

    def _seconds(self):
        # Infinity is no limit: shares of it are no times.
        return None if self.time_limit == np.inf else self.time_limit

    def _asks_for_one_tree(self):
        """Whether the answer is one tree whose leaves' costs sum to the least."""
        return True

    def _search(self, problem):
        if problem.table is None:
            return _driver.search(problem)
        # It keeps nothing, and begins with no known tree; a search over binary tests, which would,
        # takes more time even so, and may take another of equally good trees.
        tests_of_known, known_cost = problem.tests, np.inf
        if problem.initial is not None:
            known_cost = problem.cost_of(problem.initial)
        problem.tests, result = search_table(problem)
        if result.status == "optimal" or result.cost <= known_cost:
            return result
        problem.tests = tests_of_known
        moment = (result.stats["seconds"], known_cost, min(known_cost, result.lower_bound))
        return replace(
            result,
            nodes=problem.initial,
            cost=known_cost,
            incumbents=[*result.incumbents, moment],
        )

    def _splits_within_depth(self):
        full = 2**self.max_depth - 1
        return full if self.max_splits is None else min(self.max_splits, full)

    def _refuse_impossible_leaves(self, data):
        n_rows, weight = len(data.y), float(data.weights.sum())
        if n_rows < self.min_samples_leaf:
            raise ValueError(
                f"min_samples_leaf={self.min_samples_leaf} is more than the {n_rows} rows of "
                "positive weight, so that no tree is possible."
            )
        if weight < self.min_weight_leaf:
            raise ValueError(
                f"min_weight_leaf={self.min_weight_leaf} is more than the total weight {weight}, "
                "so that no tree is possible."
            )

    def _make_tree(self, problem, nodes):
        """The tree of a search's nodes, and what its leaves and splits cost."""
        reached = _driver.NodeRows.of(problem, _driver.breadth_first(nodes)[0])
        values, costs = self._node_values(problem.data, reached)
        weights = reached.weights.sum(axis=1)
        shares = np.divide(costs, weights, out=np.zeros_like(costs), where=weights > 0.0)
        tree = _driver.make_tree(problem, reached, values, shares, self.n_features_in_)
        is_leaf = reached.nodes[:, 0] < 0
        n_splits = len(is_leaf) // 2
        return tree, float(costs[is_leaf].sum()) + problem.limits.split_cost * n_splits

    def _group_costs(self, data, group):
        """What each group of rows would cost as a leaf."""
        n_groups = int(group.max()) + 1
        codes, n_classes = (0, 1) if data.classes is None else (data.y, len(data.classes))
        weights = np.bincount(
            group * n_classes + codes, weights=data.weights, minlength=n_groups * n_classes
        ).reshape(n_groups, n_classes)
        reached = _driver.NodeRows(
            nodes=np.full((n_groups, 3), -1, dtype=np.int32),
            weights=weights,
            n_rows=np.bincount(group),
            leaves=group.astype(np.int32),
        )
        return self._node_values(data, reached)[1]

    def _attributes(self, problem, nodes):
        """What an estimator needs to predict by a tree, beside what ``_prepare`` has set."""
        return {"tree_": self._make_tree(problem, nodes)[0]}

    def _keep_result(self, problem, result):
        # The cost of the tree itself, not what the search says of it.
        self.tree_, objective = self._make_tree(problem, result.nodes)
        self._refuse_worse_tree(result, objective, problem.weights)
        self.objective_ = objective
        # Of several trees those that there is time to read, which the status says.
        others = [self._make_tree(problem, nodes) for nodes in getattr(result, "others", ())]
        self.status_ = result.status
        is_proved = result.status == "optimal"
        self.lower_bound_ = objective if is_proved else min(objective, result.lower_bound)
        self.gap_ = objective - self.lower_bound_
        self.incumbents_ = result.incumbents
        self.search_stats_ = result.stats
        self.trees_ = [self.tree_, *(tree for tree, _ in others)]
        self.tree_objectives_ = np.array([objective, *(cost for _, cost in others)])

    def ranked_estimator(self, rank: int = 0) -> Self:
        """Give a fitted copy that predicts by one of the trees of `trees_`.

        Parameters
        ----------
        rank : int, default=0
            Its place in `trees_`, 0 for the best.

        Returns
        -------
        estimator : OptimalTreeClassifier or OptimalTreeRegressor
            Fitted: ``tree_`` and ``objective_`` are those of the tree. ``status_`` and
            ``lower_bound_`` are what the search says of the best tree, so that ``gap_`` is how much
            this one is worse, at most.
        """
        check_is_fitted(self)
        if not 0 <= rank < len(self.trees_):
            raise ValueError(f"rank={rank} is no place in trees_, which has {len(self.trees_)}.")
        ranked = copy.copy(self)
        ranked.__dict__.pop("_kept_search", None)
        ranked.tree_ = self.trees_[rank]
        ranked.objective_ = float(self.tree_objectives_[rank])
        ranked.gap_ = ranked.objective_ - ranked.lower_bound_
        ranked.trees_ = [ranked.tree_]
        ranked.tree_objectives_ = self.tree_objectives_[rank : rank + 1].copy()
        return ranked

    def _refuse_worse_tree(self, result, objective, weights):
        """Raise if a tree costs more than its search has said, but for rounding."""
        root = self.tree_.nodes[0]
        largest = max(abs(objective), float(root["impurity"] * root["weight"]))
        total = float(root["weight"])
        # Beside heavy rows light ones are known to fewer digits.
        least = total if weights is None else weights.min(where=weights > 0.0, initial=total)
        share = 1e-7 + 64.0 * np.finfo(float).eps * total / max(least, 1e-290)
        if objective > result.cost + share * largest + 1e-9 * total:
            if total / least > MOST_UNEQUAL:
                raise ValueError(
                    f"The smallest weight is {least / total:.0e} of the sum of all: too little for "
                    "sums in double precision. Leave out rows that weigh next to nothing."
                )
            raise RuntimeError(
                f"The search found an objective of {result.cost!r}, but its tree has "
                f"{objective!r}: please report this with the data."
            )


def refuse_extreme_weights(weights):
    """Raise if costs, which are made of products of weights, would be no floats."""
    largest = weights.max()
    if not 1 / EXTREME_WEIGHT <= largest <= EXTREME_WEIGHT:
        raise ValueError(
            f"sample_weight times class_weight is {largest:g} at most; optimal trees need weights "
            f"whose largest is between {1 / EXTREME_WEIGHT:g} and {EXTREME_WEIGHT:g}: scale them."
        )


def tests_or_table(data, choice, split, n_threads, form, asks_for_one_tree, prefers_tests):
    """Binary tests of training data; or its table, if that is better to search.

    Returns
    -------
    tests : BinaryTests or None
    table : Table or None
    thresholds : list of ndarray or None
        See ``Problem``.
    few_tests : FewTests or None
    """
    # Some objectives only the search over all thresholds knows.
    binary = form.score in SCORES
    matrix, n_categories = data.matrix, data.encoder.n_categories_
    is_whole = isinstance(choice, AllThresholds)
    if is_whole and binary:
        tests = BinaryTests.from_binary_matrix(matrix, n_categories)
        if tests is not None:
            return tests, None, None, None
    table = table_of(data, n_threads)
    cuts = choice.codes(table, data)
    # Of three categories each division has one alone on a side.
    by_ranks = split is OneVsRest or n_categories.max() <= 3
    if asks_for_one_tree and _solve.can_search(form) and by_ranks:
        searched, thresholds = table, None
        if cuts is not None:
            searched, thresholds = _solve.coarse_table(table, cuts, n_threads)
        is_large = _solve.has_too_many_tests(searched)
        if not prefers_tests:
            weights = None if data.has_unit_weights else data.weights
            is_large = is_large or _solve.has_many_thresholds(searched, form, weights)
        if is_large or not binary:
            few_tests = FewTests(table, cuts, data, split) if binary else None
            return None, searched, thresholds, few_tests
    names = data.encoder.feature_names_
    if not binary:
        raise ValueError(
            "n_trees > 1 has no meaning for objective='absolute_error', which finds one tree."
            if not asks_for_one_tree
            else "objective='absolute_error' needs categorical_splits='one_vs_rest' where a column "
            f"has more than 3 categories, as {names[n_categories.argmax()]!r} has."
        )
    tests = BinaryTests.from_table(table, cuts, names, split)
    return tests, None, None, None


def table_of(data, n_threads):
    """The columns of training data by ranks."""
    matrix = data.matrix
    if matrix.dtype.kind in "biu":
        matrix = matrix.astype(np.float64)
    return Table.from_matrix(matrix, data.encoder.n_categories_, n_threads)
