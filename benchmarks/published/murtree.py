"""E. Demirovic et al., "MurTree: Optimal Decision Trees via Dynamic Programming and Search",
JMLR 23, 2022.

Times are those of CPU seconds on one core; the paper's are of another machine. Tables 1 to 3 have
two parts: the package, and the algorithms as published in plain Python (``murtree_algorithm``).
Table 5 has lost the order of its columns in the text, so that only what the text says of it is
printed.
"""

import importlib
from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from published.common import cell_of, folds_of, limit_of, numbers, seconds_of
from published.murtree_algorithm import MurTree, StoppedError
from published.sets import all_binary_sets, binary_sets
from sktree_opt import OptimalTreeClassifier, OptimalTreeClassifierCV, optimal_path
from sktree_opt.optimal.run._plan import use_engine

QUICK = ["vote", "tic-tac-toe", "heart-cleveland", "audiology"]
# Sets that take a second or more here, for the tables of techniques.
QUICK_TECHNIQUES = ["heart-cleveland", "cleve", "backache"]


def figure_1(options):
    """A drawing of a tree on how to commute to work: nothing is measured."""
    print("a drawing; trees are drawn by sktree_opt.plot_tree and export_text")


# --- Tables 1 to 3: techniques on and off; fifteen trees, of 1 to 15 tests and depth four.


def fifteen_trees(options, X, y, off=()):
    """CPU seconds, cache entries, and whether all trees are proved; a limit holds for each tree."""
    seconds, entries, proved = 0.0, 0, True
    limit = limit_of(options, 10.0, 1800.0)
    tree = OptimalTreeClassifier(max_depth=4, warm_start=True, time_limit=limit)
    for n_tests in range(1, 16):
        tree.set_params(max_leaf_nodes=n_tests + 1)
        with use_engine("bits", off):
            spent, tree = seconds_of(tree.fit, X, y)
        seconds += spent
        entries = max(entries, tree.search_stats_["n_cache_entries"])
        proved &= tree.status_ == "optimal"
    return seconds, entries, proved


def print_techniques(options, section, variants, published):
    """Seconds of the package and of the published algorithms, and the paper's."""
    names = numbers("murtree", section)
    for name, X, y in binary_sets(options, names, QUICK_TECHNIQUES):
        paper = ", ".join(f"{label} {cell} s" for label, cell in names.get(name, {}).items())
        print(f"{name} ({len(y)} x {X.shape[1]}), paper: {paper or '-'}")
        for label, off in variants.items():
            seconds, entries, proved = fifteen_trees(options, X, y, off)
            note = "" if proved else ", not all proved"
            print(f"  {label:38}{seconds:9.3f} s{entries:9} entries{note}", flush=True)
        limit = limit_of(options, 20.0, 1800.0)
        for label, choices in published.items():
            search = MurTree(X, y, **choices, seconds=limit)
            seconds, is_proved = seconds_of(published_trees, search)
            note = "" if is_proved else ", stopped"
            print(
                f"  published: {label:27}{seconds:9.3f} s{search.n_entries:9} entries, "
                f"{search.n_counted_rows} rows counted{note}",
                flush=True,
            )


def published_trees(search):
    """Search for the fifteen trees; false after a stop."""
    try:
        for n_tests in range(1, 16):
            search.least_error(4, n_tests)
    except StoppedError:
        return False
    return True


def table_1(options):
    """Caches: nodes known by their rows, by their branches, or not at all."""
    variants = {"rows as keys": (), "no cache": ("cache", "small_cache")}
    published = {
        "branch": {"cache": "branch"},
        "dataset": {},
        "dataset, without Prop. 10, 11": {"inference": False},
    }
    print_techniques(options, "table 1 seconds", variants, published)


def table_2(options):
    """Counts made from those of a similar node, and the similarity bound, on and off."""
    variants = {
        "neither": ("subtraction", "similarity"),
        "counts of siblings": ("similarity",),
        "counts of siblings, similarity bound": (),
    }
    published = {
        "noInc-noSLB": {"incremental": False, "similarity": False},
        "inc-noSLB": {"similarity": False},
        "inc-SLB": {},
    }
    print_techniques(options, "table 2 seconds", variants, published)


def table_3(options):
    """Orders of columns (as they stand, by bounds or Gini, random) and of nodes."""
    variants = {
        "columns as they stand": ("look_ahead", "dynamic_order"),
        "columns by bounds, no look-ahead": ("look_ahead",),
        "columns by bounds and look-ahead": (),
    }
    published = {
        "Gini": {"columns": "gini"},
        "random": {"columns": "random"},
        "in order, post-order": {"nodes": "post-order"},
        "in order, dynamic": {},
    }
    print_techniques(options, "table 3 seconds", variants, published)


