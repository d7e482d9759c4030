"""Tables of every kind as columns: numpy, lists, pandas, polars, pyarrow, scipy sparse."""

import functools
import numbers

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from sktree_opt.preprocessing._table import survey
from sktree_opt.preprocessing._times import (
    DATETIME,
    DATETIME_UTC,
    NAMES,
    TIMEDELTA,
    kind_of_types,
    kind_of_value,
    seconds_of_array,
    seconds_of_value,
)
from sktree_opt.utils._validation import is_missing, refuse_other_containers

# Types of cells that numpy itself makes the right floats of.
PLAIN_NUMBERS = {bool, int, float, type(None), np.bool_, np.int64, np.float32, np.float64}

# Types of columns that make one matrix without a look at each; Booleans are ordered categories.
MATRIX_TYPES = {
    nw.Float32,
    nw.Float64,
    nw.Int8,
    nw.Int16,
    nw.Int32,
    nw.Int64,
    nw.UInt8,
    nw.UInt16,
    nw.UInt32,
    nw.UInt64,
}

CATEGORICAL_TYPES = (nw.String, nw.Categorical, nw.Enum)

# Above it not every integer is a float.
LARGEST_EXACT = 1 << 53

# Categories that are numbers below it are looked up in an array.
SMALL_CODE = 1 << 16


class Source:
    """A table as read: a matrix of `numbers`, or columns to be looked at one by one.

    A frame that holds only numbers is both.
    """

    def __init__(self, n_rows, n_columns, names=None, numbers=None, read_column=None, labels=None):
        self.n_rows, self.n_columns, self.names = n_rows, n_columns, names
        self._frame_labels = labels
        self.numbers = numbers
        self._read_column = read_column
        self._small_numbers = {}

    @property
    def labels(self):
        """Names of the columns in messages and exports."""
        return self._frame_labels or [f"x{j}" for j in range(self.n_columns)]

    @functools.cached_property
    def matrix(self):
        """The numbers as floats; None if the table is not a matrix of numbers."""
        if self.numbers is None or sparse.issparse(self.numbers):
            return self.numbers
        if self.numbers.dtype.kind in "biu":
            return self.numbers.astype(np.float64)
        return np.require(self.numbers, requirements="A")

    @functools.cached_property
    def column(self):
        """The function that gives column `j`; it keeps columns, because fit looks at them twice."""
        return functools.cache(
            self._read_column
            or (lambda j: ArrayColumn(self._cells(j), f"x{j}", self._small_numbers.get(j)))
        )

    def _cells(self, j):
        """Column `j` of the matrix; integers as they are where floats would merge some of them."""
        cells = self.numbers[:, j]
        is_exact = cells.dtype.kind not in "iu" or not has_large_integers(cells)
        return self.matrix[:, j] if is_exact else cells

    def survey(self, columns=(), n_threads=1):
        """Refuse infinity in a matrix of numbers, and look what `columns` hold, in one pass."""
        if self.numbers is None:
            return
        if sparse.issparse(self.numbers):
            refuse_infinity(self.numbers)
        elif len(columns) or self.numbers.dtype.kind == "f":
            has_infinity, numbers_ = survey(self.matrix, columns, n_threads)
            if has_infinity:
                refuse_infinity(self.matrix, names=self._frame_labels)
            self._small_numbers = dict(zip(columns, numbers_))


