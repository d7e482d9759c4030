"""Rounds of tasks, and what a task does for each engine."""

from __future__ import annotations

from functools import partial

import numpy as np

from sktree_opt.optimal.bits._bit_engine import BitEngine
from sktree_opt.optimal.run._session import fingerprint
from sktree_opt.optimal.thresholds._threshold_search import ThresholdSearch
from sktree_opt.preprocessing._table import Table
from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._workers import KeptInWorker, Shared, Workers

# A round lasts so many seconds, then twice as long up to the most: early rounds share the best tree
# soon, late ones take little to give out. A unit that is begun is searched to its end.
FIRST_SECONDS, MOST_SECONDS = 0.5, 16.0

# Tasks for each worker, so that none waits long for the last one.
TASKS_A_WORKER = 2

# Entries of a state that have one value for each open interval.
OF_INTERVALS = ("intervals", "bounds")

_kept = KeptInWorker()


def search_in_rounds(session, limits, search_part, shared, units, take, workers, step=None):
    """Let the workers search some units.

    Parameters
    ----------
    session : Session

    limits : Limits

    search_part : callable
        What a task does, see ``run_task``.

    shared : Shared
        What all tasks read.

    units : callable
        Returns the units that are left, and what tasks have to know besides.

    take : callable
        Takes the answers of a round.

    workers : Workers

    step : callable or None, default=None
        Does the work of a round, given its name and the work; None just does it.
    """
    seconds, control, n_fruitless = FIRST_SECONDS, session.control, 0
    while not control.poll():
        left, known = units()
        if not len(left):
            return
        n_parts = min(len(left), TASKS_A_WORKER * workers.number)
        parts = [list(left[k::n_parts]) for k in range(n_parts)]
        time_left = None if limits.time_limit is None else max(0.0, control.seconds_left)
        task = (search_part, known, seconds, time_left, limits.memory_limit)
        work = partial(workers.run, run_task, shared, parts, *task)
        found = work() if step is None else step(f"{len(left)} parts", work)
        take([answer for answer, _ in found])
        seconds = min(2.0 * seconds, MOST_SECONDS)
        # Engines that have run out of memory begin again, once.
        is_short = all(status == "memory_limit" for _, status in found)
        n_fruitless = n_fruitless + 1 if is_short else 0
        if n_fruitless > 1:
            control.request_stop("memory_limit")


def run_task(shared, part, search_part, known, seconds, time_left, memory_limit):
    """Search a part of the units, in the process of a worker; None if it needs the content.

    Returns
    -------
    answer : object
        Of `search_part`.

    status : str
        What ended the search.
    """
    kept = _kept.take(shared.key)
    if kept is None and shared.content is None:
        return None
    control, engine = (SearchControl(), None) if kept is None else kept
    control.restart(time_left, memory_limit)
    answer, engine = search_part(shared.content, part, known, engine, control, seconds)
    control.raise_pending()
    # After a stop, bounds within the engine may be wrong.
    if not control.stopped:
        _kept.keep(shared.key, (control, engine))
    return answer, control.status


def solve_columns(levels, depth):
    """Let workers find bounds on the columns of the root, and better trees (``Levels``)."""
    problem, tests, engine = levels.problem, levels.tests, levels.engine
    form, limits = problem.form, problem.limits
    inputs = (tests.bits, problem.objective.targets, problem.weights, tests.n_tests, form, limits)
    shared = Shared(fingerprint(problem, tests, limits, "columns"), inputs)

    def units():
        done = set(levels.columns[depth][0][:, 0].tolist()) if depth in levels.columns else ()
        left = [j for j in engine.root_columns if j not in done]
        if engine.cost <= engine.lower_bound:
            left = []
        known = levels.columns.get(depth)
        return left, (depth, known, engine.known_tree(), engine.cost)

    def take(answers):
        for places, bounds, nodes in answers:
            if nodes is not None:
                levels.offer(nodes)
            engine.learn(places, bounds)
        levels.keep_columns(depth)

    session = levels.session
    step = partial(session.step, problem, answer_of=levels.best_tree)
    search_in_rounds(session, limits, search_columns, shared, units, take, Workers(), step)


def search_columns(inputs, columns, message, engine, control, seconds):
    """A task of ``solve_columns``."""
    depth, known, nodes, cost = message
    if engine is None:
        bits, targets, weights, n_tests, form, limits = inputs
        engine = BitEngine(
            bits,
            n_tests,
            targets,
            weights,
            form,
            control,
            min_samples_leaf=limits.min_samples_leaf,
            min_weight_leaf=limits.min_weight_leaf,
        )
        engine.begin(limits.max_depth, limits.max_splits, limits.split_cost / form.scale)
    engine.offer(nodes, cost)
    before = engine.cost
    if control.stopped:
        return (np.empty((0, 2), np.int32), np.empty((0, 2)), None), engine
    engine.open_part(depth, columns)
    n_known = 0
    if known is not None:
        n_known = len(known[0])
        engine.learn(*known)
    engine.deepen(depth, np.inf, 1, seconds)
    places, bounds = engine.known_columns
    found = engine.known_tree() if engine.cost < before else None
    return (places[n_known:], bounds[n_known:], found), engine


def explore_intervals(problem, session, engine, inputs, record, best_tree):
    """Let workers explore the open intervals of thresholds at the root.

    `inputs` are the table and the other arguments of the engine.
    """
    table, *others = inputs
    columns = (table.codes, [len(values) for values in table.values], table.is_nominal)
    name = fingerprint(problem, None, problem.limits, "intervals", table=table)
    shared, state = Shared(name, (*columns, *others)), engine.state

    def units():
        is_over = not state["is_open"] or state["lower_bound"] >= state["cost"]
        order = np.argsort(state["bounds"][:, 0], kind="stable")
        return (order[:0] if is_over else order), state

    def take(answers):
        state.update(merged(state, answers))
        engine.resume(state)
        if record is not None:
            record.write(state)

    limits, step = problem.limits, partial(session.step, problem, answer_of=best_tree)
    search_in_rounds(session, limits, search_intervals, shared, units, take, Workers(), step)


def merged(state, answers):
    """The state of a search whose open intervals have been explored elsewhere."""
    found = {name: np.concatenate([one[name] for one in answers]) for name in OF_INTERVALS}
    found["lower"] = min(one["lower"] for one in (state, *answers))
    # A tree that is known from elsewhere has no plan.
    best = min((state, *answers), key=lambda one: (one["cost"], one["is_known"]))
    return found | {name: best[name] for name in ("cost", "plan", "is_known")}


def search_intervals(inputs, part, state, engine, control, seconds):
    """A task of ``explore_intervals``."""
    if engine is None:
        codes, n_values, is_nominal, arrays, numbers = inputs
        matrix = np.column_stack(
            [np.where(one < n, one, np.nan) for one, n in zip(codes, n_values, strict=True)]
        )
        table = Table.from_matrix(matrix, np.where(is_nominal, n_values, -1))
        engine = ThresholdSearch(table, *arrays, control, **numbers | {"n_threads": 1})
        engine.begin()
    own = state | {name: state[name][part] for name in OF_INTERVALS}
    if not engine.resume(own):
        return own, engine
    engine.deepen(seconds)
    return engine.state, engine
