import numpy as np

from sktree_opt.preprocessing._table import Table
from sktree_opt.utils._control import SearchControl

def mdlp_cuts(
    table: Table,
    column: int,
    labels: np.ndarray,
    weights: np.ndarray,
    n_classes: int,
    control: SearchControl,
) -> np.ndarray: ...
