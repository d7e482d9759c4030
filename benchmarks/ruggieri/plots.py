"""Figures 4 to 8: what each measures over values of m, the least weight of two branches.

A figure is a function that prints its numbers and returns the drawn figure. The paper shows only
plots, so our numbers have nothing to be compared with.
"""

import math
import time
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from matplotlib.figure import Figure

from ruggieri import paper, tables
from ruggieri.methods import Settings
from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.subset import AcceptableSubsetSelector, DistinctTreeEnumerator, DTsbeSelector
from sktree_opt.subset.complete._streams import ORDERS
from uci import load

DELTAS = (0.0, 0.02, 0.04)
SMALL_SETS = ("Hypo", "Ionosphere", "Soybean", "Anneal", "Sonar")


@dataclass(frozen=True)
class Run:
    """How much is done for a figure."""

    leaf_weights: tuple  # values of m
    time_limit: float
    n_jobs: int
    n_folds: int | None
    n_repeats: int
    n_sampled: int  # subsets of each size that stand for all in the exhaustive search

    def tree(self, m):
        return GreedyTreeClassifier(min_weight_leaf=m, numeric_gain_penalty=True)

    def map(self, function, *arguments):
        """Values of a function of (m, argument), in order, in several processes."""
        pairs = [(m, argument) for argument in arguments for m in self.leaf_weights]
        values = Parallel(n_jobs=self.n_jobs)(delayed(function)(self, *pair) for pair in pairs)
        n = len(self.leaf_weights)
        return {argument: values[i * n : (i + 1) * n] for i, argument in enumerate(arguments)}


def new_axes(titles):
    figure = Figure(figsize=(5 * len(titles), 4), layout="constrained")
    axes = figure.subplots(1, len(titles), squeeze=False)
    for ax, title in zip(axes[0], titles, strict=True):
        ax.set(title=title, xlabel="m")
    return figure, axes[0]


def draw_lines(ax, run, lines, what):
    """Draw and print a line over m for each name."""
    print(f"{what:28}" + "".join(f"{f'm={m:g}':>12}" for m in run.leaf_weights))
    for name, values in lines.items():
        ax.plot(run.leaf_weights, values, marker="o", label=name)
        print(f"  {name:26}" + "".join(f"{value:12.5g}" for value in values), flush=True)
    ax.set_ylabel(what)
    ax.legend()


def enumerate_adult(run, m, order):
    X, y = load("adult")
    enumerator = DistinctTreeEnumerator(
        run.tree(m), method="dtdistinct", order=order, time_limit=run.time_limit
    )
    return tables.quietly(enumerator.fit, X, y)


def figure_4(run):
    """Distinct trees by size, and trees built for each distinct one by order of the visit."""
    found = run.map(enumerate_adult, *ORDERS)
    figure, (by_size, overhead) = new_axes(["Adult, distinct trees", "Adult, overhead"])
    n_features = len(found["frontier"][0].n_distinct_by_size_) - 1
    sizes = np.arange(n_features + 1)
    by_size.plot(sizes, [math.comb(n_features, k) for k in sizes], "k:", label="binomial")
    for m, enumerator in zip(run.leaf_weights, found["frontier"], strict=True):
        by_size.plot(sizes, enumerator.n_distinct_by_size_, marker=".", label=f"m={m:g}")
        print(
            f"m={m:g}: {enumerator.n_distinct_} distinct trees, {enumerator.status_}; by size",
            *enumerator.n_distinct_by_size_,
        )
    by_size.set(xlabel="features used", ylabel="distinct trees")
    by_size.legend()
    lines = {order: [e.overhead_ for e in found[order]] for order in ORDERS}
    lines["exhaustive"] = [2.0**n_features / e.n_distinct_ for e in found["frontier"]]
    draw_lines(overhead, run, lines, "built / distinct")
    return figure


def seconds_by_size(run, m, how):
    """Seconds of each tree by number of features, and of all trees together."""
    X, y = load("adult")
    enumerator = DistinctTreeEnumerator(run.tree(m), method="dtdistinct", time_limit=None)
    # Without reading the table, which both ways do once.
    search = enumerator._begin(X, y, None)
    n = X.shape[1]
    seconds = [[] for _ in range(n + 1)]
    if how == "DTdistinct":
        _, stream, _ = enumerator._start(search, y, None)
        start = time.perf_counter()
        for features, _, _ in stream:
            now = time.perf_counter()
            seconds[len(features)].append(now - start)
            start = now
        means = [np.mean(times) if times else np.nan for times in seconds]
        return means, sum(map(sum, seconds))
    rng = np.random.RandomState(0)
    for size in range(n + 1):
        for _ in range(min(run.n_sampled, math.comb(n, size))):
            features = np.sort(rng.choice(n, size, replace=False))
            start = time.perf_counter()
            enumerator._fit_tree_on(search, features)
            seconds[size].append(time.perf_counter() - start)
    means = [np.mean(times) for times in seconds]
    return means, sum(math.comb(n, size) * mean for size, mean in enumerate(means))


