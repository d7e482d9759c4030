"""
The price of equal treatment of two groups
==========================================

Younger applicants get fewer loans, because they have less income or are students. How many more
errors does a tree make that accepts both age groups about equally often? `FairTreeClassifier`
answers for every limit on the difference, with proof.
"""

import matplotlib.pyplot as plt

from sktree_opt import FairTreeClassifier, export_text
from sktree_opt.datasets import load_loans

X, y = load_loans(return_X_y=True, as_frame=True)
is_young = (X["age"] < 30).to_numpy()
model = FairTreeClassifier(max_difference=0.02, pos_label="repaid", max_depth=3, thresholds=6)
model.fit(X, y, sensitive_features=is_young)
print(f"{model.status_}: {model.objective_:.0f} errors, difference {model.difference_:.3f}")

# %%
# Each step of the front is a tree. No tree of this depth is below the line.
front = model.fairness_front_
figure, axis = plt.subplots(layout="constrained")
axis.step(front["difference"], front["objective"], where="post", marker="o")
axis.set(
    xlabel="difference of the shares of accepted applicants",
    ylabel="errors on the training rows",
    title="The front of error against difference",
)
plt.show()

# %%
# The tree for a looser limit is on the front, too.
looser = model.within(max(0.05, front["difference"][-1]))
print(export_text(looser))
assert looser.objective_ <= model.objective_
