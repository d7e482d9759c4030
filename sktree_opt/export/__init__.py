"""Trees for other eyes and tools: text, pictures, rules, code, single rows, scikit-learn."""

from sktree_opt.export._counterfactual import Counterfactual, counterfactual
from sktree_opt.export._dot import export_dot
from sktree_opt.export._explain import Explanation, explain
from sktree_opt.export._html import export_html
from sktree_opt.export._json import from_json, to_json
from sktree_opt.export._matplotlib import plot_tree
from sktree_opt.export._onnx import to_onnx
from sktree_opt.export._rules import export_rules
from sktree_opt.export._sklearn import to_sklearn
from sktree_opt.export._text import export_text
from sktree_opt.export.code._export_code import export_code
from sktree_opt.export.code._one_row import RowPredictor

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
    "Explanation",
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
