"""The smallest tree that is good enough, and other orders of errors, size and depth (DL8).

Each criterion in turn tightens its limit to the optimum under the limits of the others. All
searches ask one engine, whose cache makes the next one cost only what is new.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sktree_opt.optimal.objectives._for_data import class_objective
from sktree_opt.optimal.run._bits_solver import BitsSolver, at_most, n_useful_splits, open_engine
from sktree_opt.optimal.run._problem import Solution, closed, raised
from sktree_opt.optimal.run._trees import Prunings, equal_rows_bound, tree_and_objective
from sktree_opt.optimal.run.queries._pair_solver import PairSolver

CRITERIA = ("error", "pessimistic_error", "size", "depth")
# Those of a regression.
SIZES = ("error", "size", "depth")


@dataclass(frozen=True)
class Query:
    """Limits and the order of trees.

    Attributes
    ----------
    ranking : tuple of str
        What is minimised, one after the other.

    max_error : float or None
        Largest objective that is acceptable.

    max_estimate : float or None
        Largest estimate of the errors on new rows that is acceptable.

    estimate : ClassObjective or None
        C4.5's estimate, where the ranking or a limit names it.
    """

    ranking: tuple
    max_error: float | None = None
    max_estimate: float | None = None
    estimate: Any = None

    @property
    def is_plain(self):
        """Whether it asks for the least objective, then the least size, without limits."""
        limits = (self.max_error, self.max_estimate, self.estimate)
        return self.ranking == ("error", "size") and limits == (None, None, None)


def check_ranking(ranking, max_error, criteria=CRITERIA):
    """The criteria as a tuple; DL8 allows rankings that have both an error and the size."""
    if ranking is None:
        return ("error", "size") if max_error is None else ("size", "error")
    ranking = tuple(ranking)
    # Lists in a list cannot be in a set.
    is_named = all(isinstance(criterion, str) for criterion in ranking)
    if not is_named or set(ranking) - set(criteria) or len(set(ranking)) < len(ranking):
        names = ", ".join(map(repr, criteria[:-1]))
        raise ValueError(
            f"ranking must contain each of {names} and {criteria[-1]!r} at most once, got "
            f"{ranking!r}."
        )
    if "size" not in ranking or not {"error", "pessimistic_error"} & set(ranking):
        raise ValueError(f"ranking must contain 'error' and 'size', got {ranking!r}.")
    return ranking


def asks_estimate(estimator):
    """Whether a ranking or a limit names C4.5's estimate."""
    ranking = getattr(estimator, "ranking", None) or ()
    most = getattr(estimator, "max_pessimistic_error", None)
    return most is not None or "pessimistic_error" in ranking


def class_query(estimator, problem, prefers_size=True):
    """The query of a classifier's parameters.

    With `prefers_size`, the size comes first by default where an error has a limit.
    """
    most = estimator.max_pessimistic_error
    limit = estimator.max_error if most is None else most
    ranking = check_ranking(estimator.ranking, limit if prefers_size else None)
    estimate = None
    if asks_estimate(estimator):
        if estimator.objective == "pessimistic_error":
            raise ValueError(
                "With objective='pessimistic_error', it is named 'error' in ranking, and its limit "
                "is max_error."
            )
        estimate = class_objective(
            "pessimistic_error", problem.data, confidence=estimator.confidence
        )
    return Query(ranking, estimator.max_error, most, estimate)


