"""All feature subsets, one after the other: what the searches over subsets must agree with.

Written from S. Ruggieri, "Complete Search for Feature Selection in Decision Trees", JMLR 20 (2019):
Definition 10 and section 6. DT(S) is asked for anew for every S; nothing is shared or skipped. Only
the error of a tree that has been met before is looked up: equal trees have equal errors.
"""

from itertools import chain, combinations


def all_subsets(n_features):
    features = range(n_features)
    return chain.from_iterable(combinations(features, k) for k in range(n_features + 1))


def verdicts_of(accepted, n_features):
    """For each feature whether all, some or none of the accepted subsets have it."""
    n_using = [sum(feature in used for used in accepted) for feature in range(n_features)]
    return ["none" if n == 0 else "all" if n == len(accepted) else "some" for n in n_using]


def signature(node):
    """A tree as nested tuples: equal trees are equal."""
    counts = tuple(round(value, 9) for value in node.answer_from)
    if not node.children:
        return counts
    test = (node.column, node.name)
    return (counts, test, tuple(signature(child) for child in node.children))


def votes(node, row):
    """Class frequencies of the leaves that a row reaches, weighed by its shares."""
    if not node.children:
        weight = sum(node.answer_from)
        return [value / weight for value in node.answer_from]
    value = row[node.column]
    if value is not None:
        return votes(node.children[node.branch(value)], row)
    weights = [child.weight for child in node.children]
    parts = [
        [child.weight / sum(weights) * vote for vote in votes(child, row)]
        for child in node.children
        if child.weight > 0
    ]
    return [sum(column) for column in zip(*parts, strict=True)]


def answer(tree, row, costs=None):
    """The class of most votes, or of least expected cost; the first of several."""
    of_row = votes(tree, row)
    if costs is None:
        return next(c for c, vote in enumerate(of_row) if vote >= max(of_row) - 1e-9)
    expected = [sum(v * costs[k][c] for k, v in enumerate(of_row)) for c in range(len(of_row))]
    return next(c for c, cost in enumerate(expected) if cost <= min(expected) + 1e-9)


def number(node, row):
    """The mean of the leaves that a row reaches, weighed by its shares."""
    if not node.children:
        return node.answer_from[0]
    value = row[node.column]
    if value is not None:
        return number(node.children[node.branch(value)], row)
    weight = sum(child.weight for child in node.children)
    parts = [child for child in node.children if child.weight > 0]
    return sum(child.weight / weight * number(child, row) for child in parts)


def loss_of(loss, distance):
    return distance**2 if loss == "squared_error" else abs(distance)


def weight_of_errors(trees, parts, table, y, costs, loss=None):
    """What the search rows of all parts cost that the trees get wrong."""
    wrong = 0.0
    for part, tree in zip(parts, trees, strict=True):
        for row, weight in zip(part.search_rows, part.search_weights, strict=True):
            if loss is not None:
                wrong += weight * loss_of(loss, y[row] - number(tree, table[row]))
                continue
            answered = answer(tree, table[row], costs)
            cost = answered != y[row] if costs is None else costs[y[row]][answered]
            wrong += weight * cost
    return wrong


class BruteForce:
    """DT(S) and its error for every S; `grow(S)` returns one tree for each part.

    With `groups`, for every S that holds all or none of each group; what a tree uses are then all
    features of the groups that it tests one of. With `kept`, for every S that holds the groups of
    these features, which count as used. With `loss`, the trees answer numbers.
    """

    def __init__(self, table, y, parts, grow, costs=None, groups=None, kept=(), loss=None):
        self.n_features = len(table[0])
        self.trees, self.errors, self.used = {}, {}, {}
        groups = groups or []
        loose = [[f] for f in range(self.n_features) if not any(f in group for group in groups)]
        self.units = sorted([*map(sorted, groups), *loose])
        total = sum(sum(part.search_weights) for part in parts)
        error_of_trees = {}
        self.kept = {f for unit in self.units if set(unit) & set(kept) for f in unit}
        for chosen in all_subsets(len(self.units)):
            if self.kept - {f for u in chosen for f in self.units[u]}:
                continue
            subset = tuple(sorted(f for u in chosen for f in self.units[u]))
            trees = grow(subset)
            tested = set().union(self.kept, *(tree.columns() for tree in trees))
            self.trees[subset] = tuple(signature(tree) for tree in trees)
            if self.trees[subset] not in error_of_trees:
                error = weight_of_errors(trees, parts, table, y, costs, loss) / total
                # Equal losses of numbers may differ by rounding.
                error_of_trees[self.trees[subset]] = error if loss is None else round(error, 11)
            self.errors[subset] = error_of_trees[self.trees[subset]]
            self.used[subset] = tuple(
                sorted(f for unit in self.units if tested & set(unit) for f in unit)
            )

    def distinct(self):
        """Features that the distinct trees use, sorted; each tree once."""
        found = {tree: self.used[subset] for subset, tree in self.trees.items()}
        return sorted(found.values())

    def error_of(self, used):
        return self.errors[tuple(used)]

    def best_error(self, penalty=0.0):
        return min(
            error + penalty * len(self.used[subset]) for subset, error in self.errors.items()
        )

    def n_leaves(self, subset):
        def count(node):
            is_leaf = not isinstance(node[-1], tuple)
            return 1 if is_leaf else sum(count(child) for child in node[-1])

        return sum(count(tree) for tree in self.trees[subset])

    def eliminate(self, tie_goes_on=True, max_features=None, black_box=False):
        """Section 6: (removed, used features, error) of each step, the full set first.

        While a tree uses more than `max_features`, ties and worse trees are accepted. A black box
        tries features that the tree does not use as any other.
        """
        left = tuple(range(self.n_features))
        steps = [((), self.used[left], self.errors[left])]
        while True:
            now = self.errors[left]
            is_forced = max_features is not None and len(self.used[left]) > max_features
            free = set(left if black_box else self.used[left]) - self.kept
            used = [tuple(unit) for unit in self.units if unit[0] in free]
            without = {a: tuple(f for f in left if f not in a) for a in used}
            best = min(
                without,
                key=lambda a: (self.errors[without[a]], self.n_leaves(without[a]), a),
                default=None,
            )
            unused = () if black_box else tuple(f for f in left if f not in self.used[left])
            if not self.used[left]:
                break
            if best is not None and self.errors[without[best]] < now:
                removed = best
            elif not tie_goes_on and not is_forced:
                break
            elif unused:
                removed = unused
            elif best is not None and (self.errors[without[best]] == now or is_forced):
                removed = best
            else:
                break
            left = tuple(f for f in left if f not in removed)
            steps.append((removed, self.used[left], self.errors[left]))
        return steps
