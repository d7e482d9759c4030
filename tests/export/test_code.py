"""Exported code is run, and answers as predict does."""

import ctypes
import json
import math
import shutil
import sqlite3
import subprocess
from contextlib import closing

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sktree_opt.datasets import load_loans
from sktree_opt.export import export_code
from sktree_opt.greedy import GreedyTreeClassifier, GreedyTreeRegressor
from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from sktree_opt.tree import Tree
from sktree_opt.tree._node import NODE_DTYPE
from tests.tree.random_tree import COLUMNS, NUMERIC_COLUMNS, model_of, random_rows, random_tree

seeds = st.integers(0, 2**32 - 1)
COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [9.0, 1.0, 0.0]])
# A C library stays loaded, so each has a name of its own.
COMPILED = iter(range(10**6))


def as_dicts(rows, columns):
    """Rows as plain dicts; None where a value is missing."""
    names = [column["name"] for column in columns]
    return [
        {name: None if v is None or v != v else v for name, v in zip(names, row, strict=True)}
        for row in rows
    ]


def run_python(model, rows, columns, folder):
    module = {}
    exec(compile(export_code(model), "tree.py", "exec"), module)
    answers = [module["predict"](row) for row in rows]
    proba = [module["predict_proba"](row) for row in rows] if "CLASSES" in module else None
    # NaN and an absent key are missing values too.
    nan = float("nan")
    other = [{k: nan if v is None else v for k, v in row.items()} for row in rows]
    absent = [{k: v for k, v in row.items() if v is not None} for row in rows]
    assert answers == [module["predict"](row) for row in other]
    assert answers == [module["predict"](row) for row in absent]
    return answers, proba


