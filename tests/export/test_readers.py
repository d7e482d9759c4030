"""Tools that read scikit-learn's trees read ours through to_sklearn, and find the same answers."""

import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import Pipeline

from sktree_opt.datasets import load_loans
from sktree_opt.export import to_sklearn
from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from tests.effort import also_long

pd = pytest.importorskip("pandas")
# These tools warn of their own dependencies.
pytestmark = pytest.mark.filterwarnings("ignore")


class Case:
    """A tree on categories and holes, and what a reader gets: scikit-learn's tree and its table."""

    def __init__(self, model, fill):
        self.X, self.y = load_loans(return_X_y=True, as_frame=True)
        # A missing debt is like a large income: it goes left, which not every reader knows.
        self.X["debt"] = -self.X.pop("income")
        if fill:
            self.X["debt"] = self.X["debt"].fillna(self.X["debt"].median())
        if isinstance(model, OptimalTreeRegressor):
            self.y = self.X.pop("amount").to_numpy(dtype=float)
        self.model = model.fit(self.X, self.y)
        self.pipeline = to_sklearn(model)
        self.tree = self.pipeline[-1]
        self.matrix = self.pipeline[:-1].transform(self.X).astype(np.float32)
        self.names = [f"x{j}" for j in range(self.matrix.shape[1])]
        self.is_whole = ~np.isnan(self.matrix).any(axis=1)
        self.classes = list(getattr(model, "classes_", []))
        self.codes = np.searchsorted(self.classes, self.y) if self.classes else self.y

    def predicted(self, values):
        """Answers by what a reader gives: class probabilities or classes, or numbers."""
        values = np.asarray(values)
        if not self.classes:
            return np.ravel(values)
        codes = values.argmax(axis=1) if values.ndim > 1 else values.astype(int)
        return np.array(self.classes)[codes]

    def check(self, values, rows):
        """Compare with `predict`, and probabilities with those of the tree."""
        answers = self.model.predict(self.X[rows])
        if not self.classes:
            np.testing.assert_allclose(self.predicted(values), answers, rtol=1e-5)
            return
        np.testing.assert_array_equal(self.predicted(values), answers)
        if np.ndim(values) > 1:
            shares = self.tree.predict_proba(self.matrix[rows])
            np.testing.assert_allclose(values, shares, atol=1e-6)


MODELS = [
    OptimalTreeClassifier(max_depth=3),
    OptimalTreeClassifier(max_depth=3, objective="balanced_error"),
    OptimalTreeRegressor(max_depth=3),
    GreedyTreeClassifier(max_depth=3),
]


@pytest.fixture(scope="module", params=MODELS, ids=str)
def mixed(request):
    """Holes in categories and in a number."""
    return Case(request.param, fill=False)


@pytest.fixture(scope="module", params=MODELS, ids=str)
def filled(request):
    """Holes in categories only, because the number was imputed before fit."""
    return Case(request.param, fill=True)


def by_shap(case, rows):
    shap = pytest.importorskip("shap")
    explainer = shap.TreeExplainer(case.tree)
    parts = np.asarray(explainer.shap_values(case.matrix[rows], check_additivity=False))
    return np.asarray(explainer.expected_value) + parts.sum(axis=1)


def by_skl2onnx(case, rows):
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    matrix = case.matrix[rows]
    options = {"options": {"zipmap": False}} if case.classes else {}
    text = skl2onnx.to_onnx(case.tree, matrix[:1], target_opset=17, **options)
    session = runtime.InferenceSession(text.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: matrix})[-1]


def by_m2cgen(case, rows):
    m2cgen = pytest.importorskip("m2cgen")
    module = {}
    exec(m2cgen.export_to_python(case.tree), module)
    return np.array([module["score"](row) for row in case.matrix[rows].tolist()])


def by_treelite(case, rows):
    treelite = pytest.importorskip("treelite")
    # It reads forests only.
    make = RandomForestClassifier if case.classes else RandomForestRegressor
    forest = make(n_estimators=1).fit(np.nan_to_num(case.matrix), case.y)
    forest.estimators_ = [case.tree]
    found = treelite.gtil.predict(treelite.sklearn.import_model(forest), case.matrix[rows])
    return found.reshape(np.count_nonzero(rows), -1)


