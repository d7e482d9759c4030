import inspect
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sktree_opt.utils import _params, all_estimators


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


# Parameters whose default differs, or whose text says more, in some estimators; and why.
ROOMS_OF_THEIR_OWN = {
    "criterion": "measures of classes and of numbers",
    "objective": "classes and numbers; the CV estimators try several",
    "method": "the algorithms of one search",
    "error": "what a selector minimises; an enumerator rates by the training error",
    "targets": "regression by CV tries the answers of a forest, too",
    "complexity_cost": "CV estimators choose it: None means numbers of leaves instead",
    "max_depth": "a search of all trees needs a limit",
}


def test_a_parameter_has_the_same_default_in_all_estimators():
    defaults = {}
    for name, estimator in all_estimators():
        for parameter in inspect.signature(estimator).parameters.values():
            found = defaults.setdefault(parameter.name, {})
            found.setdefault(repr(parameter.default), []).append(name)
    differing = {name: found for name, found in defaults.items() if len(found) > 1}
    assert differing.keys() == ROOMS_OF_THEIR_OWN.keys(), differing


# Parameters that take other values in some estimators; and why.
VALUES_OF_THEIR_OWN = {
    "criterion": "measures of classes and of numbers",
    "estimator": "a rule list takes any tree",
    "max_depth": "an exact search of more than 20 levels never ends",
    "max_error": "errors are not negative, scores of a selector may be",
    "max_features": "drawn for a node, also as a share, or selected",
    "method": "the algorithms of one search",
    "objective": "the sums that a search can bound",
    "pruning": "C4.5's estimate needs classes",
    "thresholds": "the MDL principle needs classes",
}


def test_a_parameter_takes_the_same_values_in_all_estimators():
    """Except that those by cross-validation try several values."""
    values = {}
    for name, estimator in all_estimators():
        for parameter, checks in estimator._parameter_constraints.items():
            if not name.endswith("CV"):
                text = " or ".join(sorted(map(as_text, checks)))
                values.setdefault(parameter, {}).setdefault(text, []).append(name)
    differing = {name: found for name, found in values.items() if len(found) > 1}
    assert differing.keys() == VALUES_OF_THEIR_OWN.keys(), differing


def as_text(check):
    return str(sorted(check.options)) if hasattr(check, "options") else str(check)


def test_a_shared_parameter_is_documented_in_the_same_words():
    """Estimators may add a sentence; those by cross-validation try several values."""
    numpydoc = pytest.importorskip("numpydoc.docscrape")
    differing, n_compared = [], 0
    for name, estimator in all_estimators():
        for parameter in numpydoc.ClassDoc(estimator)["Parameters"]:
            if name.endswith("CV") or parameter.name not in _params._DOCS:
                continue
            n_compared += 1
            shared = _params._DOCS[parameter.name].partition("\n")[2].split()
            if " ".join(parameter.desc).split()[: len(shared)] != shared:
                differing.append(parameter.name)
    assert n_compared > 100
    assert set(differing) == {"max_depth"}
