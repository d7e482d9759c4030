"""The data of a set of trees for its page.

The page counts trees as the graph of the set does (see ``tree_graph.hpp``), so it gets the nodes
and options of the graph. The record of a node is the same in every tree that has the node.
"""

import json
from copy import copy

import numpy as np

from sktree_opt.export._description import Description, number_text
from sktree_opt.export.code._program import make_program
from sktree_opt.export.page._node_data import (
    counts_text,
    leaf_data,
    page_data,
    positions,
    test_data,
)
from sktree_opt.tree import Tree

# The page has all trees of a set up to so many options, and else so many of its trees.
MOST_OPTIONS, MOST_TREES = 3000, 300


def set_data(words):
    """Data of a set of trees for the page."""
    table = words.model._option_table(MOST_OPTIONS, MOST_TREES)
    of_nodes, starts = description_of_all(words, table.trees)
    program = make_program(of_nodes)
    records, record_of = node_records(of_nodes, program, table, starts)
    nodes = [[record, *node] for record, node in zip(record_of, table.nodes, strict=True)]
    return page_data(of_nodes, program) | {
        "nodes": [],
        "summary": summary(words, table),
        "unfolded": words.tree.n_nodes,
        "set": {
            "nodes": nodes,
            "records": records,
            "tests": [test_data(of_nodes, program, at) for at in starts[: table.n_tests]],
            "splitCost": table.split_cost,
            "most": table.max_splits,
            "byTests": table.counts_tests,
            "unit": table.unit,
            "offset": table.offset,
            "price": table.price,
        },
    }


def description_of_all(words, trees):
    """The words of all nodes of some trees, which stand one after the other."""
    model = copy(words.model)
    probabilities = None
    if words.tree.is_classifier:
        probabilities = []
        for tree in trees:
            model.tree_ = tree
            probabilities.append(model._node_probabilities())
    model.tree_, starts = side_by_side(trees)
    given = words.precision, words.threshold_precision
    of_nodes = Description(model, words.feature_names, words.class_names, *given)
    if probabilities is not None:
        of_nodes.probabilities = np.concatenate(probabilities)
    return of_nodes, starts


def side_by_side(trees):
    """One array of the nodes of all trees, and where each tree begins."""
    starts, n_nodes, n_categories, parts = [], 0, 0, []
    for tree in trees:
        nodes = tree.nodes.copy()
        nodes["first_child"][nodes["first_child"] >= 0] += n_nodes
        nodes["category_start"][nodes["category_start"] >= 0] += n_categories
        parts.append(nodes)
        starts.append(n_nodes)
        n_nodes += len(nodes)
        n_categories += len(tree.category_branch)
    joined = Tree(
        np.concatenate(parts),
        np.concatenate([tree.values for tree in trees]),
        np.concatenate([tree.category_branch for tree in trees]),
        n_features=trees[0].n_features,
        is_classifier=trees[0].is_classifier,
        is_sound=True,
    )
    return joined, starts


def node_records(words, program, table, starts):
    """The distinct records of the nodes of the table, and the index of the record of each node."""
    records, record_of = {}, []
    position = None if program.is_classifier else positions(words.tree)
    for which, node in table.places:
        index = starts[which] + node
        record = {"counts": counts_text(words, index), **leaf_data(words, program, index)}
        record["counts"] = record["counts"][: None if program.is_classifier else 1]
        if position is not None:
            record["position"] = position[index]
        text = json.dumps(record, allow_nan=False)
        record_of.append(records.setdefault(text, (len(records), record))[0])
    return [record for _, record in records.values()], record_of


def summary(words, table):
    """One sentence on the set, and one on what is known of it."""
    model = words.model
    objectives = list(model.n_trees_by_objective_)
    first, last = (number_text(value, words.precision) for value in (objectives[0], objectives[-1]))
    rows = number_text(words.tree.nodes["weight"][0], words.precision)
    trees = f"{model.n_trees_} tree{'' if model.n_trees_ == 1 else 's'}"
    text = (
        f"A set of {trees} with objectives from {first} to {last}, fitted to {rows} training rows."
    )
    if table.n_trees < model.n_trees_:
        text += f" This page has the first {table.n_trees} of them."
    if model.status_ == "optimal":
        return f"{text} Proved: no other tree has an objective below {last}."
    return f"{text} The search ended by {model.status_}: there may be others."
