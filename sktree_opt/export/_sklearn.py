"""A tree as a fitted scikit-learn decision tree.

This is the one file that knows the inside of scikit-learn's trees. It fills whatever fields the
installed version has by their names; a field that it does not know stays zero, which means "not
used" in every version so far.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sktree_opt.export._binary import BinaryColumn, columns_with_holes, make_binary
from sktree_opt.export._description import Description, TreeEstimator
from sktree_opt.export.code._program import make_program
from sktree_opt.tree._node import IS_MISSING, LEAF
from sktree_opt.utils._compat import (
    SKLEARN_NODE_DTYPE,
    StrOptions,
    make_sklearn_tree,
    validate_params,
)

NO_CHILD, NO_FEATURE, NO_THRESHOLD = -1, -2, -2.0
# A test whether a value is known. It is not infinity, which other tools cannot write as a number.
LARGEST = float(np.finfo(np.float32).max)


@validate_params(
    {"leaf_values": [StrOptions({"auto", "probabilities", "answers"})]},
    prefer_skip_nested_validation=True,
)
def to_sklearn(
    estimator: TreeEstimator,
    *,
    leaf_values: Literal["auto", "probabilities", "answers"] = "auto",
) -> DecisionTreeClassifier | DecisionTreeRegressor | Pipeline:
    """Make a fitted scikit-learn decision tree that predicts the same.

    For tools that know scikit-learn's trees: its ``plot_tree`` and ``export_text``, SHAP,
    converters to ONNX and PMML.

    Parameters
    ----------
    estimator : fitted tree estimator
        The tree.

    leaf_values : {"auto", "probabilities", "answers"}, default="auto"
        scikit-learn's trees answer the most probable class of a leaf, whereas a cost matrix or a
        metric may make a leaf answer another one. "probabilities" keeps those of ``predict_proba``,
        and is an error if a leaf answers another class. "answers" gives the class that a leaf
        answers the probability 1. "auto" is the first where it is possible, otherwise the second.

    Returns
    -------
    tree : DecisionTreeClassifier, DecisionTreeRegressor or Pipeline
        Fitted. For a table with categories, a pipeline of a ``ColumnTransformer``, which numbers
        the categories of the tested columns and drops the other columns, and a tree. Its input has
        the same columns as the estimator's.

    Raises
    ------
    ValueError
        If `leaf_values` is "probabilities" and a leaf answers another class, or if the tree would
        need more than 100,000 nodes.

    Notes
    -----
    scikit-learn rounds its input to float32 before it compares it. Therefore a threshold is rounded
    too, to the nearest float32, and to the lower one when it lies halfway between two. With that,
    a tree that was fitted to float32 values predicts exactly the same for float32 values. Other
    numbers may take the other branch if they are within a relative 6e-8 of a threshold, but not
    equal to it.

    Greedy trees send a row that misses the value of a test down every branch. For a column that
    missed values in training, the result asks whether the value is missing, and the leaves below
    hold means of leaves, so that the tree grows. For other columns, a missing value in new data
    follows scikit-learn's own rule for that case: it goes down the branch with more weight.
    Training weights of nodes that the tree itself does not have are estimates.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import export_text
    >>> from sktree_opt.greedy import GreedyTreeClassifier
    >>> from sktree_opt.export import to_sklearn
    >>> X, y = load_iris(return_X_y=True)
    >>> print(export_text(to_sklearn(GreedyTreeClassifier(max_depth=1).fit(X, y))))
    |--- feature_2 <= 2.00
    |   |--- class: 0
    |--- feature_2 >  2.00
    |   |--- class: 1
    """
    words = Description(estimator)
    refuse_times(words, "scikit-learn's trees compare")
    tree, program, with_holes = words.tree, make_program(words), columns_with_holes(words)
    has_categories = program.categories or any(c is not None for c in words.categories)
    is_plain = not has_categories and not any(
        test is not None and test.missing < 0 and test.feature in with_holes
        for test in program.tests
    )
    if is_plain:
        answers = np.array(program.decisions) if tree.is_classifier else None
        leaves = tree.nodes["kind"] == LEAF
        values = chosen_values(words, leaf_values, program.probabilities, answers, leaves)
        return fitted_tree(words, node_records(tree), values, tree.n_features, tree.depth)
    binary = make_binary(words, is_exact=False)
    probabilities = np.array(binary.probabilities)
    leaves = np.array(binary.column) < 0
    answers = None
    if tree.is_classifier:
        answers = np.array([-1 if answer is None else answer for answer in binary.answer])
    values = chosen_values(words, leaf_values, probabilities, answers, leaves)
    if not has_categories:
        records = binary_records(binary, [column.feature for column in binary.columns])
        return fitted_tree(words, records, values, tree.n_features, depth_of(binary))
    if not binary.columns:
        # A tree without a test; scikit-learn wants a column all the same.
        categories = words.categories[0]
        # One that has missing values alone has no category; the encoder wants one all the same.
        known = None if categories is None else tuple(categories) or (0.0,)
        binary.columns.append(BinaryColumn(0, known))
    # Numbers first, then categories: the order of the transformer.
    order = sorted(range(len(binary.columns)), key=lambda k: binary.columns[k].order is not None)
    place = {k: i for i, k in enumerate(order)}
    records = binary_records(binary, [place[k] for k in range(len(order))])
    made = fitted_tree(words, records, values, len(order), depth_of(binary), has_names=False)
    encoder = column_encoder(words, [binary.columns[k] for k in order])
    return Pipeline([("encode", encoder), ("tree", made)])


def refuse_times(words, who):
    """Raise if the tree tests a column of dates, times or durations."""
    asked = [words.feature_names[j] for j in words.tree.features if j in words.times]
    if asked:
        raise ValueError(
            f"Column {asked[0]!r} holds dates, times or durations; {who} numbers only. Make "
            "numbers of the column before fit, for example days."
        )


def fitted_tree(words, records, values, n_features, depth, has_names=True):
    """A scikit-learn tree with these nodes, and the parameters that it has."""
    estimator, n_leaves = words.model, int(np.sum(records["left_child"] < 0))
    parameters = {"max_depth": max(1, depth), "max_leaf_nodes": max(2, n_leaves)}
    if words.tree.is_classifier:
        made = DecisionTreeClassifier(**parameters)
        made.classes_ = np.asarray(words.labels)
        made.n_classes_ = np.int64(len(made.classes_))
        n_classes = len(made.classes_)
    else:
        made = DecisionTreeRegressor(**parameters)
        n_classes = 1
    made.n_outputs_ = 1
    made.n_features_in_ = made.max_features_ = n_features
    if has_names and hasattr(estimator, "feature_names_in_"):
        made.feature_names_in_ = estimator.feature_names_in_
    made.tree_ = make_sklearn_tree(records, values[:, None, :], n_features, n_classes, depth)
    return made


def chosen_values(words, leaf_values, probabilities, answers, leaves):
    """The values of scikit-learn's nodes: class probabilities, answers, or means."""
    if answers is None:
        return probabilities
    differs = leaves & (answers != probabilities.argmax(axis=1))
    if leaf_values == "probabilities" and differs.any():
        label = words.class_names[answers[np.flatnonzero(differs)[0]]]
        raise ValueError(
            f"Because of {reason_of(words.model)} a leaf answers {label!r}, which is not its most "
            "probable class; scikit-learn's trees answer that. leaf_values='answers' keeps the "
            "answers."
        )
    if leaf_values == "answers" or differs.any():
        values = probabilities.copy()
        values[leaves] = np.eye(probabilities.shape[1])[answers[leaves]]
        return values
    return probabilities


