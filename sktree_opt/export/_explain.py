"""Why a tree answers what it answers for one row, in words and as records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from sktree_opt.export._description import (
    PARAMETER_CONSTRAINTS,
    ModelOrRules,
    category_text,
    describe,
    number_text,
)
from sktree_opt.export._rules import (
    ordered_rules,
    reachable_leaves,
    record_of_condition,
    text_alone,
    text_of_conditions,
)
from sktree_opt.export.code._one_row import RowPredictor, read_row
from sktree_opt.utils._compat import validate_params
from sktree_opt.utils._validation import is_missing


@dataclass(frozen=True)
class Explanation:
    """The way of one row down a tree.

    ``str`` gives the text.

    Parameters
    ----------
    prediction : object
        The answer: a class label, or the mean.

    probabilities : dict or None
        Probability of each class; None for regression.

    reasons : list of dict
        One for each column that the way of the row asks about: ``feature``, ``value`` (None where
        it is missing), ``text``, and ``operator`` and ``value_asked``, which are the condition as
        in the records of :func:`~sktree_opt.export.export_rules`. If the row ends in several
        leaves, the reasons are those of the leaf with the largest share.

    leaves : list of dict
        The leaves that the row ends in, the largest share first: ``leaf``, ``share``,
        ``prediction``, ``support`` (weight of the training rows there), ``n_samples`` and ``rule``.

    path : list of dict
        The tests on the way to the leaf with the largest share, from the root on: ``node``,
        ``feature``, ``value``, ``test`` (the branch that is taken) and ``share`` (of the row that
        takes it).

    text : str
        All of this in words.
    """

    prediction: object
    probabilities: dict[object, float] | None
    reasons: list[dict[str, Any]]
    leaves: list[dict[str, Any]]
    path: list[dict[str, Any]]
    text: str

    def __str__(self) -> str:
        return self.text


@validate_params(
    {"model": "no_validation", "row": "no_validation", **PARAMETER_CONSTRAINTS},
    prefer_skip_nested_validation=True,
)
def explain(
    model: ModelOrRules,
    row: object,
    *,
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
    precision: int | None = 4,
) -> Explanation:
    """Explain the answer of a tree for one row.

    Parameters
    ----------
    model : fitted tree estimator, Tree or fitted RuleListClassifier
        The tree or rule list. For a fitted pipeline or search, the one at its end, which takes the
        columns that the earlier steps make. A rule list is explained by the first rule that the row
        meets: ``leaves`` has that rule, numbered from 0, and ``path`` its tests.

    row : mapping, sequence, array or table of one row
        The row. A mapping needs the columns that the tree tests.

    feature_names : array-like of str, default=None
        Names of the features; None for those seen in fit.

    class_names : array-like of str, default=None
        Names of the classes, in the order of ``classes_``; None for the labels.

    precision : int, default=4
        Significant digits of the numbers in the text; None for all digits. Thresholds always have
        all their digits.

    Returns
    -------
    explanation : Explanation
        Its text and its records.

    Examples
    --------
    >>> from sktree_opt.datasets import load_loans
    >>> from sktree_opt.export import explain
    >>> from sktree_opt.optimal import OptimalTreeClassifier
    >>> X, y = load_loans(return_X_y=True, as_frame=True)
    >>> tree = OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> print(explain(tree, {"employment": "student", "months": None, "rating": "poor"}))
    The answer is default.
    - rating = "poor"
    - employment != "retired"; here it is "student"
    Of 76 training rows like this one, 71.1% are default and 28.9% repaid.
    """
    words = describe(model, feature_names, class_names, precision, takes_rules=True)
    predictor = RowPredictor._of(words)
    cells = read_row(row, words.feature_names)
    values = predictor._values(cells)
    found = predictor._leaves(values)
    found.sort(key=lambda leaf: (-leaf[1], leaf[0]))
    if words.rules is not None:
        return explain_by_rule(words, predictor, cells, found[0][0])
    rules = dict(reachable_leaves(words.tree))
    program, main = predictor.program, found[0][0]
    proba, probabilities = None, None
    if program.labels is not None:
        proba = predictor._mean(found, predictor._probabilities)
        probabilities = dict(zip(program.labels, proba, strict=True))
    reasons = [
        reason(words, predictor, cells, j, condition) for j, condition in rules[main].items()
    ]
    leaves = [
        {
            "leaf": index,
            "share": share,
            "prediction": words.prediction(index),
            "support": float(words.tree.nodes["weight"][index]),
            "n_samples": int(words.tree.nodes["n_samples"][index]),
            "rule": text_of_conditions(words, rules[index]),
        }
        for index, share in found
    ]
    prediction = predictor._answer(found)
    asked = {j for index, _ in found for j in rules[index]}
    missing = [words.subject(j) for j in sorted(asked) if values[j] is None]
    return Explanation(
        prediction,
        probabilities,
        reasons,
        leaves,
        path_to(words, predictor, cells, values, main),
        text_of(words, predictor, prediction, proba, reasons, leaves, missing),
    )


def explain_by_rule(words, predictor, cells, number):
    """The explanation of the answer of a rule list: its first rule that the row meets."""
    program, conditions = predictor.program, dict(ordered_rules(words))[number]
    proba = program.probabilities[number].tolist()
    reasons = [reason(words, predictor, cells, *item) for item in conditions.items()]
    prediction = program.labels[program.decisions[number]]
    rule = {
        "leaf": number,
        "share": 1.0,
        "prediction": prediction,
        "support": float(words.n_samples[number]),
        "n_samples": words.n_samples[number],
        "rule": text_of_conditions(words, conditions),
    }
    which = f"rule {number + 1} of {len(words.rules)}"
    if number == len(words.rules):
        which = "the default, as the row meets no rule"
    lines = [
        f"The answer is {words.class_names[program.decisions[number]]}: {which}.",
        *(f"- {r['text']}" for r in reasons),
    ]
    if rule["n_samples"]:
        rows = f"{rule['n_samples']} training row{'' if rule['n_samples'] == 1 else 's'}"
        lines.append(f"Of {rows} that met no rule before: {listed(shares_text(words, proba))}.")
    path = [step(words, cells, index, branch, 1.0) for index, branch in met(words, number)]
    return Explanation(
        prediction,
        dict(zip(program.labels, proba, strict=True)),
        reasons,
        [rule],
        path,
        "\n".join(lines),
    )


def met(words, number):
    """The tests and branches of a rule; none for the default."""
    return words.rules[number] if number < len(words.rules) else []


def reason(words, predictor, cells, feature, condition):
    """The condition on one column that a row meets, with the row's value."""
    record = record_of_condition(words, feature, condition)
    name, cell = record["feature"], cells[words.feature_names[feature]]
    value = None if is_missing(cell) else cell
    is_unknown = predictor._encode(feature, cell) is None
    asked = text_alone(words, feature, condition, is_unknown)
    here = "missing" if value is None else category_text(value)
    is_told = asked in (f"{words.subject(feature)} = {here}", f"{words.subject(feature)} is {here}")
    return {
        "feature": name,
        "value": value,
        "operator": record["operator"],
        "value_asked": record["value"],
        "text": asked if is_told else f"{asked}; here it is {here}",
    }


