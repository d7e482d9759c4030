"""Names and numbers in exports: on one line, and not to be taken for anything else."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sktree_opt.export import export_dot, export_rules, export_text, plot_tree, to_sklearn
from sktree_opt.export._description import (
    category_text,
    digits_that_separate,
    name_text,
    number_text,
)
from sktree_opt.greedy import GreedyTreeClassifier
from tests.tree.random_tree import model_of, random_tree

ODD = ["line\nbreak", "tab\t", "return\r", "\x85", "\u2028", "\x7f", "\x00"]


@pytest.mark.parametrize("odd", ODD)
def test_each_branch_and_rule_is_one_line(odd):
    odd = f"{odd}!"
    rows = [[odd, 1.0], ["b", 1.0], ["c", 1.0], ["c", 2.0]]
    tree = GreedyTreeClassifier(nominal_split="one_vs_rest").fit(rows, [odd, "x", "y", odd])
    names = [f"colour {odd}", "size"]
    # The branches, or rules, and the line about missing values.
    n_branches = tree.tree_.n_nodes - 1
    assert len(export_text(tree, feature_names=names).splitlines()) == n_branches + 1
    rules = export_rules(tree, output="text", feature_names=names).splitlines()
    assert len(rules) == tree.get_n_leaves() + 1
    source = export_dot(tree, feature_names=names)
    assert odd not in source
    assert len(source.splitlines()) == len(export_dot(tree).splitlines())
    # Programs get the names and values as they are.
    records = export_rules(tree, feature_names=names)
    assert {record["prediction"] for record in records} == {odd, "x", "y"}
    assert names[0] in {c["feature"] for record in records for c in record["conditions"]}


def test_pictures_escape_control_characters():
    plt = pytest.importorskip("matplotlib.pyplot")
    tree = GreedyTreeClassifier().fit([["a\nb"], ["c"]], ["p\tq", "r"])
    texts = {
        a.get_text() for a in plot_tree(tree, feature_names=["n\rm"]) if hasattr(a, "get_text")
    }
    assert {'"n\\rm"', '= "a\\nb"', '"p\\tq"'} <= texts
    plt.close("all")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("None", '"None"'),
        ("1", '"1"'),
        (1, "1"),
        (1.0, "1"),
        ("1e3", '"1e3"'),
        ("nan", '"nan"'),
        ("True", '"True"'),
        (True, "True"),
        ("red", '"red"'),
        ("a: b", '"a: b"'),
        ("a then b", '"a then b"'),
        ("a\nb", '"a\\nb"'),
        ("\x85", '"\\u0085"'),
    ],
)
def test_categories(value, text):
    assert category_text(value) == text


@pytest.mark.parametrize(
    "name",
    ["x <= 3 or missing", "a=b", "10", "", " x", "a and b", "a is missing", '"a"', "| x", "a\nb"],
)
def test_ambiguous_names_are_quoted(name):
    assert json.loads(name_text(name)) == name
    tree = model_of(random_tree(np.random.default_rng(0), max_depth=2))
    names = [f"f{j}" for j in range(tree.tree_.n_features)]
    names[tree.tree_.nodes["feature"][0]] = name
    assert export_text(tree, feature_names=names).startswith(json.dumps(name))
    assert f"if {json.dumps(name)}" in export_rules(tree, output="text", feature_names=names)


@pytest.mark.parametrize("name", ["petal length (cm)", "x0", "rate, monthly", "größe"])
def test_other_names_are_not(name):
    assert name_text(name) == name


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.integers(1, 6))
def test_rounded_numbers_stay_apart(numbers, precision):
    digits = digits_that_separate(np.array(numbers), precision)
    assert digits is None or digits >= precision
    distinct = sorted(set(numbers))
    rounded = [float(number_text(number, digits)) for number in distinct]
    assert sorted(set(rounded)) == rounded


def test_digits_are_few_where_they_do():
    assert digits_that_separate(np.array([1.23456789]), 4) == 4
    assert digits_that_separate(np.array([1.23456789, 2.5]), 4) == 4
    assert digits_that_separate(np.array([1.00001, 1.00002, 2.5]), 4) == 6


@pytest.mark.parametrize(
    ("export", "parameters"),
    [
        (export_text, {"max_depth": -1}),
        (export_text, {"max_depth": 1.5}),
        (export_text, {"precision": 0}),
        (export_text, {"feature_names": "x"}),
        (export_dot, {"max_depth": -1}),
        (export_dot, {"precision": -1}),
        (export_dot, {"filled": "yes"}),
        (export_rules, {"precision": 2.5}),
        (export_rules, {"class_names": 3}),
        (plot_tree, {"max_depth": 1.5}),
        (plot_tree, {"max_depth": -1}),
        (plot_tree, {"precision": -1}),
        (plot_tree, {"fontsize": 0}),
    ],
    ids=lambda value: str(getattr(value, "__name__", value)),
)
def test_wrong_parameters_are_named(export, parameters):
    tree = model_of(random_tree(np.random.default_rng(0), max_depth=2))
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of {export.__name__}"):
        export(tree, **parameters)


def test_the_tree_at_the_end_of_pipelines_and_searches():
    pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = GreedyTreeClassifier(max_depth=2)
    scaled = make_pipeline(StandardScaler(), tree).fit(X, y)
    # The scaler makes an array; its columns have the names of the frame's.
    text = export_text(scaled)
    assert text.startswith("petal length (cm) <= -0.7")
    assert text == export_text(scaled[-1], feature_names=X.columns)
    assert export_rules(scaled, output="text").startswith("if petal length (cm) <= -0.7")
    assert "petal length (cm)" in export_dot(scaled)
    search = GridSearchCV(scaled, {"greedytreeclassifier__max_depth": [2]}).fit(X, y)
    assert export_text(search) == text
    inner = make_pipeline(StandardScaler(), GridSearchCV(tree, {"max_depth": [2]})).fit(X, y)
    assert export_text(inner) == text
    given = export_text(scaled, feature_names=["a", "b", "c", "d"])
    assert given.startswith("c <= -0.7")
    nameless = make_pipeline(FunctionTransformer(np.asarray), tree).fit(X, y)
    assert export_text(nameless).startswith("x2 <= 2")
    # What it writes would predict from scaled rows only.
    with pytest.raises(TypeError, match="A tree estimator"):
        to_sklearn(scaled)
    with pytest.raises(TypeError, match="A tree estimator"):
        export_text(make_pipeline(StandardScaler()).fit(X))
