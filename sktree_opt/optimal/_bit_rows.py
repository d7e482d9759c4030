"""A 0/1 table and its weights as searches over sets of trees read them."""

from dataclasses import dataclass

import numpy as np

# Weights that are neither equal nor whole numbers are rounded to this many bits of the largest.
FRACTION_BITS = 30


@dataclass
class BitRows:
    """What the kernels read (see ``RowTable`` of ``_set_rows.hpp``).

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
    """

    rows: np.ndarray
    n_columns: int
    keys: np.ndarray
    classes: np.ndarray
    n_classes: int
    units: np.ndarray | None
    unit: np.ndarray

    @property
    def n_planes(self):
        """Bits of the largest weight."""
        return 1 if self.units is None else int(self.units.max()).bit_length()

    def totals(self):
        """Weight of each class in units."""
        units = np.ones(len(self.classes)) if self.units is None else self.units
        totals = np.bincount(self.classes, weights=units, minlength=self.n_classes)
        return np.rint(totals).astype(np.int64)


def bit_rows(matrix, classes, weights, n_classes):
    """Pack a 0/1 matrix of shape (n_rows, n_columns)."""
    n_rows, n_columns = matrix.shape
    packed = np.packbits(matrix, axis=1, bitorder="little")
    n_words = max(1, -(-packed.shape[1] // 8))
    rows = np.zeros((n_rows, 8 * n_words), dtype=np.uint8)
    rows[:, : packed.shape[1]] = packed
    units, unit = class_units(weights, classes, n_classes)
    keys = np.random.default_rng(0).integers(0, 2**64, size=(n_rows, 2), dtype=np.uint64)
    return BitRows(
        rows.view("<u8").astype(np.uint64, copy=False),
        n_columns,
        keys,
        np.ascontiguousarray(classes, dtype=np.int32),
        n_classes,
        units,
        unit,
    )


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
        if mine.max() < 2**FRACTION_BITS and (mine == np.rint(mine)).all():
            whole = mine.astype(np.int64)
            unit[code] = np.gcd.reduce(whole)
        else:
            unit[code] = mine.max() / 2**FRACTION_BITS
            whole = mine
        units[classes == code] = np.maximum(1, np.rint(whole / unit[code]))
    return (None if (units == 1).all() else units), unit
