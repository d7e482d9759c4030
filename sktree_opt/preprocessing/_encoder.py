"""From a user's table to one float matrix: which columns are categories, and their codes.

The matrix has the columns of the table in their order; NaN is a missing value, a nominal or
ordinal column holds the codes of its categories. ``Table`` ranks it for the kernels that fit, and
the predictor reads it as it is.
"""

import numbers

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse
from sklearn.utils import check_array

NUMERIC, NOMINAL, ORDINAL = "numeric", "nominal", "ordinal"


class TableEncoder:
    """Decides in ``fit`` what each column is, and turns tables into float matrices.

    Parameters
    ----------
    categorical_features : "from_dtype", array-like of bool, int or str, or None
        "from_dtype": columns of strings or of a categorical dtype. A mask, indices or column names:
        those columns, whatever their dtype. None: no column.

    Attributes
    ----------
    feature_names_ : list of str
        The column names, or ``x0``, ``x1``... where the table has none.

    kinds_ : list of str
        "numeric", "nominal" (tested by value) or "ordinal" (an ordered categorical dtype: its
        categories are tested like numbers, in their order).

    categories_ : list of ndarray or None
        Categories in code order; None for a numeric column.
    """

    def __init__(self, categorical_features="from_dtype"):
        self.categorical_features = categorical_features

    def fit(self, X):
        """Find the kinds and categories of the columns of `X`."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X):
        """Fit, and return the matrix of `X`."""
        source = read_source(X)
        self.feature_names_ = source.names or [f"x{j}" for j in range(source.n_columns)]
        asked = resolve_categorical(self.categorical_features, source.names, source.n_columns)
        self.kinds_ = [NUMERIC] * source.n_columns
        self.categories_ = [None] * source.n_columns
        if source.matrix is not None and sparse.issparse(source.matrix) and asked:
            raise ValueError("categorical_features must be None for a sparse X.")
        for j in range(source.n_columns):
            if source.matrix is not None and j not in (asked or ()):
                continue
            self._fit_column(j, source.column(j), None if asked is None else j in asked)
        self._index_categories()
        return self._encode(source)

    def transform(self, X):
        """Return the matrix of `X`; a category that fit never saw is missing."""
        return self._encode(read_source(X))

    @property
    def n_categories_(self):
        """Number of categories of each nominal column, -1 for the others."""
        return np.array(
            [
                len(categories) if kind == NOMINAL else -1
                for kind, categories in zip(self.kinds_, self.categories_, strict=True)
            ],
            dtype=np.int64,
        )

    def _fit_column(self, j, column, asked):
        """Decide kind and categories of column `j`; `asked` is None for "from_dtype"."""
        is_categorical = column.is_categorical if asked is None else asked
        if not is_categorical:
            if column.is_categorical and column.order is None:
                raise ValueError(
                    f"Column {self.feature_names_[j]!r} holds strings or categories but is not "
                    "named in categorical_features; name it there, or convert it to numbers."
                )
            if column.order is None:
                return
        if column.order is not None:
            self.kinds_[j], self.categories_[j] = ORDINAL, column.order
            return
        self.kinds_[j] = NOMINAL
        self.categories_[j] = distinct_values(column.to_list(), self.feature_names_[j])

    def _index_categories(self):
        self._code_of = [
            None if categories is None else {value: code for code, value in enumerate(categories)}
            for categories in self.categories_
        ]

    def _encode(self, source):
        coded = [j for j, lookup in enumerate(self._code_of) if lookup is not None]
        if source.n_columns != len(self.kinds_):
            raise ValueError(
                f"X has {source.n_columns} features, but {len(self.kinds_)} were seen in fit."
            )
        if source.matrix is not None:
            if not coded:
                return source.matrix
            if sparse.issparse(source.matrix):
                raise ValueError("X is sparse, but fit saw categories; pass the same kind of X.")
            matrix = np.array(source.matrix, dtype=np.float64, order="F")
        else:
            matrix = np.empty((source.n_rows, source.n_columns), dtype=np.float64, order="F")
        for j in range(source.n_columns):
            if self._code_of[j] is not None:
                matrix[:, j] = look_up(source.column(j).to_list(), self._code_of[j])
            elif source.matrix is None:
                matrix[:, j] = source.column(j).to_floats(self.feature_names_[j])
        return matrix


class Source:
    """A table as read: a numeric matrix, or columns to be looked at one by one."""

    def __init__(self, n_rows, n_columns, names=None, matrix=None, column=None):
        self.n_rows, self.n_columns, self.names = n_rows, n_columns, names
        self.matrix = matrix
        self.column = column if column is not None else self._matrix_column

    def _matrix_column(self, j):
        return ArrayColumn(self.matrix[:, j])


def read_source(X):
    """Recognise the kind of table `X` is, and refuse what no column can be made of."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        names = list(frame.columns)
        as_names = names if all(isinstance(name, str) for name in names) else None
        return Source(
            *frame.shape, as_names, column=lambda j: FrameColumn(frame.get_column(names[j]))
        )
    if not sparse.issparse(X) and not hasattr(X, "__array__"):
        # numpy would turn every number of a list into a string beside a single string.
        as_objects = np.asarray(X, dtype=object)
        if as_objects.ndim == 2 and any(isinstance(v, str) for v in as_objects.flat):
            X = as_objects
    elif not sparse.issparse(X):
        X = np.asarray(X)
    if getattr(X, "dtype", None) is not None and getattr(X.dtype, "kind", "f") in "OUST":
        table = check_array(X, dtype=object, ensure_all_finite=False, ensure_min_samples=0)
        return Source(*table.shape, column=lambda j: ArrayColumn(table[:, j]))
    matrix = check_array(
        X,
        accept_sparse="csc",
        dtype=(np.float64, np.float32),
        ensure_all_finite=False,
        ensure_min_samples=0,
    )
    refuse_infinity(matrix)
    return Source(*matrix.shape, matrix=matrix)


