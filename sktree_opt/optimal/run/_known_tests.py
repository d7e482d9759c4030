"""The tests of a table that a known tree asks, found without making all that there are."""

import numpy as np

from sktree_opt.preprocessing._binary_tests import BinaryTests, midpoints
from sktree_opt.preprocessing._bits import row_bytes_for
from sktree_opt.tree._node import CATEGORY_ONE, IS_MISSING, NUMERIC


class AllTests:
    """Tests that are there, by their outcomes.

    Parameters
    ----------
    tests : BinaryTests
    """

    def __init__(self, tests):
        self.tests = tests

    def matching(self, rows, passed):
        """First test with these outcomes on these rows, or with the opposite ones on all of them.

        Returns
        -------
        test : int or None
        is_flipped : bool
        """
        # A bit for each row and test: whether the outcome is the one looked for.
        agrees = self.tests.bits[rows] ^ np.where(passed, 0, 255).astype(np.uint8)[:, np.newaxis]
        found = []
        for is_flipped, bits in ((False, agrees), (True, ~agrees)):
            all_rows = np.bitwise_and.reduce(bits, axis=0)
            same = np.unpackbits(all_rows, bitorder="little")[: self.tests.n_tests]
            if same.any():
                found.append((int(same.argmax()), is_flipped))
        return min(found, default=(None, False))

    def asked(self):
        """Tests that the indices given so far refer to."""
        return self.tests


class TableTests:
    """Tests of a table, of which only those that are asked for are made.

    Parameters
    ----------
    table : Table
    thresholds : list of ndarray or None
        By column, above each code, if codes are intervals; None if they are values.
    """

    def __init__(self, table, thresholds):
        self.table, self.thresholds = table, thresholds
        self.found = []

    def matching(self, rows, passed):
        """The same as of ``AllTests``."""
        for column in range(self.table.n_columns):
            fits = [
                (*fit, is_flipped)
                for is_flipped in (False, True)
                for fit in self._fitting(column, rows, passed ^ is_flipped)
            ]
            if fits:
                # In the order of tests: by code, then missing values on the other side, then asked
                # for; "is missing" is the last.
                *test, is_flipped = min(fits, key=lambda fit: (fit[0], fit[1], -fit[2], fit[3]))
                self.found.append((column, *test))
                return len(self.found) - 1, is_flipped
        return None, False

    def _fitting(self, column, rows, passed):
        """Tests of a column that exactly the rows that `passed` pass.

        Each is a tuple: whether it is "is missing", its code and its branch of missing values.
        """
        codes, n_values = self.table.codes[column][rows], len(self.table.values[column])
        missing = codes == n_values
        if missing.any() and np.array_equal(missing, passed):
            yield True, -1, 0
        of_missing = passed[missing]
        if of_missing.any() != of_missing.all() and len(of_missing):
            return
        inside, outside = codes[passed & ~missing], codes[~passed & ~missing]
        fit = first_category if self.table.is_nominal[column] else first_threshold
        code = fit(inside, outside, n_values)
        if code is not None:
            yield False, code, 0 if of_missing.any() else 1

    def asked(self):
        """Tests that the indices given so far refer to."""
        table, n_tests = self.table, len(self.found)
        tests = BinaryTests(
            kind=np.full(n_tests, NUMERIC, dtype=np.uint8),
            feature=np.array([column for column, *_ in self.found], dtype=np.int32),
            threshold=np.full(n_tests, np.nan),
            category=np.full(n_tests, -1, dtype=np.int32),
            missing_branch=np.array([branch for *_, branch in self.found], dtype=np.int32),
            bits=np.zeros((table.n_rows, row_bytes_for(n_tests)), dtype=np.uint8),
        )
        for index, (column, asks_missing, code, branch) in enumerate(self.found):
            codes, values = table.codes[column], table.values[column]
            missing = codes == len(values)
            if asks_missing:
                tests.kind[index], passed = IS_MISSING, missing
            elif table.is_nominal[column]:
                tests.kind[index], tests.category[index] = CATEGORY_ONE, code
                passed = codes == code
            else:
                tests.threshold[index] = (
                    midpoints(values[code], values[code + 1])
                    if self.thresholds is None
                    else self.thresholds[column][code]
                )
                passed = codes <= code
            passed = np.where(missing, branch == 0, passed)
            tests.bits[:, index >> 3] |= passed.astype(np.uint8) << (index & 7)
        return tests


def first_threshold(inside, outside, n_values):
    """Least code with all codes `inside` at most it, and none `outside`; None without."""
    code = int(inside.max()) if len(inside) else 0
    least = int(outside.min()) if len(outside) else n_values
    return code if code < least and code < n_values - 1 else None


def first_category(inside, outside, n_values):
    """First code that all codes `inside` are, and none `outside`; None without."""
    others = np.bincount(outside, minlength=n_values) > 0
    if len(inside):
        code = int(inside[0])
        return None if others[code] or (inside != code).any() else code
    return None if others.all() else int(others.argmin())
