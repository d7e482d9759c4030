from typing import Any, Self

from sktree_opt.subset._problem import SubsetProblem
from sktree_opt.utils._control import SearchControl

ORDERS: dict[str, int]

class DistinctStream:
    def __init__(
        self,
        problem: SubsetProblem,
        control: SearchControl,
        *,
        order: str = "frontier",
        accepts: bool = False,
        slack: int = 0,
        penalty: float = 0,
        budget: int = ...,
    ) -> None: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[Any, float, int]: ...
    @property
    def is_done(self) -> bool: ...
    @property
    def progress(self) -> float: ...
    @property
    def stats(self) -> dict[str, Any]: ...

class OnDemandStream:
    def __init__(
        self,
        problem: SubsetProblem,
        control: SearchControl,
        *,
        only_best: bool = False,
        lookahead: int = 1,
        class_bound: bool = True,
        slack: int = 0,
        penalty: float = 0,
        limit: float | None = None,
        start: tuple[Any, float, int] | None = None,
        budget: int = ...,
    ) -> None: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[Any, float, int]: ...
    @property
    def is_done(self) -> bool: ...
    @property
    def progress(self) -> float: ...
    @property
    def lower_bound(self) -> float: ...
    @property
    def stats(self) -> dict[str, Any]: ...
