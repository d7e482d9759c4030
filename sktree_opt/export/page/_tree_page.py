"""A tree as one page of HTML that can be opened without a network, and as part of a notebook."""

from __future__ import annotations

import html
import json
import math
import re
from importlib import resources

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from sktree_opt.export._description import PARAMETER_CONSTRAINTS, Model, describe, number_text
from sktree_opt.export._rules import reachable_leaves, text_alone
from sktree_opt.export.code._program import make_program
from sktree_opt.export.page._node_data import (
    counts_text,
    leaf_data,
    page_data,
    positions,
    test_data,
)
from sktree_opt.export.page._set_page import set_data
from sktree_opt.tree import Tree
from sktree_opt.utils._compat import validate_params
from sktree_opt.utils._typing import TableLike
from sktree_opt.utils._validation import check_columns, encode_rows

# Leaves up to which a tree is unfolded at first, and the depth to which a larger one is.
UNFOLDED_LEAVES, UNFOLDED_DEPTH = 16, 3


@validate_params(
    {
        "model": "no_validation",
        "X": "no_validation",
        "y": "no_validation",
        **PARAMETER_CONSTRAINTS,
        "title": [str, None],
    },
    prefer_skip_nested_validation=True,
)
def export_html(
    model: Model,
    X: TableLike | None = None,
    y: ArrayLike | None = None,
    *,
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
    precision: int | None = 4,
    title: str | None = None,
) -> str:
    """Write a tree as a page that a browser shows, with a form for rows of one's own.

    The page draws the tree, folds and unfolds it, and shows the share and count of each class. It
    highlights the way of a row that is typed or chosen from the table, says why the row gets its
    answer, and shows the smallest change that gives it another one (see
    :func:`~sktree_opt.export.counterfactual`). It needs no network and works with the keyboard,
    with screen readers and on phones.

    The page of a set of trees draws the best one. At each node it lists what other trees of the set
    ask there after the same tests, how many they are and the objective of the best of them, and
    shows the one that is chosen.

    Parameters
    ----------
    model : fitted tree estimator, set of trees or Tree
        What to write. For a fitted pipeline or search, the tree at its end, which takes the columns
        that the earlier steps make.

    X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features), default=None
        Rows to choose from. All of them become part of the page, so anybody who has the page can
        read what they hold in the columns that the tree tests.

    y : array-like of shape (n_samples,), default=None
        The true classes or targets of these rows.

    feature_names : array-like of str, default=None
        Names of the features; None for those seen in fit.

    class_names : array-like of str, default=None
        Names of the classes, in the order of ``classes_``; None for the labels.

    precision : int, default=4
        Significant digits of all numbers that are shown, thresholds too; None for all digits. The
        thresholds of a feature have as many more as keep them apart. Rows are compared with all
        digits.

    title : str, default=None
        Title of the page.

    Returns
    -------
    page : str
        HTML. Write it to a file in UTF-8.

    Examples
    --------
    >>> from sktree_opt.datasets import load_loans
    >>> from sktree_opt.export import export_html
    >>> from sktree_opt.optimal import OptimalTreeClassifier
    >>> X, y = load_loans(return_X_y=True, as_frame=True)
    >>> tree = OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> page = export_html(tree, X, y, title="Loans")
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    words = describe(model, feature_names, class_names, precision, precision)
    data = data_for(words)
    if X is not None:
        data["rows"] = encoded_rows(words, X, data["tested"])
    if y is not None:
        if X is None:
            raise ValueError("y needs X.")
        data["truth"] = true_answers(words, y, len(data["rows"]))
    return fill_page(data, "Decision tree" if title is None else title)


def notebook_html(model):
    """A drawn tree for the output of a notebook's cell, in a frame of its own."""
    words = describe(model, precision=4, threshold_precision=4)
    page = html.escape(fill_page(data_for(words), "Decision tree"))
    return (
        '<details open><summary>Fitted tree</summary><iframe title="Fitted tree" '
        'sandbox="allow-scripts allow-forms" '
        'style="width:100%;height:34rem;border:1px solid #8884" '
        f'srcdoc="{page}"></iframe></details>'
    )


def fill_page(data, title):
    """The page with its data."""
    folder = resources.files("sktree_opt.export.page")
    # No text can end the script element early.
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    scripts = ["page.js", "set.js"] if "set" in data else ["page.js"]
    parts = {
        "title": html.escape(title),
        "data": text.replace("<", "\\u003c"),
        "style": (folder / "page.css").read_text("utf-8"),
        "script": "\n".join((folder / name).read_text("utf-8") for name in scripts),
    }
    page = (folder / "page.html").read_text("utf-8")
    return re.sub(r"\$(\w+)", lambda match: parts[match[1]], page)


def data_for(words):
    """Data of a tree or a set of trees for the page."""
    if hasattr(words.model, "_option_table"):
        return set_data(words)
    program, tree = make_program(words), words.tree
    rules = dict(reachable_leaves(tree))
    nodes = []
    for index, test in enumerate(program.tests):
        node = {"counts": counts_text(words, index)}
        if test is None:
            node |= leaf_data(words, program, index)
            node["rule"] = [
                (j, *(text_alone(words, j, condition, is_missing) for is_missing in (False, True)))
                for j, condition in rules.get(index, {}).items()
            ]
        else:
            node |= test_data(words, program, index)
            # Only to be drawn.
            node["frequencies"] = np.round(program.frequencies[index], 4).tolist()
        nodes.append(node)
    if not tree.is_classifier:
        for node, position in zip(nodes, positions(tree), strict=True):
            node["position"] = position
    return page_data(words, program) | {
        "nodes": nodes,
        "summary": summary(words),
        "unfolded": UNFOLDED_DEPTH if tree.n_leaves > UNFOLDED_LEAVES else tree.depth,
    }


def summary(words):
    """One sentence on the tree, and one on the search that found it."""
    tree, model = words.tree, words.model
    rows = number_text(tree.nodes["weight"][0], words.precision)
    text = (
        f"{tree.n_splits} tests, {tree.n_leaves} leaves, depth {tree.depth}; fitted to {rows} "
        "training rows."
    )
    status, objective = getattr(model, "status_", None), getattr(model, "objective_", None)
    if status is None or objective is None:
        return text
    cost = number_text(objective, words.precision)
    if status == "optimal":
        return f"{text} Proved optimal, with objective {cost}."
    return f"{text} The search ended by {status}, with objective {cost}."


def encoded_rows(words, X, tested):
    """Rows as numbers and category codes of the tested columns; None where a value is missing."""
    if isinstance(words.model, Tree):
        matrix = np.asarray(X, dtype=np.float64)
    else:
        check_columns(words.model, X)
        matrix = encode_rows(words.model, X)
        matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
    cells = np.asarray(matrix[:, tested], dtype=np.float64).tolist()
    return [[None if math.isnan(cell) else plain_number(cell) for cell in row] for row in cells]


def plain_number(value):
    """A whole number without a point."""
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def true_answers(words, y, n_rows):
    """The true classes by name, or the targets."""
    y = np.asarray(y)
    if y.shape != (n_rows,):
        raise ValueError(f"y must have one value for each of the {n_rows} rows of X.")
    if not words.tree.is_classifier:
        return [number_text(value, words.precision) for value in y.tolist()]
    names = dict(zip(np.asarray(words.labels).tolist(), words.class_names, strict=True))
    return [names.get(label, str(label)) for label in y.tolist()]
