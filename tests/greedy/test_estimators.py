"""The estimators on real tables, beside scikit-learn's trees, and on bad input."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sktree_opt.datasets import load_loans, load_restaurant
from sktree_opt.export import export_code, from_json, to_json
from sktree_opt.greedy import GreedyTreeClassifier, GreedyTreeRegressor
from sktree_opt.subset import AcceptableSubsetSelector
from tests.reference import naive_predict

PACKAGED = {"breast_cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
UCI = ["letter", "spambase", "sonar", "ionosphere", "madelon"]
ESTIMATORS = [GreedyTreeClassifier, GreedyTreeRegressor]


def load_uci(data_dir, name):
    pd = pytest.importorskip("pandas")
    table = pd.read_csv(next((data_dir / "uci").glob(f"{name}.csv*")))
    return table.drop(columns="class").to_numpy(np.float64), table["class"].to_numpy()


def check_agreement(X, y):
    """The same training error, and as many leaves as scikit-learn's trees under some tie order."""
    ours = GreedyTreeClassifier().fit(X, y)
    theirs = [
        # A split that gains nothing is not made here.
        DecisionTreeClassifier(
            criterion="entropy", random_state=seed, min_impurity_decrease=1e-12
        ).fit(X, y)
        for seed in range(5)
    ]
    assert np.mean(ours.predict(X) != y) == np.mean(theirs[0].predict(X) != y)
    leaves = [tree.get_n_leaves() for tree in theirs]
    spread = max(leaves) - min(leaves) + max(1, 0.01 * max(leaves))
    assert min(leaves) - spread <= ours.get_n_leaves() <= max(leaves) + spread


@pytest.mark.parametrize("name", PACKAGED)
def test_agrees_with_scikit_learn_on_packaged_data(name):
    check_agreement(*PACKAGED[name](return_X_y=True))


@pytest.mark.parametrize("name", UCI)
def test_agrees_with_scikit_learn_on_uci_data(name, data_dir):
    check_agreement(*load_uci(data_dir, name))


@pytest.mark.parametrize("max_leaf_nodes", [2, 3, 5, 10, 40])
def test_best_first_agrees_with_scikit_learn(max_leaf_nodes, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(500, 6))
    y = X[:, 0] * X[:, 1] + rng.normal(size=500)
    settings = {"max_leaf_nodes": max_leaf_nodes}
    ours = GreedyTreeRegressor(**settings).fit(X, y)
    theirs = DecisionTreeRegressor(random_state=0, **settings).fit(X, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)


def test_regression_agrees_with_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    X = X.astype(np.float32)
    ours = GreedyTreeRegressor(max_depth=4).fit(X, y)
    theirs = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)


@pytest.mark.parametrize("criterion", ["information_gain", "gain_ratio", "gini", "error"])
def test_restaurant_asks_for_patrons_first(criterion):
    X, y = load_restaurant(return_X_y=True, as_frame=True)
    tree = GreedyTreeClassifier(criterion=criterion).fit(X, y)
    assert tree.feature_names_in_[tree.tree_.nodes["feature"][0]] == "Patrons"
    # The rest is beyond a criterion that is blind to splits that change no majority.
    assert tree.score(X, y) == 1.0 or criterion == "error"


def test_costs_move_splits_and_answers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.digitize(X[:, 0] + rng.normal(size=300), [-0.7, 0.7])
    costs = [[0, 1, 1], [1, 0, 1], [50, 50, 0]]
    plain = GreedyTreeClassifier(criterion="gini", max_depth=2).fit(X, y)
    priced = GreedyTreeClassifier(criterion="gini_cost", cost_matrix=costs, max_depth=2).fit(X, y)
    assert (priced.predict(X) == 2).sum() > (plain.predict(X) == 2).sum()
    expected = np.argmin(priced.predict_proba(X) @ np.asarray(costs), axis=1)
    np.testing.assert_array_equal(priced.predict(X), expected)
    uniform = 1 - np.eye(3)
    same = GreedyTreeClassifier(criterion="gini_cost", cost_matrix=uniform).fit(X, y).tree_
    gini = GreedyTreeClassifier(criterion="gini").fit(X, y).tree_
    np.testing.assert_array_equal(same.nodes["threshold"], gini.nodes["threshold"])
    np.testing.assert_allclose(same.nodes["impurity"], gini.nodes["impurity"], atol=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 0.3, 1.0, 7.0])
