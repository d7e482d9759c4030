"""Benchmarks run: on small tables of the shape of the real ones, for a few seconds each."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

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


@long_test
def test_tables_of_the_paper(small_data):
    sets = ["Hypo", "Ionosphere", "Soybean", "Anneal", "Sonar"]
    options = ["--quick", "--folds", 1, "--jobs", 1, "--time-limit", 1, "--datasets", *sets]
    printed = run(small_data, "papers.py", "--paper", "001", "--tables", *range(1, 9), *options)
    for number in range(1, 9):
        assert f"table {number}:" in printed
    assert printed.count("Sonar") >= 8


@long_test
@pytest.mark.parametrize("number", [4, 5, 6, 7, 8])
def test_figures_of_the_paper(small_data, tmp_path, number):
    options = ["--quick", "--folds", 2, "--jobs", 1, "--time-limit", 1, "--leaf-weights", 8]
    options += ["--output", tmp_path]
    run(small_data, "papers.py", "--paper", "001", "--figure", number, *options)
    assert (tmp_path / f"ruggieri2019_figure{number}.png").stat().st_size > 1000


PAPERS = [
    ("000", "table", 1),
    ("000", "figure", 4),
    ("000", "figure", 5),
    *[("002", "figure", number) for number in (5, 6, 7, 8, 11, 13)],
    *[("003", "figure", number) for number in (7, 9, 10, 11)],
    ("004", "table", 4),
    ("004", "figure", 2),
    ("004", "figure", 3),
]


@pytest.mark.parametrize(
    "asked",
    [PAPERS[5], *(pytest.param(asked, marks=long_test) for asked in PAPERS)],
    ids=lambda asked: "-".join(map(str, asked)),
)
def test_every_table_and_figure_has_a_command(small_data, tmp_path, asked):
    paper, kind, number = asked
    options = ["--quick", "--folds", 2, "--time-limit", 1, "--output", tmp_path]
    sets = {"000": ["sonar"], "003": ["small", "absent"], "004": ["small", "absent"]}.get(paper)
    options += ["--sets", *sets] if sets else []
    printed = run(small_data, "papers.py", "--paper", paper, f"--{kind}", number, *options)
    assert printed.startswith(f"paper {paper}, {kind} {number}: ")
    assert ("missing sets" in printed) == (paper in ("003", "004"))


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
    assert result["loss"] >= 0.0


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
    assert looks.count("errors") == 4
