"""Numbers that are whole multiples of one number, such as 0.3 and 1.7 of 0.1."""

import numpy as np

# Quotients of the least number that are tried, and the highest multiple.
MOST_QUOTIENTS, MOST_MULTIPLES = 4096, 1e6
# What rounding decimal fractions leaves, as a share of the multiple.
ROUNDING = 1e-13


def common_divisor(numbers):
    """Largest common divisor of the positive numbers, up to rounding, if all quotients are small.

    Counted in it, sums of them are exact.

    Parameters
    ----------
    numbers : ndarray of float
        Not negative.

    Returns
    -------
    divisor : float or None
        None if there is none.
    """
    positive = np.unique(numbers[numbers > 0.0])
    if len(positive) == 0:
        return None
    for quotient in range(1, MOST_QUOTIENTS + 1):
        divisor = positive[0] / quotient
        if positive[-1] / MOST_MULTIPLES > divisor:
            return None
        multiples = positive / divisor
        if np.all(np.abs(multiples - np.rint(multiples)) <= ROUNDING * multiples):
            return float(divisor)
    return None
