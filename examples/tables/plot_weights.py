"""
Weights move the boundary
=========================

A weight of k counts a row as k equal rows. Here the rows of recent years weigh more than old ones,
and the tree follows what has changed.
"""

import matplotlib.pyplot as plt
import numpy as np

from sktree_opt import OptimalTreeClassifier


def years(seed, n=800):
    """One number, a year from 0 to 9, and a class whose threshold moves from 3 to 6."""
    rng = np.random.default_rng(seed)
    x, year = rng.uniform(0, 10, n), rng.integers(0, 10, n)
    y = (x > 3 + year / 3) ^ (rng.random(n) < 0.05)
    return x[:, None], year, y.astype(int)


def threshold_of(X, y, sample_weight=None):
    """The threshold of the best single test."""
    model = OptimalTreeClassifier(max_depth=1).fit(X, y, sample_weight=sample_weight)
    return model.tree_.nodes["threshold"][0]


X, year, y = years(seed=0)
rates = np.linspace(0.0, 1.0, 11)
moved = [
    [threshold_of(X, y, np.exp(rate * year)) for rate in rates]
    for X, year, y in map(years, range(5))
]
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].scatter(X[:, 0], year + np.random.default_rng(0).uniform(-0.3, 0.3, len(y)), c=y, s=6)
axes[0].axvline(threshold_of(X, y), color="grey", label="equal weights")
axes[0].axvline(threshold_of(X, y, np.exp(year)), color="#d55e00", label="recent rows weigh more")
axes[0].set(xlabel="x", ylabel="year")
axes[0].legend()
axes[1].plot(rates, np.transpose(moved), color="#0b6e99", alpha=0.5)
axes[1].axhline(6.0, color="grey", linestyle=":", label="threshold of the last year")
axes[1].set(xlabel="growth of the weights per year", ylabel="threshold of the tree")
axes[1].legend()
plt.show()

# %%
# In each of the five tables the weighted threshold is the higher one.
assert all(of_table[-1] > of_table[0] for of_table in moved)
