from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sktree_opt.preprocessing._table import Table
from sktree_opt.utils._control import SearchControl

NOMINAL_SPLITS: dict[str, int]

def as_number(answer: object) -> float: ...
def find_twins(codes: list[NDArray[Any]]) -> NDArray[np.int32]: ...

class SubsetProblem:
    table: Table
    classes: NDArray[np.uint16]
    total_cost: float
    def __init__(
        self,
        table: Table,
        y: NDArray[Any],
        n_classes: int,
        parts: Iterable[Any],
        *,
        measure: str,
        nominal_split: str = "multiway",
        gain_ratio: bool = False,
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
        confidence: float | None = None,
        costs: NDArray[np.float64] | None = None,
        groups: Iterable[Any] | None = None,
        has_penalty: bool = False,
        order_index: tuple[int, int] | None = ...,
        merge_equal: tuple[float, float, int] = ...,
        reads_cuts: bool = True,
        skips_constant: bool = True,
    ) -> None: ...
    is_callable: bool
    @property
    def n_units(self) -> int: ...
    def set_callback(
        self, callback: Callable[[NDArray[np.int64]], float], control: SearchControl
    ) -> None: ...
    def to_error(self, cost: float) -> float: ...
    def to_cost(self, error: float, exact: bool = False) -> float: ...
    @property
    def total_units(self) -> int: ...
    @property
    def cost_unit(self) -> float: ...
