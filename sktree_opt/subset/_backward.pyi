from typing import Any

from sktree_opt.subset._problem import SubsetProblem
from sktree_opt.utils._control import SearchControl

METHODS: dict[str, int]

def eliminate(
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
) -> tuple[list[dict[str, Any]], dict[str, int]]: ...
