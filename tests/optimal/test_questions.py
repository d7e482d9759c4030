"""Metrics, rankings, several trees, paths and cross-validation, as a user asks for them."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import f1_score, matthews_corrcoef

from sktree_opt.export import export_text
from sktree_opt.optimal import (
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    SmallestTreeClassifier,
    TreeSetClassifier,
    TreeSetRegressor,
    optimal_path,
)
from sktree_opt.optimal.run._plan import use_engine
from tests.effort import examples
from tests.optimal.cases import most_splits, problems, reference_of
from tests.optimal.common import random_table
from tests.reference.brute_force_pareto import errors_of_all_trees


def f1(fp, fn, n, p):
    return 2 * (p - fn) / (2 * (p - fn) + fp + fn) if p - fn else 0.0


def mcc(fp, fn, n, p):
    tp, tn = p - fn, n - fp
    scale = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return (tp * tn - fp * fn) / math.sqrt(scale) if scale else 0.0


def g_mean(fp, fn, n, p):
    return math.sqrt((1 - fp / n) * (1 - fn / p))


REFERENCES = {"f1": f1, "mcc": mcc, "g_mean": g_mean}


@examples(200)
@given(
    problem=problems("error", max_columns=4, n_classes=2),
    metric=st.sampled_from(sorted(REFERENCES)),
    complexity_cost=st.sampled_from([0.0, 0.01, 0.1]),
    positive=st.sampled_from([0, 1]),
    engine=st.sampled_from([None, "thresholds"]),
)
def test_metric_is_the_best_of_all_trees(problem, metric, complexity_cost, positive, engine):
    X, y, weights, options = problem
    options |= {"objective": metric, "complexity_cost": complexity_cost}
    reference = reference_of(X, y, weights, options)
    labels, whole = np.array(reference["y"]), np.array(reference["weights"])
    rows = list(zip(map(tuple, reference["X"]), reference["y"], reference["weights"], strict=True))
    attained = errors_of_all_trees(
        rows,
        options["max_depth"],
        lambda rows: (
            len(rows) >= options["min_samples_leaf"]
            and sum(row[2] for row in rows) >= options["min_weight_leaf"] - 1e-9
        ),
    )
    totals = np.bincount(labels, whole)
    most = most_splits(options)

    def loss(fp, fn):
        # Sums in another order are a little less, or more.
        errors = (
            total if math.isclose(error, total) else error
            for error, total in zip((fp, fn), totals, strict=True)
        )
        # The errors and the weight of the positive class come second.
        order = slice(None) if positive == 1 else slice(None, None, -1)
        return 1 - REFERENCES[metric](*list(errors)[order], *totals[order])

    expected = min(
        loss(fp, fn) + complexity_cost * n_splits
        for (fp, fn), n_splits in attained.items()
        if n_splits <= most
    )
    pos_label = np.unique(y if weights is None else np.asarray(y)[weights > 0])[positive].item()
    model = OptimalTreeClassifier(**options, pos_label=pos_label)
    with use_engine(engine):
        model.fit(X, y, sample_weight=weights)
    # Weights are rounded a little.
    near = {"abs": 1e-12 if (whole == np.rint(whole)).all() else 1e-6}
    assert model.objective_ == pytest.approx(expected, **near)
    assert model.status_ == "optimal"
    kept = slice(None) if weights is None else weights > 0
    wrong = model.predict(X[kept]) != labels
    fp, fn = (whole[wrong & (labels == label)].sum() for label in (0, 1))
    found = loss(fp, fn) + complexity_cost * model.tree_.n_splits
    assert found == pytest.approx(expected, **near)
    leaves = model.tree_.nodes[model.tree_.nodes["n_children"] == 0]
    assert leaves["n_samples"].min() >= options["min_samples_leaf"]
    assert leaves["weight"].min() >= options["min_weight_leaf"] - 1e-6


@pytest.mark.parametrize(
    "model",
    [OptimalTreeClassifier(), TreeSetClassifier(n_trees=2), OptimalTreeClassifier(objective="f1")],
    ids=str,
)
def test_a_leaf_may_weigh_just_as_much_as_it_must(model):
    X, y, weights = [[0], [0], [0], [1], [1], [1]], [0, 0, 0, 1, 1, 1], [0.3, 0.3, 1.7] * 2
    model = clone(model).set_params(max_depth=1, min_weight_leaf=2.3)
    assert model.fit(X, y, sample_weight=weights).objective_ == 0.0


def test_rounded_weights_make_no_idle_tests():
    # Three tenths are worth as much in one class as in the other.
    X, y, weights = [[0, 1], [1, 1], [1, 0]], [0, 1, 0], [1.7, 0.3, 0.3]
    model = TreeSetClassifier(max_depth=1, n_trees=2).fit(X, y, sample_weight=weights)
    assert model.tree_objectives_.tolist() == [0.3]


@pytest.fixture
def table(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 2, (200, 10))
    y = np.where((X[:, 0] & X[:, 1]) ^ (rng.random(200) < 0.15), "yes", "no")
    return X, y


def test_metric_agrees_with_scikit_learn(table):
    X, y = table
    for label in ("yes", "no"):
        model = OptimalTreeClassifier(objective="f1", pos_label=label).fit(X, y)
        answers = model.predict(X)
        score = f1_score(y, answers, pos_label=label)
        assert 1 - model.objective_ == pytest.approx(score)
        # Answers follow from probabilities by this threshold.
        proba = model.predict_proba(X)[:, model.classes_.tolist().index(label)]
        assert ((proba > score / 2) == (answers == label)).all()
        best = model.pareto_front_[model.pareto_front_["loss"].argmin()]
        assert best["false_positives"] == np.sum((answers == label) & (y != label))
    model = OptimalTreeClassifier(objective="mcc").fit(X, y)
    assert 1 - model.objective_ == pytest.approx(matthews_corrcoef(y, model.predict(X)))
    assert export_text(model)


@pytest.mark.parametrize("complexity_cost", [0.0, 0.01, 0.05])
def test_f1_over_many_thresholds(complexity_cost):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 3))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=160) > 0.8).astype(int)
    model = OptimalTreeClassifier(
        objective="f1", max_depth=2, complexity_cost=complexity_cost, max_leaf_nodes=5
    )
    with use_engine("bits"):
        by_front = clone(model).fit(X, y)
    model.fit(X, y)
    assert model.search_stats_["n_searches"] > 1
    assert model.status_ == by_front.status_ == "optimal"
    assert model.objective_ == pytest.approx(by_front.objective_, abs=1e-12)
    loss = model.objective_ - complexity_cost * model.tree_.n_splits
    assert 1 - loss == pytest.approx(f1_score(y, model.predict(X)))
    assert model.tree_.n_splits == by_front.tree_.n_splits
    front = model.pareto_front_
    values = front["loss"] + complexity_cost * front["n_splits"]
    assert values.min() == pytest.approx(model.objective_)
    bounds = [bound for _, _, bound in model.incumbents_]
    assert bounds == sorted(bounds)
    # A search that is stopped keeps a tree and a bound below the optimum.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        stopped = clone(model).set_params(time_limit=0.0).fit(X, y)
    assert stopped.lower_bound_ <= model.objective_ <= stopped.objective_


@pytest.mark.parametrize("objective", ["f1", lambda fp, fn: 3 * fp + fn])
@pytest.mark.parametrize("labels", [("no", "yes"), (1, 2), (False, True), (-1, 1), (0.0, 1.0)])
def test_the_positive_class_is_named_or_is_1(table, objective, labels):
    X, y = table
    y = np.where(y == "yes", labels[1], labels[0])
    named = OptimalTreeClassifier(objective=objective, max_depth=2, pos_label=labels[1]).fit(X, y)
    model = OptimalTreeClassifier(objective=objective, max_depth=2)
    if 1 in labels and 2 not in labels:
        assert model.fit(X, y).objective_ == named.objective_
    else:
        with pytest.raises(ValueError, match="pass the positive one of them as pos_label"):
            model.fit(X, y)


def test_pos_label_is_a_class_and_for_metrics(table):
    X, y = table
    with pytest.raises(ValueError, match=r"pos_label must be one of the classes \['no', 'yes'\]"):
        OptimalTreeClassifier(objective="mcc", pos_label="maybe").fit(X, y)
    with pytest.raises(ValueError, match="pos_label has no meaning for objective='gini'"):
        OptimalTreeClassifier(objective="gini", pos_label="yes").fit(X, y)


def test_front_holds_the_optimum_of_any_metric(table):
    X, y = table
    front = OptimalTreeClassifier(objective="f1", pos_label="yes").fit(X, y).pareto_front_
    assert (np.diff(front["false_positives"]) > 0).all()
    assert (np.diff(front["false_negatives"]) < 0).all()
    for factor in (0.2, 1.0, 5.0):
        model = OptimalTreeClassifier(
            objective=lambda fp, fn, k=factor: fp + k * fn, pos_label="yes"
        ).fit(X, y)
        costs = front["false_positives"] + factor * front["false_negatives"]
        assert model.objective_ == pytest.approx(costs.min())
    plain = OptimalTreeClassifier().fit(X, y)
    errors = front["false_positives"] + front["false_negatives"]
    assert plain.objective_ == errors.min()
    assert not hasattr(plain, "pareto_front_")


def test_a_leaf_may_answer_its_rarer_class():
    X, y = np.zeros((10, 1)), [1] * 4 + [0] * 6
    model = OptimalTreeClassifier(objective="f1", max_depth=1).fit(X, y)
    assert (model.predict(X) == 1).all()
    assert model.predict_proba(X)[0].tolist() == [0.6, 0.4]
    assert "1" in export_text(model).split("(")[0]


def test_probabilities_of_rows_are_not_taken_for_nodes(table):
    X, y = table
    model = OptimalTreeClassifier(objective="f1", max_depth=2, pos_label="yes").fit(X, y)
    rows = np.tile([0.0, 1.0], (model.tree_.n_nodes, 1))
    assert model._decide(rows).tolist() == [1] * model.tree_.n_nodes
    for n in range(1, 12):
        assert model.predict(X[:n]).tolist() == model.predict(X)[:n].tolist()


@pytest.mark.parametrize(
    "smoothing", [{"leaf_smoothing": "laplace"}, {"hierarchical_shrinkage": 5.0}]
)
def test_every_classifier_smooths_its_leaves(table, smoothing):
    X, y = table
    best = OptimalTreeClassifier(max_depth=2, **smoothing).fit(X, y)
    trees = TreeSetClassifier(max_depth=2, n_trees=2, **smoothing).fit(X, y)
    smallest = SmallestTreeClassifier(max_depth=2, **smoothing).fit(X, y)
    plain = OptimalTreeClassifier(max_depth=2).fit(X, y)
    expected = best.predict_proba(X)
    assert np.abs(expected - plain.predict_proba(X)).max() > 0.001
    for model in (trees, trees[0], smallest):
        if model.tree_ == best.tree_:
            np.testing.assert_array_equal(model.predict_proba(X), expected)
        assert (model.predict(X) == plain.predict(X)).mean() > 0.8
    assert trees[0].tree_ == best.tree_


def test_trees_are_ranked(table):
    X, y = table
    model = TreeSetClassifier(n_trees=8, max_depth=2).fit(X, y)
    assert len(model.trees_) == 8
    assert model.tree_ == model.trees_[0]
    assert (np.diff(model.tree_objectives_) >= 0).all()
    assert model.objective_ == OptimalTreeClassifier(max_depth=2).fit(X, y).objective_
    for tree, objective in zip(model.trees_, model.tree_objectives_, strict=True):
        model.tree_ = tree
        assert np.count_nonzero(model.predict(X) != y) == objective


@pytest.mark.parametrize("objective", ["balanced_error", "gini", "entropy", "pessimistic_error"])
def test_first_of_several_trees_is_the_optimum(table, objective):
    X, y = table
    one = OptimalTreeClassifier(objective=objective).fit(X, y, np.linspace(0.5, 2, len(y)))
    several = TreeSetClassifier(objective=objective, n_trees=3)
    several.fit(X, y, np.linspace(0.5, 2, len(y)))
    assert several.objective_ == pytest.approx(one.objective_, rel=1e-6)


def test_regression_trees_are_ranked(table):
    X, y = table
    targets = (y == "yes") + X @ np.linspace(0.0, 1.0, X.shape[1])
    weights = np.arange(len(y)) % 3 + 1.0
    model = TreeSetRegressor(n_trees=8, max_depth=2).fit(X, targets, weights)
    assert len(model.trees_) == 8
    assert model.tree_ == model.trees_[0]
    assert (np.diff(model.tree_objectives_) >= 0).all()
    one = OptimalTreeRegressor(max_depth=2).fit(X, targets, weights)
    assert model.objective_ == pytest.approx(one.objective_, rel=1e-9)
    for tree, objective in zip(model.trees_, model.tree_objectives_, strict=True):
        model.tree_ = tree
        found = (weights * (model.predict(X) - targets) ** 2).sum()
        assert found == pytest.approx(objective, rel=1e-9)


def test_a_set_is_a_sequence_of_fitted_trees(table):
    X, y = table
    model = TreeSetClassifier(n_trees=4, max_depth=2, objective="balanced_error").fit(X, y)
    assert len(model) == len(list(model)) == 4
    for rank, one in enumerate(model):
        assert isinstance(one, OptimalTreeClassifier)
        assert one.tree_ == model.trees_[rank]
        assert one.get_params()["objective"] == "balanced_error"
        assert one.objective_ == pytest.approx(model.tree_objectives_[rank])
        excess = model.tree_objectives_[rank] - model.tree_objectives_[0]
        assert one.gap_ == pytest.approx(excess, abs=1e-6)
        assert one.optimality_scope_ == model.optimality_scope_
        assert not hasattr(one, "trees_")
        assert export_text(one)
    assert (model[0].predict(X) == model.predict(X)).all()
    assert model[-1].tree_ == model.trees_[-1]
    for rank in (4, -5):
        with pytest.raises(IndexError, match=f"rank must be between 0 and 3, got {rank}"):
            model[rank]
    with pytest.raises(NotFittedError):
        len(TreeSetClassifier())


def test_smallest_tree_as_good_as_another(table):
    X, y = table
    goal = OptimalTreeClassifier(max_depth=1).fit(X, y).objective_
    model = SmallestTreeClassifier(max_error=goal).fit(X, y)
    named = SmallestTreeClassifier(ranking=("size", "error"), max_error=goal).fit(X, y)
    assert named.tree_ == model.tree_
    assert model.tree_.n_splits == 1
    assert model.objective_ <= goal


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SmallestTreeClassifier(max_error=0.5), "max_error=0.5; the least is"),
        (SmallestTreeClassifier(ranking=("error", "depth")), "must contain 'error' and 'size'"),
        (SmallestTreeClassifier(objective="f1"), "'objective' parameter"),
        (SmallestTreeClassifier(confidence=0.1), "confidence has no meaning for objective='error'"),
        (TreeSetClassifier(objective="mcc"), "'objective' parameter"),
        (OptimalTreeClassifier(objective=lambda fp, fn: -fp, pos_label="yes"), "must not fall"),
        (
            OptimalTreeClassifier(objective=lambda fp, fn: math.nan, pos_label="yes"),
            "is not a number",
        ),
    ],
)
def test_what_cannot_be_answered_is_said(table, model, message):
    X, y = table
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(max_depth=2).fit(X, y)


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (OptimalTreeClassifier(complexity_cost=0.1), ValueError, "complexity_cost must be 0"),
        (OptimalTreeClassifier(warm_start=True), ValueError, "warm_start is not supported"),
        (OptimalTreeClassifier(max_depth=-1), ValueError, "'max_depth' parameter"),
        (TreeSetClassifier(), TypeError, "estimator must be an OptimalTreeClassifier"),
    ],
)
def test_paths_refuse_what_they_lack(table, model, error, message):
    with pytest.raises(error, match=message):
        optimal_path(model, *table)


def test_metrics_are_for_two_classes():
    with pytest.raises(ValueError, match="two classes; y has 3"):
        OptimalTreeClassifier(objective="f1").fit([[0], [1], [2]], [0, 1, 2])


@pytest.mark.parametrize("metric", sorted(REFERENCES))
def test_a_path_by_a_metric_agrees_with_single_fits(metric):
    X, y = random_table(0, n=60, m=5)
    y = np.array(["no", "yes"])[y]
    model = OptimalTreeClassifier(max_depth=3, objective=metric, pos_label="no", max_leaf_nodes=6)
    path = optimal_path(model, X, y)
    assert (path.lower_bounds == path.objectives).all()
    for depth, splits in [(0, 0), (1, 1), (2, 2), (2, 3), (3, 3), (3, 5)]:
        limits = {"max_depth": depth, "max_leaf_nodes": max(2, splits + 1)}
        one = clone(model).set_params(**limits).fit(X, y)
        assert path.objectives[depth, splits] == pytest.approx(one.objective_)
        index = path.tree_index[depth, splits]
        assert path.trees[index].n_splits <= splits
        one.tree_, one._answers = path.trees[index], path.answers[index]
        errors = [((one.predict(X) != y) & (y == label)).sum() for label in ("yes", "no")]
        value = REFERENCES[metric](*errors, *((y == label).sum() for label in ("yes", "no")))
        assert path.objectives[depth, splits] == pytest.approx(1.0 - value)
    for cost, index in zip(path.complexity_costs, path.complexity_tree_index, strict=True):
        one = clone(model).set_params(complexity_cost=cost).fit(X, y)
        loss = path.objectives[path.tree_index == index].min()
        assert loss + cost * path.trees[index].n_splits == pytest.approx(one.objective_)


def test_a_stopped_path_by_a_metric_has_trees_for_all_sizes():
    X, y = random_table(0, n=400, m=40)
    with pytest.warns(ConvergenceWarning):
        path = optimal_path(
            OptimalTreeClassifier(max_depth=4, objective="f1", time_limit=0.1), X, y
        )
    assert path.status == "time_limit"
    proved = optimal_path(OptimalTreeClassifier(max_depth=2, objective="f1", time_limit=None), X, y)
    small = np.s_[:3, :4]
    assert (path.lower_bounds[small] <= proved.objectives + 1e-12).all()
    assert (proved.objectives <= path.objectives[small] + 1e-12).all()
    assert (np.diff(path.objectives, axis=1) <= 0.0).all()
    for index in np.unique(path.tree_index):
        assert len(path.answers[index]) == path.trees[index].n_nodes


def test_path_agrees_with_single_fits(table):
    X, y = table
    path = optimal_path(OptimalTreeClassifier(max_depth=3), X, y)
    for depth, splits in [(0, 0), (1, 1), (2, 3), (3, 4), (3, 7)]:
        one = OptimalTreeClassifier(max_depth=depth, max_leaf_nodes=max(2, splits + 1)).fit(X, y)
        assert path.objectives[depth, splits] == one.objective_
    for at, index in zip(path.complexity_costs, path.complexity_tree_index, strict=True):
        one = OptimalTreeClassifier(complexity_cost=at).fit(X, y)
        tree = path.trees[index]
        errors = (tree.values.sum(axis=1) - tree.values.max(axis=1))[tree.nodes["kind"] == 0]
        assert errors.sum() + at * len(y) * tree.n_splits == pytest.approx(one.objective_)


@pytest.mark.parametrize(
    "question", [OptimalTreeClassifier(objective="f1"), TreeSetClassifier(n_trees=20)], ids=str
)
def test_time_limit_leaves_the_best_tree_known(question):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (2000, 80)), rng.integers(0, 2, 2000)
    model = clone(question).set_params(max_depth=5, time_limit=0.3)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model.fit(X, y)
    assert model.status_ == "time_limit"
    assert model.objective_ <= clone(question).set_params(max_depth=1).fit(X, y).objective_