def test_scaled_weights_give_the_same_tests(scale):
    X, y = load_loans(return_X_y=True, as_frame=True)
    tree = GreedyTreeClassifier(min_weight_branch=2).fit(X, y)
    weighted = GreedyTreeClassifier(min_weight_branch=2 * scale, min_weight_split=2 * scale).fit(
        X, y, sample_weight=np.full(len(y), scale)
    )
    np.testing.assert_array_equal(weighted.tree_.nodes["feature"], tree.tree_.nodes["feature"])
    np.testing.assert_allclose(weighted.tree_.values, tree.tree_.values * scale)


def test_boosting_works_on_weights_that_sum_to_one():
    X, y = load_breast_cancer(return_X_y=True)
    boosted = AdaBoostClassifier(GreedyTreeClassifier(max_depth=1), n_estimators=20).fit(X, y)
    assert boosted.score(X, y) > GreedyTreeClassifier(max_depth=1).fit(X, y).score(X, y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_sparse_and_dense_tables_give_the_same_tree(estimator, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 4, size=(100, 5)) * (rng.random((100, 5)) < 0.5).astype(float)
    y = (X.sum(axis=1) > 3).astype(int)
    assert estimator().fit(sparse.csr_matrix(X), y).tree_ == estimator().fit(X, y).tree_


def test_subset_of_many_categories_is_refused():
    X = np.array([[f"c{i % 13}"] for i in range(40)], dtype=object)
    with pytest.raises(ValueError, match=r"Column 'x0' has 13 categories.*at most 12"):
        GreedyTreeClassifier(nominal_split="subset").fit(X, np.arange(40) % 3)
    two_classes = GreedyTreeClassifier(nominal_split="subset").fit(X, np.arange(40) % 13 > 6)
    assert two_classes.get_n_leaves() == 2
    GreedyTreeRegressor(nominal_split="subset").fit(X, np.arange(40.0))


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    "column", [[np.nan] * 6, [1.0] * 6, [1.0, np.nan, 1.0, np.nan, 1.0, 1.0]], ids=repr
)
def test_columns_that_tell_nothing(estimator, column):
    X = np.array(column).reshape(-1, 1)
    tree = estimator().fit(X, [0, 1, 0, 1, 0, 1])
    assert tree.get_n_leaves() == 1
    assert len(tree.predict(X)) == 6


BAD_INPUT = {
    "no rows": (np.empty((0, 2)), [], "minimum of 1 is required"),
    "infinite": ([[np.inf], [1.0]], [0, 1], "infinity"),
    "complex": ([[1j], [1.0]], [0, 1], "Complex data not supported"),
    "lists in cells": (
        np.array([[[1]], [None]] + [[None]], dtype=object)[:2],
        [0, 1],
        "number|string",
    ),
    "three dimensions": (np.zeros((2, 2, 2)), [0, 1], "dim"),
    "one dimension": (np.zeros(2), [0, 1], "Reshape your data"),
    "lengths differ": (np.zeros((3, 1)), [0, 1], "inconsistent"),
}


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_tables(estimator, case):
    X, y, message = BAD_INPUT[case]
    with pytest.raises((ValueError, TypeError), match=message):
        estimator().fit(X, y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_one_row(estimator):
    tree = estimator().fit([[1.0, 2.0]], [3])
    assert tree.predict([[0.0, 0.0]]).tolist() == [3]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(("weights", "message"), [([-1, 1], "[Nn]egative"), ([0, 0], "zero")])
def test_bad_weights(estimator, weights, message):
    with pytest.raises(ValueError, match=message):
        estimator().fit([[0.0], [1.0]], [0, 1], sample_weight=weights)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([[0, 1, 1]] * 3, r"must have shape \(2, 2\) .* got shape \(3, 3\)"),
        ([[0, -1], [1, 0]], "not negative"),
        ([[0, np.nan], [1, 0]], "finite"),
    ],
)
def test_bad_costs(costs, message):
    with pytest.raises(ValueError, match=message):
        GreedyTreeClassifier(cost_matrix=costs).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("criterion", ["gini_cost", "information_gain"])
