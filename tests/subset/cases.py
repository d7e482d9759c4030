"""Small random problems for the searches over feature subsets, and their brute force."""

import numpy as np
from hypothesis import strategies as st

from sktree_opt.greedy._registries import (
    CLASSIFICATION_CRITERIA,
    NOMINAL_SPLITS,
    REGRESSION_CRITERIA,
)
from sktree_opt.preprocessing._table import Table
from sktree_opt.subset.errors._parts import EstimatePart
from sktree_opt.subset.lattice._subset_problem import SubsetProblem
from tests.reference.brute_force_subsets import BruteForce
from tests.reference.naive_greedy_tree import Grower, Problem

# All columns by their common value, some, none.
MERGE_RULES = [(1.0, 0), (0.5, 2), (-1.0, 0)]
N_CATEGORIES = 6  # of nominal columns, present or not
CRITERIA = ["information_gain", "gain_ratio", "gini", "error", "gini_cost"]


def fit_with_midpoints(tree, X, y, sample_weight=None):
    """A greedy classifier as searches for features rate it: its thresholds are not made short."""
    return tree._fit_tree(X, y, sample_weight, is_classifier=True, has_short_thresholds=False)


class Case:
    """A table, an error estimate and a learner's parameters."""

    def __init__(
        self,
        table,
        nominal,
        y,
        parts,
        criterion,
        parameters,
        costs=None,
        groups=None,
        order_index=(0, 0),
        merge_equal=(0.5, 10),
        reads_cuts=True,
        loss=None,
    ):
        self.table, self.nominal, self.y, self.parts = table, nominal, y, parts
        self.criterion = criterion
        defaults = {"nominal_split": "multiway", "numeric_gain_penalty": False, "min_gain": 0.0}
        self.parameters = defaults | parameters
        self.n_classes = max(y) + 1 if loss is None else 0
        self.loss = loss
        self.costs = None if costs is None else np.array(costs)[: self.n_classes, : self.n_classes]
        self.groups = groups
        self.reading = {
            "order_index": order_index,
            "merge_equal": merge_equal,
            "reads_cuts": reads_cuts,
        }
        matrix = np.array(
            [[np.nan if value is None else value for value in row] for row in table], dtype=float
        )
        n_categories = [N_CATEGORIES if is_nominal else -1 for is_nominal in nominal]
        self.grower = Grower(self.naive())
        self.encoded = Table.from_matrix(np.asfortranarray(matrix), n_categories)

    def problem(self, **options):
        quality = {**CLASSIFICATION_CRITERIA, **REGRESSION_CRITERIA}[self.criterion]
        nominal_split = self.parameters["nominal_split"]
        if self.loss is not None:
            options["loss"] = self.loss
        return SubsetProblem(
            self.encoded,
            self.y,
            self.n_classes,
            self.parts,
            measure=quality.measure,
            gain_ratio=quality.gain_ratio,
            costs=self.costs,
            groups=self.groups,
            **{**self.parameters, "nominal_split": NOMINAL_SPLITS[nominal_split].code},
            **self.reading,
            **options,
        )

    def grow(self, subset):
        """DT(S) of each part, by the definitions."""
        rows = [
            list(zip(part.build_rows.tolist(), part.build_weights.tolist(), strict=True))
            for part in self.parts
        ]
        return [self.grower.grow(cases, subset) for cases in rows]

    def naive(self):
        """The learner's parameters and data, as the slow references read them."""
        return Problem(
            self.table,
            self.y,
            self.nominal,
            self.criterion,
            costs=self.costs,
            n_classes=self.n_classes,
            n_categories=N_CATEGORIES,
            **self.parameters,
        )

    def brute_force(self, kept=()):
        return BruteForce(
            self.table, self.y, self.parts, self.grow, self.costs, self.groups, kept, self.loss
        )


@st.composite
def parts_of(draw, n_rows):
    """One to three parts with random building and search rows, which may overlap."""
    parts = []
    for _ in range(draw(st.sampled_from([1, 1, 1, 3]))):
        side = draw(st.lists(st.sampled_from("bbsx"), min_size=n_rows, max_size=n_rows))
        build = [i for i in range(n_rows) if side[i] in "bx"] or [0]
        search = [i for i in range(n_rows) if side[i] in "sx"] or [n_rows - 1]
        weight = draw(st.sampled_from([[1.0], [1.0, 2.0, 3.0], [0.25, 1.0, 1.75]]))
        weights = draw(st.lists(st.sampled_from(weight), min_size=n_rows, max_size=n_rows))
        weights = np.array(weights)
        parts.append(
            EstimatePart(np.array(build), weights[build], np.array(search), weights[search])
        )
    return parts


@st.composite
def groups_of(draw, n_columns):
    """None, or columns dealt out to a few groups and to none."""
    if n_columns < 2 or draw(st.booleans()):
        return None
    group = st.integers(-1, draw(st.integers(0, 2)))
    numbers = draw(st.lists(group, min_size=n_columns, max_size=n_columns))
    groups = [[j for j in range(n_columns) if numbers[j] == g] for g in range(3)]
    return [group for group in groups if group]


