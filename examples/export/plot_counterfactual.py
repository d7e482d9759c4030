"""
The smallest change that gives another answer
=============================================

For a single tree the nearest row with another answer can be found exactly. Here each row that is
called malignant is joined with its nearest benign neighbour: the smallest change of the two
measurements, in standard deviations.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.inspection import DecisionBoundaryDisplay

from sktree_opt import OptimalTreeClassifier, counterfactual, explain

table = load_breast_cancer(as_frame=True)
columns = ["mean texture", "worst radius"]
X, y = table.data[columns], table.target.map({0: "malignant", 1: "benign"})
model = OptimalTreeClassifier(max_depth=3, min_samples_leaf=10).fit(X, y)

# %%
# One row in words: why it gets its answer, and what would change it.
row = X[model.predict(X) == "malignant"].iloc[2].to_dict()
costs = {column: 1 / X[column].std() for column in columns}
print(explain(model, row))
print(counterfactual(model, row, costs=costs))

# %%
# Forty rows and their changes. Every arrow ends at a row with the other answer.
chosen = X[model.predict(X) == "malignant"].sample(40, random_state=0)
figure, axes = plt.subplots(figsize=(7.5, 5), layout="constrained")
is_benign = (model.predict(X) == "benign").astype(int)
DecisionBoundaryDisplay.from_estimator(
    model, X, response_method="predict_proba", alpha=0.35, ax=axes, cmap="coolwarm",
    class_of_interest="malignant", grid_resolution=300,
)  # fmt: skip
for _, start in chosen.iterrows():
    change = counterfactual(model, start.to_dict(), costs=costs)
    end = [change.row[column] for column in columns]
    axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": "black", "lw": 0.8})
    assert model.predict(X.iloc[:1].assign(**change.row))[0] == "benign"
axes.scatter(*chosen.to_numpy().T, s=14, color="black")
axes.set(xlabel=columns[0], ylabel=columns[1])
plt.show()
