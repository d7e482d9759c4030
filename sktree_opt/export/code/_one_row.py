"""Answers for one row at a time, without numpy and without a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sktree_opt.export._description import Description, ModelOrRules, describe
from sktree_opt.export.code._program import Program, make_program
from sktree_opt.preprocessing._times import seconds_of_value
from sktree_opt.utils._validation import is_missing


class RowPredictor:
    """A tree that answers for single rows, given as dicts, in a few microseconds.

    For services that get one row at a time: making a table of a row takes far longer than the walk
    down the tree. The answers are those of ``predict`` and ``predict_proba``.

    Parameters
    ----------
    model : fitted tree estimator, Tree or fitted RuleListClassifier
        The tree or rule list. For a fitted pipeline or search, the one at its end, which takes the
        columns that the earlier steps make.

    Attributes
    ----------
    feature_names : list of str
        Names of all columns.

    tested_features : list of str
        Names of the columns that the tree tests. A row needs no others.

    Examples
    --------
    >>> from sktree_opt.datasets import load_loans
    >>> from sktree_opt.export import RowPredictor
    >>> from sktree_opt.optimal import OptimalTreeClassifier
    >>> X, y = load_loans(return_X_y=True, as_frame=True)
    >>> predict = RowPredictor(OptimalTreeClassifier(max_depth=2).fit(X, y))
    >>> predict.tested_features
    ['employment', 'months', 'rating']
    >>> row = {"employment": "student", "months": None, "rating": "good"}
    >>> predict(row)
    'repaid'
    >>> predict.proba(row)
    {'default': 0.147..., 'repaid': 0.852...}
    """

    feature_names: list[str]
    tested_features: list[str]

    def __init__(self, model: ModelOrRules) -> None:
        self._set_up(describe(model, takes_rules=True))

    @classmethod
    def _of(cls, words: Description) -> RowPredictor:
        """The predictor of a ``Description``."""
        made = cls.__new__(cls)
        made._set_up(words)
        return made

    def _set_up(self, words):
        self.program: Program = make_program(words)
        program = self.program
        self.feature_names = list(program.names)
        self.tested_features = [program.names[j] for j in program.features]
        self._code_of = {
            j: {category: code for code, category in enumerate(categories)}
            for j, categories in program.categories.items()
        }
        self._nodes = [None if test is None else self._compile(test) for test in program.tests]
        self._frequencies = program.frequencies.tolist()
        self._probabilities = program.probabilities.tolist()

    def _compile(self, test):
        """Feature, threshold, branch of each category code, children, missing branch, shares."""
        branch_of = None
        if test.groups is not None:
            code_of = self._code_of[test.feature]
            branch_of = {code_of[c]: b for b, group in enumerate(test.groups) for c in group}
        return (
            test.feature,
            math.inf if test.threshold is None and branch_of is None else test.threshold,
            branch_of,
            test.children,
            test.missing,
            test.shares,
            test.threshold is None and branch_of is None,
        )

    def __call__(self, row: Mapping[str, object]) -> object:
        """Return the answer for a row.

        Parameters
        ----------
        row : mapping of str to object
            A value for each tested column, None or NaN where it is missing. A date or time may be
            written in ISO format.

        Returns
        -------
        answer : object
            The class label, or the mean.
        """
        return self._answer(self._leaves(self._values(row)))

    def proba(self, row: Mapping[str, object]) -> dict[object, float]:
        """Return the probability of each class for a row.

        Parameters
        ----------
        row : mapping of str to object
            A value for each tested column, None or NaN where it is missing.

        Returns
        -------
        probabilities : dict
            By class label.
        """
        program = self.program
        if program.labels is None:
            raise AttributeError("A regression tree has no probabilities.")
        found = self._mean(self._leaves(self._values(row)), self._probabilities)
        return dict(zip(program.labels, found, strict=True))

    def _values(self, row):
        """The values of the tested columns: numbers and category codes, None where missing."""
        values = {}
        for j in self.program.features:
            name = self.feature_names[j]
            try:
                value = row[name]
            except KeyError:
                raise ValueError(
                    f"The row has no value for column {name!r}; give None if it is missing."
                ) from None
            values[j] = self._encode(j, value)
        return values

    def _encode(self, feature, value):
        """A value as a number or category code; None if it is missing or an unknown category."""
        code_of = self._code_of.get(feature)
        if is_missing(value):
            return None
        if code_of is not None:
            return code_of.get(value)
        if feature in self.program.times:
            kind = self.program.times[feature]
            return seconds_of_value(value, kind, self.feature_names[feature])
        if isinstance(value, (str, bytes)):
            raise TypeError(
                f"Column {self.feature_names[feature]!r} must hold numbers, got {value!r}."
            )
        number = float(value)
        if math.isinf(number):
            raise ValueError(f"Column {self.feature_names[feature]!r} holds infinity.")
        return number

    def _branch(self, index, value):
        """The branch of an encoded value at a test; -1 if the row goes down all of them."""
        _, threshold, branch_of, _, missing, _, is_test_of_missing = self._nodes[index]
        if value is None:
            return missing
        if is_test_of_missing:
            return 1
        return branch_of[value] if branch_of is not None else int(value > threshold)

    def _leaves(self, values):
        """The leaves that a row of encoded values ends in, each with its share."""
        nodes = self._nodes
        if self.program.rules is not None:
            return [(self._first_rule(values), 1.0)]
        found, stack = [], [(0, 1.0)]
        while stack:
            index, share = stack.pop()
            node = nodes[index]
            if node is None:
                found.append((index, share))
                continue
            branch = self._branch(index, values[node[0]])
            if branch >= 0:
                stack.append((node[3][branch], share))
            else:
                stack += [
                    (child, share * part)
                    for child, part in zip(reversed(node[3]), reversed(node[5]), strict=True)
                    if part > 0
                ]
        return found

    def _first_rule(self, values):
        """The first rule of a rule list whose conditions a row of encoded values meets."""
        for number, rule in enumerate(self.program.rules):
            if all(self._branch(i, values[self._nodes[i][0]]) == branch for i, branch in rule):
                return number
        return len(self.program.rules)

    def _mean(self, leaves, values):
        """Mean of the values of the leaves, weighted by share."""
        if len(leaves) == 1:
            return values[leaves[0][0]]
        parts = [[share * value for value in values[leaf]] for leaf, share in leaves]
        return [math.fsum(column) for column in zip(*parts, strict=True)]

    def _answer(self, leaves):
        """The label or mean of the leaves of a row."""
        program = self.program
        if program.labels is None:
            return self._mean(leaves, self._frequencies)[0]
        if len(leaves) == 1:
            return program.labels[program.decisions[leaves[0][0]]]
        return program.labels[program.decide(self._mean(leaves, self._frequencies))]


def read_row(row: Any, names: list[str]) -> dict[str, Any]:
    """A row as a dict from column names: of a mapping, a sequence, or a table of one row."""
    frame = nw.from_native(row, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        if len(frame) != 1:
            raise ValueError(f"row must be one row, got a table of {len(frame)}.")
        row = {str(name): frame.get_column(name).to_list()[0] for name in frame.columns}
        if len(row) == len(names) and not set(names) <= set(row):
            row = list(row.values())
    elif hasattr(row, "to_dict"):
        row = row.to_dict()
    if isinstance(row, Mapping):
        return {str(name): plain_value(value) for name, value in row.items()}
    if isinstance(row, np.ndarray):
        row = row.tolist()
        row = row[0] if len(row) == 1 and isinstance(row[0], list) else row
    if not isinstance(row, Sequence) or isinstance(row, (str, bytes)):
        raise TypeError(f"row must be a dict, a sequence or a table, got {type(row).__name__}.")
    if len(row) != len(names):
        raise ValueError(f"row has {len(row)} values, but the tree takes {len(names)}.")
    return dict(zip(names, map(plain_value, row), strict=True))


def plain_value(value):
    """A cell as a plain Python value; numpy's times stay as they are."""
    is_time = isinstance(value, (np.datetime64, np.timedelta64))
    return value.item() if isinstance(value, np.generic) and not is_time else value
