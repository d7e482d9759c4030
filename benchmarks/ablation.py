"""Measures each technique of the searches: switches it off and runs the same fit again.

    python benchmarks/ablation.py --quick
    python benchmarks/ablation.py --write        # the table of doc/developers/ablation.rst
    python benchmarks/ablation.py --groups "bits, classes" --switches cache look_ahead

Every private switch of every engine is a row of the table. A switch has groups, and a group has
workloads: fits of public estimators on data sets that are known from the literature. Plain and
changed fits take turns, each in a fork of its own. The gain of a technique on a workload is the CPU
time of the fit without it, divided by that of the plain fit. A fit without it is ended when it
takes ``LONGEST`` times as long; then the gain is marked as a lower bound.

Every fit must give the same answer as the plain one: a cell that does not is marked DIFFERENT, and
the exit code is 1.
"""

import argparse
import csv
import importlib
import math
import multiprocessing
import os
import pkgutil
import resource
import statistics
import sys
import time
import warnings
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

import guard
import sktree_opt
from sktree_opt.optimal.run import _plan

TABLE = Path(__file__).resolve().parents[1] / "doc" / "developers" / "ablation.csv"
LONGEST = 10.0  # times as long as the plain fit
SECONDS_OF_REPEATS = {True: 0.03, False: 0.1}  # quick or not
ROUNDS = {True: 1, False: 3}
N_WARM = 80  # rows of the fit that brings in the code
N_QUICK = 3  # workloads of a group


# --- Workloads ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Workload:
    """One fit: a kind of estimator, a task of tables, a data set and parameters."""

    kind: str
    task: str
    name: str
    settings: dict = field(default_factory=dict, hash=False)
    n_columns: int | None = None  # drawn at random; None: all
    step: int = 1  # every so many rows

    @property
    def title(self):
        """Data set and parameters, for the table."""
        words = [self.name, *map(str, self.settings.values())]
        if self.n_columns is not None:
            words.append(f"{self.n_columns} columns")
        if self.step > 1:
            words.append(f"1/{self.step} of the rows")
        return " ".join(words)


def workloads(kind, task, names, **settings):
    """Workloads that differ in the data set."""
    return [Workload(kind, task, name, settings) for name in names.split()]


