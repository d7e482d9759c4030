"""
Missing values and categories without imputation
================================================

Many tables have missing values. A greedy tree here needs no imputation: a row whose value is not
known goes down every branch with a part of its weight. This example makes more and more holes in a
table and compares that with the usual pipeline, which fills holes in numbers with the median and
turns categories, "missing" among them, into columns of zeros and ones.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from sktree_opt import GreedyTreeClassifier, load_loans

X, y = load_loans(return_X_y=True, as_frame=True)
X["guarantor"] = X["guarantor"].astype("category")
folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0)

# %%
# Both trees are as deep and stop alike; only what happens to holes and categories differs.
ours = GreedyTreeClassifier(max_depth=5, min_samples_leaf=5)
filled = make_pipeline(
    make_column_transformer(
        (SimpleImputer(strategy="median"), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
    ),
    DecisionTreeClassifier(criterion="entropy", max_depth=5, min_samples_leaf=5, random_state=0),
)

# %%
# Holes are made at random, in every column.
shares = [0.0, 0.1, 0.2, 0.3, 0.4]
rng = np.random.default_rng(0)
draws = rng.random(X.shape)
scores = {"shared by weight": [], "imputed": []}
for share in shares:
    holed = X.mask(draws < share)
    for name, model in zip(scores, (ours, filled), strict=True):
        scores[name].append(cross_val_score(model, holed, y, cv=folds).mean())

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for name, accuracies in scores.items():
    axes.plot(shares, accuracies, marker="o", label=name)
axes.axhline((y == "repaid").mean(), color="grey", linestyle=":", label="always 'repaid'")
axes.set(xlabel="share of cells made empty", ylabel="test accuracy")
axes.legend()
plt.show()

# %%
# A prediction for a row of which little is known is an average over the leaves it may belong to.
tree = ours.fit(X, y)
row = X.iloc[[0]].copy()
print(dict(zip(tree.classes_, tree.predict_proba(row)[0].round(2).tolist(), strict=True)))
row[["rating", "housing", "income"]] = None
print(dict(zip(tree.classes_, tree.predict_proba(row)[0].round(2).tolist(), strict=True)))
