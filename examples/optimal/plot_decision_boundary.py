"""
The boundary of an optimal tree beside CART's
=============================================

Two numeric columns and trees of three levels: at most eight rectangles. CART takes the test that
looks best at each node. The optimal tree is the best of all trees of that depth, over every
threshold of both columns.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.tree import DecisionTreeClassifier

from sktree_opt import OptimalTreeClassifier


# %%
# The classes form the four fields of a board, with 8 percent of noise. A single threshold says
# nearly nothing about the class, so the first test of a greedy tree is close to an accident.
def board(n, seed):
    """Rows of the board, and their classes."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 4.0, (n, 2))
    y = (np.floor(X[:, 0] / 2.0) + np.floor(X[:, 1] / 2.0)) % 2
    return X, np.where(rng.random(n) < 0.08, 1 - y, y).astype(int)


X, y = board(500, seed=7)
models = {
    "CART": DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y),
    "optimal": OptimalTreeClassifier(max_depth=3).fit(X, y),
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained", sharey=True)
for axis, (name, model) in zip(axes, models.items(), strict=True):
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict", alpha=0.3, ax=axis, grid_resolution=300
    )
    axis.scatter(*X.T, c=y, s=10)
    axis.set_title(f"{name}: {np.count_nonzero(model.predict(X) != y)} errors of {len(y)}")
plt.show()

# %%
# The proof comes with the tree: all trees that were compared, and nothing left open.
tree = models["optimal"]
print(tree.status_, tree.objective_, tree.lower_bound_)
print(tree.optimality_scope_)

# %%
# Ten more samples, each with new rows:
accuracies = []
for seed in range(10):
    (X, y), (X_new, y_new) = board(500, seed), board(5000, seed + 100)
    cart = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    optimal = OptimalTreeClassifier(max_depth=3).fit(X, y)
    accuracies.append([cart.score(X_new, y_new), optimal.score(X_new, y_new)])
accuracies = np.array(accuracies)
print(f"accuracy on new rows: CART {accuracies[:, 0].mean():.2f}, ", end="")
print(f"optimal {accuracies[:, 1].mean():.2f}")
assert accuracies[:, 1].mean() > accuracies[:, 0].mean() + 0.05
