from typing import Any

import numpy as np
from numpy.typing import NDArray

from sktree_opt.optimal.objectives._leaf_objectives import LeafObjective
from sktree_opt.utils._control import SearchControl

def sums_of(
    table: Any, objective: LeafObjective
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...

class Ranking:
    costs: NDArray[np.float64]
    n_splits: NDArray[np.int64]
    def tree(self, rank: int, control: SearchControl) -> NDArray[np.int32]: ...

class KBestSearch:
    def __init__(
        self,
        table: Any,
        objective: LeafObjective,
        control: SearchControl,
        *,
        n_best: int = 1,
        split_cost: float = 0.0,
        min_rows: int = 1,
        min_weight: float = 0.0,
        n_threads: int = 1,
        use_cache: bool = True,
        use_bounds: bool = True,
    ) -> None: ...
    def rank(self, depth: int, splits: int, bound: float = ...) -> Ranking: ...
    def statistics(self) -> dict[str, int]: ...
