from collections.abc import Sequence

from numpy.typing import NDArray

def survey(
    matrix: NDArray, columns: Sequence[int], n_threads: int = 1
) -> tuple[bool, list[NDArray | None]]: ...