def table_4(options):
    """Rows copied one to four times: seconds and cache entries of all sizes at depths 4 and 5."""
    print(
        "equal rows are merged, so that copies cost nothing; the paper's times grow with the rows"
    )
    print(f"{'set':20}{'depth':>6}{'copies':>7}{'seconds':>10}{'paper':>7}  entries (paper)")
    for name, X, y in binary_sets(options, numbers("murtree", "table 4 depth 4"), QUICK):
        for depth in (4,) if options.quick else (4, 5):
            section = f"table 4 depth {depth}"
            for copies in (1, 2, 3, 4):
                rows, labels = np.tile(X, (copies, 1)), np.tile(y, copies)
                tree = OptimalTreeClassifier(
                    max_depth=depth, time_limit=limit_of(options, 20.0, 600.0)
                )
                seconds, path = seconds_of(optimal_path, tree, rows, labels)
                paper = cell_of("murtree", section, name, str(copies))
                cache = cell_of("murtree", section, name, "cache")
                print(
                    f"{name:20}{depth:6}{copies:7}{seconds:10.3f}{paper:>7}  "
                    f"{path.search_stats['n_cache_entries']} ({cache} thousand), {path.status}",
                    flush=True,
                )


# --- Table 5 and section 5.3: other solvers. OSDT is not on PyPI and cannot be installed from it.

GOSDT_COST = 0.01  # its default, of each leaf, as a share of the rows


def peer(module):
    """A peer's module, or None."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def table_5(options):
    """DL8.5, GOSDT (section 5.3) and ours: seconds and objectives. OSDT is not on PyPI."""
    limit = limit_of(options, 20.0, 600.0)
    peers = {name: peer(name) for name in ("pydl85", "gosdt", "osdt")}
    for name, module in peers.items():
        if module is None:
            print(f"missing peer {name}: {'not on PyPI' if name == 'osdt' else 'pip install'}")
    print(f"{'set':20}{'depth':>6}  solver: seconds, objective")
    for name, X, y in binary_sets(options, all_binary_sets(), QUICK):
        for depth in (3, 4) if options.quick else (4, 5):
            rows = {}
            ours = OptimalTreeClassifier(max_depth=depth, time_limit=limit)
            seconds, _ = seconds_of(ours.fit, X, y)
            rows["ours"] = seconds, ours.objective_, ours.status_ == "optimal"
            if peers["pydl85"] is not None:
                tree = peers["pydl85"].DL85Classifier(max_depth=depth, time_limit=int(limit))
                seconds, _ = seconds_of(tree.fit, X, y)
                rows["DL8.5"] = seconds, tree.error_, not tree.timeout_
            print_rows(name, depth, rows)
        print_rows(name, "cost", sparse_rows(X, y, peers["gosdt"], limit))
    print(
        "paper: orders of magnitude faster than DL8.5; GOSDT at cost 0.01 ended in ten minutes on"
    )
    print("35 % of 68 sets, OSDT mostly not at all, with trees of depth four at most on 90 %")


def sparse_rows(X, y, gosdt, limit):
    """Ours and GOSDT at GOSDT's default cost of a leaf; objectives in rows."""
    cost = GOSDT_COST * len(y)
    ours = OptimalTreeClassifier(max_depth=4, complexity_cost=GOSDT_COST, time_limit=limit)
    seconds, _ = seconds_of(ours.fit, X, y)
    rows = {"ours, depth 4": (seconds, ours.objective_, ours.status_ == "optimal")}
    if gosdt is not None:
        tree = gosdt.GOSDTClassifier(
            regularization=GOSDT_COST, allow_small_reg=True, depth_budget=4, time_limit=int(limit)
        )
        seconds, _ = seconds_of(tree.fit, X.astype(bool), y)
        result = tree.result_
        # It pays for leaves, one more than tests.
        objective = result.upperbound * len(y) - cost
        rows["GOSDT"] = seconds, objective, result.status == gosdt.Status.CONVERGED
    return rows


def print_rows(name, depth, rows):
    cells = [
        f"{solver} {seconds:.3f} s, {objective:.2f}{'' if proved else ' (limit)'}"
        for solver, (seconds, objective, proved) in rows.items()
    ]
    print(f"{name:20}{depth!s:>6}  " + "; ".join(cells), flush=True)


# --- Figures 2 and 3: trees on rows that they have not seen.


def cart_of(X, y):
    """CART tuned over depths 1 to 4, and its seconds."""
    grid = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 4]}, cv=5)
    seconds, grid = seconds_of(grid.fit, X, y)
    return grid.best_estimator_, seconds


def strategies(options, cart):
    """MT-F, MT-R and MT-A of section 5.4.2, for a tuned CART tree."""
    depth, leaves = max(1, cart.get_depth()), max(2, cart.get_n_leaves())
    limit = {"time_limit": limit_of(options, 20.0, 1800.0)}
    return {
        "MT-F": OptimalTreeClassifier(max_depth=depth, max_leaf_nodes=leaves, **limit),
        "MT-R": OptimalTreeClassifierCV(max_depth=depth, max_leaf_nodes=leaves, cv=5, **limit),
        "MT-A": tuned(options),
    }


