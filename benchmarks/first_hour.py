"""The first hour with the package: ten tasks, each as the user guide tells them, with its seconds.

    python benchmarks/first_hour.py
    python benchmarks/first_hour.py --tasks 1 4 --rows 20000

Every task ends with a check of what it made. No step needs anything that the guide does not say.
`--rows` is the size of the table of the last task. Seconds are wall time.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import joblib
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from first_looks import make_table
from sktree_opt import (
    AcceptableSubsetSelector,
    DTsbeSelector,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressorCV,
    RowPredictor,
    counterfactual,
    explain,
    export_code,
    export_html,
    export_rules,
    export_text,
    load_loans,
    plot_tree,
    to_json,
)

X, y = load_loans(return_X_y=True, as_frame=True)


def best_tree(folder, options):
    """The best tree of a raw table, with its picture, rules and accuracy."""
    tree = OptimalTreeClassifier(max_depth=3).fit(X, y)
    plot_tree(tree)
    plt.savefig(folder / "tree.png")
    rules = export_rules(tree, output="text")
    accuracy = cross_val_score(tree, X, y).mean()
    assert rules.count("then") == tree.get_n_leaves()
    return f"{tree.status_}, {tree.objective_:g} errors, accuracy {accuracy:.3f}"


def chosen_depth(folder, options):
    """Depth and size, chosen by cross-validation."""
    tree = OptimalTreeClassifierCV().fit(X, y)
    assert tree.best_score_ > 0.5
    return f"{tree.best_params_}, score {tree.best_score_:.3f}"


def grid_search(folder, options):
    """A pipeline with columns prepared by scikit-learn, tuned by GridSearchCV."""
    columns = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    model = make_pipeline(columns, OptimalTreeClassifier())
    grid = {"optimaltreeclassifier__max_depth": [1, 2, 3]}
    search = GridSearchCV(model, grid).fit(X, y)
    assert "rating" in export_text(search)
    return f"{search.best_params_}, score {search.best_score_:.3f}"


def saved_and_served(folder, options):
    """A tree saved, loaded in another process, and asked about one row."""
    tree = OptimalTreeClassifier(max_depth=3).fit(X, y)
    joblib.dump(tree, folder / "tree.joblib")
    (folder / "tree.json").write_text(to_json(tree), encoding="utf-8")
    X.iloc[:1].to_pickle(folder / "row.pkl")
    script = (
        "import joblib, pandas, pathlib, sys\n"
        "from sktree_opt import RowPredictor, from_json\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "row = pandas.read_pickle(folder / 'row.pkl')\n"
        "tree = joblib.load(folder / 'tree.joblib')\n"
        "same = from_json((folder / 'tree.json').read_text(encoding='utf-8'))\n"
        "predict = RowPredictor(tree)\n"
        "assert predict(row.iloc[0].to_dict()) == same.predict(row)[0] == tree.predict(row)[0]\n"
    )
    subprocess.run([sys.executable, "-c", script, str(folder)], check=True)
    predict, row = RowPredictor(tree), X.iloc[0].to_dict()
    start = time.perf_counter()
    for _ in range(1000):
        predict(row)
    return f"{(time.perf_counter() - start) * 1e3:.1f} microseconds a row"


def exported(folder, options):
    """The tree as SQL, Python, JavaScript, C and a page."""
    tree = OptimalTreeClassifier(max_depth=3).fit(X, y)
    for language in ("sql", "python", "javascript", "c"):
        (folder / f"tree.{language}").write_text(export_code(tree, language=language))
    page = export_html(tree, X, y)
    (folder / "tree.html").write_text(page, encoding="utf-8")
    scope = {}
    exec((folder / "tree.python").read_text(), scope)
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    assert [scope["predict"](row) for row in rows] == tree.predict(X).tolist()
    return f"a page of {len(page) / 1000:.0f} kB, four programs"


def explained(folder, options):
    """One answer explained, and the smallest change that gives another."""
    tree = OptimalTreeClassifier(max_depth=3).fit(X, y)
    row = X.iloc[0].to_dict()
    assert "answer" in str(explain(tree, row))
    change = counterfactual(tree, row)
    return f"{change.prediction} with {len(change.changes)} change"


def before_a_forest(folder, options):
    """Features selected before a forest, with groups of rows and weights."""
    groups, weights = np.arange(len(y)) // 2, np.linspace(0.5, 1.5, len(y))
    selector = DTsbeSelector(random_state=0).fit(X, y, sample_weight=weights, groups=groups)
    kept = selector.set_output(transform="pandas").transform(X)
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        remainder=SimpleImputer(),
    )
    forest = make_pipeline(encode, RandomForestClassifier(random_state=0))
    return (
        f"{kept.shape[1]} of {X.shape[1]} features, {cross_val_score(forest, kept, y).mean():.3f}"
    )


def near_best(folder, options):
    """All trees of feature subsets that are nearly as good as the best one."""
    selector = AcceptableSubsetSelector(delta=0.02, collect=True, random_state=0).fit(X, y)
    found = selector.acceptable_subsets_
    assert found
    return f"{len(found)} trees, {selector.status_}"


def regression(folder, options):
    """A regression tree whose depth is chosen by cross-validation."""
    data = load_diabetes(as_frame=True)
    tree = OptimalTreeRegressorCV().fit(data.data, data.target)
    return f"{tree.best_params_}, R2 {tree.best_score_:.3f}"


def large_table(folder, options):
    """A large table with a time limit, and a bar that shows the progress if rich is there."""
    table, labels = make_table(options.rows, 30)
    tree = OptimalTreeClassifier(max_depth=3, thresholds="ensemble", time_limit=120)
    try:
        from sklearn.callback import ProgressBar

        tree.set_callbacks(ProgressBar())
    except ImportError:
        print("   (no progress bar: pip install 'sktree-opt[progress]')")
    tree.fit(table, labels)
    return f"{tree.status_}, {tree.objective_:g} errors of {len(labels)}"


TASKS = [
    best_tree,
    chosen_depth,
    grid_search,
    saved_and_served,
    exported,
    explained,
    before_a_forest,
    near_best,
    regression,
    large_table,
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", type=int, default=range(1, len(TASKS) + 1))
    parser.add_argument("--rows", type=int, default=200_000, help="of the last task")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for number in options.tasks:
            task, start = TASKS[number - 1], time.perf_counter()
            result = task(Path(folder), options)
            seconds = time.perf_counter() - start
            print(f"{number:2d}  {seconds:6.2f} s  {task.__doc__}\n   {result}", flush=True)


if __name__ == "__main__":
    main()
