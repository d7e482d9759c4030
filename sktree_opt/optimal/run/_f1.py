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
    return problem.objective.metric in (None, "f1")


def find_tree_by_f1(plan, session):
    """Find the tree of the best F1 score, less the cost of its tests.

    Trees that are smaller than the best one without costs are searched size by size, as long as
    one of them may be worth it.

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
    control, limits = session.control, plan.problem.limits
    split_cost = limits.split_cost / float(plan.problem.data.weights.sum())
    # The searches are for the score alone.
    problem = replace(plan.problem, limits=replace(limits, split_cost=0.0))
    seconds, n_thresholds = number_of_few_thresholds(plan, session)
    end = control.seconds + control.seconds_left
    control.keep_back(seconds)
    search = RatioSearch(replace(plan, problem=problem), session, split_cost)
    whole, least = search.best_within(limits.max_splits)
    bound, n_splits = least, 0
    # No tree of as many tests as the best one has a better value.
    most_splits = whole.n_splits if split_cost > 0.0 else 0
    while not control.stopped and n_splits < most_splits and bound < search.value:
        search.best_within(n_splits)
        if not control.stopped:
            n_splits += 1
            bound = least + split_cost * n_splits
        search.moments.append((control.seconds, search.value, min(bound, search.value)))
    if control.stopped and seconds > 0.0 and control.status == "time_limit":
        few = plan.few_tests.make(n_thresholds)
        left = max(0.0, min(seconds, end - control.seconds))
        costly = by_cost(problem, search.best.ratio)
        nodes = short_search(costly, few, session, SEARCH_SHARE * left).nodes
        search.offer(tree_of(problem, search.best.ratio, few, nodes))
    best, value = search.best, search.value
    bound = value if control.status == "optimal" else min(bound, value)
    return Solution(
        tests=best.tests,
        nodes=best.nodes,
        cost=value,
        lower_bound=bound,
        status=control.status,
        incumbents=closed(search.moments, control.seconds, value, bound),
        stats=search.stats | {"seconds": control.seconds, "n_searches": search.n_searches},
        answers=best.answers,
        front=pareto_points(np.array(search.points, dtype=FRONT_DTYPE)),
    )


class RatioSearch:
    """Dinkelbach's method for trees of several sizes.

    Parameters
    ----------
    plan : Plan

    session : Session

    split_cost : float
        Cost of a test, as a share of the total weight.

    Attributes
    ----------
    best : F1Tree or None
        The tree of the best value so far.

    value : float
        Its loss and the cost of its tests.

    points : list of tuple
        Errors of all trees found.

    moments : list of (float, float, float)
        Seconds, best value and lower bound of all trees after each search.

    stats : dict
        Counters of the last search.

    n_searches : int
    """

    def __init__(self, plan, session, split_cost):
        self.plan, self.session, self.split_cost = plan, session, split_cost
        self.best, self.value = None, np.inf
        self.points, self.moments, self.stats, self.n_searches = [], [], {}, 0

    def best_within(self, max_splits):
        """The tree of the best score with at most so many tests, and a bound on their losses."""
        problem, control = self.plan.problem, self.session.control
        is_of_all = max_splits == problem.limits.max_splits
        problem = replace(problem, limits=replace(problem.limits, max_splits=max_splits))
        positives = float(problem.objective.class_weights[problem.objective.positive])
        # That of the leaf that answers the positive class.
        ratio = F1Ratio(2.0 * positives, float(problem.objective.class_weights.sum()) + positives)
        best, bound = None, 0.0
        while True:
            plan = replace(self.plan, problem=by_cost(problem, ratio))
            found = search_thresholds(plan, self.session)
            self.stats, self.n_searches = found.stats, self.n_searches + 1
            tree = tree_of(problem, ratio, found.tests, found.nodes)
            bound = max(bound, least_loss(ratio, found.lower_bound, positives))
            is_better = tree.ratio.value > ratio.value * (1.0 + ROUNDING)
            # The last search finds the smallest of the best trees.
            if best is None or is_better or control.status == "optimal":
                best = tree
            self.offer(tree)
            if is_of_all:
                self.moments.append((control.seconds, self.value, min(bound, self.value)))
            if control.stopped or not is_better:
                break
            ratio = tree.ratio
        return best, min(bound, best.loss) if control.stopped else best.loss

    def offer(self, tree):
        """Keep a tree of the best value so far; of equal ones the smallest, then the last."""
        self.points.append(tree.point)
        value = tree.loss + self.split_cost * tree.n_splits
        slack = ROUNDING * abs(self.value) if self.best is not None else 0.0
        is_as_good = value <= self.value + slack and (
            value < self.value - slack or tree.n_splits <= self.best.n_splits
        )
        if self.best is None or is_as_good:
            self.best, self.value = tree, value


@dataclass(frozen=True)
class F1Ratio:
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
    ratio: F1Ratio
    point: tuple

    @property
    def n_splits(self):
        """Number of tests."""
        return self.point[2]

    @property
    def loss(self):
        """One minus the score."""
        return 1.0 - self.ratio.value


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
    score = F1Ratio(2.0 * tp, 2.0 * tp + fp + fn)
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
