"""The tree of the least cost whose answers differ little between groups (MurTree, section 4.8).

A limit on the difference of rates is not a sum over leaves, but the signed difference of two groups
is, and so are the counts of positive answers in several groups. At every node, the search keeps the
least cost for each signed difference, or for each combination of counts, up to a bound. The bound
rises until a tree within the limit is found. By then the front of cost against difference is known
up to the cost of that tree.

Before that, searches for the least cost plus a price of the difference (Lagrange's relaxation) give
trees within the limit and a lower bound in a moment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sktree_opt.optimal.objectives._for_data import ClassObjective
from sktree_opt.optimal.objectives._leaf_objectives import OBJECTIVES, MisclassificationCost
from sktree_opt.optimal.run._fallback import share_of_time, short_search
from sktree_opt.optimal.run._problem import Problem, Solution, closed
from sktree_opt.optimal.run._trees import LEAF_ALONE, breadth_first, rows_in
from sktree_opt.optimal.tree_sets._bit_rows import bit_rows, nodes_from_preorder
from sktree_opt.optimal.tree_sets._set_search import SumSearch
from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._validation import common_divisor

# Differences of rates that differ by less are equal.
TOLERANCE = 1e-9

# Costs that differ by a smaller share are equal.
ROUNDING = 1e-12

# Sums are whole numbers of units: the largest sum, at most, and of costs without a common divisor.
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
    """The rows by class and group, and what an answer for them adds to cost and rates.

    Class 1 is the positive one here.

    Attributes
    ----------
    codes : ndarray of int32, shape (n_rows,)
        The class times the number of groups, plus the group.

    costs : ndarray of shape (n_codes, 2)
        Cost of either answer for a row of weight 1, by code.

    shares : ndarray of shape (n_codes, n_groups)
        What answering 1 for a row of weight 1 adds to the rate of each group.

    limit : float
        Largest difference that is acceptable.

    positive : int
        Code of the positive class in the data.
    """

    codes: np.ndarray
    costs: np.ndarray
    shares: np.ndarray
    limit: float
    positive: int

    @classmethod
    def of(cls, problem, groups, n_groups, positive, of_positives, limit):
        """The groups of a problem's rows, from 0; rates are of all rows, or of a class."""
        data = problem.data
        codes = (n_groups * (data.y == positive) + groups).astype(np.int32)
        weights = np.bincount(codes, weights=data.weights, minlength=2 * n_groups)
        counted = np.array([0.0 if of_positives else 1.0, 1.0])
        totals = counted @ weights.reshape(2, n_groups)
        if (totals <= 0.0).any():
            which = "rows of the positive class" if of_positives else "rows with a weight"
            raise ValueError(f"sensitive_features: one of the groups has no {which}.")
        shares = np.kron(counted[:, None], np.diag(1.0 / totals))
        return cls(codes, costs_of(problem, positive, n_groups), shares, limit, positive)

    @property
    def n_codes(self):
        """Number of pairs of class and group."""
        return len(self.shares)

    def in_given_codes(self, answers):
        """Answers by the codes of the data; -1 stays."""
        return np.where(answers < 0, answers, (answers == self.positive).astype(answers.dtype))

    def priced(self, problem, prices):
        """The problem with a price of each group's rate, as a plain sum over leaves."""
        costs = self.costs.copy()
        costs[:, 1] += self.shares @ prices
        weights = np.bincount(self.codes, weights=problem.data.weights, minlength=self.n_codes)
        rule, labels = OBJECTIVES["cost"], np.arange(self.n_codes)
        form = MisclassificationCost().leaf_form(weights, problem.data.weights, costs)
        objective = ClassObjective(rule, form, self.codes, labels, weights, costs)
        return Problem(
            replace(problem.data, y=self.codes, classes=labels), objective, problem.limits
        )


def costs_of(problem, positive, n_groups):
    """Cost of either answer by code (see ``Groups``)."""
    costs = problem.objective.costs
    # Without rows of a second class, to answer it costs as much as all errors do.
    costs = 1.0 - np.eye(2) if costs is None or len(costs) == 1 else costs
    return np.repeat(costs if positive == 1 else costs[::-1, ::-1], n_groups, axis=0)