def test_costs_of_classes_without_weight_are_left_out(criterion):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), rng.integers(0, 3, 90)
    costs = np.array([[1.0, 2.0, 3.0], [4.0, 0.0, 5.0], [6.0, 7.0, 2.0]])
    tree = GreedyTreeClassifier(criterion=criterion, cost_matrix=costs, max_depth=4)
    tree.fit(X, y, sample_weight=y != 1)
    rest = GreedyTreeClassifier(criterion=criterion, cost_matrix=costs[::2, ::2], max_depth=4)
    rest.fit(X[y != 1], y[y != 1])
    assert tree.tree_ == rest.tree_
    # Costs on the diagonal decide answers, too.
    least = np.argmin(tree.predict_proba(X) @ costs[::2, ::2], axis=1)
    np.testing.assert_array_equal(tree.predict(X), tree.classes_[least])


def test_gini_cost_needs_costs():
    with pytest.raises(ValueError, match="needs a cost_matrix"):
        GreedyTreeClassifier(criterion="gini_cost").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_bad_names_and_tables_at_predict(estimator):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"a": [0.0, 1.0], "b": ["u", "v"]})
    with pytest.raises(ValueError, match="unknown columns: \\['c'\\]"):
        estimator(categorical_features=["c"]).fit(X, [0, 1])
    with pytest.raises(NotFittedError):
        estimator().predict(X)
    fitted = estimator().fit(X, [0, 1])
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(X.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="feature"):
        fitted.predict(X[["a"]])


def test_targets_beyond_what_can_be_squared_are_refused():
    model = GreedyTreeRegressor()
    X, y = np.arange(8.0)[:, np.newaxis], np.repeat([0.0, 1.0], 4)
    for scale, message in {1e160: "y holds numbers beyond", 1e-160: "in y differ by less"}.items():
        with pytest.raises(ValueError, match=message):
            model.fit(X, scale * y)
    for scale in (1e149, -1e149, 1e-149):
        assert model.fit(X, scale * y).score(X, scale * y) == 1.0
    assert model.fit(X, np.full(8, 1e-200)).predict(X).tolist() == [1e-200] * 8


@pytest.mark.parametrize("criterion", ["gini", "information_gain", "squared_error"])
@pytest.mark.parametrize("largest", [1e160, 1e308])
def test_weights_whose_squares_are_no_floats_are_refused(criterion, largest):
    X, y = np.arange(10.0).reshape(-1, 1), np.arange(10) > 4
    is_regression = criterion == "squared_error"
    model = GreedyTreeRegressor() if is_regression else GreedyTreeClassifier(criterion=criterion)
    with pytest.raises(ValueError, match="sample_weight times class_weight must be between 0 and"):
        model.fit(X, y, sample_weight=np.full(10, largest))
    assert model.fit(X, y, sample_weight=np.full(10, 1e60)).get_n_leaves() == 2


def test_weighted_squares_of_targets_that_are_no_floats_are_refused():
    X = np.arange(10.0).reshape(-1, 1)
    with pytest.raises(ValueError, match="times sample_weight, are too large"):
        GreedyTreeRegressor().fit(X, 1e140 * (X[:, 0] > 4), sample_weight=np.full(10, 1e50))


@pytest.mark.parametrize("nominal_split", ["multiway", "one_vs_rest", "subset"])
@pytest.mark.parametrize(("minimum", "least"), [(3, 3), (20, 20), (0.1, 40), (0.01, 4)])
def test_min_samples_leaf_counts_rows_in_every_branch(nominal_split, minimum, least):
    X, y = load_loans(return_X_y=True, as_frame=True)
    weights = np.random.default_rng(0).uniform(0.01, 5.0, size=len(y))
    tree = GreedyTreeClassifier(nominal_split=nominal_split, min_samples_leaf=minimum)
    for sample_weight in (None, weights):
        nodes = tree.fit(X, y, sample_weight).tree_.nodes
        reached = nodes["n_samples"][(nodes["kind"] == 0) & (nodes["n_samples"] > 0)]
        assert reached.min() >= least
        assert len(reached) > 1
    nodes = tree.set_params(min_samples_leaf=1).fit(X, y).tree_.nodes
    assert nodes["n_samples"][(nodes["kind"] == 0) & (nodes["n_samples"] > 0)].min() < least


