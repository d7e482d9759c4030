"""The unit in which costs are counted as whole numbers.

Sums of whole numbers are exact in any order, so that trees of equal cost tie. Ties matter: the
smaller subset wins, and an elimination may go on. Weights such as 0.1 and 0.2 are not binary
fractions, but they are whole multiples of 0.1.
"""

import numpy as np

from sktree_opt.utils._validation import common_divisor

# Maximum number of units of all costs together: sums stay far from overflow.
MAX_UNITS = 2.0**50
# With penalties, a unit is far below any difference that matters. It is far above the rounding
# error of a penalty, such as a third of an error, which has to tie with errors.
UNITS_WITH_PENALTY = 2.0**40


def choose_unit(weights, losses, total, *, has_penalty=False):
    """The weight that corresponds to a cost of 1.

    Parameters
    ----------
    weights : ndarray of float
        Of all rows of all parts, positive.

    losses : ndarray of float or None
        Factors of the weights; None for 1.

    total : float
        The highest cost there can be.

    has_penalty : bool, default=False
        Whether other numbers than costs of rows are counted, too.

    Returns
    -------
    unit : float
        One in which all costs are whole, if there is such a unit.
    """
    unit = 1.0 if are_whole(weights) else common_divisor(weights)
    if unit is not None and losses is not None and not are_whole(losses):
        # Weights have to be multiples, too, and so have 1 and the losses of a part of it.
        of_losses = common_divisor(np.append(losses, 1.0))
        unit = None if of_losses is None else unit * of_losses
    if unit is None or total / MAX_UNITS > unit:
        unit = 2.0 ** np.floor(np.log2(total / MAX_UNITS))
    if has_penalty:
        # By a power of two: what was whole stays so.
        unit /= 2.0 ** max(0.0, np.ceil(np.log2(unit / total * UNITS_WITH_PENALTY)))
    return unit


def are_whole(numbers):
    """Whether all are whole numbers."""
    return bool((numbers == np.floor(numbers)).all())
