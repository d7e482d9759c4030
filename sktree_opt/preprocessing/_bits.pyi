import numpy as np

from sktree_opt.preprocessing._table import Table

COLUMN_PADDING: int

def row_bytes_for(n_columns: int) -> int: ...
def pack_binary_matrix(matrix: np.ndarray) -> np.ndarray | None: ...
def pack_code_tests(
    table: Table, columns: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray: ...
