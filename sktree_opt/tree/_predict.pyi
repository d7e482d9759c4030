from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float32] | NDArray[np.float64]

class TreeWalker: ...

def apply(
    nodes: NDArray[Any],
    category_branch: NDArray[np.int32],
    X: Matrix,
    n_codes: NDArray[np.int64] | None,
    leaves: NDArray[np.int32],
    n_threads: int,
) -> int: ...
def distribute(
    nodes: NDArray[Any],
    category_branch: NDArray[np.int32],
    X: Matrix,
    rows: NDArray[np.int64],
    leaf_values: NDArray[np.float64],
    out: NDArray[np.float64],
    heaviest: NDArray[np.int32],
    n_threads: int,
) -> None: ...
def decision_path(
    nodes: NDArray[Any],
    category_branch: NDArray[np.int32],
    X: Matrix,
    indptr: NDArray[np.int64],
) -> NDArray[np.int32]: ...
def add_importances(
    nodes: NDArray[Any],
    category_branch: NDArray[np.int32],
    leaf_answers: NDArray[np.float64],
    least_share: float,
    out: NDArray[np.float64],
) -> None: ...
