"""What all formats have in common."""

import inspect

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from sktree_opt import export
from sktree_opt.export import FORMATS
from sktree_opt.export._json import FrozenTreeClassifier
from tests.tree.random_tree import NUMERIC_COLUMNS, model_of, random_tree


@pytest.fixture(autouse=True)
def needs_onnx(request):
    """onnx is not installed everywhere."""
    if "onnx" in request.node.name:
        pytest.importorskip("onnx")


FORMATS_OF_A_TREE = sorted(set(FORMATS) - {"json"})


def draw_model():
    tree = random_tree(np.random.default_rng(4), NUMERIC_COLUMNS, by_weight=False)
    return model_of(tree, NUMERIC_COLUMNS)


def test_registry_and_public_names():
    public = {getattr(export, name) for name in export.__all__}
    assert set(FORMATS.values()) <= public
    assert len(set(FORMATS.values())) == len(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_takes_a_fitted_estimator(name):
    model = draw_model()
    before = dict(vars(model))
    assert FORMATS[name](model)
    assert vars(model) == before


@pytest.mark.parametrize("name", FORMATS_OF_A_TREE)
def test_a_bare_tree_will_do(name):
    pytest.importorskip("matplotlib")
    assert FORMATS[name](draw_model().tree_)


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_no_fitted_tree_is_refused(name):
    with pytest.raises(NotFittedError):
        FORMATS[name](FrozenTreeClassifier())
    fitted = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(TypeError, match="tree estimator of sktree_opt"):
        FORMATS[name](fitted)


@pytest.mark.parametrize("name", FORMATS)
def test_options_are_keywords(name):
    _, *options = inspect.signature(FORMATS[name]).parameters.values()
    data = {"X", "y"}
    kinds = {option.kind for option in options if option.name not in data}
    assert kinds <= {inspect.Parameter.KEYWORD_ONLY}
