"""Benchmarks run: on small tables of the shape of the real ones, for a few seconds each."""

import gzip
import importlib
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.utils import Bunch

from tests.effort import long_test

FOLDER = Path(__file__).parents[1] / "benchmarks"
COMPILER = os.environ.get("CXX", "c++")

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="needs a checkout of the project")

TASKS = ["complexity", "regression", "raw-regression"]
UCI = ["adult", "hypothyroid", "ionosphere", "soybean", "anneal_na_as_value", "sonar"]


@pytest.fixture(scope="module")
def small_data(tmp_path_factory):
    """A folder like that of the real sets, with stand-ins of them."""
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    for name in ("uci", "binary", "continuous"):
        (folder / name).mkdir()
    for name in UCI:
        table = pd.DataFrame(rng.normal(size=(90, 3)).round(1), columns=["a", "b", "c"])
        table["d"] = rng.choice(list("xyz"), 90)
        table["class"] = np.where(table["a"] + (table["d"] == "x") + rng.random(90) > 0.8, "p", "n")
        table.to_csv(folder / "uci" / f"{name}.csv", index=False)
    nominal = json.dumps({name: ["d"] for name in UCI})
    (folder / "uci" / "nominal_columns.json").write_text(nominal, "utf-8")
    bits = rng.integers(0, 2, (80, 9))
    numbers = np.column_stack([rng.integers(0, 2, 80), rng.normal(size=(80, 4))])
    for path, table in (("binary/small", bits), ("continuous/small", numbers)):
        with gzip.open(folder / f"{path}.txt.gz", "wt") as file:
            np.savetxt(file, table, fmt="%g")
    return folder