def tuned(options):
    """MT-A: depth up to four (quick: three) and all sizes, by cross-validation."""
    return OptimalTreeClassifierCV(
        max_depth=3 if options.quick else 4,
        max_leaf_nodes=16,
        cv=5,
        time_limit=limit_of(options, 20.0, 1800.0),
    )


# Ranges of the run times in Figure 2.
SECONDS = (0, 5, 10, 60, 180, 300, 1800, np.inf)


def figure_2(options):
    """Test accuracy less that of tuned CART, and seconds, of MT-F, MT-R and MT-A."""
    leads = {"MT-F": [], "MT-R": [], "MT-A": []}
    times = {name: [] for name in [*leads, "CART"]}
    for name, X, y in binary_sets(options, all_binary_sets(), QUICK):
        found = {label: [] for label in leads}
        spent = dict.fromkeys(times, 0.0)
        for train, test in folds_of(options, y, 5):
            cart, seconds = cart_of(X[train], y[train])
            spent["CART"] += seconds
            base = cart.score(X[test], y[test])
            for label, model in strategies(options, cart).items():
                seconds, model = seconds_of(model.fit, X[train], y[train])
                spent[label] += seconds
                found[label].append(100 * (model.score(X[test], y[test]) - base))
        for label, lead in found.items():
            leads[label].append(np.mean(lead))
        for label, seconds in spent.items():
            times[label].append(seconds)
        print(
            f"{name:20} "
            + "  ".join(f"{k} {v[-1]:+.2f} ({times[k][-1]:.2f} s)" for k, v in leads.items())
            + f"  CART {times['CART'][-1]:.2f} s",
            flush=True,
        )
    figure = Figure(figsize=(12, 6), layout="constrained")
    axes = figure.subplots(2, 3)
    for column, label in enumerate(leads):
        draw_differences(axes[0, column], leads[label], f"{label}, test", "CART's")
        counts = np.histogram(times[label], SECONDS)[0]
        axes[1, column].bar([f"{a:g}-{b:g}" for a, b in pairwise(SECONDS)], counts)
        axes[1, column].set(xlabel="seconds of all folds", ylabel="sets")
        ahead, behind = sum(v > 0.5 for v in leads[label]), sum(v < -0.5 for v in leads[label])
        print(
            f"{label}: mean lead {np.mean(leads[label]):+.2f} points; ahead by half a point on "
            f"{ahead} sets, behind on {behind}, of {len(leads[label])}"
        )
    print("paper, 84 sets: MT-F comparable to CART, MT-R better on most, MT-A consistently better")
    return figure


def draw_differences(axis, leads, title, whose):
    """Number of sets by difference in points."""
    points = np.round(leads).astype(int)
    values, counts = np.unique(points, return_counts=True)
    axis.bar(values, counts)
    axis.set(title=title, xlabel=f"accuracy less {whose}, points", ylabel="sets")


def figure_3(options):
    """Training and test accuracy of MT-A less those of a tuned random forest."""
    grid = {
        "n_estimators": [10, 50] if options.quick else [10, 50, 100],
        "max_depth": [None, 4] if options.quick else [None, 1, 2, 4],
        "max_features": ["sqrt"] if options.quick else [None, 0.5, "sqrt", "log2"],
    }
    leads = []
    for name, X, y in binary_sets(options, all_binary_sets(), QUICK):
        found = []
        for train, test in folds_of(options, y, 5):
            forest = GridSearchCV(RandomForestClassifier(random_state=0), grid, cv=5)
            seconds_of(forest.fit, X[train], y[train])
            model = seconds_of(tuned(options).fit, X[train], y[train])[1]
            found.append(
                [
                    100 * (model.score(X[rows], y[rows]) - forest.score(X[rows], y[rows]))
                    for rows in (train, test)
                ]
            )
        leads.append(np.mean(found, axis=0))
        print(
            f"{name:20} training {leads[-1][0]:+.2f}, test {leads[-1][1]:+.2f} points", flush=True
        )
    figure = Figure(figsize=(8, 4), layout="constrained")
    for axis, title, values in zip(
        figure.subplots(1, 2), ["training", "test"], np.transpose(leads), strict=True
    ):
        draw_differences(axis, values, title, "the forest's")
        close = sum(abs(value) <= 1.0 for value in values)
        print(f"{title}: within one point on {close} of {len(values)} sets")
    print(
        "paper: forests are ahead in training; on half of 84 sets the test accuracy is comparable"
    )
    return figure


TABLES = {1: table_1, 2: table_2, 3: table_3, 4: table_4, 5: table_5}
FIGURES = {1: figure_1, 2: figure_2, 3: figure_3}
