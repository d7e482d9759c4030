"""
The same answers in SQL
=======================

`export_code` writes a tree as a query. The database then answers as `predict` does, for rows with
missing values too. Here is SQLite, which comes with Python.
"""

import sqlite3
from contextlib import closing

import matplotlib.pyplot as plt
import pandas as pd

from sktree_opt import OptimalTreeClassifier, export_code, export_rules, load_loans

X, y = load_loans(return_X_y=True, as_frame=True)
tree = OptimalTreeClassifier(max_depth=2).fit(X, y)
query = export_code(tree, language="sql")
print(query)

# %%
# The table goes to the database as it is, missing values as NULL.
with closing(sqlite3.connect(":memory:")) as database:
    X.astype({"rating": object, "employment": object, "housing": object}).to_sql("data", database)
    answers = pd.read_sql(query, database)
print(answers["prediction"].value_counts().to_dict())
assert (answers["prediction"].to_numpy() == tree.predict(X)).all()

# %%
# The rules of the tree, with the rows of each leaf by class.
rules = pd.DataFrame(export_rules(tree)).sort_values("support")
leaves = tree.apply(X)
counts = pd.DataFrame(
    {
        name: [((leaves == leaf) & (y == name)).sum() for leaf in rules["leaf"]]
        for name in tree.classes_
    }
)
figure, axes = plt.subplots(figsize=(10, 3.5), layout="constrained")
counts.plot.barh(stacked=True, ax=axes, color=["#e08214", "#56b4e9"])
axes.set_yticks(range(len(rules)), rules["rule"].str.partition(" then ")[0], fontsize="small")
axes.set(xlabel="loans")
plt.show()
