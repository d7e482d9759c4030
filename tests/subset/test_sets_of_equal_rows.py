"""Rows that are equal in all features."""

import numpy as np

from sktree_opt.preprocessing._table import Table
from sktree_opt.subset.lattice._subset_problem import find_equal_rows


def test_sets_of_equal_rows(global_random_seed):
    rng = np.random.RandomState(global_random_seed)
    for _ in range(50):
        matrix = rng.randint(3, size=(rng.randint(1, 30), rng.randint(1, 4))).astype(float)
        matrix[rng.uniform(size=matrix.shape) < 0.1] = np.nan
        equal_rows = find_equal_rows(Table.from_matrix(np.asfortranarray(matrix)).codes)
        rows = [tuple(row) for row in np.nan_to_num(matrix, nan=-1.0).tolist()]
        for i, row in enumerate(rows):
            equal = [j for j in range(len(rows)) if rows[j] == row]
            if len(equal) == 1:
                assert equal_rows[i] == -1
            else:
                assert np.flatnonzero(equal_rows == equal_rows[i]).tolist() == equal
