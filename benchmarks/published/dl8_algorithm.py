"""DL8 as published (Algorithm 1 and section 5), in plain Python, with all its sources of itemsets.

The package itself searches otherwise (``optimal/bits``): it knows a node by its rows, as DL8-Closed
does by the closure of its itemset. Here the five variants can be compared by the itemsets that they
store.

paper                     here
I, t(I)                   an itemset: a set of literals (column, value); its rows as bits of an int
p(I), pure(I)             ``is_frequent``, ``is_pure``
DL8-Recursive             ``DL8.solve``; T(I) by depth and size in ``DL8.stored``
DL8-Simple                ``search(..., "simple")``: the rows of an itemset come from a scan
DL8-Closed                "closed": results are stored by closures
Apriori-Freq+DL8          "frequent": all frequent itemsets are mined first (``mine``)
DL8-Apriori, DL8-Eclat    "apriori", "eclat": relevant itemsets alone (Definition 1), level by level
                          or depth first
"""

import time
from dataclasses import dataclass
from itertools import combinations

INFINITY = float("inf")
VARIANTS = {
    "DL8-Closed": "closed",
    "DL8-Simple": "simple",
    "DL8-Apriori": "apriori",
    "DL8-Eclat": "eclat",
    "Apriori-Freq+DL8": "frequent",
}


class StoppedError(Exception):
    """The time limit ended a search."""


@dataclass(frozen=True)
class Tree:
    """A tree over the rows of an itemset: ``root`` is a column, or a class for a leaf."""

    error: int
    size: int
    depth: int
    root: int
    branches: tuple = ()

    def rank(self, ranking):
        """What the ranking compares."""
        return tuple(getattr(self, name) for name in ranking)


class Table:
    """A 0/1 table as bits: literals, classes, and what is asked of an itemset's rows."""

    def __init__(self, X, y, min_rows, seconds):
        self.n_columns, self.all_rows = len(X[0]), (1 << len(X)) - 1
        self.rows_of = {
            (column, value): bits_of(int(row[column]) == value for row in X)
            for column in range(self.n_columns)
            for value in (0, 1)
        }
        self.classes = [bits_of(label == known for label in y) for known in sorted(set(y))]
        self.min_rows, self.deadline = min_rows, time.monotonic() + seconds

    def poll(self):
        if time.monotonic() > self.deadline:
            raise StoppedError

    def is_frequent(self, rows):
        return rows.bit_count() >= self.min_rows

    def counts(self, rows):
        return [(rows & members).bit_count() for members in self.classes]

    def is_pure(self, rows):
        return max(self.counts(rows)) == rows.bit_count()

    def closure(self, rows):
        """All literals that these rows share."""
        return frozenset(one for one, members in self.rows_of.items() if not rows & ~members)


def bits_of(flags):
    return sum(1 << k for k, flag in enumerate(flags) if flag)


class DL8:
    """Algorithm 1: the best tree for every itemset, from those of larger itemsets.

    Parameters
    ----------
    table : Table

    itemsets : dict or None
        Rows of the itemsets that were mined; None: a scan finds them.

    is_closed : bool
        Whether results are stored by closures.

    ranking : sequence of {"error", "size", "depth"}

    max_size, max_depth : float
        Sizes are numbers of nodes.
    """

    def __init__(self, table, itemsets, is_closed, ranking, max_size, max_depth):
        self.table, self.itemsets, self.is_closed = table, itemsets, is_closed
        # From the error on: what comes before it has its limits instead (line 32).
        self.ranking = ranking[ranking.index("error") :]
        self.sizes = limits_up_to(max_size)
        self.depths = limits_up_to(max_depth)
        self.stored = {}

    def rows_of(self, itemset, parent_rows, literal):
        if self.itemsets is None:
            return parent_rows & self.table.rows_of[literal]
        return self.itemsets.get(itemset, 0)

    def solve(self, itemset, rows):
        """DL8-Recursive."""
        self.table.poll()
        key = self.table.closure(rows) if self.is_closed else itemset
        if key in self.stored:
            return self.stored[key]
        counts = self.table.counts(rows)
        best = max(counts)
        candidates = [Tree(rows.bit_count() - best, 1, 0, counts.index(best))]
        if not self.table.is_pure(rows):
            candidates += self.splits(itemset, rows)
        found = []
        for depth in self.depths:
            for size in self.sizes:
                allowed = [t for t in candidates if t.depth <= depth and t.size <= size]
                if allowed:
                    found.append(min(allowed, key=lambda tree: tree.rank(self.ranking)))
        self.stored[key] = list(dict.fromkeys(found))
        return self.stored[key]

    def splits(self, itemset, rows):
        """Trees that test a column which the itemset has not, on frequent sides."""
        used = {column for column, _ in itemset}
        for column in range(self.table.n_columns):
            if column in used:
                continue
            sides = [itemset | {(column, value)} for value in (1, 0)]
            rows_of = [
                self.rows_of(side, rows, (column, value))
                for side, value in zip(sides, (1, 0), strict=True)
            ]
            if not all(map(self.table.is_frequent, rows_of)):
                continue
            for left in self.solve(sides[0], rows_of[0]):
                for right in self.solve(sides[1], rows_of[1]):
                    yield Tree(
                        left.error + right.error,
                        left.size + right.size + 1,
                        max(left.depth, right.depth) + 1,
                        column,
                        (left, right),
                    )


