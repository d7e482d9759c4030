"""Algorithm 1 of the paper: all subsets, by counting backwards.

S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20 (2019), section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

# From R and S to the elements of S in the order in which they are left out, the last one first.
Order = Callable[[tuple[int, ...], tuple[int, ...]], Sequence[int]]


def subsets(
    n: int | Iterable[int], required: Iterable[int] = (), *, order: Order | None = None
) -> Iterator[tuple[int, ...]]:
    """Generate all sets between R and R u S, each once: Algorithm 1 of [1]_.

    Every set but the first is an earlier one without one element, which lets a tree be built from
    the tree of that one. By default a set is read as a number whose highest bit is the first
    element, and the numbers are counted down.

    Parameters
    ----------
    n : int or iterable of int
        The elements S that a set may have; an int means ``{0, ..., n - 1}``.

    required : iterable of int, default=()
        The elements R that every set has.

    order : callable or None, default=None
        In which order the elements of S are left out: takes R and S of a call and returns the
        elements of S, of which the last is left out first. Any order gives all sets (Remark 3.3 of
        [2]_). None keeps the order of `n`.

    Yields
    ------
    subset : tuple of int
        Increasing elements.

    References
    ----------
    .. [1] S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20, 2019.
    .. [2] S. Ruggieri, "Enumerating Distinct Decision Trees", ICML 2017.

    Examples
    --------
    >>> from sktree_opt.subset import subsets
    >>> list(subsets(2))
    [(0, 1), (0,), (1,), ()]
    >>> list(subsets([0, 2], required=[1]))
    [(0, 1, 2), (0, 1), (1, 2), (1,)]
    """
    if isinstance(n, int):
        if n < 0:
            raise ValueError(f"n must not be negative, got {n}.")
        n = range(n)
    first, fixed = tuple(n), tuple(required)
    if len(set(first + fixed)) < len(first) + len(fixed):
        raise ValueError("n and required must name each element once.")
    # A call is (R, S) of Algorithm 1; calls still to be made wait on the stack, which holds at most
    # n of them for each level.
    stack = [(fixed, first)]
    while stack:
        required, possible = stack.pop()
        yield tuple(sorted(required + possible))
        if order is not None:
            possible = reordered(order, required, possible)
        for i in range(len(possible)):
            stack.append((required + possible[:i], possible[i + 1 :]))


def reordered(order, required, possible):
    """The elements of S in the order of the caller."""
    chosen = tuple(order(required, possible))
    if sorted(chosen) != sorted(possible):
        raise ValueError(f"order must return the elements of {possible}, got {chosen}.")
    return chosen
