"""A tree as if-then rules: one for each leaf, with the tests of its path put together."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from sktree_opt.export._description import (
    PARAMETER_CONSTRAINTS,
    ModelOrRules,
    describe,
    missing_shares,
    number_text,
)
from sktree_opt.tree._node import IS_MISSING, LEAF, NUMERIC
from sktree_opt.utils._compat import StrOptions, validate_params


@dataclass(frozen=True)
class Condition:
    """What a path asks of one feature.

    Attributes
    ----------
    lower, upper : float
        A known value lies above `lower` and is at most `upper`.

    codes : frozenset of int or None
        A known value is one of these categories; None where categories are not asked about.

    is_known : bool
        Whether a known value can take the path at all.

    missing : float
        The share of a row that takes the path when it misses the value.

    was_missing : bool
        Whether rows of the training set missed the value and were distributed.
    """

    lower: float = -math.inf
    upper: float = math.inf
    codes: frozenset | None = None
    is_known: bool = True
    missing: float = 1.0
    was_missing: bool = False

    def after(self, tree, index, branch):
        """The condition that holds after branch `branch` of test `index` as well."""
        node = tree.nodes[index]
        share = float(missing_shares(tree, index)[branch])
        if node["kind"] == IS_MISSING:
            return replace(
                self, is_known=self.is_known and branch == 1, missing=self.missing * share
            )
        new = replace(
            self,
            missing=self.missing * share,
            was_missing=self.was_missing or was_distributed(tree, index),
        )
        if node["kind"] == NUMERIC:
            threshold = float(node["threshold"])
            if branch == 0:
                new = replace(new, upper=min(self.upper, threshold))
            else:
                new = replace(new, lower=max(self.lower, threshold))
            return replace(new, is_known=self.is_known and new.lower < new.upper)
        codes = frozenset(np.flatnonzero(tree.branches(index) == branch).tolist())
        codes = codes if self.codes is None else self.codes & codes
        return replace(new, codes=codes, is_known=self.is_known and bool(codes))


@overload
def export_rules(
    model: ModelOrRules,
    *,
    output: Literal["records"] = "records",
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
    precision: int | None = 4,
) -> list[dict[str, Any]]: ...
@overload
def export_rules(
    model: ModelOrRules,
    *,
    output: Literal["text"],
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
    precision: int | None = 4,
) -> str: ...
@validate_params(
    {**PARAMETER_CONSTRAINTS, "output": [StrOptions({"records", "text"})]},
    prefer_skip_nested_validation=True,
)
def export_rules(
    model: ModelOrRules,
    *,
    output: Literal["records", "text"] = "records",
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
    precision: int | None = 4,
) -> list[dict[str, Any]] | str:
    """Write a tree as if-then rules.

    One rule for each leaf that a row can reach. Tests of the same feature are put together. A row
    without missing values meets exactly one rule. A rule list is written in its own order: the
    first rule that a row meets answers, and the last line is the default.

    Parameters
    ----------
    model : fitted tree estimator, Tree or fitted RuleListClassifier
        What to write. For a fitted pipeline or search, the tree or list at its end.

    output : {"records", "text"}, default="records"
        A list of dicts, of which ``pandas.DataFrame`` makes a table, or one line of text per rule.

    feature_names : array-like of str, default=None
        Names of the features; None for those seen in fit.

    class_names : array-like of str, default=None
        Names of the classes, in the order of ``classes_``; None for the labels.

    precision : int, default=4
        Significant digits of the numbers in texts; None for all digits. Thresholds, and all numbers
        of the records, always have all their digits.

    Returns
    -------
    rules : list of dict, or str
        Each record has

        - ``rule``: the conditions as text;
        - ``conditions``: a list of dicts with ``feature``, ``operator``, ``value`` and ``missing``.
          The operators are ``<=`` and ``>`` (a number), ``between`` (above the first of two
          numbers, at most the second), ``in`` and ``not in`` (a list of categories), ``known`` and
          ``missing`` (no value). ``missing`` is the share of the row that the rule holds for when
          the feature's value is missing: 0, 1, or between them where the tree sends such rows down
          every branch. A category that fit never saw counts as missing. The operator is right for
          it too if ``missing`` is 0 or 1; otherwise, it is a category in no list of the feature.
        - ``prediction``: the class label, or the mean.
        - ``probabilities``: probability of each class (classifiers only).
        - ``support``: weight of the training rows at the leaf.
        - ``n_samples``: number of training rows, or parts of rows, there.
        - ``leaf``: index of the leaf in ``tree_.nodes``.

        The records of a rule list have ``accuracy``, the rule's estimated accuracy (None for the
        default, whose conditions are empty), in place of ``support`` and ``leaf``; ``n_samples``
        counts the rows of fit that meet the rule first.

        A row's probabilities, or its mean, are the sum over the rules of the rule's, times the
        product of ``missing`` over the conditions whose feature the row misses.

    Examples
    --------
    >>> from sktree_opt.greedy import GreedyTreeClassifier
    >>> from sktree_opt.export import export_rules
    >>> tree = GreedyTreeClassifier().fit([[1.0, 2.0], [2.0, 3.0], [3.0, 3.0]], ["a", "b", "a"])
    >>> print(export_rules(tree, output="text"))
    if x0 <= 1.5 then a (1 row: a 100%)
    if 1.5 < x0 <= 2.5 then b (1 row: b 100%)
    if x0 > 2.5 then a (1 row: a 100%)
    A missing value goes down every branch, in proportion to the weights.
    """
    words = describe(model, feature_names, class_names, precision, takes_rules=True)
    if words.rules is not None:
        if output == "text":
            return text_of_rule_list(words)
        return [record_of_ordered_rule(words, *rule) for rule in ordered_rules(words)]
    found = list(reachable_leaves(words.tree))
    if output == "text":
        lines = [text_of_rule(words, index, conditions) for index, conditions in found]
        note = words.rules_note()
        return "\n".join([*lines, note] if note else lines) + "\n"
    return [record_of_rule(words, index, conditions) for index, conditions in found]


def reachable_leaves(tree):
    """Leaves in the order of the branches, each with its conditions by feature."""
    stack = [(0, {})]
    while stack:
        index, conditions = stack.pop()
        node = tree.nodes[index]
        if node["kind"] == LEAF:
            yield index, conditions
            continue
        feature, below = int(node["feature"]), []
        for branch in range(int(node["n_children"])):
            condition = conditions.get(feature, Condition()).after(tree, index, branch)
            if condition.is_known or condition.missing > 0:
                child = int(node["first_child"]) + branch
                below.append((child, {**conditions, feature: condition}))
        stack += reversed(below)


def ordered_rules(words):
    """The rules of a rule list, each with its conditions by feature; the default has none."""
    nodes = words.tree.nodes
    for number, rule in enumerate(words.rules):
        conditions = {}
        for index, branch in rule:
            feature = int(nodes["feature"][index])
            condition = conditions.get(feature, Condition())
            conditions[feature] = condition.after(words.tree, index, branch)
        # A value that goes down every branch takes none of them.
        yield (
            number,
            {
                feature: replace(c, missing=float(c.missing == 1.0), was_missing=False)
                for feature, c in conditions.items()
            },
        )
    yield len(words.rules), {}


def was_distributed(tree, index):
    """Whether a row of the training set went down several branches of node `index`."""
    reached = tree.nodes["n_samples"]
    return bool(reached[tree.children(index)].sum() > reached[index])


def record_of_rule(words, index, conditions):
    """The rule of leaf `index` as a dict of plain Python objects."""
    tree = words.tree
    record = {
        "rule": text_of_conditions(words, conditions),
        "conditions": [
            record_of_condition(words, feature, condition)
            for feature, condition in conditions.items()
        ],
        "prediction": words.prediction(index),
    }
    if tree.is_classifier:
        probabilities = words.probabilities[index].tolist()
        record["probabilities"] = dict(zip(words.labels.tolist(), probabilities, strict=True))
    record["support"] = float(tree.nodes["weight"][index])
    record["n_samples"] = int(tree.nodes["n_samples"][index])
    record["leaf"] = index
    return record


def record_of_ordered_rule(words, number, conditions):
    """A rule of a rule list, or its default, as a dict of plain Python objects."""
    frequencies = words.frequencies[number].tolist()
    return {
        "rule": text_of_conditions(words, conditions),
        "conditions": [record_of_condition(words, *item) for item in conditions.items()],
        "prediction": words.labels.tolist()[words.decisions[number]],
        "probabilities": dict(zip(words.labels.tolist(), frequencies, strict=True)),
        "n_samples": words.n_samples[number],
        "accuracy": words.accuracies[number],
    }


def text_of_rule_list(words):
    """A rule list as text: a line for each rule, and one for the default."""
    lines = []
    for number, conditions in ordered_rules(words):
        answer, n_samples = words.class_names[words.decisions[number]], words.n_samples[number]
        rows = f"{n_samples} row{'' if n_samples == 1 else 's'}"
        if number == len(words.rules):
            start = "else " if lines else ""
            lines.append(f"{start}{answer} ({rows})")
            continue
        accuracy = number_text(100 * words.accuracies[number], words.precision)
        start = "else if" if lines else "if"
        text = text_of_conditions(words, conditions)
        lines.append(f"{start} {text} then {answer} ({rows}, accuracy {accuracy}%)")
    note = words.rules_note()
    return "\n".join([*lines, note] if note else lines) + "\n"


def record_of_condition(words, feature, condition):
    """One condition as a dict."""
    categories = words.categories[feature]
    operator, codes = allowed_codes(words, feature, condition)
    if operator is not None:
        value = [code if categories is None else categories[code] for code in codes]
    elif not condition.is_known:
        operator, value = "missing", None
    elif condition.lower > -math.inf and condition.upper < math.inf:
        bounds = (condition.lower, condition.upper)
        operator, value = "between", [words.value_of(feature, bound) for bound in bounds]
    elif condition.upper < math.inf:
        operator, value = "<=", words.value_of(feature, condition.upper)
    elif condition.lower > -math.inf:
        operator, value = ">", words.value_of(feature, condition.lower)
    else:
        operator, value = "known", None
    return {
        "feature": words.feature_names[feature],
        "operator": operator,
        "value": value,
        "missing": condition.missing,
    }


def allowed_codes(words, feature, condition):
    """An operator and codes: "in" the allowed categories, or "not in" the others.

    "not in" is for a condition that missing values meet, because categories that fit never saw
    count as missing. (None, None) for a column of numbers.
    """
    categories = words.categories[feature]
    if categories is None and condition.codes is None:
        return None, None
    every = range(words.n_codes(feature))
    if not condition.is_known:
        allowed = set()
    elif condition.codes is not None:
        allowed = condition.codes
    else:
        # An ordered category, or one that is asked only whether it is missing.
        allowed = {c for c in every if condition.lower < c <= condition.upper}
    if condition.missing == 1.0:
        return "not in", [c for c in every if c not in allowed]
    return "in", sorted(allowed)


def text_of_condition(words, feature, condition):
    """One condition in words."""
    name = words.subject(feature)
    operator, codes = allowed_codes(words, feature, condition)
    lower, upper = (
        words.threshold_text(feature, bound) if math.isfinite(bound) else ""
        for bound in (condition.lower, condition.upper)
    )
    is_open = condition.codes is None and not (lower or upper)
    if not condition.is_known:
        return f"{name} is missing"
    if is_open:
        text = f"{name} is not missing"
    elif operator is not None:
        text = f"{name} {words.category_set(feature, codes, operator == 'in')}"
    elif lower and upper:
        text = f"{lower} < {name} <= {upper}"
    else:
        text = f"{name} <= {upper}" if upper else f"{name} > {lower}"
    if condition.missing == 1.0:
        return text if feature in words.unnamed else f"({text} or missing)"
    if condition.was_missing and condition.missing > 0.0:
        return f"{text} (or missing: {100 * condition.missing:.3g}%)"
    return text


def text_alone(words, feature, condition, is_missing):
    """One condition without brackets; with what it says of missing values where one is missing."""
    text = text_of_condition(words, feature, condition)
    if text.startswith("(") and text.endswith(" or missing)"):
        text = text[1:-1]
    if is_missing:
        return text
    return re.sub(r"(?: or missing| \(or missing: [^)]*\))$", "", text)


def text_of_conditions(words, conditions):
    """All conditions of a rule in words."""
    parts = [text_of_condition(words, *item) for item in conditions.items()]
    return " and ".join(parts) or "always"


def text_of_rule(words, index, conditions):
    """A rule on one line."""
    tree = words.tree
    weight = float(tree.nodes["weight"][index])
    rows = f"{number_text(weight, words.precision)} row{'' if weight == 1 else 's'}"
    if tree.is_classifier:
        shares = tree.node_values()[index]
        order = np.argsort(-shares, kind="stable")
        rows += ": " + ", ".join(
            f"{words.class_names[k]} {100 * shares[k]:.3g}%" for k in order if shares[k] > 0
        )
    return f"if {text_of_conditions(words, conditions)} then {words.answer(index)} ({rows})"
