"""
A slanted border
================

A tree that tests one column at a time draws a slanted border as a staircase. `ColumnCombiner` adds
a direction between the classes as a column of its own, and one test of it is enough. The name of
the column says what it is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.pipeline import make_pipeline

from sktree_opt import ColumnCombiner, OptimalTreeClassifier
from sktree_opt.export import export_text

rng = np.random.default_rng(0)
X = rng.uniform(size=(300, 2))
y = X[:, 0] + 0.8 * X[:, 1] < 0.9

models = {
    "columns alone": OptimalTreeClassifier(max_depth=3),
    "with a direction": make_pipeline(
        ColumnCombiner("logistic"), OptimalTreeClassifier(max_depth=1)
    ),
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for axis, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict", alpha=0.3, ax=axis, grid_resolution=300
    )
    axis.scatter(*X.T, c=y, s=12)
    tree = model if isinstance(model, OptimalTreeClassifier) else model[-1]
    axis.set(title=f"{name}: {tree.get_n_leaves()} leaves, {model.score(X, y):.1%} right")
plt.show()

# %%
# The test names the direction. The tree is the best one of depth 1 on the two columns and this
# direction; another direction might be better.
print(export_text(models["with a direction"]))

# %%
# Ten more borders of the same kind, and new rows.
scores = []
for seed in range(10):
    rng = np.random.default_rng(seed)
    X, X_new = rng.uniform(size=(2, 300, 2))
    slope = rng.uniform(0.5, 1.5)
    y, y_new = (rows[:, 0] + slope * rows[:, 1] < 0.5 + slope / 2 for rows in (X, X_new))
    scores.append([model.fit(X, y).score(X_new, y_new) for model in models.values()])
scores = np.array(scores)
print(dict(zip(models, scores.mean(axis=0).round(3).tolist(), strict=True)))
assert (scores[:, 1] > scores[:, 0]).all()
