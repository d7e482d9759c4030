"""The words of all exports: names of features, categories and classes, of branches, and numbers.

Reads the public arrays of a ``Tree`` and, from its estimator, the names; the formats put the words
in their places and compute nothing of their own.
"""

import json
import math
import re
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sktree_opt.preprocessing._times import (
    TIME_KINDS,
    kind_of_value,
    seconds_of_value,
    time_of_seconds,
    time_text,
)
from sktree_opt.tree import Tree
from sktree_opt.tree._mixin import TIE_TOLERANCE, TreeClassifierMixin, TreeRegressorMixin
from sktree_opt.tree._node import CATEGORY_KINDS, IS_MISSING, LEAF, NUMERIC
from sktree_opt.utils._compat import Interval
from sktree_opt.utils._typing import FittedPipeline, FittedRuleList, FittedSearch

# Characters that end a line, are invisible, or cannot be written to a file.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# Words of the exports themselves.
WORDS_AROUND_NAMES = re.compile(
    r"[<>=]|^[\"|]|^\s|\s$|^$| in \{| and | then | is (?:not )?missing| is any other|or missing$"
)

TreeEstimator: TypeAlias = TreeClassifierMixin | TreeRegressorMixin
Model: TypeAlias = TreeEstimator | Tree | FittedPipeline | FittedSearch
ModelOrRules: TypeAlias = Model | FittedRuleList

# Of the parameters that exports share.
PARAMETER_CONSTRAINTS: dict[str, list[Any]] = {
    "feature_names": ["array-like", None],
    "class_names": ["array-like", None],
    "precision": [Interval(Integral, 1, None, closed="left"), None],
}
DEPTH_CONSTRAINTS = {
    **PARAMETER_CONSTRAINTS,
    "max_depth": [Interval(Integral, 0, None, closed="left"), None],
}


@dataclass(frozen=True)
class Branch:
    """One branch of a test.

    Attributes
    ----------
    child : int
        Index of the node it leads to.

    text : str
        What the branch asks, without the feature's name: ``<= 0.8``, ``= Full``.

    missing : float
        The share of a row that goes this way when it misses the value.

    names_missing : bool
        Whether the branch itself says that missing values go this way.
    """

    child: int
    text: str
    missing: float
    names_missing: bool

    @property
    def full_text(self):
        """The text, with "or missing" if the branch names missing values."""
        return f"{self.text} or missing" if self.names_missing else self.text


