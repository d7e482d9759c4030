"""
One tree, seen in several ways
==============================

A tree that people are to trust has to be seen. Here is one on made-up loans with numbers, ordered
and other categories, and missing values: as text, as rules, as a picture, and as JSON.
"""

import matplotlib.pyplot as plt
import pandas as pd

from sktree_opt import (
    GreedyTreeClassifier,
    export_rules,
    export_text,
    from_json,
    load_loans,
    plot_tree,
    to_json,
)

loans = load_loans(as_frame=True)
X, y = loans.data, loans.target
tree = GreedyTreeClassifier(nominal_split="subset", max_depth=4, min_samples_leaf=10).fit(X, y)

# %%
# As text. The numbers in brackets are weights of training rows; they are fractions, because a loan
# with an unknown rating goes down both branches of a test on the rating.
print(export_text(tree, max_depth=3))

# %%
# As a picture, where the bars show the share of each class.
figure, axes = plt.subplots(figsize=(11, 6), layout="constrained")
plot_tree(tree, ax=axes)
plt.show()

# %%
# The upper part alone, in a figure that is made as large as it needs to be.
plot_tree(tree, max_depth=2)
plt.show()

# %%
# As rules, the largest first.
rules = pd.DataFrame(export_rules(tree)).sort_values("support", ascending=False)
pd.set_option("display.max_colwidth", None)
print(rules[["prediction", "support", "rule"]].head(4).to_string(index=False))

# %%
# As JSON, which another program can read, and which comes back as an estimator.
text = to_json(tree)
print(f"{len(text)} characters: {text[:120]}...")
assert (from_json(text).predict(X) == tree.predict(X)).all()
