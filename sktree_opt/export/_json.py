"""A tree with its names and categories as JSON, and back to an estimator that predicts."""

from __future__ import annotations

import json
import numbers
import re
import sys
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from sktree_opt._version import __version__
from sktree_opt.export._description import Model, fitted_tree, last_step
from sktree_opt.preprocessing._encoder import NOMINAL, NUMERIC, ORDINAL, TableEncoder
from sktree_opt.preprocessing._times import TIME_KINDS
from sktree_opt.tree import Tree
from sktree_opt.tree._mixin import TreeClassifierMixin, TreeRegressorMixin
from sktree_opt.tree._node import is_category
from sktree_opt.tree._smoothing import smoothed_probabilities

FORMAT = "sktree_opt.tree"
FORMAT_VERSION = 1
KINDS = (NUMERIC, NOMINAL, ORDINAL, *TIME_KINDS)
# Attributes that say what is known of the tree, each with an underscore at its end.
PROOF = ("status", "objective", "lower_bound", "gap", "optimality_scope")
# An array of strings may have room for longer ones than it holds, but not for any length.
MAX_UNUSED_LENGTH = 100_000


def to_json(estimator: Model, *, indent: int | None = None) -> str:
    """Write a fitted tree estimator as JSON.

    The text holds all that prediction needs: the tree, the columns with their names and
    categories, the class labels, the cost matrix, or what each node answers where a metric was
    optimised. It also says which estimator with which parameters found the tree, and what was
    proved of it. It can be kept, compared and read without this package, and it runs no code when
    read, as a pickle does. Categories are strings, numbers, or intervals and timestamps of pandas,
    which is then needed to read them. The file ``sktree_opt/export/tree.schema.json`` describes the
    format.

    Parameters
    ----------
    estimator : fitted tree estimator
        What to write. For a fitted pipeline or search, the tree at its end, which takes the columns
        that the earlier steps make.

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
    fitted: Any
    fitted, names = last_step(estimator)
    tree, encoder = fitted_tree(fitted), getattr(fitted, "_encoder", None)
    if encoder is None:
        raise TypeError("to_json writes estimators; for a Tree there is its own to_json.")
    has_names = hasattr(fitted, "feature_names_in_")
    if has_names or names is None:
        names = encoder.feature_names_
    else:
        has_names = True
    columns: list[dict[str, Any]] = []
    for name, kind, categories in zip(names, encoder.kinds_, encoder.categories_, strict=True):
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
        "has_column_names": has_names,
        "training": training_record(fitted),
        "tree": tree.to_dict(),
    }
    if tree.is_classifier:
        labels = np.asarray(fitted.classes_)
        state["classes"] = plain_values(labels, "The class labels")
        state["classes_dtype"] = labels.dtype.str
        smoothing = fitted._smoothing() if hasattr(fitted, "_smoothing") else {}
        added = smoothing.get("leaf_smoothing")
        state["leaf_smoothing"] = added if added is None or added == "laplace" else float(added)
        state["hierarchical_shrinkage"] = float(smoothing.get("hierarchical_shrinkage", 0.0))
        costs = getattr(fitted, "_costs", None)
        state["costs"] = None if costs is None else np.asarray(costs).tolist()
        factors = getattr(fitted, "_class_factors", None)
        if factors is not None:
            state["class_factors"] = factors.tolist()
        answers = getattr(fitted, "_answers", None)
        if answers is not None:
            state["answers"] = np.asarray(answers).tolist()
    return json.dumps(state, indent=indent, ensure_ascii=False, allow_nan=False)


def from_json(text: str) -> FrozenTreeClassifier | FrozenTreeRegressor:
    """Read what ``to_json`` wrote.

    Parameters
    ----------
    text : str
        JSON.

    Returns
    -------
    estimator : FrozenTreeClassifier or FrozenTreeRegressor
        Predicts as the estimator that was written, from the same kinds of tables. It cannot be
        fitted. ``training_`` is a dict that says how the tree was found: the estimator, its
        parameters, and the version of this package. For a search it also has the status, the
        objective, its lower bound, the gap and the scope of optimality. These are attributes too:
        ``status_``, ``objective_``, ``lower_bound_``, ``gap_`` and ``optimality_scope_``.

    Raises
    ------
    ValueError
        If `text` is not what ``to_json`` wrote. The message says what is wrong.
    """
    what = f"Not a tree written by to_json (format {FORMAT} {FORMAT_VERSION})"
    try:
        state = json.loads(text, parse_constant=refuse_constant)
    except RecursionError as error:
        raise ValueError(f"{what}: the text is nested too deeply.") from error
    except ValueError as error:
        raise ValueError(f"{what}: the text is no JSON: {error}.") from error
    found = state.get("format") if isinstance(state, dict) else None
    version = state.get("format_version") if found == FORMAT else None
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise ValueError(f"{what}: a newer version of sktree_opt has written it ({version}).")
    if found != FORMAT or version != FORMAT_VERSION:
        raise ValueError(f"{what}.")
    try:
        return make_estimator(state)
    except KeyError as error:
        raise ValueError(f"{what}: {error} is missing.") from error
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{what}: a part of it is damaged: {error}") from error


def refuse_constant(word):
    """Raise for NaN and infinity, which are no JSON."""
    raise ValueError(f"{word} is not a number of JSON")


def training_record(estimator):
    """How the tree was found, and what was proved of it."""
    if isinstance(estimator, FrozenTree):
        return getattr(estimator, "training_", {})
    record = {
        "estimator": type(estimator).__name__,
        "version": __version__,
        "parameters": {name: plain_parameter(v) for name, v in estimator.get_params().items()},
    }
    for name in PROOF:
        value = getattr(estimator, f"{name}_", None)
        if value is not None:
            record[name] = plain_parameter(value)
    return record


def plain_parameter(value):
    """A parameter as JSON; as Python text if JSON cannot hold it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {name: plain_parameter(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain_parameter(part) for part in value]
    is_plain = value is None or isinstance(value, (bool, str, numbers.Integral))
    is_finite = isinstance(value, float) and np.isfinite(value)
    return value if is_plain or is_finite else repr(value)


def make_estimator(state):
    """The estimator that a dict describes."""
    tree = Tree.from_dict(state["tree"])
    is_negative = tree.is_classifier and np.any(tree.values < 0)
    if not np.isfinite(tree.values).all() or is_negative:
        raise ValueError("The values of the nodes are not those of a tree.")
    if len(state["columns"]) != tree.n_features:
        raise ValueError("The columns do not fit the tree.")
    if tree.is_classifier:
        estimator = FrozenTreeClassifier()
        n_classes = tree.values.shape[1]
        estimator.classes_ = classes_of(state["classes"], state["classes_dtype"], n_classes)
        estimator.leaf_smoothing = state["leaf_smoothing"]
        if estimator.leaf_smoothing not in (None, "laplace"):
            estimator.leaf_smoothing = finite(state, "leaf_smoothing")
        estimator.hierarchical_shrinkage = finite(state, "hierarchical_shrinkage")
        # Refuses negative smoothing; numbers may also be too large for probabilities.
        with np.errstate(all="ignore"):
            probabilities = smoothed_probabilities(
                tree, estimator.leaf_smoothing, estimator.hierarchical_shrinkage
            )
        if not np.allclose(probabilities.sum(axis=1), 1.0):
            raise ValueError("The nodes do not give probabilities.")
        estimator._costs = costs_of(state["costs"], n_classes)
        if "class_factors" in state:
            estimator._class_factors = factors_of(state["class_factors"], n_classes)
        if "answers" in state:
            estimator._answers = answers_of(state["answers"], tree)
    elif tree.values.shape[1] > 1:
        raise ValueError("The nodes of a regression tree must have one value each.")
    else:
        estimator = FrozenTreeRegressor()
    estimator.tree_ = tree
    estimator._encoder = TableEncoder.from_columns(columns_of(state["columns"], tree))
    estimator.n_features_in_ = tree.n_features
    if boolean(state, "has_column_names"):
        estimator.feature_names_in_ = np.array(estimator._encoder.feature_names_, dtype=object)
    # Texts of earlier versions have none.
    estimator.training_ = state.get("training", {})
    for name in PROOF:
        if name in estimator.training_:
            setattr(estimator, f"{name}_", estimator.training_[name])
    return estimator


def boolean(state, name):
    """A part that has to be true or false."""
    if not isinstance(state[name], bool):
        raise ValueError(f"{name} must be true or false, got {state[name]!r}.")
    return state[name]


def finite(state, name):
    """A part that has to be a finite number."""
    value = state[name]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}.")
    return float(value)