class Description:
    """A tree in words.

    Parameters
    ----------
    model : fitted tree estimator or Tree
        What to describe.

    feature_names, class_names : array-like of str or None
        Names to use in place of the model's own.

    precision : int or None
        Significant digits of weights and means; None for all. Thresholds have all their digits
        unless `threshold_precision` says otherwise.

    threshold_precision : int or None
        Significant digits of thresholds; more where fewer would not keep those of a feature apart.
    """

    # The rules of a ``RuleListDescription``.
    rules: list | None = None

    def __init__(
        self,
        model,
        feature_names=None,
        class_names=None,
        precision=None,
        threshold_precision=None,
    ):
        self.tree = tree = fitted_tree(model)
        self.model = model
        encoder = getattr(model, "_encoder", None)
        own_names = [f"x{j}" for j in range(tree.n_features)]
        self.precision, self.threshold_precision = precision, threshold_precision
        self.feature_names = names_or(
            feature_names, getattr(encoder, "feature_names_", own_names), "feature_names"
        )
        self._threshold_digits = {}
        self.unnamed = features_without_holes(tree, getattr(encoder, "had_holes_", None))
        self.categories = getattr(encoder, "categories_", [None] * tree.n_features)
        kinds = getattr(encoder, "kinds_", [None] * tree.n_features)
        # The kind of each column of dates, times or durations.
        self.times = {j: kind for j, kind in enumerate(kinds) if kind in TIME_KINDS}
        self.labels = self.class_names = self.decisions = self.costs = None
        self.tie_tolerance = 0.0
        if tree.is_classifier:
            self.labels = getattr(model, "classes_", np.arange(tree.values.shape[1]))
            names = names_or(class_names, self.labels, "class_names")
            self.class_names = [one_line(name) for name in names]
            decide = getattr(model, "_decide_nodes", lambda: tree.values.argmax(axis=1))
            self.decisions = decide()
            costs = getattr(model, "_costs", None)
            self.costs = None if costs is None else np.asarray(costs, dtype=np.float64)
            scale = 1.0 if costs is None else float(np.abs(self.costs).max())
            self.tie_tolerance = TIE_TOLERANCE * scale

    @cached_property
    def frequencies(self):
        """Class frequencies at each node, or means."""
        return self.tree.node_values()

    @cached_property
    def probabilities(self):
        """Probabilities of ``predict_proba`` at each node, or means."""
        make = getattr(self.model, "_node_probabilities", self.tree.node_values)
        return make() if self.tree.is_classifier else self.tree.node_values()

    def feature(self, index):
        """Name of the feature that node `index` tests, as written without a test after it."""
        return one_line(self.feature_names[self.tree.nodes["feature"][index]])

    def subject(self, feature):
        """Name of a feature, to stand before what is asked of it."""
        return name_text(self.feature_names[feature])

    def branches(self, index):
        """The branches of node `index`, none for a leaf."""
        node = self.tree.nodes[index]
        first, count = int(node["first_child"]), int(node["n_children"])
        if node["kind"] == LEAF:
            return []
        if node["kind"] == IS_MISSING:
            return [
                Branch(first, "is missing", 1.0, False),
                Branch(first + 1, "is not missing", 0.0, False),
            ]
        texts = self._numeric(node) if node["kind"] == NUMERIC else self._categorical(index)
        target = -1 if int(node["feature"]) in self.unnamed else int(node["missing_branch"])
        shares = missing_shares(self.tree, index)
        return [Branch(first + b, texts[b], float(shares[b]), b == target) for b in range(count)]

    def _numeric(self, node):
        threshold, categories = float(node["threshold"]), self.categories[node["feature"]]
        if categories is None or not 0 <= threshold < len(categories) - 1:
            number = self.threshold_text(int(node["feature"]), threshold)
            return [f"<= {number}", f"> {number}"]
        # An ordered category: say where the order is cut.
        last = math.floor(threshold)
        cut = category_text(categories[last])
        return [
            f"= {cut}" if last == 0 else f"<= {cut}",
            f"= {category_text(categories[-1])}" if last + 2 == len(categories) else f"> {cut}",
        ]

    def threshold_text(self, feature, threshold):
        """A threshold of a feature; with all its digits if these are few."""
        if feature in self.times:
            return time_text(threshold, self.times[feature])
        full = number_text(threshold)
        if self.threshold_precision is None or len(full) <= self.threshold_precision + 3:
            return full
        return number_text(threshold, self._digits_of(feature))

    def value_of(self, feature, number):
        """A number of a column as users know it: a date, a time or a duration where it is one."""
        kind = self.times.get(feature)
        return number if kind is None else time_of_seconds(number, kind)

    def _digits_of(self, feature):
        """Significant digits of the thresholds of a feature."""
        if self.threshold_precision is None:
            return None
        if feature not in self._threshold_digits:
            nodes = self.tree.nodes
            asked = nodes["threshold"][(nodes["kind"] == NUMERIC) & (nodes["feature"] == feature)]
            self._threshold_digits[feature] = digits_that_separate(asked, self.threshold_precision)
        return self._threshold_digits[feature]

    def _categorical(self, index):
        node = self.tree.nodes[index]
        branch_of, count = self.tree.branches(index), int(node["n_children"])
        groups = [np.flatnonzero(branch_of == b) for b in range(count)]
        texts = [self.category_set(node["feature"], codes) for codes in groups]
        if count == 2 and 1 <= len(groups[0]) <= len(groups[1]) and len(groups[1]) > 1:
            texts[1] = self.category_set(node["feature"], groups[0], is_in=False)
        elif (
            count > 2
            and len(groups[-1]) > 1
            and self.tree.nodes["weight"][node["first_child"] + count - 1] == 0
        ):
            texts[-1] = "is any other"
        return texts

    def n_codes(self, feature):
        """Number of categories of a feature."""
        if self.categories[feature] is not None:
            return len(self.categories[feature])
        nodes = self.tree.nodes
        return int(nodes["n_categories"][nodes["feature"] == feature].max())

    def category_set(self, feature, codes, is_in=True):
        """Words for a value that is one of some categories, or none of them."""
        categories = self.categories[feature]
        words = [category_text(code if categories is None else categories[code]) for code in codes]
        if len(words) == 1:
            return f"{'' if is_in else '!'}= {words[0]}"
        return ("in {" if is_in else "not in {") + ", ".join(words) + "}"

    def answer(self, index):
        """The class or the mean that node `index` answers, in words."""
        if self.tree.is_classifier:
            return self.class_names[self.decisions[index]]
        return number_text(self.tree.values[index, 0], self.precision)

    def prediction(self, index):
        """The class label or the mean that node `index` answers."""
        if self.tree.is_classifier:
            return self.labels.tolist()[self.decisions[index]]
        return float(self.tree.values[index, 0])

    def content(self, index):
        """The weight of node `index`, by class where there are several."""
        weight = float(self.tree.nodes["weight"][index])
        total = number_text(weight, self.precision)
        if not self.tree.is_classifier:
            return total
        values = self.tree.values[index]
        present = np.flatnonzero(values)
        present = present[np.argsort(-values[present], kind="stable")]
        parts = ", ".join(
            f"{self.class_names[k]} {number_text(values[k], self.precision)}" for k in present
        )
        if weight == 0:
            return f"no row; above it {parts}"
        return total if present.tolist() == [self.decisions[index]] else parts

    def missing_note(self):
        """Where missing values go if the branches themselves do not say it."""
        inner = self._tests()
        by_weight = inner["missing_branch"] < 0
        if np.all(by_weight):
            way = "goes down every branch, in proportion to the weights"
            return f"A missing value {way}." if len(inner) else ""
        if np.any(by_weight):
            return (
                "A missing value goes where a branch says so, and elsewhere down every branch, in "
                "proportion to the weights."
            )
        is_unnamed = np.isin(inner["feature"], list(self.unnamed))
        if np.all(is_unnamed):
            return "A missing value takes the last branch of a test."
        if np.any(is_unnamed):
            return "Where no branch says so, a missing value takes the last branch of a test."
        return ""

    def rules_note(self):
        """The same for rules, in which the tests of a path are put together."""
        inner = self._tests()
        if np.any(inner["missing_branch"] < 0):
            return self.missing_note()
        asked = set(inner["feature"].tolist())
        unnamed = asked & self.unnamed
        kinds = [
            (f"a missing {kind} counts as {meaning}")
            for kind, meaning, has_categories in [
                ("number", "larger than every threshold", False),
                ("category", "one that is not listed", True),
            ]
            if any((self.categories[j] is not None) == has_categories for j in unnamed)
        ]
        if not kinds:
            return ""
        note = ", and ".join(kinds)
        return f"Where no rule says so, {note}." if asked - unnamed else f"A{note[1:]}."

    def _tests(self):
        """The nodes that compare a value."""
        return self.tree.nodes[np.isin(self.tree.nodes["kind"], (NUMERIC, *CATEGORY_KINDS))]


