"""The record of a tree's node, equal to ``Node`` of ``node_record.hpp``."""

import numpy as np

LEAF = 0
NUMERIC = 1
CATEGORY_MULTIWAY = 2
CATEGORY_ONE = 3
CATEGORY_SUBSET = 4
IS_MISSING = 5

CATEGORY_KINDS = (CATEGORY_MULTIWAY, CATEGORY_ONE, CATEGORY_SUBSET)


def is_category(kinds):
    """Whether each kind of node is a test of categories."""
    return (kinds >= CATEGORY_MULTIWAY) & (kinds <= CATEGORY_SUBSET)


# Fixed widths, so that a pickled tree reads the same on every platform.
NODE_DTYPE = np.dtype(
    [
        ("kind", np.uint8),
        ("pad", np.uint8, (3,)),
        ("missing_branch", np.int32),
        ("feature", np.int32),
        ("first_child", np.int32),
        ("n_children", np.int32),
        ("category_start", np.int32),
        ("n_categories", np.int32),
        ("pad2", np.int32),
        ("threshold", np.float64),
        ("impurity", np.float64),
        ("weight", np.float64),
        ("n_samples", np.int64),
    ]
)
