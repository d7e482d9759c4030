"""MDLPDiscretizer against the formulas, and as a transformer."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from sktree_opt.preprocessing import MDLPDiscretizer
from sktree_opt.preprocessing._mdlp import mdlp_cuts
from sktree_opt.preprocessing._table import Table
from sktree_opt.utils._control import SearchControl
from tests.effort import examples
from tests.reference import mdlp

NAN = float("nan")


@st.composite
def columns(draw):
    """A column whose classes follow the value, more or less; values repeat, some are missing."""
    n_rows = draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_classes = draw(st.integers(1, 5))
    x = rng.integers(0, draw(st.sampled_from([1, 3, 10, 1000])), n_rows) / 4.0
    step = np.searchsorted(np.sort(rng.choice(x, n_classes - 1)), x)
    noisy = rng.random(n_rows) < draw(st.sampled_from([0.0, 0.1, 0.5]))
    y = np.where(noisy, rng.integers(0, n_classes, n_rows), step)
    x[rng.random(n_rows) < draw(st.sampled_from([0.0, 0.3]))] = NAN
    weights = draw(
        st.sampled_from(
            [np.ones(n_rows), rng.integers(0, 4, n_rows), rng.uniform(0.05, 3.0, n_rows)]
        )
    )
    return x, y, weights.astype(float)


@examples(300)
@given(column=columns())
def test_equals_the_formulas(column):
    x, y, weights = column
    assume(weights.any())
    found = MDLPDiscretizer().fit(x[:, np.newaxis], y, sample_weight=weights)
    cases = [
        case
        for case in zip(x.tolist(), y.tolist(), weights.tolist(), strict=True)
        if case[0] == case[0] and case[2] > 0
    ]
    margins = []
    expected = mdlp.cuts(cases, margins)
    # A decision within rounding may fall either way.
    assume(all(abs(margin) > 1e-9 for margin in margins))
    # The same values on both sides of each; the formulas know nothing of short decimals, which may
    # leave a value without weight on either side.
    distinct = np.unique(x[~np.isnan(x) & (weights > 0)])
    places = [np.searchsorted(distinct, cuts).tolist() for cuts in (found.thresholds_[0], expected)]
    assert places[0] == places[1]
    assert found.n_bins_.tolist() == [len(expected) + 1]


@examples(50)
@given(column=columns())
def test_weight_is_repetition(column):
    x, y, _ = column
    weights = np.arange(len(x)) % 4
    assume(weights.any())
    weighted = MDLPDiscretizer().fit(x[:, np.newaxis], y, sample_weight=weights)
    repeated = MDLPDiscretizer().fit(np.repeat(x, weights)[:, np.newaxis], np.repeat(y, weights))
    assert weighted.thresholds_[0].tolist() == repeated.thresholds_[0].tolist()


def test_each_column_for_itself():
    X, y = load_iris(return_X_y=True)
    together = MDLPDiscretizer().fit(X, y)
    for j in range(X.shape[1]):
        alone = MDLPDiscretizer().fit(X[:, [j]], y)
        assert alone.thresholds_[0].tolist() == together.thresholds_[j].tolist()
    # Order of rows and names of classes do not matter.
    shuffled = np.random.default_rng(0).permutation(len(y))
    names = np.array(["b", "c", "a"])[y]
    other = MDLPDiscretizer().fit(X[shuffled], names[shuffled])
    for one, two in zip(together.thresholds_, other.thresholds_, strict=True):
        assert one.tolist() == two.tolist()


X_SMALL = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [11.0, 5.0], [12.0, 5.0], [13.0, 5.0]])
Y_SMALL = np.array([0, 0, 0, 1, 1, 1])
NEW = np.array([[6.0, 0.0], [7.0, 9.0], [8.0, NAN], [NAN, 5.0]])


@pytest.mark.parametrize(
    ("encode", "names", "expected"),
    [
        ("ordinal", ["x0", "x1"], [[0, 0], [0, 0], [1, NAN], [NAN, 0]]),
        ("onehot", ["x0_0", "x0_1", "x1_0"], [[1, 0, 1], [1, 0, 1], [0, 1, 0], [0, 0, 1]]),
        ("thresholds", ["x0<=7.0"], [[1], [1], [0], [NAN]]),
    ],
)
def test_encodings(encode, names, expected):
    fitted = MDLPDiscretizer(encode=encode).fit(X_SMALL, Y_SMALL)
    assert [t.tolist() for t in fitted.thresholds_] == [[7.0], []]
    np.testing.assert_array_equal(fitted.transform(NEW), expected)
    assert fitted.get_feature_names_out().tolist() == names
    if encode != "ordinal":
        fitted.set_params(sparse_output=True)
        found = fitted.transform(NEW)
        assert found.format == "csr"
        np.testing.assert_array_equal(found.toarray(), expected)


def test_names_of_a_table():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X_SMALL, columns=["size", "other"])
    fitted = MDLPDiscretizer(encode="thresholds").set_output(transform="pandas")
    found = fitted.fit_transform(frame, Y_SMALL)
    assert found.columns.tolist() == ["size<=7.0"]
    assert found.index.equals(frame.index)
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(frame[["other", "size"]])


def test_in_a_pipeline():
    X, y = load_iris(return_X_y=True)
    for encode in ("ordinal", "onehot", "thresholds"):
        model = make_pipeline(MDLPDiscretizer(encode=encode), DecisionTreeClassifier(max_depth=3))
        assert model.fit(X, y).score(X, y) > 0.95


def test_noise_is_not_cut(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X, y = rng.normal(size=(500, 4)), rng.integers(0, 2, 500)
    assert sum(map(len, MDLPDiscretizer().fit(X, y).thresholds_)) <= 1


def test_large_and_small_values():
    X = np.array([[-1e308, 1.0], [-1e308, 1.0], [-1e308, 1.0]] * 3 + [[1.7e308, 2.0]] * 9)
    X[9:, 1] = np.nextafter(1.0, 2.0)
    fitted = MDLPDiscretizer().fit(X, [0] * 9 + [1] * 9)
    np.testing.assert_array_equal(fitted.transform(X), [[0, 0]] * 9 + [[1, 1]] * 9)


def test_hostile_input():
    model = MDLPDiscretizer()
    with pytest.raises(NotFittedError):
        model.transform(X_SMALL)
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X_SMALL, np.linspace(0.0, 1.0, 6))
    with pytest.raises(ValueError, match="non-zero"):
        model.fit(X_SMALL, Y_SMALL, sample_weight=np.zeros(6))
    with pytest.raises(ValueError, match="Column 'x1' holds categories"):
        model.fit([[1, "a"], [2, "b"]], [0, 1])
    with pytest.raises(ValueError, match="infinity.*in column 1"):
        model.fit([[0.0, np.inf], [1.0, 1.0]], [0, 1])
    with pytest.raises(TypeError, match="[Ss]parse"):
        model.fit(sparse.csr_array(X_SMALL), Y_SMALL)
    with pytest.raises(ValueError, match="sparse_output"):
        MDLPDiscretizer(sparse_output=True).fit(X_SMALL, Y_SMALL)
    assert vars(model) == {"encode": "ordinal", "sparse_output": False}
    one_row = model.fit([[1.0]], ["only"])
    assert one_row.n_bins_.tolist() == [1]
    all_missing = model.fit([[NAN]] * 4, [0, 1, 0, 1])
    assert np.isnan(all_missing.transform([[1.0], [NAN]])).tolist() == [[False], [True]]


def test_ordered_categories_are_cut_between():
    pd = pytest.importorskip("pandas")
    sizes = pd.Categorical(["s", "m", "l"] * 40, categories=["s", "m", "l"], ordered=True)
    table = pd.DataFrame({"size": sizes})
    model = MDLPDiscretizer().fit(table, [0, 1, 1] * 40)
    assert model.thresholds_[0].tolist() == [0.5]
    assert model.transform(table)[:3, 0].tolist() == [0.0, 1.0, 1.0]


def test_a_stop_ends_the_kernel():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=1000), np.arange(1000, dtype=np.int32) % 2
    x[y == 1] += 5.0
    table = Table.from_matrix(x[:, np.newaxis])
    control = SearchControl()
    assert len(mdlp_cuts(table, 0, y, np.ones(1000), 2, control)) > 0
    control.request_stop()
    assert len(mdlp_cuts(table, 0, y, np.ones(1000), 2, control)) == 0
