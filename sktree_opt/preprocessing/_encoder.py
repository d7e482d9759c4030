"""From a user's table to one float matrix: which columns are categories, and their codes.

The matrix has the columns of the table in their order; NaN is a missing value, a nominal or
ordinal column holds the codes of its categories. ``Table`` ranks it for the kernels that fit, and
the predictor reads it as it is.
"""

import numbers
import warnings
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sktree_opt.preprocessing._binary_tests import midpoints
from sktree_opt.preprocessing._columns import (
    look_up_numbers,
    object_array,
    read_source,
    small_code_table,
)
from sktree_opt.preprocessing._times import NAMES, TIME_KINDS, round_time
from sktree_opt.utils._typing import CategoricalFeatures, TableLike
from sktree_opt.utils._validation import is_missing

FLOATS = (np.float32, np.float64)
# Columns of no more categories are never taken for identifiers.
FEW_CATEGORIES = 30
NUMERIC, NOMINAL, ORDINAL = "numeric", "nominal", "ordinal"

# Made of the categories anew when an encoder is loaded. A file need not have them, and not
# every format keeps False as a key.
LOOKUPS = ("_has_categories", "_code_of", "_code_table", "_numbers_are_codes")


class TableEncoder:
    """Decides in ``fit`` what each column is, and turns tables into float matrices.

    Parameters
    ----------
    categorical_features : "from_dtype", array-like of bool, int or str, or None
        "from_dtype": columns of strings or of a categorical dtype. A mask, indices or column names:
        those columns, whatever their dtype. A list with "from_dtype" and indices or names: both.
        None: no column. Columns of an ordered categorical dtype keep their order unless they are
        named.

    Attributes
    ----------
    feature_names_ : list of str
        The column names, as strings, or ``x0``, ``x1``... where the table has none.

    column_names_ : list of str or None
        The same where the table has names and all are strings.

    kinds_ : list of str
        "numeric", "nominal" (tested by value), "ordinal" (an ordered categorical dtype, or a
        Boolean one: its categories are tested like numbers, in their order), "datetime",
        "datetime_utc" or "timedelta" (seconds).

    categories_ : list of ndarray or None
        Categories in code order; None for a numeric column.

    identifiers_ : list of int
        Nominal columns whose values are nearly distinct: more than 30 categories, and fewer than
        two rows for each of them.

    had_holes_ : list of bool or None
        Whether each column missed values in fit; None where that is not known.
    """

    feature_names_: list[str]
    column_names_: list[str] | None
    kinds_: list[str]
    categories_: list[NDArray[Any] | None]
    identifiers_: list[int]
    had_holes_: list[bool] | None

    def __init__(self, categorical_features: CategoricalFeatures = "from_dtype") -> None:
        self.categorical_features = categorical_features

    def fit(self, X: TableLike) -> Self:
        """Find the kinds and categories of the columns of `X`."""
        self.fit_transform(X)
        return self

    def fit_transform(
        self, X: TableLike, *, keep_integers: bool = False, n_threads: int = 1
    ) -> Any:
        """Fit, and return the matrix of `X`.

        With `keep_integers` an array of booleans or integers without categories is the matrix as
        it is: whoever packs bits needs no floats. `n_threads` look at a matrix of numbers.
        """
        source = read_source(X)
        self.feature_names_, self.column_names_ = source.labels, source.names
        asked, by_dtype = resolve_categorical(
            self.categorical_features, source.names, source.n_columns
        )
        self.kinds_ = [NUMERIC] * source.n_columns
        self.categories_ = [None] * source.n_columns
        if source.numbers is not None and sparse.issparse(source.numbers) and asked:
            raise ValueError("categorical_features must be None for a sparse X.")
        source.survey(sorted(asked), n_threads)
        # In a matrix of numbers only what was asked for is a category.
        for j in range(source.n_columns) if source.numbers is None else sorted(asked):
            is_asked = True if j in asked else None if by_dtype else False
            self._fit_column(j, source.column(j), is_asked)
        self._index_categories()
        if keep_integers and not self._has_categories and source.numbers is not None:
            self.had_holes_, self.identifiers_ = [False] * source.n_columns, []
            return source.numbers
        matrix = self._encode(source, is_fit=True)
        self.had_holes_ = columns_with_holes(matrix)
        self.identifiers_ = [
            j
            for j, n_codes in enumerate(self.n_categories_.tolist())
            if n_codes > FEW_CATEGORIES and np.count_nonzero(~np.isnan(matrix[:, j])) < 2 * n_codes
        ]
        return matrix

    @classmethod
    def from_columns(cls, columns: Iterable[dict[str, Any]]) -> Self:
        """A fitted encoder from a dict for each column: its name, kind and categories.

        Nominal and ordinal columns have "categories", in code order. "had_holes", if all columns
        have it, says whether the column missed values in fit.
        """
        encoder = cls()
        encoder.feature_names_ = [column["name"] for column in columns]
        encoder.column_names_ = None
        encoder.kinds_ = [column["kind"] for column in columns]
        encoder.categories_ = [
            object_array(column["categories"]) if column["kind"] in (NOMINAL, ORDINAL) else None
            for column in columns
        ]
        known = all("had_holes" in column for column in columns)
        encoder.had_holes_ = [bool(c["had_holes"]) for c in columns] if known else None
        encoder._index_categories()
        return encoder

    def transform(self, X: TableLike) -> Any:
        """Return the matrix of `X`; a category that fit never saw is missing."""
        source = read_source(X)
        source.survey()
        return self._encode(source)

    def as_it_is(self, X: Any) -> NDArray[Any] | None:
        """`X` itself, if ``transform`` leaves cells that ``n_codes_`` allows unchanged; else None.

        That is so for a dense array of floats where categories are the numbers 0, 1, ...
        """
        is_matrix = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype in FLOATS
        return X if is_matrix and len(X) and self._numbers_are_codes else None

    @property
    def n_codes_(self) -> NDArray[np.int64]:
        """Number of categories of each column that has any, -1 for the others."""
        return np.array([-1 if c is None else len(c) for c in self.categories_], dtype=np.int64)

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """Number of categories of each nominal column, -1 for the others."""
        if not self._has_categories:
            return np.full(len(self.kinds_), -1, dtype=np.int64)
        return np.array(
            [
                -1 if categories is None or kind != NOMINAL else len(categories)
                for kind, categories in zip(self.kinds_, self.categories_, strict=True)
            ],
            dtype=np.int64,
        )

    def thresholds_between(
        self, features: NDArray[Any], lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """A threshold between two values of a column each: a short decimal, or a round time."""
        found = midpoints(lower, upper)
        for at, feature in enumerate(features):
            if self.kinds_[feature] in TIME_KINDS and lower[at] < upper[at]:
                found[at] = round_time(lower[at], upper[at], self.kinds_[feature])
        return found

    def forget_absent(self, matrix: NDArray[Any]) -> None:
        """Forget nominal categories that no row of a matrix of codes has, and renumber the others.

        The matrix is changed in place.
        """
        for j, categories in enumerate(self.categories_):
            if categories is None or self.kinds_[j] != NOMINAL:
                continue
            codes = matrix[:, j]
            is_known = ~np.isnan(codes)
            present = np.unique(codes[is_known]).astype(np.intp)
            if len(present) < len(categories):
                self.categories_[j] = categories[present]
                codes[is_known] = np.searchsorted(present, codes[is_known])
        self._index_categories()

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
                self.kinds_[j] = column.time_kind or NUMERIC
                return
        if column.order is None:
            self.kinds_[j] = NOMINAL
            self.categories_[j] = sorted_values(column.distinct, self.feature_names_[j])
        elif asked:
            present = set(column.distinct)
            self.kinds_[j] = NOMINAL
            self.categories_[j] = object_array([c for c in column.order if c in present])
        else:
            self.kinds_[j], self.categories_[j] = ORDINAL, column.order

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name not in LOOKUPS}

    def __setstate__(self, state):
        vars(self).update(state)
        if "categories_" in state:
            self._index_categories()

    def _index_categories(self):
        self._has_categories = any(categories is not None for categories in self.categories_)
        self._code_of = [
            None if categories is None else {value: code for code, value in enumerate(categories)}
            for categories in self.categories_
        ]
        self._code_table = [
            None if categories is None else small_code_table(categories)
            for categories in self.categories_
        ]
        # Whether a cell that holds one of the categories is its code.
        self._numbers_are_codes = all(
            kind not in TIME_KINDS
            if categories is None
            else table is not None and np.array_equal(table[1:-1], np.arange(len(categories)))
            for kind, categories, table in zip(
                self.kinds_, self.categories_, self._code_table, strict=True
            )
        )

    def _encode(self, source, is_fit=False):
        coded = [j for j, lookup in enumerate(self._code_of) if lookup is not None]
        if source.n_columns != len(self.kinds_):
            raise ValueError(
                f"X has {source.n_columns} features, but {len(self.kinds_)} were seen in fit."
            )
        if source.n_rows == 0:
            return np.empty((0, source.n_columns))
        if source.matrix is not None:
            self._refuse_numbers_as_times(source.matrix)
            if not coded:
                return source.matrix
            if sparse.issparse(source.matrix):
                raise ValueError("X is sparse, but fit saw categories; pass the same kind of X.")
            if is_fit and self._numbers_are_codes:
                return source.matrix
            matrix = np.array(source.matrix, dtype=np.float64, order="F")
        else:
            matrix = np.empty((source.n_rows, source.n_columns), dtype=np.float64, order="F")
        strange = []
        for j in range(source.n_columns):
            if source.matrix is not None and self._code_table[j] is not None:
                matrix[:, j] = look_up_numbers(matrix[:, j], self._code_table[j])
            elif self._code_of[j] is not None:
                positions, distinct = source.column(j).factorized
                matrix[:, j] = look_up(positions, distinct, self._code_of[j])
                if not is_fit and (difference := difference_of_types(distinct, self._code_of[j])):
                    strange.append(f"{self.feature_names_[j]!r} ({difference})")
            elif source.matrix is None:
                column, kind = source.column(j), self.kinds_[j]
                is_time = kind in TIME_KINDS
                matrix[:, j] = column.to_seconds(kind) if is_time else column.to_floats()
        if strange:
            warnings.warn(
                "No value is a category that was seen in fit, so all of them count as missing: the "
                f"type is another one in column {', '.join(strange)}.",
                UserWarning,
                stacklevel=2,
            )
        return matrix

    def _refuse_numbers_as_times(self, matrix):
        """Raise if a column that held dates, times or durations in fit holds numbers."""
        for j, kind in enumerate(self.kinds_):
            if kind in TIME_KINDS and not np.isnan(dense_column(matrix, j)).all():
                raise TypeError(
                    f"Column {self.feature_names_[j]!r} holds numbers, but held {NAMES[kind]} in "
                    "fit."
                )