# The first three of a group run in the quick form, too.
GROUPS = {
    "bits, classes": [
        *workloads("optimal", "binary", "german-credit", max_depth=4),
        *workloads("optimal", "binary", "anneal", max_depth=5),
        *workloads("optimal", "binary", "yeast", max_depth=5, complexity_cost=0.005),
        *workloads("optimal", "binary", "HTRU_2 ionosphere spambase", max_depth=4),
        *workloads("optimal", "binary", "hypothyroid diabetes kr-vs-kp vote", max_depth=5),
        *workloads("optimal", "binary", "mushroom lymph", max_depth=5, complexity_cost=0.005),
        *workloads("optimal", "binary", "cleve", max_depth=6, complexity_cost=0.03),
        *workloads("optimal", "binary", "vote lymph", max_depth=None, complexity_cost=0.02),
        *workloads("optimal", "binary", "tic-tac-toe", max_depth=None, complexity_cost=0.02),
    ],
    "bits, targets": [
        *workloads("optimal regressor", "regression", "diabetes yeast HTRU_2", max_depth=4),
        *workloads("optimal regressor", "regression", "german-credit kr-vs-kp", max_depth=4),
        *workloads("optimal regressor", "regression", "mushroom pendigits", max_depth=3),
    ],
    "thresholds, classes": [
        *workloads("optimal", "continuous", "wilt raisin room", max_depth=3),
        *workloads("optimal", "continuous", "bank page segment", max_depth=3),
        *workloads("weighted", "continuous", "room raisin", max_depth=3),
        *workloads("thresholds", "uci", "letter spambase", max_depth=2),
    ],
    "thresholds, categories": [
        Workload("thresholds", "uci", "anneal", {"max_depth": 3}),
        Workload("thresholds", "uci", "soybean", {"max_depth": 3}),
        Workload("thresholds", "uci", "hypothyroid", {"max_depth": 3}),
        Workload("thresholds", "uci", "adult", {"max_depth": 3}, step=4),
        Workload("thresholds", "uci", "census_income_kdd", {"max_depth": 2}, step=10),
    ],
    "thresholds, targets": [
        *workloads("optimal regressor", "raw-regression", "page room wilt", max_depth=4),
        *workloads("optimal regressor", "raw-regression", "fault segment", max_depth=3),
        *workloads("optimal regressor", "real-regression", "page fault", max_depth=2),
        *workloads("optimal regressor", "real-regression", "raisin bank", max_depth=3),
        *workloads("optimal regressor", "real-regression", "raisin", max_depth=3, max_leaf_nodes=4),
        *workloads("optimal regressor", "raw-regression", "room", max_depth=3, min_samples_leaf=20),
    ],
    "tree sets, fronts": [
        *workloads("metric", "binary", "lymph diabetes", max_depth=3),
        *workloads("metric", "binary", "vote tic-tac-toe breast-wisconsin", max_depth=4),
    ],
    "tree sets, two sums": workloads(
        "fair", "binary", "vote lymph tic-tac-toe diabetes breast-wisconsin", max_depth=3
    ),
    "tree sets, graphs": [
        *workloads("k best", "binary", "lymph diabetes", max_depth=3),
        *workloads("k best", "binary", "vote tic-tac-toe breast-wisconsin", max_depth=4),
    ],
    "backward elimination": workloads(
        "DTsbe",
        "uci",
        "ionosphere spambase hypothyroid letter clean1 adult madelon soybean dexter_labelled600",
    ),
    "best subset": [
        *workloads("complete", "uci", "ionosphere sonar anneal"),
        Workload("complete", "uci", "soybean", n_columns=18),
        Workload("complete", "uci", "hypothyroid", n_columns=14),
        Workload("complete", "uci", "kr_vs_kp", n_columns=14),
        Workload("complete", "uci", "spambase", n_columns=12),
        Workload("complete", "uci", "adult", step=20),
    ],
    "greedy": workloads("greedy fit", "uci", "letter spambase adult madelon"),
}


# --- Switches -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Switch:
    """A technique: what it is, the groups it matters in, and how it is switched off."""

    name: str
    meaning: str
    groups: tuple
    patch: object = field(hash=False)


def modules():
    """Every module of the package."""
    for found in pkgutil.walk_packages(sktree_opt.__path__, "sktree_opt."):
        importlib.import_module(found.name)
    return [module for name, module in sys.modules.items() if name.startswith("sktree_opt")]


def force(name, **forced):
    """Make every module that uses the class `name` call it with some keyword arguments."""
    n_found = 0
    for module in modules():
        found = getattr(module, name, None)
        if isinstance(found, type):
            n_found += 1
            setattr(module, name, partial(call_with, found, forced))
    if n_found == 0:
        raise LookupError(f"no module has a class {name}")


def call_with(function, forced, *arguments, **parameters):
    """Call a function with keyword arguments that the caller cannot change."""
    return function(*arguments, **{**parameters, **forced})


def do_without(*names):
    """Let all fits of this process do without some techniques of the engine that answers."""
    _plan._chosen.set((None, names))


def switched(groups, **meanings):
    """Techniques that an engine can do without (see ``run._plan.use_engine``)."""
    return [
        Switch(name, meaning, groups, partial(do_without, name))
        for name, meaning in meanings.items()
    ]


def replaced(engine, groups, name, meaning, **forced):
    """A switch that is an argument of its own."""
    return Switch(name, meaning, groups, partial(force, engine, **forced))


