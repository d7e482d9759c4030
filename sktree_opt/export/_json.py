"""A tree with its names and categories as JSON, and back to an estimator that predicts."""

import json
import numbers
import sys
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from sktree_opt.export._description import TreeEstimator, fitted_tree
from sktree_opt.preprocessing import TableEncoder
from sktree_opt.tree import Tree, TreeClassifierMixin, TreeRegressorMixin
from sktree_opt.tree._smoothing import smoothed_probabilities

FORMAT = "sktree_opt.tree"
FORMAT_VERSION = 1


def to_json(estimator: TreeEstimator, *, indent: int | None = None) -> str:
    """Write a fitted tree estimator as JSON.

    The text holds all that prediction needs: the tree, the columns with their names and
    categories, the class labels, the cost matrix, or what each node answers where a metric was
    optimised. It can be kept, compared and read without this package, and it runs no code when
    read, as a pickle does. Categories are strings, numbers, or intervals and timestamps of pandas,
    which is then needed to read them.

    Parameters
    ----------
    estimator : fitted tree estimator
        What to write.

    indent : int, default=None
        Spaces of indentation; None for one line.

    Returns
    -------
    text : str
        JSON.

    Examples
    --------
    >>> from sktree_opt.greedy import GreedyTreeClassifier
    >>> from sktree_opt.export import from_json, to_json
    >>> tree = GreedyTreeClassifier().fit([["red"], ["blue"]], ["stop", "go"])
    >>> from_json(to_json(tree)).predict([["red"]])
    array(['stop'], dtype=...)
    """
    tree, encoder = fitted_tree(estimator), getattr(estimator, "_encoder", None)
    if encoder is None:
        raise TypeError("to_json writes estimators; for a Tree there is its own to_json.")
    columns: list[dict[str, Any]] = []
    for name, kind, categories in zip(
        encoder.feature_names_, encoder.kinds_, encoder.categories_, strict=True
    ):
        column = {"name": name, "kind": kind}
        if encoder.had_holes_ is not None:
            column["had_holes"] = encoder.had_holes_[len(columns)]
        if categories is not None:
            written = [write_category(category) for category in categories]
            column["categories"] = plain_values(written, f"The categories of column {name!r}")
        columns.append(column)
    state = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "columns": columns,
        "has_column_names": hasattr(estimator, "feature_names_in_"),
        "tree": tree.to_dict(),
    }
    if tree.is_classifier:
        labels = np.asarray(estimator.classes_)
        state["classes"] = plain_values(labels, "The class labels")
        state["classes_dtype"] = labels.dtype.str
        smoothing = estimator._smoothing() if hasattr(estimator, "_smoothing") else {}
        added = smoothing.get("leaf_smoothing")
        state["leaf_smoothing"] = added if added is None or added == "laplace" else float(added)
        state["hierarchical_shrinkage"] = float(smoothing.get("hierarchical_shrinkage", 0.0))
        costs = getattr(estimator, "_costs", None)
        state["costs"] = None if costs is None else np.asarray(costs).tolist()
        answers = getattr(estimator, "_answers", None)
        if answers is not None:
            state["answers"] = np.asarray(answers).tolist()
    return json.dumps(state, indent=indent, ensure_ascii=False, allow_nan=False)


def from_json(text: str) -> "FrozenTreeClassifier | FrozenTreeRegressor":
    """Read what ``to_json`` wrote.

    Parameters
    ----------
    text : str
        JSON.

    Returns
    -------
    estimator : FrozenTreeClassifier or FrozenTreeRegressor
        Predicts as the estimator that was written, from the same kinds of tables; its ``fit``
        changes nothing.

    Raises
    ------
    ValueError
        If `text` is not what ``to_json`` wrote. The message says what is wrong.
    """
    what = f"Not a tree written by to_json (format {FORMAT} {FORMAT_VERSION})"
    try:
        state = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{what}: the text is no JSON: {error}.") from error
    found = state.get("format") if isinstance(state, dict) else None
    if found != FORMAT or state.get("format_version") != FORMAT_VERSION:
        raise ValueError(f"{what}.")
    try:
        return make_estimator(state)
    except KeyError as error:
        raise ValueError(f"{what}: {error} is missing.") from error
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{what}: a part of it is damaged: {error}") from error