def by_supertree(case, rows):
    supertree = pytest.importorskip("supertree")
    target = case.classes or "target"
    view = supertree.SuperTree(case.tree, case.matrix, case.codes, case.names, target)
    with tempfile.TemporaryDirectory() as folder:
        view.save_json_tree(f"{folder}/tree")
        root = json.loads(Path(folder, "tree.json").read_text())["node_data"]

    def answer(row):
        node = root
        while not node["is_leaf"]:
            goes_left = row[node["feature"]] <= node["threshold"]
            node = node["left_node" if goes_left else "right_node"]
        if case.classes:
            return case.classes.index(node["treeclass"])
        return node["class_distribution"][0][0]

    return np.array([answer(row) for row in case.matrix[rows]])


def by_dtreeviz(case, rows):
    dtreeviz = pytest.importorskip("dtreeviz")
    seen = case.matrix[case.is_whole], case.codes[case.is_whole]
    view = dtreeviz.model(
        case.tree, *seen, feature_names=case.names, target_name="y", class_names=case.classes
    )
    assert view.explain_prediction_path(seen[0][0])
    return np.array([view.shadow_tree.predict(row) for row in case.matrix[rows]])


def by_nyoka(case, rows):
    """The answer of an evaluator of PMML."""
    nyoka, pmml = pytest.importorskip("nyoka"), pytest.importorskip("jpmml_evaluator")
    if shutil.which("java") is None:
        pytest.skip("the evaluator of PMML needs Java")
    table = pd.DataFrame(case.matrix[rows].astype(float), columns=case.names)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/tree.pmml"
        nyoka.skl_to_pmml(Pipeline([("tree", case.tree)]), case.names, "y", path)
        found = pmml.make_evaluator(path).verify().evaluateAll(table)
    shares = [f"probability_{label}" for label in case.classes]
    return found[shares].to_numpy() if shares else found.iloc[:, 0].to_numpy(dtype=float)


def by_mlflow(case, rows):
    """Saved and loaded, the pipeline answers raw rows."""
    mlflow = pytest.importorskip("mlflow.sklearn")
    from mlflow import pyfunc

    # A list of requirements keeps mlflow from running the model elsewhere to find them out.
    options = {"serialization_format": "cloudpickle", "pip_requirements": ["sktree-opt"]}
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for k, model in enumerate((case.pipeline, case.model)):
            mlflow.save_model(model, f"{folder}/{k}", **options)
            found.append(pyfunc.load_model(f"{folder}/{k}").predict(case.X[rows]))
    np.testing.assert_array_equal(*found)
    return np.searchsorted(case.classes, found[0]) if case.classes else found[0]


READ_HOLES = [by_shap, *also_long(by_treelite, by_mlflow)]
# These send a missing number right, or say nothing about it, or refuse it.
READ_NUMBERS = [by_dtreeviz, by_m2cgen, *also_long(by_skl2onnx, by_nyoka, by_supertree)]


@pytest.mark.parametrize("read", READ_HOLES)
def test_readers_that_know_holes(read, mixed):
    rows = np.full(len(mixed.X), True)
    mixed.check(read(mixed, rows), rows)


@pytest.mark.parametrize("read", READ_NUMBERS)
def test_readers_answer_rows_whose_numbers_are_known(read, mixed):
    assert 300 < np.count_nonzero(mixed.is_whole) < 400
    mixed.check(read(mixed, mixed.is_whole), mixed.is_whole)


@pytest.mark.parametrize("read", READ_NUMBERS)
def test_readers_answer_all_rows_after_imputation(read, filled):
    rows = np.full(len(filled.X), True)
    assert filled.is_whole.all()
    assert filled.X.isna().any().any()
    filled.check(read(filled, rows), rows)


def test_the_table_sends_holes_both_ways(mixed):
    """Otherwise the tests above say little."""
    X, tree = mixed.X, mixed.tree.tree_
    assert (X["debt"].isna() & X["rating"].isna()).any()
    if "balanced_error" in str(mixed.model):
        debt = tree.feature == np.flatnonzero(np.isnan(mixed.matrix).any(axis=0))[0]
        assert tree.missing_go_to_left[debt].any()
    np.testing.assert_array_equal(mixed.pipeline.predict(X), mixed.model.predict(X))
