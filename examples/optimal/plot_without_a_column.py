"""
The best tree without a protected column
========================================

A tree for loans may ask about the age of the applicant, and the lender may not want that.
Dropping the column gives a new tree, but does not tell how good it is beside others.
`TreeSetClassifier` finds all trees that are nearly as good as the best one, and `without` finds
the best of those that never ask about the column.
"""

import matplotlib.pyplot as plt
import numpy as np

from sktree_opt import TreeSetClassifier, plot_tree
from sktree_opt.datasets import load_loans

X, y = load_loans(return_X_y=True, as_frame=True)
trees = TreeSetClassifier(epsilon=0.1, max_depth=4, thresholds=8, complexity_cost=0.002).fit(X, y)
print(f"{trees.n_trees_:,} trees are at most 10 % worse than the best one.")

# %%
# One tree above the other. The price of not asking is the difference of their objectives. Here a
# tree without the column is just as good, which a single tree would not have told.
fair = trees.without("age")
figure, axes = plt.subplots(2, 1, figsize=(11, 13), layout="constrained")
for axis, one, title in ((axes[0], trees[0], "all columns"), (axes[1], fair, "without age")):
    plot_tree(one, ax=axis)
    axis.set_title(f"{title}: objective {one.objective_:.1f}")
plt.show()
print(fair.optimality_scope_)

# %%
# Is that an accident of these rows? Five random samples of three quarters of them, and the price
# of each column. A triangle says that all trees within 10 % ask about the column. On each sample
# a tree without the age is near enough; no tree can do without the rating.
prices = {name: [] for name in X}
for seed in range(5):
    rows = np.random.default_rng(seed).permutation(len(X))[:300]
    sample = TreeSetClassifier(**trees.get_params()).fit(X.iloc[rows], y[rows])
    for name, price in prices.items():
        try:
            price.append(sample.without(name).objective_ / sample.objective_ - 1)
        except LookupError:
            price.append(np.nan)
figure, axis = plt.subplots(figsize=(8, 3.5), layout="constrained")
for place, price in enumerate(prices.values()):
    is_known = ~np.isnan(price)
    shifts = place + np.linspace(-0.2, 0.2, 5)
    axis.plot(shifts[is_known], 100 * np.array(price)[is_known], "o", color="#0b6e99")
    axis.plot(shifts[~is_known], np.full((~is_known).sum(), 10.5), "^", color="#b35900")
axis.set_xticks(range(len(prices)), prices)
axis.set(ylabel="percent worse without it", ylim=(-0.5, 11.5))
plt.show()
assert not np.isnan(prices["age"]).any()
assert np.isnan(prices["rating"]).all()

# %%
# Any condition will do. Here older and younger applicants must be accepted about equally often.
is_young = (X["age"] < 30).to_numpy()


def treats_ages_alike(tree):
    """Whether the shares of accepted applicants differ by less than one point."""
    accepted = tree.predict(X) == "repaid"
    return abs(accepted[is_young].mean() - accepted[~is_young].mean()) < 0.01


alike = trees.having(treats_ages_alike)
print(f"objective {alike.objective_:.1f} instead of {trees.objective_:.1f}")
assert trees.objective_ <= fair.objective_
assert trees.objective_ <= alike.objective_
