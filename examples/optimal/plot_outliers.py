"""
Medians instead of means
========================

Squared errors let a few wild targets pull the answers of a regression tree. With
``objective="absolute_error"`` each leaf answers the median, and the tree is the best one by the sum
of absolute errors.
"""

import matplotlib.pyplot as plt
import numpy as np

from sktree_opt import OptimalTreeRegressor


def steps(n, seed):
    """Four levels with noise; one target in ten is far off. Also the levels themselves."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0.0, 10.0, n))
    levels = np.select([x < 2.0, x < 5.0, x < 7.0], [1.0, 4.0, 2.0], 5.0)
    y = levels + rng.normal(scale=0.3, size=n)
    wild = rng.random(n) < 0.1
    y[wild] += rng.exponential(30.0, wild.sum())
    return x[:, None], y, levels


X, y, levels = steps(200, seed=0)
figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
axes.scatter(X, y, s=8, color="grey", label="rows")
for objective, colour in (("squared_error", "#d55e00"), ("absolute_error", "#0072b2")):
    model = OptimalTreeRegressor(max_depth=2, objective=objective, min_samples_leaf=5).fit(X, y)
    axes.plot(X, model.predict(X), color=colour, linewidth=2, label=objective)
axes.plot(X, levels, "k:", label="levels without noise")
axes.set(ylim=(-1, 20), xlabel="x", ylabel="y")
axes.legend()
plt.show()

# %%
# The mean distance to the levels without noise, over ten samples.
distances = []
for seed in range(10):
    X, y, levels = steps(200, seed)
    distances.append(
        [
            np.abs(
                OptimalTreeRegressor(max_depth=2, objective=objective, min_samples_leaf=5)
                .fit(X, y)
                .predict(X)
                - levels
            ).mean()
            for objective in ("squared_error", "absolute_error")
        ]
    )
distances = np.array(distances)
print(f"squared errors {distances[:, 0].mean():.2f}, absolute errors {distances[:, 1].mean():.2f}")
assert (distances[:, 1] < distances[:, 0]).all()
