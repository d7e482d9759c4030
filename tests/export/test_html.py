"""The page, in a real browser: clicks, keys and typed rows; answers equal those of predict."""

import datetime
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.datasets import load_diabetes, load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from sktree_opt.datasets import load_loans
from sktree_opt.export import RowPredictor, counterfactual, explain, export_html
from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from tests.effort import examples
from tests.export.chromium import Browser
from tests.tree.random_tree import COLUMNS, model_of, random_rows, random_tree

pd = pytest.importorskip("pandas")
seeds = st.integers(0, 2**32 - 1)
ANSWERS = "tree.rows.map((_, i) => answerText(answerOf(walk(rowOf(i)).leaves)))"


def data_of(page):
    """What the page knows."""
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(text[1])


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def loans():
    X, y = load_loans(return_X_y=True, as_frame=True)
    return X, y, OptimalTreeClassifier(max_depth=2).fit(X, y)


def show(browser, folder, page):
    """Open a page, and see that it asks for nothing and fails nowhere."""
    path = folder / "page.html"
    path.write_text(page, "utf-8")
    browser.resize(1300, 900)
    browser.open(path)
    assert browser.errors == []


def answer(browser):
    return browser.run("document.querySelector('#answer').textContent").removeprefix("Answer: ")


def way(browser):
    """Nodes that are highlighted."""
    items = "[...document.querySelectorAll('#tree li.on')].map((li) => Number(li.id.slice(5)))"
    return sorted(browser.run(items))


def texts(browser, selector):
    return browser.run(f"[...document.querySelectorAll('{selector}')].map((e) => e.textContent)")


def test_rows_of_the_table(browser, tmp_path, loans):
    X, y, tree = loans
    show(browser, tmp_path, export_html(tree, X, y, title="Loans <b>"))
    assert browser.run("document.title") == "Loans <b>"
    assert browser.run(ANSWERS) == tree.predict(X).tolist()
    path = tree.decision_path(X)
    for row in (0, 3, 7):
        browser.click(f"#table tr[data-row='{row}'] button")
        assert answer(browser) == tree.predict(X)[row]
        assert way(browser) == path[row].indices.tolist()
        assert browser.run("document.querySelector('tr.chosen').dataset.row") == str(row)
    browser.click("#next")
    assert texts(browser, "#table tbody button")[0] == "10"
    browser.click("#wrong")
    wrong = np.flatnonzero(tree.predict(X) != y).tolist()
    assert texts(browser, "#table tbody button") == [str(i) for i in wrong[:10]]
    assert browser.errors == []


def test_a_typed_row(browser, tmp_path, loans):
    X, _, tree = loans
    show(browser, tmp_path, export_html(tree))
    field = {
        name: f"#field-{X.columns.get_loc(name)}" for name in ("months", "rating", "employment")
    }
    predict = RowPredictor(tree)
    choices = X["rating"].cat.categories.tolist()
    for months in ("8,5", "9", "9.1", ""):
        for rating in (*choices, None):
            browser.type(field["months"], months)
            code = "" if rating is None else str(choices.index(rating))
            browser.run(
                f"(() => {{ const e = document.querySelector('{field['rating']}');"
                f"e.value = '{code}'; e.dispatchEvent(new Event('input')); }})()"
            )
            employment = texts(browser, f"{field['employment']} option:checked")[0]
            row = {
                "months": float(months.replace(",", ".")) if months else None,
                "rating": rating,
                "employment": employment,
            }
            assert answer(browser) == predict(row)
            alike = browser.run("document.querySelector('#alike').textContent")
            assert alike == explain(tree, row).text.splitlines()[-1]
    browser.type(field["months"], "soon")
    assert browser.run(f"document.querySelector('{field['months']}').ariaInvalid") == "true"
    assert browser.errors == []


def test_a_typed_date(browser, tmp_path):
    days = np.arange(60) * np.timedelta64(1, "D") + np.datetime64("2020-01-01")
    waits = np.tile(np.arange(6) * np.timedelta64(7, "h"), 10)
    X = pd.DataFrame({"opened": days, "wait": waits})
    y = (days > np.datetime64("2020-02-10")) + 2 * (waits > np.timedelta64(20, "h"))
    tree = OptimalTreeClassifier(max_depth=2).fit(X, y)
    show(browser, tmp_path, export_html(tree, X))
    predict = RowPredictor(tree)
    for opened in ("2020-02-10", "2020-02-10 00:01", "2020-02-29T23:00:00", ""):
        for wait, hours in (("21:00", 21), ("1 day", 24), ("0:30", 0.5), ("1 day 4:00", 28)):
            browser.type("#field-0", opened)
            browser.type("#field-1", wait)
            row = {"opened": opened or None, "wait": datetime.timedelta(hours=hours)}
            assert answer(browser) == str(predict(row))
    browser.type("#field-0", "soon")
    assert browser.run("document.querySelector('#field-0').ariaInvalid") == "true"
    assert "2020-01-01" in texts(browser, "#table td")
    assert browser.errors == []