BITS = ("bits, classes", "bits, targets")
THRESHOLDS = ("thresholds, classes", "thresholds, categories", "thresholds, targets")
# Choice of the kernels for a processor: this one has all of them that are better.
KERNELS = (*BITS, *THRESHOLDS)
SUBSETS = ("backward elimination", "best subset")
BEST = ("best subset",)
SWITCHES = [
    *switched(
        BITS,
        merge_rows="equal rows are one row",
        merge_columns="equal columns are one column",
        merge_node_columns="and again on the rows of a node that has fewer rows than columns",
        similarity="bound from a node of similar rows",
        size="bound from smaller limits of size",
        inheritance="bounds of a parent hold for its children, less the rows that left",
        removal="bounds of shallower trees, less the rows that leave",
        cache="cache of bounds",
        small_cache="cache of nodes of two levels",
        look_ahead="iterative deepening, and columns in the order it gives",
        dynamic_order="the child with the larger bound first",
        subtraction="the larger child's counts by subtraction",
        side_bounds="bounds of both children before either is searched",
    ),
    *switched(
        ("bits, classes",),
        narrow_lanes="16 bits for each count, where all counts fit",
        signed_counts="counts of two classes stay in registers, with their sign",
        any_depth="trees of all depths at once, where each test has a cost",
    ),
    *switched(
        ("bits, targets",),
        rough_sweeps="sums of targets in whole numbers and single precision first",
    ),
    *switched(
        THRESHOLDS,
        intervals="bounds between two solved thresholds",
        column_bounds="bounds of columns, inherited by neighbouring nodes",
        caps="a sub-problem ends at the cost that excludes it",
        pure_runs="no tests between neighbours of one class",
        equal_rows="one row for equal rows, or their bound at the root",
    ),
    *switched(
        ("thresholds, classes", "thresholds, categories"),
        two_classes="two classes need one signed sum",
        narrow_lanes="16 bits for each sum, where all sums fit",
    ),
    *switched(
        ("thresholds, categories",),
        categories="the bound of a nominal column",
    ),
    *switched(
        ("thresholds, targets",),
        leaf_groups="the bound of few leaves, at the root",
        value_sweep="tables of pairs of values, where columns have few",
    ),
    *(
        replaced(engine, (f"tree sets, {group}",), name, meaning, **{name: False})
        for engine, group, name, meaning in (
            ("ParetoSearch", "fronts", "use_cache", "fronts are kept for rows that come back"),
            ("ParetoSearch", "fronts", "use_bounds", "dominated points are dropped at once"),
            ("SumSearch", "two sums", "use_cache", "points are kept for rows that come back"),
            ("SumSearch", "two sums", "use_bounds", "least sums of other parts bound a part"),
        )
    ),
    *(
        Switch(
            f"SKTREE_OPT_SIMD={name}",
            meaning,
            groups,
            partial(os.environ.__setitem__, "SKTREE_OPT_SIMD", name),
        )
        for name, groups, meaning in (
            ("portable", KERNELS, "kernels for instruction sets with vectors"),
            ("avx2", KERNELS, "kernels for AVX-512"),
            ("avx512", BITS, "kernels for AVX-512 BITALG"),
        )
    ),
    replaced(
        "BackwardStream",
        ("backward elimination",),
        "gives_up",
        "a trial ends where it costs too much",
        gives_up=False,
    ),
    replaced("SubsetProblem", SUBSETS, "order_index", "columns sorted once", order_index=None),
    replaced(
        "SubsetProblem",
        SUBSETS,
        "merge_equal",
        "only rows of rare values are looked up",
        merge_equal=(-1.0, 1 << 30),
    ),
    replaced("SubsetProblem", SUBSETS, "reads_cuts", "cuts of two classes", reads_cuts=False),
    replaced(
        "SubsetProblem",
        SUBSETS,
        "order_index, merge_equal and reads_cuts",
        "all of these",
        order_index=None,
        merge_equal=(-1.0, 1 << 30),
        reads_cuts=False,
    ),
    *(
        replaced("OnDemandStream", BEST, name, meaning, **{name: False})
        for name, meaning in (
            ("looks_ahead", "an open node costs what its next split leaves"),
            ("cuts_short", "bounds end where they suffice"),
            ("leaves_out", "features that are out are not rated"),
        )
    ),
    replaced(
        "Induction",
        ("greedy",),
        "max_block_cases",
        "each column sorted once for a subtree",
        max_block_cases=0,
    ),
]