def test_min_samples_of_binary_splits_are_those_of_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    for settings in ({"min_samples_leaf": 0.05}, {"min_samples_split": 0.3}):
        settings["min_impurity_decrease"] = 1e-12
        theirs = DecisionTreeClassifier(criterion="entropy", random_state=0, **settings).fit(X, y)
        settings.pop("min_impurity_decrease")
        ours = GreedyTreeClassifier(criterion="entropy", **settings).fit(X, y)
        assert ours.get_n_leaves() == theirs.get_n_leaves()
        assert ours.score(X, y) == pytest.approx(theirs.score(X, y))


def test_minimum_weight_of_two_branches_or_of_every_branch():
    X = np.array(list("aaaabbbbc"), dtype=object).reshape(-1, 1)
    y = [0, 0, 0, 0, 1, 1, 1, 1, 0]
    two = GreedyTreeClassifier(min_weight_branch=2).fit(X, y)
    every = GreedyTreeClassifier(min_weight_branch=2, min_weight_branches="every").fit(X, y)
    assert (two.get_n_leaves(), every.get_n_leaves()) == (3, 1)


def test_zero_gain_splits_find_a_parity():
    X = np.array(list(product([0, 1], repeat=4)), dtype=float)
    y = (X[:, 0] + X[:, 2] + X[:, 3]).astype(int) % 2
    assert GreedyTreeClassifier().fit(X, y).get_n_leaves() == 1
    tree = GreedyTreeClassifier(allow_zero_gain=True).fit(X, y)
    assert tree.score(X, y) == 1.0
    regressor = GreedyTreeRegressor(allow_zero_gain=True).fit(X, y)
    assert regressor.score(X, y) == 1.0


def test_a_node_of_acceptable_error_is_a_leaf():
    X, y = load_breast_cancer(return_X_y=True)
    tree = GreedyTreeClassifier(acceptable_error=0.05).fit(X, y).tree_
    wrong = 1 - tree.node_values().max(axis=1)
    is_leaf = tree.nodes["kind"] == 0
    assert wrong[~is_leaf].min() > 0.05
    assert wrong[is_leaf].max() > 0
    X, y = load_diabetes(return_X_y=True)
    tree = GreedyTreeRegressor(acceptable_error=2000).fit(X, y).tree_
    is_leaf = tree.nodes["kind"] == 0
    assert tree.nodes["impurity"][~is_leaf].min() > 2000


@pytest.mark.parametrize(
    ("name", "value"),
    [("min_samples_leaf", 0), ("min_samples_leaf", 1.5), ("min_samples_split", 1)],
)
def test_minima_are_checked_as_by_scikit_learn(name, value):
    with pytest.raises(ValueError, match=f"The '{name}' parameter"):
        GreedyTreeClassifier(**{name: value}).fit([[0.0], [1.0]], [0, 1])


def test_probabilities_of_few_rows_are_smoothed():
    X, y = [["a"], ["a"], ["a"], ["b"], ["b"], ["b"], ["b"], ["b"]], [0, 0, 0, 1, 1, 1, 1, 1]

    def of_a(weights=None, **parameters):
        model = GreedyTreeClassifier(**parameters).fit(X, y, weights)
        return model.predict_proba([["a"]])[0, 0]

    assert of_a() == 1.0
    assert of_a(leaf_smoothing="laplace") == pytest.approx(4 / 5)
    assert of_a(leaf_smoothing=4) == pytest.approx((3 + 4 * 3 / 8) / 7)
    assert of_a(hierarchical_shrinkage=8) == pytest.approx(3 / 8 + (1 - 3 / 8) / 2)
    # Small weights are shares of rows.
    assert of_a(np.full(8, 0.1), leaf_smoothing="laplace") == pytest.approx(4 / 5)
    assert of_a(np.full(8, 2.0), leaf_smoothing="laplace") == pytest.approx(7 / 8)


