"""S. Nijssen and E. Fromont, "Mining Optimal Decision Trees from Itemset Lattices", KDD 2007.

DL8 has no limit on the depth. Here the depth is 4 (quick: 3), which is said in each line.
"""

import numpy as np
from matplotlib.figure import Figure

from published.common import (
    all_binary_sets,
    binary_sets,
    corrected_t_test,
    folds_of,
    mark,
    seconds_of,
)
from sktree_opt import GreedyTreeClassifier, OptimalTreeClassifier, optimal_path
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
# Techniques off: the cache knows a node by its rows, as DL8-Closed does by the closure of its
# itemset. DL8-Simple's keys, the itemsets, took as long and are gone (see the ablation page).
CACHES = {"row sets (DL8-Closed)": (), "no cache of bounds": ("cache",)}


def depth_of(arguments):
    return 3 if arguments.quick else 4


def figure_7(arguments):
    """Seconds and stored nodes over the minimum support, with and without the cache."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axis = figure.subplots()
    depth = depth_of(arguments)
    for name, X, y in binary_sets(arguments, FEW[:4], QUICK):
        for cache, off in CACHES.items():
            shares, times = (0.2, 0.1, 0.05, 0.02), []
            for share in shares:
                tree = OptimalTreeClassifier(
                    max_depth=depth, min_samples_leaf=share, time_limit=arguments.time_limit
                )
                with use_engine("bits", off):
                    seconds, tree = seconds_of(tree.fit, X, y)
                times.append(max(seconds, 1e-4))
                stored = {k: v for k, v in tree.search_stats_.items() if "cache" in k}
                print(f"{name:20} {cache:22} support {share:5.0%} {seconds:9.4f} s  {stored}")
            axis.plot(shares, times, marker="o", label=f"{name}, {cache}")
    axis.set(xlabel="minimum support", ylabel="seconds", yscale="log")
    axis.legend(fontsize=7)
    return figure


def c45(min_rows, is_pruned):
    """C4.5 as J48 runs it: Quinlan's rule for gain ratio, error-based pruning or none."""
    return GreedyTreeClassifier(
        criterion="above_average_gain_ratio",
        min_samples_leaf=min_rows,
        pruning="error_based" if is_pruned else None,
    )


def figure_9(arguments):
    """Optimal trees (e and ex) against C4.5 at equal minimum support: accuracy, size, t-test."""
    depth = depth_of(arguments)
    print(
        f"optimal trees of depth {depth} at most; S: corrected t-test at 5 %, + if ours is better"
    )
    titles = "optimal     C4.5  S     leaves"
    print(f"{'set':20}{'rows':>5} |   e: {titles} |   ex: {titles}")
    for name, X, y in binary_sets(arguments, all_binary_sets(), QUICK):
        min_rows = max(2, len(y) // 20)
        line = f"{name:20}{min_rows:5} |"
        for objective, is_pruned in (("error", False), ("pessimistic_error", True)):
            optimal = OptimalTreeClassifier(
                max_depth=depth,
                min_samples_leaf=min_rows,
                objective=objective,
                time_limit=arguments.time_limit or 60.0,
            )
            line += compare(arguments, X, y, optimal, c45(min_rows, is_pruned))
        print(line)


def compare(arguments, X, y, first, second):
    """Test accuracies of two trees over folds, whether they differ, and their leaves."""
    scores, sizes = [], []
    folds = folds_of(arguments, y)
    for train, test in folds:
        models = [seconds_of(m.fit, X[train], y[train])[1] for m in (first, second)]
        scores.append([m.score(X[test], y[test]) for m in models])
        sizes.append([m.get_n_leaves() for m in models])
    ours, theirs = np.transpose(scores)
    sign = mark(corrected_t_test(ours, theirs, 1 / len(folds)), ours.mean() - theirs.mean())
    leaves = "/".join(f"{size:.1f}" for size in np.mean(sizes, axis=0))
    return f" {ours.mean():12.3f} {theirs.mean():8.3f} {sign:>2} {leaves:>10} |"


def figure_10(arguments):
    """C4.5's mean size as the limit of the optimal tree: accuracies and t-test."""
    depth = depth_of(arguments)
    print(f"{'set':20}{'leaves':>7}  optimal  C4.5  S  leaves   (depth at most {depth})")
    for name, X, y in binary_sets(arguments, FEW, QUICK):
        greedy = c45(2, True)
        sizes = [
            greedy.fit(X[train], y[train]).get_n_leaves() for train, _ in folds_of(arguments, y)
        ]
        limit = max(2, round(np.mean(sizes)))
        optimal = OptimalTreeClassifier(
            max_depth=depth, max_leaf_nodes=limit, time_limit=arguments.time_limit or 60.0
        )
        print(f"{name:20}{limit:7} " + compare(arguments, X, y, optimal, greedy))


def figure_11(arguments):
    """The least training error for every size."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axis = figure.subplots()
    depth = depth_of(arguments)
    for name, X, y in binary_sets(arguments, ["australian-credit", "diabetes"], QUICK):
        tree = OptimalTreeClassifier(max_depth=depth, time_limit=arguments.time_limit or 300.0)
        path = seconds_of(optimal_path, tree, X, y)[1]
        shares = path.objectives[-1] / len(y)
        print(f"{name:20} {path.status}: " + " ".join(f"{share:.3f}" for share in shares))
        axis.plot(range(len(shares)), shares, marker=".", label=name)
    axis.set(xlabel="tests", ylabel="share of errors")
    axis.legend()
    return figure


TABLES = {}
FIGURES = {7: figure_7, 9: figure_9, 10: figure_10, 11: figure_11}
