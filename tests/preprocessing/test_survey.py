"""What a look at every cell finds, against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as stnp

from sktree_opt.preprocessing._table import survey
from tests.effort import examples

CELLS = st.sampled_from(
    [
        0.0,
        -0.0,
        1.0,
        2.0,
        63.0,
        64.0,
        65535.0,
        65536.0,
        0.5,
        -1.0,
        2.0**100,
        np.nan,
        np.inf,
        -np.inf,
    ]
)
LAYOUTS = ["C", "F", "strided"]


def in_layout(X, layout):
    if layout == "strided":
        return np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    return np.asarray(X, order=layout)


def naive_numbers(column):
    """Sorted distinct values if all known ones are whole numbers below 65536, else None."""
    known = column[~np.isnan(column)].tolist()
    if not all(0 <= v < 65536 and v == int(v) for v in known):
        return None
    return sorted({v + 0.0 for v in known})


@given(
    stnp.arrays(
        st.sampled_from([np.float32, np.float64]),
        st.tuples(st.integers(1, 40), st.integers(1, 5)),
        elements=CELLS,
    ),
    st.sampled_from(LAYOUTS),
    st.integers(1, 3),
)
@examples(300)
def test_survey_of_small_matrices(X, layout, n_threads):
    has_infinity, numbers = survey(in_layout(X, layout), range(X.shape[1]), n_threads)
    assert has_infinity == np.isinf(X).any()
    for j, found in enumerate(numbers):
        assert (None if found is None else found.tolist()) == naive_numbers(X[:, j])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_survey_in_parts(layout, n_threads, dtype, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.integers(0, 5000, size=(70_000, 7)).astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[-1, 3] = 0.5
    has_infinity, numbers = survey(in_layout(X, layout), [5, 3, 0], n_threads)
    assert not has_infinity
    assert numbers[0].tolist() == naive_numbers(X[:, 5])
    assert numbers[1] is None
    assert numbers[2].tolist() == naive_numbers(X[:, 0])
    for row in (0, 30_000, 69_999):
        X[row, 6] = -np.inf
        assert survey(in_layout(X, layout), [], n_threads) == (True, [])
        X[row, 6] = np.nan


def test_survey_of_nothing():
    assert survey(np.empty((0, 2)), [])[0] is False
    assert survey(np.empty((2, 0)), []) == (False, [])
