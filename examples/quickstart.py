"""
Quickstart: the best tree, and the features a greedy tree should be given
=========================================================================

Four hundred made-up loans with numbers, categories and missing values: which are repaid? The table
is taken as it is; nothing is encoded or filled in by hand.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from sktree_opt.datasets import load_loans
from sktree_opt.export import export_text, plot_tree
from sktree_opt.greedy import GreedyTreeClassifier
from sktree_opt.optimal import OptimalTreeClassifier
from sktree_opt.subset import DTsbeSelector

loans = load_loans(as_frame=True)
X, y = loans.data, loans.target

# %%
# Of all trees of depth 3, whatever columns and thresholds they use, none misclassifies fewer loans
# than this one: ``status_`` says that the search proved it.
optimal = OptimalTreeClassifier(max_depth=3).fit(X, y)
print(export_text(optimal))
greedy = GreedyTreeClassifier(nominal_split="one_vs_rest", max_depth=3).fit(X, y)
print(f"the best tree: {optimal.objective_:.0f} errors ({optimal.status_})")
print(f"a greedy tree of that depth: {(greedy.predict(X) != y).sum()} errors")

# %%
# The tree as a picture, also left in ``quickstart.png``.
figure, axes = plt.subplots(figsize=(11, 6), layout="constrained")
plot_tree(optimal, ax=axes)
figure.savefig("quickstart.png")

# %%
# A greedy tree of any size does better on new loans without the columns that mislead it. Backward
# elimination finds which; it is a step of a pipeline like any other selector.
selector = DTsbeSelector(random_state=0).fit(X, y)
print("selected:", ", ".join(selector.get_feature_names_out()))
for name, model in {
    "all features": GreedyTreeClassifier(),
    "selected features": make_pipeline(
        DTsbeSelector(random_state=0).set_output(transform="pandas"), GreedyTreeClassifier()
    ),
}.items():
    print(f"greedy tree, {name}: {cross_val_score(model, X, y, cv=10).mean():.1%} accuracy")
