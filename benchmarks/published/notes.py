"""The lecture notes on decision trees: their drawings, as small programs."""

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import confusion_matrix
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


def restaurant():
    return load_restaurant(return_X_y=True, as_frame=True, ordered=True)


def one_axis(**settings):
    figure = Figure(figsize=(5, 4), layout="constrained")
    axis = figure.subplots()
    axis.set(**settings)
    return figure, axis


def figure_1(options):
    """The training data: will we wait for a table?"""
    X, y = restaurant()
    print(X.assign(WillWait=y).to_string())


def figure_2(options):
    """The features and their values."""
    for name, column in restaurant()[0].items():
        values = (
            " < ".join(column.cat.categories)
            if column.cat.ordered
            else ", ".join(column.cat.categories)
        )
        print(f"{name:14} {values}")


def figure_3(options):
    """The rows of each class by the values of Alternate and of Patrons."""
    X, y = restaurant()
    for name in ("Alternate", "Patrons"):
        stump = GreedyTreeClassifier(max_depth=1, allow_zero_gain=True).fit(
            X[[name]].astype("category").apply(lambda c: c.cat.as_unordered()), y
        )
        print(export_text(stump))


def figure_4(options):
    """A tree for the restaurant, and the class of the row of section 1.0.1 (the notes: No)."""
    X, y = restaurant()
    X = X.apply(lambda column: column.cat.as_unordered())
    tree = GreedyTreeClassifier().fit(X, y)
    print(export_text(tree))
    row = X[(X["Patrons"] == "Full") & (X["WaitEstimate"] == "10-30")].iloc[[-1]]
    print(f"Patrons Full, WaitEstimate 10-30: {tree.predict(row)[0]}")


def figure_5(options):
    """Entropy, Gini index and classification error of two classes."""
    p = np.linspace(1e-9, 1 - 1e-9, 201)
    curves = {
        "entropy / 2": -(p * np.log2(p) + (1 - p) * np.log2(1 - p)) / 2,
        "Gini index": 2 * p * (1 - p),
        "classification error": np.minimum(p, 1 - p),
    }
    figure, axis = one_axis(xlabel="share of one class", ylabel="impurity")
    for name, values in curves.items():
        axis.plot(p, values, label=name)
        print(f"{name:22} at p = 0.5: {values[len(p) // 2]:.3f}")
    axis.legend()
    return figure


def figure_6(options):
    """The restaurant with Price, Patrons and WaitEstimate in their order."""
    X, y = restaurant()
    print(export_text(GreedyTreeClassifier(max_depth=1).fit(X[["Price"]], y)))
    print(export_text(GreedyTreeClassifier().fit(X, y)))


def figure_7(options):
    """XOR: no split, and a split of zero gain."""
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    for allowed in (False, True):
        tree = GreedyTreeClassifier(allow_zero_gain=allowed).fit(X, y)
        print(
            f"allow_zero_gain={allowed}: {tree.get_n_leaves()} leaves, {tree.score(X, y):.0%} right"
        )
    print(f"optimal: {OptimalTreeClassifier(max_depth=2).fit(X, y).score(X, y):.0%} right")


def figure_8(options):
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
    figure, axis = one_axis(xlabel="tests", ylabel="share of errors")
    for name, values in (("training", training), ("test", test)):
        axis.plot(sizes[1:], values, marker="o", label=name)
        print(f"{name:9}" + " ".join(f"{value:.3f}" for value in values))
    axis.legend()
    return figure


def figure_9(options):
    """The confusion matrix of a tree, and of one whose missed positives cost five times as much."""
    X, y = load_breast_cancer(return_X_y=True)
    for costs in ([[0, 1], [1, 0]], [[0, 1], [5, 0]]):
        tree = GreedyTreeClassifier(criterion="gini_cost", cost_matrix=costs, max_depth=2)
        print(f"costs {costs}:\n{confusion_matrix(y, tree.fit(X, y).predict(X))}")


def regression():
    """A number, and a noisy function of it."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 6, 120))
    y = np.sin(x) + rng.normal(0, 0.1, 120)
    return x, y, GreedyTreeRegressor(max_leaf_nodes=6).fit(x[:, None], y)


def figure_10(options):
    """A regression tree of one number, and what stopping below an error leaves of it."""
    x, y, tree = regression()
    print(export_text(tree, feature_names=["x"]))
    for bound in (0.3, 0.1, 0.02):
        stopped = GreedyTreeRegressor(acceptable_error=bound).fit(x[:, None], y)
        print(f"nodes of a mean squared error up to {bound} stay: {stopped.get_n_leaves()} leaves")


def figure_11(options):
    """The fit of that regression tree."""
    x, y, tree = regression()
    figure, axis = one_axis(xlabel="x", ylabel="y")
    axis.plot(x, y, ".", x, tree.predict(x[:, None]))
    print(f"mean squared error {np.mean((tree.predict(x[:, None]) - y) ** 2):.4f}")
    return figure


def figure_12(options):
    """Two numbers: the rectangles of a tree by gain, and the tree."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    y = (X[:, 0] < 0.4) & (X[:, 1] < 0.7) | (X[:, 0] > 0.8)
    tree = GreedyTreeClassifier(numeric_gain_penalty=False).fit(X, y)
    print(export_text(tree, feature_names=["x1", "x2"]))
    return draw_border(tree, X, y)


def draw_border(model, X, y):
    figure, axis = one_axis(xlabel="x1", ylabel="x2")
    grid = np.linspace(0, 1, 200)
    cells = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    axis.contourf(grid, grid, model.predict(cells).reshape(200, 200), alpha=0.3)
    axis.scatter(*X.T, c=y, s=8)
    return figure


def figure_13(options):
    """A target that is a linear function of two columns: univariate and multivariate tests."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    y = X[:, 0] + 0.8 * X[:, 1] < 0.9
    plain = GreedyTreeClassifier().fit(X, y)
    slanted = make_pipeline(ColumnCombiner("logistic"), OptimalTreeClassifier(max_depth=1))
    slanted.fit(X, y)
    print(f"tests of one column: {plain.get_n_leaves()} leaves")
    print(export_text(slanted))
    return draw_border(slanted, X, y)


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
    12: figure_12,
    13: figure_13,
}
