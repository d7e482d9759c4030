"""
The best subset on the search rows is not the best on new rows
==============================================================

With ten features there are at most 1024 feature subsets, and no more distinct greedy trees. Here
all of them are grown, to show what a selector chooses from.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from sktree_opt import (
    AcceptableSubsetSelector,
    CrossValidationError,
    DistinctTreeEnumerator,
    DTsbeSelector,
    GreedyTreeClassifier,
)

X, y = load_breast_cancer(return_X_y=True)
X = X[:, :10]
tree = GreedyTreeClassifier(min_weight_branch=2)
X_train, X_new, y_train, y_new = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
# Each distinct tree is grown once on 70 percent of the training rows. Its errors on the other 30
# percent, the search rows, are what the selectors see.
rows = np.random.default_rng(0).permutation(len(y_train))
n_search = round(0.3 * len(rows))
search_rows = rows[:n_search]
split = CrossValidationError(cv=[(rows[n_search:], search_rows)])
on_search, on_new, sizes = [], [], []
enumerator = DistinctTreeEnumerator(tree, error=split)
for features, grown in enumerator.iter_trees(X_train, y_train):
    on_search.append(1 - grown.score(X_train[search_rows], y_train[search_rows]))
    on_new.append(1 - grown.score(X_new, y_new))
    sizes.append(len(features))
print(f"{len(sizes)} distinct trees")
print(f"correlation of the two errors: {np.corrcoef(on_search, on_new)[0, 1]:.2f}")

# %%
# Backward elimination tries few of them, the complete search all. Over twenty random splits the
# complete search finds the smaller error on the search rows. On new rows nothing is left of its
# lead.
names = ["all features", "DTsbe", "best subset"]
errors = np.zeros((20, 3, 2))
for seed, of_seed in enumerate(errors):
    X_train, X_new, y_train, y_new = train_test_split(X, y, test_size=0.5, random_state=seed)
    some = DTsbeSelector(tree, random_state=seed).fit(X_train, y_train)
    best = AcceptableSubsetSelector(tree, random_state=seed).fit(X_train, y_train)
    full = GreedyTreeClassifier(min_weight_branch=2).fit(X_train, y_train)
    of_seed[:, 0] = some.history_[0]["error"], some.error_, best.error_
    of_seed[:, 1] = [1 - fitted.score(X_new, y_new) for fitted in (full, some, best)]

means = errors.mean(axis=0)
for name, (search_error, new_error) in zip(names, means, strict=True):
    print(f"{name:13} search rows {search_error:.3f}, new rows {new_error:.3f}")

assert means[2, 0] < means[1, 0] - 0.005
assert means[2, 1] > means[1, 1] - 0.005

# %%
# Left: all distinct trees of one split. Right: the means of the twenty splits.
figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
jitter = np.random.default_rng(0).normal(scale=0.0015, size=(2, len(sizes)))
points = axes[0].scatter(on_search + jitter[0], on_new + jitter[1], c=sizes, s=8, alpha=0.6)
figure.colorbar(points, ax=axes[0], label="features used")
axes[0].axline((0.05, 0.05), slope=1, color="grey", linestyle=":")
axes[0].set(title="all distinct trees", xlabel="error on search rows", ylabel="error on new rows")
axes[0].set(xlim=(0.05, 0.3), ylim=(0.05, 0.3))
places = np.arange(3)
axes[1].bar(places - 0.2, means[:, 0], width=0.4, label="search rows")
axes[1].bar(places + 0.2, means[:, 1], width=0.4, label="new rows")
# Room for the legend above the bars.
axes[1].set(title="mean error over 20 splits", ylabel="error", ylim=(0, 1.25 * means.max()))
axes[1].set_xticks(places, names)
axes[1].legend(loc="upper left", ncols=2)
plt.show()
