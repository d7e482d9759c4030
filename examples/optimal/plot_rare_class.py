"""
A rare class
============

One row in fifteen belongs to the class that matters. The tree with the fewest errors may never name
it. The balanced error counts the error rates of both classes alike.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.metrics import balanced_accuracy_score

from sktree_opt import OptimalTreeClassifier


def sample(n, seed):
    """A large cloud of rows, and a small one that overlaps with it."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 1 / 15).astype(int)
    centres = np.where(y[:, None] == 1, [1.3, 1.1], [0.0, 0.0])
    return centres + rng.normal(size=(n, 2)), y


X, y = sample(1000, seed=0)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained", sharey=True)
for axis, objective in zip(axes, ("error", "balanced_error"), strict=True):
    model = OptimalTreeClassifier(max_depth=2, objective=objective, min_samples_leaf=10).fit(X, y)
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict", alpha=0.3, ax=axis, grid_resolution=300
    )
    axis.scatter(*X.T, c=y, s=6 + 12 * y)
    found = np.mean(model.predict(X[y == 1]) == 1)
    axis.set_title(f'"{objective}": {found:.0%} of the rare class found')
plt.show()

# %%
# Balanced accuracy on new rows, over ten samples.
scores = []
for seed in range(10):
    (X, y), (X_new, y_new) = sample(1000, seed), sample(5000, seed + 100)
    scores.append(
        [
            balanced_accuracy_score(
                y_new,
                OptimalTreeClassifier(max_depth=2, objective=objective, min_samples_leaf=10)
                .fit(X, y)
                .predict(X_new),
            )
            for objective in ("error", "balanced_error")
        ]
    )
scores = np.array(scores)
print(f"error {scores[:, 0].mean():.2f}, balanced error {scores[:, 1].mean():.2f}")
assert (scores[:, 1] > scores[:, 0]).all()
