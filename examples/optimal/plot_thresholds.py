"""
How many thresholds are enough?
===============================

By default every threshold of a numeric column takes part. A few quantiles make the search shorter,
and the tree a little worse on its rows. New rows often cannot tell the difference.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate

from sktree_opt import OptimalTreeClassifier

X, y = load_breast_cancer(return_X_y=True)
splits = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
choices = [1, 3, 5, 9, 17, "all"]
errors = np.array(
    [
        [
            1 - results[key].mean()
            for results in [
                cross_validate(
                    OptimalTreeClassifier(max_depth=2, thresholds=choice),
                    X, y, cv=splits, return_train_score=True,
                )
            ]
            for key in ("train_score", "test_score")
        ]
        for choice in choices
    ]
)  # fmt: skip

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
positions = np.arange(len(choices))
axes.plot(positions, errors[:, 0], "o-", label="training rows")
axes.plot(positions, errors[:, 1], "s-", label="new rows")
axes.set_xticks(positions, [str(choice) for choice in choices])
axes.set(xlabel="thresholds of each column", ylabel="share of errors", ylim=(0, None))
axes.legend()
plt.show()

# %%
# All thresholds give the best tree on the training rows. A single one, the median, is too few.
print(f"new rows: {errors[0, 1]:.1%} with one threshold, {errors[-1, 1]:.1%} with all")
assert errors[-1, 0] <= errors[:, 0].min() + 1e-12
assert errors[0, 1] > errors[1:, 1].max()
