"""
The price of equal treatment of two groups
==========================================

A tree that never sees the group may still treat its members differently, because other columns
tell the group: here the district and the income. How many more errors does a tree make that
accepts both groups about equally often? `FairTreeClassifier` answers for every limit on the
difference, with proof.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sktree_opt import FairTreeClassifier, plot_tree


def make_applicants(seed, n=600):
    """Decisions of the past, which favoured group A and disliked one district."""
    rng = np.random.default_rng(seed)
    is_b = rng.random(n) < 0.4
    usual, other = np.where(is_b, "south", "north"), rng.choice(["east", "west"], n)
    table = pd.DataFrame(
        {
            "income": np.round(rng.normal(32, 9, n) - 5 * is_b),
            "debt": np.round(rng.gamma(2, 4, n)),
            "years": np.clip(rng.integers(0, 16, n) - 4 * is_b, 0, None),
            "district": np.where(rng.random(n) < 0.75, usual, other),
        }
    )
    score = (table["income"] - 30) / 8 - (table["debt"] - 8) / 6 + (table["years"] - 5) / 10
    score += 0.2 - 0.8 * (table["district"] == "south") + rng.normal(0, 0.6, n)
    return table, np.where(score > 0, "accept", "refuse"), np.where(is_b, "B", "A")


# %%
# Each step of a front is a tree, and each front belongs to a table of its own. No tree of depth 3
# is below its line. The rates of the tree with the fewest errors differ by more than 20 points. To
# bring them within two points costs less than twice as many errors.
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for seed in range(3):
    X, y, group = make_applicants(seed)
    model = FairTreeClassifier(max_difference=0.02, pos_label="accept", max_depth=3, thresholds=6)
    front = model.fit(X, y, sensitive_features=group).fairness_front_
    axes[0].step(front["difference"], front["objective"], where="post", marker=".")
    assert model.status_ == "optimal"
    assert front["difference"][0] > 0.2
    assert front["objective"][-1] < 2 * front["objective"][0]
axes[0].set(
    xlabel="difference of the shares of accepted applicants",
    ylabel="errors on 600 training rows",
    xlim=(0, None),
    ylim=(0, None),
)

# The rates of both groups along the front of the last table.
rates = np.array(
    [
        [np.mean(model.within(limit).predict(X[group == name]) == "accept") for name in "AB"]
        for limit in front["difference"]
    ]
)
for name, rate, style in zip("AB", rates.T, ("o", "s"), strict=True):
    axes[1].plot(front["difference"], rate, style, label=f"group {name}")
axes[1].set(xlabel="limit on the difference", ylabel="share accepted", ylim=(0, 1))
axes[1].legend()
plt.show()

# %%
# The tree within ten points of difference.
looser = model.within(0.1)
plot_tree(looser)
plt.show()
assert model.objective_ >= looser.objective_
assert np.isclose(np.abs(rates[:, 0] - rates[:, 1]), front["difference"]).all()
