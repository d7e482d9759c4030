"""
How many greedy trees are there?
================================

N features have two to the power of N subsets. A greedy tree ignores most of the features that it is
given, so many subsets give the same tree. The deeper the trees, the more of them are distinct.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from sktree_opt import DistinctTreeEnumerator, GreedyTreeClassifier

X, y = load_breast_cancer(return_X_y=True)
n_features = np.arange(2, 13)
depths = [2, 3, 4, 6]


def count(n, depth):
    """Number of distinct trees of the first n features."""
    enumerator = DistinctTreeEnumerator(GreedyTreeClassifier(max_depth=depth))
    return sum(1 for _ in enumerator.iter_trees(X[:, :n], y))


counts = np.array([[count(n, depth) for n in n_features] for depth in depths])
figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
for depth, of_depth in zip(depths, counts, strict=True):
    axes.plot(n_features, of_depth, "o-", label=f"distinct trees, depth {depth}")
axes.plot(n_features, 2.0**n_features, "k:", label="subsets")
axes.set(xlabel="features", ylabel="number", yscale="log")
axes.legend()
plt.show()

# %%
# There are never more trees than subsets, and deeper trees are at least as many here.
print(
    f"12 features: {2**12} subsets,",
    *(f"{c} trees of depth {d}," for d, c in zip(depths, counts[:, -1])),
)
assert (counts <= 2**n_features).all()
assert (np.diff(counts, axis=0) >= 0).all()
