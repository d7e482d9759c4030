"""Which columns are categories, in which order, and what becomes of values that fit never saw."""

import numpy as np
import pytest

from sktree_opt.preprocessing._encoder import TableEncoder

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

NAN = np.nan


def test_a_category_that_fit_never_saw_is_missing():
    encoder = TableEncoder().fit(pd.DataFrame({"colour": ["red", "blue"], "size": [1, 2]}))
    unseen = {"colour": ["green", "blue", "Red", ""], "size": [1, 2, 3, 4]}
    for table in (pd.DataFrame(unseen), pd.DataFrame(unseen).astype({"colour": "category"}),
                  pl.DataFrame(unseen), pa.table(unseen)):  # fmt: skip
        assert encoder.transform(table)[:, 0].tolist()[1] == 0
        assert np.isnan(encoder.transform(table)[[0, 2, 3], 0]).all()
    numbers = TableEncoder(["size"]).fit(pd.DataFrame({"size": [5, 10]}))
    np.testing.assert_array_equal(
        numbers.transform(pd.DataFrame({"size": [10, 7, 5]})), [[1], [NAN], [0]]
    )


OTHER_TYPES = [
    (["1", "2"], [1, 2], "'z' .int instead of str."),
    (["1", "2"], [1.0, NAN], "'z' .float instead of str."),
    ([1, 2], ["1", "2"], "'z' .str instead of int."),
    (["1", "2"], [b"1", b"2"], "'z' .bytes instead of str."),
    ([True, False], ["True", "False"], "'z' .str instead of bool."),
]


@pytest.mark.parametrize(("seen", "new", "message"), OTHER_TYPES, ids=str)
def test_categories_of_another_type_are_warned_of(seen, new, message):
    encoder = TableEncoder(["z"]).fit(pd.DataFrame({"z": seen, "x": [1.0, 2.0]}))
    frame = pd.DataFrame({"z": new, "x": [1.0, 2.0]})
    with pytest.warns(UserWarning, match=message) as found:
        codes = encoder.transform(frame)
    assert len(found) == 1
    assert np.isnan(codes[:, 0]).all()
    with pytest.warns(UserWarning, match=message):
        encoder.transform(frame.astype({"z": "category"}))


def test_there_is_one_warning_for_all_columns():
    encoder = TableEncoder().fit(pd.DataFrame({"a": ["1", "2"], "b": ["x", "y"], "c": ["x", "y"]}))
    with pytest.warns(UserWarning, match="'a' .int instead of str., 'c' .int ") as found:
        encoder.transform(pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [1, 2]}))
    assert len(found) == 1


@pytest.mark.parametrize(
    ("seen", "new"),
    [
        (["a", "b"], ["c"]),
        ([1, 2], [7.5]),
        ([1, 2], [True]),
        (["a", "b"], [None]),
        (["a", "b"], ["a", 1]),
        ([None, None], [1]),
        (["a", "b"], [np.str_("c")]),
    ],
    ids=str,
)
def test_unseen_values_of_the_same_type_are_missing_without_a_word(seen, new):
    encoder = TableEncoder(["z"]).fit(pd.DataFrame({"z": pd.Series(seen, dtype=object)}))
    codes = encoder.transform(pd.DataFrame({"z": pd.Series(new, dtype=object)}))
    assert np.isnan(codes[:, 0]).tolist() == [value not in seen or value is None for value in new]


def test_categories_are_those_that_occur():
    colours = pd.Categorical(["b", "a"], categories=["c", "b", "a"])
    encoder = TableEncoder().fit(pd.DataFrame({"colour": colours}))
    assert encoder.categories_[0].tolist() == ["a", "b"]


