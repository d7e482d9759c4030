import numpy as np
import pytest

from sktree_opt.preprocessing._bits import pack_binary_matrix, row_bytes_for

TYPES = (bool, "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")


def layouts(matrix):
    """The same numbers in every order of memory."""
    wide = np.zeros((2 * matrix.shape[0], 3 * matrix.shape[1]), dtype=matrix.dtype)
    wide[::2, ::3] = matrix
    yield matrix
    yield np.asfortranarray(matrix)
    yield wide[::2, ::3]
    yield matrix[::-1, ::-1].copy()[::-1, ::-1]
    read_only = matrix.copy()
    read_only.flags.writeable = False
    yield read_only


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_columns", [1, 7, 8, 9, 33, 64])
def test_bits_say_where_zeros_are(dtype, n_columns, global_random_seed):
    matrix = np.random.default_rng(global_random_seed).integers(0, 2, (11, n_columns)).astype(dtype)
    for same in layouts(matrix):
        bits = pack_binary_matrix(same)
        assert bits.shape == (11, row_bytes_for(n_columns))
        unpacked = np.unpackbits(bits, axis=1, bitorder="little")
        assert np.array_equal(unpacked[:, :n_columns], matrix == 0)
        assert not unpacked[:, n_columns:].any()


@pytest.mark.parametrize("dtype", TYPES[1:])
def test_other_numbers_are_not_packed(dtype):
    for value in {2, -1, 127} if np.dtype(dtype).kind != "u" else {2, 128, 255}:
        for place in ((0, 0), (5, 8), (10, 19)):
            matrix = np.zeros((11, 20), dtype=dtype)
            matrix[place] = value
            for same in layouts(matrix):
                assert pack_binary_matrix(same) is None


def test_missing_values_are_not_packed_and_minus_zero_is_zero():
    assert pack_binary_matrix(np.array([[0.0, np.nan]])) is None
    assert pack_binary_matrix(np.array([[-0.0, 1.0]])).tolist() == [[1, 0, 0, 0]]
