"""Groups of rows that are equal in all columns."""

import numpy as np

# An odd number without pattern (2**64 over the golden ratio).
FACTOR = np.uint64(0x9E3779B97F4A7C15)


def hash_rows(columns, factor=FACTOR):
    """A number for each row of whole numbers that depends on its cells alone."""
    hashes = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        hashes = (hashes ^ column.astype(np.uint64)) * factor
        hashes ^= hashes >> np.uint64(29)
    return hashes


def group_equal_rows(columns, factor=FACTOR):
    """Number the sets of equal rows.

    A hash of each row is sorted, not the rows; rows of one hash are compared.

    Parameters
    ----------
    columns : list of ndarray of unsigned integers
        At least one.

    factor : uint64
        Of the hash; 0 gives all rows the same one.

    Returns
    -------
    group : ndarray of intp, shape (n_rows,)
        Two rows have the same number if and only if they are equal.

    n_groups : int
    """
    hashes = hash_rows(columns, factor)
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    if any((column[first][group] != column).any() for column in columns):
        _, first, group = np.unique(
            np.column_stack(columns), axis=0, return_index=True, return_inverse=True
        )
    return group.reshape(-1), len(first)
