"""Tables of every kind become the same matrix, and bad ones an error that names the column."""

import datetime
import decimal
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sktree_opt.preprocessing._columns import read_source
from sktree_opt.preprocessing._encoder import TableEncoder
from tests.effort import examples

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

NAN = np.nan
CELLS = {
    "width": [1.5, None, -2.0, 0.0, 7.0],
    "colour": ["red", "blue", None, "red", "green"],
    "count": [3, 1, 2, None, 3],
    "urgent": [True, False, True, None, False],
}
# Categories in code order: blue, green, red.
MATRIX = np.array(
    [[1.5, 2, 3, 1], [NAN, 0, 1, 0], [-2, NAN, 2, 1], [0, 2, NAN, NAN], [7, 1, 3, 0]], dtype=float
)
ROWS = [list(row) for row in zip(*CELLS.values(), strict=True)]
PANDAS_TYPES = {
    "objects": dict.fromkeys(CELLS, object),
    # Strings of pandas 2 are objects, and "str" makes strings of missing ones.
    "strings": {"colour": "str" if pd.__version__ >= "3" else object, "count": float},
    "nullable": {"width": "Float64", "colour": "string", "count": "Int64", "urgent": "boolean"},
    "category": {"colour": "category", "count": "Int8", "urgent": "boolean"},
    "pyarrow": {
        "width": "double[pyarrow]",
        "colour": "string[pyarrow]",
        "count": "int32[pyarrow]",
        "urgent": "bool[pyarrow]",
    },
    "pyarrow dictionary": {"colour": pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))},
}


def pandas_frames():
    for name, types in PANDAS_TYPES.items():
        yield name, pd.DataFrame(CELLS, dtype=object).astype(types)


def polars_frames():
    frame = pl.DataFrame(CELLS)
    yield "strings", frame
    yield "categorical", frame.with_columns(pl.col("colour").cast(pl.Categorical))
    enum = pl.Enum(["red", "never", "green", "blue"])
    yield "enum", frame.with_columns(pl.col("colour").cast(enum), pl.col("count").cast(pl.UInt8))
    yield "decimal", frame.with_columns(pl.col("width").cast(pl.Decimal(10, 2)))


def tables():
    yield "numpy objects", np.array(ROWS, dtype=object)
    yield "list", ROWS
    yield "tuple", tuple(map(tuple, ROWS))
    yield from ((f"pandas {name}", frame) for name, frame in pandas_frames())
    yield from ((f"polars {name}", frame) for name, frame in polars_frames())
    yield "pyarrow", pa.table(CELLS)
    coded = pa.table(CELLS)
    yield "pyarrow dictionary", coded.set_column(1, "colour", coded["colour"].dictionary_encode())


TABLES = dict(tables())


@pytest.mark.parametrize("name", TABLES)
def test_every_table_gives_the_same_matrix(name):
    encoder = TableEncoder()
    np.testing.assert_array_equal(encoder.fit_transform(TABLES[name]), MATRIX)
    np.testing.assert_array_equal(encoder.transform(TABLES[name]), MATRIX)
    assert encoder.kinds_[:3] == ["numeric", "nominal", "numeric"]
    assert encoder.categories_[1].tolist() == ["blue", "green", "red"]
    assert encoder.categories_[0] is None
    assert encoder.n_categories_.tolist() == [-1, 3, -1, -1]
    if name.startswith(("numpy", "list", "tuple")):
        assert encoder.feature_names_ == ["x0", "x1", "x2", "x3"]
    else:
        assert encoder.feature_names_ == list(CELLS)


@pytest.mark.parametrize("fitted", ["list", "pandas category", "polars enum", "pyarrow"])
@pytest.mark.parametrize("name", TABLES)
def test_fit_on_one_kind_of_table_and_transform_another(fitted, name):
    encoder = TableEncoder().fit(TABLES[fitted])
    np.testing.assert_array_equal(encoder.transform(TABLES[name]), MATRIX)