# --- Measuring ----------------------------------------------------------------------------------


def load(workload, number):
    """Columns and target."""
    if workload.task == "real-regression":
        X, _ = guard.load("continuous", workload.name, number)
        return X[:, 1:], (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    X, y = guard.load(workload.task, workload.name, number)
    if workload.n_columns is not None:
        chosen = np.random.default_rng(0).permutation(X.shape[1])[: workload.n_columns]
        X = X.iloc[:, np.sort(chosen)]
    return X[:: workload.step], y[:: workload.step]


def job_of(workload, X, y):
    """(a function to time, a function that gives the answer)."""
    if workload.kind == "metric":
        tree = guard.make("OptimalTreeClassifier", objective="f1", **workload.settings)
    elif workload.kind == "k best":
        tree = guard.make("TreeSetClassifier", n_trees=50, **workload.settings)
        return lambda: tree.fit(X, y), lambda: float(sum(tree.tree_objectives_))
    elif workload.kind == "fair":
        tree = guard.make("FairTreeClassifier", max_difference=0.02, **workload.settings)
        groups = X[:, 0]
        return lambda: tree.fit(X, y, sensitive_features=groups), lambda: float(tree.objective_)
    elif workload.kind == "thresholds":
        tree = guard.make("OptimalTreeClassifier", **workload.settings)

        def fit_by_ranks():
            with _plan.use_engine("thresholds", off=_plan._chosen.get()[1]):
                tree.fit(X, y)

        return fit_by_ranks, lambda: float(tree.objective_)
    elif workload.kind == "weighted":
        tree = guard.make("OptimalTreeClassifier", **workload.settings)
        weights = np.random.default_rng(0).random(len(y))
        return lambda: tree.fit(X, y, sample_weight=weights), lambda: float(tree.objective_)
    elif workload.kind == "optimal" and workload.task == "uci":
        # Predictions for categories are compared by the objective.
        tree = guard.make("OptimalTreeClassifier", **workload.settings)
    else:
        return guard.job_of(workload.kind, workload.settings, X, y)
    return lambda: tree.fit(X, y), lambda: float(tree.objective_)


def fit(workload, table, patch, seconds_of_repeats, limit, pipe):
    """In a fork: CPU seconds of the fastest repeat, and the answer."""
    if math.isfinite(limit):
        seconds = math.ceil(limit + 1.0)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    warnings.simplefilter("ignore")
    if patch is not None:
        patch()
    job, answer = job_of(workload, *table)
    best, spent = math.inf, 0.0
    while math.isinf(best) or spent + best < seconds_of_repeats:
        # The limit makes the clock of the process a coarse one on Linux. All fits have one thread.
        start = time.thread_time()
        job()
        seconds = time.thread_time() - start
        best, spent = min(best, seconds), spent + seconds
    pipe.send((best, answer()))


def run(workload, table, patch, seconds_of_repeats, limit=math.inf):
    """(seconds, answer) of a fit in a process of its own; None if the limit ended it.

    The system ends a process at the limit by a signal. An exit code above 0 is an error of ours.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(
        target=fit, args=(workload, table, patch, seconds_of_repeats, limit, sender)
    )
    process.start()
    sender.close()
    try:
        found = receiver.recv()
    except EOFError:
        found = None
    process.join()
    if process.exitcode > 0:
        raise RuntimeError(f"a fit of {workload} failed")
    return found


@dataclass
class Gain:
    """Of a switch on a workload."""

    switch: str
    group: str
    workload: str
    times: float
    is_bound: bool = False
    is_different: bool = False

    def __str__(self):
        mark = ">" if self.is_bound else ""
        return f"{mark}{self.times:.2f} ({self.workload})" + (" DIFFERENT" * self.is_different)


def warm_up(workload, X, y):
    """Fit a few rows here, so that forks find all code loaded."""
    few = np.random.default_rng(0).permutation(len(y))[:N_WARM]
    rows = X[few] if isinstance(X, np.ndarray) else X.iloc[few]
    warnings.simplefilter("ignore")
    job_of(workload, rows, y[few])[0]()


def gains_on(workload, table, group, switches, options):
    """The gains of all switches on one workload."""
    repeats = SECONDS_OF_REPEATS[options.quick]
    n_rounds = options.rounds or ROUNDS[options.quick]
    warm_up(workload, *table)
    plain, changed, late = run(workload, table, None, repeats), {}, set()
    if plain is None:
        raise RuntimeError(f"the plain fit of {workload} failed")
    for _ in range(n_rounds):
        again = run(workload, table, None, repeats)
        plain = min(plain[0], again[0]), plain[1]
        for switch in switches:
            if switch.name in late:
                continue
            found = run(workload, table, switch.patch, repeats, LONGEST * max(plain[0], 0.05))
            if found is None:
                late.add(switch.name)
            elif switch.name not in changed or found[0] < changed[switch.name][0]:
                changed[switch.name] = found
    gains = []
    for switch in switches:
        gain = Gain(switch.name, group, workload.title, LONGEST, is_bound=True)
        if switch.name in changed:
            seconds, answer = changed[switch.name]
            gain.times, gain.is_bound = seconds / plain[0], False
            gain.is_different = not math.isclose(answer, plain[1], rel_tol=1e-6, abs_tol=1e-9)
        gains.append(gain)
    return gains


def lines_of(gains):
    """A line of the table for each switch and group, in the order of SWITCHES."""
    for group in GROUPS:
        for switch in SWITCHES:
            own = sorted(
                (gain for gain in gains if (gain.switch, gain.group) == (switch.name, group)),
                key=lambda gain: gain.times,
            )
            if not own or group not in switch.groups:
                continue
            median = statistics.median(gain.times for gain in own)
            yield [
                group,
                switch.name,
                switch.meaning,
                f"{median:.2f}",
                str(own[-1]),
                str(own[0]),
            ]


HEADER = ["search", "switch", "technique", "median", "largest", "smallest"]


def show(lines):
    """Print some lines of the table."""
    for line in lines:
        group, name, _, *figures = line
        print(f"{group:22s}{name:42s}{figures[0]:>7s}  {figures[1]:40s} {figures[2]}", flush=True)


def write(lines, groups):
    """Replace the lines of some groups in the table of the documentation."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        kept = [line for line in list(csv.reader(file))[1:] if line[0] not in groups]
    order = list(GROUPS)
    lines = sorted([*kept, *lines], key=lambda line: order.index(line[0]))
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *lines])


def main():
    """Parse the command line; measure; print and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="three workloads a group, one round")
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--switches", nargs="+", metavar="NAME")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--workloads", type=int, help="of each group, the first ones")
    parser.add_argument(
        "--write", action="store_true", help=f"write {TABLE.name}, all switches of these groups"
    )
    options = parser.parse_args()
    modules()
    n_workloads = options.workloads or (N_QUICK if options.quick else None)
    show([HEADER])
    all_same = True
    for number, group in enumerate(options.groups):
        switches = [
            switch
            for switch in SWITCHES
            if group in switch.groups
            and (options.switches is None or switch.name in options.switches)
        ]
        gains = []
        for workload in GROUPS[group][:n_workloads] if switches else ():
            gains += gains_on(workload, load(workload, number), group, switches, options)
            print(f"{group}: {workload.title}", file=sys.stderr, flush=True)
        lines = list(lines_of(gains))
        show(lines)
        # Group by group: a long run that is ended goes on with the others.
        if options.write:
            write(lines, [group])
        all_same &= not any(gain.is_different for gain in gains)
    sys.exit(not all_same)


if __name__ == "__main__":
    main()
