"""Docstrings of everything public, by numpydoc's own validation."""

import inspect

import pytest
from sklearn.base import BaseEstimator

from sktree_opt.utils import public_modules

numpydoc_validate = pytest.importorskip("numpydoc.validate")

# What scikit-learn does not ask for either.
IGNORED = {
    "EX01",  # no examples
    "ES01",  # no extended summary
    "SA01",  # no See Also
    "SA04",  # a See Also entry without a description
    "GL01",  # text starts on the line of the quotes
    "GL02",
    "GL03",
    "PR06",  # type spelled in its own way
    "RT02",  # what is returned has a name
}
# Inherited by scikit-learn's estimators and documented there.
INHERITED = {"get_metadata_routing", "get_params", "set_params", "set_output"}


def is_ours(name, function):
    hidden = name.startswith(("_", "set_")) or name in INHERITED
    return not hidden and str(getattr(function, "__module__", "")).startswith("sktree_opt")


def public_objects():
    """Full names of public classes and functions, and of estimators' methods written here."""
    for module in public_modules():
        for name in set(getattr(module, "__all__", ())):
            value = getattr(module, name)
            if callable(value) and module.__name__ != "sktree_opt":
                yield f"{module.__name__}.{name}"
            if inspect.isclass(value) and issubclass(value, BaseEstimator):
                for member, function in inspect.getmembers(value, inspect.isroutine):
                    if is_ours(member, function):
                        yield f"{module.__name__}.{name}.{member}"


@pytest.mark.parametrize("name", sorted(public_objects()))
def test_docstring(name):
    result = numpydoc_validate.validate(name)
    errors = [f"{code}: {text}" for code, text in result["errors"] if code not in IGNORED]
    assert errors == [], "\n".join(errors)
