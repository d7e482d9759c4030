from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

class Table:
    n_rows: int
    n_columns: int
    codes: list[NDArray[np.unsignedinteger[Any]]]
    values: list[NDArray[np.float64]]
    is_nominal: NDArray[np.bool_]
    n_missing: NDArray[np.int64]
    representative: NDArray[np.int32]
    @staticmethod
    def from_matrix(
        matrix: Any, n_categories: ArrayLike | None = None, n_threads: int = 1
    ) -> Table: ...
