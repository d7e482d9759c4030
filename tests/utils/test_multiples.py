"""Numbers that are multiples of one number."""

import numpy as np
import pytest

from sktree_opt.utils._multiples import common_divisor


@pytest.mark.parametrize(
    ("numbers", "divisor"),
    [
        ([0.1, 0.2, 0.7], 0.1),
        ([0.3, 1.7], 0.1),
        ([0.37, 1.91], 0.01),
        ([2.0, 4.0, 10.0], 2.0),
        ([5e-12, 1e-11], 5e-12),
        ([1 / 3, 2 / 3, 1.0], 1 / 3),
        ([0.0, 0.25], 0.25),
        ([1e300, 3e300], 1e300),
        ([1.0, np.pi], None),
        ([1.0, 1e9], None),
        ([0.0], None),
    ],
)
def test_common_divisors(numbers, divisor):
    found = common_divisor(np.array(numbers))
    assert found == (None if divisor is None else pytest.approx(divisor))
