"""The binary tests that a table offers: what an optimal tree may ask about a row."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sktree_opt.preprocessing._bits import pack_binary_matrix, pack_code_tests
from sktree_opt.preprocessing._table import Table
from sktree_opt.tree._node import CATEGORY_ONE, IS_MISSING, NUMERIC

# Searches count the rows of each pair of tests: more tests than this fill the memory of a laptop.
MAX_TESTS = 10_000


@dataclass
class BinaryTests:
    """All tests of a table, with their outcomes.

    A numeric column is compared with every midpoint between two of its values, a nominal one with
    each category, and a column that misses values is asked whether it does. A missing value fails
    every other test.

    Attributes
    ----------
    kind : ndarray of uint8, shape (n_tests,)
        NUMERIC, CATEGORY_ONE or IS_MISSING.

    feature : ndarray of int32, shape (n_tests,)

    threshold : ndarray of float64, shape (n_tests,)
        Of a NUMERIC test, else NaN.

    category : ndarray of int32, shape (n_tests,)
        Code of a CATEGORY_ONE test, else -1.

    missing_branch : ndarray of int32, shape (n_tests,)
        0 where missing values pass the test, else 1.

    bits : ndarray of uint8, shape (n_rows, row_bytes)
        Which tests each row passes, least significant bit first.
    """

    kind: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    category: np.ndarray
    missing_branch: np.ndarray
    bits: np.ndarray

    @property
    def n_tests(self):
        """Number of tests."""
        return len(self.kind)

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
            threshold=np.full(n_columns, 0.5),
            category=np.full(n_columns, -1, dtype=np.int32),
            missing_branch=np.ones(n_columns, dtype=np.int32),
            bits=bits,
        )

    @classmethod
    def from_table(cls, table):
        """Tests of an encoded table."""
        columns = [column_tests(table, j) for j in range(table.n_columns)]
        counts = [len(tests["low"]) for tests in columns]
        refuse_too_many(sum(counts))
        joined = {
            name: np.concatenate([tests[name] for tests in columns])
            for name in ("kind", "threshold", "category", "low", "high")
        }
        feature = np.repeat(np.arange(table.n_columns, dtype=np.int32), counts)
        bits = pack_code_tests(table, feature, joined.pop("low"), joined.pop("high"))
        missing_branch = np.where(joined["kind"] == IS_MISSING, 0, 1).astype(np.int32)
        return cls(feature=feature, bits=bits, missing_branch=missing_branch, **joined)


def refuse_too_many(n_tests):
    """Raise if the pairs of tests cannot be counted in memory."""
    if n_tests > MAX_TESTS:
        raise ValueError(
            f"X offers {n_tests} tests (midpoints of numeric columns, categories, missing values); "
            f"the search takes at most {MAX_TESTS}. Round or bin numeric columns, or drop some."
        )


def column_tests(table, j):
    """Tests of column `j` as ranges of codes that pass; in the order of ties."""
    values = table.values[j]
    n_values = len(values)
    if table.is_nominal[j]:
        codes = np.arange(n_values, dtype=np.uint32)
        kind, threshold, category = CATEGORY_ONE, np.full(n_values, np.nan), codes
        low, high = codes, codes
    else:
        n_thresholds = max(0, n_values - 1)
        # Halves are added, as the sum of two large values may overflow.
        threshold = values[:-1] / 2.0 + values[1:] / 2.0
        # Between neighbouring floats the midpoint may round up to the greater one.
        threshold = np.where(threshold >= values[1:], values[:-1], threshold)
        kind, category = NUMERIC, np.full(n_thresholds, -1)
        low = np.zeros(n_thresholds, dtype=np.uint32)
        high = np.arange(n_thresholds, dtype=np.uint32)
    tests = {
        "kind": np.full(len(low), kind, dtype=np.uint8),
        "threshold": threshold.astype(np.float64),
        "category": category.astype(np.int32),
        "low": low,
        "high": high,
    }
    if table.n_missing[j]:
        missing = {"kind": IS_MISSING, "threshold": np.nan, "category": -1}
        missing |= {"low": n_values, "high": n_values}
        for name, value in missing.items():
            tests[name] = np.append(tests[name], np.array(value, dtype=tests[name].dtype))
    return tests
