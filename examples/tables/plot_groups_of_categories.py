"""
One category, or a group of them
================================

Twelve shops, of which five, without any order, have a problem. Tests of one category against the
others need a level for each shop. With ``categorical_splits="subset"`` a single test asks for the
group.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sktree_opt import OptimalTreeClassifier, plot_tree

BAD = ["C", "D", "F", "J", "K"]


def table(seed, n=600):
    """Shop and size of an order; late orders come from bad shops, with 10 percent of noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"shop": rng.choice(list("ABCDEFGHIJKL"), n), "size": rng.normal(size=n)})
    is_late = X["shop"].isin(BAD) ^ (rng.random(n) < 0.1)
    return X, np.where(is_late, "late", "in time")


X, y = table(seed=0)
figure, axes = plt.subplots(2, 1, figsize=(8, 8.5), layout="constrained")
for axis, splits in zip(axes, ("one_vs_rest", "subset"), strict=True):
    depth = 2 if splits == "one_vs_rest" else 1
    model = OptimalTreeClassifier(max_depth=depth, categorical_splits=splits).fit(X, y)
    plot_tree(model, ax=axis)
    axis.set_title(f'"{splits}", depth {depth}: {model.objective_:g} errors of {len(y)}')
plt.show()

# %%
# One test for the group beats two levels of single shops, in each of ten tables.
for seed in range(10):
    X, y = table(seed)
    group = OptimalTreeClassifier(max_depth=1, categorical_splits="subset").fit(X, y)
    single = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert group.objective_ < single.objective_
