"""Objectives for given rows: what engines read, and what the nodes of a tree answer and cost.

A rule of a registry says how leaves are scored. Together with the rows of a fit it becomes a
``ClassObjective`` or a ``TargetObjective``, which every later step asks: ``form`` and ``targets``
are what engines read, ``node_values`` is what each node of a tree answers and costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sktree_opt.optimal.objectives._leaf_objectives import (
    OBJECTIVES,
    REGRESSION_OBJECTIVES,
    LeafObjective,
    PessimisticError,
)
from sktree_opt.optimal.objectives._metrics import METRICS, SYMMETRIC_METRICS, check_callable
from sktree_opt.utils._validation import checked_costs

# C4.5's own.
DEFAULT_CONFIDENCE = PessimisticError().confidence

# The largest and the smallest sum of errors has about so many decimal digits.
EXTREME_ERROR = 290.0


@dataclass(frozen=True)
class ClassObjective:
    """An objective of a classification.

    Attributes
    ----------
    rule : object
        The entry of ``OBJECTIVES``.

    form : LeafObjective
        What engines minimise.

    targets : ndarray of int32, shape (n_rows,)
        Class codes.

    classes : ndarray
        Class labels.

    class_weights : ndarray of float64, shape (n_classes,)
        Weight of each class.

    costs : ndarray of shape (n_classes, n_classes) or None
        What it costs to answer each class (column) for each class (row), where that decides what
        leaves answer.

    class_factors : ndarray of shape (n_classes,) or None
        Factors of the class frequencies, in probabilities.

    metric : str, callable or None
        A metric of two classes' errors that is to be minimised instead of the sum over leaves.

    positive : int
        Code of the positive class of a metric.
    """

    rule: Any
    form: LeafObjective
    targets: np.ndarray
    classes: np.ndarray
    class_weights: np.ndarray
    costs: np.ndarray | None = None
    class_factors: np.ndarray | None = None
    metric: str | Callable | None = None
    positive: int = 1

    def node_values(self, reached):
        """Values of each node (its class weights) and what it costs as a leaf.

        Parameters
        ----------
        reached : NodeRows
            What reaches each node.
        """
        return reached.weights, self.rule.leaf_costs(
            reached.weights, self.class_weights, self.costs
        )


@dataclass(frozen=True)
class TargetObjective:
    """An objective of a regression.

    Attributes
    ----------
    rule : object
        The entry of ``REGRESSION_OBJECTIVES``.

    form : LeafObjective
        What engines minimise.

    targets : ndarray of float64, shape (n_rows,)
        Centred, so that sums of their squares lose no digits to the mean.

    given_targets : ndarray of float64, shape (n_rows,)
        As users gave them.

    weights : ndarray of float64, shape (n_rows,)
        Weights of the rows.
    """

    rule: Any
    form: LeafObjective
    targets: np.ndarray
    given_targets: np.ndarray
    weights: np.ndarray
    metric = None

    def node_values(self, reached):
        """Values of each node (its answer, as a column) and what it costs as a leaf."""
        answers, costs = self.rule.node_values(self.given_targets, self.weights, reached)
        return answers[:, np.newaxis], costs


def is_metric(objective):
    """Whether an objective is a metric of two classes' errors and not a sum over leaves."""
    return callable(objective) or objective in METRICS


