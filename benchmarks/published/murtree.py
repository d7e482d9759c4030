"""E. Demirovic et al., "MurTree: Optimal Decision Trees via Dynamic Programming and Search",
JMLR 23, 2022.

Tables 1 to 3 are those of ``ablation.py``, Table 5 that of ``bench_optimal.py --depth 4 5 --peers
pydl85``.
"""

import numpy as np
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from published.common import all_binary_sets, binary_sets, folds_of, seconds_of
from sktree_opt import OptimalTreeClassifier, OptimalTreeClassifierCV, optimal_path

QUICK = ["vote", "tic-tac-toe"]
TABLE_4 = ["anneal", "audiology", "australian-credit", "diabetes", "german-credit", "hypothyroid"]


def table_4(arguments):
    """Rows copied one to four times: seconds and cache entries of all sizes at depths 4 and 5."""
    print(
        "equal rows are merged, so that copies cost nothing; the paper's times grow with the rows"
    )
    print(f"{'set':20}{'depth':>6}{'copies':>7}{'seconds':>10}  cache")
    for name, X, y in binary_sets(arguments, TABLE_4, QUICK):
        for depth in (4,) if arguments.quick else (4, 5):
            for copies in (1, 2, 3, 4):
                rows, labels = np.tile(X, (copies, 1)), np.tile(y, copies)
                limit = arguments.time_limit or (20.0 if arguments.quick else 600.0)
                tree = OptimalTreeClassifier(max_depth=depth, time_limit=limit)
                seconds, path = seconds_of(optimal_path, tree, rows, labels)
                stored = {k: v for k, v in path.search_stats.items() if "cache" in k}
                print(f"{name:20}{depth:6}{copies:7}{seconds:10.3f}  {path.status} {stored}")


def cart_of(X, y):
    """CART tuned over depths 1 to 4."""
    grid = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 4]}, cv=5)
    return grid.fit(X, y).best_estimator_


def strategies(arguments, cart):
    """MT-F, MT-R and MT-A of section 5.4.2, for a tuned CART tree."""
    depth, leaves = max(1, cart.get_depth()), max(2, cart.get_n_leaves())
    limit = {"time_limit": arguments.time_limit or 60.0}
    return {
        "MT-F": OptimalTreeClassifier(max_depth=depth, max_leaf_nodes=leaves, **limit),
        "MT-R": OptimalTreeClassifierCV(max_depth=depth, max_leaf_nodes=leaves, cv=5, **limit),
        "MT-A": OptimalTreeClassifierCV(
            max_depth=3 if arguments.quick else 4, max_leaf_nodes=16, cv=5, **limit
        ),
    }


def figure_2(arguments):
    """Test accuracy less that of tuned CART, and seconds, of MT-F, MT-R and MT-A."""
    leads = {"MT-F": [], "MT-R": [], "MT-A": []}
    times = {name: [] for name in leads}
    for name, X, y in binary_sets(arguments, all_binary_sets(), QUICK):
        found = {label: [] for label in leads}
        for train, test in folds_of(arguments, y, 5):
            cart = cart_of(X[train], y[train])
            base = cart.score(X[test], y[test])
            for label, model in strategies(arguments, cart).items():
                seconds, model = seconds_of(model.fit, X[train], y[train])
                found[label].append(100 * (model.score(X[test], y[test]) - base))
                times[label].append(max(seconds, 1e-3))
        for label, lead in found.items():
            leads[label].append(np.mean(lead))
        print(f"{name:20} " + "  ".join(f"{k} {v[-1]:+.2f}" for k, v in leads.items()))
    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.subplots(2, 3)
    for column, label in enumerate(leads):
        axes[0, column].bar(range(len(leads[label])), sorted(leads[label]))
        axes[0, column].set(title=label, ylabel="accuracy less CART's, points")
        axes[1, column].hist(np.log10(times[label]), bins=20)
        axes[1, column].set(xlabel="log10 of seconds", ylabel="fits")
        print(f"{label}: mean lead {np.mean(leads[label]):+.2f} points")
    return figure


def figure_3(arguments):
    """Training and test accuracy of MT-A less those of a tuned random forest."""
    leads = []
    grid = {
        "n_estimators": [10, 50] if arguments.quick else [10, 50, 100],
        "max_depth": [None, 4] if arguments.quick else [None, 1, 2, 4],
        "max_features": ["sqrt"] if arguments.quick else ["sqrt", "log2", None],
    }
    for name, X, y in binary_sets(arguments, all_binary_sets(), QUICK):
        found = []
        for train, test in folds_of(arguments, y, 5):
            forest = GridSearchCV(RandomForestClassifier(random_state=0), grid, cv=5)
            forest.fit(X[train], y[train])
            model = OptimalTreeClassifierCV(
                max_depth=3 if arguments.quick else 4,
                max_leaf_nodes=16,
                cv=5,
                time_limit=arguments.time_limit or 60.0,
            )
            model = seconds_of(model.fit, X[train], y[train])[1]
            found.append(
                [
                    100 * (model.score(X[rows], y[rows]) - forest.score(X[rows], y[rows]))
                    for rows in (train, test)
                ]
            )
        leads.append(np.mean(found, axis=0))
        print(f"{name:20} training {leads[-1][0]:+.2f}, test {leads[-1][1]:+.2f} points")
    figure = Figure(figsize=(8, 4), layout="constrained")
    for axis, title, values in zip(
        figure.subplots(1, 2), ["training", "test"], np.transpose(leads), strict=True
    ):
        axis.bar(range(len(values)), sorted(values))
        axis.set(title=title, ylabel="accuracy less the forest's, points")
    return figure


TABLES = {4: table_4}
FIGURES = {2: figure_2, 3: figure_3}
