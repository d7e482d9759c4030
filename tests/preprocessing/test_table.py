"""Ranks and codes: against numpy's, at the borders of integer widths and of floats."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from sktree_opt.preprocessing._binary_tests import midpoints
from sktree_opt.preprocessing._table import Table
from tests.effort import examples

NAN = np.nan


def assert_is_ranked(table, j, column):
    """Column `j` of the table says the same as numpy does of `column`."""
    column = column.astype(np.float64)
    missing = np.isnan(column)
    distinct, ranks = np.unique(column[~missing], return_inverse=True)
    codes = table.codes[j]
    np.testing.assert_array_equal(table.values[j], distinct)
    np.testing.assert_array_equal(codes[~missing], ranks)
    assert (codes[missing] == len(distinct)).all()
    assert table.n_missing[j] == missing.sum()
    assert codes.dtype == np.min_scalar_type(len(distinct))
    assert codes.flags.c_contiguous


matrices = st.sampled_from([np.float32, np.float64]).flatmap(
    lambda dtype: hnp.arrays(
        dtype,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=30),
        elements=st.one_of(
            st.integers(-3, 3).map(float),
            st.just(NAN),
            st.floats(allow_infinity=False, width=8 * np.dtype(dtype).itemsize),
        ),
    )
)


@given(matrices, st.sampled_from([1, 2, 3]), st.sampled_from(["C", "F", "strided"]))
@examples(80)
def test_ranks_are_those_of_numpy(X, n_threads, layout):
    if layout == "strided":
        given_X = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    else:
        given_X = np.asarray(X, order=layout)
    table = Table.from_matrix(given_X, n_threads=n_threads)
    assert (table.n_rows, table.n_columns) == X.shape
    assert not table.is_nominal.any()
    for j in range(X.shape[1]):
        assert_is_ranked(table, j, X[:, j])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_columns(dtype, global_random_seed):
    # Long enough for the radix sort; several columns for each thread.
    rng = np.random.default_rng(global_random_seed)
    n = 3000
    X = np.column_stack(
        [
            rng.normal(size=n),
            rng.integers(-5, 5, n),
            rng.integers(0, 2, n) * 1e300,
            np.full(n, -7.25),
            np.where(rng.random(n) < 0.3, NAN, rng.exponential(size=n)),
            np.full(n, NAN),
            np.arange(n)[::-1] * 1e-310,
            rng.integers(-(2**52), 2**52, n),
        ]
    )
    with np.errstate(over="ignore"):
        X = X.astype(dtype)
    X[np.isinf(X)] = 0.0
    for n_threads in (1, 2):
        table = Table.from_matrix(X, n_threads=n_threads)
        for j in range(X.shape[1]):
            assert_is_ranked(table, j, X[:, j])


@pytest.mark.parametrize("n_values", [0, 1, 2, 254, 255, 256, 257, 65534, 65535, 65536, 65537])
@pytest.mark.parametrize("n_missing", [0, 3])
def test_widths_of_codes(n_values, n_missing):
    column = np.concatenate([np.arange(n_values) * 0.5, np.full(n_missing, NAN)])
    rng = np.random.default_rng(0)
    column = rng.permutation(np.concatenate([column, column]))[:, None]
    if not len(column):
        column = np.full((1, 1), NAN)
    table = Table.from_matrix(column)
    assert_is_ranked(table, 0, column[:, 0])
    # The code after the last has to fit too: it stands for missing.
    assert table.codes[0].itemsize == (1 if n_values <= 255 else 2 if n_values <= 65535 else 4)


def test_minus_zero_is_zero():
    table = Table.from_matrix(np.array([[-0.0], [0.0], [1.0], [-0.0]]))
    assert table.codes[0].tolist() == [0, 0, 1, 0]
    assert not np.signbit(table.values[0]).any()


def test_subnormals_and_extremes():
    info = np.finfo(np.float64)
    column = [info.max, info.min, info.tiny, -info.tiny, 5e-324, -5e-324, 0.0]
    table = Table.from_matrix(np.array([column]).T)
    assert_is_ranked(table, 0, np.array(column))


def test_signs_of_nan_make_no_difference():
    column = np.array([np.copysign(NAN, -1.0), NAN, 2.0, np.copysign(NAN, 1.0)])
    table = Table.from_matrix(column[:, None])
    assert table.codes[0].tolist() == [1, 1, 0, 1]


def test_nominal_columns():
    X = np.array([[2.0, 1.5], [NAN, 0.5], [0.0, 1.5]])
    table = Table.from_matrix(X, [4, -1])
    assert table.is_nominal.tolist() == [True, False]
    # Four categories are known, though two occur; the fifth code means missing.
    assert table.codes[0].tolist() == [2, 4, 0]
    assert table.values[0].tolist() == [0, 1, 2, 3]
    assert table.codes[1].tolist() == [1, 0, 1]
    assert table.n_missing.tolist() == [1, 0]


@pytest.mark.parametrize(("n_categories", "itemsize"), [(255, 1), (256, 2), (65535, 2), (65536, 4)])
def test_widths_of_nominal_codes(n_categories, itemsize):
    X = np.array([[0.0], [n_categories - 1.0], [NAN]])
    table = Table.from_matrix(X, [n_categories])
    assert table.codes[0].itemsize == itemsize
    assert table.codes[0].tolist() == [0, n_categories - 1, n_categories]


def test_columns_of_equal_content():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=400), rng.integers(0, 3, 400).astype(float)
    with_hole = first.copy()
    with_hole[7] = NAN
    X = np.column_stack([first, second, 2.0 * first + 1.0, second, -first, with_hole, first])
    for n_threads in (1, 2):
        table = Table.from_matrix(X, n_threads=n_threads)
        # The same order of rows is the same content for a tree.
        assert table.representative.tolist() == [0, 1, 0, 1, 4, 5, 0]
    # A code is not a rank.
    coded = Table.from_matrix(np.column_stack([second, second, second]), [-1, 3, 3])
    assert coded.representative.tolist() == [0, 1, 1]
    assert Table.from_matrix(np.full((3, 2), NAN)).representative.tolist() == [0, 0]


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=10),
    st.booleans(),
)
@examples(200)
def test_thresholds_separate_neighbours(values, crowd):
    if crowd:
        values += [math.nextafter(value, 0.0) for value in values]
    column = np.array(values)
    table = Table.from_matrix(column[:, None])
    distinct = table.values[0]
    for rank in range(len(distinct) - 1):
        lower, upper = distinct[rank], distinct[rank + 1]
        threshold = midpoints(lower, upper)
        assert lower <= threshold < upper
        assert np.isfinite(threshold)


def test_thresholds_are_midpoints():
    values = np.array([1.0, 2.0, 4.0, 1e308, 1.5e308])
    thresholds = midpoints(values[:-1], values[1:])
    assert thresholds[[0, 1, 3]].tolist() == [1.5, 3.0, 1.25e308]
    assert midpoints(1.0, np.nextafter(1.0, 2.0)) == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_matrices(dtype, global_random_seed):
    X = sparse.random_array(
        (60, 13), density=0.4, format="csc", dtype=dtype, random_state=global_random_seed
    )
    dense = X.toarray()
    table = Table.from_matrix(X, n_threads=2)
    for j in range(13):
        assert_is_ranked(table, j, dense[:, j])


def test_tables_without_rows_or_columns():
    assert Table.from_matrix(np.empty((5, 0))).codes == []
    table = Table.from_matrix(np.empty((0, 2)))
    assert [len(codes) for codes in table.codes] == [0, 0]
    assert [len(values) for values in table.values] == [0, 0]


def test_read_only_input():
    X = np.array([[1.0], [3.0], [2.0]])
    X.flags.writeable = False
    assert Table.from_matrix(X).codes[0].tolist() == [0, 2, 1]
    assert Table.from_matrix(np.asfortranarray(X)).codes[0].tolist() == [0, 2, 1]


def test_census(data_dir):
    pd = pytest.importorskip("pandas")
    from sktree_opt.preprocessing._encoder import TableEncoder

    path = data_dir / "uci" / "census_income_kdd.csv.gz"
    if not path.exists():
        pytest.skip("no census data")
    frame = pd.read_csv(path, nrows=20_000)
    encoder = TableEncoder()
    matrix = encoder.fit_transform(frame)
    table = Table.from_matrix(matrix, encoder.n_categories_, n_threads=2)
    for j in range(table.n_columns):
        if table.is_nominal[j]:
            categories = encoder.categories_[j]
            cells = frame.iloc[:, j].to_numpy(dtype=object)
            known = table.codes[j] < len(categories)
            assert (categories[table.codes[j][known]] == cells[known]).all()
        else:
            assert_is_ranked(table, j, matrix[:, j])


@given(st.floats(-1e15, 1e15), st.floats(-1e15, 1e15))
@examples(300)
def test_thresholds_are_the_shortest_decimals(first, second):
    lower, upper = sorted([first, second])
    # Two values that rounding does not bring together.
    assume(upper - lower > max(1e-15, 1e-12 * abs(lower), 1e-12 * abs(upper)))
    threshold = float(midpoints(lower, upper))
    assert lower <= threshold < upper
    middle, half = (
        Fraction(lower) / 2 + Fraction(upper) / 2,
        Fraction(upper) / 2 - Fraction(lower) / 2,
    )
    margin = half * Fraction(98, 100)
    assert abs(Fraction(threshold) - middle) <= margin + abs(middle) * Fraction(2) ** -50
    # No decimal of fewer digits is between.
    _, digits, exponent = Decimal(repr(threshold)).normalize().as_tuple()
    for larger in range(exponent + 1, 17) if exponent > -22 else ():
        step = Fraction(10) ** larger
        count = round(middle / step)
        shorter, n_digits = count * step, len(str(abs(count)).rstrip("0"))
        is_single = np.float32(shorter) < min(np.float32(upper), upper)
        if abs(shorter - middle) <= margin * (1 - Fraction(2) ** -40) and is_single:
            assert n_digits >= (len(digits) if threshold else 0)


@pytest.mark.parametrize(
    ("lower", "upper", "text"),
    [
        (448.7, 449.2, "449.0"),
        (448.90000000000003, 449.0, "448.95"),
        (448.0, 450.0, "449.0"),
        (448.0, 449.9, "449.0"),
        (448.0, 449.00000000000006, "448.5"),
        (1.9, 3.0, "2.0"),
        (4.4, 10.4, "7.0"),
        (18, 35, "30.0"),
        (57, 58, "57.5"),
        (12345, 12346, "12345.5"),
        (0.1, 0.30000000000000004, "0.2"),
        (-0.00157, -0.0005, "-0.001"),
        (0.0, 1000.0, "500.0"),
    ],
)
def test_thresholds_that_a_person_would_write(lower, upper, text):
    assert repr(float(midpoints(lower, upper))) == text