def run_javascript(model, rows, columns, folder):
    if shutil.which("node") is None:
        pytest.skip("needs node")
    (folder / "tree.js").write_text(export_code(model, language="javascript"), "utf-8")
    (folder / "rows.json").write_text(json.dumps(rows), "utf-8")
    script = (
        "const tree = require('./tree.js'); const rows = require('./rows.json');"
        "const proba = tree.predict_proba ? rows.map(tree.predict_proba) : null;"
        "console.log(JSON.stringify([rows.map(tree.predict), proba]));"
    )
    done = subprocess.run(
        ["node", "-e", script], cwd=folder, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def run_c(model, rows, columns, folder):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    code = export_code(model, language="c")
    source, library = folder / "tree.c", folder / f"tree{next(COMPILED)}.so"
    source.write_text(code, "utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, "-o", library, source, "-lm"], check=True)
    tree = ctypes.CDLL(str(library))
    types = {"double ": ctypes.c_double, "const char *": ctypes.c_char_p}
    members = []
    for line in code.partition("typedef struct {\n")[2].partition("}")[0].splitlines():
        declaration, _, name = line.strip().partition(";  // ")
        if name:
            kind = next(kind for kind in types if declaration.startswith(kind))
            members.append((declaration.removeprefix(kind), types[kind], json.loads(name)))

    class Row(ctypes.Structure):
        _fields_ = [(member, kind) for member, kind, _ in members]

    def struct(row):
        made = Row()
        for member, kind, name in members:
            value = row[name]
            if kind is ctypes.c_char_p:
                setattr(made, member, None if value is None else str(value).encode())
            else:
                setattr(made, member, math.nan if value is None else float(value))
        return ctypes.byref(made)

    if not hasattr(model, "classes_"):
        tree.predict.restype = ctypes.c_double
        return [tree.predict(struct(row)) for row in rows], None
    answers = [model.classes_.tolist()[tree.predict(struct(row))] for row in rows]
    proba = []
    for row in rows:
        found = (ctypes.c_double * len(model.classes_))()
        tree.predict_proba(struct(row), found)
        proba.append(list(found))
    return answers, proba


def type_of(column):
    """A type that databases know."""
    values = column.get("categories", [0.5])
    if isinstance(values[0], bool):
        return "BOOLEAN"
    return {str: "VARCHAR", int: "INTEGER", float: "DOUBLE"}[type(values[0])]


def run_sql(connection, model, rows, columns):
    names = ['"' + column["name"].replace('"', '""') + '"' for column in columns]
    types = [f"{name} {type_of(column)}" for name, column in zip(names, columns, strict=True)]
    connection.execute(f"CREATE TABLE data (row_number INTEGER, {', '.join(types)})")
    marks = ", ".join("?" * (len(names) + 1))
    values = [(i, *row.values()) for i, row in enumerate(rows)]
    connection.executemany(f"INSERT INTO data VALUES ({marks})", values)
    cursor = connection.execute(export_code(model, language="sql"))
    titles = [column[0] for column in cursor.description]
    found = sorted(
        (dict(zip(titles, row, strict=True)) for row in cursor.fetchall()),
        key=lambda row: row["row_number"],
    )
    answers = [row["prediction"] for row in found]
    if not hasattr(model, "classes_"):
        return answers, None
    return answers, [[row[f"probability_{c}"] for c in model.classes_.tolist()] for row in found]


def run_sqlite(model, rows, columns, folder):
    with closing(sqlite3.connect(":memory:")) as connection:
        found = run_sql(connection, model, rows, columns)
    connection.close()
    return found


def run_duckdb(model, rows, columns, folder):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        return run_sql(connection, model, rows, columns)


RUNNERS = [run_python, run_javascript, run_c, run_sqlite, run_duckdb]
every_language = pytest.mark.parametrize("run", RUNNERS, ids=lambda run: run.__name__[4:])
few = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def check(run, model, rows, columns, folder):
    dicts = as_dicts(rows, columns)
    answers, proba = run(model, dicts, columns, folder)
    if hasattr(model, "classes_"):
        assert answers == model.predict(rows).tolist()
        np.testing.assert_allclose(proba, model.predict_proba(rows), atol=1e-12)
    else:
        np.testing.assert_allclose(answers, model.predict(rows), rtol=1e-12)


@every_language
@given(
    seeds,
    st.sampled_from([None, True, False]),
    st.sampled_from([None, COSTS]),
    st.booleans(),
    st.sampled_from([0, 1, 4]),
)
@few
def test_classifiers(run, tmp_path, seed, by_weight, costs, smooth, depth):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, max_depth=depth, by_weight=by_weight)
    check(run, model_of(tree, costs=costs, smooth=smooth), random_rows(rng, 60), COLUMNS, tmp_path)


@every_language
@given(seeds, st.sampled_from([None, True, False]))
@few
def test_regressors(run, tmp_path, seed, by_weight):
    rng = np.random.default_rng(seed)
    model = model_of(random_tree(rng, is_classifier=False, by_weight=by_weight))
    check(run, model, random_rows(rng, 60), COLUMNS, tmp_path)


@every_language
@pytest.mark.parametrize(
    "labels", [["it's", 'a "b"', "c\\d"], [-1, 0, 1], [0.5, 1.0, 2.25]], ids=str
)
def test_labels(run, tmp_path, labels):
    rng = np.random.default_rng(1)
    model = model_of(random_tree(rng), labels=labels)
    check(run, model, random_rows(rng, 60), COLUMNS, tmp_path)


@every_language
@pytest.mark.parametrize("by_weight", [True, False])
def test_deep_trees(run, tmp_path, by_weight):
    """Deeper than parsers nest."""
    n = 70
    chain = chain_of(n, by_weight)
    rows = [[x + dx] for x in range(n + 1) for dx in (-0.5, 0.0, 0.5)] + [[None]]
    check(run, chain, np.array(rows, dtype=object), NUMERIC_COLUMNS[:1], tmp_path)


def chain_of(n, by_weight):
    """A tree that asks x <= 0, x <= 1, ... one after the other."""
    nodes = np.zeros(2 * n + 1, dtype=NODE_DTYPE)
    for name in ("missing_branch", "feature", "first_child", "category_start"):
        nodes[name] = -1
    nodes["threshold"] = np.nan
    for i in range(n):
        test = nodes[2 * i]
        test["kind"], test["feature"], test["threshold"] = 1, 0, i
        test["first_child"], test["n_children"] = 2 * i + 1, 2
        test["missing_branch"] = -1 if by_weight else i % 2
    depth = (np.arange(2 * n + 1) + 1) // 2
    nodes["weight"] = 2.0**-depth
    values = np.column_stack([np.arange(2 * n + 1) % 3 + 1.0, np.arange(2 * n + 1) % 5 + 1.0])
    tree = Tree(nodes, values, n_features=1, is_classifier=True)
    return model_of(tree, NUMERIC_COLUMNS[:1], labels=["no", "yes"])


@every_language
@pytest.mark.parametrize(
    "model",
    [
        GreedyTreeClassifier(),
        GreedyTreeClassifier(nominal_split="subset", max_depth=5, leaf_smoothing="laplace"),
        OptimalTreeClassifier(max_depth=2),
        OptimalTreeClassifier(max_depth=2, thresholds=5, objective="f1"),
        OptimalTreeClassifier(max_depth=2, thresholds=5, objective="balanced_error"),
    ],
    ids=str,
)
def test_fitted_classifiers(run, tmp_path, model):
    """Numbers, ordered and other categories, Booleans, holes; rows at each threshold."""
    pd = pytest.importorskip("pandas")
    X, y = load_loans(return_X_y=True, as_frame=True)
    if "objective='f1'" in str(model):
        y = (y == y.unique()[0]).astype(int)
    model = model.fit(X, y)
    rows = X.astype(object).where(X.notna(), None).head(60)
    rows = pd.concat([rows, rows_at_thresholds(model, rows)], ignore_index=True)
    expected, proba = model.predict(rows), model.predict_proba(rows)
    columns = [
        {"name": name, "categories": [0.5] if c is None else c.tolist()}
        for name, c in zip(X.columns, model._encoder.categories_, strict=True)
    ]
    found, shares = run(model, rows.to_dict("records"), columns, tmp_path)
    assert found == expected.tolist()
    np.testing.assert_allclose(shares, proba, atol=1e-12)


def rows_at_thresholds(model, rows):
    """The first row with each tested number on, just below and just above each threshold."""
    pd = pytest.importorskip("pandas")
    nodes, made = model.tree_.nodes, []
    for node in nodes[nodes["kind"] == 1]:
        if model._encoder.categories_[node["feature"]] is None:
            t = float(node["threshold"])
            for value in (t, np.nextafter(t, np.inf), np.nextafter(t, -np.inf)):
                row = rows.iloc[0].copy()
                row.iloc[node["feature"]] = float(value)
                made.append(row)
    return pd.DataFrame(made, columns=rows.columns)


@every_language
@pytest.mark.parametrize(
    "model", [GreedyTreeRegressor(max_depth=4), OptimalTreeRegressor(max_depth=2)]
)
def test_fitted_regressors(run, tmp_path, model):
    X, y = load_diabetes(return_X_y=True)
    model = model.fit(X, y)
    rows = X[:80].tolist()
    nodes = model.tree_.nodes
    for node in nodes[nodes["kind"] == 1]:
        for side in (-np.inf, np.inf):
            t = float(node["threshold"])
            rows += [[*X[0, : node["feature"]], value, *X[0, node["feature"] + 1 :]]
                     for value in (t, float(np.nextafter(t, side)))]  # fmt: skip
    columns = [{"name": f"x{j}"} for j in range(X.shape[1])]
    dicts = [dict(zip((c["name"] for c in columns), map(float, row), strict=True)) for row in rows]
    found, _ = run(model, dicts, columns, tmp_path)
    np.testing.assert_allclose(found, model.predict(np.array(rows)), rtol=1e-12)


def test_names():
    tree = OptimalTreeClassifier(max_depth=1).fit([[0.0], [1.0]] * 3, ["a", "b"] * 3)
    assert 'FROM "my ""own"" table"' in export_code(tree, language="sql", name='my "own" table')
    assert "def risk(row)" in export_code(tree, name="risk")
    assert 'row.get("größe")'.replace('"', "'") not in export_code(tree)
    assert "'größe'" in export_code(tree, feature_names=["größe"])
    with pytest.raises(ValueError, match="name must be an identifier, got 'a b'"):
        export_code(tree, name="a b")
    with pytest.raises(ValueError, match="'language' parameter of export_code must be"):
        export_code(tree, language="cobol")


def test_a_column_named_like_a_result():
    tree = OptimalTreeClassifier(max_depth=1).fit([[0.0], [1.0]] * 3, ["a", "b"] * 3)
    code = export_code(tree, language="sql", feature_names=["Tree_Leaf"])
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute('CREATE TABLE data ("Tree_Leaf" DOUBLE)')
        connection.execute("INSERT INTO data VALUES (0.0), (1.0)")
        assert [row[2] for row in connection.execute(code)] == ["a", "b"]
    connection.close()


def test_a_pipeline_stands_for_its_tree():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), OptimalTreeRegressor(max_depth=1)).fit(X, y)
    module = {}
    exec(export_code(model), module)
    row = dict(zip(X.columns, model[0].transform(X[:1])[0].tolist(), strict=True))
    assert module["predict"](row) == model.predict(X[:1])[0]


