from typing import Any, Self

from sktree_opt.subset._problem import SubsetProblem
from sktree_opt.utils._control import SearchControl

ORDERS: dict[str, int]
DEFAULT_RULES: dict[str, Any]

class TreeStream:
    last_handed_out: tuple[Any, int, int] | None
    n_handed_out: int
    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[Any, int, int]: ...

class DistinctStream(TreeStream):
    def __init__(
        self,
        problem: SubsetProblem,
        control: SearchControl,
        *,
        order: str = "frontier",
        accepts: bool = False,
        slack: int = 0,
        penalty: int = 0,
        budget: int = ...,
    ) -> None: ...
    @property
    def is_done(self) -> bool: ...
    @property
    def progress(self) -> float: ...
    @property
    def stats(self) -> dict[str, Any]: ...

class OnDemandStream(TreeStream):
    def __init__(
        self,
        problem: SubsetProblem,
        control: SearchControl,
        *,
        start: tuple[Any, int, int] | None = None,
        state: dict[str, Any] | None = None,
        n_threads: int = 1,
        budget: int = ...,
        **rules: Any,
    ) -> None: ...
    def run_round(self) -> list[tuple[Any, int, int]] | None: ...
    def plan(self) -> tuple[list[Any], int, Any, int] | None: ...
    def merge(self, results: list[Any]) -> list[tuple[Any, int, int]]: ...
    @property
    def state(self) -> dict[str, Any]: ...
    @property
    def best(self) -> tuple[Any, int, int] | None: ...
    @property
    def is_done(self) -> bool: ...
    @property
    def progress(self) -> float: ...
    @property
    def lower_bound(self) -> int: ...
    @property
    def stats(self) -> dict[str, Any]: ...

def search_slices(
    problem: SubsetProblem,
    searches: list[Any],
    n_decisions: int,
    best: tuple[Any, int, int] | None,
    limit: int,
    rules: dict[str, Any],
    *,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    budget: int = ...,
) -> tuple[list[Any], str, dict[str, Any]]: ...
