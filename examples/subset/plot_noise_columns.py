"""
Columns of noise
================

A greedy tree finds something in every column, also in noise. Here a table of thirty columns gets
more and more columns of random numbers. Backward elimination keeps most of them out of the tree,
which is about as good on new rows as before.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from sktree_opt import DTsbeSelector, GreedyTreeClassifier

X, y = load_breast_cancer(return_X_y=True)
counts = [0, 50, 100, 200, 400]
used = np.zeros((2, len(counts), 8))
errors = np.zeros((2, len(counts), 8))
for i, n_noise in enumerate(counts):
    for seed in range(8):
        noise = np.random.default_rng(seed).normal(size=(len(y), n_noise))
        X_train, X_new, y_train, y_new = train_test_split(
            np.hstack([X, noise]), y, random_state=seed
        )
        full = GreedyTreeClassifier().fit(X_train, y_train)
        selector = DTsbeSelector(GreedyTreeClassifier(), random_state=seed).fit(X_train, y_train)
        for k, model in enumerate((full, selector)):
            tree = full if k == 0 else selector.estimator_
            used[k, i, seed] = (tree.tree_.features >= X.shape[1]).sum()
            errors[k, i, seed] = 1 - model.score(X_new, y_new)

# %%
# Means of eight divisions of the rows.
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for axis, values, label in zip(
    axes, (used, errors), ("columns of noise in the tree", "error on new rows"), strict=True
):
    for name, of_model in zip(("all columns", "selected columns"), values, strict=True):
        axis.errorbar(
            counts, of_model.mean(axis=1), of_model.std(axis=1), marker="o", capsize=3, label=name
        )
    axis.set(xlabel="columns of noise added", ylabel=label, ylim=(0, None))
axes[0].legend()
plt.show()
for name, of_model in zip(("all", "selected"), used, strict=True):
    print(f"{name} columns: {of_model[-1].mean():.1f} of 400 columns of noise in the tree")
assert (used[1, 1:].mean(axis=1) < 0.5 * used[0, 1:].mean(axis=1)).all()
assert abs(errors[1].mean() - errors[0].mean()) < 0.02
