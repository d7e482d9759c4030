"""The text, executed line by line, predicts the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt.export import export_text
from tests.effort import examples
from tests.export.interpreter import Question, obey_note, parse_leaf, predict
from tests.tree.random_tree import COLUMNS, model_of, random_rows, random_tree

seeds = st.integers(0, 2**32 - 1)
NAMES = [column["name"] for column in COLUMNS]


def parse(text, names=NAMES):
    """The tree that the lines describe, with tests of features of these names."""
    items, note = [], ""
    for line in text.splitlines():
        if line.endswith("."):
            note = line
            continue
        depth = line.count("|   ")
        words = line.removeprefix("|   " * depth)
        name = next((name for name in names if words.startswith(f"{name} ")), None)
        if name is None:
            return leaf_of(line)
        question, _, leaf = words.removeprefix(f"{name} ").partition(": ")
        items.append((depth, name, question, leaf))
    root = parse_test(items, 0)
    assert not items
    return obey_note(root, note)


def parse_test(items, depth):
    test = Question(items[0][1])
    while items and items[0][0] == depth:
        _, name, question, leaf = items.pop(0)
        assert name == test.feature
        child = leaf_of(leaf) if leaf else parse_test(items, depth + 1)
        test.branches.append((question, child))
    return test


def leaf_of(text):
    answer, _, content = text.removesuffix(")").rpartition(" (")
    return parse_leaf(answer, content)


@given(seeds, st.sampled_from([None, True, False]))
@examples(80)
def test_the_text_predicts_the_same(seed, by_weight):
    rng = np.random.default_rng(seed)
    model = model_of(random_tree(rng, by_weight=by_weight))
    rows = random_rows(rng, 40)
    root = parse(export_text(model, precision=None))
    found = [predict(root, row, COLUMNS, model.classes_) for row in rows]
    np.testing.assert_allclose(found, model.predict_proba(rows), atol=1e-9)


@given(seeds)
@examples(40)
def test_the_text_of_a_regression_predicts_the_same(seed):
    rng = np.random.default_rng(seed)
    model = model_of(random_tree(rng, is_classifier=False))
    rows = random_rows(rng, 40)
    root = parse(export_text(model, precision=None))
    found = [predict(root, row, COLUMNS)[0] for row in rows]
    np.testing.assert_allclose(found, model.predict(rows), atol=1e-9)


@given(seeds)
@examples(40)
def test_rounding_moves_no_row(seed):
    rng = np.random.default_rng(seed)
    model = model_of(random_tree(rng, by_weight=False))
    rows = random_rows(rng, 40)
    root = parse(export_text(model, precision=2))
    found = [predict(root, row, COLUMNS, model.classes_) for row in rows]
    np.testing.assert_allclose(found, model.predict_proba(rows), atol=0.1)


def test_a_cost_matrix_changes_the_answers():
    costs = np.array([[0.0, 9.0, 9.0]] * 3)
    model = model_of(random_tree(np.random.default_rng(0)), costs=costs)
    answers = {
        line.partition(": ")[2].partition(" (")[0] for line in export_text(model).split("\n")
    }
    assert answers - {""} == {"class 0"}


def test_names_and_depth():
    model = model_of(random_tree(np.random.default_rng(0)))
    other = [f"feature {j}" for j in range(len(COLUMNS))]
    text = export_text(model, feature_names=other, class_names=["a", "b", "c"])
    assert "feature 3 is missing: c (c 2.333, a 0.3333, b 0.3333)" in text
    assert "class" not in text
    assert export_text(model, max_depth=0) == f"... ({model.tree_.n_leaves} leaves)\n"
    cut = export_text(model, max_depth=2)
    assert cut.count("...") == np.sum(
        (model.tree_.node_depths() == 2) & (model.tree_.nodes["n_children"] > 0)
    )
    assert export_text(model, max_depth=99) == export_text(model)
    with pytest.raises(ValueError, match="feature_names has 1 names, but the tree has 7"):
        export_text(model, feature_names=["a"])
    with pytest.raises(ValueError, match="class_names has 2 names, but the tree has 3"):
        export_text(model, class_names=["a", "b"])


WORDS = """\
code = 5
|   urgent = False: class 2 (class 2 5, class 1 4)
|   urgent = True or missing: class 0 (class 0 2, class 1 1.667, class 2 1.333)
code != 5 or missing
|   size = "small": class 0 (class 0 2, class 1 1.667, class 2 1.667)
|   size > "small": class 2 (class 2 1.333, class 0 1, class 1 0.6667)
A missing value goes where a branch says so, and elsewhere down every branch, in proportion to the \
weights.
"""


def test_description():
    model = model_of(random_tree(np.random.default_rng(14), max_depth=2))
    assert export_text(model) == WORDS
