"""Algorithm 1 of the paper: all subsets, by counting backwards.

S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20 (2019), section 3.
"""

from collections.abc import Iterator


def subsets(n: int) -> Iterator[tuple[int, ...]]:
    """Generate all subsets of ``{0, ..., n - 1}`` in reverse counting order.

    A subset is read as a number whose highest bit is element 0, and the numbers are counted from
    ``2**n - 1`` down to 0. Every subset but the first is an earlier one without one element: what
    lets a tree be built from the tree of that one.

    Parameters
    ----------
    n : int
        Number of elements; not negative.

    Yields
    ------
    subset : tuple of int
        Increasing elements.

    Examples
    --------
    >>> from sktree_opt.subset import subsets
    >>> list(subsets(2))
    [(0, 1), (0,), (1,), ()]
    """
    if n < 0:
        raise ValueError(f"n must not be negative, got {n}.")
    # A call is (required, possible) of Algorithm 1; calls still to be made wait on the stack, which
    # holds at most n of them for each level.
    stack: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), tuple(range(n)))]
    while stack:
        required, possible = stack.pop()
        yield tuple(sorted(required + possible))
        calls = []
        for i in range(len(possible) - 1, -1, -1):
            calls.append((required + possible[:i], possible[i + 1 :]))
        stack.extend(reversed(calls))
