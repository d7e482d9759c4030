"""
How large should a tree be?
===========================

A greedy tree that grows until its leaves are pure learns the noise as well. Error-based pruning
asks no further rows and cuts back what the training data cannot support; reduced-error pruning
keeps some rows apart and asks them. ``confidence`` and ``min_samples_leaf`` set how far either
goes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate

from sktree_opt import GreedyTreeClassifier

X, y = load_breast_cancer(return_X_y=True)
folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0)


def leaves_and_error(**parameters):
    """Mean number of leaves and mean test error of a greedy tree."""
    results = cross_validate(
        GreedyTreeClassifier(random_state=0, **parameters), X, y, cv=folds, return_estimator=True
    )
    leaves = np.mean([tree.get_n_leaves() for tree in results["estimator"]])
    return leaves, 100.0 * (1.0 - results["test_score"].mean())


# %%
# Not pruned, and pruned in both ways.
found = {}
for pruning in (None, "error_based", "reduced_error"):
    leaves, error = found[pruning] = leaves_and_error(pruning=pruning)
    print(f"pruning={pruning!s:14} {leaves:5.1f} leaves, {error:.1f}% test error")

assert all(leaves < found[None][0] for leaves, _ in [found["error_based"], found["reduced_error"]])

# %%
# A smaller ``confidence`` trusts the training data less and prunes more.
confidences = [0.5, 0.25, 0.1, 0.05, 0.01, 0.001]
curve = [leaves_and_error(pruning="error_based", confidence=c) for c in confidences]
leaves, errors = np.transpose(curve)

assert (np.diff(leaves) < 0).all()

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.plot(leaves, errors, marker="o")
for confidence, x, error in zip(confidences, leaves, errors, strict=True):
    axes.annotate(f" {confidence}", (x, error))
axes.set(xlabel="leaves", ylabel="test error (%)", title="Error-based pruning by confidence")
plt.show()
