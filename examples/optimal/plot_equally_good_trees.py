"""
Trees that are as good as the best one
======================================

The best tree is seldom the only good one. `TreeSetClassifier` finds the k best trees. Here are the
six best of two levels; they differ by a few errors, and ask for other columns. Choose the one that
is easiest to explain, or to measure.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from sktree_opt import TreeSetClassifier, plot_tree

table = load_breast_cancer(as_frame=True)
X, y = table.data, table.target.map({0: "malignant", 1: "benign"})
trees = TreeSetClassifier(n_trees=200, max_depth=2, thresholds=9).fit(X, y)

figure, axes = plt.subplots(3, 2, figsize=(12, 11), layout="constrained")
for k, axis in enumerate(axes.flat):
    plot_tree(trees[k], ax=axis)
    axis.set_title(f"rank {k}: {trees.tree_objectives_[k]:g} errors of {len(y)}")
plt.show()

# %%
# Two hundred trees tell which columns matter. A column with many uses has no good substitute.
used = np.zeros(X.shape[1])
for tree in trees.trees_:
    used[tree.features] += 1 / len(trees.trees_)
order = np.argsort(used)[-10:]
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
axes[0].step(np.arange(len(trees.trees_)), trees.tree_objectives_, where="post", color="#0b6e99")
axes[0].set(xlabel="rank of the tree", ylabel="errors")
axes[1].barh(X.columns[order], used[order], color="#0b6e99")
axes[1].set(xlabel="share of the trees that use the column", xlim=(0, 1))
plt.show()
assert (np.diff(trees.tree_objectives_) >= 0).all()
