"""What the searches for more than one sum over leaves have found."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sktree_opt.optimal.run import _driver


@dataclass
class Found(_driver.SearchResult):
    """A search's result, and more that it may have found.

    Attributes
    ----------
    answers : ndarray or None
        Class that each node answers, where that is not its most frequent one.

    front : ndarray or None
        Record array of the errors that no tree betters in both.

    others : iterable of ndarray
        Nodes of the second best tree, the third, and so on. Reading them may end before the last
        one, and then changes `status`.
    """

    answers: np.ndarray | None = None
    front: np.ndarray | None = None
    others: Iterable = ()


def closed(incumbents, seconds, cost, bound):
    """Incumbents as plain numbers, the last of them what the search has ended with."""
    entries = [(float(t), float(c), float(min(b, c))) for t, c, b in incumbents if c >= cost]
    last = (float(seconds), float(cost), float(bound))
    return entries if entries and entries[-1][1:] == last[1:] else [*entries, last]


def raised(bound, floor, cost):
    """A lower bound, with what else is known; above no tree's cost by rounding."""
    return max(bound, min(floor, cost))
