"""The tree of the best F1 score over all thresholds, by a few searches for the least cost.

The score is a ratio N / D of sums over leaves, with N = 2 tp and D = 2 tp + fp + fn. Dinkelbach's
method [1]_ begins with the ratio r of a known tree and finds the tree of the largest N - r D. This
is a search for the least cost: a false positive costs r, a false negative 2 - r. If the largest is
0, r is the best ratio. Otherwise the tree found has a better ratio, which is the next r. A handful
of searches is enough.

References
----------
.. [1] W. Dinkelbach, "On Nonlinear Fractional Programming", Management Science 13, 1967.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES
from sktree_opt.optimal.run._fallback import SEARCH_SHARE, number_of_few_thresholds, short_search
from sktree_opt.optimal.run._metric import FRONT_DTYPE, pareto_points
from sktree_opt.optimal.run._problem import Solution, closed
from sktree_opt.optimal.run._thresholds_solver import search_thresholds
from sktree_opt.optimal.run._trees import rows_in

# Sums of two weights that differ by less than this share count as equal.
ROUNDING = 1e-11


def sums_leaves(problem):
    """Whether the best tree is that of a least sum over leaves: of the objective, or for F1."""
    metric = problem.objective.metric
    return metric is None or (metric == "f1" and problem.limits.split_cost == 0.0)


def find_tree_by_f1(plan, session):
    """Find the tree of the best F1 score.

    Parameters
    ----------
    plan : Plan
        With a `table`, and "f1" as objective.

    session : Session

    Returns
    -------
    solution : Solution
        With `answers` and `front`, which has the errors of the trees that were found.
    """
    problem, control = plan.problem, session.control
    seconds, n_thresholds = number_of_few_thresholds(plan, session)
    end = control.seconds + control.seconds_left
    control.keep_back(seconds)
    positives = float(problem.objective.class_weights[problem.objective.positive])
    # That of the leaf that answers the positive class.
    ratio = Ratio(2.0 * positives, float(problem.objective.class_weights.sum()) + positives)
    best, bound, points, moments = None, 0.0, [], []
    while True:
        costly = by_cost(problem, ratio)
        found = search_thresholds(replace(plan, problem=costly), session)
        tree = tree_of(problem, ratio, found.tests, found.nodes)
        points.append(tree.point)
        bound = max(bound, least_loss(ratio, found.lower_bound, positives))
        is_better = tree.ratio.value > ratio.value * (1.0 + ROUNDING)
        # The last search finds the smallest of the best trees.
        if best is None or is_better or control.status == "optimal":
            best = tree
        moments.append((control.seconds, 1.0 - best.ratio.value, bound))
        if control.stopped or not is_better:
            break
        ratio = tree.ratio
    if control.stopped and seconds > 0.0 and control.status == "time_limit":
        few = plan.few_tests.make(n_thresholds)
        left = max(0.0, min(seconds, end - control.seconds))
        nodes = short_search(by_cost(problem, ratio), few, session, SEARCH_SHARE * left).nodes
        tree = tree_of(problem, ratio, few, nodes)
        points.append(tree.point)
        best = max(best, tree, key=lambda one: one.ratio.value)
    loss = 1.0 - best.ratio.value
    bound = loss if control.status == "optimal" else min(bound, loss)
    return Solution(
        tests=best.tests,
        nodes=best.nodes,
        cost=loss,
        lower_bound=bound,
        status=control.status,
        incumbents=closed(moments, control.seconds, loss, bound),
        stats=found.stats | {"seconds": control.seconds, "n_searches": len(moments)},
        answers=best.answers,
        front=pareto_points(np.array(points, dtype=FRONT_DTYPE)),
    )


@dataclass(frozen=True)
class Ratio:
    """An F1 score, as a quotient whose parts are whole if the weights are."""

    numerator: float
    denominator: float

    @property
    def value(self):
        """The score."""
        return self.numerator / self.denominator


@dataclass(frozen=True)
class F1Tree:
    """A tree, its score, what its nodes answer, and its errors as a point of a front."""

    tests: object
    nodes: np.ndarray
    answers: np.ndarray
    ratio: Ratio
    point: tuple


def by_cost(problem, ratio):
    """The search for the largest N - r D as one for the least cost, times the denominator of r."""
    objective, rule = problem.objective, OBJECTIVES["cost"]
    costs = np.zeros((2, 2))
    positive = objective.positive
    costs[1 - positive, positive] = ratio.numerator
    costs[positive, 1 - positive] = 2.0 * ratio.denominator - ratio.numerator
    form = rule.leaf_form(objective.class_weights, problem.data.weights, costs)
    return replace(
        problem, objective=replace(objective, rule=rule, form=form, costs=costs, metric=None)
    )


def tree_of(problem, ratio, tests, nodes):
    """A tree whose leaves answer what costs least by `ratio`; the negative class if both do."""
    objective, positive = problem.objective, problem.objective.positive
    reached = rows_in(problem, tests, nodes)
    # Breadth first, as the rows are.
    is_leaf = reached.nodes[:, 0] < 0
    negative_weight, positive_weight = (
        reached.weights[:, 1 - positive],
        reached.weights[:, positive],
    )
    share = ratio.value / 2.0 * (negative_weight + positive_weight)
    is_positive = is_leaf & (positive_weight > share * (1.0 + ROUNDING))
    fp = float(negative_weight[is_positive].sum())
    tp = float(positive_weight[is_positive].sum())
    fn = max(0.0, float(objective.class_weights[positive]) - tp)
    score = Ratio(2.0 * tp, 2.0 * tp + fp + fn)
    answers = np.where(is_leaf, np.where(is_positive, positive, 1 - positive), -1)
    n_splits = int(np.count_nonzero(~is_leaf))
    return F1Tree(
        tests,
        reached.nodes,
        answers.astype(np.int32),
        score,
        (fp, fn, n_splits, 1.0 - score.value),
    )


def least_loss(ratio, least_cost, positives):
    """Lower bound on the loss of all trees, of which none costs less than `least_cost` by `ratio`.

    N - r D is at most ``2 (1 - r) positives`` minus that cost, and D at least the positives.
    """
    most = 2.0 * (1.0 - ratio.value) * positives - least_cost / ratio.denominator
    return 1.0 - ratio.value - max(0.0, most) / positives
