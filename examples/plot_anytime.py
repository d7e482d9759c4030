"""
A search that can be stopped
============================

A search holds a tree from its first moment on, and a bound below which no tree can be. With a time
limit it hands over the best tree known, and says how far from a proof it is.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from sktree_opt.optimal import OptimalTreeClassifier

rng = np.random.default_rng(0)
X = rng.integers(0, 2, (5000, 100))
noise = rng.random(5000) < 0.2
y = (X[:, 0] & X[:, 1]) ^ (X[:, 2] & X[:, 3]) ^ noise

# %%
# Two seconds are not enough for a proof at depth 7, but for a better tree than a greedy one of the
# same size.
cart = DecisionTreeClassifier(max_depth=7, max_leaf_nodes=20, random_state=0).fit(X, y)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    model = OptimalTreeClassifier(max_depth=7, max_splits=19, time_limit=2).fit(X, y)
print(f"{model.status_}: objective {model.objective_:g}, lower bound {model.lower_bound_:g}")
print(f"greedy tree: {np.count_nonzero(cart.predict(X) != y)} errors")

# %%
# The trees and bounds it found on its way.
seconds, objectives, bounds = np.array(model.incumbents_).T
figure, axes = plt.subplots(layout="constrained")
axes.step(np.append(seconds, 2), np.append(objectives, objectives[-1]), where="post", label="tree")
axes.step(np.append(seconds, 2), np.append(bounds, bounds[-1]), where="post", label="bound")
axes.set(xlabel="seconds", ylabel="errors", ylim=(0, None))
axes.legend()
plt.show()
