"""
When one error is worse than the other
======================================

To miss a malignant tumour is worse than a false alarm. A cost matrix says by how much, and the
search finds the tree of the least total cost. Here the price of a miss grows from 1 to 30 false
alarms.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.inspection import DecisionBoundaryDisplay

from sktree_opt import OptimalTreeClassifier

table = load_breast_cancer(as_frame=True)
columns = ["mean texture", "worst radius"]
X, y = table.data[columns].to_numpy(), 1 - table.target.to_numpy()

# %%
# Two columns, so the regions can be drawn. The higher the price, the smaller the region that is
# called benign.
figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained", sharey=True)
misses = []
for axis, price in zip(axes, (1, 5, 30), strict=True):
    model = OptimalTreeClassifier(
        max_depth=2, objective="cost", cost_matrix=[[0, 1], [price, 0]]
    ).fit(X, y)
    answers = model.predict(X)
    missed, alarms = np.sum((y == 1) & (answers == 0)), np.sum((y == 0) & (answers == 1))
    misses.append(missed)
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict", alpha=0.25, ax=axis, grid_resolution=300,
        cmap="coolwarm",
    )  # fmt: skip
    axis.scatter(*X.T, c=y, s=6, cmap="coolwarm")
    axis.set(title=f"a miss costs {price}: {missed} missed,\n{alarms} false alarms")
    axis.set_xlabel(columns[0])
axes[0].set_ylabel(columns[1])
plt.show()

# %%
# A higher price can only lower the number of misses of the best tree.
print("missed:", *misses)
assert misses == sorted(misses, reverse=True)
