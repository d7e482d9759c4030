"""
As accurate as a greedy tree, and smaller
=========================================

A greedy tree is seldom the smallest one with its number of errors. `SmallestTreeClassifier` proves
how small a tree can be that is at least as accurate on the training rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier

from sktree_opt import SmallestTreeClassifier

tables = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
leaves = {"greedy": [], "smallest": []}
for load in tables.values():
    X, y = load(return_X_y=True)
    greedy = DecisionTreeClassifier(max_depth=4, max_leaf_nodes=8, random_state=0).fit(X, y)
    errors = np.count_nonzero(greedy.predict(X) != y)
    smallest = SmallestTreeClassifier(max_error=errors, max_depth=4, thresholds=20).fit(X, y)
    leaves["greedy"].append(greedy.get_n_leaves())
    leaves["smallest"].append(smallest.get_n_leaves())
    print(f"{errors} errors: {leaves['greedy'][-1]} leaves, {leaves['smallest'][-1]} are enough")

# %%
# The same number of errors, or fewer.
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
places = np.arange(len(tables))
for shift, (name, counts) in zip((-0.2, 0.2), leaves.items(), strict=True):
    bars = axes.bar(places + shift, counts, 0.38, label=name)
    axes.bar_label(bars)
axes.set_xticks(places, tables)
axes.set(ylabel="leaves", ylim=(0, 9.5))
axes.legend()
plt.show()
assert all(np.array(leaves["smallest"]) <= leaves["greedy"])
