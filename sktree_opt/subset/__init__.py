"""Which features a greedy tree should be given."""

from sktree_opt.subset._acceptable import AcceptableSubsetSelector
from sktree_opt.subset._dtsbe_selector import DTsbeSelector
from sktree_opt.subset._enumerator import DistinctTreeEnumerator
from sktree_opt.subset._subsets import subsets

__all__ = ["AcceptableSubsetSelector", "DTsbeSelector", "DistinctTreeEnumerator", "subsets"]
