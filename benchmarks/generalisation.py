"""Accuracy on rows left out: optimal trees against greedy ones of equal depth, and a forest.

    python benchmarks/generalisation.py --quick
    python benchmarks/generalisation.py --sets ionosphere bank --depth 4 --repeats 5
    python benchmarks/generalisation.py --depth 3 --most-rows 2000 --time-limit 4 --plot out.png

What MurTree's section 5.4 asks (Demirovic et al., JMLR 23(26), 2022), but for one thing: there the
parameters were chosen by the accuracy on the test rows. Here every tree is tuned by 5-fold
cross-validation of the training rows alone, and is then scored on rows it has not seen:

optimal
    OptimalTreeClassifierCV: every depth and number of tests.
cart
    scikit-learn's DecisionTreeClassifier: every depth with several numbers of leaves, and two
    criteria; nominal columns as columns of zeros and ones.
greedy
    GreedyTreeClassifier: the same, with two criteria; nominal columns as they are.
forest
    scikit-learn's RandomForestClassifier of 100 trees, as it comes; with ``--tune-forest`` it takes
    the best of three numbers of columns per split.

Sets are those of ``$SKTREE_OPT_DATA/uci`` and ``continuous``; all methods see the same folds.
Prints the mean accuracy of each method on each set, the differences from the optimal tree, and on
how many sets it wins; ``--plot`` draws the differences as a histogram like the paper's Figure 2.
"""

import argparse
import sys
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.optimal import OptimalTreeClassifierCV
from uci import FOLDER, load, require_data

UCI = [
    "sonar",
    "ionosphere",
    "clean1",
    "soybean",
    "anneal",
    "hypothyroid",
    "kr_vs_kp",
    "spambase",
    "letter",
    "adult",
]
CONTINUOUS = ["bank", "raisin", "fault", "segment", "rice", "wilt", "page", "room"]
QUICK = ["sonar", "ionosphere", "anneal", "kr_vs_kp", "bank", "raisin", "wilt"]
# A greedy tree with one leaf more or less is much the same: these are close enough.
LEAVES = [2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64]
# Means that differ by less are a tie.
TIE = 0.001


def load_set(name):
    """A table and its labels, from either folder."""
    if name in UCI:
        return load(name)
    rows = np.loadtxt(FOLDER / "continuous" / f"{name}.txt.gz")
    labels = np.unique(rows[:, 0], return_inverse=True)[1]
    return pd.DataFrame(rows[:, 1:]).rename(columns="x{}".format), labels


def on_numbers(model):
    """`model` after categories have become columns of zeros and ones, once for all its fits."""
    encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer(
        (encode, make_column_selector(dtype_include="category")), remainder="passthrough"
    )
    return make_pipeline(columns, model)


def shapes(max_depth):
    """Depths of a greedy tree, each with numbers of leaves (see ``LEAVES``) that need it."""
    return [
        {"max_depth": [depth], "max_leaf_nodes": [k for k in LEAVES if depth < k <= 2**depth]}
        for depth in range(1, max_depth + 1)
    ]


def methods(options):
    """The tuned methods by name."""
    cart = DecisionTreeClassifier(random_state=0)
    greedy = GreedyTreeClassifier(nominal_split="one_vs_rest")
    forest = RandomForestClassifier(n_jobs=options.jobs, random_state=0)
    if options.tune_forest:
        forest = GridSearchCV(forest, {"max_features": ["sqrt", "log2", 0.5]})
    return {
        "optimal": OptimalTreeClassifierCV(
            max_depth=options.depth,
            thresholds=options.thresholds,
            time_limit=options.time_limit,
            n_jobs=options.jobs,
        ),
        "cart": on_numbers(
            GridSearchCV(
                cart,
                [{**grid, "criterion": ["gini", "entropy"]} for grid in shapes(options.depth)],
                n_jobs=options.jobs,
            )
        ),
        "greedy": GridSearchCV(
            greedy,
            [{**grid, "criterion": ["gini", "gain_ratio"]} for grid in shapes(options.depth)],
            n_jobs=options.jobs,
        ),
        "forest": on_numbers(forest),
    }