class RuleListDescription(Description):
    """A rule list in words: the tree that its conditions come from, and the rules.

    The answers, frequencies and probabilities are those of the rules, the default's last.
    """

    def __init__(self, model, feature_names=None, class_names=None, precision=None):
        super().__init__(model.estimator_, feature_names, None, precision)
        self.model = model
        self.labels = model.classes_
        self.class_names = [
            one_line(name) for name in names_or(class_names, self.labels, "class_names")
        ]
        # The tests of the tree that each rule asks, and the branches that it asks for.
        self.rules = [list(rule.conditions) for rule in model._rules]
        self.frequencies = self.probabilities = model._frequencies
        self.accuracies = [*(rule["accuracy"] for rule in model.rules_), None]
        self.n_samples = [*(rule["n_samples"] for rule in model.rules_), model._n_default]
        self.decisions = model._decide(self.frequencies)

    def _tests(self):
        asked = sorted({index for rule in self.rules for index, _ in rule})
        nodes = self.tree.nodes[asked]
        return nodes[np.isin(nodes["kind"], (NUMERIC, *CATEGORY_KINDS))]

    def rules_note(self):
        """Tell whether a missing value meets a condition."""
        if np.any(self._tests()["missing_branch"] < 0):
            return "A condition on a missing value does not hold."
        return super().rules_note()


def describe(
    model,
    feature_names=None,
    class_names=None,
    precision=None,
    threshold_precision=None,
    *,
    takes_rules=False,
):
    """The ``Description`` of a tree, which may be the last step of a fitted pipeline or search.

    With `takes_rules`, also that of a rule list.
    """
    model, own_names = last_step(model)
    if feature_names is None and not hasattr(model, "feature_names_in_"):
        feature_names = own_names
    if takes_rules and "rules_" in vars(model):
        return RuleListDescription(model, feature_names, class_names, precision)
    return Description(model, feature_names, class_names, precision, threshold_precision)


