"""
A search that can be stopped
============================

A search holds a tree from its first moment on, and a bound below which no tree can be. With a time
limit it hands over the best tree known, and says how far from a proof it is.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from sktree_opt import OptimalTreeClassifier

X, y = load_digits(return_X_y=True)
cart = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
greedy_errors = np.count_nonzero(cart.predict(X) != y)
print(f"greedy tree: {greedy_errors} errors")

# %%
# Half a second is too short for a proof at depth 4, but gives a much better tree than a greedy one
# of the same depth. The bound starts at 0, because nothing is known about the other trees yet. It
# rises late: a large gap says little about the tree.
search = OptimalTreeClassifier(max_depth=4, thresholds=5)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    stopped = search.set_params(time_limit=0.5).fit(X, y)
    print(f"{stopped.status_}: {stopped.objective_:g} errors, bound {stopped.lower_bound_:g}")
    model = search.set_params(time_limit=20).fit(X, y)
print(f"{model.status_}: {model.objective_:g} errors, bound {model.lower_bound_:g}")
assert model.objective_ <= stopped.objective_ < greedy_errors

# %%
# The trees and bounds of the longer search on its way. Where the lines meet, the tree is proved to
# be a best one.
seconds, objectives, bounds = np.array(model.incumbents_).T
figure, axes = plt.subplots(layout="constrained")
axes.step(seconds, objectives, where="post", label="tree")
axes.step(seconds, bounds, where="post", label="bound")
axes.set(xlabel="seconds", ylabel="errors", ylim=(-20, None))
axes.legend()
plt.show()