@pytest.mark.parametrize("name", [n for n in TABLES if n.startswith(("pandas", "polars"))])
def test_one_row_at_a_time(name):
    encoder = TableEncoder().fit(TABLES["pandas nullable"])
    table = TABLES[name]
    for i in range(len(MATRIX)):
        np.testing.assert_array_equal(encoder.transform(table[i : i + 1]), MATRIX[i : i + 1])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": pd.Series([None, None], dtype=object), "b": [1.0, 2.0]}),
        pd.DataFrame({"a": pd.Series([None, None], dtype="string"), "b": [1.0, 2.0]}),
        pd.DataFrame({"a": pd.Series([pd.NA, pd.NaT], dtype=object), "b": [1.0, 2.0]}),
        pl.DataFrame({"a": [None, None], "b": [1.0, 2.0]}),
        pa.table({"a": pa.nulls(2), "b": [1.0, 2.0]}),
        [[None, 1.0], [NAN, 2.0]],
        [[pd.NA, 1.0], [pd.NA, 2.0]],
    ],
)
def test_a_column_without_any_value(frame):
    expected = [[NAN, 1.0], [NAN, 2.0]]
    encoder = TableEncoder().fit(frame)
    assert encoder.categories_[0] is None or not len(encoder.categories_[0])
    np.testing.assert_array_equal(encoder.transform(frame), expected)
    numeric = TableEncoder().fit([[1.0, 2.0]])
    np.testing.assert_array_equal(numeric.transform(frame), expected)


def test_no_rows():
    encoder = TableEncoder().fit(TABLES["pandas strings"])
    for name in ("pandas objects", "pandas category", "polars enum"):
        assert encoder.transform(TABLES[name][:0]).shape == (0, 4)


@pytest.mark.parametrize("missing", [None, NAN, np.float32("nan"), pd.NA, pd.NaT])
def test_kinds_of_missing(missing):
    rows = [["a", 1], [missing, 2], ["b", missing]]
    expected = [[0, 1], [NAN, 2], [1, NAN]]
    for table in (rows, np.array(rows, dtype=object), pd.DataFrame(rows, dtype=object)):
        np.testing.assert_array_equal(TableEncoder().fit_transform(table), expected)


def test_names_need_a_table_with_names():
    with pytest.raises(ValueError, match="X has no column names"):
        TableEncoder(["a"]).fit(np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (["a", 1], TypeError, "'bad' mixes values of types int, str"),
        ([[1], [2]], TypeError, "'bad'.*not a list|'bad' has dtype List"),
        ([1.0, np.inf], ValueError, "infinity.*'bad'"),
        ([1 + 2j, 1.0], (TypeError, ValueError), "'bad'"),
        ([datetime.time(12), None], TypeError, "'bad'"),
    ],
)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_bad_columns_are_named(frame, values, error, message):
    if frame is pl.DataFrame and isinstance(values[0], (str, complex)):
        values = pl.Series(values, dtype=pl.Object)
    with pytest.raises(error, match=message):
        TableEncoder().fit(frame({"good": [1, 2], "bad": values}))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_strings_where_fit_saw_numbers(frame):
    encoder = TableEncoder().fit(frame({"a": [1.0, 2.0]}))
    with pytest.raises(TypeError, match="'a' holds (strings or categories, but held|the string)"):
        encoder.transform(frame({"a": ["1", "2"]}))


def test_sparse_columns_of_a_frame():
    cells = np.array([[0.0, 2.0], [0.0, NAN], [1.5, 0.0]])
    kind = pd.SparseDtype(float, 0.0)
    frame = pd.DataFrame(cells, columns=["a", "b"]).astype(kind)
    np.testing.assert_array_equal(TableEncoder().fit_transform(frame), cells)
    cells[0, 1] = np.inf
    with pytest.raises(ValueError, match="infinity.*'b'"):
        TableEncoder().fit(pd.DataFrame(cells, columns=["a", "b"]).astype(kind))


def test_bad_cells_of_arrays_are_named():
    for cell, message in [
        ([1], "Column 'x1'.*not a list"),
        (1 + 2j, "Complex data not supported: column 'x1'"),
        (np.complex128(1 + 2j), "Complex data not supported: column 'x1'"),
        (datetime.time(12), "Column 'x1'.*not a time"),
    ]:
        table = np.empty((1, 2), dtype=object)
        table[0, 0], table[0, 1] = 1.0, cell
        with pytest.raises((TypeError, ValueError), match=message):
            TableEncoder().fit(table)
    with pytest.raises(ValueError, match=r"infinity.*column 1"):
        TableEncoder().fit([[0.0, np.inf]])
    with pytest.raises(ValueError, match="infinity"):
        TableEncoder().fit(sparse.csr_array([[0.0, np.inf]]))
    with pytest.raises(ValueError, match="Complex data not supported"):
        TableEncoder().fit(np.array([[1j]]))
    with pytest.raises(ValueError, match="dim 3"):
        TableEncoder().fit(np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="2D array"):
        TableEncoder().fit(np.zeros(2))
    with pytest.raises(TypeError, match=r"'x0'.*string 'a'"):
        TableEncoder().fit([[1.0]]).transform([["a"]])


