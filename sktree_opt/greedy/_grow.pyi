from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sktree_opt.preprocessing import Table
from sktree_opt.utils._control import SearchControl

ROUNDING: float
MEASURES: dict[str, int]
NOMINAL_SPLITS: dict[str, int]
MAX_SUBSET_CATEGORIES: int

class GrownTree:
    def to_arrays(self) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.int32]]: ...

class Induction:
    table: Table
    def __init__(
        self,
        table: Table,
        target: ArrayLike,
        n_classes: int,
        weights: ArrayLike | None = None,
        costs: ArrayLike | None = None,
        *,
        measure: int,
        nominal_split: int,
        gain_ratio: bool = False,
        above_average: bool = False,
        numeric_gain_penalty: bool = False,
        min_split_weight: float = 2.0,
        min_leaf_weight: float = 1.0,
        every_branch: bool = False,
        min_split_rows: int = 2,
        min_leaf_rows: int = 1,
        min_gain: float = 0.0,
        allow_zero_gain: bool = False,
        acceptable_error: float = 0.0,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        n_threads: int = 1,
        max_block_cases: int | None = None,
    ) -> None: ...
    def grow(
        self,
        control: SearchControl,
        rows: ArrayLike | None = None,
        features: ArrayLike | None = None,
    ) -> GrownTree: ...
    def prune_error_based(
        self,
        tree: GrownTree,
        control: SearchControl,
        confidence: float,
        normal_quantile: float,
        rows: ArrayLike | None = None,
    ) -> GrownTree: ...
    def prune_reduced_error(
        self, tree: GrownTree, control: SearchControl, rows: ArrayLike
    ) -> GrownTree: ...
