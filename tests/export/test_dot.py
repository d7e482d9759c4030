"""The Graphviz source, parsed and executed, predicts the same."""

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sktree_opt.export import export_dot
from tests.effort import examples
from tests.export.interpreter import Question, obey_note, parse_leaf, predict
from tests.tree.random_tree import COLUMNS, model_of, random_rows, random_tree

seeds = st.integers(0, 2**32 - 1)
STRING = r'"((?:[^"\\]|\\.)*)"'
NODE = re.compile(rf'^    (\d+) \[label={STRING}(?:, fillcolor="#[0-9a-f]{{6}}")?\];$')
EDGE = re.compile(rf"^    (\d+) -> (\d+) \[label={STRING}\];$")
OTHER = re.compile(r"^(digraph tree \{|    (?:node|edge|graph) \[.*\];|\})$")


def unquote(text):
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], text)


def parse(source):
    """The tree that the statements describe."""
    labels, edges, note = {}, {}, ""
    for line in source.splitlines():
        if match := NODE.match(line):
            labels[int(match[1])] = unquote(match[2])
        elif match := EDGE.match(line):
            edges.setdefault(int(match[1]), []).append((unquote(match[3]), int(match[2])))
        else:
            assert OTHER.match(line), line
            note += line if "labelloc" in line else ""
    return obey_note(build(0, labels, edges), note)


def build(index, labels, edges):
    if index not in edges:
        return parse_leaf(*labels[index].split("\n"))
    branches = [(text, build(child, labels, edges)) for text, child in edges[index]]
    return Question(labels[index], branches)


@given(seeds, st.sampled_from([None, True, False]), st.booleans())
@examples(60)
def test_the_source_predicts_the_same(seed, by_weight, filled):
    rng = np.random.default_rng(seed)
    model = model_of(random_tree(rng, by_weight=by_weight))
    rows = random_rows(rng, 40)
    root = parse(export_dot(model, precision=None, filled=filled))
    found = [predict(root, row, COLUMNS, model.classes_) for row in rows]
    np.testing.assert_allclose(found, model.predict_proba(rows), atol=1e-9)


@given(seeds)
@examples(30)
def test_the_source_of_a_regression_predicts_the_same(seed):
    rng = np.random.default_rng(seed)
    model = model_of(random_tree(rng, is_classifier=False))
    rows = random_rows(rng, 40)
    root = parse(export_dot(model, precision=None))
    found = [predict(root, row, COLUMNS)[0] for row in rows]
    np.testing.assert_allclose(found, model.predict(rows), atol=1e-9)


def test_quotes_and_backslashes_in_names():
    names = ['a "b"', "c\\n", "d\\", "e\nf", "g", "h", "i"]
    classes = ['"', "\\", "x"]
    model = model_of(random_tree(np.random.default_rng(0)))
    source = export_dot(model, feature_names=names, class_names=classes)
    assert len(source.splitlines()) == len(export_dot(model).splitlines())
    for line in source.splitlines()[1:-1]:
        assert NODE.match(line) or EDGE.match(line) or OTHER.match(line), line


def test_depth():
    model = model_of(random_tree(np.random.default_rng(0)))
    source = export_dot(model, max_depth=1)
    shown = [int(match[1]) for match in map(NODE.match, source.splitlines()) if match]
    assert shown == np.flatnonzero(model.tree_.node_depths() <= 1).tolist()
    assert "leaves)" in source


def test_a_lone_leaf():
    model = model_of(random_tree(np.random.default_rng(0), max_depth=0))
    assert len([line for line in export_dot(model).splitlines() if NODE.match(line)]) == 1
