"""Times of the searches over feature subsets, side by side in one run.

    python benchmarks/bench_subset.py --sets sonar ionosphere spambase
    python benchmarks/bench_subset.py --sets sonar --sequential --complete 60

Each line: DTsbe, and the black box on the same kernel, whose steps are the same; both without
reading the table. `--sequential` adds scikit-learn's SequentialFeatureSelector with the same search
rows; `--complete` the proof of a best subset within so many seconds.
"""

import argparse
import time
import warnings

import numpy as np

from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.subset import AcceptableSubsetSelector, DTsbeSelector
from uci import load, require_data

PAPER_RATIO = {
    "adult": 0.510,
    "letter": 0.567,
    "hypothyroid": 0.283,
    "ionosphere": 0.109,
    "soybean": 0.281,
    "kr_vs_kp": 0.272,
    "anneal_na_as_value": 0.152,
    "census_income_kdd": 0.297,
    "spambase": 0.144,
    "sonar": 0.031,
    "clean1": 0.006,
}
LEARNER = GreedyTreeClassifier(min_samples_leaf=2, numeric_gain_penalty=True)


def fit_seconds(selector, X, y):
    start = time.perf_counter()
    selector.fit(X, y)
    return time.perf_counter() - start


def search_split(y, random_state):
    rows = np.random.RandomState(random_state).permutation(len(y))
    n_search = round(0.3 * len(y))
    return [(np.sort(rows[n_search:]), np.sort(rows[:n_search]))]


def time_sequential(X, y, split):
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.tree import DecisionTreeClassifier

    selector = SequentialFeatureSelector(
        DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0),
        direction="backward",
        n_features_to_select="auto",
        tol=0.0,
        cv=split,
    )
    return fit_seconds(selector, X, y)


def run(name, arguments):
    X, y = load(name)
    split = search_split(y, arguments.random_state)
    options = {"cv": split, "n_jobs": arguments.n_jobs}
    fast, slow = DTsbeSelector(LEARNER, **options), DTsbeSelector(LEARNER, method="sbe", **options)
    seconds = min(fast.fit(X, y).search_stats_["seconds"] for _ in range(3))
    line = f"{name:20s} DTsbe {seconds:9.4f} s  error {fast.error_:.4f}"
    line += f"  {fast.n_features_:3d} features"
    if not arguments.skip_sbe:
        of_sbe = slow.fit(X, y).search_stats_["seconds"]
        assert (fast.support_ == slow.support_).all()
        line += (
            f"  SBE {of_sbe:9.3f} s  ratio {seconds / of_sbe:.4f} (paper {PAPER_RATIO.get(name)})"
        )
    if arguments.sequential:
        line += f"  SequentialFeatureSelector {time_sequential(X, y, split):9.2f} s"
    if arguments.complete:
        best = AcceptableSubsetSelector(LEARNER, time_limit=arguments.complete, **options)
        of_best = fit_seconds(best, X, y)
        line += (
            f"  best {of_best:9.2f} s  error {best.error_:.4f}  gap {best.gap_:.4f} {best.status_}"
        )
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sets", nargs="+", default=[n for n in PAPER_RATIO if "census" not in n])
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--random-state", type=int, default=0)
    parser.add_argument("--skip-sbe", action="store_true")
    parser.add_argument("--sequential", action="store_true")
    parser.add_argument("--complete", type=float, default=0.0)
    arguments = parser.parse_args()
    require_data()
    warnings.simplefilter("ignore")
    for name in arguments.sets:
        run(name, arguments)


if __name__ == "__main__":
    main()
