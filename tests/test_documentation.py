"""Pages of the documentation agree with each other and with the code."""

import ast
import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sktree_opt.optimal.bits import _bit_engine
from sktree_opt.optimal.thresholds import _threshold_search

ROOT = Path(__file__).parents[1]
DOC = ROOT / "doc"

pytestmark = pytest.mark.skipif(not DOC.exists(), reason="needs a checkout of the project")


def glossary_terms():
    """Each term of the glossary."""
    page = (DOC / "glossary.rst").read_text("utf-8")
    listing = page.split(".. glossary::")[1].split("\nWords to avoid")[0]
    return re.findall(r"^   (\w[^:\n]*)$", listing, re.MULTILINE)


def test_the_glossary_has_about_thirty_terms():
    assert 25 <= len(glossary_terms()) == len(set(glossary_terms())) <= 40


@pytest.mark.parametrize("term", glossary_terms() if DOC.exists() else [])
def test_terms_of_the_glossary_are_used_in_the_guide(term):
    text = " ".join(page.read_text("utf-8") for page in (DOC / "user_guide").rglob("*.rst"))
    words = re.escape(term).replace(r"\ ", r"[-\s]+")
    assert re.search(rf"\b{words}", text, re.IGNORECASE)


def test_words_to_avoid_have_no_entry():
    page = (DOC / "glossary.rst").read_text("utf-8").split("Words to avoid")[1]
    avoided = re.findall(r"^- \*(\w+)\*", page, re.MULTILINE)
    assert len(avoided) > 10
    assert not {word.lower() for word in glossary_terms()} & set(avoided)


def readme_blocks():
    """The Python example of README.md, and what README.md says it prints."""
    text = (ROOT / "README.md").read_text("utf-8")
    return re.search(r"```python\n(.*?)```\s+```\n(.*?)```", text, re.DOTALL).groups()


def test_readme_prints_what_its_example_prints(capsys):
    code, printed = readme_blocks()
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == printed


def test_pictures_show_what_the_code_finds_today():
    """`make figures` writes into each picture what it shows."""
    image = pytest.importorskip("PIL.Image")
    names = {}
    exec(compile(readme_blocks()[0], "README.md", "exec"), names)
    shown = {"tree": names["export_text"](names["tree"])}
    shown["speed"] = (DOC / "images" / "speed.csv").read_text("utf-8")
    for name, text in shown.items():
        with image.open(DOC / "images" / f"{name}.png") as picture:
            assert picture.text["Description"] == text


def test_front_page_shows_the_example_of_readme():
    code, _ = readme_blocks()
    page = (DOC / "index.rst").read_text("utf-8")
    lines = [line.strip().partition("  #")[0] for line in code.splitlines() if line]
    assert [line for line in lines if line not in page] == []


def test_pictures_of_readme_are_in_the_repository():
    text = (ROOT / "README.md").read_text("utf-8")
    pictures = re.findall(r"!\[[^]]+\]\(\S+/main/(\S+)\)", text)
    assert pictures
    assert [name for name in pictures if not (ROOT / name).exists()] == []


def test_links_to_files_of_the_repository_exist():
    text = (ROOT / "README.md").read_text("utf-8")
    files = re.findall(r"/blob/main/(\S+)\)", text)
    assert files
    assert [name for name in files if not (ROOT / name).exists()] == []


def test_tables_of_the_benchmark_page_are_filled():
    page = (DOC / "benchmarks.rst").read_text("utf-8")
    tables = re.findall(r":file: (\S+)", page)
    assert len(tables) >= 4
    assert all(len((DOC / name).read_text("utf-8").splitlines()) > 3 for name in tables)


def test_ratios_of_the_speed_figure_are_those_of_pystreed():
    header, *lines = (DOC / "images" / "speed.csv").read_text("utf-8").splitlines()
    version = header.split(",")[-1].removeprefix("pystreed ")
    assert f"pystreed {version}" in (ROOT / "README.md").read_text("utf-8")
    assert len(lines) >= 8


def steps_of_a_fit():
    """(file, name) of each function that the drawing of a fit names."""
    page = (DOC / "developers" / "one_fit.rst").read_text("utf-8")
    drawing = page.split(".. code-block:: text")[1].split("\n``class_problem``")[0]
    for file, names in re.findall(r"((?:\w+/)+\w+\.py) +([\w., ]+)", drawing):
        for name in names.split(","):
            yield file, name.strip().split(".")[0]


@pytest.mark.parametrize(("file", "name"), list(steps_of_a_fit()) if DOC.exists() else [])
def test_the_steps_of_a_fit_exist(file, name):
    package = DOC.parent / "sktree_opt"
    (path,) = [one for one in (package / file, package / "optimal" / file) if one.exists()]
    defined = ast.parse(path.read_text("utf-8")).body
    assert name in {getattr(one, "name", None) for one in defined}


def test_a_fit_has_steps():
    assert len(set(steps_of_a_fit())) > 12


def test_each_technique_has_its_gain_in_the_ablation_table():
    """At least 10 % in the median of one of its searches, or 1.5 times on its best data set."""
    with (DOC / "developers" / "ablation.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    gains = {}
    for row in rows:
        largest = float(row["largest"].split()[0].removeprefix(">"))
        gains.setdefault(row["switch"], []).append((float(row["median"]), largest))
    assert {*_bit_engine.SWITCHES, *_threshold_search.SWITCHES} <= gains.keys()
    is_small = {
        switch: not any(median >= 1.1 or largest >= 1.5 for median, largest in own)
        for switch, own in gains.items()
    }
    # The bound of few leaves saves no time: stopped searches have a lower bound by it.
    assert [switch for switch, one in is_small.items() if one] == ["leaf_groups"]


def test_the_papers_page_names_files_that_exist():
    with (ROOT / "doc" / "developers" / "papers.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    assert {row["Paper"] for row in rows} == {"000", "001", "002", "003", "004"}
    for row in rows:
        if row["Where"].startswith(("left out", "open: ")):
            assert not row["Tests"]
            continue
        places = [place.split(" (")[0] for place in row["Where"].split(", ")]
        missing = [
            place
            for place in places
            if not (ROOT / place).exists() and not (ROOT / "sktree_opt" / place).exists()
        ]
        missing += [
            test for test in row["Tests"].split(", ") if not (ROOT / "tests" / test).exists()
        ]
        assert missing == []


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#there"></a><a href="https://x.org/"></a>')
    (tmp_path / "b.html").write_text('<p id="there"></p><a href="#there"></a><img src="a.html">')
    check = [sys.executable, ROOT / ".ci" / "links.py", tmp_path]
    assert subprocess.run(check, check=False).returncode == 0
    (tmp_path / "c.html").write_text('<a href="a.html#here"></a><img src="c.png"><a href="#up">')
    done = subprocess.run(check, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.split("\n")[:3] == [f"c.html: {x}" for x in ("a.html#here", "c.png", "#up")]


def test_pages_that_load_from_the_network_are_found(tmp_path):
    loads = '<script src="https://x.org/a.js"></script><link rel="stylesheet" href="//x.org/b.css">'
    free = '<a href="https://x.org/"></a><link rel="canonical" href="https://x.org/">'
    (tmp_path / "a.html").write_text(loads + free)
    check = [sys.executable, ROOT / ".ci" / "links.py", tmp_path]
    done = subprocess.run(check, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.split() == ["a.html:", "https://x.org/a.js", "a.html:", "//x.org/b.css"]
