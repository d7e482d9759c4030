"""
Quickstart: fit, print and draw a tree
======================================

Twelve evenings at a restaurant, described by ten nominal attributes: do we wait for a table?
The categories are taken as they are; nothing is encoded by hand.
"""

import matplotlib.pyplot as plt

from sktree_opt.datasets import load_restaurant
from sktree_opt.export import export_text, plot_tree
from sktree_opt.greedy import GreedyTreeClassifier

restaurant = load_restaurant(as_frame=True)
X, y = restaurant.data, restaurant.target

# %%
# A C4.5-style tree asks for the number of patrons first, as the textbook's does.
tree = GreedyTreeClassifier(criterion="information_gain").fit(X, y)
print(export_text(tree))

# %%
# The same tree as a picture, also left in ``quickstart.png``.
figure, axes = plt.subplots(figsize=(10, 6), layout="constrained")
plot_tree(tree, ax=axes)
figure.savefig("quickstart.png")