def classes_of(labels, dtype, n_classes):
    """The class labels as an array of the type that they had."""
    # numpy would take lists of types as well.
    if not re.fullmatch(r"[<>|=]?[biufUO]\d{0,9}", dtype):
        raise ValueError(f"classes_dtype {dtype!r} is not one of class labels.")
    dtype = np.dtype(dtype)
    if len(labels) != n_classes or len(set(labels)) != n_classes:
        raise ValueError("The class labels do not fit the tree.")
    longest = max((len(label) for label in labels if isinstance(label, str)), default=0)
    if dtype.itemsize > 8 + 4 * (longest + MAX_UNUSED_LENGTH):
        raise ValueError(f"classes_dtype {dtype.str!r} is not one of class labels.")
    classes = np.array(labels, dtype=dtype)
    if classes.tolist() != list(labels):
        raise ValueError("The class labels do not fit their type.")
    return classes


def costs_of(costs, n_classes):
    """The cost matrix, if there is one."""
    if costs is None:
        return None
    matrix = np.array(costs, dtype=np.float64)
    if matrix.shape != (n_classes, n_classes) or not np.isfinite(matrix).all():
        raise ValueError("The costs do not fit the tree.")
    return matrix


def factors_of(factors, n_classes):
    """Factors of the class weights."""
    found = np.array(factors, dtype=np.float64)
    if found.shape != (n_classes,) or not np.isfinite(found).all() or (found < 0.0).any():
        raise ValueError("The class factors do not fit the tree.")
    return found


