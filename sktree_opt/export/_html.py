"""A tree as one page of HTML that can be opened without a network, and as part of a notebook."""

import html
import json
import math
import re
from importlib import resources

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from sktree_opt.export._description import PARAMETER_CONSTRAINTS, Model, describe
from sktree_opt.export._drawing import class_colours, to_hex
from sktree_opt.export._explain import alike
from sktree_opt.export._rules import reachable_leaves, text_alone
from sktree_opt.export._words import number_text
from sktree_opt.export.code._program import make_program
from sktree_opt.tree import Tree
from sktree_opt.utils._compat import validate_params
from sktree_opt.utils._typing import TableLike
from sktree_opt.utils._validation import check_columns, encode_rows

# Leaves up to which a tree is unfolded at first, and the depth to which a larger one is.
UNFOLDED_LEAVES, UNFOLDED_DEPTH = 16, 3
REGRESSION_COLOUR = "#0072b2"


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

    Parameters
    ----------
    model : fitted tree estimator or Tree
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
    data = page_data(words)
    if X is not None:
        data["rows"] = encoded_rows(words, X, data["tested"])
    if y is not None:
        if X is None:
            raise ValueError("y needs X.")
        data["truth"] = true_answers(words, y, len(data["rows"]))
    return fill_page(data, "Decision tree" if title is None else title)


def notebook_html(model):
    """A drawn tree for the output of a notebook's cell, in a frame of its own."""
    page = html.escape(
        fill_page(page_data(describe(model, precision=4, threshold_precision=4)), "Decision tree")
    )
    return (
        '<details open><summary>Fitted tree</summary><iframe title="Fitted tree" '
        'sandbox="allow-scripts allow-forms" '
        'style="width:100%;height:34rem;border:1px solid #8884" '
        f'srcdoc="{page}"></iframe></details>'
    )


def fill_page(data, title):
    """The page with its data."""
    folder = resources.files("sktree_opt.export") / "page"
    # No text can end the script element early.
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    parts = {
        "title": html.escape(title),
        "data": text.replace("<", "\\u003c"),
        "style": (folder / "page.css").read_text("utf-8"),
        "script": (folder / "page.js").read_text("utf-8"),
    }
    page = (folder / "page.html").read_text("utf-8")
    return re.sub(r"\$(\w+)", lambda match: parts[match[1]], page)


def page_data(words):
    """Data of a tree for the page."""
    program, tree = make_program(words), words.tree
    rules = dict(reachable_leaves(tree))
    codes = {
        j: {category: code for code, category in enumerate(categories)}
        for j, categories in program.categories.items()
    }
    if tree.is_classifier:
        colours = [to_hex(colour) for colour in class_colours(len(words.class_names))]
    else:
        colours = [REGRESSION_COLOUR]
    means = tree.values[:, 0]
    spread = float(np.ptp(means)) or 1.0
    nodes = []
    for index, test in enumerate(program.tests):
        node = {"counts": counts_text(words, index)}
        if not tree.is_classifier:
            node["position"] = round(float((means[index] - means.min()) / spread), 4)
        if test is None:
            node |= leaf_data(words, program, index, rules.get(index, {}))
        else:
            node |= test_data(words, test, index, codes)
            # Only to be drawn.
            node["frequencies"] = np.round(program.frequencies[index], 4).tolist()
        nodes.append(node)
    return {
        "columns": {j: column_data(words, program, j) for j in program.features},
        "tested": program.features,
        "classes": words.class_names,
        "colours": colours,
        "tolerance": program.tolerance,
        "nodes": nodes,
        "precision": min(17, words.precision or 17),
        "summary": summary(words),
        "note": words.missing_note(),
        "unfolded": UNFOLDED_DEPTH if tree.n_leaves > UNFOLDED_LEAVES else tree.depth,
        "example": example_row(program),
        "rows": None,
        "truth": None,
    }


def leaf_data(words, program, index, rule):
    """Data of a leaf for the page."""
    frequencies = program.frequencies[index]
    leaf = {"leaf": index, "support": float(words.tree.nodes["weight"][index])}
    node = {
        "text": words.answer(index),
        "frequencies": frequencies.tolist(),
        "rule": [
            (j, *(text_alone(words, j, condition, is_missing) for is_missing in (False, True)))
            for j, condition in rule.items()
        ],
        "alike": alike(words, leaf),
    }
    if program.is_classifier:
        node["answer"] = program.decisions[index]
        node["probabilities"] = program.probabilities[index].tolist()
        node["worth"] = program.worth(frequencies).tolist()
    return node


def test_data(words, test, index, codes):
    """Data of a test for the page."""
    groups = test.groups
    if groups is not None:
        code_of = codes[test.feature]
        groups = [[code_of[category] for category in group] for group in groups]
    return {
        "feature": test.feature,
        "threshold": test.threshold,
        "groups": groups,
        "children": test.children,
        "missing": test.missing,
        "shares": test.shares,
        "branches": [branch.full_text for branch in words.branches(index)],
    }


def column_data(words, program, feature):
    """Name, kind and categories of a tested column."""
    encoder = getattr(words.model, "_encoder", None)
    categories = program.categories.get(feature)
    return {
        "name": words.feature_names[feature],
        "ordered": encoder is not None and encoder.kinds_[feature] == "ordinal",
        "categories": None if categories is None else [str(c) for c in categories],
        "time": program.times.get(feature),
    }


def counts_text(words, index):
    """Number of rows of a node, and the largest classes or the mean."""
    tree = words.tree
    rows = f"n = {number_text(tree.nodes['weight'][index], words.precision)}"
    if not tree.is_classifier:
        is_test = tree.nodes["n_children"][index] > 0
        return [rows, f"mean {words.answer(index)}"] if is_test else [rows]
    shares = tree.node_values()[index]
    order = [k for k in np.argsort(-shares, kind="stable")[:3] if shares[k] > 0]
    return [rows, *(f"{words.class_names[k]} {100 * shares[k]:.3g}%" for k in order)]


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


def example_row(program):
    """A row to begin with: the first threshold of each number, the first category."""
    row = {}
    for test in program.tests:
        if test is not None and test.feature not in row:
            is_number = test.groups is None
            row[test.feature] = (test.threshold or 0.0) if is_number else 0
    return row


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
