"""Trees for other eyes and tools: text, pictures, rules, code, single rows, scikit-learn.

Problem: say what a fitted tree does so that a reader or a program needs nothing else. Only the
public arrays of a ``Tree`` and the names of its estimator are read. Files in reading order:

- ``_description.py``: the words of every node, and how names and numbers are written.
- ``_text.py``, ``_rules.py``, ``_dot.py``, ``_matplotlib.py``: one format each; ``_drawing.py``:
  places and colours of nodes; ``page/``: the page of HTML.
- ``_displays.py``: curves of what searches, cross-validation and selectors keep.
- ``_explain.py``, ``_counterfactual.py``: why one row gets its answer, and what would change it.
- ``code/``: SQL, Python, JavaScript, C, and answers for one row at a time.
- ``_json.py``: a tree that can be read back.
- ``_binary.py``: any tree as comparisons of numbers, for ``_sklearn.py`` and ``_onnx.py``.

To add a format, write its file, name it here, and add a line to ``FORMATS``.
"""

from sktree_opt.export._counterfactual import Counterfactual, counterfactual
from sktree_opt.export._displays import (
    ErrorByFeaturesDisplay,
    ErrorBySizeDisplay,
    FeatureUseDisplay,
    GapDisplay,
    ParetoFrontDisplay,
)
from sktree_opt.export._dot import export_dot
from sktree_opt.export._explain import Explanation, explain
from sktree_opt.export._json import from_json, to_json
from sktree_opt.export._matplotlib import plot_tree
from sktree_opt.export._onnx import to_onnx
from sktree_opt.export._rules import export_rules
from sktree_opt.export._sklearn import to_sklearn
from sktree_opt.export._text import export_text
from sktree_opt.export.code._export_code import export_code
from sktree_opt.export.code._one_row import RowPredictor
from sktree_opt.export.page._tree_page import export_html

FORMATS = {
    "text": export_text,
    "dot": export_dot,
    "rules": export_rules,
    "html": export_html,
    "code": export_code,
    "json": to_json,
    "matplotlib": plot_tree,
    "sklearn": to_sklearn,
    "onnx": to_onnx,
}

__all__ = [
    "Counterfactual",
    "ErrorByFeaturesDisplay",
    "ErrorBySizeDisplay",
    "Explanation",
    "FeatureUseDisplay",
    "GapDisplay",
    "ParetoFrontDisplay",
    "RowPredictor",
    "counterfactual",
    "explain",
    "export_code",
    "export_dot",
    "export_html",
    "export_rules",
    "export_text",
    "from_json",
    "plot_tree",
    "to_json",
    "to_onnx",
    "to_sklearn",
]
