"""The page of a set of trees: its choices, counts and trees are those that the set lists."""

import json
from collections import Counter

import numpy as np
import pytest

from sktree_opt import TreeSetClassifier, TreeSetRegressor
from sktree_opt.datasets import load_loans
from sktree_opt.export import export_html
from sktree_opt.export._description import describe
from sktree_opt.export.page import _set_page
from tests.export.chromium import Browser
from tests.export.test_html import ANSWERS, answer, data_of, show, texts

pd = pytest.importorskip("pandas")

# The tree that is shown, as nested lists of tests and answers.
SHOWN = """(() => { const nested = (at) => { const node = tree.nodes[at]; return node.children
  ? [textOf(node.test, 0), ...node.children.map(nested)] : [node.text]; }; return nested(0); })()
"""
CHOICES = """
choicesAt(PATH).map(({ group, best, count }) => [
  group.map((test) => [test, test === "leaf" ? test : textOf(test, 0)]), objectiveOf(best),
  String(count)])
"""


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.close()


def table(seed, *, regression=False):
    """A random table with a number, a category and holes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(0, 5, 40).astype(float),
            "a b": rng.choice(["x", "y", "z"], 40),
            "twin": rng.integers(0, 3, 40),
        }
    )
    X["copy"] = X["twin"] * 2
    X.loc[rng.random(40) < 0.2, "age"] = np.nan
    y = 1 * (X["twin"] > 0) + (X["a b"] == "x") + (rng.random(40) < 0.3)
    return X, (y + rng.integers(0, 3, 40) / 4 if regression else y)


def nested(tree):
    """A tree of the set as nested lists of tests and answers."""
    words = describe(tree, precision=4, threshold_precision=4)

    def below(index):
        branches = words.branches(index)
        if not branches:
            return [words.answer(index)]
        test = f"{words.feature(index)} {branches[0].full_text}"
        return [test, *(below(branch.child) for branch in branches)]

    return below(0)


def below_path(tree, path):
    """The part of a nested tree after some tests; None if it asks others."""
    for test, branch in path:
        if len(tree) == 1 or tree[0] != test:
            return None
        tree = tree[1 + branch]
    return tree


def asked_in(tree):
    return tree[0] if len(tree) > 1 else "leaf"


def check_choices(browser, model, trees, X):
    """The choices after every path of the shown tree, the counts and the trees that they show."""
    listed = [(nested(tree), tree) for tree in trees]
    paths = browser.run("tree.nodes.map((node) => node.path)")
    names = {}
    for numbers in [[], *paths]:
        found = browser.run(CHOICES.replace("PATH", json.dumps(numbers)))
        names |= {number: text for group, *_ in found for number, text in group}
        path = [(names[step["test"]], step["branch"]) for step in numbers]
        alike = [(one, tree) for one, tree in listed if below_path(one, path) is not None]
        counts = Counter(asked_in(below_path(one, path)) for one, _ in alike)
        assert {group[0][1]: int(count) for group, _, count in found} == counts
        assert [objective for _, objective, _ in found] == sorted(o for _, o, _ in found)
        for group, objective, _ in found:
            mine = [tree for one, tree in alike if asked_in(below_path(one, path)) == group[0][1]]
            least = min(tree.objective_ for tree in mine)
            assert objective == pytest.approx(least, rel=1e-8, abs=1e-9)
            for number, text in group:
                number = json.dumps(number)
                picked = browser.run(
                    f"(() => {{ pick({json.dumps(numbers)}, {number}); return {SHOWN}; }})()"
                )
                assert asked_in(below_path(picked, path)) == text
            # The tree of the first test is one of those that the set lists.
            number = json.dumps(group[0][0])
            browser.run(f"pick({json.dumps(numbers)}, {number})")
            (same,) = [tree for one, tree in listed if one == browser.run(SHOWN)]
            assert same.objective_ == pytest.approx(least, rel=1e-8, abs=1e-9)
            if hasattr(model, "classes_"):
                assert browser.run(ANSWERS) == same.predict(X).astype(str).tolist()
                proba = "tree.rows.map((_, i) => mean(walk(rowOf(i)).leaves, 'probabilities'))"
                np.testing.assert_allclose(browser.run(proba), same.predict_proba(X), atol=1e-12)
            else:
                found_means = browser.run(
                    "tree.rows.map((_, i) => answerOf(walk(rowOf(i)).leaves))"
                )
                np.testing.assert_allclose(found_means, same.predict(X))
    assert browser.errors == []


@pytest.mark.parametrize(
    "parameters",
    [
        {"epsilon": 1.0},
        {"epsilon": 0.5, "distinct_by": "tests", "max_leaf_nodes": 3},
        {"n_trees": 7},
        {"epsilon": 0.3, "complexity_cost": 0.02, "leaf_smoothing": "laplace"},
        {
            "epsilon": 0.2,
            "objective": "cost",
            "cost_matrix": [[0, 1, 4, 9], [2, 0, 1, 4], [3, 1, 0, 1], [9, 4, 1, 0]],
        },
        {"n_trees": 12, "hierarchical_shrinkage": 5.0},
        {"epsilon": 0.05, "objective": "entropy", "max_depth": 1},
    ],
)
def test_choices_of_classifiers(browser, tmp_path, parameters):
    X, y = table(len(parameters))
    model = TreeSetClassifier(**{"max_depth": 2, "thresholds": 3, **parameters}).fit(X, y)
    show(browser, tmp_path, export_html(model, X, y))
    shown = browser.run(SHOWN)
    assert model[0].objective_ == pytest.approx(browser.run("objectiveOf(shownClass)"))
    assert shown in [nested(tree) for tree in model if tree.objective_ <= model.objective_ + 1e-9]
    check_choices(browser, model, list(model), X)


@pytest.mark.parametrize("parameters", [{"epsilon": 0.1}, {"n_trees": 5, "max_depth": 1}])
def test_choices_of_regressors(browser, tmp_path, parameters):
    X, y = table(3, regression=True)
    model = TreeSetRegressor(**{"max_depth": 2, "thresholds": 2, **parameters}).fit(X, y)
    show(browser, tmp_path, export_html(model, X, y))
    check_choices(browser, model, list(model), X)


def test_a_part_of_the_set(browser, tmp_path, monkeypatch):
    monkeypatch.setattr(_set_page, "MOST_OPTIONS", 3)
    monkeypatch.setattr(_set_page, "MOST_TREES", 3)
    X, y = table(1)
    model = TreeSetClassifier(epsilon=1.0, max_depth=2, thresholds=3).fit(X, y)
    page = export_html(model, X)
    assert f"A set of {model.n_trees_} trees" in data_of(page)["summary"]
    assert "This page has the first 3 of them." in data_of(page)["summary"]
    show(browser, tmp_path, page)
    check_choices(browser, model, [model[k] for k in range(3)], X)


def test_a_set_of_a_single_leaf(browser, tmp_path):
    model = TreeSetClassifier(epsilon=0.0).fit([[0.0], [0.0]], ["a", "b"])
    show(browser, tmp_path, export_html(model, [[1.0]]))
    assert answer(browser) == "a"
    assert browser.run("String(countOf(classesOf(0)))") == "1"
    browser.click("#node-0 .choices")
    assert texts(browser, "#choices-list button") == ["no further test"]


def test_mouse_keyboard_and_screen_readers(browser, tmp_path):
    X, y = load_loans(return_X_y=True, as_frame=True)
    model = TreeSetClassifier(epsilon=0.05, max_depth=2).fit(X, y)
    page = export_html(model, X, y)
    # The set and the rows are data.
    assert len(page.encode()) - len(json.dumps(data_of(page))) < 60_000
    show(browser, tmp_path, page)
    browser.click("#table tr[data-row='3'] button")
    first = browser.run(SHOWN)
    browser.click("#node-1 .choices")
    assert texts(browser, "#choices-title") == ['Choices after rating = "poor"']
    buttons = texts(browser, "#choices-list button")
    assert len(buttons) > 1
    browser.click("#choices-list li:nth-child(2) button")
    second = browser.run(SHOWN)
    assert second != first
    assert second[1][0] == buttons[1]
    assert browser.run("document.querySelector('tr.chosen').dataset.row") == "3"
    assert browser.run("document.activeElement.ariaPressed") == "true"
    browser.press("Escape")
    assert browser.run("document.activeElement.id") == "node-1"
    assert browser.run("document.querySelector('#choices').hidden")
    # The same by keys alone.
    browser.press("o")
    assert browser.run("document.activeElement.closest('#choices') !== null")
    named = [
        node.get("name", {}).get("value", "")
        for node in browser.call("Accessibility.getFullAXTree")["nodes"]
        if not node["ignored"] and node["role"]["value"] == "button"
    ]
    assert all(named)
    assert any(name.startswith(f"{buttons[0]}: ") and "best objective" in name for name in named)
    browser.run("document.querySelector('#choices-list button').focus()")
    browser.press("Enter")
    assert browser.run(SHOWN) == first
    browser.click("#best")
    assert browser.run("document.querySelector('#choices').hidden")
    assert "none of the set is better" in texts(browser, "#shown")[0]
    for width, dark in ((360, False), (360, True), (1300, True)):
        browser.resize(width, 800, dark=dark)
        browser.click("#node-2 .choices")
        assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.errors == []