def last_step(model):
    """The tree at the end of a pipeline or search, and the names that earlier steps give."""
    own_names = None
    while not isinstance(model, (Tree, TreeClassifierMixin, TreeRegressorMixin)):
        if isinstance(model, Pipeline):
            own_names = own_names or names_before(model)
            model = model[-1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            break
    return model, own_names


def names_before(pipeline):
    """Names that a pipeline gives to the columns its last step takes; None if it gives none."""
    if len(pipeline.steps) == 1:
        return None
    try:
        return list(pipeline[:-1].get_feature_names_out())
    except (AttributeError, ValueError):
        # A step that has no such method, was never fitted, or saw no names.
        return None


def fitted_tree(model):
    """The tree of a fitted estimator, or `model` itself if it is one."""
    if isinstance(model, Tree):
        return model
    check_is_fitted(model)
    tree = getattr(model, "tree_", None)
    if not isinstance(tree, Tree):
        raise TypeError(
            f"A tree estimator of sktree_opt or its tree_ is expected, not {type(model).__name__}."
        )
    return tree


def names_or(given, own, what):
    """The names given, if any, as many as the model's own."""
    names = [str(name) for name in (own if given is None else given)]
    if len(names) != len(own):
        raise ValueError(f"{what} has {len(names)} names, but the tree has {len(own)}.")
    return names


def features_without_holes(tree, had_holes=None):
    """Features that missed no value in training, whose branches therefore do not name them.

    A test of such a column sends a missing value down its last branch. If `had_holes` is not
    known, a column is taken for one if all its tests do so, and none asks whether the value is
    missing. Empty if any test distributes missing values by weight.
    """
    tests = tree.nodes[tree.nodes["kind"] != LEAF]
    if np.any((tests["missing_branch"] < 0) & (tests["kind"] != IS_MISSING)):
        return frozenset()
    differs = (tests["kind"] == IS_MISSING) | (tests["missing_branch"] != tests["n_children"] - 1)
    found = set(tests["feature"].tolist()) - set(tests["feature"][differs].tolist())
    return frozenset(j for j in found if had_holes is None or not had_holes[j])


def missing_shares(tree, index):
    """The share of a row that goes down each branch of node `index` when it misses the value."""
    node = tree.nodes[index]
    count, target = int(node["n_children"]), int(node["missing_branch"])
    if node["kind"] == IS_MISSING:
        target = 0
    if target >= 0:
        return np.eye(count)[target]
    weights = tree.nodes["weight"][tree.children(index)]
    return weights / weights.sum()


def number_text(value, precision=None):
    """A number as short as `precision` allows; with all its digits for None."""
    value = float(value)
    if value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    if precision is None:
        return repr(value)
    if 10.0**precision <= abs(value) < 1e16:
        return f"{value:.0f}"
    return f"{value:.{precision}g}"


def digits_that_separate(numbers, precision):
    """The least number of significant digits from `precision` on that keeps `numbers` apart.

    None is moved by more than a tenth of the way to the next, so that they are in order, and about
    where they belong. None means all digits.
    """
    distinct = np.unique(numbers)
    # Halves, as the difference of two large numbers may overflow.
    gaps = np.diff(distinct / 2.0)
    room = np.minimum(np.append(np.inf, gaps), np.append(gaps, np.inf)) / 5.0
    for digits in range(precision, 17):
        rounded = np.array([float(number_text(number, digits)) for number in distinct])
        if np.all(np.abs(rounded - distinct) <= room):
            return digits
    return None


def quoted(text):
    """A text in quotes, with escapes as in JSON."""
    return CONTROL.sub(
        lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False)
    )


def one_line(text):
    """A text as it is, in quotes where it holds a control character."""
    return quoted(text) if CONTROL.search(text) else text


def name_text(name):
    """A feature's name before a test, in quotes where it would be taken for part of the test."""
    is_plain = not (CONTROL.search(name) or WORDS_AROUND_NAMES.search(name) or is_number(name))
    return name if is_plain else quoted(name)


def category_text(value):
    """A category or cell: numbers, Booleans and times as they are, anything else in quotes."""
    if kind := kind_of_value(value):
        return time_text(seconds_of_value(value, kind, ""), kind)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return number_text(value)
    return str(value) if isinstance(value, (bool, Integral)) else quoted(str(value))


def is_number(text):
    """Whether a string reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