def read_source(X):
    """Recognise the kind of table `X` is, and refuse what no column can be made of.

    Infinite numbers of a matrix are left to ``Source.survey``.
    """
    if type(X) is np.memmap:
        # The same pages of the file, which are not copied.
        X = X.view(np.ndarray)
    if is_plain_matrix(X):
        return Source(*X.shape, numbers=X)
    is_pandas = nw.dependencies.is_pandas_dataframe(X)
    matrix = matrix_of_frame(X) if is_pandas else None
    # To make a narwhals frame takes longer than fitting a small tree.
    frame = X if matrix is not None else read_frame(X)
    if matrix is not None or isinstance(frame, nw.DataFrame):
        names = list(frame.columns)
        labels = column_labels(names)
        return Source(
            *frame.shape,
            labels if labels == names else None,
            numbers=matrix if is_pandas else matrix_of_frame(frame),
            read_column=lambda j: FrameColumn(read_frame(frame).get_column(names[j]), labels[j]),
            labels=labels,
        )
    refuse_other_containers(X)
    if not sparse.issparse(X) and not hasattr(X, "__array__"):
        # numpy would turn every number of a list into a string beside a single string.
        as_objects = np.asarray(X, dtype=object)
        if as_objects.ndim == 2 and (
            not all(isinstance(v, numbers.Real) for v in as_objects.flat)
            or any(isinstance(v, int) and abs(v) > LARGEST_EXACT for v in as_objects.flat)
        ):
            X = as_objects
    elif not sparse.issparse(X):
        X = np.asarray(X)
    kind = getattr(getattr(X, "dtype", None), "kind", "f")
    if kind in "Mm" and X.ndim == 2:
        return Source(*X.shape, read_column=lambda j: ArrayColumn(X[:, j], f"x{j}"))
    if kind in "OUST":
        table = check_array(X, dtype=object, ensure_all_finite=False, ensure_min_samples=0)
        return Source(*table.shape, read_column=lambda j: ArrayColumn(table[:, j], f"x{j}"))
    matrix = check_array(
        X,
        accept_sparse="csc",
        dtype=(np.float64, np.float32),
        ensure_all_finite=False,
        ensure_min_samples=0,
    )
    return Source(*matrix.shape, numbers=matrix)


def read_frame(X):
    """The narwhals frame of `X`; anything else than a frame is returned as it is."""
    try:
        return nw.from_native(X, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"X has several columns of one name. {error}") from error


def matrix_of_frame(frame):
    """A pandas or narwhals frame as one array if it holds only numbers, else None."""
    if isinstance(frame, nw.DataFrame):
        are_numbers = all(type(t) in MATRIX_TYPES for t in frame.schema.values())
    else:
        types = set(frame.dtypes)
        are_numbers = all(isinstance(t, np.dtype) and t.kind in "iuf" for t in types)
        are_numbers = are_numbers and frame.columns.is_unique
    matrix = frame.to_numpy() if are_numbers else None
    return matrix if is_plain_matrix(matrix) else None


def column_labels(names):
    """The names of a frame's columns as strings; x0, x1... for a mere numbering from 0 on."""
    if names == list(range(len(names))):
        return [f"x{j}" for j in range(len(names))]
    return [str(name) for name in names]


def is_plain_matrix(X):
    """Whether `X` is an array of numbers in which scikit-learn's checks have nothing to find.

    They take as long as a search in a small table.
    """
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.size > 0
        and X.dtype.isnative
        and (X.dtype.kind in "biu" or X.dtype in (np.float32, np.float64))
    )


def has_large_integers(cells):
    """Whether an array of integers has some that are not all floats."""
    return cells.size > 0 and max(int(cells.max()), -int(cells.min())) > LARGEST_EXACT


class ArrayColumn:
    """A column of a numpy array, of numbers or of objects."""

    order = None

    def __init__(self, values, name, small_numbers=None):
        self.values, self.name = values, name
        # Its sorted distinct values, if they are known to be small whole numbers.
        self.small_numbers = small_numbers

    @functools.cached_property
    def types(self):
        """The types of the cells of an array of objects."""
        return set(map(type, self.values.tolist())) if self.values.dtype.kind == "O" else set()

    @property
    def is_categorical(self):
        """Whether there are strings."""
        return any(issubclass(cell_type, (str, bytes)) for cell_type in self.types)

    @functools.cached_property
    def time_kind(self):
        """One of ``TIME_KINDS`` for dates, times or durations; None for anything else."""
        if self.values.dtype.kind in "Mm":
            return DATETIME if self.values.dtype.kind == "M" else TIMEDELTA
        kind = kind_of_types(self.types)
        if kind != DATETIME:
            return kind
        kinds = {kind_of_value(value) for value in self.values if not is_missing(value)}
        if len(kinds) > 1:
            raise TypeError(f"Column {self.name!r} mixes times with and without a time zone.")
        return kinds.pop()

    @property
    def distinct(self):
        """List of the distinct values."""
        return self.factorized[1] if self.small_numbers is None else self.small_numbers.tolist()

    @functools.cached_property
    def factorized(self):
        """Position of each cell's value in a list of the distinct ones, -1 if missing; the list."""
        if self.values.dtype.kind in "biuf":
            return factorize_numbers(self.values)
        values, position_of = self.values.tolist(), {}
        try:
            for value in set(values):
                position_of[value] = -1 if is_missing(value) else len(position_of)
        except TypeError as error:
            raise not_hashable(self.name) from error
        positions = np.fromiter(map(position_of.__getitem__, values), np.intp, len(values))
        return positions, list(position_of)

    def to_seconds(self, kind):
        """The cells as seconds; NaN where they are missing."""
        refuse_other_times(self.name, self.time_kind, kind)
        if self.values.dtype.kind in "Mm":
            return seconds_of_array(self.values)
        cells = (seconds_of_value(value, kind, self.name) for value in self.values)
        return np.array([np.nan if cell is None else cell for cell in cells])

    def to_floats(self):
        """The cells as numbers; NaN where they are missing."""
        refuse_times(self.name, self.time_kind)
        if self.types <= PLAIN_NUMBERS:
            floats = self.values.astype(np.float64)
        else:
            floats = np.array([to_float(v, self.name) for v in self.values], dtype=np.float64)
        return refuse_infinity(floats, self.name)


