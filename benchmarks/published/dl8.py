"""S. Nijssen and E. Fromont, "Mining Optimal Decision Trees from Itemset Lattices", KDD 2007.

As in the paper, leaves have a least number of rows, and depth has no limit. Searches have a time
limit in its place: "proved" counts the folds whose trees are proved to be optimal. The paper's
figures hold plots and tables that its text has lost; what the text says of them is printed.
"""

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.preprocessing import KBinsDiscretizer

from published.common import corrected_t_test, folds_of, limit_of, mark, new_axes, seconds_of
from published.dl8_algorithm import VARIANTS, StoppedError, search
from published.sets import all_binary_sets, binary_sets
from sktree_opt import GreedyTreeClassifier, OptimalTreeClassifier, optimal_path
from sktree_opt.export import export_text
from sktree_opt.optimal.run._plan import use_engine

QUICK = ["vote", "tic-tac-toe"]
FEW = [
    "anneal",
    "australian-credit",
    "diabetes",
    "heart-cleveland",
    "mushroom",
    "tic-tac-toe",
    "vote",
]
# Rows and tests of Figure 6, after cutting numbers into four bins of equal width.
FIGURE_6 = {
    "australian-credit": (653, 56),
    "balance-scale": (625, 13),
    "diabetes": (768, 25),
    "german-credit": (1000, 77),
    "ionosphere": (351, 99),
    "mushroom": (8124, 116),
    "pendigits": (7494, 49),
    "segment": (2310, 55),
    "soybean": (630, 45),
    "vehicle": (846, 55),
    "vote": (435, 49),
    "yeast": (1484, 23),
    "zoo": (101, 15),
}
# A, B, C, class, number of rows. The text has lost the cells of both tables. This one has the
# leaves of Figure 1 and the gains that the text gives, cut off after two digits.
FIGURE_3 = [[1, 1, 0, 1, 40], [1, 1, 1, 1, 40], [1, 0, 1, 1, 5], [0, 0, 1, 1, 5], [0, 0, 0, 0, 10]]
# The class is B xor C; a table with the gains that the text gives for A and C.
FIGURE_4 = [
    [0, 0, 0, 0, 1],
    [0, 0, 1, 1, 3],
    [0, 1, 0, 1, 5],
    [0, 1, 1, 0, 2],
    [1, 0, 0, 0, 2],
    [1, 0, 1, 1, 3],
    [1, 1, 0, 1, 1],
    [1, 1, 1, 0, 5],
]


def table_of(lines):
    rows = np.repeat(np.array(lines)[:, :4], np.array(lines)[:, 4], axis=0)
    return pd.DataFrame(rows[:, :3], columns=["A", "B", "C"]), rows[:, 3]


def print_gains(X, y, paper):
    """Gain and gain ratio of each column, beside the paper's."""
    for name in X:
        line = f"{name}:"
        for criterion in ("information_gain", "gain_ratio"):
            stump = GreedyTreeClassifier(criterion=criterion, max_depth=1, min_weight_branch=1)
            line += f" {criterion} {gain_of(stump.fit(X[[name]], y), criterion):.3f}"
        print(line + f" (paper: {paper.get(name, '-')})")


def gain_of(stump, criterion):
    """What the first test of a fitted tree gains, in bits."""
    weights, impurities = stump.tree_.nodes["weight"], stump.tree_.nodes["impurity"]
    if len(weights) == 1:
        return 0.0
    shares = weights[1:] / weights[0]
    gain = impurities[0] - shares @ impurities[1:]
    return gain / -(shares @ np.log2(shares)) if criterion == "gain_ratio" else gain


def figure_1(options):
    """The optimal tree of Figure 3's table with at least ten rows in each leaf."""
    X, y = table_of(FIGURE_3)
    print(export_text(OptimalTreeClassifier(max_depth=2, min_samples_leaf=10).fit(X, y)))


def figure_2(options):
    """The itemsets of that tree: a path is an itemset, with negated items."""
    X, y = table_of(FIGURE_3)
    tree = OptimalTreeClassifier(max_depth=2, min_samples_leaf=10).fit(X, y)
    for leaf in np.unique(tree.apply(X)):
        rows = tree.apply(X) == leaf
        items = [
            f"{name}" if value else f"not {name}"
            for name in np.array(X.columns)[tree.tree_.features]
            for value in X.loc[rows, name].unique()
            if X.loc[rows, name].nunique() == 1
        ]
        print("{" + ", ".join(items) + "}", f"{rows.sum()} rows")


def figure_3(options):
    """A table on which the gain misleads C4.5, with at least ten rows in each leaf."""
    X, y = table_of(FIGURE_3)
    print_gains(X, y, {"A": "0.33, 0.54", "B": "0.26, 0.37"})
    print_trees(X, y, 10)


def figure_4(options):
    """A variation of XOR, in which the gain prefers a column that is not needed."""
    X, y = table_of(FIGURE_4)
    print_gains(X, y, {"A": "0.098, 0.098", "C": "0.029, 0.030"})


