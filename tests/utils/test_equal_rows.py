"""Sets of equal rows, against a dictionary of tuples."""

import numpy as np
import pytest

from sktree_opt.utils import _equal_rows
from sktree_opt.utils._equal_rows import group_equal_rows


@pytest.mark.parametrize("hashes_collide", [False, True])
def test_groups_are_equal_rows(hashes_collide, monkeypatch, global_random_seed):
    if hashes_collide:
        monkeypatch.setattr(_equal_rows, "FACTOR", np.uint64(0))
    rng = np.random.default_rng(global_random_seed)
    for _ in range(50):
        n_rows, n_columns = rng.integers(1, 30), rng.integers(1, 4)
        columns = [
            rng.integers(0, 3, n_rows).astype(rng.choice([np.uint8, np.uint16, np.uint32]))
            for _ in range(n_columns)
        ]
        group, n_groups = group_equal_rows(columns)
        rows = list(zip(*(column.tolist() for column in columns)))
        number_of = dict(zip(rows, group.tolist()))
        assert [number_of[row] for row in rows] == group.tolist()
        assert sorted(number_of.values()) == list(range(n_groups))
