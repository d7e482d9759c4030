"""
Features that a greedy tree is better without
=============================================

Backward elimination removes one feature after the other, as long as the error on rows kept back
does not grow. The selector can also end a pipeline: it predicts with the tree of the features it
selected.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.subset import DTsbeSelector

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
selector = DTsbeSelector(GreedyTreeClassifier(min_weight_leaf=2), random_state=0)
selector.fit(X_train, y_train)
print("selected:", ", ".join(selector.get_feature_names_out()))

# %%
# The error on the search rows does not grow with a removal. It is the smallest that the selector
# could find, and so it is too good: new rows tell.
errors = [step["error"] for step in selector.history_]
sizes = [len(step["features"]) for step in selector.history_]
figure, axes = plt.subplots(layout="constrained")
axes.plot(errors, marker="o", label="search rows")
axes.axhline(1 - selector.score(X_test, y_test), color="C1", label="new rows, selected features")
full = GreedyTreeClassifier(min_weight_leaf=2).fit(X_train, y_train)
axes.axhline(1 - full.score(X_test, y_test), color="C2", label="new rows, all features")
axes.set(xlabel="step", ylabel="error", xticks=range(len(errors)))
axes.set_xticklabels([f"{step}\n({size})" for step, size in enumerate(sizes)])
axes.legend()
plt.show()