@dataclass(frozen=True)
class Candidate:
    """A tree with answers.

    Attributes
    ----------
    cost : float
        In units of the objective, the costs of tests included.

    rates : ndarray of shape (n_groups,)
        Share of positive answers by group.

    nodes, answers : ndarray
        Breadth first; the answer of each leaf, -1 for a split.
    """

    cost: float
    rates: np.ndarray
    nodes: np.ndarray
    answers: np.ndarray

    @property
    def difference(self):
        """Difference of the largest rate and the smallest."""
        return float(np.ptp(self.rates))

    @property
    def n_splits(self):
        """Number of splits."""
        return len(self.nodes) // 2

    @property
    def order(self):
        """Less is better."""
        return self.cost, self.difference, self.n_splits


def find_fair_tree(plan, session, groups):
    """Find the best tree within a limit on the difference between groups.

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
    known = FairTrees(problem, tests, groups)
    known.offer(LEAF_ALONE)
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


class FairTrees:
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
        good = [one for one in candidates if one.difference <= limit]
        self.best = min(good + [self.best] * (self.best is not None), key=lambda one: one.order)

    def complete(self, candidates, most):
        """The same with all trees up to some cost that differ in cost or difference."""
        self.add(candidates)
        self.lower_bound = max(self.lower_bound, min(most, self.best.cost))

    def search_prices(self, session):
        """Search with several prices of a difference, each for a moment.

        It is the difference of the two groups that the tree of the least cost sets furthest apart.
        """
        seconds = share_of_time(self.problem.limits) / MOST_PRICES
        prices = np.zeros(self.groups.shares.shape[1])
        plain = self._at_prices(session, seconds, prices, 0.0)
        if plain.difference <= self.groups.limit + TOLERANCE:
            return
        prices[plain.rates.argmax()], prices[plain.rates.argmin()] = 1.0, -1.0

        def gap(one):
            return float(one.rates @ prices)

        # The corners of the hull on both sides of the limit; a leaf has no difference.
        above, below = plain, min(self._candidates, key=gap)
        below = min([below, self.best], key=lambda one: one.cost)
        for _ in range(MOST_PRICES - 1):
            width = gap(above) - gap(below)
            price = (below.cost - above.cost) / width if width > TOLERANCE else 0.0
            if price <= 0.0 or session.control.poll():
                return
            found = self._at_prices(session, seconds, prices, price)
            value = found.cost + price * gap(found)
            if value >= above.cost + price * gap(above) - 1e-9 * abs(value):
                return
            if gap(found) > self.groups.limit:
                above = found
            else:
                below = found

    def _at_prices(self, session, seconds, prices, price):
        """The best tree at a price of the difference of two rates."""
        priced = self.groups.priced(self.problem, price * prices)
        found = short_search(priced, self.tests, session, seconds)
        least = priced.in_units(found.lower_bound) - price * self.groups.limit
        # Sums of real numbers are rounded.
        least -= 1e-9 * (abs(least) + price)
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
            is_new = not front or one.difference < front[-1].difference - TOLERANCE
            if is_new and one.cost <= self.best.cost * (1.0 + ROUNDING):
                # Equal costs are equal up to rounding.
                if front and one.cost <= front[-1].cost * (1.0 + ROUNDING):
                    front.pop()
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
        n_codes, weights = groups.n_codes, problem.data.weights
        table = bit_rows(tests.bits, tests.n_tests, groups.codes, weights, n_codes)
        self.problem, self.tests, self.groups = problem, tests, groups
        added = groups.costs * table.unit[:, None]
        total = float(table.totals() @ groups.costs.max(axis=1))
        total += limits.split_cost * limits.max_splits
        self.unit = common_divisor(np.append(added.ravel(), limits.split_cost))
        if self.unit is None or total / self.unit > MOST_UNITS:
            self.unit = max(total, 1e-290) / UNITS
        is_present = np.bincount(groups.codes, minlength=n_codes) > 0
        self.keys = keys_of(groups.shares * (table.unit * is_present)[:, None])
        self.search = SumSearch(
            table,
            control,
            by_answer=[
                added.T / self.unit,
                np.stack([np.zeros(n_codes), self.keys.added]),
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
        differences = self.keys.differences(found.sums[:, 1])
        before = np.minimum.accumulate(np.append(np.inf, differences))[:-1]
        return [self._candidate(found, rank) for rank in np.flatnonzero(differences < before)]

    def _candidate(self, found, rank):
        # Reading a tree solves small parts of the search again, after a stop too.
        columns, answers = found.tree(rank, SearchControl())
        nodes = nodes_from_preorder(columns)
        order = breadth_first(nodes)[1]
        reached = rows_by_code(self.problem, self.tests, self.groups, nodes)
        return measured(self.problem, self.groups, reached, answers[order])

    def statistics(self):
        """Counters of the search."""
        return self.search.statistics()


@dataclass(frozen=True)
class Keys:
    """The rates of all groups in one whole number, which is a sum over leaves.

    Attributes
    ----------
    added : ndarray of shape (n_codes,)
        What a unit of each code adds if it is answered 1.

    differences : callable
        From keys to the difference of the largest rate and the smallest.
    """

    added: np.ndarray
    differences: Callable


def keys_of(shares):
    """How rates are counted: the signed difference of two, else the counts of all groups.

    Parameters
    ----------
    shares : ndarray of shape (n_codes, n_groups)
        What a unit of each code adds to a rate.

    Returns
    -------
    keys : Keys
    """
    n_groups = shares.shape[1]
    own, groups = shares.sum(axis=1), np.arange(len(shares)) % n_groups
    units = [common_divisor(own[groups == group]) for group in range(n_groups)]
    sizes = np.array([np.nan if unit is None else 1.0 / unit for unit in units])
    is_exact = bool(np.all(np.abs(sizes - np.rint(sizes)) <= 1e-6))
    sizes = np.rint(sizes)
    if n_groups <= 2:
        # The leaves of real numbers are rounded. With one group, nothing differs.
        is_exact = is_exact and sizes.prod() <= MOST_UNITS
        scale = sizes.prod() if is_exact else MOST_UNITS
        added = np.rint(own * sizes[groups]) * (scale / sizes)[groups] if is_exact else own * scale
        signs = np.array([-1.0, 1.0])[groups] if n_groups == 2 else 0.0
        return Keys(signs * added, lambda keys: np.abs(keys) / scale)
    if not is_exact:
        raise ValueError(
            "With more than two groups, sample weights must be multiples of one number: pass whole "
            "numbers, or join groups to two."
        )
    bases = np.append(1.0, np.cumprod(sizes + 1.0))
    if bases[-1] > MOST_UNITS:
        raise ValueError(
            f"sensitive_features has {n_groups} groups with more combinations of positive answers "
            "than can be counted: join groups, or use fewer rows."
        )
    bases = bases[:-1]

    def differences(keys):
        return np.ptp(keys[:, None] // bases % (sizes + 1.0) / sizes, axis=1)

    return Keys(np.rint(own * sizes[groups]) * bases[groups], differences)


def rows_by_code(problem, tests, groups, nodes):
    """The weights of a tree's nodes by code."""
    return rows_in(groups.priced(problem, np.zeros(groups.shares.shape[1])), tests, nodes)


