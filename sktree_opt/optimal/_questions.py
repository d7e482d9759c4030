"""Which search answers what an estimator was asked for, and what it leaves beside one tree."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from sktree_opt.optimal import _driver
from sktree_opt.optimal._bit_rows import bit_rows, nodes_from_preorder, target_rows
from sktree_opt.optimal._floors import engine_floor, may_stop, metric_floor
from sktree_opt.optimal._k_best import KBestSearch
from sktree_opt.optimal._metrics import METRICS, MetricSearch, losses_of
from sktree_opt.optimal._queries import Solver, best_by_ranking, check_ranking
from sktree_opt.utils._control import SearchControl


@dataclass
class Found(_driver.SearchResult):
    """A search's result, and more that it may have found.

    Attributes
    ----------
    answers : ndarray or None
        Class that each node answers, where that is not its most frequent one.

    front : ndarray or None
        Record array of the errors that no tree betters in both.

    others : list of ndarray
        Nodes of the second best tree, the third, and so on.
    """

    answers: np.ndarray | None = None
    front: np.ndarray | None = None
    others: tuple = ()


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
    limits, scale = problem.limits, problem.leaf_form.scale
    control, engine, close = problem.open("depths", problem.engine)
    solver = Solver(
        engine, limits.split_cost / scale, partial(_driver.deepen, problem, control, engine)
    )
    worst = known = np.inf
    if max_error is not None:
        worst = problem.in_engine_units(max_error)
    if problem.initial is not None:
        known = problem.in_engine_units(problem.cost_of(problem.initial))
    found = best_by_ranking(
        solver, ranking, limits.max_depth, limits.max_splits, worst, known + 1e-9 * abs(known)
    )
    control.raise_pending()
    close(found.nodes if found is not None else None)
    if found is None:
        best = solver.solve(limits.max_depth, limits.max_splits)
        raise ValueError(
            f"No tree within max_depth={limits.max_depth}, max_splits={limits.max_splits}, "
            f"min_samples_leaf={limits.min_samples_leaf} and "
            f"min_weight_leaf={limits.min_weight_leaf:g} has an objective of at most "
            f"max_error={max_error:g}; the least is {problem.in_units(best.cost):g}."
        )
    cost = problem.in_units(found.cost)
    proved = found.is_proved and not control.stopped
    return Found(
        nodes=found.nodes,
        cost=cost,
        lower_bound=cost if proved else problem.in_units(0.0),
        status="optimal" if proved else control.status,
        incumbents=[(control.seconds, cost, cost if proved else problem.in_units(0.0))],
        stats=engine.stats | {"seconds": control.seconds},
    )


def search_metric(problem, metric):
    """The best tree by a metric of two classes' errors."""
    limits, data = problem.limits, problem.data
    if len(data.classes) != 2:
        raise ValueError(
            f"objective={metric!r} is a metric of two classes; y has {len(data.classes)}."
        )

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
    floor = -np.inf
    if limits.max_depth > 2 and may_stop(problem):
        floor = metric_floor(
            problem, lambda errors: losses_of(metric, errors, search.totals), search.totals
        )
    best = search.solve(limits.max_depth, limits.max_splits, problem.chunk)
    close(None)
    return Found(
        nodes=nodes_from_preorder(best.columns),
        cost=best.objective,
        lower_bound=raised(best.lower_bound, floor, best.objective),
        status=control.status,
        incumbents=[(t, cost, raised(bound, floor, cost)) for t, cost, bound in best.incumbents],
        stats=best.stats | {"seconds": control.seconds},
        answers=best.answers,
        front=best.front,
    )


def search_k_best(problem, n_trees):
    """The best trees, each deeper search bounded by the one before."""
    limits, form = problem.limits, problem.leaf_form
    split_cost = limits.split_cost / form.scale
    weights = np.ones(len(problem.y)) if problem.weights is None else problem.weights
    rows = problem.tests.bits, problem.tests.n_tests, problem.y, weights
    classes = problem.data.classes

    def make(control):
        return KBestSearch(
            target_rows(*rows) if classes is None else bit_rows(*rows, len(classes)),
            form,
            control,
            n_best=n_trees,
            split_cost=split_cost,
            min_rows=limits.min_samples_leaf,
            min_weight=limits.min_weight_leaf,
            n_threads=limits.n_threads,
        )

    kind = ("k best", n_trees, split_cost, limits.n_threads)
    control, search, close = problem.open(kind, make)
    floor = 0.0
    if limits.max_depth > 2 and may_stop(problem):
        floor = engine_floor(problem, form)
    ranking = search.rank(0, 0)
    incumbents = [(control.seconds, ranking.costs[0], min(floor, ranking.costs[0]))]
    for depth in range(1, limits.max_depth + 1):
        bound = ranking.costs[-1] if len(ranking.costs) == n_trees else np.inf
        deeper = problem.chunk(
            control,
            f"depth {depth}",
            partial(search.rank, depth, limits.max_splits, bound),
            lambda found, best=ranking: (tree_of(found if len(found.costs) else best, 0),),
        )
        if control.stopped and not is_better(deeper, ranking):
            break
        ranking = deeper
        incumbents.append((control.seconds, ranking.costs[0], min(floor, ranking.costs[0])))
        if control.stopped:
            break
    trees = [tree_of(ranking, rank) for rank in range(len(ranking.costs))]
    close(None)
    cost = problem.in_units(ranking.costs[0])
    return Found(
        nodes=trees[0],
        cost=cost,
        lower_bound=cost if control.status == "optimal" else min(cost, problem.in_units(floor)),
        status=control.status,
        incumbents=problem.moments_in_units(incumbents),
        stats=search.statistics() | {"seconds": control.seconds},
        others=tuple(trees[1:]),
    )


def raised(bound, floor, cost):
    """A lower bound, with what else is known; above no tree's cost by rounding."""
    return max(bound, min(floor, cost))


def tree_of(ranking, rank):
    """Nodes of a tree of a ranking."""
    return nodes_from_preorder(ranking.tree(rank, SearchControl()))


def is_better(ranking, other):
    """Whether a ranking has as many trees as another, and a better first one."""
    return len(ranking.costs) >= len(other.costs) and ranking.costs[0] < other.costs[0]
