"""A 0/1 table and its weights as searches over sets of trees read them."""

import math
from dataclasses import dataclass, replace

import numpy as np

from sktree_opt.utils._equal_rows import group_equal_rows
from sktree_opt.utils._validation import common_divisor

# Weights that are not multiples of one number are rounded to this many bits of the largest.
FRACTION_BITS = 30
# Weights of a class among which such a number is looked for.
MOST_DISTINCT = 64

# Beside a weight that is so many times as large, too few of these are left.
MOST_UNEQUAL = 1e7

# Of the whole numbers that a float64 holds.
FLOAT_BITS = 53


@dataclass(frozen=True)
class LeafMinima:
    """Minima that rows must reach to be a leaf.

    Attributes
    ----------
    rows, weight : int, float
        Their least number and weight.

    class_weight : tuple of float or None
        Least weight of each class.

    purity : float
        Least share of the most frequent class.
    """

    rows: int = 1
    weight: float = 0.0
    class_weight: tuple | None = None
    purity: float = 0.0


ANY_LEAF = LeafMinima()


@dataclass
class BitRows:
    """What the kernels read (see ``RowTable`` of ``set_rows.hpp``).

    Attributes
    ----------
    rows : ndarray of uint64, shape (n_rows, n_words)
        Bit ``j`` of a row is its value in column ``j``.

    n_columns : int
        Columns in use.

    keys : ndarray of uint64, shape (n_rows, 2)
        Random; the same for the same number of rows.

    classes : ndarray of int32, shape (n_rows,)
        Class codes.

    n_classes : int
        Number of classes.

    units : ndarray of int64, shape (n_rows,), or None
        Weight of each row in units of its class; None if all are 1.

    unit : ndarray of float64, shape (n_classes,)
        Weight of one unit of each class.

    values : ndarray of int64, shape (n_rows, 2), or None
        Of a regression: weighted target and square of each row, in units.

    value_unit : ndarray of float64, shape (2,), or None
        What a unit of each of them is.
    """

    rows: np.ndarray
    n_columns: int
    keys: np.ndarray
    classes: np.ndarray
    n_classes: int
    units: np.ndarray | None
    unit: np.ndarray
    values: np.ndarray | None = None
    value_unit: np.ndarray | None = None

    @property
    def n_planes(self):
        """Bits of the largest weight."""
        return 1 if self.units is None else int(self.units.max()).bit_length()

    def totals_in_units(self):
        """Units of each class, and of the values."""
        units = np.bincount(self.classes, weights=self.units, minlength=self.n_classes)
        return units if self.values is None else np.append(units, self.values.sum(axis=0))

    def totals(self):
        """Weight of each class."""
        return self.unit * self.totals_in_units()

    def sums_of(self, objective):
        """What a unit of each sum adds to the channels of a leaf's score, its mass and weight."""
        if self.values is None:
            channels = objective.channel_matrix() * self.unit[:, None]
            return channels, objective.class_mass * self.unit, self.unit
        weight, (target, square) = self.unit[0], self.value_unit
        channels = np.array([[weight, 0.0], [0.0, target], [0.0, 0.0]])
        return channels, np.array([0.0, 0.0, square]), np.array([weight, 0.0, 0.0])

    def grid_of(self, objective):
        """A unit of costs: coarse enough for exact sums, finer than differences that matter."""
        largest = max(float(self.sums_of(objective)[1] @ self.totals_in_units()), 1e-290)
        return 2.0 ** (math.frexp(largest)[1] - 41)


