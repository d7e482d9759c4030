"""A tree as Graphviz source."""

from __future__ import annotations

from numpy.typing import ArrayLike

from sktree_opt.export._description import DEPTH_CONSTRAINTS, Model, describe
from sktree_opt.export._drawing import node_colours, to_hex
from sktree_opt.export._text import count_leaves
from sktree_opt.tree._node import LEAF
from sktree_opt.utils._compat import validate_params


@validate_params({**DEPTH_CONSTRAINTS, "filled": ["boolean"]}, prefer_skip_nested_validation=True)
def export_dot(
    model: Model,
    *,
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
    max_depth: int | None = None,
    precision: int | None = 4,
    filled: bool = True,
) -> str:
    r"""Write a tree as Graphviz source.

    The text can be drawn by ``dot -Tsvg``, by the graphviz package, or by a notebook.

    Parameters
    ----------
    model : fitted tree estimator or Tree
        What to write. For a fitted pipeline or search, the tree at its end.

    feature_names : array-like of str, default=None
        Names of the features; None for those seen in fit.

    class_names : array-like of str, default=None
        Names of the classes, in the order of ``classes_``; None for the labels.

    max_depth : int, default=None
        Depth below which only the number of leaves is told; None for no limit.

    precision : int, default=4
        Significant digits of all numbers, thresholds too; None for all digits. The thresholds of a
        feature have as many more as keep them apart; short ones are written in full.

    filled : bool, default=True
        Whether nodes have the colour of their class, paler the more mixed they are, or, for
        regression, of their mean.

    Returns
    -------
    source : str
        A ``digraph``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sktree_opt.greedy import GreedyTreeClassifier
    >>> from sktree_opt.export import export_dot
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(export_dot(GreedyTreeClassifier(max_depth=1).fit(X, y), filled=False))
    digraph tree {
        node [shape=box, style="filled, rounded", fillcolor="#ffffff", fontname="sans-serif"];
        edge [fontname="sans-serif"];
        graph [fontname="sans-serif", labelloc=b, label="A missing value goes ... the weights."];
        0 [label="petal length (cm)"];
        0 -> 1 [label="<= 2"];
        0 -> 2 [label="> 2"];
        1 [label="0\n50"];
        2 [label="1\n1 50, 2 50"];
    }
    """
    words = describe(model, feature_names, class_names, precision, precision)
    nodes, depths = words.tree.nodes, words.tree.node_depths()
    colours = node_colours(words)
    lines = [
        'node [shape=box, style="filled, rounded", fillcolor="#ffffff", fontname="sans-serif"];',
        'edge [fontname="sans-serif"];',
    ]
    if note := words.missing_note():
        lines.append(f'graph [fontname="sans-serif", labelloc=b, label={quote(note)}];')
    for index in range(len(nodes)):
        if max_depth is not None and depths[index] > max_depth:
            continue
        cut = max_depth is not None and depths[index] == max_depth
        if nodes["kind"][index] == LEAF:
            label = [words.answer(index), words.content(index)]
        elif cut:
            label = [f"... ({count_leaves(words.tree, index)} leaves)"]
        else:
            label = [words.feature(index)]
        fill = f', fillcolor="{to_hex(colours[index])}"' if filled else ""
        lines.append(f"{index} [label={quote(*label)}{fill}];")
        if not cut:
            lines += [
                f"{index} -> {branch.child} [label={quote(branch.full_text)}];"
                for branch in words.branches(index)
            ]
    return "digraph tree {\n" + "".join(f"    {line}\n" for line in lines) + "}\n"


def quote(*lines):
    """Lines of text as a quoted string of the DOT language."""
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "\\n".join(line.replace("\n", "\\n") for line in escaped) + '"'