class ArrayColumn:
    """A column of a numpy array, of numbers or of objects."""

    order = None

    def __init__(self, values):
        self.values = values

    @property
    def is_categorical(self):
        return self.values.dtype.kind == "O" and any(
            isinstance(value, (str, bytes)) for value in self.values
        )

    def to_list(self):
        return self.values.tolist()

    def to_floats(self, name):
        if self.values.dtype.kind != "O":
            floats = self.values.astype(np.float64)
        else:
            floats = np.array([to_float(value, name) for value in self.values], dtype=np.float64)
        return refuse_infinity(floats, name)


class FrameColumn:
    """A column of a pandas, polars or pyarrow table."""

    def __init__(self, series):
        self.series = series
        native = series.to_native()
        ordered = getattr(getattr(native, "dtype", None), "ordered", False)
        self.order = np.asarray(native.cat.categories, dtype=object) if ordered else None
        self.is_object = series.dtype == nw.Object

    @property
    def is_categorical(self):
        if self.is_object:
            return ArrayColumn(self.series.to_numpy()).is_categorical
        return isinstance(self.series.dtype, (nw.String, nw.Categorical, nw.Enum))

    def to_list(self):
        return self.series.to_list()

    def to_floats(self, name):
        if self.is_object:
            return ArrayColumn(self.series.to_numpy()).to_floats(name)
        dtype = self.series.dtype
        if not (dtype.is_numeric() or dtype == nw.Boolean):
            raise TypeError(
                f"Column {name!r} has dtype {dtype}; columns must hold numbers, booleans, strings "
                "or categories."
            )
        if dtype == nw.Decimal:
            return ArrayColumn(np.array(self.series.to_list(), dtype=object)).to_floats(name)
        floats = self.series.cast(nw.Float64).to_numpy()
        return refuse_infinity(np.asarray(floats, dtype=np.float64), name)


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


def is_missing(value):
    """Whether a cell is None, NaN or pandas' NA or NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def distinct_values(values, name):
    """Sorted distinct values of a column, missing ones left out."""
    try:
        found = {value for value in set(values) if not is_missing(value)}
    except TypeError as error:
        raise TypeError(f"Column {name!r} holds values that are not strings or numbers.") from error
    try:
        ordered = sorted(found)
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in found})
        raise TypeError(
            f"Column {name!r} mixes values of types {', '.join(kinds)}; convert it to one type."
        ) from error
    categories = np.empty(len(ordered), dtype=object)
    categories[:] = ordered
    return categories


def look_up(values, code_of):
    """Codes of the values of a column; NaN for missing and for unknown ones."""
    nan = float("nan")
    return np.fromiter((code_of.get(v, nan) for v in values), dtype=np.float64, count=len(values))


def refuse_infinity(values, name=None):
    """Raise if a number is infinite; otherwise return `values`."""
    data = values.data if sparse.issparse(values) else values
    # The sum is finite in nearly all tables, and needs no array of its own.
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(np.sum(data, dtype=np.float64))
    if suspicious and np.isinf(data).any():
        if name is None and not sparse.issparse(values):
            name = int(np.flatnonzero(np.isinf(values).any(axis=0))[0])
        where = "" if name is None else f" in column {name!r}"
        raise ValueError(f"Input X contains infinity or a value too large for float64{where}.")
    return values


def resolve_categorical(categorical_features, names, n_columns):
    """The set of asked columns; None for "from_dtype"."""
    if categorical_features is None:
        return set()
    if isinstance(categorical_features, str):
        if categorical_features == "from_dtype":
            return None
        raise ValueError(
            "categorical_features must be 'from_dtype', None, a mask, indices or names; got "
            f"{categorical_features!r}."
        )
    asked = np.asarray(categorical_features)
    if asked.ndim != 1:
        raise ValueError("categorical_features must be one-dimensional.")
    if asked.size == 0:
        return set()
    if asked.dtype.kind == "b":
        if len(asked) != n_columns:
            raise ValueError(
                f"categorical_features is a mask of length {len(asked)}, but X has {n_columns} "
                "features."
            )
        return set(np.flatnonzero(asked).tolist())
    if asked.dtype.kind in "iu":
        wrong = sorted({int(j) for j in asked if not 0 <= j < n_columns})
        if wrong:
            raise ValueError(
                f"categorical_features names columns {wrong}, but X has {n_columns} features."
            )
        return {int(j) for j in asked}
    if asked.dtype.kind in "UO" and all(isinstance(name, str) for name in asked):
        if names is None:
            raise ValueError("categorical_features holds names, but X has no column names.")
        unknown = sorted(set(asked.tolist()) - set(names))
        if unknown:
            raise ValueError(f"categorical_features names unknown columns: {unknown}.")
        return {names.index(name) for name in asked}
    raise ValueError(
        f"categorical_features must hold booleans, integers or strings; got dtype {asked.dtype}."
    )
