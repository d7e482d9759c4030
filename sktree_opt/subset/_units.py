"""What costs are counted in, as whole numbers.

Sums of whole numbers are exact, whatever their order, so that trees of equal cost tie: ties decide
for the smaller subset, and whether an elimination goes on. Weights such as 0.1 and 0.2 are no
binary fractions; counted in 0.1 they are whole numbers.
"""

import numpy as np

# How many units all costs together have at most: sums stay far from overflow.
MAX_UNITS = 2.0**50
# With penalties: a unit is far below any difference that matters, and far above what rounding makes
# of a penalty, such as a third of an error, that is to tie with errors.
UNITS_WITH_PENALTY = 2.0**40
# What decimal fractions are multiples of.
DECIMALS = 10.0 ** -np.arange(10)
# A multiple may be off by so much of it, which is what rounding decimal fractions leaves.
ROUNDING = 1e-14


def choose_unit(weights, losses, total, *, has_penalty=False):
    """The weight that a cost of 1 stands for.

    Parameters
    ----------
    weights : ndarray of float
        Of all rows of all parts.

    losses : ndarray of float or None
        What weights are multiplied by; None for 1.

    total : float
        The highest cost there can be.

    has_penalty : bool, default=False
        Whether other numbers than costs of rows are counted, too.

    Returns
    -------
    unit : float
        One in which all costs are whole, if there is such a unit.
    """
    unit = common_unit(weights)
    if unit is not None and losses is not None:
        # Products are multiples of the products of both units; weights have to be, too.
        of_losses = next((d for d in DECIMALS if are_multiples(losses, d)), None)
        unit = None if of_losses is None else unit * of_losses
    if unit is None or total / unit > MAX_UNITS:
        unit = 2.0 ** (np.floor(np.log2(total)) - np.log2(MAX_UNITS))
    if has_penalty:
        # By a power of two: what was whole stays so.
        unit /= 2.0 ** max(0.0, np.ceil(np.log2(unit * UNITS_WITH_PENALTY / total)))
    return unit


def common_unit(numbers):
    """The largest power of ten up to 1, or share of the least number, of which all are multiples.

    None if there is none.
    """
    numbers = np.unique(numbers)
    least = numbers[0]
    for unit in (*DECIMALS, *(least / np.arange(1, 13))):
        if are_multiples(numbers, unit):
            return float(unit)
    return None


def are_multiples(numbers, unit):
    """Whether all are whole multiples of a unit but for rounding."""
    if np.max(numbers) / MAX_UNITS > unit:
        return False
    multiples = np.asarray(numbers, dtype=np.float64) / unit
    return bool((np.abs(multiples - np.rint(multiples)) <= ROUNDING * multiples).all())
