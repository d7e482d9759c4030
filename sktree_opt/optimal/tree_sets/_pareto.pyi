from typing import Any

import numpy as np
from numpy.typing import NDArray

from sktree_opt.utils._control import SearchControl

class Front:
    errors: NDArray[np.int64]
    n_splits: NDArray[np.int64]
    def tree(
        self, rank: int, control: SearchControl
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...

class ParetoSearch:
    def __init__(
        self,
        table: Any,
        control: SearchControl,
        *,
        min_rows: int = 1,
        min_weight: float = 0.0,
        n_threads: int = 1,
        use_cache: bool = True,
        use_bounds: bool = True,
    ) -> None: ...
    def front(self, depth: int, splits: int) -> Front: ...
    def statistics(self) -> dict[str, int]: ...
