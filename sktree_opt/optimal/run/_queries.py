"""Questions that take several searches: the smallest tree as good as one, every depth and size.

All of them ask one engine for the optimum within a depth and a number of splits; what a search has
found stays in the engine's cache, so that the next one costs only what is new (MurTree, JMLR
23(26), section 4.5.5).
"""

from dataclasses import dataclass, field

import numpy as np

CRITERIA = ("error", "size", "depth")


def check_ranking(ranking):
    """Refuse rankings that DL8 does not allow: error and size have to be among the criteria."""
    ranking = tuple(ranking)
    # Lists in a list cannot be in a set.
    is_named = all(isinstance(criterion, str) for criterion in ranking)
    if not is_named or set(ranking) - set(CRITERIA) or len(set(ranking)) < len(ranking):
        raise ValueError(
            f"ranking={ranking!r} may contain each of 'error', 'size' and 'depth' once."
        )
    if not {"error", "size"} <= set(ranking):
        raise ValueError(f"ranking={ranking!r} must contain 'error' and 'size'.")
    return ranking


def n_useful_splits(max_depth, max_splits):
    """Splits that a tree of some depth may have at most."""
    most = 2 ** min(max_depth, 30) - 1
    return most if max_splits is None else min(max_splits, most)


@dataclass
class Answer:
    """The optimum within some limits.

    Attributes
    ----------
    max_depth, max_splits : int
        The limits.

    cost : float
        Cost of the tree.

    nodes : ndarray
        The tree, as ``Engine.tree`` gives it; read at once, for the next search forgets it.

    is_proved : bool
        Whether no tree within the limits costs less.
    """

    max_depth: int
    max_splits: int
    cost: float
    nodes: np.ndarray
    is_proved: bool

    @property
    def n_splits(self):
        """Number of splits of the tree."""
        return int(np.count_nonzero(self.nodes[:, 0] >= 0))


class Solver:
    """Optima of one engine by depth and number of splits.

    Parameters
    ----------
    engine : Engine
        The problem, and the cache.

    split_cost : float
        Added to the cost for each split.

    deepen : callable or None
        Lets the engine search to a depth, for trees that cost less than a bound; None for the
        engine's own method.

    go_down : callable or None
        Lets it search all levels to a depth, and dive between them (``_first_look.go_down``); None
        for `deepen` alone.

    Attributes
    ----------
    lower_bound, dived_bound : float
        No tree within the limits of the last search, or of the last one with dives, costs less.

    dived_moments : list
        Incumbents of that one, as ``Engine.incumbents``.
    """

    def __init__(self, engine, split_cost=0.0, deepen=None, go_down=None):
        self.engine = engine
        self.split_cost = split_cost
        self.deepen = engine.deepen if deepen is None else deepen
        self.go_down = go_down
        self.lower_bound = self.dived_bound = 0.0
        self.dived_moments = []

    @property
    def stopped(self):
        """Whether no further search is worth beginning."""
        return self.engine.control.stopped

    @property
    def stats(self):
        """Counters of the searches."""
        return self.engine.stats

    def poll(self):
        """Look at the clock, as short searches do not; True if none is worth beginning."""
        return self.engine.control.poll()

    def solve(self, max_depth, max_splits, upper=np.inf, dives=False):
        """Best tree within the limits that costs less than `upper`; None if there is none.

        After a stop, the best tree known, proved or not; a good one if the search `dives`.
        """
        max_splits = n_useful_splits(max_depth, max_splits)
        max_depth = min(max_depth, max_splits)
        self.engine.begin(max_depth, max_splits, self.split_cost)
        is_dived = False
        if dives and self.go_down is not None:
            is_dived = self.go_down(max_depth, upper)
        else:
            for depth in range(3, max_depth + 1):
                self.deepen(depth, upper)
        is_proved = not self.stopped
        self.lower_bound = self.engine.lower_bound
        if dives:
            self.dived_bound, self.dived_moments = self.lower_bound, self.engine.incumbents
        if is_proved and not self.engine.cost < upper:
            return None
        # The tree that ties fall to is not worth all the levels that a dive has spared.
        nodes = self.engine.known_tree() if is_dived else self.engine.tree()
        return Answer(max_depth, max_splits, self.engine.cost, nodes, is_proved)


def at_most(cost):
    """An upper bound, exclusive, that lets trees of this cost through."""
    return np.nextafter(cost, np.inf) + abs(cost) * 2.0**-50


def best_by_ranking(solver, ranking, max_depth, max_splits, max_error=np.inf, known_error=np.inf):
    """The tree that is first by a lexicographic ranking (DL8, section 3).

    Each criterion tightens its limit as far as the others allow, one after the other: the error to
    its optimum, the number of splits or the depth to the least with which that error, or
    `max_error` while the error has not had its turn, can be had.

    Parameters
    ----------
    solver : Solver
        The problem.

    ranking : tuple of str
        See ``check_ranking``.

    max_depth, max_splits : int
        Limits.

    max_error : float
        Largest cost that is acceptable.

    known_error : float
        Cost of some tree within the limits, of use where "error" is the first criterion.

    Returns
    -------
    answer : Answer or None
        None if no tree within the limits is good enough. After a stop, the best tree known.
    """
    max_splits = n_useful_splits(max_depth, max_splits)
    upper = at_most(max_error)
    first = min(max_error, known_error) if ranking[0] == "error" else max_error
    answer = solver.solve(max_depth, max_splits, at_most(first), dives=True)
    for criterion in ranking:
        if answer is None or solver.stopped:
            return answer
        if criterion == "error":
            upper = at_most(answer.cost)
        else:
            answer = tighten(solver, criterion, answer, upper)
    return answer