def reason_of(estimator):
    """Why leaves may answer another class than their most frequent one."""
    if getattr(estimator, "_answers", None) is not None:
        return "the metric"
    return "smoothing" if getattr(estimator, "_costs", None) is None else "the cost matrix"


def column_encoder(words, columns):
    """A fitted transformer that makes numbers of the tested columns."""
    numbers = [column.feature for column in columns if column.order is None]
    steps = [("numbers", "passthrough", numbers)] if numbers else []
    categories = {}
    for k, column in enumerate(column for column in columns if column.order is not None):
        values = np.array(column.order, dtype=object)
        if not any(isinstance(value, str) for value in column.order):
            values = np.array(column.order)
        encoder = OrdinalEncoder(
            categories=[values], handle_unknown="use_encoded_value", unknown_value=-1
        )
        steps.append((f"categories_{k}", encoder, [column.feature]))
        categories[column.feature] = column.order[0]
    row = [categories.get(j, 0.0) for j in range(words.tree.n_features)]
    # Categories that are numbers are fitted as such: an array without strings has numbers.
    has_strings = any(isinstance(value, str) for value in row)
    table = np.empty((1, len(row)), dtype=object if has_strings else float)
    table[0] = row
    if hasattr(words.model, "feature_names_in_"):
        import pandas

        names = words.model.feature_names_in_
        table = pandas.DataFrame({name: [value] for name, value in zip(names, row, strict=True)})
        table = table[list(names)]
    return ColumnTransformer(steps).fit(table)


