"""A small share of what `make fuzz` does."""

import pytest

from tests.fuzz import check_seed


@pytest.mark.parametrize("share", range(5))
def test_random_tables_of_every_kind(share, global_random_seed):
    for k in range(6):
        check_seed(1000 * global_random_seed + 10 * share + k)
