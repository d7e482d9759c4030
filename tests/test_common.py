"""scikit-learn's own checks over every public estimator.

One failure is expected, which scikit-learn expects of its own estimators that split rows at random:
see ``expected_failed_checks``.
"""

import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_iris
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_get_feature_names_out_error,
    check_inplace_ensure_writeable,
    check_param_validation,
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
    parametrize_with_checks,
)

from sktree_opt import GreedyTreeRegressor
from sktree_opt.subset import AcceptableSubsetSelector, DTsbeSelector
from sktree_opt.utils import all_estimators
from tests.effort import IS_LONG_RUN

# Every midpoint is a test for optimal trees: shallow ones take as many checks in less time. The
# long run has forests, the defaults' number of folds, and all thresholds where there are many fits,
# too.
FEW = {"thresholds": 5, "fold_thresholds": None}
QUICK = {
    "OptimalTreeClassifierCV": {"max_depth": 2, "cv": 2, **FEW},
    "OptimalTreeRegressorCV": {"max_depth": 2, "cv": 2, "targets": "given", **FEW},
    "OptimalTreeRegressor": {"max_depth": 2},
    "FairTreeClassifier": {"max_depth": 2},
    "SmallestTreeClassifier": {"max_depth": 2},
    "SmallestTreeRegressor": {"max_depth": 2},
    "TreeSetClassifier": {"max_depth": 2, "n_trees": 2},
    "TreeSetRegressor": {"max_depth": 2, "n_trees": 2, "thresholds": 5},
}
if IS_LONG_RUN:
    QUICK["OptimalTreeClassifierCV"] = QUICK["OptimalTreeRegressorCV"] = {"max_depth": 2}
    del QUICK["TreeSetRegressor"]["thresholds"]
ESTIMATORS = [estimator(**QUICK.get(name, {})) for name, estimator in all_estimators()]
# A busy machine may reach the limit of a search, and a warning is an error.
for estimator in ESTIMATORS:
    if "time_limit" in estimator.get_params():
        estimator.set_params(time_limit=None)
# The searches over feature subsets take regression trees, too.
ESTIMATORS += [
    type(estimator)(GreedyTreeRegressor(), error="training")
    for estimator in ESTIMATORS
    if hasattr(estimator, "loss")
]
TRANSFORMERS = [estimator for estimator in ESTIMATORS if hasattr(estimator, "transform")]

SELECTORS = [AcceptableSubsetSelector(), DTsbeSelector()]
WEIGHT_CHECKS = [
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
]
# Checks of scikit-learn that parametrize_with_checks leaves out.
MORE_CHECKS = [
    check_dataframe_column_names_consistency,
    check_inplace_ensure_writeable,
    check_param_validation,
]
TRANSFORMER_CHECKS = [
    check_get_feature_names_out_error,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
]


def name_of(value):
    return getattr(value, "__name__", type(value).__name__)


def test_there_are_estimators():
    assert len({type(estimator) for estimator in ESTIMATORS}) >= 17


def expected_failed_checks(estimator):
    """The weights of estimators whose default error splits rows at random.

    Copies of a row may be on both sides of a split, but a row of weight k is on one side as a
    whole: divided, it would rate a tree that was grown from it. scikit-learn excuses
    ``TunedThresholdClassifierCV`` and random forests in the same way.
    """
    if getattr(estimator, "error", None) != "search":
        return {}
    reason = "A random split may put copies of a row on both sides, but not a row of weight k."
    return {check.__name__: reason for check in WEIGHT_CHECKS}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", WEIGHT_CHECKS, ids=name_of)
@pytest.mark.parametrize("error", ["training", "pessimistic"])
@pytest.mark.parametrize("estimator", SELECTORS, ids=name_of)
def test_weights_are_copies_where_no_rows_are_split(estimator, error, check):
    check(type(estimator).__name__, clone(estimator).set_params(error=error))


@pytest.mark.parametrize("error", ["search"])
@pytest.mark.parametrize("estimator", SELECTORS, ids=name_of)
def test_weights_are_copies_that_stay_together(estimator, error, global_random_seed):
    # With groups that keep copies together, the same split is drawn.
    rng = np.random.default_rng(global_random_seed)
    X, y = rng.normal(size=(30, 5)).round(1), rng.integers(0, 3, 30)
    weights = rng.integers(1, 4, 30)
    rows = np.repeat(np.arange(30), weights)
    model = clone(estimator).set_params(error=error, random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=weights, groups=np.arange(30))
    repeated = clone(model).fit(X[rows], y[rows], groups=rows)
    assert weighted.error_ == pytest.approx(repeated.error_)
    assert weighted.support_.tolist() == repeated.support_.tolist()


