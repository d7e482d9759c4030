"""
A small tree may be deep
========================

A rule with exceptions to its exceptions has few leaves and many levels. A limit on the depth cuts
it off. ``max_depth=None`` with a `complexity_cost` limits the size instead: each test has to save
a share of the rows, at any level.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sktree_opt import OptimalTreeClassifier, plot_tree


def make_checklist(seed, n=1500):
    """Six questions one after the other, of which the first yes decides; four more say nothing."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 10)) < 0.35
    first_yes = np.argmax(np.c_[X[:, :6], np.ones(n, dtype=bool)], axis=1)
    y = np.where((first_yes % 2 == 0) ^ (rng.random(n) < 0.08), "accept", "refuse")
    return pd.DataFrame(X, columns=[f"question {k}" for k in range(1, 11)]), y


# %%
# The best tree for each cost, with and without a limit on depth, on three tables. Every one is
# proved.
costs = np.array([0.1, 0.05, 0.03, 0.02, 0.015, 0.01, 0.007, 0.005, 0.003, 0.002])
leaves, errors = (np.empty((2, 3, len(costs))) for _ in range(2))
for k, depth in enumerate((3, None)):
    for seed in range(3):
        X, y = make_checklist(seed)
        X_new, y_new = make_checklist(seed + 100, 20_000)
        for j, cost in enumerate(costs):
            model = OptimalTreeClassifier(max_depth=depth, complexity_cost=cost).fit(X, y)
            assert model.status_ == "optimal"
            leaves[k, seed, j] = model.get_n_leaves()
            errors[k, seed, j] = 1 - model.score(X_new, y_new)

# %%
# From a cost of one percent down, each of the three tables has the same tree for all costs: the
# seven leaves of the true rule, six levels deep. With three levels, no cost finds it.
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for k, (label, style) in enumerate((("max_depth=3", "o--"), ("max_depth=None", "o-"))):
    axes[0].plot(costs, leaves[k].mean(axis=0), style, label=label)
    axes[1].plot(costs, errors[k].mean(axis=0), style, label=label)
axes[0].set(ylabel="leaves, mean of three tables", ylim=(0, None))
axes[1].set(ylabel="share of errors on new rows", ylim=(0, None))
for axis in axes:
    axis.set(xlabel="complexity_cost", xscale="log")
    axis.invert_xaxis()
axes[1].legend()
plt.show()
assert (leaves[1, :, costs <= 0.01] == 7).all()
assert (errors[1, :, costs <= 0.01] < errors[0, :, costs <= 0.01]).all()

# %%
# The tree for a cost of one percent. `optimality_scope_` names no depth: no tree of any depth is
# better.
model = OptimalTreeClassifier(max_depth=None, complexity_cost=0.01).fit(X, y)
plot_tree(model)
plt.show()
print(model.optimality_scope_)