def bit_rows(bits, n_columns, classes, weights, n_classes):
    """Rows of packed bits, least significant first, as uint64 words.

    Parameters
    ----------
    bits : ndarray of uint8, shape (n_rows, row_bytes)
        What ``numpy.packbits(matrix, axis=1, bitorder="little")`` returns, padded or not.

    n_columns : int
        Columns in use.

    classes : ndarray of shape (n_rows,)
        Class codes.

    weights : ndarray of float64, shape (n_rows,)
        Positive weights.

    n_classes : int
        Number of classes.

    Returns
    -------
    table : BitRows
    """
    n_rows, row_bytes = bits.shape
    padded = np.zeros((n_rows, 8 * max(1, -(-row_bytes // 8))), dtype=np.uint8)
    padded[:, :row_bytes] = bits
    units, unit = class_units(weights, classes, n_classes)
    return BitRows(
        rows=padded.view("<u8").astype(np.uint64, copy=False),
        n_columns=n_columns,
        keys=np.random.default_rng(0).integers(0, 2**64, size=(n_rows, 2), dtype=np.uint64),
        classes=np.ascontiguousarray(classes, dtype=np.int32),
        n_classes=n_classes,
        units=units,
        unit=unit,
    )


def target_rows(bits, n_columns, targets, weights):
    """The same with targets in place of classes.

    Their sums are whole numbers of units so fine that no sum of a leaf needs more than the 52 bits
    of a float64: the cost of rows does not depend on how they were brought together.
    """
    table = bit_rows(bits, n_columns, np.zeros(len(targets)), weights, 1)
    values = np.column_stack([weights * targets, weights * targets**2])
    sums = np.maximum(np.abs(values).sum(axis=0), 1e-290)
    table.value_unit = np.exp2(np.ceil(np.log2(sums)) - (FLOAT_BITS - 1))
    table.values = np.rint(values / table.value_unit).astype(np.int64)
    return table


def with_rows_once(table, minima):
    """The same table with rows of equal bits and class as one, if that is less work.

    Where minima count rows, all stay. Weights are counted one bit at a time: heavy rows come first,
    so that few words have high bits.
    """
    if minima.rows > 1:
        return table
    units = np.ones(len(table.rows), np.int64) if table.units is None else table.units
    group, n_groups = group_equal_rows([*table.rows.T, table.classes.astype(np.uint64)])
    summed = sums_by_group(units, group, n_groups)
    if 2 * bits_of(summed).sum() > bits_of(units).sum():
        return table
    one = np.empty(n_groups, dtype=np.intp)
    one[group] = np.arange(len(group))
    heavy = np.lexsort((-summed, table.classes[one]))
    values = table.values
    return replace(
        table,
        rows=table.rows[one[heavy]],
        keys=table.keys[:n_groups],
        classes=table.classes[one[heavy]],
        units=summed[heavy],
        values=None if values is None else sums_by_group(values, group, n_groups)[heavy],
    )


def sums_by_group(numbers, group, n_groups):
    """Exact sums of whole numbers, or of rows of them, by group."""
    sums = np.zeros((n_groups, *numbers.shape[1:]), dtype=np.int64)
    np.add.at(sums, group, numbers)
    return sums


def bits_of(units):
    """Number of bits of each of some whole numbers."""
    return np.frexp(units)[1]


def class_units(weights, classes, n_classes):
    """Weights as whole numbers, exactly where they are equal within each class or whole.

    Returns
    -------
    units : ndarray of int64, or None
        None if all are 1.

    unit : ndarray of float64, shape (n_classes,)
        What a unit of each class weighs.
    """
    units = np.ones(len(weights), dtype=np.int64)
    unit = np.ones(n_classes)
    for code in range(n_classes):
        mine = weights[classes == code]
        if not len(mine):
            continue
        if (mine == mine[0]).all():
            unit[code] = mine[0]
            continue
        factor = common_factor(mine)
        if factor is not None:
            whole = np.rint(mine / factor).astype(np.int64)
            gcd = np.gcd.reduce(whole)
            whole, unit[code] = whole // gcd, factor * gcd
        else:
            refuse_unequal(mine)
            unit[code] = mine.max() / 2**FRACTION_BITS
            whole = np.rint(mine / unit[code])
        units[classes == code] = np.maximum(1, whole)
    return (None if (units == 1).all() else units), unit


def refuse_unequal(weights):
    """Raise if rounding would change what light rows weigh beside heavy ones."""
    ratio = weights.max() / weights.min()
    if ratio > MOST_UNEQUAL:
        raise ValueError(
            f"The largest sample_weight (times class_weight) of a class is {ratio:.0e} times the "
            f"smallest; n_trees > 1 and metrics need a ratio of at most {MOST_UNEQUAL:.0e}, or "
            f"whole numbers below 2**{FRACTION_BITS}. Leave out rows that weigh next to nothing."
        )


def common_factor(weights):
    """A number of which all weights are multiples, such as 0.1 of 0.3 and 1.7; None if none is."""
    if weights.max() < 2**FRACTION_BITS and (weights == np.rint(weights)).all():
        return 1.0
    distinct = np.unique(weights)
    if len(distinct) > MOST_DISTINCT:
        return None
    return common_divisor(distinct)


def nodes_from_preorder(columns):
    """Nodes as ``BitEngine.tree`` gives them: column or -1, child with it, child without it."""
    nodes = np.full((len(columns), 3), -1, dtype=np.int32)
    nodes[:, 0] = columns
    waiting = []
    for at, column in enumerate(columns.tolist()):
        if waiting:
            parent = waiting[-1]
            if nodes[parent, 1] < 0:
                nodes[parent, 1] = at
            else:
                nodes[parent, 2] = at
                waiting.pop()
        if column >= 0:
            waiting.append(at)
    return nodes