def measured(problem, groups, reached, answers):
    """A tree with answers; `reached` has the weights of its nodes by code."""
    leaves = np.flatnonzero(answers >= 0)
    weights, chosen = reached.weights[leaves], answers[leaves]
    cost = float((weights * groups.costs.T[chosen]).sum())
    cost += problem.limits.split_cost * (len(answers) - len(leaves))
    rates = (weights[chosen == 1] @ groups.shares).sum(axis=0)
    return Candidate(cost, rates, reached.nodes, answers)


def labelled(problem, tests, groups, nodes):
    """The front of a tree's costs and differences, by the answers of its leaves."""
    reached = rows_by_code(problem, tests, groups, nodes)
    leaves = np.flatnonzero(reached.nodes[:, 0] < 0)
    costs = reached.weights[leaves] @ groups.costs
    shares = reached.weights[leaves] @ groups.shares
    best = costs.argmin(axis=1)
    # The leaves whose answers matter least are tried both ways.
    free = np.argsort(np.abs(costs[:, 1] - costs[:, 0]), kind="stable")[:MOST_LEAVES]
    flips = (np.arange(2 ** len(free))[:, None] >> np.arange(len(free))) & 1
    answers = np.tile(best, (len(flips), 1))
    answers[:, free] ^= flips
    sums = np.where(answers, costs[:, 1], costs[:, 0]).sum(axis=1)
    differences = np.ptp(answers @ shares, axis=1)
    order = np.lexsort((differences, sums))
    before = np.minimum.accumulate(np.append(np.inf, differences[order]))[:-1]
    is_first = differences[order] < before - TOLERANCE
    found = []
    for rank in order[is_first]:
        of_nodes = np.full(len(reached.nodes), -1, dtype=np.int32)
        of_nodes[leaves] = answers[rank]
        found.append(measured(problem, groups, reached, of_nodes))
    return found