def make_estimator(state):
    """The estimator that a dict describes."""
    tree = Tree.from_dict(state["tree"])
    if len(state["columns"]) != tree.n_features:
        raise ValueError("The columns do not fit the tree.")
    if tree.is_classifier:
        estimator = FrozenTreeClassifier()
        labels = state["classes"]
        estimator.classes_ = np.array(labels, dtype=np.dtype(state["classes_dtype"]))
        estimator.leaf_smoothing = state["leaf_smoothing"]
        estimator.hierarchical_shrinkage = state["hierarchical_shrinkage"]
        # Refuses other values.
        smoothed_probabilities(tree, estimator.leaf_smoothing, estimator.hierarchical_shrinkage)
        estimator._costs = None if state["costs"] is None else np.array(state["costs"])
        if len(labels) != tree.values.shape[1]:
            raise ValueError("The class labels do not fit the tree.")
        if "answers" in state:
            estimator._answers = answers_of(state["answers"], tree)
    else:
        estimator = FrozenTreeRegressor()
    estimator.tree_ = tree
    columns = [
        {**column, "categories": [read_category(c) for c in column["categories"]]}
        if "categories" in column
        else column
        for column in state["columns"]
    ]
    estimator._encoder = TableEncoder.from_columns(columns)
    estimator.n_features_in_ = tree.n_features
    if state["has_column_names"]:
        estimator.feature_names_in_ = np.array(estimator._encoder.feature_names_, dtype=object)
    return estimator


def plain_values(values, what):
    """An array as a list of what JSON knows."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    for value in plain:
        # Only a category that has been written is a dict.
        if not isinstance(value, (str, bool, numbers.Integral, float, dict)):
            raise TypeError(
                f"{what} are of type {type(value).__name__}, which JSON cannot hold; make them "
                "strings or numbers before fit."
            )
    return plain


def write_category(value):
    """A category of pandas' own types as what JSON knows; any other as it is.

    ``pandas.cut`` makes intervals, of numbers or of dates. There are none without pandas, which
    need not be there.
    """
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(value, pandas.Interval):
        ends = [write_category(end) for end in (value.left, value.right)]
        return {"interval": plain_values(ends, "The ends of an interval"), "closed": value.closed}
    if pandas is not None and isinstance(value, pandas.Timestamp):
        return {"timestamp": value.isoformat()}
    return value


def read_category(value):
    """What ``write_category`` wrote."""
    if not isinstance(value, dict):
        return value
    import pandas

    if "timestamp" in value:
        return pandas.Timestamp(value["timestamp"])
    left, right = (read_category(end) for end in value["interval"])
    return pandas.Interval(left, right, closed=value["closed"])


def answers_of(answers, tree):
    """Index of the class that each node answers, as it was written."""
    answers = np.array(answers, dtype=np.intp)
    is_class = (answers >= 0) & (answers < tree.values.shape[1])
    if answers.shape != (tree.n_nodes,) or not is_class.all():
        raise ValueError("The answers do not fit the tree.")
    return answers


class FrozenTree:
    """An estimator whose tree was made elsewhere and stays as it is."""

    def fit(self, X: object, y: object = None, sample_weight: object = None) -> Self:
        """Do nothing.

        Parameters
        ----------
        X : object
            Ignored.

        y : object
            Ignored.

        sample_weight : object
            Ignored.

        Returns
        -------
        self : object
            The estimator as it was.
        """
        return self

    def __sklearn_clone__(self):
        return self


class FrozenTreeClassifier(TreeClassifierMixin, FrozenTree, BaseEstimator):
    """A classification tree read from JSON."""


class FrozenTreeRegressor(TreeRegressorMixin, FrozenTree, BaseEstimator):
    """A regression tree read from JSON."""
