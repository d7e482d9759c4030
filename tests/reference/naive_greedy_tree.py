"""Greedy trees by the papers' formulas, in plain Python: one is grown, any other is checked.

Written from the lecture notes on decision trees (equations 1-8 and section 3), Quinlan's "C4.5"
(gain with unknown values, split information, at least two branches of minimum weight) and section
4.1 of Ruggieri, JMLR 20 (2019). Every split of every column is listed and rated; nothing is sorted,
summed up incrementally or remembered, except that `Grower` looks up the split of a column that it
has rated for the same cases before.

A table is a list of rows, a value is a number, a category code or None. Cases are (row, weight).
"""

from dataclasses import dataclass, field
from itertools import combinations, pairwise
from math import log2

# A gain between these shares of the impurity may be taken for one, or for rounding.
NOTHING, SOMETHING = 1e-11, 1e-10


@dataclass
class Problem:
    table: list
    target: list
    nominal: list
    criterion: str
    n_classes: int = 0
    costs: list | None = None
    nominal_split: str = "multiway"
    missing: str = "distribute"  # or "majority"; for "category" see `with_missing_as_value`
    min_split_rows: int = 2
    min_leaf_rows: int = 1
    min_split_weight: float = 2
    min_leaf_weight: float = 1
    every_branch: bool = False
    max_depth: int | None = None
    min_gain: float = 0.0
    allow_zero_gain: bool = False
    acceptable_error: float = 0.0
    numeric_gain_penalty: bool = False
    unit: float = 1.0  # the weight that counts as one case
    n_categories: int = 0  # of each nominal column, those that no row has included


@dataclass
class Node:
    column: int | None = None
    name: object = None  # threshold, category, or categories of branch 0
    branch: object = None  # function from value to branch
    children: list = field(default_factory=list)
    weight: float = 0.0
    answer_from: object = None  # class weights, or the mean, that a leaf here answers by

    def leaves(self):
        return sum(child.leaves() for child in self.children) if self.children else 1

    def columns(self):
        """Columns that the subtree tests."""
        below = set().union(*(child.columns() for child in self.children))
        return below | {self.column} if self.children else below


def class_weights(problem, cases):
    weights = [0.0] * problem.n_classes
    for row, weight in cases:
        weights[problem.target[row]] += weight
    return weights


def total(cases):
    return sum(weight for _, weight in cases)


def mean(problem, cases):
    return sum(weight * problem.target[row] for row, weight in cases) / total(cases)


def entropy(p):
    return -sum(share * log2(share) for share in p if share > 0)


def impurity(problem, cases):
    if problem.criterion == "squared_error":
        center = mean(problem, cases)
        squares = sum(weight * (problem.target[row] - center) ** 2 for row, weight in cases)
        return squares / total(cases)
    weight = total(cases)
    p = [w / weight for w in class_weights(problem, cases)]
    classes = range(problem.n_classes)
    if problem.criterion == "gini":
        return sum(p[k] * (1 - p[k]) for k in classes)
    if problem.criterion == "gini_cost":
        return sum(problem.costs[k][m] * p[k] * p[m] for k in classes for m in classes if k != m)
    if problem.criterion == "error":
        return 1 - max(p)
    return entropy(p)


def known_cases(problem, cases, column):
    return [case for case in cases if problem.table[case[0]][column] is not None]


def every_split(problem, cases, column):
    """(name, function from value to branch) of each split of the known cases on a column.

    Names sort as ties are decided: by threshold, or by category.
    """
    values = sorted({problem.table[row][column] for row, _ in known_cases(problem, cases, column)})
    if len(values) < 2:
        return []
    if not problem.nominal[column]:
        middles = [(low + high) / 2 for low, high in pairwise(values)]
        return [(middle, lambda x, t=middle: 0 if x <= t else 1) for middle in middles]
    if problem.nominal_split == "multiway":
        return [(None, lambda x: values.index(x))]
    if problem.nominal_split == "one_vs_rest":
        return [(value, lambda x, v=value: 0 if x == v else 1) for value in values]
    subsets = [subset for size in range(1, len(values)) for subset in combinations(values, size)]
    return [(subset, lambda x, s=subset: 0 if x in s else 1) for subset in subsets]