def accuracies(name, options):
    """Accuracy of each method on each fold, and the share of folds with all trees proved."""
    X, y = load_set(name)
    if len(y) > options.most_rows:
        X, _, y, _ = train_test_split(
            X, y, train_size=options.most_rows, random_state=0, stratify=y
        )
        X = X.reset_index(drop=True)
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=options.repeats, random_state=0)
    scores = {method: [] for method in methods(options)}
    n_proved = 0
    for train, test in folds.split(X, y):
        for method, model in methods(options).items():
            fitted = model.fit(X.iloc[train], y[train])
            scores[method].append(fitted.score(X.iloc[test], y[test]))
            n_proved += getattr(fitted, "status_", None) == "optimal"
    arrays = {method: np.array(found) for method, found in scores.items()}
    return arrays, n_proved / len(scores["optimal"])


def print_summary(means):
    """Differences from the optimal tree over all sets."""
    for method in means.columns.drop("optimal"):
        lead = means["optimal"] - means[method]
        wins, losses = (lead > TIE).sum(), (lead < -TIE).sum()
        print(
            f"optimal against {method}: wins {wins}, ties {len(lead) - wins - losses}, "
            f"losses {losses}; mean difference {100 * lead.mean():+.2f} points, "
            f"from {100 * lead.min():+.2f} ({lead.idxmin()}) to {100 * lead.max():+.2f} "
            f"({lead.idxmax()})"
        )


def draw(means, path):
    """Histograms of the differences from the optimal tree, one panel for each other method."""
    import matplotlib.pyplot as plt

    others = means.columns.drop("optimal")
    figure, axes = plt.subplots(1, len(others), figsize=(4 * len(others), 3), layout="constrained")
    for axis, method in zip(axes, others, strict=True):
        lead = 100 * (means["optimal"] - means[method])
        axis.hist(lead, bins=np.arange(np.floor(lead.min()) - 0.5, lead.max() + 1.5))
        axis.axvline(0.0, color="black", linewidth=0.8)
        axis.set(title=f"optimal - {method}", xlabel="points of accuracy", ylabel="sets")
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=UCI + CONTINUOUS)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=5, help="of 5 folds")
    parser.add_argument("--thresholds", default="ensemble", help="a name, or a number of quantiles")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds of each search")
    parser.add_argument("--most-rows", type=int, default=10**9, help="of a set, drawn at random")
    parser.add_argument("--tune-forest", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--plot", help="file for the histograms")
    parser.add_argument("--quick", action="store_true", help="small sets, depth 3, 5 folds once")
    options = parser.parse_args()
    require_data()
    if options.quick:
        options.depth, options.repeats = min(options.depth, 3), 1
    if options.thresholds.isdecimal():
        options.thresholds = int(options.thresholds)
    warnings.simplefilter("ignore", ConvergenceWarning)
    # A class of fewer rows than folds is stratified as far as it goes.
    warnings.filterwarnings("ignore", "The least populated class")
    rows = {}
    for name in options.sets or (QUICK if options.quick else UCI + CONTINUOUS):
        start = time.perf_counter()
        scores, proved = accuracies(name, options)
        rows[name] = {method: found.mean() for method, found in scores.items()}
        cells = "  ".join(
            f"{method} {100 * found.mean():6.2f} ({100 * found.std():4.2f})"
            for method, found in scores.items()
        )
        seconds = time.perf_counter() - start
        print(f"{name:12s} {cells}  proved {proved:4.0%}  {seconds:5.0f} s", flush=True)
    means = pd.DataFrame.from_dict(rows, orient="index")
    print_summary(means)
    if options.plot:
        draw(means, options.plot)


if __name__ == "__main__":
    sys.exit(main())
