from typing import Any

import numpy as np
from numpy.typing import NDArray

from sktree_opt.preprocessing._table import Table
from sktree_opt.utils._control import SearchControl

SWITCHES: tuple[str, ...]

class ThresholdSearch:
    level: int
    def __init__(
        self,
        table: Table,
        label: NDArray[np.uint16],
        weight: NDArray[np.float64],
        savings: NDArray[np.float64] | None,
        target: NDArray[np.float64] | None,
        equal_rows: NDArray[np.int32] | None,
        control: SearchControl,
        *,
        max_depth: int,
        max_splits: int,
        n_classes: int,
        split_cost: float,
        tolerance: float,
        min_rows: float,
        min_weight: float,
        n_threads: int,
        is_absolute: bool = False,
        off: tuple[str, ...] = (),
    ) -> None: ...
    def begin(self) -> None: ...
    def go_on(self, seconds: float) -> bool: ...
    def plan(self) -> list[tuple[int, ...]]: ...
    def outcome(self) -> dict[str, Any]: ...