def branches_of(problem, cases, column, branch):
    """Cases of each branch; unknown ones go down all of them, by the branches' known weight.

    Or they go down the branch of the most known weight, the first of several.
    """
    known = known_cases(problem, cases, column)
    unknown = [case for case in cases if problem.table[case[0]][column] is None]
    parts = {}
    for row, weight in known:
        parts.setdefault(branch(problem.table[row][column]), []).append((row, weight))
    shares = {b: total(part) / total(known) for b, part in parts.items()}
    if problem.missing == "majority":
        most = max(shares.values()) - 1e-9
        parts[min(b for b, share in shares.items() if share >= most)] += unknown
        return parts
    for b, part in parts.items():
        part += [(row, weight * shares[b]) for row, weight in unknown]
    return parts


def rate(problem, cases, column, branch):
    """Gain and quality of one split; None where fewer than two branches are heavy enough."""
    known = known_cases(problem, cases, column)
    parts = list(branches_of(problem, known, column, branch).values())
    n_heavy = sum(total(part) / problem.unit >= problem.min_leaf_weight - 1e-9 for part in parts)
    if n_heavy < (len(parts) if problem.every_branch else 2):
        return None
    if min(map(len, parts)) < problem.min_leaf_rows:
        return None
    after = sum(total(part) / total(known) * impurity(problem, part) for part in parts)
    gain = total(known) / total(cases) * (impurity(problem, known) - after)
    sizes = [total(part) for part in parts]
    if len(known) < len(cases):
        sizes.append(total(cases) - total(known))
    return gain, entropy([size / total(cases) for size in sizes])


def rated_splits(problem, cases, column):
    """(name, gain before any penalty, gain, quality) of the splits of a column that may be made."""
    rated = []
    for name, branch in every_split(problem, cases, column):
        found = rate(problem, cases, column, branch)
        if found is not None:
            rated.append((name, *found))
    penalty = 0.0
    if problem.numeric_gain_penalty and not problem.nominal[column] and rated:
        penalty = log2(len(rated)) / (total(cases) / problem.unit)
    return [
        (name, raw, raw - penalty, (raw - penalty) / information)
        if "gain_ratio" in problem.criterion
        else (name, raw, raw - penalty, raw - penalty)
        for name, raw, information in rated
    ]


def best_of_column(problem, cases, column):
    """(gain, quality) of a column: that of its split of most gain. None without a valid one.

    Subsets of equal gain have no order, but may differ in their gain ratio: the least one is given.
    A gain below `NOTHING` of the impurity is none.
    """
    rated = rated_splits(problem, cases, column)
    if not rated:
        return None
    most = max(raw for _, raw, _, _ in rated)
    tied = [(gain, quality) for _, raw, gain, quality in rated if raw > most - 1e-12]
    gain, quality = min(tied, key=lambda split: split[1]) if is_subset(problem, column) else tied[0]
    little = NOTHING * impurity(problem, cases)
    if gain < -little if problem.allow_zero_gain else gain <= little:
        return None
    if max(gain, 0.0) < problem.min_gain * (1 - 1e-9):
        return None
    return gain, quality


def is_subset(problem, column):
    return problem.nominal[column] and problem.nominal_split == "subset"


def own_error(problem, cases):
    """Share of misclassified weight, or mean squared error, if the node were a leaf."""
    if problem.n_classes:
        return 1 - max(class_weights(problem, cases)) / total(cases) - 1e-9
    return impurity(problem, cases) * (1 - 1e-9)


def is_stopped(problem, cases, depth):
    return (
        len({problem.target[row] for row, _ in cases}) == 1
        or len(cases) < problem.min_split_rows
        or total(cases) / problem.unit < problem.min_split_weight - 1e-9
        or impurity(problem, cases) <= 0.0
        or (problem.acceptable_error and own_error(problem, cases) <= problem.acceptable_error)
        or (problem.max_depth is not None and depth >= problem.max_depth)
    )


def close(a, b):
    return abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))


def check_tree(problem, tree, cases, features=None):
    """Assert that every node of `tree` is what the definitions say about its cases."""
    features = range(len(problem.nominal)) if features is None else sorted(features)
    open_nodes = [(0, 0, cases, None)]
    while open_nodes:
        index, depth, cases, parent = open_nodes.pop()
        check_sums(problem, tree, index, cases, parent)
        if not cases:
            assert tree.nodes[index]["kind"] == 0
            continue
        if is_stopped(problem, cases, depth):
            assert tree.nodes[index]["kind"] == 0
            continue
        best = {j: best_of_column(problem, cases, j) for j in features}
        best = {j: found for j, found in best.items() if found is not None}
        if problem.criterion == "above_average_gain_ratio" and best:
            average = sum(gain for gain, _ in best.values()) / len(best)
            best = {j: found for j, found in best.items() if found[0] >= average - 1e-9}
        if tree.nodes[index]["kind"] == 0:
            much = SOMETHING * impurity(problem, cases)
            if not problem.allow_zero_gain:
                best = {j: found for j, found in best.items() if found[0] > much}
            assert not best, f"node {index} is a leaf, but could gain {best}"
            continue
        for b, part in enumerate(check_split(problem, tree, index, cases, best)):
            open_nodes.append((int(tree.nodes[index]["first_child"]) + b, depth + 1, part, index))


