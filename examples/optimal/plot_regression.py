"""
An optimal regression tree
==========================

A curve with steps, as a tree of at most four values. The greedy tree spends its first test where
the squared error falls most; the optimal tree puts all three tests where they serve together.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeRegressor

from sktree_opt import OptimalTreeRegressor


# %%
# Five levels, the middle one narrow, and noise.
def sample(seed):
    """A column, the noisy levels, and the levels themselves."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0.0, 10.0, 200))
    levels = np.select([x < 3.0, x < 4.0, x < 5.0, x < 8.0], [0.0, 3.0, -2.0, 1.5], 0.5)
    return x[:, np.newaxis], levels + rng.normal(scale=0.4, size=len(x)), levels


X, y, _ = sample(3)
models = {
    "CART": DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y),
    "optimal": OptimalTreeRegressor(max_depth=2).fit(X, y),
}
grid = np.linspace(0.0, 10.0, 1000)[:, np.newaxis]
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.scatter(X, y, s=8, color="grey")
for name, model in models.items():
    squares = ((model.predict(X) - y) ** 2).sum()
    axes.plot(grid, model.predict(grid), label=f"{name}, depth 2: {squares:.0f}")
axes.set(xlabel="x", ylabel="y", title="sum of squared distances")
axes.legend()
plt.show()

# %%
# On twenty samples, the mean squared distance to the levels without noise.
distances = []
for seed in range(20):
    X, y, levels = sample(seed)
    distances.append([((m.fit(X, y).predict(X) - levels) ** 2).mean() for m in models.values()])
means = np.mean(distances, axis=0)
print(dict(zip(models, means.round(3).tolist(), strict=True)))
assert means[1] < 0.8 * means[0]

# %%
# One level more, and a price for every test: the best tree says itself how many levels there are.
# `complexity_cost` is a share of the total weight: here the squared distance per row that a test
# has to save.
X, y, _ = sample(3)
for cost in (0.0, 0.02, 0.1):
    tree = OptimalTreeRegressor(max_depth=3, complexity_cost=cost).fit(X, y)
    values = np.unique(tree.predict(X)).round(2)
    print(f"complexity_cost={cost}: {tree.get_n_leaves()} leaves, answers {values.tolist()}")

# %%
# Each threshold lies in the middle between two values of the data.
thresholds = tree.tree_.nodes["threshold"]
print(np.sort(thresholds[~np.isnan(thresholds)]).round(2))