def path_to(words, predictor, cells, values, leaf):
    """The tests from the root to a leaf, with the share of the row that takes each branch."""
    parents, steps = words.tree.parents(), []
    child = leaf
    while parents[child] >= 0:
        index = int(parents[child])
        test = predictor.program.tests[index]
        branch = test.children.index(child)
        taken = predictor._branch(index, values[test.feature])
        share = 1.0 if taken >= 0 else float(test.shares[branch])
        steps.append(step(words, cells, index, branch, share))
        child = index
    return steps[::-1]


def step(words, cells, index, branch, share):
    """The record of a test on the path of a row, and the branch that it takes."""
    feature = words.feature_names[words.tree.nodes["feature"][index]]
    return {
        "node": index,
        "feature": feature,
        "value": None if is_missing(cells[feature]) else cells[feature],
        "test": f"{words.feature(index)} {words.branches(index)[branch].full_text}",
        "share": share,
    }


def text_of(words, predictor, prediction, proba, reasons, leaves, missing):
    """The explanation in words."""
    if words.tree.is_classifier:
        answer = words.class_names[predictor.program.labels.index(prediction)]
    else:
        answer = number_text(prediction, words.precision)
    lines = [f"The answer is {answer}."]
    if len(leaves) == 1:
        return "\n".join([*lines, *(f"- {r['text']}" for r in reasons), alike(words, leaves[0])])
    lines.append(
        f"The row has no value for {listed(missing)}, so it goes down several branches, in "
        "proportion to the training rows:"
    )
    for leaf in leaves:
        answer = words.answer(leaf["leaf"])
        lines.append(f"- {100 * leaf['share']:.3g}%: {answer}, if {leaf['rule']}")
    if proba is not None:
        shares = shares_text(words, proba)
        lines.append(f"Together they give {listed(shares)}.")
    return "\n".join(lines)


def alike(words, leaf):
    """How the training rows at a leaf answered."""
    weight = leaf["support"]
    rows = f"{number_text(weight, words.precision)} training row{'' if weight == 1 else 's'}"
    if weight == 0:
        return "No training row is like this one; the answer is that of the test before."
    if not words.tree.is_classifier:
        return f"This is the mean of {rows} like this one."
    shares = shares_text(words, words.frequencies[leaf["leaf"]])
    verb = "is" if weight == 1 else "are"
    first, *rest = shares
    share, _, name = first.partition(" ")
    return f"Of {rows} like this one, {listed([f'{share} {verb} {name}', *rest])}."


def shares_text(words, shares):
    """Each class that has a share, the largest first."""
    order = sorted(range(len(shares)), key=lambda k: -shares[k])
    return [f"{100 * shares[k]:.3g}% {words.class_names[k]}" for k in order if shares[k] > 0]


def listed(parts):
    """Parts of a sentence, with "and" before the last."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