def check_sums(problem, tree, index, cases, parent):
    node, values = tree.nodes[index], tree.values[index]
    assert node["n_samples"] == len(cases)
    assert close(node["weight"], total(cases))
    if not cases:
        # An empty branch answers as its parent.
        assert values.tolist() == tree.values[parent].tolist()
        return
    assert close(node["impurity"], impurity(problem, cases))
    if problem.n_classes:
        assert all(map(close, values, class_weights(problem, cases)))
    else:
        assert close(values[0], mean(problem, cases))


def check_split(problem, tree, index, cases, best):
    """The chosen split is the best; return the cases of its branches."""
    column = int(tree.nodes[index]["feature"])
    assert column in best, f"node {index} has a split that is not valid"
    chosen = branch_function(tree, index)
    parts = branches_of(problem, cases, column, chosen)
    raw_gain, information = rate(problem, cases, column, chosen)
    quality = best[column][1]
    if is_subset(problem, column) and "gain_ratio" in problem.criterion:
        quality = raw_gain / information
    # Targets may be tiny, and so may all gains.
    scale = min(1.0, impurity(problem, cases))
    for other, (_, other_quality) in best.items():
        assert other_quality <= quality + 1e-9 * scale, f"node {index}: column {other} is better"
        if other < column:
            tie = quality - 1e-13 * scale
            assert other_quality < tie, f"node {index}: column {other} wins the tie"
    rated = rated_splits(problem, cases, column)
    assert close(raw_gain, max(split[1] for split in rated))
    if not problem.nominal[column]:
        is_test_of_missing = tree.nodes[index]["kind"] == 5
        threshold = STAND_IN / 4 if is_test_of_missing else float(tree.nodes[index]["threshold"])
        # Any threshold between the same two values of the node makes the same split.
        known = known_cases(problem, cases, column)
        at_most = max(x for row, _ in known if (x := problem.table[row][column]) <= threshold)
        earlier = [raw for name, raw, *_ in rated if name < at_most]
        tie = raw_gain - 1e-13 * scale
        assert all(raw < tie for raw in earlier), "a lower threshold wins the tie"
    return [parts.get(b, []) for b in range(int(tree.nodes[index]["n_children"]))]


def branch_function(tree, index):
    node = tree.nodes[index]
    if node["kind"] == 5:
        return lambda x: 0 if is_stand_in(x) else 1
    branches = None if node["kind"] == 1 else tree.branches(index)

    def branch(x):
        if is_stand_in(x):
            return int(node["missing_branch"])
        return int(x > node["threshold"]) if branches is None else int(branches[int(x)])

    return branch


STAND_IN = 10**6


def is_stand_in(x):
    """Whether a value stands for a missing one (see `with_missing_as_value`)."""
    return x == STAND_IN


def with_missing_as_value(table):
    """A table where a missing value is one more category, or larger than every number."""
    return [[STAND_IN if value is None else value for value in row] for row in table]


class Grower:
    """DT(S) for one part of the rows after the other."""

    def __init__(self, problem):
        self.problem = problem
        self.splits = {}

    def grow(self, cases, features):
        return self._subtree(tuple(cases), sorted(features), 0, None)

    def _subtree(self, cases, features, depth, parent):
        if not cases:
            # An empty branch answers as its parent.
            return Node(answer_from=parent.answer_from)
        is_classes = self.problem.n_classes > 0
        answer = class_weights(self.problem, cases) if is_classes else [mean(self.problem, cases)]
        node = Node(weight=total(cases), answer_from=answer)
        if is_stopped(self.problem, cases, depth):
            return node
        found = [(self._split(cases, j), j) for j in features]
        found = [(split, j) for split, j in found if split is not None]
        if not found:
            return node
        best = max(split[0] for split, _ in found)
        (_, node.name, node.branch, parts), node.column = next(
            (split, j) for split, j in found if ties(split[0], best)
        )
        node.children = [self._subtree(part, features, depth + 1, node) for part in parts]
        return node

    def _split(self, cases, column):
        """(quality, name, branch, cases of each branch) of a column, or None."""
        key = (cases, column)
        if key not in self.splits:
            self.splits[key] = best_split(self.problem, cases, column)
        return self.splits[key]