def find_smallest_tree(plan, session, query):
    """Find the tree that is first by a lexicographic ranking.

    Parameters
    ----------
    plan : Plan
        With `tests`.

    session : Session

    query : Query

    Returns
    -------
    solution : Solution
    """
    problem, tests, limits = plan.problem, plan.tests, plan.problem.limits
    ranking, max_error, control = query.ranking, query.max_error, session.control
    known = np.inf
    if query.estimate is not None or limits.has_class_minima:
        inner = PairSolver(problem, tests, session, query.estimate, query.max_estimate)
        control, opened = session.control, inner.opened
    else:
        opened = open_engine(problem, tests, session)
        control = session.control
        split_cost = limits.split_cost / problem.form.scale
        inner = BitsSolver(problem, tests, session, opened.search, split_cost)
        if opened.known is not None:
            known = problem.in_engine_units(tree_and_objective(problem, tests, opened.known)[1])
    solver = inner
    if limits.depth_cost:
        solver = DepthCostSolver(inner, limits.depth_cost / problem.form.scale)
    worst = np.inf if max_error is None else within_rounding(problem, max_error)
    found = best_by_ranking(
        solver, ranking, limits.max_depth, limits.max_splits, worst, known + 1e-9 * abs(known)
    )
    control.raise_pending()
    is_plain = isinstance(inner, BitsSolver)
    session.close(opened, found.nodes if found is not None and is_plain else None)
    if found is None:
        refuse_limits(problem, query, solver)
    if control.stopped and not limits.depth_cost and is_plain:
        acceptable = found.cost if ranking[0] == "error" or max_error is None else worst
        found = smallest_pruning(problem, found, acceptable)
    cost = problem.in_units(found.cost)
    is_proved = found.is_proved and not control.stopped
    bound = cost
    if not is_proved:
        least = min(cost, problem.in_units(solver.full_bound))
        bound = raised(least, equal_rows_bound(problem, tests), cost)
    # Where the objective comes first, the rest of the search leaves it as it is.
    moments = solver.full_moments if ranking[0] == "error" else []
    return Solution(
        tests=tests,
        nodes=found.nodes,
        cost=cost,
        lower_bound=bound,
        status="optimal" if is_proved else control.status,
        incumbents=closed(problem.moments_in_units(moments), control.seconds, cost, bound),
        stats=inner.stats | {"seconds": control.seconds},
    )


class DepthCostSolver:
    """Optima where each level of a tree costs something (MurTree, section 4.8.3).

    The cheapest tree of depth d is among the optima within depths 0, 1, ..., each with the cost of
    its levels. The least of them is within the whole limit: within depth d the optimum may have
    fewer levels, but was then met before.

    Parameters
    ----------
    solver : BitsSolver

    depth_cost : float
        Of a level, in the engine's units.
    """

    def __init__(self, solver, depth_cost):
        self.solver, self.depth_cost = solver, depth_cost
        # A bound: no tree costs less, by the last search that allowed discrepancies.
        self.full_bound = 0.0

    @property
    def stopped(self):
        """Whether no further search is worth beginning."""
        return self.solver.stopped

    # Those of the inner searches have no cost of levels.
    full_moments = ()

    def poll(self):
        """Read the clock; True if the search has to end."""
        return self.solver.poll()

    def tighten_estimate(self, answer, upper):
        """As `PairSolver.tighten_estimate`."""
        best = None
        for depth in range(min(answer.max_depth, answer.max_splits) + 1):
            levels = depth * self.depth_cost
            within = replace(answer, max_depth=depth)
            found = self.solver.least_estimate(within, upper - levels)
            if self.stopped:
                return replace(answer, is_proved=False)
            best = found if best is None or (found is not None and found < best) else best
        if best is not None:
            self.solver.keep_estimate_within(best)
        return self.solve(answer.max_depth, answer.max_splits, upper)

    def solve(self, max_depth, max_splits, upper=np.inf, by_discrepancy=False):
        """As `BitsSolver.solve`."""
        best = None
        for depth in range(min(max_depth, max_splits) + 1):
            levels = depth * self.depth_cost
            if best is not None and (self.stopped or levels >= best.cost):
                break
            limit = upper if best is None else min(upper, best.cost)
            found = self.solver.solve(depth, max_splits, limit - levels, by_discrepancy)
            # Only some depths may have been searched.
            if found is not None and (best is None or found.cost + levels < best.cost):
                best = replace(found, max_depth=max_depth, cost=found.cost + levels)
            if by_discrepancy:
                # Deeper trees pay for one level more at least.
                deeper = levels + self.depth_cost
                self.full_bound = min(self.solver.full_bound + levels, deeper)
        if best is not None and self.stopped:
            best = replace(best, is_proved=False)
        return best


