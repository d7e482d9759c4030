"""
Quickstart: the best tree of a raw table
========================================

Four hundred made-up loans with numbers, categories and missing values: which are repaid? The table
is used without encoding, scaling or imputation.
"""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from sktree_opt import (
    GreedyTreeClassifier,
    OptimalTreeClassifier,
    export_html,
    export_text,
    load_loans,
    plot_tree,
)

X, y = load_loans(return_X_y=True, as_frame=True)

# %%
# No tree of depth 3 misclassifies fewer loans, whatever columns and thresholds it uses:
# ``status_`` says that the search proved it.
optimal = OptimalTreeClassifier(max_depth=3).fit(X, y)
print(export_text(optimal))
greedy = GreedyTreeClassifier(nominal_split="one_vs_rest", max_depth=3).fit(X, y)
print(f"the best tree: {optimal.objective_:.0f} errors ({optimal.status_})")
print(f"a greedy tree of that depth: {(greedy.predict(X) != y).sum()} errors")

# %%
# The tree as a picture, and as a page to click on. Both are saved in the current folder:
# ``quickstart.png`` and ``quickstart.html``.
figure, axes = plt.subplots(figsize=(11, 6), layout="constrained")
plot_tree(optimal, ax=axes)
figure.savefig("quickstart.png")
Path("quickstart.html").write_text(export_html(optimal, X.head(20)), encoding="utf-8")
plt.show()

# %%
# New rows decide what the search is worth. Three tables of scikit-learn's, and twenty divisions
# into old and new rows: CART, by the better of its two criteria, against the optimal tree over ten
# thresholds of each column.
splits = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0)
tables = [
    ("wine", load_wine, 2),
    ("breast cancer", load_breast_cancer, 2),
    ("digits", load_digits, 3),
]
for name, load, depth in tables:
    X, y = load(return_X_y=True)
    cart = max(
        cross_val_score(tree, X, y, cv=splits).mean()
        for tree in (
            DecisionTreeClassifier(max_depth=depth, criterion="gini", random_state=0),
            DecisionTreeClassifier(max_depth=depth, criterion="entropy", random_state=0),
        )
    )
    best = OptimalTreeClassifier(max_depth=depth, thresholds=10)
    accuracy = cross_val_score(best, X, y, cv=splits).mean()
    print(f"{name}, depth {depth}: accuracy on new rows {accuracy:.1%}, of CART {cart:.1%}")