@pytest.mark.parametrize(
    ("columns", "language", "message"),
    [
        ([{"name": "x", "kind": "nominal", "categories": [(1, 2), (3, 4)]}], "python",
         "categories of column 'x' must be strings, finite numbers or Booleans, got \\(1, 2\\)"),
        ([{"name": "x", "kind": "nominal", "categories": [1, 2**60]}], "c", "too large"),
        ([{"name": "x", "kind": "nominal", "categories": [1, 2**60]}], "javascript", "too large"),
        ([{"name": "x", "kind": "nominal", "categories": ["a", "\0"]}], "sql", "NUL"),
        ([{"name": "x", "kind": "nominal", "categories": ["a", "\0"]}], "c", "NUL"),
    ],
)  # fmt: skip
def test_values_that_a_language_cannot_hold(columns, language, message):
    tree = random_tree(np.random.default_rng(5), COLUMNS[6:], max_depth=1)
    nodes = tree.nodes.copy()
    nodes["threshold"][0] = 0
    tree = Tree(nodes, tree.values, n_features=1, is_classifier=True)
    assert tree.n_nodes == 3
    assert nodes["kind"][0] == 1
    with pytest.raises(ValueError, match=message):
        export_code(model_of(tree, columns), language=language)


def test_numbers_are_not_strings():
    tree = OptimalTreeClassifier(max_depth=1).fit([[0.0], [1.0]] * 3, ["a", "b"] * 3)
    module = {}
    exec(export_code(tree), module)
    with pytest.raises(TypeError, match="Column 'x0' must hold numbers, got '1'"):
        module["predict"]({"x0": "1"})
