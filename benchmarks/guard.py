"""Speed and peak memory of the working copy against an earlier commit, by groups of fits.

    python benchmarks/guard.py                       # builds 1faffcb in a temporary folder
    python benchmarks/guard.py --base-folder ../base # a checkout that is built already
    python benchmarks/guard.py --quick --groups "binary depth 4" DTsbe

Both versions run in a process of their own, and each fit in a fork of that process. The versions
take turns fit by fit, so that a busy machine slows both. Time is process CPU time, the best of
several runs. Memory is how far a fit raises the peak of its process.

The table shows for each group the geometric mean of the ratios (above 1: the working copy is
faster) and the sum of the peaks. The exit code is 1 if a group is slower than 0.95 of before, needs
more memory than before, or if the two versions give different answers.

Tables come from SKTREE_OPT_DATA. Without that folder they are generated.
"""

import argparse
import contextlib
import inspect
import json
import math
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
BASE = "1faffcb"
SLOWEST = 0.95  # a group's ratio must not be below
# Peaks differ a little from run to run.
MEMORY_RATIO, MEMORY_SLACK = 1.05, 1.0  # factor, MiB for each fit
SECONDS_OF_REPEATS = {True: 0.1, False: 0.4}  # of one visit to a short fit, quick or not
MOST_REPEATS = 30
ROUNDS = {True: 2, False: 5}
N_PREDICTED = 200_000
# Whether glibc gives freed memory back after a fit depends on the last small block on its heap. A
# fit of a few milliseconds that gets new pages takes a fifth longer, so both versions keep theirs.
SETTINGS = {
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
}

# Sets by task: the first ones of a group run in the quick form, too.
GROUPS = {
    "binary depth 4": (
        ("binary", "optimal", {"max_depth": 4}),
        ("HTRU_2", "german-credit", "pendigits", "yeast", "ionosphere", "spambase", "splice-1"),
    ),
    "binary depth 5": (
        ("binary", "optimal", {"max_depth": 5}),
        ("anneal", "kr-vs-kp", "HTRU_2", "yeast", "diabetes", "hypothyroid", "german-credit"),
    ),
    "complexity cost": (
        ("binary", "optimal", {"max_depth": 5, "complexity_cost": 0.005}),
        ("anneal", "lymph", "mushroom", "yeast", "diabetes", "heart-cleveland", "german-credit"),
    ),
    "0/1 regression": (
        ("regression", "optimal regressor", {"max_depth": 4}),
        ("HTRU_2", "diabetes", "german-credit", "yeast", "appendicitis", "segment", "spambase"),
    ),
    "continuous depth 2": (
        ("continuous", "optimal", {"max_depth": 2}),
        ("fault", "page", "rice", "segment", "room", "wilt"),
    ),
    "continuous depth 3": (
        ("continuous", "optimal", {"max_depth": 3}),
        ("raisin", "wilt", "page", "room", "segment", "rice"),
    ),
    "raw regression": (
        ("raw-regression", "optimal regressor", {"max_depth": 4}),
        ("page", "room", "rice", "wilt", "fault", "segment"),
    ),
    "DTsbe": (
        ("uci", "DTsbe", {}),
        ("spambase", "letter", "clean1", "hypothyroid", "madelon", "adult"),
    ),
    "complete subset search": (
        ("uci", "complete", {}),
        ("ionosphere", "anneal", "sonar"),
    ),
    "greedy fit": (
        ("uci", "greedy fit", {}),
        ("adult", "letter", "spambase", "soybean", "madelon"),
    ),
    "greedy predict": (
        ("uci", "greedy predict", {}),
        ("adult", "letter", "spambase", "soybean", "madelon"),
    ),
}
N_QUICK = 3


# --- Tables -------------------------------------------------------------------------------------


def generated(task, number):
    """A random table for a task, used without a folder of real ones."""
    import pandas as pd

    rng = np.random.default_rng(number)
    n_rows, n_columns = (1500, 3000, 600)[number % 3], (24, 16, 40)[number % 3]
    numbers = rng.normal(size=(n_rows, n_columns)).round(3)
    hidden = (numbers[:, 0] > 0) ^ (numbers[:, 1] + numbers[:, 2] > 0.4)
    y = (hidden ^ (rng.random(n_rows) < 0.1)).astype(np.int64)
    if task in ("binary", "regression"):
        X = (numbers > 0.3).astype(np.uint8)
        return (X, y) if task == "binary" else (X, y + rng.normal(size=n_rows))
    if task == "continuous":
        return numbers[:, :6], y
    if task == "raw-regression":
        return np.floor(3 * numbers[:, 1:7]), numbers[:, 0] + y
    X = pd.DataFrame(numbers[:, :12], columns=[f"x{j}" for j in range(12)])
    X["kind"] = pd.Categorical(rng.choice(list("abcd"), n_rows))
    return X, y


def has_data():
    """Whether there is a folder of real tables."""
    import bench_optimal

    return (bench_optimal.DATA / "binary").is_dir()