def figure_5(run):
    """Seconds of the enumeration, and of building a tree for each subset."""
    found = run.map(seconds_by_size, "DTdistinct", "exhaustive")
    m = run.leaf_weights[0]
    figure, (by_size, total) = new_axes([f"Adult, one tree, m={m:g}", "Adult, all trees"])
    for name, values in found.items():
        means = values[0][0]
        by_size.plot(means, marker=".", label=name)
        print(f"seconds of a tree by size, m={m:g}, {name}:", *(f"{mean:.4f}" for mean in means))
    by_size.set(xlabel="features", ylabel="seconds")
    by_size.legend()
    lines = {
        "DTdistinct": [seconds for _, seconds in found["DTdistinct"]],
        "exhaustive (extrapolated)": [seconds for _, seconds in found["exhaustive"]],
    }
    draw_lines(total, run, lines, "seconds")
    return figure


def accept_on_adult(run, m, delta):
    X, y = load("adult")
    selector = AcceptableSubsetSelector(
        run.tree(m), delta=delta, time_limit=run.time_limit, random_state=0
    )
    start = time.perf_counter()
    tables.quietly(selector.fit, X, y)
    return time.perf_counter() - start, 100.0 * selector.error_, selector.status_


def eliminate_on_adult(run, m, method):
    X, y = load("adult")
    selector = DTsbeSelector(
        run.tree(m), method=method, time_limit=run.time_limit, random_state=0
    ).fit(X, y)
    seconds = selector.search_stats_["seconds"]
    return seconds, 100.0 * selector.error_, 100.0 * selector.history_[0]["error"]


def figure_6(run):
    """Seconds and estimated errors of acceptable subsets."""
    accepted = run.map(accept_on_adult, *DELTAS)
    full = run.map(eliminate_on_adult, "dtsbe")["dtsbe"]
    figure, (seconds, errors) = new_axes(["Adult, seconds", "Adult, estimated error"])
    name = {delta: f"DTaccept_{delta:g}" for delta in DELTAS}
    draw_lines(seconds, run, {name[d]: [v[0] for v in accepted[d]] for d in DELTAS}, "seconds")
    lines = {"all features": [values[2] for values in full]}
    lines |= {name[d]: [v[1] for v in accepted[d]] for d in DELTAS}
    draw_lines(errors, run, lines, "estimated error, percent")
    for delta in DELTAS:
        print(f"  {name[delta]:26}", *(f"{status:>11}" for _, _, status in accepted[delta]))
    return figure


def figure_7(run):
    """Seconds and estimated errors of backward elimination."""
    found = run.map(eliminate_on_adult, "sbe", "dtsbe")
    best = run.map(accept_on_adult, 0.0)[0.0]
    figure, (seconds, errors) = new_axes(["Adult, seconds", "Adult, estimated error"])
    lines = {"SBE": [v[0] for v in found["sbe"]], "DTsbe": [v[0] for v in found["dtsbe"]]}
    draw_lines(seconds, run, lines, "seconds")
    print("  ratio" + " " * 21 + "".join(f"{b / a:12.3f}" for a, b in zip(*lines.values())))
    assert [v[1] for v in found["sbe"]] == [v[1] for v in found["dtsbe"]]
    lines = {"SBE, DTsbe": [v[1] for v in found["dtsbe"]], "DTaccept_0": [v[1] for v in best]}
    draw_lines(errors, run, lines, "estimated error, percent")
    return figure


def enumerate_set(run, m, name):
    X, y = load(paper.DATASETS[name])
    enumerator = DistinctTreeEnumerator(run.tree(m), method="dtdistinct", time_limit=run.time_limit)
    return tables.quietly(enumerator.fit, X, y)


def errors_by_m(run, name, methods):
    """Mean generalization errors over m by method."""
    lines = {method: [] for method in methods}
    for m in run.leaf_weights:
        settings = Settings(run.tree(m), time_limit=run.time_limit)
        outcomes = tables.fold_outcomes(
            name, methods, settings, run.n_repeats, run.n_folds, run.n_jobs
        )
        for method in methods:
            lines[method].append(tables.values_of(outcomes[method], "error").mean())
    return lines


def figure_8(run):
    """Overhead of DTdistinct on smaller sets, and generalization errors over m."""
    figure, axes = new_axes(
        ["overhead", "Ionosphere, errors", "Adult, errors", "Adult, errors by delta"]
    )
    found = run.map(enumerate_set, *SMALL_SETS)
    for name, values in found.items():
        print(f"{name:12}", *(f"{e.n_distinct_} {e.status_}" for e in values), sep="  ")
    draw_lines(
        axes[0], run, {n: [e.overhead_ for e in found[n]] for n in found}, "built / distinct"
    )
    lines = errors_by_m(run, "Ionosphere", tables.TREES)
    draw_lines(axes[1], run, lines, "Ionosphere, error")
    lines = errors_by_m(run, "Adult", (*tables.TREES, "DTaccept_0.02", "DTaccept_0.04"))
    draw_lines(axes[2], run, {n: lines[n] for n in tables.TREES}, "Adult, error")
    by_delta = {n: values for n, values in lines.items() if n != "DTsbe"}
    draw_lines(axes[3], run, by_delta, "Adult, error by delta")
    return figure


FIGURES = {4: figure_4, 5: figure_5, 6: figure_6, 7: figure_7, 8: figure_8}