def ties(quality, best):
    """Whether two numbers that are summed in different orders may be equal."""
    return quality >= best - 1e-10 * max(1.0, best)


def best_split(problem, cases, column):
    """(quality, name, branch, cases of each branch) of the split of most gain; None without one.

    The first of equal gain, in the order of `every_split`, or of `subsets_in_order`.
    """
    # Rows of merged cases cannot be counted.
    counts_rows = problem.min_leaf_rows > 1
    cases_by_value = list(cases) if counts_rows else merged(problem, cases, column)
    rated = {name: split for name, *split in rated_splits(problem, cases_by_value, column)}
    if not rated:
        return None
    scale = impurity(problem, cases)
    most = max(raw for raw, _, _ in rated.values())
    tied = {name for name, (raw, _, _) in rated.items() if raw >= most - 1e-11 * scale}
    names = (
        subsets_in_order(problem, cases_by_value, column) if is_subset(problem, column) else rated
    )
    name = next(name for name in names if name in tied)
    _, gain, quality = rated[name]
    if gain < -1e-11 * scale if problem.allow_zero_gain else gain <= 3e-11 * scale:
        return None
    if max(gain, 0.0) < problem.min_gain * (1 - 1e-9):
        return None
    branch = dict(every_split(problem, cases_by_value, column))[name]
    n_branches = 2
    if problem.nominal[column]:
        branch, n_branches = with_absent(problem, cases_by_value, column, branch)
    parts = branches_of(problem, cases, column, branch)
    return quality, name, branch, [tuple(parts.get(b, ())) for b in range(n_branches)]


def merged(problem, cases, column):
    """Cases of equal value and class as one case of their weight."""
    weights, rows = {}, {}
    for row, weight in cases:
        key = problem.table[row][column], problem.target[row]
        weights[key] = weights.get(key, 0.0) + weight
        rows.setdefault(key, row)
    return [(rows[key], weight) for key, weight in weights.items()]


def with_absent(problem, cases, column, branch):
    """A nominal split for categories that no case has too, and its number of branches.

    A multiway split has one branch for all of them; they follow the heavier branch of a subset
    split, and the rest of a category's split.
    """
    present = {problem.table[row][column] for row, _ in known_cases(problem, cases, column)}
    if problem.nominal_split != "multiway":
        return lambda x: branch(x) if x in present else 1, 2
    n_branches = len(present) + (len(present) < problem.n_categories)
    return lambda x: branch(x) if x in present else len(present), n_branches


def subsets_in_order(problem, cases, column):
    """Categories of branch 0, the first of equal gain first: the lighter side of each partition.

    Two classes and numbers: categories change sides by their share of the second class, or their
    mean, as in Breiman's theorem, unless some category is too light to be a branch. Else every
    partition, in the order of the reflected Gray code.
    """
    by_category = {}
    for row, weight in known_cases(problem, cases, column):
        by_category.setdefault(problem.table[row][column], []).append((row, weight))
    categories = sorted(by_category)
    sizes = {c: total(by_category[c]) for c in categories}
    is_large = min(map(len, by_category.values())) >= problem.min_leaf_rows
    is_heavy = min(sizes.values()) >= problem.min_leaf_weight - 1e-9
    if problem.n_classes <= 2 and is_large and is_heavy:
        shares = {
            c: class_weights(problem, by_category[c])[1] / sizes[c]
            if problem.n_classes
            else mean(problem, by_category[c])
            for c in categories
        }
        order = sorted(categories, key=lambda c: (round(shares[c], 9), c))
        sides = [set(order[:n]) for n in range(1, len(order))]
    else:
        codes = [step ^ step >> 1 for step in range(1, 2 ** (len(categories) - 1))]
        sides = [{c for b, c in enumerate(categories[1:]) if code >> b & 1} for code in codes]
    for side in sides:
        rest = set(categories) - side
        surplus = sum(sizes[c] for c in side) - sum(sizes[c] for c in rest)
        is_even = abs(surplus) <= 1e-9 * sum(sizes.values())
        is_lighter = categories[0] in side if is_even else surplus < 0
        yield tuple(sorted(side if is_lighter else rest))
