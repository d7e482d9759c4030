"""The smallest tree that is good enough, and other orders of error, size and depth (DL8).

Each criterion in turn tightens its limit to the optimum under the limits of the others. All
searches ask one engine, whose cache makes the next one cost only what is new.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sktree_opt.optimal.run._bits_solver import BitsSolver, at_most, n_useful_splits, open_engine
from sktree_opt.optimal.run._problem import Solution, closed, raised
from sktree_opt.optimal.run._trees import Prunings, equal_rows_bound, tree_and_objective

CRITERIA = ("error", "size", "depth")


def check_ranking(ranking, max_error):
    """The criteria as a tuple; DL8 allows rankings that have both error and size."""
    if ranking is None:
        return ("error", "size") if max_error is None else ("size", "error")
    ranking = tuple(ranking)
    # Lists in a list cannot be in a set.
    is_named = all(isinstance(criterion, str) for criterion in ranking)
    if not is_named or set(ranking) - set(CRITERIA) or len(set(ranking)) < len(ranking):
        raise ValueError(
            "ranking must contain each of 'error', 'size' and 'depth' at most once, got "
            f"{ranking!r}."
        )
    if not {"error", "size"} <= set(ranking):
        raise ValueError(f"ranking must contain 'error' and 'size', got {ranking!r}.")
    return ranking


def find_smallest_tree(plan, session, ranking, max_error):
    """Find the tree that is first by a lexicographic ranking.

    Parameters
    ----------
    plan : Plan
        With `tests`.

    session : Session

    ranking : tuple of str
        As ``check_ranking`` returns it.

    max_error : float or None
        Largest objective that is acceptable.

    Returns
    -------
    solution : Solution
    """
    problem, tests, limits = plan.problem, plan.tests, plan.problem.limits
    opened = open_engine(problem, tests, session)
    control, engine = session.control, opened.search
    split_cost = limits.split_cost / problem.form.scale
    solver = BitsSolver(problem, tests, session, engine, split_cost)
    if limits.depth_cost:
        solver = DepthCostSolver(solver, limits.depth_cost / problem.form.scale)
    worst = known = np.inf
    if max_error is not None:
        worst = within_rounding(problem, max_error)
    if opened.known is not None:
        known = problem.in_engine_units(tree_and_objective(problem, tests, opened.known)[1])
    found = best_by_ranking(
        solver, ranking, limits.max_depth, limits.max_splits, worst, known + 1e-9 * abs(known)
    )
    control.raise_pending()
    session.close(opened, found.nodes if found is not None else None)
    if found is None:
        refuse_max_error(problem, solver, max_error)
    if control.stopped and not limits.depth_cost:
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
        stats=engine.stats | {"seconds": control.seconds},
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
    return answer


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


def refuse_max_error(problem, solver, max_error):
    """Say that no tree is good enough, and how good the best one is."""
    limits = problem.limits
    best = solver.solve(limits.max_depth, limits.max_splits)
    least = "the least" if best.is_proved else "the least known"
    raise ValueError(
        f"No tree within max_depth={limits.max_depth}, max_leaf_nodes={limits.max_splits + 1}, "
        f"min_samples_leaf={limits.min_samples_leaf} and a weight of {limits.min_weight_leaf:g} in "
        "every leaf (by min_weight_leaf or min_weight_fraction_leaf) has an objective of at most "
        f"max_error={max_error!r}; {least} is {float(problem.in_units(best.cost))!r}."
    )
