"""
Which features should a tree be given?
======================================

Backward elimination takes away, one by one, the features without which a greedy tree has the
smallest error on rows kept back for that purpose. Here it runs on 30 measurements of cells, down to
an empty tree, to show the whole path.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.subset import DTsbeSelector

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
selector = DTsbeSelector(n_features_to_select=1, random_state=0).fit(X, y)

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.plot(
    [len(step["features"]) for step in selector.history_],
    [100 * step["error"] for step in selector.history_],
    marker="o",
)
axes.set(xlabel="features that the tree uses", ylabel="error on the rows kept back (%)")
plt.show()

# %%
# Without ``n_features_to_select`` it ends before the error grows.
selector = DTsbeSelector(random_state=0).fit(X, y)
print(f"{selector.n_features_} of {X.shape[1]}:", ", ".join(selector.get_feature_names_out()))

# %%
# What was selected for one tree can be of use to others. The error on rows that took no part in the
# selection is the one to believe: the one that was minimised is too small.
for name, model in {
    "greedy tree": GreedyTreeClassifier(),
    "selection, greedy tree": make_pipeline(DTsbeSelector(random_state=0), GreedyTreeClassifier()),
    "random forest": RandomForestClassifier(random_state=0),
    "selection, random forest": make_pipeline(
        DTsbeSelector(random_state=0), RandomForestClassifier(random_state=0)
    ),
}.items():
    print(f"{name:25} {1 - cross_val_score(model, X, y, cv=5).mean():.1%} error")
