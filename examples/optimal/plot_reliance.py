"""
Which columns good trees rely on
================================

The importance of a column in one tree says little if a hundred other trees are as good.
`feature_reliance_` looks at all of them: in how many a column is needed, and its smallest and
largest importance. A column with a smallest importance far above 0 has no substitute.
"""

import matplotlib.pyplot as plt
import numpy as np

from sktree_opt import TreeSetClassifier
from sktree_opt.datasets import load_loans

X, y = load_loans(return_X_y=True, as_frame=True)
trees = TreeSetClassifier(epsilon=0.1, max_depth=3, thresholds=8, complexity_cost=0.005).fit(X, y)
reliance = trees.feature_reliance_
print(f"{trees.n_trees_:,} trees")
for record in reliance:
    print(f"{record['name']:>12}  needed by {record['verdict']:<4}  {record['share']:.0%} of them")

# %%
# The range of the importance, and the share of the trees that need the column.
order = np.argsort(reliance["largest_importance"])
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", sharey=True)
least, largest = reliance["least_importance"][order], reliance["largest_importance"][order]
axes[0].barh(reliance["name"][order], largest - least, left=least, color="#0b6e99")
axes[0].set(xlabel="importance in the trees of the set", xlim=(0, 1))
axes[1].barh(reliance["name"][order], reliance["share"][order], color="#0b6e99")
axes[1].set(xlabel="share of the trees that need the column", xlim=(0, 1))
plt.show()

# %%
# Do the trees agree on a person? `disagreement` counts their answers without making the trees.
shares = trees.disagreement(X).max(axis=1)
plt.figure(figsize=(6, 3.5), layout="constrained")
plt.hist(shares, bins=np.linspace(0.5, 1, 21), color="#0b6e99")
plt.xlabel("share of the trees that give the more frequent answer")
plt.ylabel("applicants")
plt.show()
assert (least <= largest).all()