def load(task, name, number):
    """Columns and target of a set."""
    import bench_continuous
    import bench_optimal
    import uci

    if not has_data():
        return generated(task, number)
    if task == "uci":
        return uci.load(name)
    if task == "continuous":
        return bench_continuous.load(bench_optimal.DATA / "continuous" / f"{name}.txt.gz")
    return bench_optimal.load(name, "error" if task == "binary" else task)


def save_tables(cases, folder):
    """Every table that the cases need, as a file that workers read."""
    for number, (task, name) in enumerate(sorted({(case[1][0], case[2]) for case in cases})):
        with (folder / f"{task} {name}.pickle").open("wb") as file:
            pickle.dump(load(task, name, number), file)


# --- One fit, in the version that PYTHONPATH names ----------------------------------------------


def public(name):
    """An estimator, wherever the version keeps it."""
    import importlib

    for module in ("sktree_opt", "sktree_opt.optimal", "sktree_opt.subset", "sktree_opt.greedy"):
        with contextlib.suppress(AttributeError):
            return getattr(importlib.import_module(module), name)
    raise LookupError(name)


def make(name, *arguments, **parameters):
    """An estimator without limits of time; parameters that the version lacks are an error."""
    known = inspect.signature(public(name)).parameters
    if "time_limit" in known:
        parameters["time_limit"] = None
    if "min_weight_branch" not in known and "min_weight_branch" in parameters:
        # C4.5's minimum weight of two branches had other names.
        older = "min_weight_leaf" if "min_weight_leaf" in known else "min_samples_leaf"
        parameters[older] = parameters.pop("min_weight_branch")
    return public(name)(*arguments, **parameters)


def job_of(kind, settings, X, y):
    """(a function to time, a function that gives the answer) of a case."""
    if kind.startswith("optimal"):
        is_classifier = kind == "optimal"
        name = "OptimalTreeClassifier" if is_classifier else "OptimalTreeRegressor"
        tree = make(name, **settings)

        def loss():
            wrong = tree.predict(X) - y
            total = float((wrong != 0).sum() if is_classifier else (wrong**2).sum())
            n_tests = len(np.unique(tree.apply(X))) - 1
            return total + settings.get("complexity_cost", 0.0) * len(y) * n_tests

        return lambda: tree.fit(X, y), loss
    if kind.startswith("greedy"):
        tree = make("GreedyTreeClassifier")
        if kind == "greedy fit":
            return lambda: tree.fit(X, y), lambda: float((tree.predict(X) != y).sum())
        tree.fit(X, y)
        rows = np.random.default_rng(0).integers(len(y), size=N_PREDICTED)
        many = X.iloc[rows]
        return lambda: tree.predict(many), lambda: float((tree.predict(many) != y[rows]).sum())
    learner = make("GreedyTreeClassifier", min_weight_branch=2, numeric_gain_penalty=True)
    name = "DTsbeSelector" if kind == "DTsbe" else "AcceptableSubsetSelector"
    selector = make(name, learner, random_state=0)
    return lambda: selector.fit(X, y), lambda: float(selector.error_)


