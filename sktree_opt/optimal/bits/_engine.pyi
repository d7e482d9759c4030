import numpy as np

from sktree_opt.optimal.objectives._leaf_objectives import LeafObjective
from sktree_opt.utils._control import SearchControl

SCORES: tuple[str, ...]
INSTRUCTION_SETS: tuple[str, ...]
SWITCHES: tuple[str, ...]
COLUMN_ORDERS: tuple[str, ...]
COLUMN_PADDING: int

def available_instruction_sets() -> list[str]: ...
def visit_nodes(
    bits: np.ndarray,
    nodes: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    sums: np.ndarray,
    n_rows: np.ndarray,
    leaves: np.ndarray,
) -> None: ...

class Engine:
    control: SearchControl
    def __init__(
        self,
        bits: np.ndarray,
        n_columns: int,
        y: np.ndarray,
        weights: np.ndarray | None,
        objective: LeafObjective,
        control: SearchControl,
        *,
        min_samples_leaf: int = 1,
        min_weight_leaf: float = 0.0,
        cache_bytes: int = ...,
        off: tuple[str, ...] = (),
        column_order: str = ...,
        seed: int = 0,
    ) -> None: ...
    def begin(self, max_depth: int, max_splits: int, split_cost: float = 0.0) -> None: ...
    def offer(self, nodes: np.ndarray, cost: float) -> None: ...
    def deepen(
        self, depth: int, upper: float = ..., n_threads: int = 1, seconds: float = ...
    ) -> bool: ...
    def dive(self, discrepancies: int) -> None: ...
    def known_tree(self) -> np.ndarray: ...
    def tree(self, share: float = ...) -> np.ndarray: ...
    def solve_root(self, n_times: int) -> None: ...
    @property
    def is_at_floor(self) -> bool: ...
    @property
    def has_fewest_splits(self) -> bool: ...
    @property
    def cost(self) -> float: ...
    @property
    def lower_bound(self) -> float: ...
    @property
    def incumbents(self) -> list[tuple[float, float, float]]: ...
    @property
    def stats(self) -> dict: ...
