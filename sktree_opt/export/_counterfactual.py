"""The smallest change of a row that gives it another answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from sktree_opt.export._description import Model, category_text, describe
from sktree_opt.export.code._one_row import RowPredictor, read_row
from sktree_opt.preprocessing._times import DAY
from sktree_opt.utils._validation import is_missing


@dataclass(frozen=True)
class Counterfactual:
    """A row with another answer, and what was changed for it.

    Parameters
    ----------
    prediction : object
        The other answer: a class label, or a mean.

    changes : list of dict
        One for each changed column: ``feature``, ``from``, ``to``, ``condition`` (all values that
        would do, in words) and ``cost``.

    row : dict
        The whole row with the changes made. ``predict`` gives it the other answer.

    distance : float
        The sum of the costs. No row with another answer, and with the fixed columns as they are, is
        nearer.
    """

    prediction: object
    changes: list[dict[str, Any]]
    row: dict[str, Any]
    distance: float

    def __str__(self) -> str:
        """Say the changes in words."""
        lines = [f"The answer would be {self.prediction} with"]
        for change in self.changes:
            old = "a missing value" if change["from"] is None else category_text(change["from"])
            lines.append(f"- {change['condition']} instead of {old}")
        return "\n".join(lines)


def counterfactual(
    model: Model,
    row: object,
    *,
    answer: object = None,
    fixed: Sequence[str] = (),
    costs: Mapping[str, float] | None = None,
) -> Counterfactual | None:
    """Find the nearest row that has another answer.

    The search is exact: it looks at all ways through the tree, and leaves out only those that cost
    more than the best one found. By default, each changed column costs 1, so that as few columns as
    possible change; of the changes of as many columns, the smallest relative one is taken.

    Parameters
    ----------
    model : fitted tree estimator or Tree
        The tree. For a fitted pipeline or search, the tree at its end, which takes the columns
        that the earlier steps make.

    row : mapping, sequence, array or table of one row
        The row.

    answer : object, default=None
        The wanted answer: a class label, or, for regression, a pair (lowest, highest) of means.
        None for any other class; regression needs a pair.

    fixed : sequence of str, default=()
        Columns that must not change.

    costs : mapping of str to float, default=None
        Cost of changing a column: per unit of a number, per day of a date, a time or a duration,
        and per step of an ordered category. Any other category, and a missing value that is filled
        in, cost this amount once. Columns that are not named cost 1, however far they change.

    Returns
    -------
    found : Counterfactual or None
        None if no change gives the wanted answer.

    Notes
    -----
    A known value is never changed into a missing one. A missing value stays missing or is filled
    in. The distance to "more than 9" is the distance to 9; the row that is returned holds a number
    a little above it.

    Examples
    --------
    >>> from sktree_opt.datasets import load_loans
    >>> from sktree_opt.export import counterfactual
    >>> from sktree_opt.optimal import OptimalTreeClassifier
    >>> X, y = load_loans(return_X_y=True, as_frame=True)
    >>> tree = OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> row = {"employment": "student", "months": 6, "rating": "poor"}
    >>> print(counterfactual(tree, row, fixed=["employment"]))
    The answer would be repaid with
    - rating in {"fair", "good"} instead of "poor"
    - months > 9 instead of 6
    """
    words = describe(model)
    predictor = RowPredictor._of(words)
    cells = read_row(row, words.feature_names)
    check_names(fixed, words, "fixed")
    check_costs(costs or {}, words)
    values = predictor._values(cells)
    is_wanted = wanted_answers(predictor, answer, predictor._answer(predictor._leaves(values)))
    scales = Scales(words, predictor, values, frozenset(fixed), dict(costs or {}))
    search = Search(predictor, scales, is_wanted)
    search.run([(0, 1.0)], {}, {}, [])
    return None if search.best is None else make_result(words, predictor, scales, cells, search)


def check_names(names, words, what):
    """Raise for names of columns that the tree does not have."""
    if isinstance(names, str):
        raise TypeError(f"{what} must be a sequence of column names, got {names!r}.")
    unknown = sorted(set(names) - set(words.feature_names), key=str)
    if unknown:
        raise ValueError(f"{what} names columns that the tree does not have: {unknown}.")


def check_costs(costs, words):
    """Raise for costs that are negative, infinite or not numbers."""
    check_names(list(costs), words, "costs")
    for name, cost in costs.items():
        if not isinstance(cost, Real) or not cost >= 0 or math.isinf(cost):
            raise ValueError(
                f"costs[{name!r}] must be a finite number that is at least 0, got {cost!r}; name "
                "the column in fixed if it must not change."
            )


def wanted_answers(predictor, answer, now):
    """A function that tells whether an answer is wanted."""
    labels = predictor.program.labels
    if labels is None:
        try:
            low, high = (float(bound) for bound in answer)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"answer must be a pair (lowest, highest) for a regression tree, got {answer!r}."
            ) from error
        return lambda mean: low <= mean <= high
    if answer is None:
        return lambda label: label != now
    if answer not in labels:
        raise ValueError(f"answer must be one of the classes {labels}, got {answer!r}.")
    return lambda label: label == answer


@dataclass(frozen=True)
class Box:
    """Known values of one column: numbers above `lower` and at most `upper`, or category codes."""

    lower: float = -math.inf
    upper: float = math.inf
    codes: frozenset | None = None

    def after(self, test, code_of, branch):
        """The values that take a branch of a test as well; None if there are none."""
        if test.groups is not None:
            codes = self.codes & {code_of[c] for c in test.groups[branch]}
            return Box(codes=codes) if codes else None
        if test.threshold is None:
            return self if branch == 1 else None
        lower, upper = self.lower, self.upper
        if branch == 0:
            upper = min(upper, test.threshold)
        else:
            lower = max(lower, test.threshold)
        return Box(lower, upper) if lower < upper else None


class Scales:
    """Cost of moving a value into a box, and the relative size of the move, which settles ties."""

    def __init__(self, words, predictor, values, fixed, costs):
        self.values, self.costs, self.fixed = values, costs, fixed
        self.names = predictor.feature_names
        self.code_of = predictor._code_of
        encoder = getattr(words.model, "_encoder", None)
        kinds = encoder.kinds_ if encoder is not None else ["nominal"] * len(self.names)
        self.is_ordered = {j: kinds[j] == "ordinal" for j in predictor.program.features}
        # A change of a date, a time or a duration costs by the day.
        self.unit_of = dict.fromkeys(predictor.program.times, DAY)

    def is_fixed(self, feature):
        """Whether a column must not change."""
        return self.names[feature] in self.fixed

    def full_box(self, feature):
        """All known values."""
        code_of = self.code_of.get(feature)
        return Box() if code_of is None else Box(codes=frozenset(code_of.values()))

    def price(self, feature, box):
        """Cost and relative size of the smallest change into a box; None if it is not allowed."""
        value, cost = self.values[feature], self.costs.get(self.names[feature])
        is_inside = value is not None and (
            value in box.codes if box.codes is not None else box.lower < value <= box.upper
        )
        if is_inside:
            return 0.0, 0.0
        if self.is_fixed(feature):
            return None
        if value is None or (box.codes is not None and not self.is_ordered[feature]):
            return 1.0 if cost is None else float(cost), 1.0
        if box.codes is not None:
            steps = min(abs(code - value) for code in box.codes)
            relative = steps / max(1, len(self.code_of[feature]) - 1)
        else:
            edge = box.upper if value > box.upper else box.lower
            steps = abs(value - edge) / self.unit_of.get(feature, 1.0)
            relative = abs(value - edge) / max(abs(value), abs(edge), 5e-324)
        return 1.0 if cost is None else cost * steps, relative


@dataclass
class Search:
    """Depth first through all ways that a changed row can take, the cheapest branch first."""

    predictor: RowPredictor
    scales: Scales
    is_wanted: Callable[[object], bool]
    best: tuple | None = None
    boxes: dict = field(default_factory=dict)
    prediction: object = None

    def run(self, open_nodes, boxes, prices, leaves):
        """Go on from `open_nodes`; a column without a box has not been asked about.

        The box of a missing value that stays missing is None.
        """
        tests = self.predictor.program.tests
        open_nodes = list(open_nodes)
        while open_nodes:
            index, share = open_nodes.pop()
            test = tests[index]
            if test is None:
                leaves = [*leaves, (index, share)]
                continue
            feature = test.feature
            if feature in boxes and boxes[feature] is None:
                open_nodes += missing_ways(test, share)
                continue
            if feature not in boxes and self.scales.values[feature] is None:
                # Either it stays missing, or any value is filled in.
                kept = [*open_nodes, *missing_ways(test, share)]
                self.run(kept, {**boxes, feature: None}, prices, leaves)
            for price, box, branch in self._branches(test, boxes, prices):
                ways = [*open_nodes, (test.children[branch], share)]
                self.run(ways, {**boxes, feature: box}, {**prices, feature: price}, leaves)
            return
        self._arrive(boxes, prices, leaves)

    def _branches(self, test, boxes, prices):
        """Branches that a known value can take for less than the best cost, cheapest first."""
        feature, found = test.feature, []
        here = boxes.get(feature) or self.scales.full_box(feature)
        others = [price for j, price in prices.items() if j != feature]
        for branch in range(len(test.children)):
            box = here.after(test, self.scales.code_of.get(feature), branch)
            price = None if box is None else self.scales.price(feature, box)
            if price is not None and (self.best is None or total([*others, price]) < self.best):
                found.append((price, branch, box))
        return [(price, box, branch) for price, branch, box in sorted(found, key=lambda f: f[:2])]

    def _arrive(self, boxes, prices, leaves):
        cost = total(prices.values())
        if self.best is not None and cost >= self.best:
            return
        prediction = self.predictor._answer(leaves)
        if self.is_wanted(prediction):
            self.best, self.boxes, self.prediction = cost, boxes, prediction


def missing_ways(test, share):
    """Where a missing value goes, with its shares."""
    if test.missing >= 0:
        return [(test.children[test.missing], share)]
    ways = zip(test.children, test.shares, strict=True)
    return [(child, share * part) for child, part in ways if part > 0]


def total(prices):
    """The sum of costs, then the sum of relative sizes."""
    prices = list(prices)
    return math.fsum(p[0] for p in prices), math.fsum(p[1] for p in prices)


def make_result(words, predictor, scales, cells, search):
    """The row and the records of what changed."""
    changes, changed = [], dict(cells)
    for feature, box in search.boxes.items():
        price = None if box is None else scales.price(feature, box)
        value, name = scales.values[feature], predictor.feature_names[feature]
        if box is None or (price == (0.0, 0.0) and is_in(value, box)):
            continue
        new = nearest_value(words, predictor, scales, feature, box, cells.get(name))
        if box.codes is None:
            new = words.value_of(feature, new)
        changed[name] = new
        known = None if is_missing(cells[name]) else cells[name]
        condition = f"{words.subject(feature)} {box_text(words, predictor, feature, box)}"
        changes.append(
            {"feature": name, "from": known, "to": new, "condition": condition, "cost": price[0]}
        )
    return Counterfactual(search.prediction, changes, changed, search.best[0])


def is_in(value, box):
    """Whether an encoded value is in a box."""
    if value is None:
        return False
    return value in box.codes if box.codes is not None else box.lower < value <= box.upper


def nearest_value(words, predictor, scales, feature, box, old):
    """The value in a box that is nearest to the old one, and short."""
    value = scales.values[feature]
    if box.codes is not None:
        codes = sorted(box.codes)
        if value is not None and scales.is_ordered[feature]:
            codes.sort(key=lambda code: abs(code - value))
        return predictor.program.categories[feature][codes[0]]
    is_whole = value is None or float(value).is_integer()
    if (value is not None and value > box.upper) or box.lower == -math.inf:
        number = min(box.upper, 0.0) if value is None else box.upper
        if is_whole and abs(number) < 2**53 and math.floor(number) > box.lower:
            number = float(math.floor(number))
    else:
        number = just_above(box.lower, box.upper, is_whole)
    return int(number) if isinstance(old, int) and float(number).is_integer() else number


def just_above(lower, upper, is_whole):
    """A short number above `lower` and at most `upper`."""
    if is_whole and abs(lower) < 2**53 and math.floor(lower) + 1 <= upper:
        return float(math.floor(lower) + 1)
    for digits in range(3, 17):
        step = 10.0 ** (math.floor(math.log10(abs(lower))) + 1 - digits) if lower else 10.0**-digits
        number = float(f"{(math.floor(lower / step) + 1) * step:.{digits}g}")
        if lower < number <= upper:
            return number
    return min(upper, math.nextafter(lower, math.inf))


def box_text(words, predictor, feature, box):
    """What a box allows, in words."""
    if box.codes is not None:
        codes, n_codes = sorted(box.codes), len(predictor.program.categories[feature])
        return words.category_set(feature, codes) if len(codes) < n_codes else "is not missing"
    if box.lower == -math.inf:
        has_no_end = box.upper == math.inf
        return "is not missing" if has_no_end else f"<= {words.threshold_text(feature, box.upper)}"
    text = f"> {words.threshold_text(feature, box.lower)}"
    if box.upper == math.inf:
        return text
    return f"{text} and <= {words.threshold_text(feature, box.upper)}"
