"""The tree of the least cost whose answers differ little between two groups (MurTree, section 4.8).

A limit on the difference of two rates is not a sum over leaves, but the signed difference is. At
every node, the search keeps the least cost for each signed difference, up to a bound. The bound
rises until a tree within the limit is found. By then the front of cost against difference is known
up to the cost of that tree.

Before that, searches for the least cost plus a price of the difference (Lagrange's relaxation) give
trees within the limit and a lower bound in a moment.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sktree_opt.optimal.objectives._for_data import ClassObjective
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES, MisclassificationCost
from sktree_opt.optimal.run._fallback import share_of_time, short_search
from sktree_opt.optimal.run._problem import Problem, Solution, closed
from sktree_opt.optimal.run._trees import breadth_first, rows_in
from sktree_opt.optimal.tree_sets._bit_rows import bit_rows, nodes_from_preorder
from sktree_opt.optimal.tree_sets._two_sums import SumSearch
from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._validation import common_divisor

# Differences of rates that differ by less are equal.
TOLERANCE = 1e-9

# Sums are whole numbers of units: the largest sum, at most, and without a common divisor.
MOST_UNITS, UNITS = 2.0**50, 2.0**40

# Prices of the difference that are tried.
MOST_PRICES = 8

# Leaves whose answers are tried in all combinations.
MOST_LEAVES = 12

# Steps in which the bound rises to a known tree's cost, at least; and by what factor they grow.
STEPS, GROWTH = 32, 2.0

FRONT_DTYPE = np.dtype(
    [("objective", np.float64), ("difference", np.float64), ("n_splits", np.int64)]
)


@dataclass(frozen=True)
class Groups:
    """The rows by class and group, and what an answer for them adds to cost and difference.

    Class 1 is the positive one here.

    Attributes
    ----------
    codes : ndarray of int32, shape (n_rows,)
        Twice the class, plus the group.

    costs : ndarray of shape (4, 2)
        Cost of either answer for a row of weight 1, by code.

    shifts : ndarray of shape (4,)
        What answering 1 adds to the rate of the second group less that of the first, for a row of
        weight 1.

    limit : float
        Largest difference that is acceptable.

    positive : int
        Code of the positive class in the data.
    """

    codes: np.ndarray
    costs: np.ndarray
    shifts: np.ndarray
    limit: float
    positive: int

    @classmethod
    def of_all(cls, problem, positive):
        """No groups: nothing differs."""
        codes = (2 * (problem.data.y == positive)).astype(np.int32)
        return cls(codes, costs_of(problem, positive), np.zeros(4), 1.0, positive)

    @classmethod
    def of(cls, problem, groups, positive, of_positives, limit):
        """The groups of a problem's rows, 0 or 1 each; rates are of all rows, or of a class."""
        data = problem.data
        codes = (2 * (data.y == positive) + groups).astype(np.int32)
        weights = np.bincount(codes, weights=data.weights, minlength=4)
        counted = np.array([0.0, 0.0, 1.0, 1.0]) if of_positives else np.ones(4)
        totals = (counted * weights).reshape(2, 2).sum(axis=0)
        if (totals <= 0.0).any():
            which = "rows of the positive class" if of_positives else "rows with a weight"
            raise ValueError(f"sensitive_features: one of the groups has no {which}.")
        shifts = counted * np.array([-1.0, 1.0, -1.0, 1.0]) / np.tile(totals, 2)
        return cls(codes, costs_of(problem, positive), shifts, limit, positive)

    def in_given_codes(self, answers):
        """Answers by the codes of the data; -1 stays."""
        return np.where(answers < 0, answers, (answers == self.positive).astype(answers.dtype))

    def priced(self, problem, price):
        """The problem with a price of the signed difference, as a plain sum over leaves."""
        costs = self.costs.copy()
        costs[:, 1] += price * self.shifts
        weights = np.bincount(self.codes, weights=problem.data.weights, minlength=4)
        rule, labels = OBJECTIVES["cost"], np.arange(4)
        form = MisclassificationCost().leaf_form(weights, problem.data.weights, costs)
        objective = ClassObjective(rule, form, self.codes, labels, weights, costs)
        return Problem(
            replace(problem.data, y=self.codes, classes=labels), objective, problem.limits
        )


def costs_of(problem, positive):
    """Cost of either answer by code (see ``Groups``)."""
    costs = problem.objective.costs
    # Without rows of a second class, to answer it costs as much as all errors do.
    costs = 1.0 - np.eye(2) if costs is None or len(costs) == 1 else costs
    return np.repeat(costs if positive == 1 else costs[::-1, ::-1], 2, axis=0)


@dataclass(frozen=True)
class Candidate:
    """A tree with answers.

    Attributes
    ----------
    cost, difference : float
        In units of the objective, the costs of tests included; a difference with its sign.

    nodes, answers : ndarray
        Breadth first; the answer of each leaf, -1 for a split.
    """

    cost: float
    difference: float
    nodes: np.ndarray
    answers: np.ndarray

    @property
    def n_splits(self):
        """Number of splits."""
        return len(self.nodes) // 2

    @property
    def order(self):
        """Less is better."""
        return self.cost, abs(self.difference), self.n_splits


