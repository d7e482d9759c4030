"""The lecture notes on decision trees: drawings and small examples."""

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from sktree_opt import (
    ColumnCombiner,
    GreedyTreeClassifier,
    GreedyTreeRegressor,
    OptimalTreeClassifier,
    optimal_path,
)
from sktree_opt.datasets import load_restaurant
from sktree_opt.export import export_text


def figure_5(arguments):
    """Entropy, Gini index and classification error of two classes."""
    p = np.linspace(1e-9, 1 - 1e-9, 201)
    curves = {
        "entropy / 2": -(p * np.log2(p) + (1 - p) * np.log2(1 - p)) / 2,
        "Gini index": 2 * p * (1 - p),
        "classification error": np.minimum(p, 1 - p),
    }
    figure = Figure(figsize=(5, 4), layout="constrained")
    axis = figure.subplots()
    for name, values in curves.items():
        axis.plot(p, values, label=name)
        print(f"{name:22} at p = 0.5: {values[len(p) // 2]:.3f}")
    axis.set(xlabel="share of one class", ylabel="impurity")
    axis.legend()
    return figure


def figure_6(arguments):
    """The restaurant with Price, Patrons and WaitEstimate in their order."""
    X, y = load_restaurant(return_X_y=True, as_frame=True, ordered=True)
    print(export_text(GreedyTreeClassifier(max_depth=1).fit(X[["Price"]], y)))
    print(export_text(GreedyTreeClassifier().fit(X, y)))


def figure_7(arguments):
    """XOR: no split, and a split of zero gain."""
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    for allowed in (False, True):
        tree = GreedyTreeClassifier(allow_zero_gain=allowed).fit(X, y)
        print(
            f"allow_zero_gain={allowed}: {tree.get_n_leaves()} leaves, {tree.score(X, y):.0%} right"
        )
    print(f"optimal: {OptimalTreeClassifier(max_depth=2).fit(X, y).score(X, y):.0%} right")


def figure_8(arguments):
    """Training and test error by the size of the tree."""
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    path = optimal_path(OptimalTreeClassifier(max_depth=3, thresholds=8), X, y)
    sizes = range(len(path.tree_index[-1]))
    best = [
        OptimalTreeClassifier(max_depth=3, thresholds=8, max_leaf_nodes=n + 1) for n in sizes[1:]
    ]
    test = [1 - tree.fit(X, y).score(X_test, y_test) for tree in best]
    training = path.objectives[-1][1:] / len(y)
    figure = Figure(figsize=(5, 4), layout="constrained")
    axis = figure.subplots()
    for name, values in (("training", training), ("test", test)):
        axis.plot(sizes[1:], values, marker="o", label=name)
        print(f"{name:9}" + " ".join(f"{value:.3f}" for value in values))
    axis.set(xlabel="tests", ylabel="share of errors")
    axis.legend()
    return figure


def figure_11(arguments):
    """A regression tree of one number."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 6, 120))
    y = np.sin(x) + rng.normal(0, 0.1, 120)
    tree = GreedyTreeRegressor(max_leaf_nodes=6).fit(x[:, None], y)
    print(export_text(tree, feature_names=["x"]))
    figure = Figure(figsize=(5, 4), layout="constrained")
    axis = figure.subplots()
    axis.plot(x, y, ".", x, tree.predict(x[:, None]))
    axis.set(xlabel="x", ylabel="y")
    return figure


def figure_13(arguments):
    """A target that is a linear function of two columns: univariate and multivariate tests."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    y = X[:, 0] + 0.8 * X[:, 1] < 0.9
    plain = GreedyTreeClassifier().fit(X, y)
    slanted = make_pipeline(ColumnCombiner("logistic"), OptimalTreeClassifier(max_depth=1))
    slanted.fit(X, y)
    print(f"tests of one column: {plain.get_n_leaves()} leaves")
    print(export_text(slanted))


TABLES = {}
FIGURES = {5: figure_5, 6: figure_6, 7: figure_7, 8: figure_8, 11: figure_11, 13: figure_13}