def test_the_smallest_change(browser, tmp_path, loans):
    X, _, tree = loans
    show(browser, tmp_path, export_html(tree, X.head(40)))
    fixed = X.columns.get_loc("employment")
    for row in range(10):
        browser.click(f"#table tr[data-row='{row}'] button")
        expected = counterfactual(tree, X.iloc[[row]])
        assert f"would be {expected.prediction} with" in texts(browser, "#change p")[0]
        assert len(texts(browser, "#change li")) == expected.distance
        browser.click("#apply")
        assert answer(browser) == expected.prediction
        browser.click(f"#table tr[data-row='{row}'] button")
        browser.click(f"#keep-{fixed}")
        expected = counterfactual(tree, X.iloc[[row]], fixed=["employment"])
        if expected is None:
            assert texts(browser, "#change p") == [
                "No change of the other values gives this answer."
            ]
        else:
            assert len(texts(browser, "#change li")) == expected.distance
        browser.click(f"#keep-{fixed}")
    assert browser.errors == []


def test_folding_by_mouse_and_keyboard(browser, tmp_path, loans):
    _, _, tree = loans
    show(browser, tmp_path, export_html(tree))
    shown = "[...document.querySelectorAll('#tree li')].filter((li) => li.offsetParent).length"
    assert browser.run(shown) == 7
    browser.click("#node-1 > .card")
    assert browser.run(shown) == 5
    assert browser.run("document.querySelector('#node-1').ariaExpanded") == "false"
    browser.click("#fold")
    assert browser.run(shown) == 1
    browser.run("document.querySelector('#node-0').focus()")
    focus = "document.activeElement.id"
    for key, node, count in [
        ("ArrowRight", 0, 3), ("ArrowRight", 1, 3), ("ArrowDown", 2, 3), ("Enter", 2, 5),
        ("End", 6, 5), ("ArrowLeft", 2, 5), ("ArrowLeft", 2, 3), ("Home", 0, 3), (" ", 0, 1),
    ]:  # fmt: skip
        browser.press(key)
        assert browser.run(focus) == f"node-{node}", key
        assert browser.run(shown) == count, key
    browser.click("#unfold")
    assert browser.run(shown) == 7
    assert browser.run("document.querySelectorAll('#tree [tabindex=\"0\"]').length") == 1


def test_screen_readers(browser, tmp_path, loans):
    X, y, tree = loans
    show(browser, tmp_path, export_html(tree, X, y))
    found = browser.call("Accessibility.getFullAXTree")["nodes"]
    named = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in found
        if not node["ignored"]
    ]
    items = [name for role, name in named if role == "treeitem"]
    assert len(items) == 7
    assert items[0].startswith("test of rating; n = 400, repaid 71.8%, default 28.2%")
    assert sum("on the way of the row" in name for name in items) == 3
    for role in ("button", "textbox", "combobox", "checkbox"):
        names = [name for found_role, name in named if found_role == role]
        assert names
        assert all(names), role


@pytest.mark.parametrize(("width", "dark"), [(360, False), (360, True), (1300, True)])
def test_nothing_is_wider_than_the_window(browser, tmp_path, loans, width, dark):
    X, y, tree = loans
    show(browser, tmp_path, export_html(tree, X, y))
    browser.resize(width, 800, dark=dark)
    assert browser.run("document.documentElement.scrollWidth") <= width
    is_indented = browser.run("document.querySelector('#tree').classList.contains('indented')")
    assert is_indented == (width < 500)
    colour = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (colour == "rgb(255, 255, 255)") == (not dark)


