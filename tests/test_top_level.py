"""Everything public can be imported from the package itself, and is loaded when it is used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import sktree_opt
from sktree_opt.utils import all_estimators, public_modules


def test_every_public_name_is_at_the_top():
    rooms = [module for module in public_modules() if module is not sktree_opt]
    names = {name for module in rooms for name in getattr(module, "__all__", ())}
    assert names - {"all_estimators"} == set(sktree_opt.__all__) - {"__version__"}
    assert len(names) > 15


@pytest.mark.parametrize("name", sktree_opt.__all__)
def test_a_name_at_the_top_is_that_of_its_room(name):
    value = getattr(sktree_opt, name)
    assert name == "__version__" or value.__name__ == name
    assert name in dir(sktree_opt)


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(sktree_opt.__file__).read_text("utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    imported = {alias.name for node in block.body for alias in node.names}
    assert imported - set(sktree_opt._ROOMS) == set(sktree_opt._ROOM_OF)
    assert set(sktree_opt._ROOM_OF) == set(sktree_opt.__all__) - {"__version__"}


def test_import_loads_nothing_else():
    program = (
        "import sys, sktree_opt\n"
        "assert not {'numpy', 'sklearn', 'scipy'} & set(sys.modules)\n"
        "assert sktree_opt.optimal.OptimalTreeClassifier is sktree_opt.OptimalTreeClassifier\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="has no attribute 'OptimalForest'"):
        assert sktree_opt.OptimalForest


@pytest.mark.parametrize("name", [name for name, _ in all_estimators()])
def test_classes_have_no_attributes_left_over(name):
    value = getattr(sktree_opt, name)
    left_over = [
        attribute
        for base in value.__mro__
        if base.__module__.startswith("sktree_opt")
        for attribute, found in vars(base).items()
        if not attribute.startswith("_") and not callable(found) and not hasattr(found, "__get__")
    ]
    assert left_over == []
