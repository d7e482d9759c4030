"""
Where proportions fool a greedy tree
====================================

Nijssen and Fromont give two tables on which a tree that is grown from the root down, one best test
at a time, ends far from the best tree. The tables here are built the same way.
"""

import matplotlib.pyplot as plt
import numpy as np

from sktree_opt import GreedyTreeClassifier, OptimalTreeClassifier, plot_tree


def compare(table, **parameters):
    """Fit both trees to a table; each line has three attributes, the class, and how many rows."""
    rows = np.repeat(table[:, :4], table[:, 4], axis=0)
    X, y = rows[:, :3], rows[:, 3]
    greedy = GreedyTreeClassifier(max_depth=2, **parameters).fit(X, y)
    optimal = OptimalTreeClassifier(max_depth=2, **parameters).fit(X, y)
    _, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for axis, (name, tree) in zip(axes, [("greedy", greedy), ("optimal", optimal)], strict=True):
        plot_tree(tree, ax=axis, feature_names=["A", "B", "C"])
        axis.set_title(f"{name}: {np.count_nonzero(tree.predict(X) != y)} errors of {len(y)}")
    plt.show()
    assert (optimal.predict(X) == y).all()
    assert (greedy.predict(X) != y).any()


# %%
# Rare rows, and leaves of at least ten
# -------------------------------------
# Attribute A has the larger information gain; but its smaller side is then too small to be divided,
# and five errors stay. To begin with B costs nothing.
table = np.array(
    [
        [1, 1, 0, 1, 40],
        [1, 1, 1, 1, 40],
        [1, 0, 1, 1, 5],
        [0, 0, 1, 1, 5],
        [0, 0, 0, 0, 10],
    ]
)
compare(table, min_samples_leaf=10)

# %%
# A variation of XOR
# ------------------
# The class is whether B and C differ: neither says much by itself. A says a little more, so a
# greedy tree asks for A first, and has then no depth left for both others.
table = np.array(
    [
        [0, 0, 0, 0, 1],
        [0, 0, 1, 1, 3],
        [0, 1, 0, 1, 5],
        [0, 1, 1, 0, 2],
        [1, 0, 0, 0, 2],
        [1, 0, 1, 1, 3],
        [1, 1, 0, 1, 1],
        [1, 1, 1, 0, 5],
    ]
)
compare(table)
