"""
Many branches, or two
=====================

A nominal column can be split into one branch per category, as in C4.5, or into two branches: one
category against the others, or any group of categories. Here is the same table split in all three
ways.
"""

import matplotlib.pyplot as plt

from sktree_opt import GreedyTreeClassifier, load_loans, plot_tree

X, y = load_loans(return_X_y=True, as_frame=True)
X = X[["employment", "housing", "guarantor"]]
figure, axes = plt.subplots(3, 1, figsize=(9, 12), layout="constrained")
for axis, nominal_split in zip(axes, ("multiway", "one_vs_rest", "subset"), strict=True):
    tree = GreedyTreeClassifier(max_depth=2, nominal_split=nominal_split).fit(X, y)
    plot_tree(tree, ax=axis)
    errors = (tree.predict(X) != y).sum()
    axis.set_title(f'"{nominal_split}": {tree.get_n_leaves()} leaves, {errors} errors')
plt.show()
