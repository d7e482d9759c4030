"""
Which columns do good trees use?
================================

Many feature subsets give trees that are nearly as good as the best one. The complete search lists
all of these trees. A column that most of them use is hard to replace; one that few of them use has
substitutes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from sktree_opt import AcceptableSubsetSelector, GreedyTreeClassifier

table = load_breast_cancer(as_frame=True)
X, y = table.data.iloc[:, :10], table.target
names = [name.removeprefix("mean ") for name in X.columns]

# %%
# All distinct trees with an error of at most one point more than the best one, by cross-validation.
delta = 0.01
selector = AcceptableSubsetSelector(
    GreedyTreeClassifier(max_depth=4),
    error="cross_validation",
    delta=delta,
    collect=True,
    random_state=0,
).fit(X, y)
found = selector.acceptable_subsets_
is_used = np.array([np.isin(X.columns, entry["features"]) for entry in found])
errors = np.array([entry["error"] for entry in found])
order = np.argsort(errors, kind="stable")
share = is_used.mean(axis=0)
columns = np.argsort(-share, kind="stable")

# %%
# Each row of the picture is a tree, the best one on top; a dark cell is a column that it uses.
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
axes[0].imshow(is_used[np.ix_(order, columns)], aspect="auto", cmap="Blues", interpolation="none")
axes[0].set_xticks(range(10), np.array(names)[columns], rotation=60, ha="right")
axes[0].set(ylabel="trees, best first", title=f"{len(found)} trees within {delta:.0%} of the best")
axes[1].barh(range(10), share[columns], color="#0b6e99")
axes[1].set_yticks(range(10), np.array(names)[columns])
axes[1].invert_yaxis()
axes[1].set(xlabel="share of the trees that use the column", xlim=(0, 1))
plt.show()
print(f"most used: {names[columns[0]]}, by {share.max():.0%} of the trees")
print(f"least used: {names[columns[-1]]}, by {share.min():.0%}")
assert errors.max() <= errors.min() + delta + 1e-9
