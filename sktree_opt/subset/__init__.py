"""Which features a greedy tree should be given.

Problem: DT(S) is the greedy tree that is grown with the features S. Among the 2^N subsets S of the
N features, find the distinct trees, a tree of least estimated error, or a good tree quickly.
Paper: S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20 (2019),
http://jmlr.org/papers/v20/18-035.html.

Rooms, in reading order:

- ``estimators``: the public classes. They check parameters and data, run a search, and keep
  attributes.
- ``errors``: how the error of a tree is estimated.
- ``lattice``: the case sets that the trees of all subsets have in common, each with its features
  ranked once.
- ``elimination``: backward elimination (DTsbe), and SBE and PSBE to compare it with.
- ``complete``: the searches over all subsets: on demand, with bounds, and the published DTdistinct
  and DTaccept.

Terms: a *case set* is the set of training rows at a node, with their weights. A *unit* is a group
of features that are kept or dropped together, usually a single feature. *Building rows* grow a
tree, *search rows* rate it. A *decision* puts a unit in or out. *Shared rows* miss a tested value
and end in several leaves.
"""

from sktree_opt.subset.complete._subsets import subsets
from sktree_opt.subset.errors import (
    BootstrapError,
    CrossValidationError,
    PessimisticTrainingError,
    SearchError,
    TrainingError,
)
from sktree_opt.subset.estimators._acceptable import AcceptableSubsetSelector
from sktree_opt.subset.estimators._dtsbe_selector import DTsbeSelector
from sktree_opt.subset.estimators._enumerator import DistinctTreeEnumerator

__all__ = [
    "AcceptableSubsetSelector",
    "BootstrapError",
    "CrossValidationError",
    "DTsbeSelector",
    "DistinctTreeEnumerator",
    "PessimisticTrainingError",
    "SearchError",
    "TrainingError",
    "subsets",
]
