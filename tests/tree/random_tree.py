"""Trees and tables drawn at random, with every kind of node and of missing value routing."""

from dataclasses import dataclass, field

import numpy as np

from sktree_opt.export._json import FrozenTreeClassifier, FrozenTreeRegressor
from sktree_opt.preprocessing._encoder import TableEncoder
from sktree_opt.tree import Tree
from sktree_opt.tree._node import NODE_DTYPE

LEAF, NUMERIC, MULTIWAY, ONE, SUBSET, IS_MISSING = range(6)

COLUMNS = [
    {"name": "width (cm)", "kind": "numeric"},
    {"name": "height", "kind": "numeric"},
    {"name": "colour", "kind": "nominal", "categories": ["blue", "green", "red"]},
    {
        "name": "town",
        "kind": "nominal",
        "categories": ["a, b", "Big {X}", "not", "or missing", "z"],
    },
    {"name": "code", "kind": "nominal", "categories": [1, 5, 7, 1000]},
    {"name": "size", "kind": "ordinal", "categories": ["small", "medium", "large", "huge"]},
    {"name": "urgent", "kind": "ordinal", "categories": [False, True]},
]
NUMERIC_COLUMNS = [COLUMNS[0], COLUMNS[1], COLUMNS[5], COLUMNS[6]]
# A coarse grid, so that values meet thresholds.
GRID = np.array([-3.0, -0.1, 0.0, 0.1, 0.30000000000000004, 1.5, 2.75, 1e6])


@dataclass
class Draft:
    """A node before it has an index."""

    values: np.ndarray
    weight: float
    n_samples: int
    kind: int = LEAF
    feature: int = -1
    threshold: float = np.nan
    missing_branch: int = -1
    branch_of: list = field(default_factory=list)
    children: list = field(default_factory=list)


def random_tree(
    rng, columns=COLUMNS, n_outputs=3, max_depth=4, *, is_classifier=True, by_weight=None
):
    """A random tree; `by_weight` True or False sends all missing values, or none, by weight."""
    root = grow(rng, columns, n_outputs, max_depth, is_classifier, by_weight)
    nodes, values, category_branch, queue = [], [], [], [root]
    n_nodes = 1
    # Breadth first, so that children are contiguous and come after their parents.
    while queue:
        draft = queue.pop(0)
        node = np.zeros((), dtype=NODE_DTYPE)
        for name in ("kind", "feature", "threshold", "weight", "n_samples"):
            node[name] = getattr(draft, name)
        node["missing_branch"], node["category_start"] = draft.missing_branch, -1
        node["impurity"] = rng.random()
        node["first_child"] = n_nodes if draft.children else -1
        node["n_children"] = len(draft.children)
        n_nodes += len(draft.children)
        if draft.branch_of:
            node["category_start"] = len(category_branch)
            node["n_categories"] = len(draft.branch_of)
            category_branch += draft.branch_of
        nodes.append(node)
        values.append(draft.values)
        queue += draft.children
    return Tree(
        np.array(nodes, dtype=NODE_DTYPE),
        np.array(values),
        category_branch,
        n_features=len(columns),
        is_classifier=is_classifier,
    )


def grow(rng, columns, n_outputs, depth, is_classifier, by_weight):
    """A random sub-tree."""
    if depth == 0 or rng.random() < 0.15:
        return random_leaf(rng, n_outputs, is_classifier)
    draft = random_test(rng, columns)
    n_children = max(draft.branch_of) + 1 if draft.kind == MULTIWAY else 2
    draft.children = [
        grow(rng, columns, n_outputs, depth - 1, is_classifier, by_weight)
        for _ in range(n_children)
    ]
    if draft.kind == MULTIWAY and draft.branch_of.count(n_children - 1) > 1:
        draft.children[-1] = random_leaf(rng, n_outputs, is_classifier)
        draft.children[-1].weight, draft.children[-1].n_samples = 0.0, 0
    total(draft, is_classifier)
    go_by_weight = rng.random() < 0.5 if by_weight is None else by_weight
    if draft.kind == IS_MISSING:
        draft.missing_branch = 0
    elif not go_by_weight:
        draft.missing_branch = int(rng.integers(n_children))
    else:
        draft.n_samples -= int(rng.integers(2)) * (draft.n_samples > 1)
    return draft