FRAMES_OF_NUMBERS = {
    "pandas": lambda X: pd.DataFrame(X, columns=list("abc")),
    "pandas, column by column": lambda X: pd.DataFrame(dict(zip("abc", X.T.copy(), strict=True))),
    "pandas, integers beside": lambda X: pd.DataFrame(X, columns=list("abc")).astype({"c": int}),
    "pandas, narrow": lambda X: pd.DataFrame(X, columns=list("abc"), dtype="float32"),
    "polars": lambda X: pl.DataFrame(X, schema=list("abc"), nan_to_null=True),
    "polars, integers beside": lambda X: pl.DataFrame(X, schema=list("abc")).cast({"c": pl.UInt8}),
    "pyarrow": lambda X: pa.table(dict(zip("abc", X.T.copy(), strict=True))),
}


@pytest.mark.parametrize("name", FRAMES_OF_NUMBERS)
def test_frames_of_numbers_are_matrices(name):
    X = np.array([[1.5, -2.0, 3.0], [NAN, 0.25, 1.0], [-0.5, NAN, 3.0]])
    frame = FRAMES_OF_NUMBERS[name](X)
    assert read_source(frame).numbers is not None
    encoder = TableEncoder()
    np.testing.assert_array_equal(encoder.fit_transform(frame), X)
    np.testing.assert_array_equal(encoder.transform(frame), X)
    assert encoder.feature_names_ == ["a", "b", "c"]
    # The first of these categories are no codes.
    for asked in (["a"], ["c"]):
        j = "abc".index(asked[0])
        of_frame, of_array = TableEncoder(asked).fit(frame), TableEncoder([j]).fit(X)
        assert of_frame.categories_[j].tolist() == of_array.categories_[j].tolist()
        np.testing.assert_array_equal(of_frame.transform(frame), of_array.transform(X))
    with pytest.raises(ValueError, match="infinity.*column 'b'"):
        encoder.transform(FRAMES_OF_NUMBERS[name](np.where(X == 0.25, np.inf, X)))


def test_whole_numbers_of_frames_need_no_floats():
    X = np.array([[1, 0], [0, 1]], dtype=np.uint8)
    matrix = TableEncoder().fit_transform(pd.DataFrame(X), keep_integers=True)
    assert matrix.dtype == np.uint8
    mixed = pd.DataFrame({"a": np.array([1], dtype=np.uint64), "b": [-1]})
    assert TableEncoder().fit_transform(mixed, keep_integers=True).tolist() == [[1.0, -1.0]]


def test_large_numbers_are_no_infinity():
    X = np.array([[1e308, 1e308], [1e308, -1e308]])
    assert TableEncoder().fit_transform(X) is not None


def test_numbers_keep_their_width():
    for dtype in (np.float32, np.float64):
        X = np.array([[1.5, NAN]], dtype=dtype)
        assert TableEncoder().fit_transform(X).dtype == dtype
    for dtype in (np.int8, np.uint64, bool, np.float16):
        assert TableEncoder().fit_transform(np.ones((2, 2), dtype=dtype)).dtype.kind == "f"


def test_sparse_stays_sparse():
    X = sparse.random_array((20, 5), density=0.3, random_state=0)
    matrix = TableEncoder(None).fit_transform(X.tocsr())
    assert matrix.format == "csc"
    np.testing.assert_array_equal(matrix.toarray(), X.toarray())
    assert TableEncoder().fit_transform(X.tocoo()).format == "csc"
    with pytest.raises(ValueError, match="must be None for a sparse X"):
        TableEncoder([0]).fit(X)
    encoder = TableEncoder([0]).fit(np.ones((3, 5)))
    with pytest.raises(ValueError, match="X is sparse, but fit saw categories"):
        encoder.transform(X)


def test_other_number_of_columns():
    encoder = TableEncoder().fit(TABLES["list"])
    for table in ([[1.0, "red"]], pd.DataFrame({"a": [1]})):
        with pytest.raises(ValueError, match=r"X has [12] features, but 4 were seen"):
            encoder.transform(table)


def test_columns_with_numbers_for_names():
    frame = pd.DataFrame([[1.0, "a"], [2.0, "b"]])
    encoder = TableEncoder().fit(frame)
    assert encoder.feature_names_ == ["x0", "x1"]
    assert encoder.transform(frame).tolist() == [[1, 0], [2, 1]]


