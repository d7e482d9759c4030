import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sktree_opt.utils import _params


@pytest.mark.parametrize(
    ("minimum", "n_rows", "expected"), [(1, 10, 1), (7, 10, 7), (0.25, 10, 3), (0.1, 1000, 100)]
)
def test_shares_of_rows_are_rounded_up(minimum, n_rows, expected):
    assert _params.rows_from(minimum, n_rows) == expected


def test_infinity_is_no_limit():
    assert _params.seconds_from(np.inf) is None
    assert _params.seconds_from(None) is None
    assert _params.seconds_from(2) == 2.0
    assert _params.bytes_from(np.inf) is None
    assert _params.bytes_from(None) is None
    assert _params.bytes_from("2KB") == 2000
    assert _params.bytes_from(1e6) == 10**6


class Example:
    """Has parameters.

    Parameters
    ----------
    %(time_limit)s

    %(n_jobs)s
    """

    time_limit = 1.5


def test_texts_keep_the_indentation():
    documented = _params.document_shared(Example)
    assert "\ntime_limit : float or None, default=60.0\n    Seconds" in documented.__doc__
    assert "%(" not in documented.__doc__


def test_a_warning_names_the_parameter_and_points_at_the_caller():
    with pytest.warns(ConvergenceWarning, match=r"time_limit=1.5 .*Best: 3\.") as found:
        _params.warn_of_limit(Example(), "time_limit", "Best: 3.")
    assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _params.warn_of_limit(Example(), "optimal", "")
        _params.warn_of_limit(Example(), "stopped", "")
