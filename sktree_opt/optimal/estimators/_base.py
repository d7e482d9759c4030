"""The base of the optimal estimators: parameters, the steps of a fit, and how its result is kept.

Each ``fit`` shows the same steps: a table becomes a ``Problem`` (checked and encoded), the problem
a ``Plan``, a search makes a ``Solution`` of it, and the solution becomes fitted attributes.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from sktree_opt.optimal.objectives._for_data import (
    DEFAULT_CONFIDENCE,
    class_objective,
    target_objective,
)
from sktree_opt.optimal.objectives._forest_targets import (
    Given,
    with_forest_classes,
    with_forest_targets,
)
from sktree_opt.optimal.run._problem import Limits, Problem
from sktree_opt.optimal.run._session import KeptSearch, Session
from sktree_opt.optimal.run._trees import (
    class_attributes,
    fitted_attributes,
    refuse_worse_tree,
    tree_and_objective,
)
from sktree_opt.optimal.run.queries._rankings import asks_estimate
from sktree_opt.preprocessing._binary_tests import CATEGORICAL_SPLITS
from sktree_opt.preprocessing._encoder import TableEncoder
from sktree_opt.preprocessing._thresholds import THRESHOLDS
from sktree_opt.utils._checkpoint import open_checkpoint
from sktree_opt.utils._compat import (
    CallbackSupportMixin,
    CheckedOnceMixin,
    HasMethods,
    Interval,
    StrOptions,
    n_threads_for,
)
from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._fitting import Progress, all_or_nothing
from sktree_opt.utils._params import (
    bytes_from,
    document_shared,
    rows_from,
    seconds_from,
    shared_constraints,
)
from sktree_opt.utils._validation import (
    EXTREME_WEIGHT,
    check_training_data,
    refuse_extreme_weights,
)

# Levels of a tree that the engines can handle.
MAX_DEPTH = 20

# A gap below this share of the costs is rounding.
ROUNDING = 1e-11

DOCS = {
    "max_depth": """\
max_depth : int or None, default=3
    Maximum number of tests on a path, at most 20. None means no limit, or the 20 of some searches:
    set `max_leaf_nodes` or `complexity_cost` then. The time grows steeply with the depth: 3 and 4
    take moments on most tables, 5 takes seconds to minutes.
""",
    "leaf_objective": """\
objective : {"error", "balanced_error", "cost", "pessimistic_error", "gini", "entropy", \
"log_loss"}, default="error"
    What is minimised, summed over leaves: the weight of misclassified rows; the mean of the
    classes' error rates, times the total weight; the cost of the answers by `cost_matrix`;
    C4.5's estimate of the errors on new rows; the impurity ("log_loss" is the entropy, as in
    scikit-learn).
""",
    "complexity_cost": """\
complexity_cost : float, default=0.0
    Cost of each test, as a share of the total weight.
""",
    "smallest": """\
max_error : float or None, default=None
    Largest objective that is acceptable, in the units of ``objective_``; a billionth is allowed
    for rounding. A ValueError is raised if no tree is good enough.

ranking : sequence of {"error", "size", "depth"} or None, default=None
    What is minimised first, second and third: the objective, the number of tests, the depth.
    "error" and "size" must be among them. None means ("error", "size") without `max_error` and
    ("size", "error") with it. With "size" or "depth" first and no `max_error`, a single leaf is
    the answer.
""",
    "limited": """\
max_error : float or None, default=None
    Largest objective that is acceptable, in the units of ``objective_``; a billionth is allowed
    for rounding. A ValueError is raised if no tree is good enough.

max_pessimistic_error : float or None, default=None
    Largest value of C4.5's estimate of the errors on new rows, summed over leaves, that is
    acceptable.

ranking : sequence of {"error", "pessimistic_error", "size", "depth"} or None, default=None
    What is minimised first, second and so on: the objective, C4.5's estimate, the number of tests,
    the depth. "size" and one of the errors must be among them. None means ("error", "size")
    without a limit on errors and ("size", "error") with one. With "size" or "depth" first and no
    limit, a single leaf is the answer.
""",
    "class_minima": """\
min_class_weight_leaf : float, dict or None, default=None
    Minimum weight of each class in every leaf: a number for all classes, or one by class label.

min_purity_leaf : float, default=0.0
    Minimum share of the most frequent class in every leaf.
""",
    "depth_cost": """\
depth_cost : float, default=0.0
    Cost of each level of the tree, as a share of the total weight. It is part of the objective.
""",
    "of_smallest": """\
