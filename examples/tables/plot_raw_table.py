"""
An optimal tree of a raw table, from end to end
===============================================

Loans with numbers, categories, an order and holes: no encoding, no imputation. The table is handed
over as it is, the size of the tree is found by cross-validation, and the result is a handful of
rules with a proof behind them.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from sktree_opt import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    export_rules,
    export_text,
    load_loans,
    plot_tree,
)

X, y = load_loans(return_X_y=True, as_frame=True)
X_train, X_new, y_train, y_new = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
print(X_train.dtypes)
print(f"{X_train.isna().to_numpy().mean():.1%} of the cells are empty")

# %%
# How large should the tree be?
# -----------------------------
# Every depth and number of leaves up to three levels, each scored on rows left out. The searches of
# the folds use few thresholds, which are enough for that.
search = OptimalTreeClassifierCV().fit(X_train, y_train)
results = search.cv_results_
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
for depth in (1, 2, 3):
    of_depth = results["param_max_depth"] == depth
    axes.errorbar(
        results["param_max_leaf_nodes"][of_depth],
        results["mean_test_score"][of_depth],
        results["std_test_score"][of_depth],
        marker="o",
        capsize=3,
        label=f"depth {depth}",
    )
axes.set(xlabel="leaves", ylabel="accuracy in cross-validation")
axes.legend()
plt.show()

# %%
# The tree, over every threshold
# ------------------------------
# With the size decided, the last search takes all thresholds, and any set of categories.
tree = OptimalTreeClassifier(
    **search.best_params_,
    categorical_splits="subset",
).fit(X_train, y_train)
print(tree.status_, "among", tree.optimality_scope_)
print(f"errors: {tree.objective_:g} of {len(y_train)}")
print(export_text(tree))
assert tree.status_ == "optimal"

# %%
# "or missing" is part of a test: the search tried both sides for the rows without a value.
figure, axes = plt.subplots(figsize=(9, 4.5), layout="constrained")
plot_tree(tree, ax=axes)
plt.show()

# %%
# New loans
# ---------
# An employment that does not occur in training counts as missing.
print(f"accuracy on new loans: {tree.score(X_new, y_new):.3f}")
odd = X_new.iloc[:1].astype({"employment": object}).assign(employment="artist", income=None)
print(tree.predict(odd), tree.predict_proba(odd).round(2))

# %%
# The rules, for a report or a program.
for rule in export_rules(tree)[:2]:
    print(rule["conditions"], "->", rule["prediction"])
