"""
Five pictures of what a search knows
====================================

Each display takes a fitted estimator and draws what it keeps: ``from_estimator``, as in
scikit-learn. None of them repeats a search.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from sktree_opt import (
    DTsbeSelector,
    ErrorByFeaturesDisplay,
    ErrorBySizeDisplay,
    FeatureUseDisplay,
    GapDisplay,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    ParetoFrontDisplay,
    TreeSetClassifier,
    load_loans,
    plot_tree,
)

X, y = load_loans(return_X_y=True, as_frame=True)
figure, axes = plt.subplots(2, 3, figsize=(14, 8), layout="constrained")

# %%
# How large a tree pays on new rows, and how a search came to its proof.
ErrorBySizeDisplay.from_estimator(OptimalTreeClassifierCV(max_depth=3).fit(X, y), ax=axes[0, 0])
tree = OptimalTreeClassifier(max_depth=3).fit(X, y)
GapDisplay.from_estimator(tree, ax=axes[0, 1])

# %%
# What good trees rely on, and the two kinds of errors between which a metric chooses.
trees = TreeSetClassifier(epsilon=0.1, max_depth=3, thresholds=8).fit(X, y)
FeatureUseDisplay.from_estimator(trees, ax=axes[0, 2])
metric = OptimalTreeClassifier(max_depth=2, objective="f1", pos_label="default").fit(X, y)
ParetoFrontDisplay.from_estimator(metric, ax=axes[1, 0])

# %%
# The error while a selector takes one feature after the other away, on a table of thirty columns.
selector = DTsbeSelector(random_state=0).fit(*load_breast_cancer(return_X_y=True))
ErrorByFeaturesDisplay.from_estimator(selector, ax=axes[1, 1])

# %%
# Beside them, the tree whose search the second picture shows.
plot_tree(tree, ax=axes[1, 2], fontsize=7)
titles = ["ErrorBySizeDisplay", "GapDisplay", "FeatureUseDisplay"]
titles += ["ParetoFrontDisplay", "ErrorByFeaturesDisplay", "plot_tree"]
for axis, title in zip(axes.flat, titles, strict=True):
    axis.set_title(title)
plt.show()
assert tree.gap_ == 0.0