def test_columns_with_other_numbers_for_names():
    """They are called alike in messages and exports."""
    frame = pd.DataFrame({10: [1.0, 2.0], 20: ["a", "b"]})
    encoder = TableEncoder().fit(frame)
    assert encoder.feature_names_ == ["10", "20"]
    assert encoder.transform(frame).tolist() == [[1, 0], [2, 1]]
    with pytest.raises(TypeError, match="Column '10' holds (strings|the string)"):
        encoder.transform(frame.astype({10: str}))
    with pytest.raises(ValueError, match="infinity .* in column '10'"):
        TableEncoder().fit(pd.DataFrame({10: [np.inf], 20: [1.0]}))


@pytest.mark.parametrize("cells", [[[1.0, 2.0]], [[1.0, "x"]]])
def test_columns_of_one_name(cells):
    with pytest.raises(ValueError, match=r"(?s)X has several columns of one name.*'a'"):
        TableEncoder().fit(pd.DataFrame(cells, columns=["a", "a"]))


def test_the_table_is_left_as_it_is():
    for name, table in TABLES.items():
        if name.startswith("pandas"):
            before = table.copy(deep=True)
            TableEncoder().fit_transform(table)
            pd.testing.assert_frame_equal(table, before)
    X = np.array([[1.0, 2.0]])
    TableEncoder([0]).fit_transform(X)
    assert X.tolist() == [[1.0, 2.0]]


def test_from_columns():
    columns = [
        {"name": "a", "kind": "numeric"},
        {"name": "b", "kind": "nominal", "categories": ["x", "y"]},
        {"name": "c", "kind": "ordinal", "categories": ["low", "high"]},
    ]
    encoder = TableEncoder.from_columns(columns)
    table = pd.DataFrame({"a": [1.0], "b": ["y"], "c": ["high"]})
    assert encoder.transform(table).tolist() == [[1.0, 1.0, 1.0]]
    assert encoder.n_categories_.tolist() == [-1, 2, -1]
    assert encoder.feature_names_ == ["a", "b", "c"]


def test_decimals_and_strange_numbers():
    table = np.array([[decimal.Decimal("1.5"), np.int16(3), np.float16(0.5)]], dtype=object)
    assert TableEncoder().fit_transform(table).tolist() == [[1.5, 3.0, 0.5]]


strings = st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=3))


@given(st.lists(strings, min_size=1, max_size=30), st.lists(strings, min_size=1, max_size=30))
@examples(50)
def test_codes_of_any_strings(seen, new):
    """Every backend codes strings as a dict of the sorted ones would."""
    categories = sorted({value for value in seen if value is not None})
    code_of = {value: code for code, value in enumerate(categories)}
    expected = [code_of.get(value, NAN) for value in new]
    makers = [
        lambda cells: pd.DataFrame({"a": pd.Series(cells, dtype=object)}),
        lambda cells: pd.DataFrame({"a": pd.Series(cells, dtype="category")}),
        lambda cells: pl.DataFrame({"a": pl.Series(cells, dtype=pl.String)}),
        lambda cells: pa.table({"a": pa.array(cells, pa.string())}),
        lambda cells: np.array([["", *cells]], dtype=object).T[1:],
    ]
    for make in makers:
        if not categories:
            continue
        encoder = TableEncoder().fit(make(seen))
        assert encoder.categories_[0].tolist() == categories
        np.testing.assert_array_equal(encoder.transform(make(new))[:, 0], expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, bool, np.float32, np.float64])
def test_a_memory_mapped_array_is_not_copied(dtype, tmp_path):
    np.save(tmp_path / "table.npy", (np.arange(60) % 3 == 0).reshape(20, 3).astype(dtype))
    X = np.load(tmp_path / "table.npy", mmap_mode="r")
    matrix = TableEncoder().fit_transform(X, keep_integers=True)
    assert matrix.dtype == dtype
    assert np.shares_memory(matrix, X)


def test_lookups_are_made_again_when_an_encoder_is_loaded():
    X = np.array([[True, "a"], [False, "b"]], dtype=object)
    encoder = TableEncoder()
    matrix = encoder.fit_transform(X)
    assert "_code_of" in vars(encoder).keys() - encoder.__getstate__().keys()
    loaded = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(loaded.transform(X), matrix)
    assert "categories_" not in vars(pickle.loads(pickle.dumps(TableEncoder())))
