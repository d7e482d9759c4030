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

# %%
# Five searches: the size of a tree by cross-validation, a single tree, all trees that are nearly as
# good, a tree for a metric, and a selection out of thirty columns.
by_folds = OptimalTreeClassifierCV(max_depth=3).fit(X, y)
tree = OptimalTreeClassifier(max_depth=3).fit(X, y)
trees = TreeSetClassifier(epsilon=0.1, max_depth=3, thresholds=8).fit(X, y)
metric = OptimalTreeClassifier(max_depth=2, objective="f1", pos_label="default").fit(X, y)
selector = DTsbeSelector(random_state=0).fit(*load_breast_cancer(return_X_y=True))
assert tree.gap_ == 0.0

# %%
# The first two pictures show which size pays on new rows, and how the search closed its gap. The
# next two show the features that good trees rely on, and the two kinds of errors between which a
# metric chooses. The fifth is the error while features are taken away one by one. The last one is
# the tree for the metric.
drawn = {
    ErrorBySizeDisplay: by_folds,
    GapDisplay: tree,
    FeatureUseDisplay: trees,
    ParetoFrontDisplay: metric,
    ErrorByFeaturesDisplay: selector,
}
figure, axes = plt.subplots(2, 3, figsize=(14, 8), layout="constrained")
for axis, (display, estimator) in zip(axes.flat[:5], drawn.items(), strict=True):
    display.from_estimator(estimator, ax=axis)
    axis.set_title(display.__name__)
plot_tree(metric, ax=axes[1, 2], fontsize=8)
axes[1, 2].set_title("plot_tree")
plt.show()
