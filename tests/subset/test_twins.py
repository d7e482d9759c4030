"""Rows that are equal in all features."""

import numpy as np

from sktree_opt.preprocessing._table import Table
from sktree_opt.subset.lattice._subset_problem import find_twins


def test_twins_are_equal_rows(global_random_seed):
    rng = np.random.RandomState(global_random_seed)
    for _ in range(50):
        matrix = rng.randint(3, size=(rng.randint(1, 30), rng.randint(1, 4))).astype(float)
        matrix[rng.uniform(size=matrix.shape) < 0.1] = np.nan
        twins = find_twins(Table.from_matrix(np.asfortranarray(matrix)).codes)
        rows = [tuple(row) for row in np.nan_to_num(matrix, nan=-1.0).tolist()]
        for i, row in enumerate(rows):
            equal = [j for j in range(len(rows)) if rows[j] == row]
            if len(equal) == 1:
                assert twins[i] == -1
            else:
                assert np.flatnonzero(twins == twins[i]).tolist() == equal
