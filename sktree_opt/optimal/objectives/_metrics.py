"""Metrics of two classes' errors that are no sum over leaves, and the search for their optimum."""

import inspect
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sktree_opt.optimal.bits._bit_rows import bit_rows, nodes_from_preorder
from sktree_opt.optimal.tree_sets._pareto import ParetoSearch
from sktree_opt.utils._control import SearchControl


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
    """What a callable says of two errors."""
    value = metric(fp, fn)
    try:
        loss = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"objective({fp:g}, {fn:g}) is {value!r}, not a number.") from None
    if np.isnan(loss):
        raise ValueError(f"objective({fp:g}, {fn:g}) is not a number.")
    return loss


def refuse_fall(metric, point, loss, worse):
    """Refuse a callable that falls from some errors to worse ones, but for rounding."""
    other = loss_of(metric, *worse)
    if other < loss and not loss - other <= 1e-9 * max(abs(loss), abs(other)):
        (fp, fn), (more_fp, more_fn) = point, worse
        raise ValueError(
            "objective must not fall when false positives or false negatives grow: "
            f"objective({fp:g}, {fn:g}) is {loss:g}, but "
            f"objective({more_fp:g}, {more_fn:g}) is {other:g}."
        )


def check_callable(metric, totals):
    """Refuse a callable that is no function of two errors, or falls on a coarse grid of them.

    Its optimum need not be on the front.
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


@dataclass
class MetricTree:
    """The best tree by a metric, and the front it was chosen from.

    Attributes
    ----------
    columns, answers : ndarray of int32
        The tree in preorder: column of each split (first the child with it) or -1; class that each
        leaf answers or -1.

    objective : float
        Loss, plus the cost of the splits.

    lower_bound : float
        No tree has less.

    front : ndarray, shape (n_points,)
        Record array: ``false_positives``, ``false_negatives`` (weights), ``n_splits``, ``loss``.

    incumbents : list of (float, float, float)
        Seconds, objective and bound after each level of depth.

    stats : dict
        Counters of the search.
    """

    columns: np.ndarray
    answers: np.ndarray
    objective: float
    lower_bound: float
    front: np.ndarray
    incumbents: list
    stats: dict


FRONT_DTYPE = np.dtype(
    [
        ("false_positives", np.float64),
        ("false_negatives", np.float64),
        ("n_splits", np.int64),
        ("loss", np.float64),
    ]
)


class MetricSearch:
    """Search for the best tree by a metric of the two classes' errors.

    Parameters
    ----------
    bits, n_columns, y, weights
        As of ``Engine``; `weights` may be None.

    metric : str or callable
        See ``losses_of``.

    control : SearchControl
        Deadline, memory, interrupts.

    complexity_cost : float
        Added to the loss for each split.

    min_samples_leaf, min_weight_leaf : int, float
        Of every leaf.

    n_threads : int
        OpenMP threads.
    """

    def __init__(
        self,
        bits,
        n_columns,
        y,
        weights,
        metric,
        control,
        *,
        complexity_cost=0.0,
        min_samples_leaf=1,
        min_weight_leaf=0.0,
        n_threads=1,
    ):
        weights = np.ones(len(y)) if weights is None else weights
        self.table = bit_rows(bits, n_columns, y, weights, 2)
        self.totals = self.table.totals()
        self.metric = metric
        self.control = control
        self.complexity_cost = complexity_cost
        self.search = ParetoSearch(
            self.table,
            control,
            min_rows=min_samples_leaf,
            min_weight=min_weight_leaf,
            n_threads=n_threads,
        )

    def solve(self, max_depth, max_splits, chunk=None):
        """Best tree within `max_depth` and `max_splits`.

        Parameters
        ----------
        max_depth, max_splits : int

        chunk : callable or None
            As ``Problem.chunk``, which tells callbacks of each stage.

        Returns
        -------
        best : MetricTree
        """
        best = self.evaluate(self.search.front(0, 0))
        incumbents = [self.log_entry(best)]
        points = [best]
        for depth, splits in self.stages(max_depth, max_splits):
            # A stage may take too short to look at the clock itself.
            if self.control.poll() or self.cannot_improve(best, splits):
                break
            found = self.solve_stage(depth, splits, best, chunk)
            points.append(found)
            if found.value < best.value:
                best = found
                incumbents.append(self.log_entry(best))
        return self.collect(best, points, incumbents)

    def solve_stage(self, depth, splits, best, chunk):
        def work():
            return self.evaluate(self.search.front(depth, splits))

        def answer_of(found):
            columns, answers = self.tree_of(min(found, best, key=lambda one: one.value))
            return nodes_from_preorder(columns), answers

        if chunk is None:
            return work()
        return chunk(self.control, f"depth {depth}, {splits} tests", work, answer_of)

    def tree_of(self, found):
        # Reading a tree solves small parts of the search again, after a stop too.
        return found.front.tree(found.rank, SearchControl())

    def stages(self, max_depth, max_splits):
        """Limits to solve for, one after the other: deeper, or with one split more."""
        if self.complexity_cost == 0.0:
            return [(depth, max_splits) for depth in range(1, max_depth + 1)]
        most = min(max_splits, 2**max_depth - 1)
        return [(max_depth, splits) for splits in range(1, most + 1)]

    def cannot_improve(self, best, splits):
        if self.complexity_cost == 0.0:
            # The least loss is not enough: more levels may lengthen the front.
            return not best.front.errors[best.rank].any()
        return self.least_loss() + splits * self.complexity_cost >= best.value

    def least_loss(self):
        """Loss of a tree without errors."""
        return float(losses_of(self.metric, np.zeros((1, 2)), self.totals)[0])

    def evaluate(self, front):
        errors = front.errors * self.table.unit
        losses = losses_of(self.metric, errors, self.totals)
        values = losses + self.complexity_cost * front.n_splits
        # Of equal values the fewest splits, then the fewest false positives.
        rank = np.lexsort((errors[:, 0], front.n_splits, values))[0]
        points = np.empty(len(errors), dtype=FRONT_DTYPE)
        points["false_positives"], points["false_negatives"] = errors.T
        points["n_splits"] = front.n_splits
        points["loss"] = losses
        return Evaluated(front, points, int(rank), float(values[rank]))

    def log_entry(self, best):
        return self.control.seconds, best.value, self.least_loss()

    def collect(self, best, found, incumbents):
        finished = self.control.status == "optimal"
        columns, answers = self.tree_of(best)
        return MetricTree(
            columns=columns,
            answers=answers,
            objective=best.value,
            lower_bound=best.value if finished else self.least_loss(),
            front=pareto_points(np.concatenate([one.points for one in found])),
            incumbents=incumbents,
            stats=self.search.statistics(),
        )


@dataclass
class Evaluated:
    """A front with losses, and its best point."""

    front: object
    points: np.ndarray
    rank: int
    value: float


def pareto_points(points):
    """Those that no other betters in both errors, by rising false positives; no pair twice."""
    order = np.lexsort((points["n_splits"], points["false_negatives"], points["false_positives"]))
    points = points[order]
    least_before = np.minimum.accumulate(np.append(np.inf, points["false_negatives"]))[:-1]
    return points[points["false_negatives"] < least_before]
