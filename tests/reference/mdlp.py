"""Fayyad and Irani's discretization, by its formulas alone: slow and obvious.

Cases are (value, class, weight) tuples. Of all midpoints the one with the least class information
entropy is tried (the lowest of equal ones), and both sides after it if the MDL principle accepts.
"""

import itertools
import math

# Entropies that differ by less are equal.
TIE = 1e-9


def class_weights(cases):
    sums = {}
    for _, label, weight in cases:
        sums[label] = sums.get(label, 0.0) + weight
    return sums


def weight_of(cases):
    return sum(weight for _, _, weight in cases)


def entropy(cases):
    """Ent(S) = -sum P(C, S) log2 P(C, S)."""
    total = weight_of(cases)
    return -sum(w / total * math.log2(w / total) for w in class_weights(cases).values())


def information(low, high):
    """E(A, T; S): the entropies of both sides, weighted."""
    total = weight_of(low) + weight_of(high)
    return weight_of(low) / total * entropy(low) + weight_of(high) / total * entropy(high)


def margin(low, high):
    """By how much the gain of a cut exceeds what its description costs; accepted if positive."""
    both = low + high
    n = weight_of(both)
    k, k_low, k_high = (len(class_weights(part)) for part in (both, low, high))
    gain = entropy(both) - information(low, high)
    delta = math.log2(3**k - 2) - (
        k * entropy(both) - k_low * entropy(low) - k_high * entropy(high)
    )
    return gain - math.log2(max(n - 1, 1)) / n - delta / n


def cuts(cases, margins):
    """Thresholds in ascending order; the margin of every decision is appended to `margins`."""
    values = sorted({value for value, _, _ in cases})
    candidates = []
    for lower, upper in itertools.pairwise(values):
        low = [case for case in cases if case[0] <= lower]
        high = [case for case in cases if case[0] > lower]
        candidates.append((information(low, high), (lower + upper) / 2, low, high))
    if not candidates or len(class_weights(cases)) == 1:
        return []
    least = min(candidates)[0]
    _, threshold, low, high = next(one for one in candidates if one[0] <= least + TIE)
    margins.append(margin(low, high))
    if margins[-1] <= 0:
        return []
    return [*cuts(low, margins), threshold, *cuts(high, margins)]
