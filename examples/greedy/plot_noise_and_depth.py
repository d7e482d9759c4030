"""
Deep trees learn the noise
==========================

Labels are turned at random, from none to thirty percent of them. A tree that grows to the end
follows the noise on its training rows. Pruning and small optimal trees do not.
"""

import matplotlib.pyplot as plt
import numpy as np

from sktree_opt import GreedyTreeClassifier, OptimalTreeClassifier


def sample(n, noise, seed):
    """Six columns, a class by three of them, and a share of wrong labels; also the right ones."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n, 6)).astype(float)
    right = ((X[:, 0] > 2) & (X[:, 1] > 1)) | (X[:, 2] > 4)
    return X, right ^ (rng.random(n) < noise), right


shares = [0.0, 0.1, 0.2, 0.3]
models = {
    "greedy, full": GreedyTreeClassifier(),
    "greedy, pruned": GreedyTreeClassifier(pruning="error_based", confidence=0.05),
    "optimal, depth 3": OptimalTreeClassifier(max_depth=3),
}
errors = np.zeros((len(models), len(shares), 8))
for j, share in enumerate(shares):
    for seed in range(errors.shape[2]):
        X, y, _ = sample(400, share, seed)
        X_new, _, y_new = sample(4000, 0.0, seed + 100)
        for i, model in enumerate(models.values()):
            errors[i, j, seed] = 1 - model.fit(X, y).score(X_new, y_new)

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for name, of_model in zip(models, errors, strict=True):
    axes.errorbar(
        shares, of_model.mean(axis=1), of_model.std(axis=1), marker="o", capsize=3, label=name
    )
axes.set(xlabel="share of wrong labels in training", ylabel="error on new rows, right labels")
axes.legend()
plt.show()
means = errors.mean(axis=2)
for name, of_model in zip(models, means, strict=True):
    print(f"{name}: {of_model[-1]:.1%} errors with 30 percent of wrong labels")
assert (means[0, 1:] > 2 * means[1:, 1:]).all()
