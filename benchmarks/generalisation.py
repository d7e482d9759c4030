"""Scores on rows left out: tuned optimal trees against tuned CART of the same depth.

    python benchmarks/generalisation.py --quick
    python benchmarks/generalisation.py --thresholds ensemble --csv doc/benchmarks/new_rows.csv
    python benchmarks/generalisation.py --sets ionosphere diabetes --depth 4 --repeats 5

Every tree is tuned by 5-fold cross-validation of the training rows alone, and is then scored on
rows that it has not seen: by accuracy, or by R2 for the regression sets.

optimal
    OptimalTreeClassifierCV and OptimalTreeRegressorCV with their defaults.
other targets
    The same with other ``targets``: the answers of a forest for classes, the given targets alone
    for a regression. Not among the methods unless ``--methods`` names it.
cart
    scikit-learn's decision trees: GridSearchCV over `max_depth`, `min_samples_leaf`, `ccp_alpha`
    and, for classes, `criterion`; nominal columns as columns of zeros and ones.
forest
    scikit-learn's random forests of 100 trees, with their defaults.

Sets are those of ``$SKTREE_OPT_DATA/uci`` and ``continuous``, and scikit-learn's diabetes. No other
regression sets can be loaded without a network, so numeric columns of four tables are predicted
from their other columns. All methods see the same folds; `--seed` draws other rows and folds.
Prints the mean score of each method on each set, and the leads of optimal trees over CART with
standard errors. The training rows of folds overlap, so that their scores are not independent: the
errors are those of Nadeau and Bengio (Machine Learning 52, 2003).
"""

import argparse
import sys
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.base import is_regressor
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sktree_opt import OptimalTreeClassifierCV, OptimalTreeRegressorCV
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
# Tables of which a numeric column is the target.
TARGETS = {"adult age": "age", "bank x3": "x3", "page x3": "x3", "wilt x2": "x2"}
REGRESSION = ["diabetes", *TARGETS]
N_FOLDS = 5
QUICK = ["sonar", "ionosphere", "raisin", "wilt", "diabetes", "bank x3"]


