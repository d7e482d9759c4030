"""Exact answers about decision trees, as scikit-learn estimators.

Every public name can be imported from here, and is loaded when it is first used.
"""

import importlib
from typing import TYPE_CHECKING

from sktree_opt._version import __version__

if TYPE_CHECKING:
    from sktree_opt import datasets, export, greedy, optimal, preprocessing, subset, tree, utils
    from sktree_opt.datasets import load_loans, load_restaurant
    from sktree_opt.export import (
        Counterfactual,
        ErrorByFeaturesDisplay,
        ErrorBySizeDisplay,
        Explanation,
        FeatureUseDisplay,
        GapDisplay,
        ParetoFrontDisplay,
        RowPredictor,
        counterfactual,
        explain,
        export_code,
        export_dot,
        export_html,
        export_rules,
        export_text,
        from_json,
        plot_tree,
        to_json,
        to_onnx,
        to_sklearn,
    )
    from sktree_opt.greedy import (
        GreedyTreeClassifier,
        GreedyTreeRegressor,
        RuleListClassifier,
        cost_complexity_path,
        prune,
    )
    from sktree_opt.optimal import (
        FairTreeClassifier,
        OptimalTreeClassifier,
        OptimalTreeClassifierCV,
        OptimalTreeRegressor,
        OptimalTreeRegressorCV,
        SmallestTreeClassifier,
        SmallestTreeRegressor,
        TreeSetClassifier,
        TreeSetRegressor,
        Verification,
        optimal_path,
        rate_difference,
        verify_optimality,
    )
    from sktree_opt.preprocessing import ColumnCombiner, MDLPDiscretizer
    from sktree_opt.subset import (
        AcceptableSubsetSelector,
        BootstrapError,
        CrossValidationError,
        DistinctTreeEnumerator,
        DTsbeSelector,
        PessimisticTrainingError,
        SearchError,
        TrainingError,
        subsets,
    )
    from sktree_opt.tree import Tree

_ROOMS = ("datasets", "export", "greedy", "optimal", "preprocessing", "subset", "tree", "utils")
# The public names of each room.
_NAMES = {
    "datasets": "load_loans load_restaurant",
    "export": """
        Counterfactual ErrorByFeaturesDisplay ErrorBySizeDisplay Explanation FeatureUseDisplay
        GapDisplay ParetoFrontDisplay RowPredictor counterfactual explain export_code export_dot
        export_html export_rules export_text from_json plot_tree to_json to_onnx to_sklearn
    """,
    "greedy": """
        GreedyTreeClassifier GreedyTreeRegressor RuleListClassifier cost_complexity_path prune
    """,
    "optimal": """
        FairTreeClassifier OptimalTreeClassifier OptimalTreeClassifierCV OptimalTreeRegressor
        OptimalTreeRegressorCV SmallestTreeClassifier SmallestTreeRegressor TreeSetClassifier
        TreeSetRegressor Verification optimal_path rate_difference verify_optimality
    """,
    "preprocessing": "ColumnCombiner MDLPDiscretizer",
    "subset": """
        AcceptableSubsetSelector BootstrapError CrossValidationError DTsbeSelector
        DistinctTreeEnumerator PessimisticTrainingError SearchError TrainingError subsets
    """,
    "tree": "Tree",
}
_ROOM_OF = {name: room for room, names in _NAMES.items() for name in names.split()}

__all__ = [
    "AcceptableSubsetSelector",
    "BootstrapError",
    "ColumnCombiner",
    "Counterfactual",
    "CrossValidationError",
    "DTsbeSelector",
    "DistinctTreeEnumerator",
    "ErrorByFeaturesDisplay",
    "ErrorBySizeDisplay",
    "Explanation",
    "FairTreeClassifier",
    "FeatureUseDisplay",
    "GapDisplay",
    "GreedyTreeClassifier",
    "GreedyTreeRegressor",
    "MDLPDiscretizer",
    "OptimalTreeClassifier",
    "OptimalTreeClassifierCV",
    "OptimalTreeRegressor",
    "OptimalTreeRegressorCV",
    "ParetoFrontDisplay",
    "PessimisticTrainingError",
    "RowPredictor",
    "RuleListClassifier",
    "SearchError",
    "SmallestTreeClassifier",
    "SmallestTreeRegressor",
    "TrainingError",
    "Tree",
    "TreeSetClassifier",
    "TreeSetRegressor",
    "Verification",
    "__version__",
    "cost_complexity_path",
    "counterfactual",
    "explain",
    "export_code",
    "export_dot",
    "export_html",
    "export_rules",
    "export_text",
    "from_json",
    "load_loans",
    "load_restaurant",
    "optimal_path",
    "plot_tree",
    "prune",
    "rate_difference",
    "subsets",
    "to_json",
    "to_onnx",
    "to_sklearn",
    "verify_optimality",
]


def __getattr__(name):
    if name in _ROOMS:
        return importlib.import_module(f"sktree_opt.{name}")
    if name in _ROOM_OF:
        value = getattr(importlib.import_module(f"sktree_opt.{_ROOM_OF[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'sktree_opt' has no attribute {name!r}")


def __dir__():
    hidden = [name for name in globals() if name.startswith("__")]
    return sorted({*hidden, *__all__, *_ROOMS})
