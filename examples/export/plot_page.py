"""
A tree to click on
==================

`export_html` writes one page that needs no network. It draws the tree, answers rows that are typed
into a form or chosen from a table, says why, and shows the smallest change that gives another
answer.
"""

from html import escape

import matplotlib.pyplot as plt

from sktree_opt import (
    OptimalTreeClassifier,
    TreeSetClassifier,
    export_html,
    load_loans,
    plot_tree,
)

X, y = load_loans(return_X_y=True, as_frame=True)
model = OptimalTreeClassifier(max_depth=2).fit(X, y)

# %%
# The picture, for paper.
plot_tree(model)
plt.show()

# %%
# The page, for a browser: save it with ``Path("loans.html").write_text(page)``.
page = export_html(model, X.head(30), y[:30], title="Which loans are repaid?")
print(f"{len(page) / 1000:.0f} kB")
assert len(page) < 300_000


# %%
# Here it is in a frame. Choose a loan from the table, or change a value in the form.
class Frame:
    """A page within a page."""

    def __init__(self, page):
        self.page = page

    def _repr_html_(self):
        style = "width: 100%; height: 900px; border: 1px solid #ccc; background: white"
        return f'<iframe title="the tree" srcdoc="{escape(self.page)}" style="{style}"></iframe>'


Frame(page)

# %%
# The page of a set shows its best tree, and behind "Choices" what other trees of the set ask at a
# node. Here are all trees with at most 5 percent more errors.
trees = TreeSetClassifier(epsilon=0.05, max_depth=3).fit(X, y)
page_of_set = export_html(trees, X.head(30), y[:30], title="Which other trees are as good?")
print(f"{trees.n_trees_} trees in {len(page_of_set) / 1000:.0f} kB")
assert len(page_of_set) < 300_000
Frame(page_of_set)
