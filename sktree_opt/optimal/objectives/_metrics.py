"""Metrics of two classes' errors that are not sums over leaves."""

import inspect
from itertools import pairwise

import numpy as np


def f1_loss(fp, fn, negatives, positives):
    """One minus the F1 score of the positive class."""
    tp = positives - fn
    return 1.0 - divide(2.0 * tp, 2.0 * tp + fp + fn, 0.0)


def mcc_loss(fp, fn, negatives, positives):
    """One minus the correlation of classes and answers; 0 correlation if all answers are equal."""
    tp, tn = positives - fn, negatives - fp
    scale = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return 1.0 - divide(tp * tn - fp * fn, scale, 0.0)


def g_mean_loss(fp, fn, negatives, positives):
    """One minus the geometric mean of the shares of each class that are answered rightly."""
    return 1.0 - np.sqrt(
        divide(positives - fn, positives, 1.0) * divide(negatives - fp, negatives, 1.0)
    )


# To add one: a function of the errors' weights that never falls when one of them grows, and a line.
METRICS = {"f1": f1_loss, "mcc": mcc_loss, "g_mean": g_mean_loss}
# Those that do not change when the classes change places.
SYMMETRIC_METRICS = ("mcc", "g_mean")


# Steps of either error where a callable is looked at before the search.
GRID_POINTS = 9


def divide(numerator, denominator, otherwise):
    """Quotient; `otherwise` where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(
        np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    )
    result = np.full(numerator.shape, float(otherwise))
    np.divide(numerator, denominator, out=result, where=denominator > 0)
    return result


def losses_of(metric, errors, totals):
    """Loss of each pair of errors.

    Parameters
    ----------
    metric : str or callable
        A name of ``METRICS``, or a function of (false positives, false negatives).

    errors : ndarray of float64, shape (n_points, 2)
        Weights of the false positives and of the false negatives.

    totals : ndarray of float64, shape (2,)
        Weight of each class.

    Returns
    -------
    losses : ndarray of float64, shape (n_points,)
    """
    if not callable(metric):
        return METRICS[metric](errors[:, 0], errors[:, 1], *totals)
    points = errors.tolist()
    losses = np.array([loss_of(metric, fp, fn) for fp, fn in points])
    for point, loss in zip(points, losses.tolist(), strict=True):
        for worse in ((float(totals[0]), point[1]), (point[0], float(totals[1]))):
            refuse_fall(metric, point, loss, worse)
    # Both of two neighbours on a front are at least as good as the worse errors of either.
    order = np.lexsort((-errors[:, 1], errors[:, 0])).tolist()
    for first, second in pairwise(order):
        corner = [max(pair) for pair in zip(points[first], points[second], strict=True)]
        for at in (first, second):
            refuse_fall(metric, points[at], losses[at], corner)
    return losses


def loss_of(metric, fp, fn):
    """The loss of two errors by a callable."""
    value = metric(fp, fn)
    try:
        loss = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"objective({fp:g}, {fn:g}) is {value!r}, not a number.") from None
    if np.isnan(loss):
        raise ValueError(f"objective({fp:g}, {fn:g}) is not a number.")
    return loss


def refuse_fall(metric, point, loss, worse):
    """Refuse a callable that falls from some errors to worse ones by more than rounding."""
    other = loss_of(metric, *worse)
    if other < loss and not loss - other <= 1e-9 * max(abs(loss), abs(other)):
        (fp, fn), (more_fp, more_fn) = point, worse
        raise ValueError(
            "objective must not fall when false positives or false negatives grow: "
            f"objective({fp:g}, {fn:g}) is {loss:g}, but "
            f"objective({more_fp:g}, {more_fn:g}) is {other:g}."
        )


def check_callable(metric, totals):
    """Refuse a callable that does not take two errors, or falls on a coarse grid of them.

    The optimum of a callable that falls need not be on the front.
    """
    try:
        inspect.signature(metric).bind(0.0, 0.0)
    except TypeError as error:
        raise TypeError(
            "objective must take two numbers, the weights of the false positives and of the false "
            f"negatives: {error}."
        ) from None
    except ValueError:
        # Some built-in functions have no signature to look at.
        pass
    steps = [np.linspace(0.0, total, GRID_POINTS).tolist() for total in totals]
    losses = [[loss_of(metric, fp, fn) for fn in steps[1]] for fp in steps[0]]
    for i, fp in enumerate(steps[0]):
        for j, fn in enumerate(steps[1]):
            if i + 1 < GRID_POINTS:
                refuse_fall(metric, (fp, fn), losses[i][j], (steps[0][i + 1], fn))
            if j + 1 < GRID_POINTS:
                refuse_fall(metric, (fp, fn), losses[i][j], (fp, steps[1][j + 1]))