@pytest.mark.parametrize("categorical_features", ["from_dtype", None])
def test_ordered_categories(categorical_features):
    sizes = pd.Categorical(["M", None, "S"], categories=["S", "M", "L"], ordered=True)
    frame = pd.DataFrame({"size": sizes, "x": [1.0, 2.0, 3.0]})
    encoder = TableEncoder(categorical_features)
    np.testing.assert_array_equal(encoder.fit_transform(frame), [[1, 1], [NAN, 2], [0, 3]])
    assert encoder.kinds_ == ["ordinal", "numeric"]
    assert encoder.categories_[0].tolist() == ["S", "M", "L"]
    assert encoder.n_categories_.tolist() == [-1, -1]
    # By name, whatever type they come in.
    other = pd.DataFrame({"size": ["L", "XL", "M"], "x": [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(encoder.transform(other)[:, 0], [2, NAN, 1])


@pytest.mark.parametrize("asked", [["size", "vip"], [0, 1], [True, True, False]])
def test_named_columns_are_nominal_whatever_they_hold(asked):
    sizes = pd.Categorical(["M", None, "S"], categories=["S", "M", "L"], ordered=True)
    frame = pd.DataFrame({"size": sizes, "vip": [True, False, True], "x": [1.0, 2.0, 3.0]})
    encoder = TableEncoder(asked)
    np.testing.assert_array_equal(encoder.fit_transform(frame), [[1, 1, 1], [NAN, 0, 2], [0, 1, 3]])
    assert encoder.kinds_ == ["nominal", "nominal", "numeric"]
    # Those that occur, in the order of the type.
    assert [c.tolist() for c in encoder.categories_[:2]] == [["S", "M"], [False, True]]


def test_intervals_are_ordered():
    ages = pd.DataFrame({"age": pd.cut([5, 25, 80], [0, 18, 65, 120])})
    encoder = TableEncoder().fit(ages)
    assert encoder.kinds_ == ["ordinal"]
    assert encoder.transform(ages)[:, 0].tolist() == [0, 1, 2]


def test_booleans_are_tested_like_numbers():
    frame = pd.DataFrame({"a": [True, False]})
    encoder = TableEncoder().fit(frame)
    assert encoder.kinds_ == ["ordinal"]
    assert encoder.transform(frame)[:, 0].tolist() == [1, 0]
    assert encoder.transform(pd.DataFrame({"a": [1, 0]}))[:, 0].tolist() == [1, 0]
    array = TableEncoder().fit_transform(np.array([[True, False]]))
    assert array.tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    "asked",
    [["b"], [1], np.array([1]), [False, True, False], np.array([False, True, False]), ("b",)],
)
def test_categorical_features_given(asked):
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [30, 10], "c": [True, False]})
    encoder = TableEncoder(asked).fit(frame)
    assert encoder.kinds_ == ["numeric", "nominal", "ordinal"]
    assert encoder.categories_[1].tolist() == [10, 30]
    assert encoder.transform(frame)[:, 1].tolist() == [1, 0]


@pytest.mark.parametrize("asked", [[0], [True, False], np.array([0])])
def test_categorical_features_of_an_array(asked):
    X = np.array([[3.0, 1.5], [NAN, 2.5], [1.0, 3.5]])
    encoder = TableEncoder(asked).fit(X)
    np.testing.assert_array_equal(encoder.transform(X), [[1, 1.5], [NAN, 2.5], [0, 3.5]])
    np.testing.assert_array_equal(encoder.transform([[2.0, 0.0]]), [[NAN, 0.0]])


@pytest.mark.parametrize("asked", [None, [], [False, False]])
def test_no_categorical_features(asked):
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [30, 10]})
    assert TableEncoder(asked).fit(frame).kinds_ == ["numeric", "numeric"]
    with pytest.raises(ValueError, match="Column 'b' holds strings or categories"):
        TableEncoder(asked).fit(frame.astype({"b": str}))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("all", "'from_dtype', None, a mask"),
        ([True], "mask of length 1, but X has 2"),
        ([2], r"columns \[2\], but X has 2"),
        ([-1], r"columns \[-1\], but X has 2"),
        (["a", "z"], r"unknown columns: \['z'\]"),
        ([0.5], "must hold booleans, integers or strings"),
        (["a", 1], "must hold booleans, integers or strings|unknown columns"),
        ([[0]], "one-dimensional"),
    ],
)
def test_wrong_categorical_features(asked, message):
    with pytest.raises(ValueError, match=message):
        TableEncoder(asked).fit(pd.DataFrame({"a": [1], "b": [2]}))


@pytest.mark.parametrize("kind", ["int64", "uint64", "list", "mixed list", "object"])
def test_integers_that_are_no_floats_stay_apart(kind):
    first = 2**63 if kind == "uint64" else 2**53
    numbers = [first + i for i in range(20)]
    X = [[number, 0.5 if kind == "mixed list" else 1] for number in numbers]
    if "list" not in kind:
        X = np.array(X, dtype=kind)
    encoder = TableEncoder(categorical_features=[0])
    codes = encoder.fit_transform(X)[:, 0]
    assert codes.tolist() == list(range(20))
    assert encoder.transform(X[5:7])[:, 0].tolist() == [5.0, 6.0]
    assert list(encoder.categories_[0]) == numbers
