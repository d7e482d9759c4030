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

from sktree_opt import AcceptableSubsetSelector, FeatureUseDisplay, GreedyTreeClassifier

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
share = selector.feature_reliance_["share"]
columns = np.argsort(-share, kind="stable")

# %%
# Each row of the picture is a tree, the best one on top; a dark cell is a column that it uses. A
# column that all trees use is needed for this error: this is proved.
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
axes[0].imshow(is_used[np.ix_(order, columns)], aspect="auto", cmap="Blues", interpolation="none")
axes[0].set_xticks(range(10), np.array(names)[columns], rotation=60, ha="right")
axes[0].set(ylabel="trees, best first", title=f"{len(found)} trees within {delta:.0%} of the best")
FeatureUseDisplay.from_estimator(selector, ax=axes[1])
plt.show()
print(f"most used: {names[columns[0]]}, by {share.max():.0%} of the trees")
print(f"least used: {names[columns[-1]]}, by {share.min():.0%}")
assert errors.max() <= errors.min() + delta + 1e-9