def random_leaf(rng, n_outputs, is_classifier):
    if not is_classifier:
        return Draft(np.array([rng.normal()]), float(rng.integers(1, 20)), 3)
    values = rng.integers(0, 6, n_outputs) * rng.choice([1.0, 1.0 / 3.0])
    values[rng.integers(n_outputs)] += 1.0
    return Draft(values, float(values.sum()), int(np.ceil(values.sum())))


def random_test(rng, columns):
    """A draft of a test without children."""
    feature = int(rng.integers(len(columns)))
    categories = columns[feature].get("categories", ())
    draft = Draft(None, 0.0, 0, feature=feature)
    if rng.random() < 0.15:
        draft.kind = IS_MISSING
    elif columns[feature]["kind"] == "nominal":
        draft.kind = int(rng.choice([MULTIWAY, ONE, SUBSET]))
        draft.branch_of = random_branches(rng, draft.kind, len(categories))
    else:
        draft.kind = NUMERIC
        cut = float(rng.choice(GRID))
        if categories:
            cut = float(rng.integers(len(categories) - 1)) + rng.choice([0.0, 0.5])
        draft.threshold = cut
    return draft


def random_branches(rng, kind, n_categories):
    """A branch for each category."""
    if kind == ONE:
        branches = np.ones(n_categories, dtype=int)
        branches[rng.integers(n_categories)] = 0
    elif kind == SUBSET:
        branches = rng.permutation([0, 1, *rng.integers(0, 2, n_categories - 2)])
    else:
        # The categories that are absent at the node share a last branch.
        present = np.flatnonzero(rng.random(n_categories) < 0.6)
        present = present if len(present) > 1 else np.arange(2)
        branches = np.full(n_categories, len(present))
        branches[present] = np.arange(len(present))
    return branches.tolist()


def total(draft, is_classifier):
    """Give a test the sums of its children; an empty leaf gets its parent's values."""
    filled = [child for child in draft.children if child.weight > 0]
    draft.weight = sum(child.weight for child in filled)
    draft.n_samples = sum(child.n_samples for child in filled)
    if is_classifier:
        draft.values = sum(child.values for child in filled)
    else:
        draft.values = sum(child.weight * child.values for child in filled) / draft.weight
    for child in draft.children:
        if child.weight == 0:
            child.values = draft.values


def random_rows(rng, n_rows, columns=COLUMNS):
    """Rows of cells: NaN or None where missing, and some categories that no encoder knows."""
    rows = np.empty((n_rows, len(columns)), dtype=object)
    for j, column in enumerate(columns):
        if column["kind"] == "numeric":
            cells = np.where(
                rng.random(n_rows) < 0.5, rng.choice(GRID, n_rows), rng.normal(size=n_rows)
            )
            rows[:, j] = cells.tolist()
        else:
            choices = list(column["categories"])
            if column["kind"] == "nominal":
                choices.append("unknown" if isinstance(choices[0], str) else 12345)
            rows[:, j] = [choices[k] for k in rng.integers(len(choices), size=n_rows)]
    rows[rng.random(rows.shape) < 0.15] = None
    return rows


def encode(rows, columns=COLUMNS):
    """The float matrix of rows."""
    return np.ascontiguousarray(TableEncoder.from_columns(columns).transform(rows))


def model_of(tree, columns=COLUMNS, labels=None, costs=None, smooth=False, shrinkage=0.0):
    """A fitted estimator around a tree."""
    if tree.is_classifier:
        model = FrozenTreeClassifier()
        n_classes = tree.values.shape[1]
        model.classes_ = np.array(
            [f"class {k}" for k in range(n_classes)] if labels is None else labels
        )
        model._costs, model.hierarchical_shrinkage = costs, shrinkage
        model.leaf_smoothing = {False: None, True: "laplace"}.get(smooth, smooth)
    else:
        model = FrozenTreeRegressor()
    model.tree_, model._encoder = tree, TableEncoder.from_columns(columns)
    model.n_features_in_ = len(columns)
    return model