def figure_5(options):
    """The optimal tree (a) and the tree by gain (b) for Figure 4's table."""
    print_trees(*table_of(FIGURE_4), 1)


def print_trees(X, y, min_rows):
    optimal = OptimalTreeClassifier(max_depth=3, min_samples_leaf=min_rows).fit(X, y)
    greedy = GreedyTreeClassifier(min_samples_leaf=min_rows, min_weight_branch=1).fit(X, y)
    for name, tree in (("optimal", optimal), ("C4.5", greedy)):
        errors = np.count_nonzero(tree.predict(X) != y)
        print(f"{name}: {errors} errors, {tree.get_n_leaves()} leaves")
        print(export_text(tree))


def figure_6(options):
    """The sets: rows and 0/1 tests, here (cut by MDLP) and in the paper (four equal bins)."""
    for name, X, y in binary_sets(options, FIGURE_6, FIGURE_6):
        rows, tests = FIGURE_6.get(name, ("-", "-"))
        print(f"{name:20} {len(y):6} x {X.shape[1]:<4} paper: {rows} x {tests}")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    bins = KBinsDiscretizer(4, strategy="uniform")
    tree = OptimalTreeClassifier(max_depth=2, thresholds=bins).fit(X, y)
    print(f"equal bins on raw numbers: thresholds={bins}, {tree.get_n_leaves()} leaves")


# Techniques off: the package knows a node by its rows, as DL8-Closed does by the closure of its
# itemset.
CACHES = {"package": (), "package, no cache": ("cache", "small_cache")}


def figure_7(options):
    """Seconds and stored itemsets over the minimum support, of the package and all DL8 variants."""
    figure, (axis,) = new_axes("seconds", xlabel="minimum support", yscale="log")
    shares = (0.4, 0.3, 0.2) if options.quick else (0.4, 0.3, 0.2, 0.1, 0.05)
    limit = limit_of(options, 20.0, 1500.0)
    for name, X, y in binary_sets(options, FEW[:4], QUICK):
        for label, off in CACHES.items():
            times = []
            for share in shares:
                tree = OptimalTreeClassifier(
                    max_depth=None, min_samples_leaf=share, time_limit=limit
                )
                with use_engine("bits", off):
                    seconds, tree = seconds_of(tree.fit, X, y)
                times.append(max(seconds, 1e-4))
                entries = tree.search_stats_["n_cache_entries"]
                print_stored(name, label, share, seconds, entries, tree.status_)
            axis.plot(shares, times, marker="o", label=f"{name}, {label}")
        for label, variant in VARIANTS.items():
            times = []
            for share in shares:
                least = max(1, math.ceil(share * len(y)))
                seconds, (tree, entries) = seconds_of(
                    published_tree, X.tolist(), y.tolist(), least, variant, limit
                )
                times.append(max(seconds, 1e-4) if tree else np.nan)
                status = f"{tree.error} errors" if tree else "stopped"
                print_stored(name, label, share, seconds, entries, status)
                if tree is None:
                    break
            axis.plot(shares[: len(times)], times, "--", marker=".", label=f"{name}, {label}")
    print("paper: the closed itemsets are the fewest and DL8-Closed the fastest in all cases")
    axis.legend(fontsize=7)
    return figure


def published_tree(X, y, min_rows, variant, seconds):
    """The tree and the itemsets of a variant in plain Python; None after a stop."""
    try:
        return search(X, y, min_rows, variant, seconds=seconds)
    except StoppedError:
        return None, "-"


def print_stored(name, label, share, seconds, entries, status):
    print(
        f"{name:20} {label:18} support {share:5.0%} {seconds:9.3f} s {entries:>9} stored, {status}",
        flush=True,
    )


def figure_8(options):
    """The algorithms that the paper compares; ``published/dl8_algorithm.py`` has all of them."""
    for name, how in (
        ("DL8-Closed", "results by closures; the package takes the rows, which closures name"),
        ("DL8-Simple", "results by itemsets, whose rows are scanned"),
        ("DL8-Apriori", "relevant itemsets are mined first, level by level"),
        ("DL8-Eclat", "relevant itemsets are mined first, depth first"),
        ("Apriori-Freq+DL8", "all frequent itemsets are mined first"),
    ):
        print(f"{name:18}{how}")


def c45(min_rows, is_pruned):
    """C4.5 as J48 runs it: Quinlan's rule for gain ratio, error-based pruning or none."""
    return GreedyTreeClassifier(
        criterion="above_average_gain_ratio",
        min_samples_leaf=min_rows,
        pruning="error_based" if is_pruned else None,
    )


