import numpy as np
import pytest

from sktree_opt.utils._validation import check_classes

LABELS = [
    np.array([True, False, True, True]),
    np.array([-128, 127, 127, -128, 127], dtype=np.int8),
    np.array([255, 0, 255, 0], dtype=np.uint8),
    np.array([-1, 1, 1, -1]),
    np.array([7, 7, 7]),
    np.array([0, 2**62, 0, 2**62]),
    np.array([2**64 - 1, 2**64 - 1, 2**64 - 3, 2**64 - 3], dtype=np.uint64),
    np.array([-(2**63), 2**63 - 1, -(2**63), 2**63 - 1]),
    np.array([3, 1, 3, 1], dtype=">i4"),
    np.array([1.0, 0.0, 1.0, 0.0]),
    np.array(["b", "a", "b", "b"]),
]


@pytest.mark.parametrize("y", LABELS, ids=lambda y: str(y.dtype))
def test_codes_are_those_of_unique(y):
    codes, classes = check_classes(y)
    expected, positions = np.unique(y, return_inverse=True)
    assert classes.dtype == expected.dtype
    assert np.array_equal(classes, expected)
    assert codes.dtype == np.int32
    assert np.array_equal(codes, positions)


def test_many_classes_are_warned_of():
    with pytest.warns(UserWarning, match="greater than 50%"):
        check_classes(np.arange(30))
