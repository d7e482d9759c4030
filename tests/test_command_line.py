"""The command line, as somebody without a program meets it."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import sktree_opt
from sktree_opt import OptimalTreeClassifier, from_json, load_loans
from sktree_opt.__main__ import ProgressLine, main, make_parser
from tests.export.chromium import Browser

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    X, y = load_loans(return_X_y=True, as_frame=True)
    path = tmp_path_factory.mktemp("loans") / "loans.csv"
    X.assign(status=y).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def model(loans):
    path = loans.parent / "loans.json"
    fit = ["fit", str(loans), "--target", "status", "--max-depth", "2", "--cv", "0"]
    assert main([*fit, "--out", str(path)]) == 0
    return path


def test_fit_prints_the_tree_its_proof_and_its_accuracy(loans, tmp_path, capsys):
    page = tmp_path / "loans.html"
    options = ["--max-depth", "2", "--cv", "3", "--html", str(page), "--report"]
    assert main(["fit", str(loans), "--target", "status", *options]) == 0
    out, err = capsys.readouterr()
    table = pandas.read_csv(loans)
    tree = OptimalTreeClassifier(max_depth=2).fit(table.drop(columns="status"), table["status"])
    assert f"objective below {tree.objective_:.6g}." in out
    assert "Accuracy on new rows by 3-fold cross-validation" in out
    assert '\nRules:\n  if rating = "poor" and employment = "retired" then repaid (34 rows' in out
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert f"Wrote {page}." in err


def test_predictions_are_those_of_the_model(loans, model, tmp_path, capsys):
    answers = tmp_path / "answers.csv"
    capsys.readouterr()
    assert main(["predict", str(model), str(loans), "--proba", "--out", str(answers)]) == 0
    rows = list(csv.reader(io.StringIO(answers.read_text("utf-8"))))
    tree, table = from_json(model.read_text("utf-8")), pandas.read_csv(loans)
    X = table.drop(columns="status")
    assert rows[0] == ["prediction", *(f"probability of {label}" for label in tree.classes_)]
    assert [row[0] for row in rows[1:]] == tree.predict(X).tolist()
    np.testing.assert_array_equal(
        [[float(cell) for cell in row[1:]] for row in rows[1:]], tree.predict_proba(X)
    )
    # Columns may come in another order, and others beside them.
    table[sorted(table.columns)].to_csv(tmp_path / "new.csv", index=False)
    assert main(["predict", str(model), str(tmp_path / "new.csv")]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1:] == tree.predict(X).tolist()


def test_predictions_as_parquet(loans, model, tmp_path):
    pytest.importorskip("pyarrow")
    paths = [tmp_path / f"answers.{kind}" for kind in ("csv", "parquet")]
    for path in paths:
        assert main(["predict", str(model), str(loans), "--proba", "--out", str(path)]) == 0
    tables = pandas.read_csv(paths[0]), pandas.read_parquet(paths[1])
    pandas.testing.assert_frame_equal(*tables, check_dtype=False)


def test_few_rows_are_not_cross_validated(tmp_path, capsys):
    (tmp_path / "few.csv").write_text("a,y\n1,0\n2,1\n")
    assert main(["fit", str(tmp_path / "few.csv"), "--target", "y"]) == 0
    assert "No cross-validation: 2 rows are too few for 5 folds." in capsys.readouterr().out


def test_one_row_is_explained(loans, model, capsys):
    assert main(["explain", str(model), str(loans), "--row", "3", "--change"]) == 0
    out = capsys.readouterr().out
    tree = from_json(model.read_text("utf-8"))
    answer = tree.predict(pandas.read_csv(loans).drop(columns="status").iloc[3:4])[0]
    assert str(answer) in out.splitlines()[0]
    assert main(["explain", str(model), str(loans), "--row", "10000000"]) == 1
    assert "--row must be between 0 and" in capsys.readouterr().err


def test_features_are_selected(loans, tmp_path, capsys):
    out = tmp_path / "selected.csv"
    command = ["select", str(loans), "--target", "status", "--out", str(out)]
    assert main(command) == 0
    printed = capsys.readouterr().out
    kept = pandas.read_csv(out).columns.tolist()
    assert kept[-1] == "status"
    assert f"features: {', '.join(kept[:-1])}\n" in printed
    command = ["select", str(loans), "--target", "months", "--drop", "status"]
    command += ["--task", "regression"]
    assert main(command) == 0
    assert "\nMean squared error on the rows held back: " in capsys.readouterr().out


def test_distinct_trees_are_counted(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 3))
    table = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(y=X[:, 0] ^ X[:, 1])
    table.to_csv(tmp_path / "xor.csv", index=False)
    assert main(["enumerate", str(tmp_path / "xor.csv"), "--target", "y", "--show", "1"]) == 0
    first, second, best = capsys.readouterr().out.splitlines()
    assert first.endswith(" distinct trees over 3 features.")
    assert "rows held back" in second
    assert best == "  error 0: a, b"


def test_numbers_are_regressed_on_and_parquet_is_read(tmp_path, capsys, monkeypatch):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    table = pandas.DataFrame({"x": rng.normal(size=60), "kind": rng.choice(["a", "b"], 60)})
    table["y"] = np.where(table["kind"] == "a", table["x"], 3.0)
    table.assign(long="text", id=range(60)).set_index("id").to_parquet(tmp_path / "table.parquet")
    out = tmp_path / "tree.json"
    command = ["fit", str(tmp_path / "table.parquet"), "--target", "y", "--out", str(out)]
    asked, read = [], pandas.read_parquet

    def noted(path, columns):
        asked.append(columns)
        return read(path, columns=columns)

    monkeypatch.setattr(pandas, "read_parquet", noted)
    assert main([*command, "--max-depth", "2", "--thresholds", "5", "--drop", "long"]) == 0
    assert "R2 on new rows" in capsys.readouterr().out
    assert not json.loads(out.read_text("utf-8"))["tree"]["is_classifier"]
    assert main(["predict", str(out), command[1]]) == 0
    # Columns that nobody needs are not read.
    assert asked == [["x", "kind", "y"], ["x", "kind"]]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["fit", "{loans}", "--target", "nobody"], "--target: there is no column 'nobody'"),
        (["fit", "{loans}", "--target", "status", "--drop", "x,y"], "--drop: there is no column"),
        (["fit", "{folder}/absent.csv", "--target", "y"], "does not exist."),
        (["fit", "{folder}/empty.csv", "--target", "y"], "cannot be read"),
        (["fit", "{folder}/page.pdf", "--target", "y"], "is not a .csv, .tsv or .parquet file."),
        (["fit", "{loans}", "--target", "status", "--max-depth", "-1"], "max_depth"),
        (["fit", "{loans}", "--target", "status", "--task", "regression"], "does not hold numbers"),
        (["fit", "{folder}/latin.csv", "--target", "y"], "save it in UTF-8"),
        (["fit", "{folder}/short.csv", "--target", "b"], "has no row with a value of 'b'"),
        (["fit", "{loans}", "--target", "status", "--out", "{folder}/no/m.json"], "no folder"),
        (["fit", "{loans}", "--target", "status", "--html", "{folder}"], "it is a folder"),
        (["fit", "{loans}", "--target", "status", "--cv", "1"], "--cv must be 0 or at least 2"),
        (["fit", "{loans}", "--target", "status", "--weight", "rating"], "not hold numbers"),
        (["fit", "{loans}", "--target", "status", "--pos-label", "bad"], "has default, repaid."),
        (["fit", "{loans}", "--target", "amount", "--pos-label", "1"], "has no classes"),
        (["fit", "{folder}", "--target", "y"], "is not a .csv, .tsv or .parquet file."),
        (["fit", "{folder}/semicolons.csv", "--target", "y"], "separate columns by commas"),
        (["fit", "{folder}/ragged.csv", "--target", "y"], "cannot be read"),
        (["fit", "{folder}/no.parquet", "--target", "y"], "cannot be read"),
        (["predict", "{folder}/no.json", "{loans}"], "No such file or directory."),
        (["predict", "{loans}", "{loans}"], "does not hold a tree"),
        (["predict", "{model}", "{folder}/short.csv"], "lacks the columns"),
    ],
)
def test_bad_input_gets_one_line(command, message, loans, model, tmp_path, capsys):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "page.pdf").write_text("%PDF")
    (tmp_path / "short.csv").write_text("a,b\n1,\n")
    (tmp_path / "semicolons.csv").write_text("a;y\n1,5;2\n")
    (tmp_path / "ragged.csv").write_text("a,y\n1,2\n1,2,3\n")
    (tmp_path / "no.parquet").write_text("a,y\n1,2\n")
    (tmp_path / "latin.csv").write_bytes("ä,y\n1,2\n".encode("latin-1"))
    places = {"loans": loans, "model": model, "folder": tmp_path}
    capsys.readouterr()
    assert main([part.format(**places) for part in command]) == 1
    out, err = capsys.readouterr()
    assert message in err
    # Rows without a target are told on a line of their own.
    assert err.count("\n") == 1 + ("are left out" in err)
    assert out == ""


def test_a_note_is_printed_once(tmp_path, capsys):
    """Each fold of the cross-validation warns of the same column."""
    X, y = load_loans(return_X_y=True, as_frame=True)
    X.assign(text=[f"t{k}" for k in range(400)], y=y).to_csv(tmp_path / "t.csv", index=False)
    fit = ["fit", str(tmp_path / "t.csv"), "--target", "y", "--max-depth", "1", "--thresholds", "2"]
    assert main(fit) == 0
    assert capsys.readouterr().err.count("note: ") == 1


def test_metrics_ask_for_a_class(loans, capsys):
    fit = ["fit", str(loans), "--target", "status", "--objective", "f1", "--max-depth", "1"]
    assert main([*fit, "--cv", "0"]) == 1
    assert "pos_label" in capsys.readouterr().err
    assert main([*fit, "--cv", "0", "--pos-label", "default"]) == 0
    assert "Proved" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["fit", "predict", "explain", "select", "enumerate"])
def test_help_shows_examples_that_parse(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    examples = [line[1:] for line in lines if line[:2] == ["sktree-opt", command]]
    assert examples
    for example in examples:
        assert make_parser().parse_args(example).data


@pytest.mark.skipif(sys.platform == "win32", reason="terminals are opened otherwise")
def test_a_process_in_a_terminal(loans, tmp_path):
    """A line of progress, a model that another process uses, a page that a browser shows."""
    folder = Path(sktree_opt.__file__).parents[1]
    tree, page = str(tmp_path / "tree.json"), tmp_path / "tree.html"

    def run(*arguments, **options):
        command = [sys.executable, "-m", "sktree_opt", *map(str, arguments)]
        env = os.environ | {"PYTHONPATH": str(folder)}
        options = {"stderr": subprocess.PIPE} | options
        return subprocess.run(
            command, stdout=subprocess.PIPE, text=True, env=env, timeout=300, check=False, **options
        )

    terminal, end = os.openpty()
    fit = ["fit", loans, "--target", "status", "--max-depth", "2", "--cv", "0"]
    done = run(*fit, "--out", tree, "--html", page, stderr=end)
    os.close(end)
    shown = os.read(terminal, 1 << 16).decode()
    os.close(terminal)
    assert done.returncode == 0
    assert "Proved in " in done.stdout
    assert "\r\033[K" in shown
    assert " s  depth" in shown
    X, _ = load_loans(return_X_y=True, as_frame=True)
    predicted = run("predict", tree, loans).stdout.split()
    assert predicted == ["prediction", *from_json(Path(tree).read_text("utf-8")).predict(X)]
    browser = Browser()
    browser.open(page)
    assert browser.run("document.querySelector('#node-0').textContent").startswith("rating")
    assert browser.errors == []
    browser.close()


def test_usage_errors_and_help(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["fit"])
    assert ended.value.code == 2
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "exit codes:" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise")
def test_ctrl_c_keeps_the_best_tree(tmp_path, capsys, monkeypatch):
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(rng.integers(0, 2, (3000, 60))).add_prefix("x")
    table.assign(y=rng.integers(0, 2, 3000)).to_csv(tmp_path / "noise.csv", index=False)
    command = ["fit", str(tmp_path / "noise.csv"), "--target", "y", "--max-depth", "7"]
    command += ["--time-limit", "600", "--n-jobs", "1", "--out", str(tmp_path / "tree.json")]
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    monkeypatch.setattr(ProgressLine, "__enter__", lambda self: timer.start())
    assert main(command) == 130
    out, err = capsys.readouterr()
    assert "best tree found so far" in err
    assert "Not proved (stopped)" in out
    assert from_json((tmp_path / "tree.json").read_text("utf-8")).tree_.n_leaves > 1