def figure_9(options):
    """Optimal trees (e and ex) against C4.5 at equal minimum support: accuracy, size, t-test."""
    shares = (0.2, 0.1) if options.quick else (0.2, 0.1, 0.05)
    limit = limit_of(options, 5.0, 600.0)
    print("S: corrected t-test at 5 %, + if ours is better. Leaves: ours/C4.5's; training likewise")
    print("last: C4.5 with at least two rows in a leaf, pruned, and + if it is better than ours")
    header = f"{'test':>6}{'C4.5':>7}  S{'training':>14}{'leaves':>12} proved"
    print(f"{'set':20}{'rows':>5} | e: {header} | ex: {header} | J48, S")
    better = {"error": [], "pessimistic_error": []}
    for name, X, y in binary_sets(options, all_binary_sets(), QUICK):
        for share in shares:
            min_rows = max(2, int(share * len(y)))
            line = f"{name:20}{min_rows:5} |"
            for objective, is_pruned in (("error", False), ("pessimistic_error", True)):
                optimal = OptimalTreeClassifier(
                    max_depth=None,
                    min_samples_leaf=min_rows,
                    objective=objective,
                    time_limit=limit,
                )
                found = compare(options, X, y, optimal, c45(min_rows, is_pruned), c45(2, True))
                line += "    " + found.text() + " |"
                better[objective].append(found.sign(1))
            print(f"{line} {found.test[2].mean():.3f} {found.sign(2, swapped=True)}", flush=True)
    for objective, signs in better.items():
        print(
            f"{objective}: significantly better in {signs.count('+')} of {len(signs)} rows, worse "
            f"in {signs.count('-')} (paper: 9 of 20 sets, worse in 1)"
        )


class Comparison:
    """Accuracies and leaves of models over folds; ours is the first."""

    def __init__(self, folds, test, training, leaves, n_proved):
        self.test, self.training, self.leaves = test, training, leaves
        self.n_folds, self.n_proved = len(folds), n_proved

    def sign(self, other, swapped=False):
        """Whether ours is better than another (or the reverse), by the corrected t-test."""
        first, second = self.test[[other, 0] if swapped else [0, other]]
        p = corrected_t_test(first, second, 1 / self.n_folds)
        return mark(p, first.mean() - second.mean())

    def text(self):
        test, training = self.test.mean(axis=1), self.training.mean(axis=1)
        leaves = "/".join(f"{size:.1f}" for size in self.leaves.mean(axis=1)[:2])
        return (
            f"{test[0]:6.3f} {test[1]:6.3f} {self.sign(1):>2} {training[0]:6.3f}/{training[1]:.3f} "
            f"{leaves:>11} {self.n_proved:3}/{self.n_folds}"
        )


def compare(options, X, y, *models):
    """Fit models on the same folds; the first has a proof, or not."""
    folds, results, n_proved = folds_of(options, y), [], 0
    for train, test in folds:
        fitted = [seconds_of(model.fit, X[train], y[train])[1] for model in models]
        n_proved += fitted[0].status_ == "optimal"
        results.append(
            [
                [model.score(X[test], y[test]) for model in fitted],
                [model.score(X[train], y[train]) for model in fitted],
                [model.get_n_leaves() for model in fitted],
            ]
        )
    return Comparison(folds, *np.transpose(results, (1, 2, 0)), n_proved)


def figure_10(options):
    """C4.5's mean size as the limit of the optimal tree: accuracies and t-test."""
    limit, signs = limit_of(options, 5.0, 600.0), []
    print(f"{'set':20}{'leaves':>7}    test   C4.5  S{'training':>14}{'leaves':>12} proved")
    for name, X, y in binary_sets(options, FEW, QUICK):
        greedy = c45(2, True)
        sizes = [greedy.fit(X[train], y[train]).get_n_leaves() for train, _ in folds_of(options, y)]
        size = max(2, round(np.mean(sizes)))
        optimal = OptimalTreeClassifier(
            max_depth=min(size - 1, 20),
            max_leaf_nodes=size,
            min_samples_leaf=2,
            time_limit=limit,
        )
        found = compare(options, X, y, optimal, greedy)
        signs.append(found.sign(1))
        print(f"{name:20}{size:7}  {found.text()}", flush=True)
    print(
        f"significantly better in {signs.count('+')}, worse in {signs.count('-')} of {len(signs)} "
        "sets (paper: in none)"
    )


def figure_11(options):
    """The least training error for every size."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axis = figure.subplots()
    depth = 3 if options.quick else 4
    for name, X, y in binary_sets(options, ["australian-credit", "diabetes"], QUICK):
        tree = OptimalTreeClassifier(max_depth=depth, time_limit=limit_of(options, 60.0, 300.0))
        path = seconds_of(optimal_path, tree, X, y)[1]
        shares = path.objectives[-1] / len(y)
        print(f"{name:20} depth at most {depth}, {path.status}:", *(f"{s:.3f}" for s in shares))
        axis.plot(range(len(shares)), shares, marker=".", label=name)
    axis.set(xlabel="tests", ylabel="share of errors")
    axis.legend()
    return figure


TABLES = {}
FIGURES = {
    1: figure_1,
    2: figure_2,
    3: figure_3,
    4: figure_4,
    5: figure_5,
    6: figure_6,
    7: figure_7,
    8: figure_8,
    9: figure_9,
    10: figure_10,
    11: figure_11,
}
