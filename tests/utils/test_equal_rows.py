"""Sets of equal rows, against a dictionary of tuples."""

import numpy as np
import pytest

from sktree_opt.utils._equal_rows import FACTOR, group_equal_rows


@pytest.mark.parametrize("factor", [FACTOR, np.uint64(0)])
def test_groups_are_equal_rows(factor, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    for _ in range(50):
        n_rows, n_columns = rng.integers(1, 30), rng.integers(1, 4)
        columns = [
            rng.integers(0, 3, n_rows).astype(rng.choice([np.uint8, np.uint16, np.uint32]))
            for _ in range(n_columns)
        ]
        group, n_groups = group_equal_rows(columns, factor)
        rows = list(zip(*(column.tolist() for column in columns)))
        number_of = dict(zip(rows, group.tolist()))
        assert [number_of[row] for row in rows] == group.tolist()
        assert sorted(number_of.values()) == list(range(n_groups))
