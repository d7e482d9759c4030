"""Tables 1 to 8: which methods and quantities each compares, and how ours stand by the paper's."""

import warnings
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import spearmanr, ttest_1samp
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import RepeatedStratifiedKFold

from ruggieri import paper
from ruggieri.methods import run_methods
from uci import load

TREES = ("baseline", "DTsbe", "DTaccept_0")
FORESTS = ("RF", "DTsbe+RF")
TIMED = ("DTsbe", "SBE", "DTaccept_0", "RF")
# Paper: within a minute on 8 cores. Another hour is needed for the others, also in Table 2.
QUICK_COMPLETE = ("Hypo", "Ionosphere", "Anneal", "Sonar")


@dataclass(frozen=True)
class PaperTable:
    """One table: its methods, and the paper's figures of each quantity."""

    methods: tuple
    figures: dict  # text of the paper's figures by quantity
    tree: dict = field(default_factory=dict)  # parameters of the greedy tree
    error: str = "search"
    is_one_hot: bool = False


TABLES = {
    1: PaperTable(TIMED, {"seconds": paper.TIMES}),
    2: PaperTable(TREES, {"search_error": paper.ESTIMATED_ERRORS, "error": paper.ERRORS}),
    3: PaperTable(FORESTS, {"error": paper.ERRORS}),
    4: PaperTable(TREES, {"n_features": paper.USED_FEATURES, "stability": paper.STABILITY}),
    5: PaperTable(
        ("baseline", "DTsbe", "optimal", "optimal cp"),
        {"seconds": paper.TIMES_AT_DEPTH_5, "error": paper.ERRORS_AT_DEPTH_5},
        {"max_depth": 5},
        "training",
        is_one_hot=True,
    ),
    6: PaperTable(
        TREES + FORESTS, {"error": paper.ERRORS_OF_PRUNED_TREES}, {"pruning": "error_based"}
    ),
    7: PaperTable(TIMED, {"seconds": paper.TIMES_OF_GAIN_RATIO}, {"criterion": "gain_ratio"}),
    8: PaperTable(
        TREES + FORESTS, {"error": paper.ERRORS_OF_GAIN_RATIO}, {"criterion": "gain_ratio"}
    ),
}
TITLES = {
    "seconds": "seconds",
    "search_error": "estimated error",
    "error": "generalization error",
    "n_features": "features used",
    "stability": "stability",
}


def one_hot(X):
    """Nominal columns as one column for each category, with missing cells in all of them."""
    columns = []
    for name in X.columns:
        column = X[[name]]
        if isinstance(X[name].dtype, pd.CategoricalDtype):
            column = pd.get_dummies(column, dtype=np.float64)
            column[X[name].isna()] = np.nan
        columns.append(column)
    return pd.concat(columns, axis=1)


def fold_outcomes(name, methods, settings, n_repeats, n_folds, n_jobs, is_one_hot=False):
    """Outcomes by method, a list over the folds of repeated stratified 10-fold cross-validation."""
    X, y = load(paper.DATASETS[name])
    if is_one_hot:
        X = one_hot(X)
    splitter = RepeatedStratifiedKFold(n_splits=10, n_repeats=n_repeats, random_state=0)
    with warnings.catch_warnings():
        # Some classes have fewer members than there are folds, in the paper too.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        folds = list(splitter.split(X, y))[:n_folds]
    results = Parallel(n_jobs=n_jobs)(
        delayed(quietly)(run_methods, X, y, train, test, settings, seed, methods)
        for seed, (train, test) in enumerate(folds)
    )
    return {method: [result[method] for result in results] for method in methods}


def quietly(function, *arguments):
    """A call without the warnings of searches that a limit ends: those are counted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "y_pred|The number of unique classes", UserWarning)
        return function(*arguments)


def pearson_correlations(used):
    """Correlations of each pair of feature masks (Nogueira and Brown 2016).

    Two constant masks that are equal have correlation 1. With one constant mask it is 0.
    """
    used = np.asarray(used, dtype=np.float64)
    centred = used - used.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(centred, axis=1)
    is_constant = norms < 1e-12
    norms[is_constant] = 1.0
    correlations = centred @ centred.T / np.outer(norms, norms)
    equal = (used[:, None, 0] == used[None, :, 0]) & is_constant[:, None] & is_constant[None, :]
    correlations[equal] = 1.0
    return correlations[np.triu_indices(len(used), 1)]


def values_of(outcomes, quantity):
    """Values of a quantity, one for each fold, or each pair of folds for "stability"."""
    if quantity == "stability":
        return pearson_correlations([outcome.used for outcome in outcomes])
    if quantity == "n_features":
        return np.array([outcome.used.sum() for outcome in outcomes])
    return np.array([getattr(outcome, quantity) for outcome in outcomes])


def marks_of(outcomes, quantity):
    """The paper's marks by method: the best, and "*" if a paired t-test tells no difference.

    Smaller is better, except for stability.
    """
    marks, sign = {}, -1.0 if quantity == "stability" else 1.0
    for group in (FORESTS, tuple(name for name in outcomes if name not in FORESTS)):
        values_by = {m: sign * values_of(outcomes[m], quantity) for m in group if m in outcomes}
        values_by = {m: values for m, values in values_by.items() if np.isfinite(values).all()}
        if not values_by:
            continue
        best = min(values_by, key=lambda method: values_by[method].mean())
        for method, values in values_by.items():
            if method == best:
                marks[method] = "best"
            elif len(values) > 1 and is_like(values, values_by[best]):
                marks[method] = "*"
    return marks


def print_wins(table, outcomes_by_set):
    """The last line of the paper's tables: sets on which a method is best, and as good as it."""
    for quantity in table.figures:
        if quantity == "seconds":
            continue
        marks = [marks_of(outcomes, quantity) for outcomes in outcomes_by_set.values()]
        methods = list(dict.fromkeys(m for outcomes in outcomes_by_set.values() for m in outcomes))
        counts = ", ".join(
            f"{m} {sum(of.get(m) == 'best' for of in marks)}/"
            f"{sum(of.get(m) == '*' for of in marks)}"
            for m in methods
        )
        print(f"wins/* by {TITLES[quantity]}: {counts}")