@st.composite
def costs_of(draw, n_classes):
    """A cost matrix of whole numbers or of binary fractions, whose sums have exact ties."""
    unit = draw(st.sampled_from([1.0, 0.25]))
    cost = st.integers(0, 6).map(lambda number: number * unit)
    return np.array([[draw(cost) for _ in range(n_classes)] for _ in range(n_classes)], dtype=float)


@st.composite
def cases(draw, max_rows=16, max_columns=6, with_groups=False, min_columns=1, numbers=False):
    """A random problem, of classes or of numbers."""
    n_rows = draw(st.integers(3, max_rows))
    n_columns = draw(st.integers(min_columns, max_columns))
    nominal = draw(st.lists(st.booleans(), min_size=n_columns, max_size=n_columns))
    n_values = draw(st.integers(2, 6))
    missing = draw(st.sampled_from([0, 0, 1]))
    value = st.integers(-missing, n_values - 1).map(lambda v: None if v < 0 else v)
    row = st.lists(value, min_size=n_columns, max_size=n_columns)
    table = draw(st.lists(row, min_size=n_rows, max_size=n_rows))
    n_classes = draw(st.integers(2, 4))
    y = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows))
    parameters = {
        "nominal_split": draw(st.sampled_from(sorted(NOMINAL_SPLITS))),
        "min_split_rows": draw(st.sampled_from([2, 2, 4])),
        "min_leaf_rows": draw(st.sampled_from([1, 1, 2])),
        "min_split_weight": draw(st.sampled_from([2, 2, 4])),
        "min_leaf_weight": draw(st.sampled_from([0, 1, 2])),
        "every_branch": draw(st.booleans()),
        "allow_zero_gain": draw(st.integers(0, 3)) == 0,
        "acceptable_error": draw(st.sampled_from([0.0, 0.0, 0.0, 0.25])),
        "max_depth": draw(st.sampled_from([None, None, 1, 3])),
        "numeric_gain_penalty": draw(st.booleans()),
        "min_gain": draw(st.sampled_from([0.0, 0.0, 0.1])),
    }
    criterion, loss = draw(st.sampled_from(CRITERIA)), None
    if numbers:
        criterion, loss = (
            "squared_error",
            draw(st.sampled_from(["squared_error", "absolute_error"])),
        )
        target = st.integers(-3, draw(st.sampled_from([-2, 0, 20]))).map(lambda v: v * 0.75)
        y = draw(st.lists(target, min_size=n_rows, max_size=n_rows))
        parameters["numeric_gain_penalty"] = False
    has_costs = criterion == "gini_cost" or draw(st.integers(0, 4)) == 0
    costs = draw(costs_of(n_classes)) if has_costs and not numbers else None
    groups = draw(groups_of(n_columns)) if with_groups else None
    order_index = draw(st.sampled_from([(0, 0), (0, 4), None]))
    merge_equal = draw(st.sampled_from(MERGE_RULES))
    parts = draw(parts_of(n_rows))
    return Case(
        table,
        nominal,
        y,
        parts,
        criterion,
        parameters,
        costs,
        groups,
        order_index=order_index,
        merge_equal=merge_equal,
        reads_cuts=draw(st.booleans()),
        loss=loss,
    )


def large_case(seed):
    """A problem of a few columns, mostly of one value, and nodes of hundreds of cases."""
    rng = np.random.RandomState(seed)
    n_rows, n_columns = rng.randint(150, 400), rng.randint(2, 5)
    nominal = (rng.uniform(size=n_columns) < 0.7).tolist()
    n_values = rng.choice([2, 3, 60], size=n_columns)
    codes = np.where(
        rng.uniform(size=(n_rows, n_columns)) < rng.choice([0.2, 0.7]),
        rng.randint(n_values, size=(n_rows, n_columns)) % np.where(nominal, 6, 60),
        0,
    )
    is_missing = rng.uniform(size=codes.shape) < rng.choice([0.0, 0.05])
    table = [
        [None if gone else int(code) for code, gone in zip(row, of_row, strict=True)]
        for row, of_row in zip(codes, is_missing, strict=True)
    ]
    y = ((codes.sum(axis=1) + (rng.uniform(size=n_rows) < 0.2)) % rng.randint(2, 4)).tolist()
    weights = rng.choice([1.0, 2.0], size=n_rows) if rng.randint(2) else np.ones(n_rows)
    build, search = np.arange(n_rows)[::2], np.arange(n_rows)[1::2]
    part = EstimatePart(build, weights[build], search, weights[search])
    parameters = {
        "nominal_split": "multiway",
        "min_split_weight": 2,
        "min_leaf_weight": rng.choice([1, 8]),
        "min_leaf_rows": int(rng.choice([1, 8])),
        "max_depth": None,
    }
    criterion = rng.choice(["information_gain", "gini", "gain_ratio"])
    return Case(table, nominal, y, [part], criterion, parameters, order_index=(32, 10))
