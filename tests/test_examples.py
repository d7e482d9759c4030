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