def find_fair_tree(plan, session, groups):
    """Find the best tree within a limit on the difference of two groups.

    Parameters
    ----------
    plan : Plan
        With `tests`.

    session : Session

    groups : Groups

    Returns
    -------
    solution : Solution
        With `answers`, and the trees of the front as `found`.
    """
    problem, tests, limits = plan.problem, plan.tests, plan.problem.limits
    control = session.control
    known = Known(problem, tests, groups)
    known.offer(np.array([[-1, -1, -1]], dtype=np.int32))
    moments = []
    if limits.max_depth > 0 and limits.max_splits > 0:
        known.search_prices(session)
    moments.append((control.seconds, known.best.cost, known.lower_bound))
    search = FairSearch(problem, tests, control, groups)
    bound, excess = known.lower_bound, (known.best.cost - known.lower_bound) / STEPS
    excess = max(excess, search.unit, 1e-6 * abs(known.best.cost))
    is_proved = False
    while not is_proved and not control.poll():
        most = min(bound, known.best.cost)
        found = session.step(
            problem,
            f"objectives up to {most:g}",
            partial(search.candidates, limits.max_depth, limits.max_splits, most),
            lambda _: (tests, known.best.nodes),
        )
        if control.stopped:
            known.add(found)
            break
        known.complete(found, most)
        is_proved = most >= known.best.cost
        moments.append((control.seconds, known.best.cost, known.lower_bound))
        bound, excess = bound + excess, excess * GROWTH
    control.raise_pending()
    best = known.best
    lower = best.cost if is_proved else min(known.lower_bound, best.cost)
    return Solution(
        tests=tests,
        nodes=best.nodes,
        cost=best.cost,
        lower_bound=lower,
        status="optimal" if is_proved else control.status,
        incumbents=closed(moments, control.seconds, best.cost, lower),
        stats=search.statistics() | {"seconds": control.seconds},
        answers=groups.in_given_codes(best.answers),
        found=[replace(one, answers=groups.in_given_codes(one.answers)) for one in known.front()],
    )


class Known:
    """The trees that are known, and the front of their costs and differences.

    Attributes
    ----------
    best : Candidate
        Of those within the limit.

    lower_bound : float
        No tree within the limit costs less.
    """

    def __init__(self, problem, tests, groups):
        self.problem, self.tests, self.groups = problem, tests, groups
        self.lower_bound = 0.0
        self.best = None
        self._candidates = []

    def offer(self, nodes):
        """Take over a tree, with the answers of its leaves in all combinations."""
        self.add(labelled(self.problem, self.tests, self.groups, nodes))

    def add(self, candidates):
        """Take over some trees."""
        self._candidates += candidates
        limit = self.groups.limit + TOLERANCE
        good = [one for one in candidates if abs(one.difference) <= limit]
        self.best = min(good + [self.best] * (self.best is not None), key=lambda one: one.order)

    def complete(self, candidates, most):
        """The same with all trees up to some cost that differ in cost or difference."""
        self.add(candidates)
        self.lower_bound = max(self.lower_bound, min(most, self.best.cost))

    def search_prices(self, session):
        """Search with several prices of the difference, each for a moment."""
        seconds = share_of_time(self.problem.limits) / MOST_PRICES
        plain = self._at_price(session, seconds, 0.0)
        sign = 1.0 if plain.difference > 0.0 else -1.0
        if abs(plain.difference) <= self.groups.limit + TOLERANCE:
            return
        # The corners of the hull on both sides of the limit; a leaf has no difference.
        above, below = plain, min(self._candidates, key=lambda one: sign * one.difference)
        below = min([below, self.best], key=lambda one: one.cost)
        for _ in range(MOST_PRICES - 1):
            width = sign * (above.difference - below.difference)
            price = (below.cost - above.cost) / width if width > TOLERANCE else 0.0
            if price <= 0.0 or session.control.poll():
                return
            found = self._at_price(session, seconds, sign * price)
            value = found.cost + price * sign * found.difference
            if value >= above.cost + price * sign * above.difference - 1e-9 * abs(value):
                return
            if sign * found.difference > self.groups.limit:
                above = found
            else:
                below = found

    def _at_price(self, session, seconds, price):
        """The best tree at a price of the signed difference."""
        priced = self.groups.priced(self.problem, price)
        found = short_search(priced, self.tests, session, seconds)
        least = priced.in_units(found.lower_bound) - abs(price) * self.groups.limit
        # Sums of real numbers are rounded.
        least -= 1e-9 * (abs(least) + abs(price))
        self.lower_bound = max(self.lower_bound, least)
        self.offer(found.nodes)
        reached = rows_in(priced, self.tests, found.nodes)
        costs = reached.weights @ priced.objective.costs
        answers = np.where(reached.nodes[:, 0] < 0, costs.argmin(axis=1), -1)
        one = measured(self.problem, self.groups, reached, answers)
        self.add([one])
        return one

    def front(self):
        """The trees that no other betters in cost and difference, up to the best's cost."""
        front = []
        for one in sorted(self._candidates, key=lambda one: one.order):
            is_new = not front or abs(one.difference) < abs(front[-1].difference) - TOLERANCE
            if is_new and one.cost <= self.best.cost * (1.0 + 1e-12):
                front.append(one)
        return front


