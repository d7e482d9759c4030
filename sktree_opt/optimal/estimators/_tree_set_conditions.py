"""Conditions on the trees of a set."""

from __future__ import annotations

from itertools import product
from numbers import Integral

import numpy as np

from sktree_opt.tree._node import CATEGORY_KINDS, IS_MISSING, LEAF

# Answers that differ by less are equal: the difference is rounding.
TOLERANCE = 1e-12


def feature_indices(features, names):
    """Indices of some features, given by index or name, one or several."""
    is_one = isinstance(features, (str, Integral))
    indices = []
    for feature in [features] if is_one else list(features):
        if isinstance(feature, Integral) and not isinstance(feature, bool):
            if not 0 <= feature < len(names):
                raise ValueError(
                    f"features must be between 0 and {len(names) - 1} or names, got {feature!r}."
                )
            indices.append(int(feature))
        elif feature in names:
            indices.append(list(names).index(feature))
        else:
            raise ValueError(f"features must be indices or names of columns, got {feature!r}.")
    return indices


def monotonic_signs(monotonic_cst, names, is_numeric):
    """-1 or 1 of each feature that is constrained, from what scikit-learn takes.

    Returns
    -------
    signs : dict
        From the index of a feature.
    """
    if isinstance(monotonic_cst, dict):
        given = {feature_indices(name, names)[0]: sign for name, sign in monotonic_cst.items()}
    else:
        given = dict(enumerate(np.asarray(monotonic_cst).tolist()))
        if len(given) != len(names):
            raise ValueError(
                f"monotonic_cst must have one entry for each of {len(names)} features, "
                f"got {len(given)}."
            )
    for feature, sign in given.items():
        if sign not in (-1, 0, 1):
            raise ValueError(f"monotonic_cst must hold -1, 0 and 1, got {sign!r}.")
        if sign and not is_numeric[feature]:
            raise ValueError(f"monotonic_cst: feature {names[feature]!r} has categories.")
    return {feature: sign for feature, sign in given.items() if sign}


def is_monotonic(tree, answers, signs):
    """Whether the answers of a tree never fall, or never rise, in some numeric features.

    Two leaves are compared if two rows that differ in one feature alone may reach them.

    Parameters
    ----------
    tree : Tree
    answers : ndarray of shape (n_nodes,)
    signs : dict
        1 or -1 for each feature.
    """
    regions = list(leaf_regions(tree))
    for (at, region), (other, other_region) in product(regions, repeat=2):
        change = answers[other] - answers[at]
        for feature, sign in signs.items():
            if sign * change >= -TOLERANCE:
                continue
            low, high = region.get(feature, ANY), other_region.get(feature, ANY)
            # A known value of the one is below a known value of the other.
            if (
                low[0] < high[1]
                and low[0] < low[1]
                and high[0] < high[1]
                and all(
                    may_meet(region.get(f, ANY), other_region.get(f, ANY))
                    for f in {*region, *other_region} - {feature}
                )
            ):
                return False
    return True


# The rows that a feature leaves: values above the first and up to the second number, whether it may
# be missing, and the categories that are left (None for all).
ANY = (-np.inf, np.inf, True, None)


def leaf_regions(tree, at=0, region=None):
    """Each leaf, and what its path says of each feature (see ``ANY``)."""
    region = {} if region is None else region
    node = tree.nodes[at]
    if node["kind"] == LEAF:
        yield at, region
        return
    feature = int(node["feature"])
    lower, upper, may_miss, categories = region.get(feature, ANY)
    children = tree.children(at)
    for branch, child in enumerate(range(children.start, children.stop)):
        misses = may_miss and int(node["missing_branch"]) == branch
        if node["kind"] == IS_MISSING:
            known = (np.inf, -np.inf, may_miss, frozenset())
            part = known if branch == 0 else (lower, upper, False, categories)
        elif node["kind"] in CATEGORY_KINDS:
            mine = frozenset(np.flatnonzero(tree.branches(at) == branch).tolist())
            part = (lower, upper, misses, mine if categories is None else categories & mine)
        else:
            limit = float(node["threshold"])
            bounds = (lower, min(upper, limit)) if branch == 0 else (max(lower, limit), upper)
            part = (*bounds, misses, categories)
        yield from leaf_regions(tree, child, region | {feature: part})


def may_meet(one, other):
    """Whether a value of a feature is in both of two parts."""
    if one[2] and other[2]:
        return True
    if one[3] is not None and other[3] is not None and not one[3] & other[3]:
        return False
    return max(one[0], other[0]) < min(one[1], other[1])
