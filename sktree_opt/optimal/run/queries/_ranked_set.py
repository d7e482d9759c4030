"""The k first trees by any order of errors, size and depth, within limits on each (DL8, section 5).

The graph of all trees within a bound tells its trees by size, depth and two costs, so that they can
be counted in any order. The bound is on the first criterion of the ranking, and rises until there
are enough trees.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sktree_opt.optimal.run._best_trees import NO_BOUND, make_search, open_search
from sktree_opt.optimal.run._fallback import share_of_time, short_search
from sktree_opt.optimal.run._found_trees import (
    ROUNDING_UNITS,
    FoundTrees,
    graph_of_trees,
    rounded,
)
from sktree_opt.optimal.run._problem import Solution, closed
from sktree_opt.optimal.run._trees import LEAF_ALONE
from sktree_opt.optimal.run.queries._rankings import refuse_limits, within_rounding
from sktree_opt.utils._control import SearchControl

# The first excess over the least cost, as a share of what all rows cost, and its growth.
FIRST_EXCESS, GROWTH = 2.0**32, 1.5


@dataclass(frozen=True)
class RankedOrder:
    """An order of trees, and limits on them.

    Attributes
    ----------
    ranking : tuple of str

    is_swapped : bool
        Whether the cost of the graph is C4.5's estimate, and its second cost the objective.

    max_objective, max_estimate : float
        Largest values that are acceptable, with room for rounding.

    unit_of_estimate : float
        Of C4.5's estimate in the graph; 0 for none.
    """

    ranking: tuple
    is_swapped: bool
    max_objective: float
    max_estimate: float
    unit_of_estimate: float

    def places(self, counted, objectives):
        """Kinds of a graph that are within the limits, in order."""
        estimates = counted.costs if self.is_swapped else counted.seconds
        if self.unit_of_estimate:
            estimates = rounded(estimates * self.unit_of_estimate, self.unit_of_estimate, 0.0)
        columns = {
            "error": objectives,
            "pessimistic_error": estimates,
            "size": counted.n_splits,
            "depth": counted.depths,
        }
        order = np.lexsort([columns[name] for name in self.ranking[::-1]])
        is_good = (objectives <= self.max_objective) & (estimates <= self.max_estimate)
        return order[is_good[order]]


def find_ranked_set(plan, session, wanted, query):
    """Find the first trees by a ranking.

    Parameters
    ----------
    plan : Plan
        With `tests`.

    session : Session

    wanted : Wanted

    query : Query

    Returns
    -------
    solution : Solution
        The first tree, and all of them as `found`.
    """
    if session.checkpoint is not None:
        raise ValueError(
            "checkpoint is not supported with a ranking or limits on errors and leaves."
        )
    problem, tests, limits = plan.problem, plan.tests, plan.problem.limits
    levels = RankedLevels(problem, tests, session, wanted, query)
    control, first = levels.session.control, None
    if limits.max_depth > 1 and not limits.has_class_minima and session.may_stop(limits):
        first = short_search(problem, tests, session, share_of_time(limits))
    found = levels.search()
    control.raise_pending()
    session.close(levels.opened, None)
    if found is None and not control.stopped:
        refuse_limits(problem, query)
    if found is None:
        # Perhaps it does not fulfil the limits.
        nodes, unit = LEAF_ALONE if first is None else first.nodes, problem.form.scale * levels.grid
        graph = graph_of_trees(problem, tests, [nodes], unit)
        counted = graph.count(SearchControl())
        found = FoundTrees(problem, tests, graph, counted, 1, unit, 0.0)
    cost = float(found.objectives(1)[0])
    least = -np.inf if first is None else float(problem.in_units(first.lower_bound))
    bound = cost if not control.stopped else min(cost, max(0.0, least))
    return Solution(
        tests=tests,
        nodes=found.nodes(0)[0],
        cost=cost,
        lower_bound=bound,
        status=control.status,
        incumbents=closed([], control.seconds, cost, bound),
        stats=levels.engine.statistics() | {"seconds": control.seconds},
        found=found,
    )


class RankedLevels:
    """Graphs of more and more trees, until there are enough.

    Attributes
    ----------
    engine : GraphSearch

    grid : float
        Unit of the objective in the graph, in units of its form.
    """

    def __init__(self, problem, tests, session, wanted, query):
        self.problem, self.tests, self.session = problem, tests, session
        self.wanted, self.query = wanted, query
        ranking, form = query.ranking, problem.form
        sums = [name for name in ranking if name in ("error", "pessimistic_error")]
        self.is_swapped = sums[0] == "pessimistic_error"
        self.max_objective = np.inf
        if query.max_error is not None:
            self.max_objective = problem.in_units(within_rounding(problem, query.max_error))
        self.max_estimate = np.inf
        if query.max_estimate is not None:
            self.max_estimate = query.max_estimate * (1.0 + 1e-9) + 1e-9
        second, max_second = None, np.inf
        if self.is_swapped:
            second, max_second = form, problem.in_engine_units(self.max_objective)
        elif query.estimate is not None:
            second, max_second = query.estimate.form, self.max_estimate
        self.searched = problem
        if self.is_swapped:
            self.searched = replace(problem, objective=query.estimate).within(split_cost=0.0)
        counts_depth = "depth" in ranking
        self.opened, self.engine = open_search(
            self.searched,
            tests,
            session,
            wanted,
            ("ranked", self.is_swapped, counts_depth, max_second, getattr(second, "cf", None)),
            answers_of=problem,
            second=second,
            counts_depth=counts_depth,
            max_second=max_second * (1.0 + 1e-9) + 1e-9,
        )
        self.grid = self.engine.grid_of_second if self.is_swapped else self.engine.grid
        self.grid_of_estimate = 0.0
        if query.estimate is not None:
            engine = self.engine
            self.grid_of_estimate = engine.grid if self.is_swapped else engine.grid_of_second

    def search(self):
        """The trees, or None; what a stopped search has found so far."""
        control, found = self.session.control, None
        if self.wanted.epsilon is not None:
            self._limit_by_epsilon()
        for limits_of_step in self._steps():
            if control.poll():
                break
            depth, splits, bound = limits_of_step
            name = f"depth {depth}, {splits} tests, bound {bound * self.engine.grid:g}"
            now = self.session.step(
                self.problem,
                name,
                partial(self._all_within, *limits_of_step),
                partial(self._best_of, found),
            )
            if control.stopped:
                break
            found = now if now is not None else found
            if found is not None and found.n_trees >= self.wanted.number:
                break
        return found

    def _steps(self):
        """Depth, splits and bound of one search after the other; the last has all trees."""
        limits = self.problem.limits
        deepest, most_splits = min(limits.max_depth, limits.max_splits), limits.max_splits
        most = self.max_estimate if self.is_swapped else self.max_objective
        if most < np.inf:
            most = self.searched.in_engine_units(most) / self.engine.grid
        most = min(np.floor(most) + ROUNDING_UNITS if most < np.inf else NO_BOUND, NO_BOUND)
        first = self.query.ranking[0]
        if self.wanted.number == np.inf:
            yield deepest, most_splits, most
        elif first == "size":
            for splits in range(most_splits + 1):
                yield min(deepest, splits), splits, most
        elif first == "depth":
            for depth in range(deepest + 1):
                yield depth, min(most_splits, 2**depth - 1), most
        else:
            bound = self.engine.least_cost(deepest, most_splits) + ROUNDING_UNITS
            excess = FIRST_EXCESS
            while bound < min(most, 2.0**50):
                yield deepest, most_splits, bound
                bound, excess = bound + excess, excess * GROWTH
            yield deepest, most_splits, most

    def _all_within(self, depth, splits, bound):
        graph = self.engine.build(depth, splits, bound)
        if graph is None:
            return None
        counted = graph.count(self.session.control)
        order = RankedOrder(
            self.query.ranking,
            self.is_swapped,
            self.max_objective,
            self.max_estimate,
            self.grid_of_estimate,
        )
        form = self.problem.form
        found = FoundTrees(
            self.problem,
            self.tests,
            graph,
            counted,
            self.wanted.number,
            form.scale * self.grid,
            form.constant,
            order,
        )
        return found if found.n_trees else None

    def _best_of(self, before, now):
        found = before if now is None else now
        return self.tests, LEAF_ALONE if found is None else found.nodes(0)[0]

    def _limit_by_epsilon(self):
        """Take the distance from the best objective as a limit."""
        limits, engine, problem = self.problem.limits, self.engine, self.problem
        if self.is_swapped:
            engine = make_search(problem, self.tests, self.wanted, self.session.control)
        depth = min(limits.max_depth, limits.max_splits)
        least = engine.least_cost(depth, limits.max_splits)
        largest = self.wanted.largest(problem.in_units(least * engine.grid))
        most = problem.in_units(within_rounding(problem, largest))
        self.max_objective = min(self.max_objective, most)