class FairSearch:
    """Search for all costs and differences of trees.

    Attributes
    ----------
    unit : float
        Of costs.
    """

    def __init__(self, problem, tests, control, groups):
        limits = problem.limits
        table = bit_rows(tests.bits, tests.n_tests, groups.codes, problem.data.weights, 4)
        self.problem, self.tests, self.groups = problem, tests, groups
        added = groups.costs * table.unit[:, None]
        total = float(table.totals() @ groups.costs.max(axis=1))
        total += limits.split_cost * limits.max_splits
        self.unit = common_divisor(np.append(added.ravel(), limits.split_cost))
        if self.unit is None or total / self.unit > MOST_UNITS:
            self.unit = max(total, 1e-290) / UNITS
        is_present = np.bincount(groups.codes, minlength=4) > 0
        shifts = whole_shifts(np.where(is_present, groups.shifts * table.unit, 0.0))
        self.search = SumSearch(
            table,
            control,
            by_answer=[
                np.rint(added.T / self.unit).astype(np.int64),
                np.stack([np.zeros(4, dtype=np.int64), shifts]),
            ],
            minima=limits.minima,
            split_cost=limits.split_cost / self.unit,
            n_threads=limits.n_threads,
        )

    def candidates(self, max_depth, max_splits, most):
        """The front of all trees up to a cost; after a stop, of those that were found."""
        room = 0.5 + 1e-9 * most / self.unit
        found = self.search.up_to(
            min(max_depth, max_splits), max_splits, np.floor(most / self.unit + room)
        )
        differences = np.abs(found.sums[:, 1]).astype(float)
        before = np.minimum.accumulate(np.append(np.inf, differences))[:-1]
        return [self._candidate(found, rank) for rank in np.flatnonzero(differences < before)]

    def _candidate(self, found, rank):
        # Reading a tree solves small parts of the search again, after a stop too.
        columns, answers = found.tree(rank, SearchControl())
        nodes = nodes_from_preorder(columns)
        order = breadth_first(nodes)[1]
        reached = rows_in(self.groups.priced(self.problem, 0.0), self.tests, nodes)
        return measured(self.problem, self.groups, reached, answers[order])

    def statistics(self):
        """Counters of the search."""
        return self.search.statistics()


def whole_shifts(shifts):
    """Shifts as whole numbers, exactly if those of each group have a common divisor."""
    units = [common_divisor(np.abs(shifts[np.sign(shifts) == sign])) for sign in (-1.0, 1.0)]
    if None in units:
        # No group may shift anything.
        return np.rint(shifts * MOST_UNITS).astype(np.int64)
    counts = [1.0 / unit for unit in units]
    is_whole = all(abs(count - round(count)) <= 1e-6 for count in counts)
    if not is_whole or counts[0] * counts[1] > MOST_UNITS:
        return np.rint(shifts * MOST_UNITS).astype(np.int64)
    unit = np.where(shifts < 0.0, units[0], units[1])
    others = np.where(shifts < 0.0, round(counts[1]), round(counts[0]))
    return (np.rint(shifts / unit) * others).astype(np.int64)


def measured(problem, groups, reached, answers):
    """A tree with answers; `reached` has the weights of its nodes by code."""
    leaves = np.flatnonzero(answers >= 0)
    weights, chosen = reached.weights[leaves], answers[leaves]
    cost = float((weights * groups.costs.T[chosen]).sum())
    cost += problem.limits.split_cost * (len(answers) - len(leaves))
    difference = float((weights[chosen == 1] @ groups.shifts).sum())
    return Candidate(cost, difference, reached.nodes, answers)


def labelled(problem, tests, groups, nodes):
    """The front of a tree's costs and differences, by the answers of its leaves."""
    reached = rows_in(groups.priced(problem, 0.0), tests, nodes)
    leaves = np.flatnonzero(reached.nodes[:, 0] < 0)
    costs = reached.weights[leaves] @ groups.costs
    shifts = reached.weights[leaves] @ groups.shifts
    best = costs.argmin(axis=1)
    # The leaves whose answers matter least are tried both ways.
    free = np.argsort(np.abs(costs[:, 1] - costs[:, 0]), kind="stable")[:MOST_LEAVES]
    flips = (np.arange(2 ** len(free))[:, None] >> np.arange(len(free))) & 1
    answers = np.tile(best, (len(flips), 1))
    answers[:, free] ^= flips
    sums = np.where(answers, costs[:, 1], costs[:, 0]).sum(axis=1)
    differences = np.abs(answers @ shifts)
    order = np.lexsort((differences, sums))
    before = np.minimum.accumulate(np.append(np.inf, differences[order]))[:-1]
    is_first = differences[order] < before - TOLERANCE
    found = []
    for rank in order[is_first]:
        of_nodes = np.full(len(reached.nodes), -1, dtype=np.int32)
        of_nodes[leaves] = answers[rank]
        found.append(measured(problem, groups, reached, of_nodes))
    return found
