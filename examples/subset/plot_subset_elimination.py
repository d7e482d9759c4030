"""
Backward elimination, step by step
==================================

`DTsbeSelector` removes one feature after the other, as long as the error on the search rows does
not grow. The tree of the remaining features asks for fewer columns, and is about as good on new
rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from sktree_opt import DTsbeSelector, GreedyTreeClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_new, y_train, y_new = train_test_split(X, y, random_state=0)
selector = DTsbeSelector(GreedyTreeClassifier(), random_state=0).fit(X_train, y_train)
print("selected:", ", ".join(selector.get_feature_names_out()))
for step in selector.history_:
    print(f"{len(step['features']):2} features, {step['error']:.1%} errors on the search rows")

# %%
# Twenty divisions of the rows. Each line on the left is one elimination. The error on the search
# rows falls, because the selector chooses by it; only new rows can tell what that is worth.
figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
asked, errors = np.zeros((2, 20)), np.zeros((2, 20))
for seed in range(20):
    X_train, X_new, y_train, y_new = train_test_split(X, y, random_state=seed)
    selector = DTsbeSelector(GreedyTreeClassifier(), random_state=seed).fit(X_train, y_train)
    axes[0].plot([step["error"] for step in selector.history_], color="#0b6e99", alpha=0.4)
    full = GreedyTreeClassifier().fit(X_train, y_train)
    for k, tree in enumerate((full, selector.estimator_)):
        asked[k, seed] = len(tree.tree_.features)
    errors[:, seed] = 1 - full.score(X_new, y_new), 1 - selector.score(X_new, y_new)
axes[0].set(xlabel="step", ylabel="error on the search rows")
for axis, values, label in zip(
    axes[1:], (asked, errors), ("columns that the tree asks for", "error on new rows"), strict=True
):
    axis.boxplot(values.T, tick_labels=["all columns", "selected"], widths=0.6)
    axis.set(ylabel=label, ylim=(0, None))
plt.show()

# %%
# In the mean of the divisions:
print(
    f"columns asked for: {asked[0].mean():.1f} of all, {asked[1].mean():.1f} of the selected ones"
)
print(
    f"error on new rows: {errors[0].mean():.1%} with all, {errors[1].mean():.1%} with selected ones"
)
assert asked[1].mean() < asked[0].mean() - 1
assert abs(errors[1].mean() - errors[0].mean()) < 0.02