def columns_of(columns, tree):
    """The columns for ``TableEncoder.from_columns``, checked against the tests on them."""
    nodes, read = tree.nodes, []
    tests_category = is_category(nodes["kind"])
    for j, column in enumerate(columns):
        kind, name = column["kind"], column["name"]
        if kind not in KINDS or not isinstance(name, str):
            raise ValueError(f"Column {j} is not described as a column.")
        if kind not in (NOMINAL, ORDINAL):
            categories = None
        else:
            categories = [read_category(category) for category in column["categories"]]
            is_known = all(category is not None for category in categories)
            if not is_known or len(set(categories)) != len(categories):
                raise ValueError(f"The categories of column {name!r} are not distinct values.")
        own = nodes[tests_category & (nodes["feature"] == j)]
        n_codes = 0 if kind != NOMINAL else len(categories)
        if len(own) and own["n_categories"].max() > n_codes:
            raise ValueError(f"The categories of column {name!r} do not fit the tree.")
        column = {"name": name, "kind": kind}
        if categories is not None:
            column["categories"] = categories
        if "had_holes" in columns[j]:
            column["had_holes"] = boolean(columns[j], "had_holes")
        read.append(column)
    return read


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
        """Raise an error: the tree stays as it was read.

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
            Never.

        Raises
        ------
        TypeError
            Always. ``sklearn.frozen.FrozenEstimator`` around the estimator has a ``fit`` that does
            nothing, for tools that need one.
        """
        raise TypeError(
            f"A {type(self).__name__} was read from JSON and cannot be fitted. Wrap it in "
            "sklearn.frozen.FrozenEstimator where fit has to do nothing."
        )

    def __sklearn_clone__(self):
        return self


class FrozenTreeClassifier(TreeClassifierMixin, FrozenTree, BaseEstimator):
    """A classification tree read from JSON."""


class FrozenTreeRegressor(TreeRegressorMixin, FrozenTree, BaseEstimator):
    """A regression tree read from JSON."""