objective_ : float
    Objective of the tree, the costs of its tests and levels included.

lower_bound_ : float
    For a proved answer, the objective; else no tree within the limits has a smaller objective.

gap_ : float
    Difference of the two.

status_ : {"optimal", "time_limit", "memory_limit", "stopped"}
    Whether the tree is proved to be the first by its ranking, or what ended the search before.
    Unless it is "optimal", the tree may be too large or not good enough.

incumbents_ : list of (float, float, float)
    Seconds, objective and lower bound, each time a better tree or bound was found.

optimality_scope_ : str
    What the proof is relative to, in words.

search_stats_ : dict
    Counters of the search.
""",
    "thresholds": """\
thresholds : {"all", "quantile", "mdlp", "ensemble"}, int or transformer, default="all"
%(about_thresholds)s
    "mdlp": those of :class:`~sktree_opt.preprocessing.MDLPDiscretizer`.
""",
    "regression_thresholds": """\
thresholds : {"all", "quantile", "ensemble"}, int or transformer, default="all"
%(about_thresholds)s
""",
    "about_thresholds": """\
    Which thresholds of numeric columns the tests may use. The proof is relative to them. "all": one
    between every two values. "quantile" or an int: 10 quantiles of each column, or as many as the
    int says. "ensemble": the thresholds of a small ensemble of boosted trees. A transformer with
    ``thresholds_`` or ``bin_edges_``, such as scikit-learn's KBinsDiscretizer: its own; it is
    fitted to each column unless it has been fitted before (``clone`` forgets fits: wrap a fitted
    one in ``sklearn.frozen.FrozenEstimator`` for a grid search).
""",
    "categorical_splits": """\
categorical_splits : {"one_vs_rest", "subset"}, default="one_vs_rest"
    What is asked of a nominal column: one category, or any set of them. A column of `k` categories
    has 2**(k - 1) - 1 sets to ask for; at most 12 categories are possible.
""",
    "targets": """\
targets : {"given", "forest"}, default="given"
    The targets that the tree is fitted to. "forest": the answers of randomised forests, each of
    which is fitted to four fifths of the rows and asked for the rest. They are less noisy than `y`,
    so that the tree is often better on new rows. The objective and its proof are about them. Leaves
    answer what the rows of `y` say all the same.
""",
    "proof": """\
objective_ : float
    Objective of the tree, the cost of its tests included.

lower_bound_ : float
    No tree within the limits has a smaller objective.

gap_ : float
    Difference of the two; 0 for a proved optimum.

status_ : str
    "optimal" if the tree is proved to be optimal; else what ended the search: "time_limit",
    "memory_limit", or "stopped" by Ctrl-C or a callback.

incumbents_ : list of (float, float, float)
    Seconds, objective and lower bound, each time a better tree or bound was found.

optimality_scope_ : str
    What the proof is relative to, in words.
""",
    # Parameters that stand side by side in every estimator.
    "size_limits": """\
%(max_depth)s

%(max_leaf_nodes)s

%(min_samples_leaf)s

%(min_weight_leaf)s

%(min_weight_fraction_leaf)s
""",
    "tests_and_limits": """\
%(thresholds)s

%(how_it_is_searched)s
""",
    "regression_tests_and_limits": """\
%(regression_thresholds)s

%(how_it_is_searched)s
""",
    "how_it_is_searched": """\
%(categorical_features)s

%(categorical_splits)s

%(time_limit)s

%(memory_limit)s

%(n_jobs)s

%(warm_start)s
    `max_depth`, `max_leaf_nodes` and `complexity_cost` may change in between. Copies and pickles do
    not keep it.
