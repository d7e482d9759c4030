"""
How much the search gains, by depth
===================================

The errors of CART and of the optimal tree of the same depth on the training rows, as shares of the
errors of a single leaf. The optimal tree never has more, by definition; how many fewer it has
depends on the table.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier

from sktree_opt import OptimalTreeClassifier

tables = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}
depths = [1, 2, 3]
figure, axes = plt.subplots(1, 4, figsize=(12, 3.6), layout="constrained", sharey=True)
for axis, (name, load) in zip(axes, tables.items(), strict=True):
    X, y = load(return_X_y=True)
    single = len(y) - np.bincount(y).max()
    cart = [
        np.count_nonzero(
            DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y).predict(X) != y
        )
        for depth in depths
    ]
    best = [
        OptimalTreeClassifier(max_depth=depth, time_limit=20).fit(X, y).objective_
        for depth in depths
    ]
    axis.plot(depths, np.divide(cart, single), "o-", label="CART")
    axis.plot(depths, np.divide(best, single), "s-", label="optimal")
    axis.set(title=name, xlabel="depth", xticks=depths, ylim=(0, 1))
    assert all(ours <= theirs for ours, theirs in zip(best, cart, strict=True))
axes[0].set_ylabel("errors, as share of a leaf's")
axes[0].legend()
plt.show()