def load_set(name):
    """A table and its targets; numbers are those of a regression."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True, as_frame=True)
        return X, y.to_numpy()
    if name in TARGETS:
        X, _ = load_set(name.split()[0])
        y = X.pop(TARGETS[name]).to_numpy(dtype=np.float64)
        return X, y
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


def tuned_cart(model, y, depth, jobs):
    """CART with the best of its parameters; `ccp_alpha` is a share of the impurity of all rows."""
    grid = {
        "max_depth": range(1, depth + 1),
        "min_samples_leaf": [1, 5, 20],
        "ccp_alpha": [0.0, 0.003, 0.01],
    }
    if is_regressor(model):
        grid["ccp_alpha"] = [alpha * y.var() for alpha in grid["ccp_alpha"]]
    else:
        grid["criterion"] = ["gini", "entropy"]
    return on_numbers(GridSearchCV(model, grid, n_jobs=jobs))


def methods(y, options):
    """The tuned methods by name."""
    shared = {
        "max_depth": options.depth,
        "thresholds": options.thresholds,
        "time_limit": options.time_limit,
        "n_jobs": options.jobs,
    }
    if y.dtype.kind == "f":
        other = {"targets": "given"}
        tree, forest = DecisionTreeRegressor(random_state=0), RandomForestRegressor
        optimal = OptimalTreeRegressorCV
    else:
        other = {"targets": "forest"}
        tree, forest = DecisionTreeClassifier(random_state=0), RandomForestClassifier
        optimal = OptimalTreeClassifierCV
    found = {
        "optimal": optimal(**shared),
        "other targets": optimal(**shared, **other),
        "cart": tuned_cart(tree, y, options.depth, options.jobs),
        "forest": on_numbers(forest(n_jobs=options.jobs, random_state=0)),
    }
    return {name: found[name] for name in options.methods}


def folds_of(y, most_rows, seed):
    """Rows of a set, drawn at random if it has more, and their folds as places among them."""
    is_numeric, rows = y.dtype.kind == "f", np.arange(len(y))
    if len(y) > most_rows:
        part = {"train_size": most_rows, "random_state": seed}
        rows, _ = train_test_split(rows, **part, stratify=None if is_numeric else y)
    kind = KFold if is_numeric else StratifiedKFold
    folds = kind(N_FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(rows, y[rows]):
        yield rows, train, test


def scores_of(name, options):
    """Score of each method on each fold, and the share of folds with all trees proved."""
    X, y = load_set(name)
    y = np.asarray(y)
    scores = {method: [] for method in options.methods}
    n_proved = 0
    for seed in range(options.seed, options.seed + options.repeats):
        for rows, train, test in folds_of(y, options.most_rows, seed):
            train, test = rows[train], rows[test]
            for method, model in methods(y, options).items():
                fitted = model.fit(X.iloc[train].reset_index(drop=True), y[train])
                scores[method].append(fitted.score(X.iloc[test], y[test]))
                n_proved += method == "optimal" and fitted.status_ == "optimal"
    arrays = {method: 100 * np.array(found) for method, found in scores.items()}
    return arrays, n_proved / len(next(iter(arrays.values())))


def lead_of(scores, method):
    """Mean lead of a method over CART, and its standard error for folds that share rows."""
    lead = scores[method] - scores["cart"]
    # A fold has a quarter of the rows that its trees are trained on.
    return lead.mean(), lead.std(ddof=1) * np.sqrt(1.0 / len(lead) + 1.0 / (N_FOLDS - 1))


def print_summary(method, leads):
    """On how many sets a method is ahead of CART, or behind it."""
    means, errors = np.array(leads).T
    for title, width in (("by any difference", 0.0), ("by two standard errors", 2.0)):
        ahead, behind = (means > width * errors).sum(), (means < -width * errors).sum()
        print(f"{method} {title}: ahead on {ahead}, behind on {behind} of {len(means)} sets")
    print(f"{method}: mean lead {means.mean():+.2f} points, median {np.median(means):+.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=UCI + CONTINUOUS + REGRESSION)
    parser.add_argument("--methods", nargs="+", default=["optimal", "cart", "forest"])
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=1, help="of 5 folds, each with other rows")
    parser.add_argument("--seed", type=int, default=0, help="of the rows and folds")
    parser.add_argument("--thresholds", default="all", help="a name, or a number of quantiles")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds of each fit")
    parser.add_argument("--most-rows", type=int, default=1000, help="of a set, drawn at random")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--csv", help="file for the table")
    parser.add_argument("--quick", action="store_true", help="small sets")
    options = parser.parse_args()
    require_data()
    if options.thresholds.isdecimal():
        options.thresholds = int(options.thresholds)
    warnings.simplefilter("ignore", ConvergenceWarning)
    # A class of fewer rows than folds is in as many folds as it has rows.
    warnings.filterwarnings("ignore", "The least populated class")
    ours = [method for method in ("optimal", "other targets") if method in options.methods]
    leads, table = {method: [] for method in ours}, []
    for name in options.sets or (QUICK if options.quick else UCI + CONTINUOUS + REGRESSION):
        start = time.process_time()
        scores, proved = scores_of(name, options)
        row = {"set": name} | {method: f"{found.mean():.1f}" for method, found in scores.items()}
        for method in ours if "cart" in scores else []:
            leads[method].append(lead_of(scores, method))
            row[f"{method} - cart"] = "{:+.1f} ± {:.1f}".format(*leads[method][-1])
        table.append(row)
        cells = "  ".join(f"{column} {value:>6s}" for column, value in row.items())
        seconds = time.process_time() - start
        print(f"{cells}  proved {proved:4.0%}  {seconds:5.0f} s of processor", flush=True)
        if options.csv:
            # After each set, because all of them take long.
            pd.DataFrame(table).to_csv(options.csv, index=False)
    if "cart" in options.methods:
        for method in ours:
            print_summary(method, leads[method])


if __name__ == "__main__":
    sys.exit(main())