def peak_megabytes():
    """Peak resident memory of this process; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    lines = status.read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def measure(case, folder, seconds_of_repeats, pipe):
    """In a fork: CPU seconds of the fastest repeat, peak memory and the answer."""
    _, (task, kind, settings), name = case
    with (folder / f"{task} {name}.pickle").open("rb") as file:
        X, y = pickle.load(file)
    # The first call loads code and starts threads, so it is not timed.
    small = np.random.default_rng(0).permutation(len(y))[:60]
    few = X.iloc[small] if task == "uci" else X[small]
    job_of(kind, settings and settings | {"max_depth": 2}, few, y[small])[0]()
    job, answer = job_of(kind, settings, X, y)
    before, best, spent, n_runs = peak_megabytes(), math.inf, 0.0, 0
    while n_runs == 0 or (spent + best < seconds_of_repeats and n_runs < MOST_REPEATS):
        start = time.process_time()
        job()
        seconds = time.process_time() - start
        best, spent, n_runs = min(best, seconds), spent + seconds, n_runs + 1
    memory = peak_megabytes() - before
    pipe.send({"seconds": best, "megabytes": memory, "answer": answer()})


def serve(folder, seconds_of_repeats):
    """Read cases from the standard input, one a line, and write what they took."""
    import pandas  # noqa: F401

    for name in ("OptimalTreeClassifier", "OptimalTreeRegressor", "GreedyTreeClassifier"):
        public(name)
    for name in ("DTsbeSelector", "AcceptableSubsetSelector"):
        public(name)
    module = sys.modules["sktree_opt"]
    print(json.dumps(str(Path(module.__file__).parents[1])), flush=True)
    warnings.simplefilter("ignore")
    context = multiprocessing.get_context("fork")
    for line in sys.stdin:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(
            target=measure, args=(json.loads(line), folder, seconds_of_repeats, sender)
        )
        process.start()
        sender.close()
        try:
            print(json.dumps(receiver.recv()), flush=True)
        except EOFError:
            print(json.dumps(None), flush=True)
        process.join()


# --- The comparison -----------------------------------------------------------------------------


class Version:
    """A process that measures cases with one version of the package."""

    def __init__(self, checkout, tables, seconds_of_repeats):
        command = [sys.executable, __file__, "--serve", str(tables), str(seconds_of_repeats)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=tables,
            env=os.environ | SETTINGS | {"PYTHONPATH": str(checkout)},
        )
        found = Path(self.read())
        if found != Path(checkout).resolve():
            raise RuntimeError(f"{checkout}: imported {found}; is it built?")

    def read(self):
        """The next answer."""
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the process that measures has ended")
        return json.loads(line)

    def measure(self, case):
        """Measure a case; an error if it fails."""
        print(json.dumps(case), file=self.process.stdin, flush=True)
        found = self.read()
        if found is None:
            raise RuntimeError(f"{case} failed")
        return found

    def close(self):
        """End the process."""
        self.process.stdin.close()
        self.process.wait()


def better(best, found):
    """The least seconds and memory of all runs of a case."""
    if best is None:
        return found
    return {key: min(best[key], found[key]) for key in ("seconds", "megabytes")} | {
        "answer": found["answer"]
    }


def compare(versions, cases, n_rounds):
    """Measure each case with each version: the best of some rounds, in turns."""
    best = {}
    for number in range(n_rounds):
        for case in cases:
            order = list(versions) if number % 2 == 0 else list(versions)[::-1]
            for which in order:
                key = case[0], case[2], which
                best[key] = better(best.get(key), versions[which].measure(case))
    return best


def judge(group, best):
    """Print a group's line; whether it is as fast and as small as before."""
    names = [name for title, name, which in best if title == group and which == "base"]
    pairs = [(best[group, name, "base"], best[group, name, "head"]) for name in names]
    ratios = [base["seconds"] / head["seconds"] for base, head in pairs]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    seconds, memory = (
        [sum(pair[i][key] for pair in pairs) for i in (0, 1)] for key in ("seconds", "megabytes")
    )
    different = [
        name
        for name, (base, head) in zip(names, pairs, strict=True)
        if not math.isclose(base["answer"], head["answer"], rel_tol=1e-6, abs_tol=1e-9)
    ]
    worst = int(np.argmin(ratios))
    line = f"{group:24s}{seconds[0]:9.3f}{seconds[1]:9.3f}{mean:8.2f}{ratios[worst]:8.2f} "
    line += f"{names[worst]:16s}{memory[0]:9.1f}{memory[1]:9.1f}"
    faults = ["slower"] if mean < SLOWEST else []
    if memory[1] > MEMORY_RATIO * memory[0] + MEMORY_SLACK * len(names):
        faults.append("more memory")
    faults += [f"different answer: {name}" for name in different]
    print(line + "  " + ", ".join(faults), flush=True)
    return not faults


@contextlib.contextmanager
def built(commit):
    """A checkout of a commit, built, for a while."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder, "base")
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", "--quiet", str(checkout), commit], check=True)
        try:
            print(f"building {commit}", flush=True)
            command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
            subprocess.run(command, cwd=checkout, check=True, stdout=subprocess.DEVNULL)
            yield checkout
        finally:
            subprocess.run([*git, "remove", "--force", str(checkout)], check=True)


def main():
    """Parse the command line; compare, or measure as a worker."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", default=BASE, help="commit to compare with")
    parser.add_argument("--base-folder", type=Path, help="a built checkout, in place of --base")
    parser.add_argument("--head-folder", type=Path, default=ROOT, help="a built checkout")
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--quick", action="store_true", help="three sets a group, two rounds")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(Path(options.serve[0]), float(options.serve[1]))
        return
    cases = [
        (group, GROUPS[group][0], name)
        for group in options.groups
        for name in GROUPS[group][1][: N_QUICK if options.quick else None]
    ]
    with contextlib.ExitStack() as stack:
        base = options.base_folder or stack.enter_context(built(options.base))
        tables = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        save_tables(cases, tables)
        if not has_data():
            print("generated tables: SKTREE_OPT_DATA names no folder of real ones", flush=True)
        versions = {}
        for which, folder in (("base", base), ("head", options.head_folder)):
            seconds = SECONDS_OF_REPEATS[options.quick]
            versions[which] = Version(folder.resolve(), tables, seconds)
            stack.callback(versions[which].close)
        print(f"{'group':24s}{'base s':>9s}{'head s':>9s}{'ratio':>8s}{'worst':>8s} ", end="")
        print(f"{'of':16s}{'base MB':>9s}{'head MB':>9s}", flush=True)
        n_rounds, fine = options.rounds or ROUNDS[options.quick], []
        for group in options.groups:
            of_group = [case for case in cases if case[0] == group]
            fine.append(judge(group, compare(versions, of_group, n_rounds)))
    sys.exit(not all(fine))


if __name__ == "__main__":
    main()