def print_correlation(outcomes_by_set):
    """Section 7.5: whether selection helps a forest more on sets of more features."""
    points = []
    for name, outcomes in outcomes_by_set.items():
        if all(method in outcomes for method in FORESTS):
            errors = [values_of(outcomes[method], "error").mean() for method in FORESTS]
            points.append((load(paper.DATASETS[name])[0].shape[1], errors[0] - errors[1]))
    if len(points) > 2:
        found = spearmanr(*np.transpose(points))
        print(
            f"Spearman correlation of the number of features with the gain of DTsbe+RF over RF: "
            f"{found.statistic:.2f}, p = {found.pvalue:.3f}"
        )


def is_like(values, others):
    """Whether a paired t-test cannot tell the means apart at 95 percent."""
    differences = values - others
    if np.ptp(differences) == 0.0:
        return differences[0] == 0.0
    return ttest_1samp(differences, 0.0).pvalue > 0.05


def is_apart(ours, figure):
    """Whether the mean departs from the paper's by more than half the paper's deviation."""
    return figure is not None and abs(ours - figure[0]) > figure[1] / 2


def error_cell(values, figure, mark=""):
    cell = f"{values.mean():7.2f} ±{values.std():5.2f} {mark:4}"
    cell += f"{figure[0]:7.2f} ±{figure[1]:5.2f}" if figure else f"{'-':>14}"
    return f"{cell}{' apart' if is_apart(values.mean(), figure) else '':6}"


def seconds_cell(values, figure):
    cell = f"{values.mean():18.3f} "
    return cell + (f"{figure[0]:14.2f}" if figure else f"{'-':>14}") + " " * 6


def print_header(table):
    titles = "".join(f"  {TITLES[q] + ': ours, paper':38}" for q in table.figures)
    print(f"{'':11}{'':11}{titles}{'finished':>9}")


def print_dataset(name, table, outcomes):
    """The lines of one dataset, one for each method."""
    marks = {q: marks_of(outcomes, q) for q in table.figures if q != "seconds"}
    for method, of_method in outcomes.items():
        line = f"{name:11}{method:11}"
        for quantity, text in table.figures.items():
            figure = paper.parse(text).get((name, method))
            values = values_of(of_method, quantity)
            if quantity == "seconds":
                line += "  " + seconds_cell(values, figure)
            else:
                mark = marks[quantity].get(method, "")
                line += "  " + error_cell(values, figure, mark)
        n_finished = sum(outcome.is_finished for outcome in of_method)
        print(f"{line}{n_finished:4}/{len(of_method)}", flush=True)
    if "SBE" in outcomes:
        print_ratio(name, table, outcomes)


def print_ratio(name, table, outcomes):
    """DTsbe's time as a share of the black box's."""
    sums = [values_of(outcomes[method], "seconds").sum() for method in ("DTsbe", "SBE")]
    is_bound = not all(outcome.is_finished for outcome in outcomes["SBE"])
    ratio = f"{'<' if is_bound else ''}{sums[0] / sums[1]:.3f}"
    figure = paper.parse(table.figures["seconds"]).get((name, "DTsbe:ratio"))
    of_paper = f"{figure[0]:.3f}" if figure else "-"
    above = " above" if figure and not is_bound and sums[0] / sums[1] > figure[0] else ""
    print(f"{name:11}{'ratio':11}  {ratio:>18} {of_paper:>14}{above}", flush=True)


def methods_for(name, table, arguments):
    """The methods asked for; a quick run leaves out complete searches that took the paper long."""
    methods = arguments.methods or list(table.methods)
    if arguments.quick and name not in QUICK_COMPLETE:
        methods = [m for m in methods if m != "DTaccept_0"]
    return tuple(methods)