def dense_column(matrix, j):
    """A column of a dense or sparse matrix as an array."""
    return matrix[:, [j]].toarray() if sparse.issparse(matrix) else matrix[:, j]


def columns_with_holes(matrix):
    """Whether each column of a matrix has a NaN."""
    if not sparse.issparse(matrix):
        # A sum is NaN in nearly all columns that have one, and needs no array of its own.
        with np.errstate(over="ignore", invalid="ignore"):
            suspects = np.flatnonzero(np.isnan(matrix.sum(axis=0)))
        has_holes = np.zeros(matrix.shape[1], dtype=bool)
        has_holes[suspects] = [bool(np.isnan(matrix[:, j]).any()) for j in suspects]
        return has_holes.tolist()
    columns = sparse.coo_array(matrix)
    return np.isin(np.arange(matrix.shape[1]), columns.col[np.isnan(columns.data)]).tolist()


def sorted_values(distinct, name):
    """Sorted array of the distinct values of a column, missing ones left out."""
    found = [value for value in distinct if not is_missing(value)]
    try:
        return object_array(sorted(found))
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in found})
        raise TypeError(
            f"Column {name!r} mixes values of types {', '.join(kinds)}; convert it to one type."
        ) from error


def look_up(positions, distinct, code_of):
    """Codes of the cells of a factorized column; NaN for missing and for unknown ones."""
    # The last one is for position -1.
    codes = [*(code_of.get(value, np.nan) for value in distinct), np.nan]
    return np.array(codes, dtype=np.float64)[positions]