def depth_of(binary):
    """Number of tests on the longest path."""
    depths = [0] * len(binary.column)
    for index, (left, right) in enumerate(zip(binary.left, binary.right, strict=True)):
        if left >= 0:
            depths[left] = depths[right] = depths[index] + 1
    return max(depths)


def binary_records(binary, feature_of):
    """The nodes of a ``BinaryTree`` as scikit-learn's records."""
    column = np.array(binary.column)
    inner, is_leaf = column >= 0, column < 0
    nodes = np.zeros(len(column), dtype=SKLEARN_NODE_DTYPE)
    nodes["left_child"], nodes["right_child"] = binary.left, binary.right
    nodes["feature"] = np.where(inner, np.array([*feature_of, NO_FEATURE])[column], NO_FEATURE)
    thresholds = np.array(binary.threshold)
    finite = np.isfinite(thresholds)
    safe = safe_thresholds(np.where(finite, thresholds, 0.0))
    nodes["threshold"] = np.select([is_leaf, ~finite], [NO_THRESHOLD, LARGEST], safe)
    nodes["missing_go_to_left"] = np.array(binary.missing_left) & inner
    nodes["weighted_n_node_samples"] = binary.weight
    nodes["n_node_samples"] = np.maximum(1, np.round(binary.weight))
    values = np.array(binary.probabilities)
    # The spread within leaves that hold means of leaves is not known.
    gini = 1.0 - np.sum(values**2, axis=1)
    nodes["impurity"] = gini if values.shape[1] > 1 else 0.0
    return nodes


def node_records(tree):
    """The nodes as scikit-learn's records."""
    ours, inner = tree.nodes, tree.nodes["kind"] != LEAF
    is_missing = ours["kind"] == IS_MISSING
    first = ours["first_child"].astype(np.int64)
    nodes = np.zeros(tree.n_nodes, dtype=SKLEARN_NODE_DTYPE)
    # "Is missing" becomes "x <= the largest number", with known values left, missing ones right.
    nodes["left_child"] = np.where(inner, first + is_missing, NO_CHILD)
    nodes["right_child"] = np.where(inner, first + ~is_missing, NO_CHILD)
    nodes["feature"] = np.where(inner, ours["feature"], NO_FEATURE)
    thresholds = safe_thresholds(ours["threshold"])
    nodes["threshold"] = np.select([~inner, is_missing], [NO_THRESHOLD, LARGEST], thresholds)
    nodes["impurity"] = ours["impurity"]
    nodes["n_node_samples"] = ours["n_samples"]
    nodes["weighted_n_node_samples"] = ours["weight"]
    left, right = (ours["weight"][np.where(inner, first + b, 0)] for b in (0, 1))
    by_weight = ours["missing_branch"] < 0
    goes_left = np.where(by_weight, left > right, ours["missing_branch"] == 0)
    nodes["missing_go_to_left"] = goes_left & inner & ~is_missing
    return nodes


def safe_thresholds(thresholds):
    """The nearest float32 of each threshold; the lower one halfway between two."""
    with np.errstate(over="ignore"):
        nearest = thresholds.astype(np.float32)
        lower = np.where(nearest > thresholds, np.nextafter(nearest, np.float32(-np.inf)), nearest)
        upper = np.nextafter(lower, np.float32(np.inf))
    to_lower, to_upper = thresholds - lower.astype(float), upper.astype(float) - thresholds
    return np.where(to_lower <= to_upper, lower, upper).astype(np.float64)
