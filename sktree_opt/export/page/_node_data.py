"""The texts and numbers of a page about nodes and columns."""

import numpy as np

from sktree_opt.export._description import number_text
from sktree_opt.export._drawing import class_colours, to_hex
from sktree_opt.export._explain import alike

REGRESSION_COLOUR = "#0072b2"


def page_data(words, program):
    """Data of a page beside its nodes."""
    if words.tree.is_classifier:
        colours = [to_hex(colour) for colour in class_colours(len(words.class_names))]
    else:
        colours = [REGRESSION_COLOUR]
    return {
        "columns": {j: column_data(words, program, j) for j in program.features},
        "tested": program.features,
        "classes": words.class_names,
        "colours": colours,
        "tolerance": program.tolerance,
        "precision": min(17, words.precision or 17),
        "note": words.missing_note(),
        "example": example_row(program),
        "rows": None,
        "truth": None,
    }


def leaf_data(words, program, index):
    """The record of a node as a leaf."""
    frequencies = program.frequencies[index]
    leaf = {"leaf": index, "support": float(words.tree.nodes["weight"][index])}
    node = {
        "text": words.answer(index),
        "frequencies": frequencies.tolist(),
        "alike": alike(words, leaf),
    }
    if program.is_classifier:
        node["answer"] = program.decisions[index]
        # Without costs and smoothing, both are the frequencies.
        others = {
            "probabilities": program.probabilities[index],
            "worth": program.worth(frequencies),
        }
        node |= {k: v.tolist() for k, v in others.items() if not np.array_equal(v, frequencies)}
    return node


def test_data(words, program, index):
    """The record of a node with its test."""
    test = program.tests[index]
    groups = test.groups
    if groups is not None:
        code_of = {category: code for code, category in enumerate(program.categories[test.feature])}
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


def positions(tree):
    """Where the mean of each node is between the smallest and the largest one."""
    means = tree.values[:, 0]
    spread = float(np.ptp(means)) or 1.0
    return np.round((means - means.min()) / spread, 4).tolist()


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
    shares = words.frequencies[index]
    order = [k for k in np.argsort(-shares, kind="stable")[:3] if shares[k] > 0]
    return [rows, *(f"{words.class_names[k]} {100 * shares[k]:.3g}%" for k in order)]


def example_row(program):
    """A row to begin with: the first threshold of each number, the first category."""
    row = {}
    for test in program.tests:
        if test is not None and test.feature not in row:
            is_number = test.groups is None
            row[test.feature] = (test.threshold or 0.0) if is_number else 0
    return row
