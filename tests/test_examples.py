"""What the examples print is what they say."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="needs a checkout of the project")
plt = pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("pandas")


def test_quickstart_says_what_is_so(tmp_path, monkeypatch, capsys):
    """Fewer columns are asked for, at about the same accuracy; the picture is written."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / "quickstart.py"))
    plt.close("all")
    found = re.findall(r"asks for ([\d.]+) of 8, ([\d.]+)% accuracy", capsys.readouterr().out)
    (asked, accuracy), (asked_selected, accuracy_selected) = (
        (float(a), float(b)) for a, b in found
    )
    assert asked_selected < asked - 1
    assert abs(accuracy_selected - accuracy) < 2
    assert (tmp_path / "quickstart.png").exists()


@pytest.fixture
def axes_of(monkeypatch):
    """Runs an example, and gives its axes that have a legend."""
    monkeypatch.setattr(plt, "show", lambda: None)

    def run(name):
        runpy.run_path(str(EXAMPLES / name))
        (figure,) = map(plt.figure, plt.get_fignums())
        figure.canvas.draw()
        return [axes for axes in figure.axes if axes.get_legend() is not None]

    yield run
    plt.close("all")


@pytest.mark.parametrize("name", ["plot_f1_front.py", "plot_error_against_size.py"])
def test_what_the_legend_names_is_in_view(axes_of, name):
    (axes,) = axes_of(name)
    labelled = [line for line in axes.lines if not line.get_label().startswith("_")]
    assert len(labelled) == 3
    for line in labelled:
        in_view = [axes.viewLim.contains(*point) for point in line.get_xydata()]
        # A single point is seen by its marker alone.
        assert sum(in_view) > (line.get_marker() in ("None", None, "")), line


def test_the_legend_covers_no_bar(axes_of):
    (axes,) = axes_of("plot_oversearching.py")
    legend = axes.get_legend().get_window_extent()
    assert not any(legend.overlaps(bar.get_window_extent()) for bar in axes.patches)


def test_the_bound_moves(axes_of):
    (axes,) = axes_of("plot_anytime.py")
    tree, bound = (line.get_ydata() for line in axes.lines)
    assert bound[0] < bound[-1] <= tree[-1]
