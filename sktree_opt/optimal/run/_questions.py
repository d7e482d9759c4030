"""Which search answers what an estimator was asked for, and what it leaves beside one tree."""

from dataclasses import replace
from functools import partial

import numpy as np

from sktree_opt.optimal.bits._bit_rows import nodes_from_preorder
from sktree_opt.optimal.objectives._metric_answers import better_of
from sktree_opt.optimal.objectives._metrics import METRICS, MetricSearch, check_callable, losses_of
from sktree_opt.optimal.run import _driver
from sktree_opt.optimal.run._first_look import go_down, looks_at_metric, metric_floor
from sktree_opt.optimal.run._floors import equal_rows_floor, may_stop
from sktree_opt.optimal.run._found import Found, closed, raised
from sktree_opt.optimal.run._k_best_trees import search_k_best
from sktree_opt.optimal.run._prunings import Prunings
from sktree_opt.optimal.run._queries import Solver, at_most, best_by_ranking, check_ranking

# What it takes to look for the best answers of known trees; of the time, at most.
READING_SECONDS, READING_SHARE = 0.04, 0.25


def is_metric(objective):
    """Whether an objective is a metric of two classes' errors, no sum over leaves."""
    return callable(objective) or objective in METRICS


def answer(problem, *, objective, ranking, max_error, n_trees):
    """Run the search that the parameters of a classifier ask for."""
    if ranking is not None:
        ranking = check_ranking(ranking)
    refuse_initial_tree(
        problem,
        is_metric(objective)
        or n_trees > 1
        or (ranking is not None and ranking[0] != "error")
        or (ranking is None and max_error is not None),
    )
    if is_metric(objective):
        refuse(ranking is not None, "ranking", objective)
        refuse(max_error is not None, "max_error", objective)
        refuse(n_trees > 1, "n_trees", objective)
        return search_metric(problem, objective)
    if n_trees > 1:
        if ranking not in (None, ("error", "size")) or max_error is not None:
            raise ValueError(
                "n_trees > 1 ranks by error, then size: other rankings and max_error have no "
                "meaning with it."
            )
        return search_k_best(problem, n_trees)
    if ranking is None and max_error is None:
        return _driver.search(problem)
    return search_ranking(problem, ranking or ("error", "size"), max_error)


def refuse_initial_tree(problem, has_no_use):
    """Refuse a known tree where its objective is no bound."""
    if problem.initial is not None and has_no_use:
        raise ValueError(
            "initial_tree is of use where the objective comes first: it has no meaning for a "
            "metric, n_trees > 1, max_error alone, or a ranking that begins with another criterion."
        )


def refuse(is_set, name, objective):
    """Refuse a parameter that a metric leaves no room for."""
    if is_set:
        raise ValueError(f"{name} has no meaning for objective={objective!r}, a metric.")


def search_ranking(problem, ranking, max_error):
    """The tree that is first by a lexicographic ranking."""
    limits = problem.limits
    control, engine, close = problem.open("depths", problem.engine)
    solver = Solver(
        engine,
        limits.split_cost / problem.leaf_form.scale,
        partial(_driver.deepen, problem, control, engine),
        partial(go_down, problem, control, engine),
    )
    worst = known = np.inf
    if max_error is not None:
        worst = within_rounding(problem, max_error)
    if problem.initial is not None:
        known = problem.in_engine_units(problem.cost_of(problem.initial))
    found = best_by_ranking(
        solver,
        ranking,
        limits.max_depth,
        limits.max_splits,
        worst,
        known + 1e-9 * abs(known),
    )
    control.raise_pending()
    close(found.nodes if found is not None else None)
    if found is None:
        refuse_max_error(problem, solver, max_error)
    if control.stopped:
        acceptable = found.cost if ranking[0] == "error" or max_error is None else worst
        found = smallest_pruning(problem, found, acceptable)
    cost = problem.in_units(found.cost)
    proved = found.is_proved and not control.stopped
    bound = cost
    if not proved:
        floor = equal_rows_floor(problem)
        bound = raised(min(cost, problem.in_units(solver.dived_bound)), floor, cost)
    # Where the objective comes first, the rest of the search leaves it as it is.
    moments = solver.dived_moments if ranking[0] == "error" else []
    return Found(
        nodes=found.nodes,
        cost=cost,
        lower_bound=bound,
        status="optimal" if proved else control.status,
        incumbents=closed(problem.moments_in_units(moments), control.seconds, cost, bound),
        stats=engine.stats | {"seconds": control.seconds},
    )


def within_rounding(problem, max_error):
    """What an engine may find of a tree whose own objective, summed over leaves, is acceptable."""
    total = float(problem.data.weights.sum())
    slack = 1e-9 * abs(max_error) + 1e-11 * total
    return problem.in_engine_units(max_error + slack)


def smallest_pruning(problem, answer, acceptable):
    """An answer without the subtrees that it may do without, of a search that was stopped."""
    reached = problem.rows_in(answer.nodes)
    pruned = Prunings(reached.nodes, problem.costs_in(reached), problem.limits.max_depth)
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
        f"No tree within max_depth={limits.max_depth}, max_splits={limits.max_splits}, "
        f"min_samples_leaf={limits.min_samples_leaf} and a weight of {limits.min_weight_leaf:g} in "
        "every leaf (by min_weight_leaf or min_weight_fraction_leaf) has an objective of at most "
        f"max_error={max_error!r}; {least} is {float(problem.in_units(best.cost))!r}."
    )


def search_metric(problem, metric):
    """The best tree by a metric of two classes' errors."""
    limits, data = problem.limits, problem.data
    if len(data.classes) != 2:
        raise ValueError(
            f"objective={metric!r} is a metric of two classes; y has {len(data.classes)}."
        )
    if callable(metric):
        check_callable(metric, np.bincount(problem.y, weights=data.weights, minlength=2))

    def make(control):
        return MetricSearch(
            problem.tests.bits,
            problem.tests.n_tests,
            problem.y,
            problem.weights,
            metric,
            control,
            min_samples_leaf=limits.min_samples_leaf,
            min_weight_leaf=limits.min_weight_leaf,
            n_threads=limits.n_threads,
        )

    control, search, close = problem.open(("metric", limits.n_threads), make)
    # Fronts are the same for all metrics.
    search.metric = metric
    search.complexity_cost = limits.split_cost / float(data.weights.sum())
    floor, looks = -np.inf, {}
    if limits.max_depth > 1 and may_stop(problem):
        looks = looks_at_metric(problem)
        # For the answers of the leaves that the plain searches have found.
        control.keep_back(min(READING_SECONDS, READING_SHARE * control.seconds_left))
        floor = metric_floor(
            problem, lambda errors: losses_of(metric, errors, search.totals), search.totals, looks
        )
    best = search.solve(limits.max_depth, limits.max_splits, problem.chunk)
    if control.stopped and looks:
        best = better_of(problem, search, looks, best)
    close(None)
    bound = raised(best.lower_bound, floor, best.objective)
    moments = [(t, cost, raised(least, floor, cost)) for t, cost, least in best.incumbents]
    return Found(
        nodes=nodes_from_preorder(best.columns),
        cost=best.objective,
        lower_bound=bound,
        status=control.status,
        incumbents=closed(moments, control.seconds, best.objective, bound),
        stats=best.stats | {"seconds": control.seconds},
        answers=best.answers,
        front=best.front,
    )