def test_random_trees(browser, tmp_path):
    """Every kind of test, missing values, unknown categories, costs, smoothing."""
    costs = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [9.0, 1.0, 0.0]])
    for seed in range(12):
        rng = np.random.default_rng(seed)
        tree = random_tree(rng, by_weight=[None, True, False][seed % 3])
        model = model_of(tree, costs=costs if seed % 2 else None, smooth=seed % 4 > 1)
        rows = random_rows(rng, 60)
        show(browser, tmp_path, export_html(model, rows))
        assert browser.run(ANSWERS) == model.predict(rows).tolist()
        proba = "tree.rows.map((_, i) => mean(walk(rowOf(i)).leaves, 'probabilities'))"
        np.testing.assert_allclose(browser.run(proba), model.predict_proba(rows), atol=1e-12)
        names = [column["name"] for column in COLUMNS]
        for i in range(6):
            row = dict(zip(names, rows[i], strict=True))
            browser.run(f"setRow(rowOf({i}))")
            expected = counterfactual(model, row)
            cost = browser.run("(smallestChange(wantedNow()) || {cost: [null]}).cost[0]")
            assert cost == (None if expected is None else expected.distance)
        assert browser.errors == []


def test_regression(browser, tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    tree = OptimalTreeRegressor(max_depth=2).fit(X, y)
    show(browser, tmp_path, export_html(tree, X, y))
    found = browser.run("tree.rows.map((_, i) => answerOf(walk(rowOf(i)).leaves))")
    np.testing.assert_allclose(found, tree.predict(X))
    assert texts(browser, "#wanted option") == ["a higher mean", "a lower mean"]
    now = float(answer(browser))
    browser.run(
        "(() => { find('wanted').value = 'lower';"
        "find('wanted').dispatchEvent(new Event('change')); })()"
    )
    browser.click("#apply")
    assert float(answer(browser)) < now


def test_large_trees_begin_folded(browser, tmp_path):
    X, y = load_digits(return_X_y=True)
    tree = GreedyTreeClassifier().fit(X, y)
    assert tree.get_n_leaves() > 100
    page = export_html(tree)
    show(browser, tmp_path, page)
    assert browser.run("document.querySelectorAll('#tree li').length") < 20
    browser.click("#unfold")
    assert browser.run("document.querySelectorAll('#tree li').length") == tree.tree_.n_nodes


def test_notebooks(browser, tmp_path, loans):
    """The diagram of scikit-learn, and below it the tree in a frame."""
    _, _, tree = loans
    shown = tree._repr_mimebundle_()["text/html"]
    assert tree._repr_html_().endswith("</iframe></details>")
    assert "sk-top-container" in shown
    show(browser, tmp_path, shown)
    assert texts(browser, "details > summary")[-1] == "Fitted tree"
    with browser.frame():
        assert answer(browser) in tree.classes_
        assert browser.run("document.querySelectorAll('#tree li').length") == 7
    assert "iframe" not in estimator_html_repr(tree)
    assert "iframe" not in estimator_html_repr(make_pipeline(StandardScaler(), tree))
    assert "iframe" not in OptimalTreeClassifier()._repr_mimebundle_()["text/html"]
    with config_context(display="text"):
        assert list(tree._repr_mimebundle_()) == ["text/plain"]


def test_size(loans):
    X, y, tree = loans
    assert len(export_html(tree).encode()) < 100_000
    assert not re.search("(src|href)=", export_html(tree, X, y))


def test_text_cannot_become_markup():
    odd = "</script><script>alert(1)</script><!-- "
    tree = GreedyTreeClassifier().fit([[odd], ["b"], ["c"]], [odd, "x", "y"])
    page = export_html(tree, [[odd]], [odd], feature_names=[odd], title=odd)
    assert page.count("<script") == 2
    assert page.count("</script") == 2
    assert "alert(1)</title>" not in page
    assert data_of(page)["classes"][0] == odd


@given(seeds)
@examples(20)
def test_rows_are_encoded_as_in_fit(seed):
    rng = np.random.default_rng(seed)
    model = model_of(random_tree(rng))
    rows = random_rows(rng, 20)
    data = data_of(export_html(model, rows))
    predictor = RowPredictor(model)
    for row, encoded in zip(rows, data["rows"], strict=True):
        assert encoded == [predictor._encode(j, row[j]) for j in data["tested"]]


def test_wrong_input(loans):
    X, y, tree = loans
    with pytest.raises(ValueError, match="y needs X"):
        export_html(tree, y=y)
    with pytest.raises(ValueError, match="y must have one value for each of the 400 rows"):
        export_html(tree, X, y[:3])
    with pytest.raises(ValueError, match="feature names should match"):
        export_html(tree, X[X.columns[::-1]])
