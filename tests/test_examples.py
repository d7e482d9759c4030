"""The examples run, what they print is what they say, and their pictures show something."""

import re
import warnings
from pathlib import Path

import pytest

from tests.effort import long_test

EXAMPLES = Path(__file__).parents[1] / "examples"

pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="needs a checkout of the project")
plt = pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("pandas")

GALLERY = sorted(path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.glob("*/plot_*.py"))


def no_network(*_, **__):
    raise OSError("tests ask for nothing outside")


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Runs an example cell by cell, and gives its figures.

    Like the gallery, it takes the figures of a cell when the cell ends, and closes them. What a
    later cell draws into them is on no page.
    """
    monkeypatch.setattr(plt, "show", lambda: None)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", no_network)
    monkeypatch.chdir(tmp_path)

    def run_one(name):
        # The gallery may warn of what its text explains, such as a time limit.
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            return figures_of((EXAMPLES / name).read_text("utf-8"), name)

    yield run_one
    plt.close("all")


def figures_of(source, name):
    """The figures of an example; all axes show something when their cell ends."""
    plt.close("all")
    figures, names = [], {"__name__": "__main__"}
    first_line = 1
    for cell in re.split(r"^(?=# %%)", source, flags=re.MULTILINE):
        exec(compile("\n" * (first_line - 1) + cell, name, "exec"), names)
        first_line += cell.count("\n")
        for number in plt.get_fignums():
            figure = plt.figure(number)
            figure.canvas.draw()
            assert not any(is_empty(axes) for axes in figure.axes), f"{name}, line {first_line}"
            figures.append(figure)
        plt.close("all")
    return figures


def is_empty(axes):
    """Whether an axes shows no data, no text and no picture."""
    return not (axes.lines or axes.patches or axes.collections or axes.images or axes.texts)


def test_the_gallery_has_a_folder_for_each_room():
    assert len(GALLERY) >= 20
    assert {name.split("/")[0] for name in GALLERY} == {
        path.parent.name for path in EXAMPLES.glob("*/GALLERY_HEADER.rst")
    }


@long_test
@pytest.mark.parametrize("name", GALLERY)
def test_no_picture_of_the_gallery_is_empty(run, name):
    """Each example runs, with what it asserts, and draws something in each of its axes."""
    figures = run(name)
    assert figures
    assert all(figure.axes for figure in figures)


def test_an_empty_panel_is_noticed():
    start = "import matplotlib.pyplot as plt\n_, axes = plt.subplots(1, 2)\naxes[0].plot([1])\n"
    end = "axes[1].plot([2])\n"
    (figure,) = figures_of(start + end, "whole")
    assert len(figure.axes) == 2
    with pytest.raises(AssertionError, match="halves, line 4"):
        figures_of(f"{start}# %%\n{end}", "halves")
    plt.close("all")


@long_test
def test_quickstart_says_what_is_so(run, tmp_path, capsys):
    """The optimal tree is ahead on new rows of each table; picture and page are written."""
    run("quickstart.py")
    lines = re.findall(r"new rows ([\d.]+)%, of CART ([\d.]+)%", capsys.readouterr().out)
    assert len(lines) == 3
    assert all(float(ours) > float(cart) for ours, cart in lines)
    assert (tmp_path / "quickstart.png").stat().st_size > 10_000
    assert "employment" in (tmp_path / "quickstart.html").read_text("utf-8")


@long_test
@pytest.mark.parametrize("name", ["optimal/plot_f1_front.py", "optimal/plot_error_against_size.py"])
def test_what_the_legend_names_is_in_view(run, name):
    (figure,) = run(name)
    (axes,) = (axes for axes in figure.axes if axes.get_legend() is not None)
    labelled = [line for line in axes.lines if not line.get_label().startswith("_")]
    assert len(labelled) == 3
    for line in labelled:
        in_view = [axes.viewLim.contains(*point) for point in line.get_xydata()]
        # A single point is seen by its marker alone.
        assert sum(in_view) > (line.get_marker() in ("None", None, "")), line


@long_test
def test_the_legend_covers_no_bar(run):
    (figure,) = run("subset/plot_oversearching.py")
    (axes,) = (axes for axes in figure.axes if axes.get_legend() is not None)
    legend = axes.get_legend().get_window_extent()
    assert not any(legend.overlaps(bar.get_window_extent()) for bar in axes.patches)


@long_test
def test_the_bound_moves(run):
    (figure,) = run("optimal/plot_anytime.py")
    tree, bound = (line.get_ydata() for line in figure.axes[0].lines)
    assert bound[0] < bound[-1] <= tree[-1]