# Of random data a selector may keep nothing.
@pytest.mark.filterwarnings("ignore:No features were selected")
@pytest.mark.parametrize("check", MORE_CHECKS, ids=name_of)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_more_scikit_learn_checks(estimator, check):
    check(type(estimator).__name__, clone(estimator))


# The checks fit on a table with names and transform one without.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("check", TRANSFORMER_CHECKS, ids=name_of)
@pytest.mark.parametrize("estimator", TRANSFORMERS, ids=name_of)
def test_more_transformer_checks(estimator, check):
    check(type(estimator).__name__, clone(estimator))


def iris_for(estimator):
    """Three classes, or two where an estimator takes no more."""
    X, y = load_iris(return_X_y=True)
    tags = get_tags(estimator).classifier_tags
    return X, y if tags is None or tags.multi_class else np.minimum(y, 1)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_html_representation(estimator):
    X, y = iris_for(estimator)
    fitted = clone(estimator).fit(X, y)
    html = fitted._repr_html_()
    assert type(estimator).__name__ in html
    assert "readthedocs" in html


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_sample_weight_is_routed(estimator):
    import sklearn

    if not get_tags(estimator).target_tags.required:
        pytest.skip("takes no weights")
    with sklearn.config_context(enable_metadata_routing=True):
        requests = clone(estimator).set_fit_request(sample_weight=True).get_metadata_routing()
    assert "sample_weight" in str(requests)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_a_failed_fit_leaves_the_estimator_as_it_was(estimator):
    X, y = iris_for(estimator)
    fitted = clone(estimator).fit(X, y)
    before = {k: pickle.dumps(v) for k, v in vars(fitted).items()}
    with pytest.raises(ValueError, match="infinity"):
        fitted.fit(np.full((len(y), 7), np.inf), y)
    assert {k: pickle.dumps(v) for k, v in vars(fitted).items()} == before


LABELS = {
    "minus and plus one": lambda y: np.where(y == 0, -1, 1),
    "strings": lambda y: np.array(["no", "yes"], dtype=object)[y],
    "bool": lambda y: y == 1,
    "far apart": lambda y: np.where(y == 0, 5, 1_000_000),
    "one class": lambda y: np.full(len(y), "only"),
}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if is_classifier(e)], ids=name_of)
def test_labels_of_any_kind(estimator, labels):
    X, y = iris_for(estimator)
    X, y = X[:100], LABELS[labels](y[:100])
    fitted = clone(estimator).fit(X, y)
    assert fitted.classes_.tolist() == np.unique(y).tolist()
    assert (fitted.predict(X) == y).mean() > 0.95
    assert fitted.predict_proba(X).shape == (100, len(fitted.classes_))


@pytest.mark.parametrize(
    "estimator", [e for e in ESTIMATORS if get_tags(e).input_tags.string], ids=name_of
)
def test_tables_of_any_kind(estimator, global_random_seed):
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(global_random_seed)
    colour = rng.choice(["red", "green", "blue"], 80)
    size = rng.normal(size=80)
    y = ((colour == "red") ^ (size > 0)).astype(float if is_regressor(estimator) else int)
    rows = [[c, s] for c, s in zip(colour.tolist(), size.tolist(), strict=True)]
    rows[3][0], rows[5][1] = None, None
    frame = pd.DataFrame(rows, columns=["colour", "size"])
    tables = [
        frame,
        frame.astype({"colour": "category"}),
        pl.DataFrame(rows, schema=["colour", "size"], orient="row"),
        np.array(rows, dtype=object),
        rows,
    ]
    method = "predict" if hasattr(estimator, "predict") else "transform"
    # Selectors keep rows back at random.
    seed = {"random_state": 0} if "random_state" in estimator.get_params() else {}
    answers = []
    for table in tables:
        fitted = clone(estimator).set_params(**seed).fit(table, y)
        answers.append(np.asarray(getattr(fitted, method)(table)).tolist())
    # A transformer hands back what it was given; its columns stand for the rest.
    if method == "predict":
        assert all(answer == answers[0] for answer in answers)
    else:
        assert len({np.shape(answer) for answer in answers}) == 1


WITH_WEIGHTS = [e for e in ESTIMATORS if get_tags(e).target_tags.required]


@pytest.mark.parametrize("estimator", WITH_WEIGHTS, ids=name_of)
def test_odd_sample_weights(estimator):
    X, y = iris_for(estimator)
    for weights in (2.0, ["2"] * len(y)):
        clone(estimator).fit(X, y, sample_weight=weights)
    for odd in (10**400, "heavy", None):
        with pytest.raises(ValueError, match="sample_weight"):
            clone(estimator).fit(X, y, sample_weight=[odd] + [1] * (len(y) - 1))
