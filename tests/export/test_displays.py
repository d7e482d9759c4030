"""Displays show what fitted estimators keep."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from sktree_opt import (
    AcceptableSubsetSelector,
    DTsbeSelector,
    ErrorByFeaturesDisplay,
    ErrorBySizeDisplay,
    FeatureUseDisplay,
    GapDisplay,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    ParetoFrontDisplay,
    TreeSetClassifier,
    load_loans,
)

pytest.importorskip("pandas")
plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("Agg")


@pytest.fixture(scope="module")
def loans():
    return load_loans(return_X_y=True, as_frame=True)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_score_by_size(loans):
    model = OptimalTreeClassifierCV(max_depth=2, cv=3).fit(*loans)
    display = ErrorBySizeDisplay.from_estimator(model)
    assert display.n_leaves.tolist() == [1, 2, 3, 4]
    assert display.scores[display.n_leaves == display.chosen] == model.best_score_
    assert display.scores[0] == model.cv_results_["mean_test_score"][0]
    assert legend(display)[0] == f"chosen: {model.get_n_leaves()} leaves"
    assert display.ax_.get_ylabel() == "mean score of the folds"


@pytest.mark.parametrize("model", [OptimalTreeClassifier(max_depth=2), OptimalTreeRegressor()])
def test_gap_over_time(loans, model):
    X, y = loans
    model.fit(X.select_dtypes("number"), y == "repaid")
    display = GapDisplay.from_estimator(model)
    last = display.objectives[-1], display.lower_bounds[-1]
    assert last == pytest.approx((model.objective_, model.lower_bound_))
    assert display.ax_.get_title() == "proved optimal"
    tree, bound = (line.get_ydata() for line in display.ax_.lines)
    assert (tree >= bound).all()


def test_error_by_features(loans):
    X, y = loans
    selector = DTsbeSelector(random_state=0).fit(X, y)
    figure, ax = plt.subplots()
    display = ErrorByFeaturesDisplay.from_estimator(selector, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert display.errors.tolist() == [step["error"] for step in selector.history_]
    assert ax.lines[1].get_xdata()[0] == selector.get_support().sum()
    assert ax.xaxis_inverted()
    collected = AcceptableSubsetSelector(delta=0.02, collect=True, random_state=0).fit(X, y)
    display = ErrorByFeaturesDisplay.from_estimator(collected)
    assert len(display.errors) == len(collected.acceptable_subsets_)
    assert legend(display) == ["acceptable subsets", "selected"]
    assert not display.ax_.xaxis_inverted()


def test_front(loans):
    X, y = loans
    model = OptimalTreeClassifier(objective="f1", pos_label="default", max_depth=1).fit(X, y)
    display = ParetoFrontDisplay.from_estimator(model)
    x, y = display.ax_.lines[-1].get_data()
    best = model.pareto_front_[model.pareto_front_["loss"].argmin()]
    assert (x[0], y[0]) == (best["false_positives"], best["false_negatives"])
    again = display.plot()
    assert again is display
    assert len(plt.get_fignums()) == 2


@pytest.mark.parametrize(
    "trees",
    [
        TreeSetClassifier(max_depth=2, epsilon=0.05),
        AcceptableSubsetSelector(delta=0.02, collect=True, random_state=0),
    ],
)
def test_features_of_a_set(loans, trees):
    trees.fit(*loans)
    display = FeatureUseDisplay.from_estimator(trees)
    widths = [bar.get_width() for bar in display.ax_.patches]
    assert widths == sorted(widths, reverse=True)
    assert min(widths) > 0.0
    shown = [label.get_text() for label in display.ax_.get_yticklabels()]
    needed = trees.feature_reliance_["name"][trees.feature_reliance_["share"] > 0.0]
    assert sorted(shown) == sorted(needed.tolist())
    n_trees = getattr(trees, "n_trees_", None) or trees.n_acceptable_
    assert f"{n_trees:,} trees" in display.ax_.get_xlabel()


@pytest.mark.parametrize(
    ("display", "model"),
    [
        (ErrorBySizeDisplay, OptimalTreeClassifierCV()),
        (GapDisplay, OptimalTreeClassifier()),
        (ErrorByFeaturesDisplay, DTsbeSelector()),
        (ParetoFrontDisplay, OptimalTreeClassifier()),
    ],
)
def test_what_is_not_fitted_is_not_drawn(display, model):
    with pytest.raises(NotFittedError):
        display.from_estimator(model)
    fitted = OptimalTreeClassifierCV(complexity_cost=[0.0, 0.1], cv=2)
    if display is ErrorBySizeDisplay:
        rng = np.random.default_rng(0)
        fitted.fit(rng.integers(0, 2, (40, 3)), rng.integers(0, 2, 40))
        with pytest.raises(ValueError, match="not chosen by their leaves"):
            display.from_estimator(fitted)