def class_objective(objective, data, cost_matrix=None, pos_label=None, confidence=0.25):
    """The objective of a classification for some rows.

    Parameters
    ----------
    objective : str or callable
        A name of ``OBJECTIVES`` or ``METRICS``, or a function of two classes' errors.

    data : TrainingData

    cost_matrix : array-like or None, default=None
        For "cost".

    pos_label : label or None, default=None
        The positive class of a metric.

    confidence : float, default=0.25
        Of "pessimistic_error".

    Returns
    -------
    objective : ClassObjective
    """
    class_weights = np.bincount(data.y, weights=data.weights, minlength=len(data.classes))
    metric = objective if is_metric(objective) else None
    positive = 1
    if metric is not None:
        positive = checked_positive(metric, pos_label, data.classes, class_weights)
    elif pos_label is not None:
        raise ValueError(f"pos_label has no meaning for objective={objective!r}.")
    # The nodes of a tree by a metric are measured by their errors.
    rule = OBJECTIVES["error" if metric is not None else objective]
    if objective == "pessimistic_error":
        rule = PessimisticError(confidence)
    elif confidence != DEFAULT_CONFIDENCE:
        raise ValueError(f"confidence has no meaning for objective={objective!r}.")
    costs = class_factors = None
    if rule.needs_costs:
        if cost_matrix is None:
            raise ValueError(f"objective={objective!r} needs a cost_matrix.")
        costs = checked_costs(cost_matrix, data)
    elif cost_matrix is not None:
        raise ValueError(f"cost_matrix has no meaning for objective={objective!r}.")
    if objective == "balanced_error":
        costs, class_factors = rule.costs(class_weights), rule.factors(class_weights)
    return ClassObjective(
        rule=rule,
        form=rule.leaf_form(class_weights, data.weights, costs),
        targets=data.y,
        classes=data.classes,
        class_weights=class_weights,
        costs=costs,
        class_factors=class_factors,
        metric=metric,
        positive=positive,
    )


def target_objective(objective, data):
    """The objective of a regression for some rows: see ``class_objective``."""
    rule = REGRESSION_OBJECTIVES[objective]
    # The mean is counted from a target, so that equal targets differ from it by nothing.
    with np.errstate(over="ignore", invalid="ignore"):
        rises = data.y - data.y[0]
        centre = float(data.y[0] + np.average(rises, weights=data.weights))
        targets = data.y - centre
        distance = float(np.abs(targets).max())
    refuse_extreme_targets(distance, rule.power, data.weights)
    return TargetObjective(
        rule=rule,
        form=rule.leaf_form(targets, data.weights),
        targets=targets,
        given_targets=data.y,
        weights=data.weights,
    )


def checked_positive(metric, pos_label, classes, class_weights):
    """Code of the positive class; refuses what cannot be a metric of these classes."""
    if len(classes) != 2:
        raise ValueError(f"objective={metric!r} is a metric of two classes; y has {len(classes)}.")
    positive = positive_code(metric, pos_label, classes)
    if callable(metric):
        check_callable(metric, class_weights if positive == 1 else class_weights[::-1])
    return positive


def positive_code(metric, pos_label, classes):
    """Code of the positive class of a metric, as scikit-learn's metrics take `pos_label`."""
    if pos_label is not None:
        found = np.flatnonzero(classes == pos_label)
        if len(found) != 1:
            raise ValueError(
                f"pos_label must be one of the classes {classes.tolist()}, got {pos_label!r}."
            )
        return int(found[0])
    # Metrics that treat both classes alike need no positive one.
    is_number = classes.dtype.kind in "biuf" and classes.tolist() in ([0, 1], [-1, 1])
    if not is_number and metric not in SYMMETRIC_METRICS:
        asked = "a function" if callable(metric) else repr(metric)
        raise ValueError(
            f"y has the classes {classes.tolist()}, and {asked} is asked for: pass the positive "
            "one of them as pos_label. It may be left out only for the classes 0 and 1, or -1 and "
            "1."
        )
    return 1


def refuse_extreme_targets(distance, power, weights):
    """Raise if errors would overflow or underflow.

    They are powers of the distance of targets from their mean; the largest is `distance`.
    """
    if distance == 0.0:
        return
    # Means are made of sums of weighted targets, which are squared, too.
    digits = EXTREME_ERROR - power * abs(np.log10(weights.max())) - np.log10(len(weights))
    most = 10.0 ** (digits / power)
    # The mean overflows when targets differ by more than the largest float.
    distance = np.nan_to_num(distance, nan=np.inf)
    if not 1.0 / most <= distance <= most:
        raise ValueError(
            f"The targets y are up to {distance:g} away from their mean; the errors of a tree are "
            f"floats where that is between {1.0 / most:.0e} and {most:.0e}: scale y."
        )