def difference_of_types(distinct, code_of):
    """How values, none of which is a category, differ in type from categories; None if not."""
    found = [value for value in distinct if not is_missing(value)]
    if not found or not code_of or any(value in code_of for value in found):
        return None
    if {type_to_compare(value) for value in found} & {
        type_to_compare(category) for category in code_of
    }:
        return None
    names = (type(next(iter(values))).__name__ for values in (found, code_of))
    return "{} instead of {}".format(*names)


def type_to_compare(value):
    """The type of a value, the same for all numbers, which are equal whatever their type."""
    if isinstance(value, numbers.Number):
        return numbers.Number
    return str if isinstance(value, str) else type(value)


def resolve_categorical(categorical_features, names, n_columns):
    """The set of asked columns, and whether the dtype says of the others what they are."""
    if is_from_dtype(categorical_features):
        return set(), True
    is_list = isinstance(categorical_features, (list, tuple))
    if is_list and any(map(is_from_dtype, categorical_features)):
        named = [entry for entry in categorical_features if not is_from_dtype(entry)]
        return asked_columns(named, names, n_columns), True
    return asked_columns(categorical_features, names, n_columns), False


def is_from_dtype(entry):
    """Whether an entry of `categorical_features` is the word "from_dtype"."""
    return isinstance(entry, str) and entry == "from_dtype"


def asked_columns(categorical_features, names, n_columns):
    """Indices of the columns that are named, as a set."""
    if categorical_features is None:
        return set()
    if isinstance(categorical_features, str):
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
