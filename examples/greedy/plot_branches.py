"""
Many branches, or two
=====================

A nominal column can be split into one branch per category, as in C4.5, or into two branches: one
category against the others, or any group of categories. Here the same two columns are split in all
three ways. Two levels of groups make as few errors as two levels of many branches, with a third of
the leaves.
"""

import matplotlib.pyplot as plt

from sktree_opt import GreedyTreeClassifier, load_loans, plot_tree

X, y = load_loans(return_X_y=True, as_frame=True)
# As strings, the ratings have no order.
X = X[["employment", "rating"]].astype({"rating": object})
errors, leaves = {}, {}
figure, axes = plt.subplots(3, 1, figsize=(12, 13), layout="constrained")
for axis, nominal_split in zip(axes, ("multiway", "one_vs_rest", "subset"), strict=True):
    tree = GreedyTreeClassifier(max_depth=2, nominal_split=nominal_split).fit(X, y)
    plot_tree(tree, ax=axis)
    errors[nominal_split] = (tree.predict(X) != y).sum()
    leaves[nominal_split] = tree.get_n_leaves()
    axis.set_title(
        f'"{nominal_split}": {tree.get_n_leaves()} leaves, {errors[nominal_split]} errors'
    )
plt.show()
assert errors["subset"] <= errors["multiway"]
assert leaves["subset"] < leaves["multiway"]
