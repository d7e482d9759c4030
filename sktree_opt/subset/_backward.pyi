from typing import Any, Self

from sktree_opt.subset._problem import SubsetProblem
from sktree_opt.utils._control import SearchControl

METHODS: dict[str, int]

class BackwardStream:
    def __init__(
        self,
        problem: SubsetProblem,
        control: SearchControl,
        *,
        method: str = "dtsbe",
        tie_goes_on: bool = True,
        min_features: int = 0,
        target_features: int | None = None,
        n_threads: int = 1,
        budget: int = ...,
        min_parallel_work: int = ...,
        gives_up: bool = True,
    ) -> None: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> dict[str, Any]: ...
    @property
    def stats(self) -> dict[str, int]: ...

def eliminate(
    problem: SubsetProblem, control: SearchControl, **options: Any
) -> tuple[list[dict[str, Any]], dict[str, int]]: ...