def run(small_data, script, *arguments):
    """What a benchmark prints."""
    done = subprocess.run(
        [sys.executable, FOLDER / script, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | {"SKTREE_OPT_DATA": str(small_data), "PYTHONPATH": str(FOLDER.parent)},
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# Tables and figures of each paper.
IN_PAPERS = {"000": (1, 5), "001": (8, 8), "002": (0, 13), "003": (0, 11), "004": (5, 3)}
COMMANDS = [
    (paper, kind, number)
    for paper, counts in IN_PAPERS.items()
    for kind, n in zip(("table", "figure"), counts, strict=True)
    for number in range(1, n + 1)
]
# Drawings and small programs; the others search.
CHEAP = [
    *[("001", "figure", number) for number in (1, 2, 3)],
    *[("002", "figure", number) for number in (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13)],
    *[("003", "figure", number) for number in (1, 2, 3, 4, 5, 6, 8)],
    ("004", "table", 4),
    ("004", "figure", 1),
]
SETS = {"000": ["Sonar", "absent"], "001": ["Sonar", "absent"]}


@pytest.fixture
def papers(small_data, monkeypatch):
    """``benchmarks/papers.py`` as a module, on the small sets and without a network."""
    monkeypatch.syspath_prepend(str(FOLDER))
    uci, sets = importlib.import_module("uci"), importlib.import_module("published.sets")

    def refuse(**_):
        raise URLError("no network")

    monkeypatch.setattr(uci, "FOLDER", small_data)
    monkeypatch.setattr(sets, "fetch_openml", refuse)
    monkeypatch.setattr(sets, "_failures", [])
    return importlib.import_module("papers")


@pytest.mark.parametrize(
    "asked",
    [pytest.param(asked, marks=() if asked in CHEAP else long_test) for asked in COMMANDS],
    ids=lambda asked: "-".join(map(str, asked)),
)
def test_every_table_and_figure_has_a_command(papers, tmp_path, capsys, asked):
    paper, kind, number = asked
    options = ["--quick", "--folds", "2", "--time-limit", "1", "--jobs", "1", "--m", "8"]
    options += ["--sets", *SETS.get(paper, ["small", "absent"]), "--output", str(tmp_path)]
    papers.main(["--paper", paper, f"--{kind}", str(number), *options])
    printed = capsys.readouterr().out
    assert printed.startswith(f"paper {paper}, {kind} {number}: ")
    assert len(printed.splitlines()) > 2
    for path in tmp_path.iterdir():
        assert path.stat().st_size > 1000


def test_papers_have_what_they_have(papers):
    for name, counts in IN_PAPERS.items():
        module = papers.load_paper(name)
        assert (list(module.TABLES), list(module.FIGURES)) == tuple(
            list(range(1, n + 1)) for n in counts
        )


def test_numbers_of_a_paper_agree_with_its_counts(papers):
    """Below its tables the paper counts the sets on which a method is best, or like the best."""
    common = importlib.import_module("published.common")
    forests = ("RF", "DTsbe+RF")
    n_counted = 0
    for section in ("table 2 error", "table 3 error", "table 6 error", "table 8 error"):
        rows = dict(common.numbers("jmlr2019", section))
        wins = rows.pop("wins")
        best = dict.fromkeys(wins, 0)
        for cells in rows.values():
            for group in (forests, tuple(name for name in cells if name not in forests)):
                plain = [name for name in group if "*" not in cells.get(name, "-*")]
                plain = [name for name in plain if cells[name] != "-"]
                if plain:
                    best[min(plain, key=lambda name: common.mean_of(cells[name])[0])] += 1
        for name, cell in wins.items():
            stars = sum("*" in cells[name] for cells in rows.values())
            n_counted += 1
            assert f"{best[name]}/{stars}" == cell, (section, name)
    assert n_counted == 15


def test_sets_from_openml(papers, capsys, monkeypatch):
    sets = importlib.import_module("published.sets")
    with pytest.raises(sets.MissingSetError, match=r"set 28 of OpenML could not .* kept in "):
        sets.fetch("Optdigits")
    # No other set is tried after that.
    monkeypatch.setattr(sets, "fetch_openml", None)
    with pytest.raises(sets.MissingSetError, match="no network"):
        sets.fetch("Isolet")
    with pytest.raises(sets.MissingSetError, match="no copy that we know"):
        sets.fetch("P53mutants")
    # A number that OpenML does not know says nothing of the others.
    monkeypatch.setattr(sets, "_failures", [])
    monkeypatch.setattr(sets, "fetch_openml", lambda **_: int("unknown"))
    with pytest.raises(sets.MissingSetError, match="ValueError"):
        sets.fetch("Isolet")
    assert not sets._failures
    asked = {}

    def give(**options):
        asked.update(options)
        rows = np.arange(40)
        table = pd.DataFrame({"ID": rows, "a": rows / 7, "b": np.where(rows % 3, "x", "y")})
        table.loc[3, ["a", "b"]] = None
        target = pd.Series(rows // 20).astype("category")
        if options["data_id"] == 4136:
            return Bunch(data=csr_matrix(np.eye(40)), target=target)
        return Bunch(data=table, target=target)

    monkeypatch.setattr(sets, "fetch_openml", give)
    X, y = sets.load_raw("Clean2")
    assert list(X) == ["a", "b"]
    assert np.bincount(y).tolist() == [20, 20]
    assert asked["data_id"] == 1116
    assert asked["data_home"]
    assert "Clean2: 40 x 2 here, 6598 x 166 in the paper" in capsys.readouterr().out
    assert sets.load_raw("Dexter")[0].shape == (40, 40)
    bits, y = sets.load_binary("vehicle")
    assert set(np.unique(bits)) == {0, 1}
    assert np.bincount(y).tolist() == [20, 20]


@long_test
def test_times_of_subset_searches(small_data):
    options = ["--sets", "sonar", "--complete", 1, "--sequential", 1]
    printed = run(small_data, "bench_subset.py", *options)
    assert "DTsbe" in printed
    assert "optimal" in printed


@long_test
@pytest.mark.skipif(shutil.which(COMPILER) is None, reason="needs a C++ compiler")
def test_a_naive_program_selects_the_same(small_data):
    assert "naive" in run(small_data, "bench_subset.py", "--sets", "sonar", "adult", "--naive")


@pytest.mark.parametrize(
    "task",
    ["error", *(pytest.param(task, marks=long_test) for task in TASKS)],
)
def test_times_of_optimal_trees(small_data, task):
    options = ["--worker", "ours", "--sets", "small", "--task", task, "--depth", 3, "--limit", 5]
    cost = 0.01 if task == "complexity" else 0.0
    result = json.loads(run(small_data, "bench_optimal.py", *options, "--cost", cost))
    assert result["seconds"] > 0.0
    assert math.isfinite(result["loss"])


PEERS = {
    "greedy": [],
    "regression": [],
    "thresholds": ["pycontree"],
    "price": ["pystreed"],
    "any_depth": ["imodels", "numba", "gosdt"],
    "sets": [],
}


@pytest.mark.parametrize(
    "table",
    [pytest.param(table, marks=long_test if peers else ()) for table, peers in PEERS.items()],
)
@pytest.mark.filterwarnings("ignore")  # Peers warn of their own dependencies.
def test_tables_of_the_benchmark_page(monkeypatch, table):
    """Every table has as many cells as names of columns, and its peers agree on small data."""
    for peer in PEERS[table]:
        pytest.importorskip(peer)
    monkeypatch.syspath_prepend(str(FOLDER))
    page = importlib.import_module("page")
    assert set(page.TABLES) == set(PEERS)
    for name in ("CLASSES", "NUMBERS"):
        first = dict(list(getattr(page, name).items())[:1])
        monkeypatch.setattr(page, name, first)
    header, lines = page.TABLES[table]
    for line in lines(10.0):
        assert len(line) == len(header)
        assert "other objective" not in line


@long_test
def test_what_each_technique_is_worth(tmp_path):
    printed = run(tmp_path, "ablation.py", "--quick", "--workloads", 1)
    for search in ("bits", "thresholds", "tree sets", "backward elimination", "best subset"):
        assert search in printed
    assert "DIFFERENT" not in printed


@long_test
def test_speed_and_memory_of_two_versions_are_compared(tmp_path):
    # The ratios of such short fits are left to chance, and so is the exit code.
    done = subprocess.run(
        [sys.executable, FOLDER / "guard.py", "--quick", "--rounds", "1"]
        + ["--base-folder", FOLDER.parent, "--head-folder", FOLDER.parent],
        capture_output=True,
        text=True,
        env=os.environ | {"SKTREE_OPT_DATA": str(tmp_path)},
        check=False,
        timeout=300,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert not done.stderr
    table = [line.split() for line in done.stdout.splitlines()[2:]]
    assert len(table) == 11
    assert "different" not in done.stdout


def test_the_first_hour(tmp_path):
    printed = run(tmp_path, "first_hour.py", "--rows", 2000, "--tasks", 1, 5, 6, 8)
    assert printed.count(" s  ") == 4
    assert "four programs" in printed


@long_test
def test_the_whole_first_hour(tmp_path):
    assert run(tmp_path, "first_hour.py", "--rows", 5000).count(" s  ") == 10


@long_test
def test_smoothed_probabilities(small_data):
    options = ["--sets", "ionosphere", "--depth", 2, "--time-limit", 5]
    printed = run(small_data, "smoothing.py", *options)
    assert printed.count("shrunk") == 4
    looks = run(small_data, "first_looks.py", "--rows", 500, "--columns", 5, "--time-limit", 5)
    assert looks.count("errors") == 6