def best_by_ranking(solver, ranking, max_depth, max_splits, max_error=np.inf, known_error=np.inf):
    """The tree that is first by a lexicographic ranking (DL8, section 3).

    The criteria tighten their limits one after the other: the error to its optimum, and the number
    of splits or the depth to the minimum with which a tree reaches that error, or `max_error` if
    the error comes later.

    Parameters
    ----------
    solver : Solver
        The problem.

    ranking : tuple of str
        See ``check_ranking``.

    max_depth, max_splits : int
        Limits.

    max_error : float
        Largest cost that is acceptable.

    known_error : float
        Cost of some tree within the limits, of use where "error" is the first criterion.

    Returns
    -------
    answer : Answer or None
        None if no tree within the limits is good enough. After a stop, the best tree known.
    """
    max_splits = n_useful_splits(max_depth, max_splits)
    upper = at_most(max_error)
    first = min(max_error, known_error) if ranking[0] == "error" else max_error
    answer = solver.solve(max_depth, max_splits, at_most(first), by_discrepancy=True)
    for criterion in ranking:
        if answer is None or solver.stopped:
            return answer
        if criterion == "error":
            upper = at_most(answer.cost)
        elif criterion == "pessimistic_error":
            answer = solver.tighten_estimate(answer, upper)
        else:
            answer = tighten(solver, criterion, answer, upper)
    return answer


def tighten(solver, criterion, answer, upper):
    """Answer within the least depth, or number of splits, that has one; found by bisection."""
    depth, splits = answer.max_depth, answer.max_splits
    low, known = 0, answer.n_splits if criterion == "size" else depth
    while low < known and answer.is_proved and not solver.poll():
        middle = (low + known) // 2
        limits = (depth, middle) if criterion == "size" else (middle, splits)
        found = solver.solve(*limits, upper)
        if found is None:
            low = middle + 1
        elif found.is_proved:
            answer, known = found, middle
        else:
            break
    # Trees of the later criteria stay within it.
    name = "max_splits" if criterion == "size" else "max_depth"
    return replace(answer, **{name: known})


def within_rounding(problem, max_error):
    """An engine's cost of a tree whose objective is just acceptable, with room for rounding."""
    total = float(problem.data.weights.sum())
    slack = 1e-9 * abs(max_error) + 1e-11 * total
    return problem.in_engine_units(max_error + slack)


def smallest_pruning(problem, answer, acceptable):
    """The smallest good pruning of the answer of a stopped search."""
    pruned = Prunings.of(problem, answer.tests, answer.nodes)
    sizes = np.arange(len(pruned.costs))
    costs = problem.in_engine_units(pruned.costs + problem.limits.split_cost * sizes)
    good = np.flatnonzero(costs <= at_most(acceptable))
    if len(good) == 0 or good[0] >= answer.n_splits:
        return answer
    return replace(answer, nodes=pruned.tree(good[0])[0], cost=float(costs[good[0]]))


def refuse_limits(problem, query, solver=None):
    """Say that no tree is good enough, and how good the best one is."""
    limits = problem.limits
    within = (
        f"No tree within max_depth={limits.max_depth}, max_leaf_nodes={limits.max_splits + 1}, "
        f"min_samples_leaf={limits.min_samples_leaf} and a weight of {limits.min_weight_leaf:g} in "
        "every leaf (by min_weight_leaf or min_weight_fraction_leaf)"
    )
    if solver is None or query.estimate is not None or limits.has_class_minima:
        asked = {
            "max_error": query.max_error,
            "max_pessimistic_error": query.max_estimate,
            "min_class_weight_leaf": limits.min_class_weight,
            "min_purity_leaf": limits.min_purity or None,
        }
        words = [f"{name}={value!r}" for name, value in asked.items() if value is not None]
        raise ValueError(f"{within} fulfils {' and '.join(words)}.")
    best = solver.solve(limits.max_depth, limits.max_splits)
    least = "the least" if best.is_proved else "the least known"
    raise ValueError(
        f"{within} has an objective of at most max_error={query.max_error!r}; {least} is "
        f"{float(problem.in_units(best.cost))!r}."
    )
