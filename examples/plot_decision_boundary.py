"""
The boundary of an optimal tree beside CART's
=============================================

Two columns of numbers, three tests deep: eight rectangles at most. CART takes the test that looks
best at each node; the optimal tree is the best of all trees of that depth, over every threshold of
both columns.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.tree import DecisionTreeClassifier

from sktree_opt.optimal import OptimalTreeClassifier

# %%
# Four fields of a board, with some noise. No single threshold says much about the class, so that
# the first test of a greedy tree is next to an accident.
rng = np.random.default_rng(7)
X = rng.uniform(0.0, 4.0, (500, 2))
y = (np.floor(X[:, 0] / 2.0) + np.floor(X[:, 1] / 2.0)) % 2
y = np.where(rng.random(500) < 0.08, 1 - y, y).astype(int)

models = {
    "CART": DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y),
    "optimal": OptimalTreeClassifier(max_depth=3).fit(X, y),
}

# %%
# The same depth, the same tests to choose from; what differs is the search.
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained", sharey=True)
for axis, (name, model) in zip(axes, models.items(), strict=True):
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict", alpha=0.3, ax=axis, grid_resolution=300
    )
    axis.scatter(*X.T, c=y, s=10)
    axis.set_title(f"{name}: {np.count_nonzero(model.predict(X) != y)} errors of {len(y)}")
plt.show()

# %%
# The optimal tree comes with its proof: what it was compared with, and that nothing is left open.
tree = models["optimal"]
print(tree.status_, tree.objective_, tree.lower_bound_)
print(tree.optimality_scope_)

# %%
# On new rows of the same kind the rectangles do what they did before.
X_new = rng.uniform(0.0, 4.0, (20_000, 2))
y_new = (np.floor(X_new[:, 0] / 2.0) + np.floor(X_new[:, 1] / 2.0)) % 2
for name, model in models.items():
    print(f"{name}: accuracy {model.score(X_new, y_new):.3f}")