def table_with_holes(rng, n_rows=120):
    """Numbers and categories, some missing; whether they are missing tells of the class."""
    X = np.empty((n_rows, 4), dtype=object)
    X[:, 0], X[:, 1] = rng.integers(0, 5, n_rows), rng.normal(size=n_rows).round(1)
    X[:, 2], X[:, 3] = rng.choice(list("abc"), n_rows), rng.choice(list("xy"), n_rows)
    is_missing = rng.random(X.shape) < 0.25
    y = (is_missing[:, 0] ^ (X[:, 2] == "a") ^ (rng.random(n_rows) < 0.1)).astype(int)
    X[is_missing] = None
    return X, y


MISSING = ["distribute", "category", "majority"]


@pytest.mark.parametrize("nominal_split", ["multiway", "one_vs_rest", "subset"])
@pytest.mark.parametrize("missing", MISSING)
def test_predictions_and_exports_follow_missing_values(missing, nominal_split, global_random_seed):
    X, y = table_with_holes(np.random.default_rng(global_random_seed))
    model = GreedyTreeClassifier(missing=missing, nominal_split=nominal_split).fit(X, y)
    tree = model.tree_
    encoded = model._encoder.transform(X)
    expected = [naive_predict.predict(tree, row) for row in encoded]
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    tested = tree.nodes["kind"] != 0
    if missing == "distribute":
        assert (tree.nodes["missing_branch"][tested] == -1).all()
    else:
        assert (tree.nodes["missing_branch"][tested] >= 0).all()
        paths = model.decision_path(X)
        assert (tree.nodes["n_samples"] == np.asarray(paths.sum(axis=0)).ravel()).all()
    assert (tree.nodes["kind"] == 5).any() == (missing == "category")
    copy = from_json(to_json(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    scope = {}
    exec(export_code(model, language="python"), scope)
    names = [f"x{j}" for j in range(4)]
    answers = [scope["predict"](dict(zip(names, row, strict=True))) for row in X.tolist()]
    np.testing.assert_array_equal(answers, model.predict(X))


@pytest.mark.parametrize("missing", MISSING)
def test_subset_searches_follow_missing_values(missing, global_random_seed):
    X, y = table_with_holes(np.random.default_rng(global_random_seed), 60)
    tree = GreedyTreeClassifier(missing=missing, max_depth=2)
    errors = [
        1.0 - tree.fit(X[:, columns], y).score(X[:, columns], y)
        for n in range(1, 5)
        for columns in combinations(range(4), n)
    ]
    selector = AcceptableSubsetSelector(tree, error="training").fit(X, y)
    assert selector.objective_ == pytest.approx(min(errors))
    assert 1.0 - selector.score(X, y) == pytest.approx(min(errors))


def test_missing_values_as_a_category_are_told_apart():
    X, y = [[None]] * 4 + [[1.0]] * 4 + [[2.0]] * 4, [1] * 4 + [0] * 4 + [1] * 4
    model = GreedyTreeClassifier(missing="category").fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.predict([[None], [0.0], [9.0]]).tolist() == [1, 0, 1]
    lone = GreedyTreeClassifier(missing="category").fit(X, [0] * 4 + [1] * 8)
    assert lone.tree_.nodes["kind"].tolist() == [5, 0, 0]
    majority = GreedyTreeClassifier(missing="majority").fit(X, y)
    assert len(set(majority.apply([[None]] * 3))) == 1


def test_thresholds_are_short_and_part_the_same_rows(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    tree = GreedyTreeClassifier(max_depth=3, pruning=None).fit(X, y).tree_
    asked = tree.nodes[tree.nodes["n_children"] > 0]
    digits = [len(repr(float(threshold))) for threshold in asked["threshold"]]
    assert max(digits) <= 10
    # Ranks have other thresholds, and the same rows on either side.
    ranks = X.argsort(axis=0).argsort(axis=0).astype(float)
    by_rank = GreedyTreeClassifier(max_depth=3, pruning=None).fit(ranks, y).tree_
    np.testing.assert_array_equal(tree.values, by_rank.values)
    np.testing.assert_array_equal(tree.nodes["feature"], by_rank.nodes["feature"])
