"""
The price of a test
===================

`complexity_cost` charges each test a share of the rows. The best tree then decides by itself how
large it is: a test stays only if it saves more errors than it costs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from sktree_opt import OptimalTreeClassifier, optimal_path, plot_tree

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
path = optimal_path(OptimalTreeClassifier(max_depth=3, thresholds=8), X, y)

# %%
# The path has the best tree for every price. Each line below is one tree: its errors plus the price
# of its tests. The lowest line at a price is the best tree for it.
errors = path.objectives[3] / len(y)
prices = np.linspace(0.0, 0.06, 200)
figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
for n_tests, error in enumerate(errors):
    axes.plot(prices, error + n_tests * prices, linewidth=1, label=f"{n_tests} tests")
axes.plot(
    prices, np.min([e + k * prices for k, e in enumerate(errors)], axis=0), "k", linewidth=2.5
)
axes.set(xlabel="price of a test", ylabel="share of errors and price", ylim=(0.0, 0.25))
axes.legend(ncols=2)
plt.show()

# %%
# The tree that a price of half a percent leaves.
model = OptimalTreeClassifier(max_depth=3, thresholds=8, complexity_cost=0.005).fit(X, y)
plot_tree(model)
plt.show()
assert np.isclose(model.objective_ / len(y), (errors + 0.005 * np.arange(len(errors))).min())