class FrameColumn:
    """A column of a pandas, polars or pyarrow table."""

    def __init__(self, series, name):
        self.series, self.name = series, name
        self.native_dtype = getattr(series.to_native(), "dtype", None)
        self.order = category_order(series)

    @functools.cached_property
    def as_objects(self):
        """The column as objects, where it has no other type; None for all others."""
        # narwhals takes objects for strings when the first ones are.
        if self.series.dtype == nw.Object or str(self.native_dtype) == "object":
            return ArrayColumn(self.series.to_numpy(), self.name)
        return None

    @property
    def is_categorical(self):
        """Whether the type says so, or there are strings."""
        if self.as_objects is not None:
            return self.as_objects.is_categorical
        return isinstance(self.series.dtype, CATEGORICAL_TYPES)

    @functools.cached_property
    def time_kind(self):
        """One of ``TIME_KINDS`` for dates, times or durations; None for anything else."""
        if self.as_objects is not None:
            return self.as_objects.time_kind
        dtype = self.series.dtype
        if dtype == nw.Duration:
            return TIMEDELTA
        if dtype == nw.Datetime:
            return DATETIME if dtype.time_zone is None else DATETIME_UTC
        return DATETIME if dtype == nw.Date else None

    @property
    def distinct(self):
        """List of the distinct values."""
        return self.factorized[1]

    @functools.cached_property
    def factorized(self):
        """Position of each cell's value in a list of the distinct ones, -1 if missing; the list."""
        native, implementation = self.series.to_native(), self.series.implementation
        if implementation.is_pandas():
            try:
                positions, distinct = native.factorize()
            except TypeError as error:
                raise not_hashable(self.name) from error
            return positions, distinct.tolist()
        if implementation.is_pyarrow():
            encoded = native.dictionary_encode().combine_chunks()
            positions = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            return positions, encoded.dictionary.to_pylist()
        if self.as_objects is not None:
            return self.as_objects.factorized
        distinct = self.series.drop_nulls().unique().to_list()
        positions = self.series.replace_strict(
            distinct, list(range(len(distinct))), default=-1, return_dtype=nw.Int64
        )
        return positions.fill_null(-1).to_numpy(), distinct

    def to_seconds(self, kind):
        """The cells as seconds; NaN where they are missing."""
        if self._has_no_value:
            return np.full(len(self.series), np.nan)
        if self.as_objects is not None:
            return self.as_objects.to_seconds(kind)
        refuse_other_times(
            self.name, self.time_kind or self.native_dtype or self.series.dtype, kind
        )
        if kind == TIMEDELTA:
            ticks = self.series.dt.total_microseconds()
        else:
            ticks = self.series.dt.timestamp("us")
        # Polars and pyarrow have nulls beside integers.
        return np.asarray(ticks.cast(nw.Float64).to_numpy(), dtype=np.float64) / 1e6

    @property
    def _has_no_value(self):
        """Whether all cells are missing: such a column has no type to check."""
        return self.series.null_count() == len(self.series)

    def to_floats(self):
        """The cells as numbers; NaN where they are missing."""
        if self.as_objects is not None:
            return self.as_objects.to_floats()
        dtype = self.series.dtype
        if self._has_no_value:
            return np.full(len(self.series), np.nan)
        refuse_times(self.name, self.time_kind)
        if isinstance(dtype, CATEGORICAL_TYPES):
            raise TypeError(
                f"Column {self.name!r} holds strings or categories, but held numbers in fit."
            )
        if dtype == nw.Unknown:
            # As pandas' sparse columns, of which narwhals knows nothing.
            cells = np.asarray(self.series.to_native())
            if cells.dtype.kind in "biuf":
                return refuse_infinity(cells.astype(np.float64), self.name)
        if not (dtype.is_numeric() or dtype == nw.Boolean):
            raise TypeError(
                f"Column {self.name!r} has dtype {self.native_dtype or dtype}; columns must hold "
                "numbers, booleans, strings, categories, dates or durations."
            )
        if dtype == nw.Decimal:
            cells = object_array(self.series.to_list())
            return ArrayColumn(cells, self.name).to_floats()
        floats = self.series.cast(nw.Float64).to_numpy()
        return refuse_infinity(np.asarray(floats, dtype=np.float64), self.name)


