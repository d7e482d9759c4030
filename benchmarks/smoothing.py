"""When smoothed probabilities of leaves help: log loss and Brier score on rows left out.

    python benchmarks/smoothing.py --csv doc/benchmarks/smoothing.csv
    python benchmarks/smoothing.py --quick

Optimal and greedy trees on the 18 classification sets of ``generalisation.py``, 5 folds each. Each
tree is fitted once; its probabilities are then smoothed in several ways:

plain
    class frequencies of the leaf
laplace
    ``leaf_smoothing="laplace"``: one row more of each class
m=2
    ``leaf_smoothing=2.0``: two rows more with the class frequencies of the training rows
shrunk
    ``hierarchical_shrinkage=10.0``

Optimal trees have the depth of ``--depth`` (3), greedy ones are grown without pruning. Log losses
are in nats, with probabilities of at least 1e-6; Brier scores are sums over classes.
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split

from generalisation import CONTINUOUS, QUICK, UCI, load_set
from sktree_opt import GreedyTreeClassifier, OptimalTreeClassifier
from uci import require_data

WAYS = {
    "plain": {},
    "laplace": {"leaf_smoothing": "laplace"},
    "m=2": {"leaf_smoothing": 2.0},
    "shrunk": {"hierarchical_shrinkage": 10.0},
}
PLAIN = {"leaf_smoothing": None, "hierarchical_shrinkage": 0.0}


def scores_of(tree, X, y):
    """Log loss and Brier score of each way to smooth a fitted tree."""
    found = {}
    for way, chosen in WAYS.items():
        proba = tree.set_params(**{**PLAIN, **chosen}).predict_proba(X)
        truth = (y[:, np.newaxis] == tree.classes_).astype(float)
        of_truth = np.maximum(1e-6, (proba * truth).sum(axis=1))
        brier = ((proba - truth) ** 2).sum(axis=1).mean()
        found[way] = -np.log(of_truth).mean(), brier
    return found


def row_of(name, options):
    """Mean scores of both trees on a set."""
    X, y = load_set(name)
    y = np.asarray(y)
    if len(y) > options.most_rows:
        part = {"train_size": options.most_rows, "random_state": 0, "stratify": y}
        X, _, y, _ = train_test_split(X, y, **part)
        X = X.reset_index(drop=True)
    optimal = OptimalTreeClassifier(
        max_depth=options.depth, thresholds="ensemble", time_limit=options.time_limit
    )
    trees = {"optimal": optimal, "greedy": GreedyTreeClassifier(pruning=None)}
    sums = {(tree, way): np.zeros(2) for tree in trees for way in WAYS}
    folds = StratifiedKFold(n_splits=5, shuffle=True, random_state=options.seed)
    for train, test in folds.split(X, y):
        for tree, model in trees.items():
            fitted = model.set_params(**PLAIN).fit(X.iloc[train], y[train])
            for way, scores in scores_of(fitted, X.iloc[test], y[test]).items():
                sums[tree, way] += np.array(scores) / 5
    return {
        f"{tree} {way} {score}": value
        for (tree, way), means in sums.items()
        for score, value in zip(("log loss", "Brier"), means, strict=True)
    }


def print_summary(table):
    """Means over sets, and on how many of them each way is better than none."""
    for tree in ("optimal", "greedy"):
        for score in ("log loss", "Brier"):
            plain = table[f"{tree} plain {score}"]
            for way in WAYS:
                own = table[f"{tree} {way} {score}"]
                better, worse = (own < plain - 1e-9).sum(), (own > plain + 1e-9).sum()
                note = "" if way == "plain" else f"  better on {better}, worse on {worse} sets"
                print(f"{tree:8s}{score:9s}{way:8s}{own.mean():7.3f}{note}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=UCI + CONTINUOUS)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds of each fit")
    parser.add_argument("--most-rows", type=int, default=1000, help="of a set, drawn at random")
    parser.add_argument("--csv", help="file for the table")
    parser.add_argument("--quick", action="store_true", help="small sets")
    options = parser.parse_args()
    require_data()
    warnings.simplefilter("ignore", ConvergenceWarning)
    # A class of fewer rows than folds is in as many folds as it has rows.
    warnings.filterwarnings("ignore", "The least populated class")
    quick = [name for name in QUICK if name in UCI + CONTINUOUS]
    rows = {}
    for name in options.sets or (quick if options.quick else UCI + CONTINUOUS):
        rows[name] = row_of(name, options)
        print(f"{name:12s}", *(f"{value:.3f}" for value in rows[name].values()), flush=True)
    table = pd.DataFrame.from_dict(rows, orient="index")
    print_summary(table)
    if options.csv:
        table.round(4).to_csv(options.csv, index_label="set")


if __name__ == "__main__":
    main()
