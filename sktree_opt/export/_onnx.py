"""A tree as an ONNX model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sktree_opt.export._binary import make_binary
from sktree_opt.export._description import PARAMETER_CONSTRAINTS, Model, describe
from sktree_opt.export.code._program import refuse_other_values
from sktree_opt.utils._compat import validate_params

# Versions of the operator sets: what onnxruntime of 2024 reads.
OPSET, ML_OPSET = 17, 4
IR_VERSION = 8


@validate_params(
    {"model": "no_validation", "feature_names": PARAMETER_CONSTRAINTS["feature_names"]},
    prefer_skip_nested_validation=True,
)
def to_onnx(model: Model, *, feature_names: ArrayLike | None = None) -> Any:
    """Write a tree as an ONNX model that answers as ``predict`` does.

    Needs the onnx package. The model has one input for each tested column, of shape (n_rows, 1).
    Numbers and Booleans are tensors of doubles, in which NaN is a missing value. Columns with a
    string among their categories are tensors of strings; any string that is not a category counts
    as missing, for example ``""``. The outputs of a classifier are ``label`` and ``probabilities``,
    that of a regressor is ``prediction``.

    Parameters
    ----------
    model : fitted tree estimator or Tree
        What to write. For a fitted pipeline or search, the tree at its end, which takes the columns
        that the earlier steps make.

    feature_names : array-like of str, default=None
        Names of the features, which are those of the inputs; None for those seen in fit.

    Returns
    -------
    model : onnx.ModelProto
        ``SerializeToString`` makes bytes of it.

    Raises
    ------
    ValueError
        If categories or class labels are not strings, finite numbers or Booleans, or if the tree
        would need more than 100,000 nodes because its tests send missing values down every branch.

    Notes
    -----
    Thresholds and inputs are doubles, so rows take the same branches as in ``predict``.
    Probabilities and means are single precision, the only one that ONNX has for them.

    Examples
    --------
    >>> from sktree_opt.datasets import load_loans
    >>> from sktree_opt.export import to_onnx
    >>> from sktree_opt.optimal import OptimalTreeClassifier
    >>> X, y = load_loans(return_X_y=True, as_frame=True)
    >>> tree = OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> onnx_model = to_onnx(tree)  # doctest: +SKIP
    >>> [node.name for node in onnx_model.graph.input]  # doctest: +SKIP
    ['employment', 'months', 'rating']
    """
    try:
        from onnx import TensorProto, helper
    except ImportError as error:
        raise ImportError("to_onnx needs the onnx package.") from error
    words = describe(model, feature_names)
    binary = make_binary(words, is_exact=True)
    labels = None if words.labels is None else np.asarray(words.labels).tolist()
    refuse_other_values(labels or [], "The class labels")
    nodes, inputs = input_nodes(words, binary, helper, TensorProto)
    n_classes = 1 if labels is None else len(labels)
    nodes.append(tree_node(binary, n_classes, labels is not None, helper, TensorProto))
    outputs: list[tuple[str, int, int | None]]
    if labels is None:
        outputs = [("prediction", TensorProto.FLOAT, 1)]
    else:
        nodes += answer_nodes(labels, helper, TensorProto)
        kind = label_type(labels, TensorProto)
        outputs = [("label", kind, None), ("probabilities", TensorProto.FLOAT, n_classes)]
    graph = helper.make_graph(
        nodes,
        "sktree_opt",
        [helper.make_tensor_value_info(name, kind, [None, 1]) for name, kind in inputs],
        [
            helper.make_tensor_value_info(name, kind, [None] if n is None else [None, n])
            for name, kind, n in outputs
        ],
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    made = helper.make_model(graph, opset_imports=opsets, producer_name="sktree_opt")
    made.ir_version = IR_VERSION
    return made


def input_nodes(words, binary, helper, types):
    """Nodes that make one matrix of doubles of the inputs, and the inputs by name and type."""
    nodes, inputs, parts = [], {}, []
    for k, column in enumerate(binary.columns):
        name = words.feature_names[column.feature]
        if column.order is None:
            inputs[name] = types.DOUBLE
            parts.append(name)
            continue
        refuse_other_values(column.order, f"The categories of column {name!r}")
        is_text = any(isinstance(category, str) for category in column.order)
        inputs[name] = types.STRING if is_text else types.DOUBLE
        places = np.arange(len(column.order), dtype=np.float64)
        keys = [str(c) if is_text else float(c) for c in column.order]
        key_type = types.STRING if is_text else types.DOUBLE
        nodes.append(
            helper.make_node(
                "LabelEncoder",
                [name],
                [f"place_{k}"],
                domain="ai.onnx.ml",
                keys_tensor=helper.make_tensor("keys", key_type, [len(keys)], keys),
                values_tensor=helper.make_tensor("values", types.DOUBLE, [len(keys)], places),
                default_tensor=helper.make_tensor("default", types.DOUBLE, [1], [-1.0]),
            )
        )
        parts.append(f"place_{k}")
    if not parts:
        # A tree without a test asks for its first column all the same.
        name = words.feature_names[0]
        inputs[name] = types.DOUBLE
        parts.append(name)
    if len(set(inputs)) < len({column.feature for column in binary.columns}):
        raise ValueError("The features that the tree tests must have different names.")
    nodes.append(helper.make_node("Concat", parts, ["matrix"], axis=1))
    return nodes, sorted(inputs.items(), key=lambda item: words.feature_names.index(item[0]))


def tree_node(binary, n_classes, is_classifier, helper, types):
    """The tree: for each leaf, the probabilities and then 1 for its answer; or the mean."""
    n_nodes = len(binary.column)
    is_leaf = [column < 0 for column in binary.column]
    leaves = [i for i in range(n_nodes) if is_leaf[i]]
    targets, values, ids = [], [], []
    for leaf in leaves:
        outputs = dict(enumerate(binary.probabilities[leaf]))
        if is_classifier:
            outputs[n_classes + binary.answer[leaf]] = 1.0
        for target, value in outputs.items():
            ids.append(leaf)
            targets.append(target)
            values.append(value)
    thresholds = np.where(is_leaf, 0.0, binary.threshold)

    def doubles(name, numbers):
        return helper.make_tensor(name, types.DOUBLE, [len(numbers)], np.asarray(numbers))

    return helper.make_node(
        "TreeEnsembleRegressor",
        ["matrix"],
        ["outputs" if is_classifier else "prediction"],
        domain="ai.onnx.ml",
        n_targets=2 * n_classes if is_classifier else 1,
        nodes_treeids=[0] * n_nodes,
        nodes_nodeids=list(range(n_nodes)),
        nodes_featureids=[max(0, column) for column in binary.column],
        nodes_modes=["LEAF" if leaf else "BRANCH_LEQ" for leaf in is_leaf],
        nodes_values_as_tensor=doubles("thresholds", thresholds),
        nodes_truenodeids=[max(0, child) for child in binary.left],
        nodes_falsenodeids=[max(0, child) for child in binary.right],
        nodes_missing_value_tracks_true=[int(left) for left in binary.missing_left],
        target_treeids=[0] * len(ids),
        target_nodeids=ids,
        target_ids=targets,
        target_weights_as_tensor=doubles("weights", values),
    )


def label_type(labels, types):
    """The type of the labels: strings, Booleans, whole numbers, or doubles."""
    if any(isinstance(label, str) for label in labels):
        return types.STRING
    if all(isinstance(label, bool) for label in labels):
        return types.BOOL
    return types.INT64 if all(isinstance(label, int) for label in labels) else types.DOUBLE


def answer_nodes(labels, helper, types):
    """Nodes that part probabilities and answers, and look up the labels."""
    n, kind = len(labels), label_type(labels, types)
    if kind == types.STRING:
        labels = [str(label) for label in labels]
    table = helper.make_tensor("classes", kind, [n], labels)
    sizes = helper.make_tensor("sizes", types.INT64, [2], [n, n])
    return [
        helper.make_node("Constant", [], ["sizes"], value=sizes),
        helper.make_node("Split", ["outputs", "sizes"], ["probabilities", "answers"], axis=1),
        helper.make_node("ArgMax", ["answers"], ["answer"], axis=1, keepdims=0),
        helper.make_node("Constant", [], ["classes"], value=table),
        helper.make_node("Gather", ["classes", "answer"], ["label"]),
    ]