""",
}
# Of classifiers that answer queries.
QUERY_CONSTRAINTS = {
    "max_error": [Interval(Real, 0, None, closed="left"), None],
    "max_pessimistic_error": [Interval(Real, 0, None, closed="left"), None],
    "ranking": [list, tuple, None],
    "min_class_weight_leaf": [Interval(Real, 0, None, closed="left"), dict, None],
    "min_purity_leaf": [Interval(Real, 0, 1, closed="both")],
}
document_optimal = partial(document_shared, more=DOCS)


def threshold_constraints(registry):
    """The allowed values of `thresholds`."""
    return [
        StrOptions(set(registry)),
        Interval(Integral, 1, None, closed="left"),
        HasMethods("fit"),
    ]


class BaseOptimalTree(CallbackSupportMixin, CheckedOnceMixin, BaseEstimator):
    """Parameters and attributes of an optimal tree."""

    objective_: float
    lower_bound_: float
    gap_: float
    status_: str
    incumbents_: list[tuple[float, float, float]]
    optimality_scope_: str
    search_stats_: dict[str, Any]

    _parameter_constraints: ClassVar[dict] = {
        "max_depth": [Interval(Integral, 0, MAX_DEPTH, closed="both"), None],
        **shared_constraints(
            "max_leaf_nodes",
            "min_samples_leaf",
            "min_weight_leaf",
            "min_weight_fraction_leaf",
            "categorical_features",
            "time_limit",
            "memory_limit",
            "n_jobs",
            "warm_start",
        ),
        "complexity_cost": [Interval(Real, 0, None, closed="left")],
        "thresholds": threshold_constraints(THRESHOLDS),
        "categorical_splits": [StrOptions(set(CATEGORICAL_SPLITS))],
    }

    @contextmanager
    def _fitting(self, X, y, sample_weight):
        """Around the steps of a fit: yields its ``Session``.

        A fit that fails leaves the estimator as it was. Ctrl-C is raised when the block is left.
        """
        progress = Progress(self, X, y, sample_weight)
        with all_or_nothing(self) as interrupt:
            kept, checkpoint = None, open_checkpoint(self)
            if getattr(self, "warm_start", False):
                kept = vars(self).setdefault("_kept_search", KeptSearch())
            else:
                vars(self).pop("_kept_search", None)
            session = Session(new_control(self), interrupt, progress, kept, checkpoint)
            yield session
            session.control.raise_pending()
        progress.finish()

    def _keep(self, plan, solution, *, gap_is_proof=True):
        """Set the fitted attributes.

        `gap_is_proof` says whether the least objective is the question, so that nothing is left to
        prove where the gap is within rounding.
        """
        problem, tests, nodes = plan.problem, solution.tests, solution.nodes
        # The objective is that of the tree itself, not what the search says of it.
        tree, objective = tree_and_objective(problem, tests, nodes)
        largest = float(tree.nodes["impurity"][0] * tree.nodes["weight"][0])
        vars(self).pop("pareto_front_", None)
        if solution.answers is None:
            refuse_worse_tree(problem, tree, objective, solution.cost)
        else:
            objective, largest = solution.cost, 0.0
        if solution.front is not None:
            self.pareto_front_ = solution.front
        vars(self).update(fitted_attributes(problem, tests, nodes, solution.answers, tree))
        bound, status = solution.lower_bound, solution.status
        is_closed = objective - bound <= ROUNDING * max(abs(objective), largest)
        if status == "optimal" or is_closed:
            bound = objective
        if is_closed and gap_is_proof:
            status = "optimal"
        self.objective_, self.lower_bound_ = objective, min(objective, bound)
        # Both may be infinite.
        self.gap_ = 0.0 if objective == bound else objective - self.lower_bound_
        self.status_ = status
        self.incumbents_, self.search_stats_ = solution.incumbents, solution.stats
        is_proved = status == "optimal" and gap_is_proof and solution.answers is None
        self.optimality_scope_ = plan.scope(objective if is_proved else np.inf)


def new_control(estimator):
    """The clock of a fit, with its limits."""
    return SearchControl(seconds_from(estimator.time_limit), bytes_from(estimator.memory_limit))


def class_problem(estimator, X, y, sample_weight, takes_positive=True):
    """The checked and encoded problem of a classifier; sets what depends on the data alone.

    `takes_positive` says whether `pos_label` belongs to the objective.
    """
    class_weight = getattr(estimator, "class_weight", None)
    data = checked_data(
        estimator, X, y, sample_weight, is_classifier=True, class_weight=class_weight
    )
    pos_label = getattr(estimator, "pos_label", None) if takes_positive else None
    # A confidence may be that of a ranking or a limit.
    has_estimate = asks_estimate(estimator) and estimator.objective != "pessimistic_error"

    def problem_of(data):
        objective = class_objective(
            estimator.objective,
            data,
            estimator.cost_matrix,
            pos_label,
            DEFAULT_CONFIDENCE if has_estimate else getattr(estimator, "confidence", 0.25),
        )
        return Problem(data, objective, limits_of(estimator, data))

    problem = problem_of(data)
    if is_fitted_to_forest(estimator):
        if problem.objective.metric is not None:
            raise ValueError(
                f"targets='forest' is not supported with objective={estimator.objective!r}."
            )
        given, (copies, rows) = Given(problem, None), with_forest_classes(data)
        least = problem.limits.min_samples_leaf * float(data.weights.mean())
        searched = problem_of(copies).within(
            min_samples_leaf=1, min_weight_leaf=max(problem.limits.min_weight_leaf, least)
        )
        problem = replace(searched, given=replace(given, rows=rows))
    vars(estimator).update(class_attributes(problem.objective))
    return problem


def target_problem(estimator, X, y, sample_weight, objective):
    """The checked and encoded problem of a regressor; sets what depends on the data alone."""
    data = checked_data(estimator, X, y, sample_weight, is_classifier=False)
    problem = Problem(data, target_objective(objective, data), limits_of(estimator, data))
    if not is_fitted_to_forest(estimator):
        return problem
    fitted = with_forest_targets(data)
    given = Given(problem, slice(None))
    return Problem(fitted, target_objective(objective, fitted), problem.limits, given)


def is_fitted_to_forest(estimator):
    """Whether the targets are the answers of a forest."""
    return getattr(estimator, "targets", "given") == "forest"


def checked_data(estimator, X, y, sample_weight, **kind):
    """A table, encoded; the encoder is kept for ``predict``."""
    encoder = TableEncoder(estimator.categorical_features)
    data = check_training_data(estimator, encoder, X, y, sample_weight, keep_integers=True, **kind)
    # Costs are not scaled: products of small weights would vanish.
    refuse_extreme_weights(data.weights, least=1.0 / EXTREME_WEIGHT)
    refuse_impossible_leaves(estimator, data)
    estimator._encoder = encoder
    return data


def limits_of(estimator, data):
    """The limits that an estimator's parameters set for some rows."""
    total, n_rows = float(data.weights.sum()), len(data.y)
    # Integers of numpy overflow.
    max_depth = MAX_DEPTH if estimator.max_depth is None else int(estimator.max_depth)
    max_splits = 2**max_depth - 1
    if estimator.max_leaf_nodes is not None:
        max_splits = min(max_splits, int(estimator.max_leaf_nodes) - 1)
    if estimator.max_depth is None:
        # What no tree within the other limits exceeds, or one of these rows.
        max_depth = min(max_depth, max_splits, n_rows - 1)
    return Limits(
        max_depth=max_depth,
        max_splits=min(max_splits, 2**max_depth - 1),
        any_depth=estimator.max_depth is None and estimator.max_leaf_nodes is None,
        min_samples_leaf=rows_from(estimator.min_samples_leaf, n_rows),
        min_weight_leaf=max(estimator.min_weight_leaf, estimator.min_weight_fraction_leaf * total),
        min_class_weight=class_minima(estimator, data),
        min_purity=getattr(estimator, "min_purity_leaf", 0.0),
        split_cost=estimator.complexity_cost * total,
        depth_cost=getattr(estimator, "depth_cost", 0.0) * total,
        time_limit=seconds_from(estimator.time_limit),
        memory_limit=bytes_from(estimator.memory_limit),
        n_threads=n_threads_for(estimator.n_jobs),
        looks_ahead=getattr(estimator, "search", "exact") == "lookahead",
    )


