"""Types of the public interface: there are some, and they say what the code does.

What a type checker makes of them is in ``test_typed_use.py``.
"""

import inspect
import types
import typing
from types import NoneType
from typing import Any, Literal, Union

import pytest
from numpy.typing import ArrayLike

import sktree_opt
from sktree_opt.utils import all_estimators, public_modules
from sktree_opt.utils._compat import StrOptions

ESTIMATORS = all_estimators()
# Checks of scikit-learn that let None pass without saying so.
ALLOW_NONE = {"cv_object", "random_state"}


def is_ours(value):
    return str(getattr(value, "__module__", "")).startswith("sktree_opt")


def public_functions():
    """Name and function of each public function, method and property."""
    for module in public_modules():
        # The names at the top are those of the rooms.
        for name in getattr(module, "__all__", ()) if module is not sktree_opt else ():
            value = getattr(module, name)
            if inspect.isfunction(value):
                yield f"{module.__name__}.{name}", value
            elif inspect.isclass(value):
                for method, function in methods_of(value):
                    yield f"{module.__name__}.{name}.{method}", function


def methods_of(owner):
    # Extension types have a stub instead, which test_project.py looks after.
    classes = [base for base in owner.__mro__ if is_ours(base)]
    for name in dict.fromkeys(name for base in classes for name in vars(base)):
        value = inspect.getattr_static(owner, name)
        value = getattr(value, "fget", getattr(value, "__func__", value))
        is_public = name == "__init__" or not name.startswith("_")
        if is_public and inspect.isfunction(value) and is_ours(value):
            yield name, inspect.unwrap(value)


def hints_of(function):
    drawing = {}
    if function.__name__ == "plot_tree" or function.__module__.endswith("_displays"):
        # Imported for type checkers alone.
        artist = pytest.importorskip("matplotlib.artist")
        axes = pytest.importorskip("matplotlib.axes")
        drawing = {"Artist": artist.Artist, "Axes": axes.Axes}
    return typing.get_type_hints(function, localns=drawing)


def members(hint):
    """What a union consists of, literals one by one."""
    if typing.get_origin(hint) in (Union, types.UnionType):
        return [part for one in typing.get_args(hint) for part in members(one)]
    if typing.get_origin(hint) is Literal:
        return list(typing.get_args(hint))
    return [hint]


@pytest.mark.parametrize(
    ("name", "function"), [pytest.param(*f, id=f[0]) for f in public_functions()]
)
def test_signature_is_annotated(name, function):
    hints = hints_of(function)
    parameters = list(inspect.signature(function).parameters)
    if parameters and parameters[0] in ("self", "cls"):
        del parameters[0]
    assert [one for one in [*parameters, "return"] if one not in hints] == []


@pytest.mark.parametrize(("name", "estimator"), ESTIMATORS, ids=[name for name, _ in ESTIMATORS])
def test_hints_are_what_the_checks_accept(name, estimator):
    hints = typing.get_type_hints(estimator.__init__)
    for parameter, checks in estimator._parameter_constraints.items():
        accepted = [
            option for one in checks if isinstance(one, StrOptions) for option in one.options
        ]
        # What arrays may be made of differs between versions of NumPy.
        of_arrays = members(ArrayLike) if "array-like" in checks else []
        parts = [part for part in members(hints[parameter]) if part not in of_arrays]
        literals = [part for part in parts if isinstance(part, str)]
        assert sorted(literals) == sorted(accepted), parameter
        allows_none = None in checks or any(one in ALLOW_NONE for one in checks if type(one) is str)
        assert (type(None) in parts) == allows_none, parameter
        assert (bool in parts) == ("boolean" in checks), parameter


@pytest.mark.parametrize(("name", "estimator"), ESTIMATORS, ids=[name for name, _ in ESTIMATORS])
def test_documented_attributes_have_a_type(name, estimator):
    docscrape = pytest.importorskip("numpydoc.docscrape")
    documented = {
        one
        for entry in docscrape.ClassDoc(estimator)["Attributes"]
        for one in entry.name.split(", ")
        if not isinstance(getattr(estimator, one, None), property)
    }
    ours = [base for base in estimator.__mro__ if is_ours(base)]
    typed = {one for base in ours for one in inspect.get_annotations(base)}
    assert documented - typed == set()


def test_nothing_is_hinted_by_any_alone():
    loose = [
        f"{name}({parameter})"
        for name, function in public_functions()
        for parameter, hint in hints_of(function).items()
        if hint is Any and parameter not in ("params", "return")
    ]
    assert loose == []


def test_help_shows_types_as_they_are_written():
    # Evaluated ones are spelled out: an ArrayLike alone takes 300 characters.
    evaluated = [
        name
        for name, function in public_functions()
        if not all(isinstance(hint, str | NoneType) for hint in function.__annotations__.values())
    ]
    assert evaluated == []
