"""
An optimal regression tree
==========================

A curve with steps, as a tree of at most eight values. The greedy tree spends its first test where
the squared error falls most; the optimal tree puts all seven tests where they serve together.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeRegressor

from sktree_opt import OptimalTreeRegressor

# %%
# Five levels, the middle one narrow, and noise.
rng = np.random.default_rng(3)
x = np.sort(rng.uniform(0.0, 10.0, 200))
levels = np.select([x < 3.0, x < 4.0, x < 5.0, x < 8.0], [0.0, 3.0, -2.0, 1.5], 0.5)
y = levels + rng.normal(scale=0.4, size=len(x))
X = x[:, np.newaxis]

models = {
    "CART": DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y),
    "optimal": OptimalTreeRegressor(max_depth=2).fit(X, y),
}
grid = np.linspace(0.0, 10.0, 1000)[:, np.newaxis]
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.scatter(x, y, s=8, color="grey")
for name, model in models.items():
    squares = ((model.predict(X) - y) ** 2).sum()
    axes.plot(grid, model.predict(grid), label=f"{name}, depth 2: {squares:.0f}")
axes.set(xlabel="x", ylabel="y", title="sum of squared distances")
axes.legend()
plt.show()

# %%
# One level more, and a price for every test: the best tree says itself how many levels there are.
# `complexity_cost` is a share of the total weight: here the squared distance per row that a test
# has to save.
for cost in (0.0, 0.02, 0.1):
    tree = OptimalTreeRegressor(max_depth=3, complexity_cost=cost).fit(X, y)
    values = np.unique(tree.predict(X)).round(2)
    print(f"complexity_cost={cost}: {tree.get_n_leaves()} leaves, answers {values.tolist()}")

# %%
# Each threshold lies in the middle between two values of the data.
thresholds = tree.tree_.nodes["threshold"]
print(np.sort(thresholds[~np.isnan(thresholds)]).round(2))
