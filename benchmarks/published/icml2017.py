"""S. Ruggieri, "Enumerating Distinct Decision Trees", ICML 2017."""

import numpy as np
from matplotlib.figure import Figure
from sklearn.model_selection import StratifiedKFold

from published.common import folds_of, seconds_of
from sktree_opt import (
    AcceptableSubsetSelector,
    DistinctTreeEnumerator,
    DTsbeSelector,
    GreedyTreeClassifier,
)
from uci import load, require_data

# Seconds of PSBE and SBE; errors of all features, (P)SBE and the best subset. "-": over an hour.
TABLE_1 = {
    "adult": ("2.318", "3.311", "15.74", "14.64", "14.31"),
    "letter": ("1.221", "1.717", "12.69", "12.49", "12.37"),
    "hypothyroid": ("0.029", "0.100", "0.39", "0.42", "0.46"),
    "ionosphere": ("0.005", "0.065", "11.74", "10.25", "10.72"),
    "soybean": ("0.067", "0.212", "13.26", "12.71", "10.62"),
    "anneal_na_as_value": ("0.004", "0.025", "0.91", "1.14", "1.45"),
    "sonar": ("0.006", "0.222", "28.57", "27.01", "25.69"),
    "clean1": ("0.053", "5.381", "19.50", "19.28", "-"),
    "madelon": ("2.647", ">1h", "25.28", "22.67", "-"),
}
QUICK = ("hypothyroid", "ionosphere", "sonar")
WEIGHTS = (8, 16, 32, 64, 128)


def tree_of(m):
    return GreedyTreeClassifier(min_weight_leaf=m, numeric_gain_penalty=True)


def table_1(arguments):
    """PSBE against SBE: seconds, their ratio, and errors in percent, each with the paper's."""
    require_data()
    limit = arguments.time_limit or (10.0 if arguments.quick else 3600.0)
    names = arguments.sets or (QUICK if arguments.quick else list(TABLE_1))
    print(f"{'set':20}{'PSBE s':>9}{'SBE s':>9}{'ratio':>7}{'paper':>7}   errors: all, SBE, best")
    for name in names:
        X, y = load(name)
        times, errors = [], []
        for number, (train, test) in enumerate(folds_of(arguments, y)):
            rows, labels = X.iloc[train], y[train]
            shared = {"random_state": number, "time_limit": limit}
            models = [
                DTsbeSelector(tree_of(2), method=method, on_tie="stop", **shared)
                for method in ("psbe", "sbe")
            ]
            models.append(AcceptableSubsetSelector(tree_of(2), **shared))
            seconds = [seconds_of(m.fit, rows, labels)[0] for m in models]
            times.append(seconds[:2])
            fitted = [tree_of(2).fit(rows, labels), models[0], models[2]]
            errors.append([100 * (1 - m.score(X.iloc[test], y[test])) for m in fitted])
        psbe, sbe = np.mean(times, axis=0)
        paper = TABLE_1.get(name, ("?",) * 5)
        ratio = "-"
        if all(part[0].isdigit() for part in paper[:2]):
            ratio = f"{float(paper[0]) / float(paper[1]):.3f}"
        ours = ", ".join(f"{error:.2f}" for error in np.mean(errors, axis=0))
        print(
            f"{name:20}{psbe:9.3f}{sbe:9.3f}{psbe / sbe:7.3f}{ratio:>7}   "
            f"{ours}; paper {', '.join(paper[2:])}"
        )


def figure_4(arguments):
    """Overhead and seconds of DTdistinct over m, on several sets."""
    require_data()
    names = arguments.sets or (
        QUICK[:2] if arguments.quick else ["adult", *QUICK, "anneal_na_as_value"]
    )
    weights = WEIGHTS[-2:] if arguments.quick else WEIGHTS
    limit = arguments.time_limit or (10.0 if arguments.quick else 3600.0)
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, centre = figure.subplots(1, 2)
    for name in names:
        X, y = load(name)
        train = next(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))[0]
        overheads, seconds = [], []
        for m in weights:
            search = DistinctTreeEnumerator(tree_of(m), method="dtdistinct", time_limit=limit)
            seconds.append(seconds_of(search.fit, X.iloc[train], y[train])[0])
            overheads.append(search.overhead_)
            print(
                f"{name:20} m={m:<4} {search.n_distinct_:10} trees, "
                f"overhead {search.overhead_:.3f}, {seconds[-1]:.2f} s, {search.status_}"
            )
        left.plot(weights, overheads, marker="o", label=name)
        centre.plot(weights, seconds, marker="o", label=name)
    left.set(xlabel="m", ylabel="trees built / distinct trees", xscale="log")
    centre.set(xlabel="m", ylabel="seconds", xscale="log", yscale="log")
    left.legend()
    return figure


def figure_5(arguments):
    """Cross-validation errors of all features, SBE and the best subset, over m."""
    require_data()
    names = arguments.sets or (
        ["ionosphere"] if arguments.quick else ["adult", "ionosphere", "anneal_na_as_value"]
    )
    weights = WEIGHTS[-2:] if arguments.quick else WEIGHTS
    limit = arguments.time_limit or (10.0 if arguments.quick else 3600.0)
    figure = Figure(figsize=(5 * len(names), 4), layout="constrained")
    axes = figure.subplots(1, len(names), squeeze=False)[0]
    for axis, name in zip(axes, names, strict=True):
        X, y = load(name)
        methods = {
            "all features": lambda m: tree_of(m),
            "SBE": lambda m: DTsbeSelector(tree_of(m), on_tie="stop", random_state=0),
            "best": lambda m: AcceptableSubsetSelector(
                tree_of(m), random_state=0, time_limit=limit
            ),
        }
        for label, make in methods.items():
            errors = [
                np.mean(
                    [
                        100 * np.mean(fitted(make(m), X, y, train).predict(X.iloc[test]) != y[test])
                        for train, test in folds_of(arguments, y)
                    ]
                )
                for m in weights
            ]
            print(f"{name:20} {label:14}" + "".join(f"{error:8.2f}" for error in errors))
            axis.plot(weights, errors, marker="o", label=label)
        axis.set(title=name, xlabel="m", ylabel="error in percent")
        axis.legend()
    return figure


def fitted(model, X, y, rows):
    """A model fitted on some rows."""
    return seconds_of(model.fit, X.iloc[rows], y[rows])[1]


TABLES = {1: table_1}
FIGURES = {4: figure_4, 5: figure_5}
