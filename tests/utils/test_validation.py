import numpy as np
import pytest

from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.optimal import OptimalTreeClassifier
from sktree_opt.utils._validation import check_classes, common_divisor

LABELS = [
    np.array([True, False, True, True]),
    np.array([-128, 127, 127, -128, 127], dtype=np.int8),
    np.array([255, 0, 255, 0], dtype=np.uint8),
    np.array([-1, 1, 1, -1]),
    np.array([7, 7, 7]),
    np.array([0, 2**62, 0, 2**62]),
    np.array([2**64 - 1, 2**64 - 1, 2**64 - 3, 2**64 - 3], dtype=np.uint64),
    np.array([-(2**63), 2**63 - 1, -(2**63), 2**63 - 1]),
    np.array([3, 1, 3, 1], dtype=">i4"),
    np.array([1.0, 0.0, 1.0, 0.0]),
    np.array(["b", "a", "b", "b"]),
]


@pytest.mark.parametrize("y", LABELS, ids=lambda y: str(y.dtype))
def test_codes_are_those_of_unique(y):
    codes, classes = check_classes(y)
    expected, positions = np.unique(y, return_inverse=True)
    assert classes.dtype == expected.dtype
    assert np.array_equal(classes, expected)
    assert codes.dtype == np.int32
    assert np.array_equal(codes, positions)


def test_many_classes_are_warned_of():
    with pytest.warns(UserWarning, match="greater than 50%"):
        check_classes(np.arange(30))


@pytest.mark.parametrize(
    "dtype", ["str", "string", "category", "object", "Int64", "boolean", "list"]
)
def test_missing_classes_are_refused(dtype):
    """Some kinds of missing values cannot even be compared."""
    pd = pytest.importorskip("pandas")
    labels = [1, 0, None, 1] if dtype in ("Int64", "boolean") else ["a", "b", None, "a"]
    y = labels if dtype == "list" else pd.Series(labels, dtype=dtype)
    with pytest.raises(ValueError, match="Input y contains NaN, None or NA"):
        GreedyTreeClassifier().fit([[1.0]] * 4, y)


@pytest.mark.parametrize("model", [GreedyTreeClassifier(), OptimalTreeClassifier()])
def test_what_holds_a_table_in_another_form_is_refused(model):
    pl = pytest.importorskip("polars")
    frame, y = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]}), [0, 0, 1, 1]
    model.fit(frame, y)
    for X, message in [
        (frame.lazy(), r"X is a LazyFrame, .* pass X.collect\(\)"),
        (frame.to_dict(), "X is a dict, not a table"),
        (frame.to_dicts(), "X is a list of dicts, not a table"),
    ]:
        with pytest.raises(TypeError, match=message):
            model.predict(X)
        with pytest.raises(TypeError, match=message):
            model.fit(X, y)


@pytest.mark.parametrize(
    ("numbers", "divisor"),
    [
        ([0.1, 0.2, 0.7], 0.1),
        ([0.3, 1.7], 0.1),
        ([0.37, 1.91], 0.01),
        ([2.0, 4.0, 10.0], 2.0),
        ([5e-12, 1e-11], 5e-12),
        ([1 / 3, 2 / 3, 1.0], 1 / 3),
        ([0.0, 0.25], 0.25),
        ([1e300, 3e300], 1e300),
        ([1.0, np.pi], None),
        ([1.0, 1e9], None),
        ([0.0], None),
    ],
)
def test_common_divisors(numbers, divisor):
    found = common_divisor(np.array(numbers))
    assert found == (None if divisor is None else pytest.approx(divisor))