def tighten(solver, criterion, answer, upper):
    """Answer within the least depth, or number of splits, that has one; found by bisection."""
    depth, splits = answer.max_depth, answer.max_splits
    low, known = 0, answer.n_splits if criterion == "size" else depth
    while low < known and answer.is_proved and not solver.poll():
        middle = (low + known) // 2
        limits = (depth, middle) if criterion == "size" else (middle, splits)
        found = solver.solve(*limits, upper)
        if found is None:
            low = middle + 1
        elif found.is_proved:
            answer, known = found, middle
        else:
            break
    return answer


@dataclass
class Path:
    """Optima for every depth and number of splits.

    Attributes
    ----------
    costs : ndarray of shape (max_depth + 1, max_splits + 1)
        Cost of the optimum with at most that depth and so many splits, without costs of splits.

    tree_index : ndarray of int64, same shape
        Its place in `answers`.

    lower_bounds : ndarray of float64, same shape
        No tree within these limits costs less.

    answers : list of Answer
        Each tree once, under the least limits that reach its cost.

    is_proved : bool
        Whether the whole table is.
    """

    costs: np.ndarray
    tree_index: np.ndarray
    lower_bounds: np.ndarray
    answers: list = field(default_factory=list)
    is_proved: bool = True


def solve_path(solver, max_depth, max_splits, least_cost=0.0, look=None):
    """Optima for every depth and number of splits, each search within the last one's bound.

    A limit more is worth a search only below the cost that one limit less reaches; where that is
    `least_cost`, the table is filled without searching. After a stop, by the trees that `look`
    has found before (see ``_first_look.known_trees``), where they are better.
    """
    max_splits = n_useful_splits(max_depth, max_splits)
    costs = np.full((max_depth + 1, max_splits + 1), np.inf)
    index = np.zeros(costs.shape, dtype=np.int64)
    path = Path(costs, index, np.zeros(costs.shape), [solver.solve(0, 0)])
    known = None if look is None else look()
    costs[0], costs[:, 0] = path.answers[0].cost, path.answers[0].cost
    path.lower_bounds[0], path.lower_bounds[:, 0] = costs[0], costs[:, 0]
    for depth in range(1, max_depth + 1):
        for splits in range(1, max_splits + 1):
            fill_place(path, solver, depth, splits, least_cost, known)
    # What no tree of larger limits goes below, none of smaller ones does.
    bounds = path.lower_bounds[::-1, ::-1]
    for axis in (0, 1):
        np.maximum.accumulate(bounds, axis=axis, out=bounds)
    np.minimum(path.lower_bounds, costs, out=path.lower_bounds)
    path.is_proved = not solver.stopped
    return path


def fill_place(path, solver, depth, splits, least_cost, known):
    """Cost and tree for one depth and number of splits."""
    costs, index = path.costs, path.tree_index
    before = min((depth - 1, splits), (depth, splits - 1), key=costs.__getitem__)
    costs[depth, splits], index[depth, splits] = costs[before], index[before]
    is_possible = depth <= splits <= n_useful_splits(depth, None)
    known_cost = np.inf if known is None else known.costs[depth, splits]
    if is_possible and costs[before] > least_cost and not solver.poll():
        # Lets through as costly a tree as the known one, whose cost is rounded otherwise: which
        # tree it is has not to depend on the time that there was to find one before.
        upper = min(costs[before], at_most(known_cost) + 1e-9 * abs(known_cost))
        found = solver.solve(depth, splits, upper)
        if solver.stopped:
            path.lower_bounds[depth, splits] = solver.lower_bound
        if found is not None and found.cost < costs[before]:
            keep(path, depth, splits, found)
    if known_cost < costs[depth, splits] - (0.0 if solver.stopped else 1e-9 * abs(known_cost)):
        nodes = known.nodes(depth, splits)
        keep(path, depth, splits, Answer(depth, splits, known_cost, nodes, False))
    if not solver.stopped:
        path.lower_bounds[depth, splits] = costs[depth, splits]


def keep(path, depth, splits, answer):
    """Put a tree in its place."""
    path.costs[depth, splits], path.tree_index[depth, splits] = answer.cost, len(path.answers)
    path.answers.append(answer)


def lower_hull(costs):
    """Numbers of splits that are best for some cost per split, and from which one on.

    Parameters
    ----------
    costs : ndarray of shape (n,)
        Optimum with at most 0, 1, ..., n - 1 splits.

    Returns
    -------
    n_splits : ndarray of int64
        Corners of the lower convex hull, falling.

    split_costs : ndarray of float64
        Each is best from this cost of a split up to the next one's; the first is 0.
    """
    corners = []
    for splits, cost in enumerate(costs.tolist()):
        if corners and cost >= corners[-1][1]:
            continue
        while len(corners) > 1 and not turns_up(*corners[-2:], splits, cost):
            corners.pop()
        corners.append((splits, cost))
    n_splits = np.array([splits for splits, _ in corners[::-1]], dtype=np.int64)
    values = np.array([cost for _, cost in corners[::-1]])
    slopes = np.diff(values) / -np.diff(n_splits)
    return n_splits, np.append(0.0, slopes)


def turns_up(first, second, splits, cost):
    """Whether three points, with a new last one, are a corner of a convex curve."""
    return (second[1] - first[1]) * (splits - second[0]) < (cost - second[1]) * (
        second[0] - first[0]
    )