def refuse_times(name, found):
    """Raise if a column that held numbers in fit holds dates, times or durations."""
    if found is not None:
        raise TypeError(f"Column {name!r} holds {NAMES[found]}, but held numbers in fit.")


def refuse_other_times(name, found, kind):
    """Raise if a column does not hold the kind of time that it held in fit."""
    if found is not None and found != kind:
        what = NAMES.get(found, f"values of dtype {found}")
        raise TypeError(f"Column {name!r} holds {what}, but held {NAMES[kind]} in fit.")


def factorize_numbers(values):
    """Positions and distinct values of an array of numbers."""
    is_known = ~np.isnan(values)
    positions = np.full(len(values), -1, dtype=np.intp)
    distinct, positions[is_known] = np.unique(values[is_known], return_inverse=True)
    return positions, distinct.tolist()


def small_code_table(categories):
    """Codes of categories that are small whole numbers, by number; None for other categories.

    The first and last entries, for all numbers outside, are NaN.
    """
    if not all(isinstance(c, (int, float)) and 0 <= c < SMALL_CODE for c in categories):
        return None
    numbers_ = np.array(categories, dtype=np.float64)
    if numbers_.size == 0 or not np.array_equal(numbers_, np.floor(numbers_)):
        return None
    table = np.full(int(numbers_[-1]) + 3, np.nan)
    table[numbers_.astype(np.intp) + 1] = np.arange(numbers_.size)
    return table


def look_up_numbers(values, table):
    """Codes of an array of numbers by ``small_code_table``; NaN for unknown ones."""
    with np.errstate(invalid="ignore"):
        whole = values.astype(np.int32)
    codes = np.take(table, whole + 1, mode="clip")
    codes[whole != values] = np.nan
    return codes


def category_order(series):
    """Categories in the order that the column's type gives them; None if it gives none."""
    if series.dtype == nw.Boolean:
        return object_array([False, True])
    native = series.to_native()
    if getattr(getattr(native, "dtype", None), "ordered", False):
        return object_array(native.cat.categories)
    return None


def object_array(values):
    """A one-dimensional array of Python objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array


def not_hashable(name):
    """The error about cells that cannot be categories."""
    return TypeError(f"Column {name!r} holds values that are not strings or numbers.")


def to_float(value, name):
    """One cell of an object column as a number."""
    if is_missing(value):
        return np.nan
    if isinstance(value, (str, bytes)):
        raise TypeError(
            f"Column {name!r} holds the string {value!r} where numbers are expected; name the "
            "column in categorical_features, or convert it."
        )
    if isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real):
        raise ValueError(f"Complex data not supported: column {name!r} holds {value!r}.")
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"Column {name!r}: argument must be a string or a number, not a {type(value).__name__}."
        ) from error


def refuse_infinity(values, name=None, names=None):
    """Raise if a number is infinite; otherwise return `values`, a column or those of `names`."""
    data = values.data if sparse.issparse(values) else values
    # The sum is finite in nearly all tables, and needs no array of its own; in the type of the
    # data it may overflow, which costs a second look, but is several times as fast for float32.
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(np.sum(data))
    if suspicious and np.isinf(data).any():
        if name is None and not sparse.issparse(values):
            name = int(np.flatnonzero(np.isinf(values).any(axis=0))[0])
            name = name if names is None else names[name]
        where = "" if name is None else f" in column {name!r}"
        raise ValueError(f"Input X contains infinity or a value too large for float64{where}.")
    return values
