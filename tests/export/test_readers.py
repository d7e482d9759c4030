"""Tools that read scikit-learn's trees read ours through to_sklearn, and find the same answers."""

import json
import shutil

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.pipeline import Pipeline

from sktree_opt.datasets import load_loans
from sktree_opt.export import to_sklearn
from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.optimal import OptimalTreeClassifier, OptimalTreeRegressor

pd = pytest.importorskip("pandas")
# These tools warn of their own dependencies.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(
    scope="module",
    params=[
        OptimalTreeClassifier(max_depth=2),
        OptimalTreeClassifier(max_depth=2, objective="balanced_error"),
        GreedyTreeClassifier(max_depth=3),
    ],
    ids=str,
)
def mixed(request):
    """A tree on categories and holes: the estimator, and the tree and table of scikit-learn."""
    X, y = load_loans(return_X_y=True, as_frame=True)
    model = request.param.fit(X, y)
    pipeline = to_sklearn(model)
    return model, X, pipeline[-1], pipeline[:-1].transform(X).astype(np.float64)


def test_shap(mixed):
    shap = pytest.importorskip("shap")
    _, _, tree, matrix = mixed
    explainer = shap.TreeExplainer(tree)
    found = explainer.shap_values(matrix[:50], check_additivity=False)
    total = np.asarray(explainer.expected_value) + np.asarray(found).sum(axis=1)
    np.testing.assert_allclose(total, tree.predict_proba(matrix[:50]), atol=1e-6)


def test_skl2onnx():
    """Complete rows only: it sends missing values elsewhere, which is why there is to_onnx."""
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    X, y = load_breast_cancer(return_X_y=True)
    X = X.astype(np.float32)
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    text = skl2onnx.to_onnx(to_sklearn(model), X[:1], target_opset=17).SerializeToString()
    session = runtime.InferenceSession(text, providers=["CPUExecutionProvider"])
    label = session.run(None, {session.get_inputs()[0].name: X})[0]
    np.testing.assert_array_equal(label, model.predict(X))


def test_m2cgen():
    m2cgen = pytest.importorskip("m2cgen")
    X, y = load_breast_cancer(return_X_y=True)
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    module = {}
    exec(m2cgen.export_to_python(to_sklearn(model)), module)
    found = [int(np.argmax(module["score"](row))) for row in X.tolist()]
    assert found == model.predict(X).tolist()


def test_treelite():
    treelite = pytest.importorskip("treelite")
    from sklearn.ensemble import RandomForestRegressor

    X, y = load_diabetes(return_X_y=True)
    X = X.astype(np.float32)
    model = OptimalTreeRegressor(max_depth=2).fit(X, y)
    # It reads forests only.
    forest = RandomForestRegressor(n_estimators=1).fit(X[:5], y[:5])
    forest.estimators_ = [to_sklearn(model)]
    found = treelite.gtil.predict(treelite.sklearn.import_model(forest), X)
    np.testing.assert_allclose(np.ravel(found), model.predict(X), rtol=1e-5)


def test_dtreeviz():
    """Complete rows only: it refuses missing values."""
    dtreeviz = pytest.importorskip("dtreeviz")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    names = list(X.columns)
    view = dtreeviz.model(
        to_sklearn(model), X, y, feature_names=names, target_name="y", class_names=["no", "yes"]
    )
    assert len(view.shadow_tree.leaves) == model.get_n_leaves()
    assert view.explain_prediction_path(X.to_numpy()[0])


def test_supertree(tmp_path):
    supertree = pytest.importorskip("supertree")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    view = supertree.SuperTree(to_sklearn(model), X, y, list(X.columns), ["no", "yes"])
    view.save_json_tree(str(tmp_path / "tree"))
    root = json.loads((tmp_path / "tree.json").read_text())["node_data"]

    def answer(row):
        node = root
        while not node["is_leaf"]:
            goes_left = np.float32(row[node["feature"]]) <= node["threshold"]
            node = node["left_node" if goes_left else "right_node"]
        return node["treeclass"]

    found = [answer(row) == "yes" for row in X.to_numpy()]
    np.testing.assert_array_equal(found, model.predict(X))


def test_pmml(mixed, tmp_path):
    """Columns as the pipeline encodes them, without holes: nyoka does not say where those go."""
    nyoka, pmml = pytest.importorskip("nyoka"), pytest.importorskip("jpmml_evaluator")
    if shutil.which("java") is None:
        pytest.skip("the evaluator of PMML needs Java")
    model, X, tree, matrix = mixed
    names = [f"x{j}" for j in range(matrix.shape[1])]
    path = tmp_path / "tree.pmml"
    nyoka.skl_to_pmml(Pipeline([("tree", tree)]), names, "y", str(path))
    table = pd.DataFrame(np.asarray(matrix), columns=names)
    is_whole = table.notna().all(axis=1)
    found = pmml.make_evaluator(str(path)).verify().evaluateAll(table[is_whole])
    assert is_whole.sum() > 100
    assert found["y"].tolist() == model.predict(X)[is_whole].tolist()
    shares = found[[f"probability_{label}" for label in model.classes_]]
    np.testing.assert_allclose(shares, tree.predict_proba(matrix)[is_whole], atol=1e-9)


@pytest.mark.parametrize("convert", [to_sklearn, lambda model: model], ids=["to_sklearn", "own"])
def test_mlflow(mixed, tmp_path, convert):
    """Saved and loaded, it answers raw rows with categories and holes."""
    mlflow = pytest.importorskip("mlflow.sklearn")
    from mlflow import pyfunc

    model, X, *_ = mixed
    folder = str(tmp_path / "model")
    # A list of requirements keeps mlflow from running the model elsewhere to find them out.
    options = {"serialization_format": "cloudpickle", "pip_requirements": ["sktree-opt"]}
    mlflow.save_model(convert(model), folder, **options)
    np.testing.assert_array_equal(pyfunc.load_model(folder).predict(X), model.predict(X))


def test_what_they_read_answers_as_we_do(mixed):
    model, X, tree, matrix = mixed
    np.testing.assert_array_equal(tree.predict(matrix), model.predict(X))
