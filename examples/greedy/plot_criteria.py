"""
Criteria of greedy trees
========================

The criterion says which split is best at a node. For one node of two classes, the usual criteria
differ little. On whole trees they lead to different sizes more than to different accuracies.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate

from sktree_opt import GreedyTreeClassifier

tables = {"wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
criteria = ["information_gain", "gain_ratio", "gini"]
splits = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
results = {
    (name, criterion): cross_validate(
        GreedyTreeClassifier(criterion=criterion), *load(return_X_y=True), cv=splits,
        return_estimator=True,
    )
    for name, load in tables.items()
    for criterion in criteria
}  # fmt: skip


def spread(numbers):
    """Return by what share the largest exceeds the smallest."""
    return max(numbers) / min(numbers) - 1


sizes = {key: np.mean([t.get_n_leaves() for t in r["estimator"]]) for key, r in results.items()}
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
width = 0.26
for k, criterion in enumerate(criteria):
    places = np.arange(len(tables)) + (k - 1) * width
    of = [results[name, criterion] for name in tables]
    axes[0].bar(places, [r["test_score"].mean() for r in of], width, label=criterion)
    axes[1].bar(places, [sizes[name, criterion] for name in tables], width)
for axis, label in zip(axes, ("accuracy on new rows", "leaves"), strict=True):
    axis.set_xticks(range(len(tables)), tables)
    axis.set_ylabel(label)
axes[0].set_ylim(0.6, 1.1)
axes[1].set_yscale("log")
axes[0].legend(ncols=3, fontsize="small")
plt.show()
for name in tables:
    accuracies = [results[name, criterion]["test_score"].mean() for criterion in criteria]
    leaves = [sizes[name, criterion] for criterion in criteria]
    print(f"{name}: accuracies differ by {spread(accuracies):.1%}, sizes by {spread(leaves):.0%}")
    assert spread(accuracies) < 0.5 * spread(leaves)
