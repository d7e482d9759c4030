"""The binary tests that a table offers: what an optimal tree may ask about a row."""

import math
from ctypes import c_float
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy import sparse

from sktree_opt.preprocessing._bits import or_column_outcomes, pack_binary_matrix, row_bytes_for
from sktree_opt.preprocessing._table import Table
from sktree_opt.tree._node import CATEGORY_ONE, CATEGORY_SUBSET, IS_MISSING, NUMERIC

# Searches count the rows of each pair of tests: more tests than this fill the memory of a laptop.
MAX_TESTS = 10_000

# Outcomes are packed in blocks of this many cells.
BLOCK_CELLS = 1 << 24

# A column of k categories can be divided in 2**(k - 1) - 1 ways.
MAX_SUBSET_CATEGORIES = 12


class OneVsRest:
    """One category against all others."""

    scope = "one category against the others"

    @staticmethod
    def questions(n_categories, name):
        """Kinds of the tests, and the category of each."""
        # Two categories need one test, a single category needs none.
        n_tests = n_categories if n_categories > 2 else max(0, n_categories - 1)
        return np.full(n_tests, CATEGORY_ONE, dtype=np.uint8), np.arange(n_tests)


class Subset:
    """Any division of the categories in two; for columns of at most 12 categories."""

    scope = "any categories against the others"

    @staticmethod
    def questions(n_categories, name):
        """Kinds of the tests, and a category or the bits of a set of them; small sets first."""
        if n_categories > MAX_SUBSET_CATEGORIES:
            raise ValueError(
                f"categorical_splits='subset' takes columns of at most {MAX_SUBSET_CATEGORIES} "
                f"categories, as each more doubles the tests; column {name!r} has {n_categories}. "
                "Join rare categories, or ask for 'one_vs_rest'."
            )
        sets = np.arange(1, max(1, 2**n_categories - 1))
        members = sets[:, np.newaxis] >> np.arange(n_categories) & 1
        size = members.sum(axis=1)
        # A set and its complement make the same test: keep the smaller one, and of two halves
        # the one with the first category.
        is_asked = (2 * size < n_categories) | ((2 * size == n_categories) & (sets & 1 == 1))
        sets, size = sets[is_asked], size[is_asked]
        order = np.lexsort((sets, size))
        sets, is_single = sets[order], size[order] == 1
        codes = np.where(is_single, np.log2(sets, where=is_single, out=np.zeros(len(sets))), sets)
        return np.where(is_single, CATEGORY_ONE, CATEGORY_SUBSET).astype(np.uint8), codes


CATEGORICAL_SPLITS = {"one_vs_rest": OneVsRest, "subset": Subset}


