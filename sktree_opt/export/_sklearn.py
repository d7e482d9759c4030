"""A tree as a fitted scikit-learn decision tree.

This is the one file that knows the inside of scikit-learn's trees. It fills whatever fields the
installed version has by their names; a field that it does not know stays zero, which means "not
used" in every version so far.
"""

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sktree_opt.export._description import Description, TreeEstimator
from sktree_opt.export._rules import was_distributed
from sktree_opt.tree._node import CATEGORY_KINDS, IS_MISSING, LEAF, NUMERIC
from sktree_opt.utils._compat import SKLEARN_NODE_DTYPE, make_sklearn_tree

NO_CHILD, NO_FEATURE, NO_THRESHOLD = -1, -2, -2.0


def to_sklearn(estimator: TreeEstimator) -> DecisionTreeClassifier | DecisionTreeRegressor:
    """Make a fitted scikit-learn decision tree that predicts the same.

    For tools that know scikit-learn's trees: its ``plot_tree`` and ``export_text``, SHAP,
    converters to ONNX.

    Parameters
    ----------
    estimator : fitted tree estimator
        All tests must be on numbers, ordered categories or Booleans, or ask whether a value is
        missing; scikit-learn's trees have no others.

    Returns
    -------
    tree : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted. It takes numbers: for an ordered category the position of the category, and NaN
        where a value is missing.

    Raises
    ------
    ValueError
        If a test is on a nominal feature; if training rows that missed a value went down every
        branch of a test; if a cost matrix or a metric makes a leaf answer another class than its
        most frequent one. The message names the test.

    Notes
    -----
    scikit-learn rounds its input to float32 before it compares it. Therefore a threshold is rounded
    too, to the nearest float32, and to the lower one when it lies halfway between two. With that,
    a tree that was fitted to float32 values predicts exactly the same for float32 values. Of other
    numbers, those within a relative 6e-8 of a threshold, but not equal to it, may take the other
    branch.

    Where no training row missed the value of a test, a missing value in new data follows
    scikit-learn's own rule for that case: it goes down the branch with more weight.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import export_text
    >>> from sktree_opt.greedy import GreedyTreeClassifier
    >>> from sktree_opt.export import to_sklearn
    >>> X, y = load_iris(return_X_y=True)
    >>> print(export_text(to_sklearn(GreedyTreeClassifier(max_depth=1).fit(X, y))))
    |--- feature_2 <= 2.45
    |   |--- class: 0
    |--- feature_2 >  2.45
    |   |--- class: 1
    """
    words = Description(estimator)
    tree = words.tree
    refuse_inexpressible(words)
    values = leaf_values(estimator, words)
    if tree.is_classifier:
        made = DecisionTreeClassifier()
        made.classes_ = np.asarray(words.labels)
        made.n_classes_ = np.int64(len(made.classes_))
        n_classes = len(made.classes_)
    else:
        made = DecisionTreeRegressor()
        n_classes = 1
    made.n_outputs_ = 1
    made.n_features_in_ = made.max_features_ = tree.n_features
    if hasattr(estimator, "feature_names_in_"):
        made.feature_names_in_ = estimator.feature_names_in_
    made.tree_ = make_sklearn_tree(
        node_records(tree), values[:, None, :], tree.n_features, n_classes, tree.depth
    )
    return made


def refuse_inexpressible(words):
    """Raise for the first test that scikit-learn's trees cannot make."""
    tree = words.tree
    for index in np.flatnonzero(tree.nodes["kind"] != LEAF).tolist():
        node = tree.nodes[index]
        test = f"{words.subject(node['feature'])} {words.branches(index)[0].text}"
        if node["kind"] in CATEGORY_KINDS:
            raise ValueError(
                f"The test {test!r} is on a category; scikit-learn's trees compare numbers only."
            )
        if node["kind"] == NUMERIC and node["missing_branch"] < 0 and was_distributed(tree, index):
            raise ValueError(
                f"The test {test!r} sends rows that miss the value down every branch by weight; "
                "scikit-learn's trees send a row down one branch only."
            )


def leaf_values(estimator, words):
    """What scikit-learn's tree holds at its nodes: class probabilities, or means."""
    tree = words.tree
    values = tree.node_values()
    if not tree.is_classifier:
        return values
    leaves = tree.nodes["kind"] == LEAF
    decides_otherwise = leaves & (words.decisions != values.argmax(axis=1))
    if decides_otherwise.any():
        answer = words.answer(int(np.flatnonzero(decides_otherwise)[0]))
        raise ValueError(
            f"Because of {reason_of(estimator)} a leaf answers {answer!r}, which is not its most "
            "frequent class; scikit-learn's trees answer that."
        )
    return values if estimator is tree else estimator._node_probabilities()


def reason_of(estimator):
    """Why leaves may answer another class than their most frequent one."""
    if getattr(estimator, "_answers", None) is not None:
        return "the metric"
    objective = getattr(estimator, "objective", "cost")
    return "the cost matrix" if objective == "cost" else f"objective={objective!r}"


def node_records(tree):
    """The nodes as scikit-learn's records."""
    ours, inner = tree.nodes, tree.nodes["kind"] != LEAF
    is_missing = ours["kind"] == IS_MISSING
    first = ours["first_child"].astype(np.int64)
    nodes = np.zeros(tree.n_nodes, dtype=SKLEARN_NODE_DTYPE)
    # "Is missing" becomes "x <= infinity", with known values left and missing ones right.
    nodes["left_child"] = np.where(inner, first + is_missing, NO_CHILD)
    nodes["right_child"] = np.where(inner, first + ~is_missing, NO_CHILD)
    nodes["feature"] = np.where(inner, ours["feature"], NO_FEATURE)
    thresholds = safe_thresholds(ours["threshold"])
    nodes["threshold"] = np.select([~inner, is_missing], [NO_THRESHOLD, np.inf], thresholds)
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
