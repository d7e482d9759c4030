"""
Tutorial: from a table to a tree in use
=======================================

Cells were taken with a fine needle from 569 breast masses. A computer measured the nuclei in the
pictures, and 212 of the masses were malignant. Can a small tree tell which ones, and can a
physician read it, question it and use it? The data come with scikit-learn (Wolberg, Street and
Mangasarian, 1995).
"""

# %%
# The table
# ---------
# Some measurements are lost in practice, so we empty one cell in twenty. A quarter of the patients
# is put aside until the end.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from sktree_opt import (
    GreedyTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    TreeSetClassifier,
    counterfactual,
    explain,
    export_code,
    export_rules,
    plot_tree,
)

table = load_breast_cancer(as_frame=True)
X = table.data.filter(regex="^(mean|worst)")
X = X.mask(np.random.default_rng(0).random(X.shape) < 0.05)
y = table.target.map({0: "malignant", 1: "benign"})
X_train, X_new, y_train, y_new = train_test_split(X, y, random_state=0, stratify=y)
print(f"{len(X_train)} patients to learn from, {X_train.shape[1]} columns, ", end="")
print(f"{X_train.isna().to_numpy().mean():.1%} of the cells are empty")

# %%
# How large should the tree be?
# -----------------------------
# Cross-validation scores the best tree of every depth and size. Its searches use few thresholds of
# each column, which are enough for this question. Depth 2 loses less than three points to depth 3,
# and is twice as easy to read.
search = OptimalTreeClassifierCV().fit(X_train, y_train)
scores = pd.DataFrame(search.cv_results_).groupby("param_max_depth")["mean_test_score"].max()
print("accuracy by depth:", scores.round(3).to_dict())

# %%
# What does an error cost?
# ------------------------
# To miss a malignant mass is worse than to send a healthy patient to another examination. Let us
# say ten times. The classes are in alphabetical order, so the first row is "benign". The search
# proves that no tree of this depth has a lower cost.
model = OptimalTreeClassifier(
    max_depth=2, objective="cost", cost_matrix=[[0, 1], [10, 0]], min_samples_leaf=10
).fit(X_train, y_train)
print(f"{model.status_}: cost {model.objective_:g}, lower bound {model.lower_bound_:g}")
plot_tree(model)
plt.show()

# %%
# The same tree as rules, with what is known of each leaf.
print(export_rules(model, output="text"))

# %%
# Are there others?
# -----------------
# The five best trees by the same cost, over nine thresholds of each column. They ask for other
# measurements, of which some may be easier to get.
others = TreeSetClassifier(
    n_trees=5,
    max_depth=2,
    objective="cost",
    cost_matrix=[[0, 1], [10, 0]],
    min_samples_leaf=10,
    thresholds=9,
).fit(X_train, y_train)
for tree, cost in zip(others.trees_, others.tree_objectives_, strict=True):
    print(f"cost {cost:3g}:", ", ".join(X.columns[tree.features]))

# %%
# New patients
# ------------
# Patients that the search has not seen tell what the tree is worth, beside one that is fitted for
# the number of errors and a greedy one. The cost of a few patients is a matter of luck, so we
# divide the table twenty times.
costs = pd.DataFrame(index=range(20), columns=["cost", "error", "greedy"], dtype=float)
for seed in costs.index:
    rows, X_test, answers, truth = train_test_split(X, y, random_state=seed, stratify=y)
    rivals = {
        "cost": model,
        "error": OptimalTreeClassifier(max_depth=2, min_samples_leaf=10),
        "greedy": GreedyTreeClassifier(max_depth=2, min_samples_leaf=10),
    }
    for name, rival in rivals.items():
        predicted = clone(rival).fit(rows, answers).predict(X_test)
        missed = (truth == "malignant") & (predicted == "benign")
        costs.loc[seed, name] = 10 * missed.sum() + ((predicted != truth) & ~missed).sum()
_, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.boxplot(costs, tick_labels=["optimal,\nby cost", "optimal,\nby errors", "greedy"], widths=0.6)
axes.set(ylabel=f"cost on {len(X_test)} new patients", ylim=(0, None))
plt.show()
print("mean cost:", costs.mean().round(1).to_dict())
assert costs["cost"].mean() < costs[["error", "greedy"]].mean().min()

# %%
# One patient
# -----------
# Why does this patient get her answer, and what is the smallest change that gives another one? A
# change of each column is measured in its standard deviations.
patient = X_new[model.predict(X_new) == "malignant"].iloc[0].to_dict()
print(explain(model, patient))
print(counterfactual(model, patient, costs=dict(1 / X_train.std())))

# %%
# Is it the same tree on other patients?
# --------------------------------------
# Fifty samples of the patients, each with a best tree of its own. Columns that are used again and
# again carry the answer. Columns that replace each other say much the same.
rng = np.random.default_rng(0)
used = pd.Series(0.0, index=X.columns)
for _ in range(50):
    sample = rng.integers(0, len(X_train), len(X_train))
    tree = OptimalTreeClassifier(max_depth=2, min_samples_leaf=10, thresholds=9)
    tree.fit(X_train.iloc[sample], y_train.iloc[sample])
    used.iloc[tree.tree_.features] += 1 / 50
used = used[used > 0].sort_values().tail(10)
_, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.barh(used.index, used, color="#0b6e99")
axes.set(xlabel="share of the samples whose best tree uses the column", xlim=(0, 1))
plt.show()

# %%
# Into the database
# -----------------
# The tree as a query. Its answers are those of ``predict``, missing values included.
print(export_code(model, language="sql"))