@dataclass
class BinaryTests:
    """All tests of a table, with their outcomes.

    A numeric column is compared with midpoints between two of its values, and a nominal one with
    categories. In a column that misses values there are two of each of these tests, as the rows
    without a value may be on either side, and one that asks whether the value is missing.

    Attributes
    ----------
    kind : ndarray of uint8, shape (n_tests,)
        NUMERIC, CATEGORY_ONE, CATEGORY_SUBSET or IS_MISSING.

    feature : ndarray of int32, shape (n_tests,)

    lower, upper : ndarray of float64, shape (n_tests,)
        The values on both sides of a NUMERIC test, else NaN.

    category : ndarray of int32, shape (n_tests,)
        Code of a CATEGORY_ONE test, the codes of a CATEGORY_SUBSET test as bits, else -1.

    missing_branch : ndarray of int32, shape (n_tests,)
        0 where missing values pass the test, else 1.

    bits : ndarray of uint8, shape (n_rows, row_bytes)
        Which tests each row passes, least significant bit first.
    """

    kind: np.ndarray
    feature: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    category: np.ndarray
    missing_branch: np.ndarray
    bits: np.ndarray

    @property
    def n_tests(self):
        """Number of tests."""
        return len(self.kind)

    def of_rows(self, rows):
        """The same tests with the outcomes of some rows."""
        return replace(self, bits=self.bits[rows])

    @classmethod
    def from_matrix(cls, matrix, n_categories, n_threads=1):
        """Tests of an encoded matrix.

        Parameters
        ----------
        matrix : ndarray or CSC matrix of shape (n_rows, n_features)
            Numbers; NaN is missing; nominal columns hold category codes.

        n_categories : ndarray of shape (n_features,)
            Number of categories of nominal columns, -1 for numeric ones.
        """
        tests = cls.from_binary_matrix(matrix, n_categories)
        if tests is None:
            if matrix.dtype.kind in "biu":
                matrix = matrix.astype(np.float64)
            tests = cls.from_table(Table.from_matrix(matrix, n_categories, n_threads))
        return tests

    @classmethod
    def from_binary_matrix(cls, matrix, n_categories):
        """Tests of a matrix of numbers 0 and 1; None for any other."""
        if sparse.issparse(matrix) or (n_categories >= 0).any():
            return None
        bits = pack_binary_matrix(matrix)
        if bits is None:
            return None
        n_columns = matrix.shape[1]
        refuse_too_many(n_columns)
        return cls(
            kind=np.full(n_columns, NUMERIC, dtype=np.uint8),
            feature=np.arange(n_columns, dtype=np.int32),
            lower=np.zeros(n_columns),
            upper=np.ones(n_columns),
            category=np.full(n_columns, -1, dtype=np.int32),
            missing_branch=np.ones(n_columns, dtype=np.int32),
            bits=bits,
        )

    @classmethod
    def from_table(cls, table, cuts=None, names=None, split=OneVsRest):
        """Tests of an encoded table.

        Parameters
        ----------
        table : Table

        cuts : list of ndarray or None, default=None
            By column, the codes after which it may be cut; None for all. It is the numeric ones
            that count.

        names : list of str or None, default=None
            What columns are called when there are too many tests; None for their positions.

        split : class, default=OneVsRest
            What is asked of categories: a value of ``CATEGORICAL_SPLITS``.
        """
        names = range(table.n_columns) if names is None else names
        columns = [
            nominal_tests(table, j, *split.questions(len(table.values[j]), names[j]))
            if table.is_nominal[j]
            else numeric_tests(table, j, None if cuts is None else cuts[j])
            for j in range(table.n_columns)
        ]
        counts = [len(tests["kind"]) for tests in columns]
        refuse_too_many(sum(counts), counts, names)
        joined = {
            name: np.concatenate([tests[name] for tests in columns])
            for name in ("kind", "lower", "upper", "category", "missing_branch")
        }
        bits = np.zeros((table.n_rows, row_bytes_for(sum(counts))), dtype=np.uint8)
        first = 0
        for j, tests in enumerate(columns):
            outcomes = pack_outcomes(tests, len(table.values[j]), shift=first % 8)
            or_column_outcomes(table.codes[j], outcomes, first // 8, bits)
            first += counts[j]
        feature = np.repeat(np.arange(table.n_columns, dtype=np.int32), counts)
        return cls(feature=feature, bits=bits, **joined)

    def category_branch(self, test, n_categories):
        """Branch of each category at a test of categories."""
        codes = np.arange(n_categories)
        asked = self.category[test : test + 1].astype(np.int64)
        return 1 - code_outcomes(self.kind[test : test + 1], asked, codes)[:, 0].astype(np.int32)


def refuse_too_many(n_tests, counts=None, names=None):
    """Raise if the pairs of tests cannot be counted in memory."""
    if n_tests <= MAX_TESTS:
        return
    most = ""
    if counts is not None:
        j = int(np.argmax(counts))
        most = f", {counts[j]} of them in column {names[j]!r}"
    raise ValueError(
        f"X offers {n_tests} tests (midpoints of numeric columns, categories, missing values)"
        f"{most}; the search takes at most {MAX_TESTS}. Choose fewer thresholds (thresholds=10, "
        "say), join rare categories, or drop columns."
    )


def numeric_tests(table, j, cuts):
    """Tests of a numeric column, cut after `cuts` or all codes: a dict of arrays by test."""
    values = table.values[j]
    last_code = np.arange(max(0, len(values) - 1)) if cuts is None else cuts
    kind = np.full(len(last_code), NUMERIC, dtype=np.uint8)
    return with_missing(table, j, kind, values[last_code], values[last_code + 1], last_code)


def nominal_tests(table, j, kind, category):
    """Tests of a nominal column: a dict of arrays by test."""
    no_value = np.full(len(kind), np.nan)
    return with_missing(table, j, kind, no_value, no_value, category)


def with_missing(table, j, kind, lower, upper, code):
    """Tests in the order of ties, with both branches for missing values if there are any.

    Beside what a ``BinaryTests`` has, "code" is what outcomes depend on: the last code that passes,
    or the category.
    """
    tests = {
        "kind": kind,
        "lower": lower,
        "upper": upper,
        "code": code.astype(np.int64),
        "missing_branch": np.ones(len(kind), dtype=np.int32),
    }
    if table.n_missing[j]:
        tests = {name: np.repeat(value, 2) for name, value in tests.items()}
        tests["missing_branch"][1::2] = 0
        asks = {"kind": IS_MISSING, "code": -1, "missing_branch": 0}
        asks |= {"lower": np.nan, "upper": np.nan}
        tests = {
            name: np.append(value, np.array(asks[name], dtype=value.dtype))
            for name, value in tests.items()
        }
    is_numeric = tests["kind"] == NUMERIC
    tests["category"] = np.where(is_numeric, -1, tests["code"]).astype(np.int32)
    return tests


def midpoints(lower, upper):
    """Thresholds between two values each: see ``midpoint``."""
    pairs = np.broadcast(lower, upper)
    return np.array([midpoint(*map(float, pair)) for pair in pairs]).reshape(pairs.shape)


@lru_cache(maxsize=1024)
def midpoint(lower, upper):
    """The shortest decimal between two values, at least a hundredth of their distance from both.

    It has the fewest significant digits, and of equally short ones it is the closest to the middle.
    Where no decimal of 17 digits is between, the threshold is the middle, or `lower` where the
    middle rounds to `upper`.
    """
    # Halves are added, as the sum of two large values may overflow.
    middle, half = lower / 2.0 + upper / 2.0, upper / 2.0 - lower / 2.0
    if lower == upper or middle >= upper:
        return lower
    if not 0.0 < half < math.inf:
        return middle
    found, fewest = middle, math.inf
    # Single precision, as to_sklearn has it, tells the threshold from the upper value too.
    singles = c_float(lower).value, c_float(upper).value
    ceiling = min(upper, singles[1]) if singles[0] < singles[1] else upper
    # A step of which some multiple is between for sure, and then steps ten times as large.
    exponent = math.floor(math.log10(half)) - 1
    while abs(exponent) <= 22:
        # Powers of ten up to 22 are exact, so that the quotient is the decimal's double.
        power = float(10 ** abs(exponent))
        count = middle * power if exponent < 0 else middle / power
        if not abs(count) < 2.0**53:
            break
        count = round(count)
        decimal = count / power if exponent < 0 else count * power
        is_between = lower < decimal < upper and abs(decimal - middle) <= 0.98 * half
        if not (is_between and c_float(decimal).value < ceiling):
            break
        n_digits = len(str(abs(count)).rstrip("0"))
        if n_digits < fewest:
            found, fewest = decimal, n_digits
        exponent += 1
    return found


def code_outcomes(kind, asked, codes):
    """Whether each code passes each test of a column, shape (n_codes, n_tests)."""
    codes = codes[:, np.newaxis]
    if (kind == CATEGORY_SUBSET).any():
        # A set of one has its only category, not its bit.
        sets = np.where(kind == CATEGORY_ONE, 1 << np.maximum(asked, 0), np.maximum(asked, 0))
        return sets >> codes & 1 == 1
    return codes <= asked if (kind == NUMERIC).any() else codes == asked


def pack_outcomes(tests, n_values, shift):
    """Outcomes of a column's tests by code as bits, after `shift` bits that are 0."""
    n_tests = len(tests["kind"])
    is_numeric = tests["kind"] == NUMERIC
    if is_numeric.any() and 2 * n_tests < n_values:
        # Codes between two cuts have the same outcomes.
        cuts = np.unique(tests["code"][is_numeric])
        places = np.where(is_numeric, np.searchsorted(cuts, tests["code"]), -1)
        few = pack_outcomes(tests | {"code": places}, len(cuts) + 1, shift)
        return few[np.append(np.searchsorted(cuts, np.arange(n_values)), len(cuts) + 1)]
    outcomes = np.zeros((n_values + 1, (shift + n_tests + 7) // 8), dtype=np.uint8)
    n_at_once = max(1, BLOCK_CELLS // max(1, n_tests))
    for first in range(0, n_values, n_at_once):
        codes = np.arange(first, min(first + n_at_once, n_values))
        passes = np.zeros((len(codes), shift + n_tests), dtype=bool)
        passes[:, shift:] = code_outcomes(tests["kind"], tests["code"], codes)
        outcomes[codes] = np.packbits(passes, axis=1, bitorder="little")
    missing = np.append(np.zeros(shift, dtype=bool), tests["missing_branch"] == 0)
    outcomes[n_values] = np.packbits(missing, bitorder="little")
    return outcomes
