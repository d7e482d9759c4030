"""
Error against size
==================

One search finds the best tree for every number of leaves, and so shows what each further test buys.
Cross-validation over the same trees says how many of them pay on new rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import KBinsDiscretizer

from sktree_opt import OptimalTreeClassifierCV

X, y = load_breast_cancer(return_X_y=True)
# Four values a column: their three thresholds are the tests.
X = KBinsDiscretizer(4, encode="ordinal", quantile_method="averaged_inverted_cdf").fit_transform(X)

# %%
# All trees up to depth 3, on five folds and on all rows.
model = OptimalTreeClassifierCV(max_depth=3, fold_thresholds=None).fit(X, y)
print("best:", model.best_params_)

# %%
# The training error can only fall with the number of leaves, whatever the depth.
errors = model.path_.objectives / len(y)
assert (np.diff(errors[3]) <= 0).all()
results = model.cv_results_
figure, axes = plt.subplots(layout="constrained")
for depth in (1, 2, 3):
    leaves = np.arange(depth + 1, 2**depth + 1)
    # With markers, as a tree of depth 1 is a single point.
    axes.step(
        leaves, errors[depth, leaves - 1], "o-", where="post", label=f"training, depth {depth}"
    )
deepest = results["param_max_depth"] == 3
axes.errorbar(
    results["param_max_leaf_nodes"][deepest],
    1 - results["mean_test_score"][deepest],
    yerr=results["std_test_score"][deepest] / np.sqrt(model.n_splits_),
    fmt="s",
    label="cross-validation, depth 3",
)
axes.set(xlabel="leaves of the tree", ylabel="share of errors")
axes.legend()
plt.show()