def class_minima(estimator, data):
    """Minimum weight of each class in every leaf; None for none."""
    asked = getattr(estimator, "min_class_weight_leaf", None)
    if asked is None:
        return None
    if not isinstance(asked, dict):
        return (float(asked),) * len(data.classes)
    unknown = [label for label in asked if label not in data.classes.tolist()]
    if unknown:
        raise ValueError(
            f"min_class_weight_leaf must have labels among the classes {data.classes.tolist()}, "
            f"got {unknown[0]!r}."
        )
    return tuple(float(asked.get(label, 0.0)) for label in data.classes.tolist())


def what_is_known(estimator):
    """The result of a search that a limit ended, for its warning."""
    return (
        f"The objective of the best tree found is {estimator.objective_!r}; no tree has less than "
        f"{estimator.lower_bound_!r}."
    )


def refuse_impossible_leaves(estimator, data):
    """Raise if not even a single leaf is large enough."""
    n_rows, weight = len(data.y), float(data.weights.sum())
    if n_rows < rows_from(estimator.min_samples_leaf, n_rows):
        raise ValueError(
            f"min_samples_leaf={estimator.min_samples_leaf} is more than the {n_rows} rows of "
            "positive weight, so that no tree is possible."
        )
    if weight < estimator.min_weight_leaf:
        raise ValueError(
            f"min_weight_leaf={estimator.min_weight_leaf} is more than the total weight {weight}, "
            "so that no tree is possible."
        )