def limits_up_to(largest):
    return [INFINITY] if largest == INFINITY else range(int(largest) + 1)


def search(
    X,
    y,
    min_rows,
    variant="closed",
    ranking=("error", "size"),
    max_size=INFINITY,
    max_depth=INFINITY,
    max_error=INFINITY,
    seconds=INFINITY,
):
    """The first tree by a ranking, or None, and the number of itemsets that are stored."""
    table = Table(X, y, min_rows, seconds)
    itemsets = None
    if variant in ("frequent", "apriori", "eclat"):
        itemsets = mine(table, variant)
    dl8 = DL8(table, itemsets, variant == "closed", ranking, max_size, max_depth)
    trees = [tree for tree in dl8.solve(frozenset(), table.all_rows) if tree.error <= max_error]
    best = min(trees, key=lambda tree: tree.rank(ranking), default=None)
    return best, len(dl8.stored if itemsets is None else itemsets)


def mine(table, variant):
    """Rows of all frequent itemsets, or of the relevant ones alone."""
    if variant == "eclat":
        return mine_depth_first(table)
    return mine_by_levels(table, only_relevant=variant == "apriori")


def mine_by_levels(table, only_relevant):
    """Apriori: itemsets of k + 1 literals from pairs of those of k."""
    known = {frozenset(): table.all_rows}
    level = {}
    for literal, rows in table.rows_of.items():
        offer(table, known, level, (literal,), rows, only_relevant)
    while level:
        known.update({frozenset(itemset): rows for itemset, rows in level.items()})
        next_level = {}
        for first, second in combinations(sorted(level), 2):
            table.poll()
            if first[:-1] == second[:-1] and first[-1][0] != second[-1][0]:
                itemset, rows = (*first, second[-1]), level[first] & level[second]
                offer(table, known, next_level, itemset, rows, only_relevant)
        level = next_level
    return known


def offer(table, known, level, itemset, rows, only_relevant):
    """Keep an itemset that is frequent and whose subsets are known."""
    whole = frozenset(itemset)
    if not table.is_frequent(rows) or any(whole - {one} not in known for one in itemset):
        return
    if not only_relevant or is_relevant(table, known, whole, rows):
        level[itemset] = rows


def is_relevant(table, known, itemset, rows):
    """Definition 1: some literal was added to a relevant, impure itemset with two frequent sides.

    The rows of the other side are those of the smaller itemset without these.
    """
    return any(
        not table.is_pure(known[smaller]) and table.is_frequent(known[smaller] & ~rows)
        for smaller in (itemset - {one} for one in itemset)
        if smaller in known
    )


def mine_depth_first(table):
    """Eclat: itemsets grow by literals below their least one, so that subsets come first."""
    known = {frozenset(): table.all_rows}
    literals = sorted(table.rows_of)

    def extend(itemset, rows, n_literals):
        for k in range(n_literals):
            table.poll()
            larger, common = itemset | {literals[k]}, rows & table.rows_of[literals[k]]
            if len({column for column, _ in larger}) < len(larger):
                continue
            if table.is_frequent(common) and is_relevant(table, known, larger, common):
                known[larger] = common
                extend(larger, common, k)

    extend(frozenset(), table.all_rows, len(literals))
    return known
