"""Rule lists against their definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import train_test_split

from sktree_opt import GreedyTreeClassifier, OptimalTreeClassifier, RuleListClassifier
from sktree_opt.datasets import load_loans
from tests.effort import examples
from tests.greedy.test_oracle import as_objects, tables
from tests.reference.naive_rules import meets, naive_rules

LOADERS = {"loans": load_loans, "iris": load_iris, "breast_cancer": load_breast_cancer}


def check_rules(model, cases, X):
    """Pruned rules, their order and their answers, from the tree and the rows they are pruned on.

    `cases` are encoded rows, class codes and weights; `X` are the rows of `fit`, encoded.
    """
    tree, answers = model.estimator_.tree_, model.estimator_._decide_nodes()
    expected = list(naive_rules(tree, answers, cases, len(model.classes_)))
    expected.sort(key=lambda rule: (-rule[1], len(rule[0])))
    # Rules that no row of fit meets first are left out.
    is_open, kept = np.ones(len(X), dtype=bool), []
    for conditions, accuracy in expected:
        first = [i for i in np.flatnonzero(is_open) if meets(tree, conditions, X[i])]
        if first:
            kept.append((conditions, pytest.approx(accuracy)))
            is_open[first] = False
    assert [(rule.conditions, rule.accuracy) for rule in model._rules] == kept
    assert sum(rule["n_samples"] for rule in model.rules_) == len(X) - is_open.sum()


def first_answer(model, row):
    """What the first rule that an encoded row meets answers."""
    for rule, record in zip(model._rules, model.rules_, strict=True):
        if meets(model.estimator_.tree_, rule.conditions, row):
            return record["answer"]
    return model.default_


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("estimator", [GreedyTreeClassifier(), OptimalTreeClassifier(max_depth=3)])
def test_rules_are_those_of_the_definition(name, estimator):
    X, y = LOADERS[name](return_X_y=True)
    X, X_val, y, y_val = train_test_split(X, y, random_state=0, stratify=y)
    model = RuleListClassifier(estimator).fit(X, y, X_val=X_val, y_val=y_val)
    rows = model.estimator_._encoder.transform(X_val)
    codes = np.searchsorted(model.classes_, y_val)
    cases = [(row, label, 1.0) for row, label in zip(rows, codes, strict=True)]
    check_rules(model, cases, model.estimator_._encoder.transform(X))
    assert model.predict(X_val).tolist() == [first_answer(model, row) for row in rows]


@examples(150)
@given(tables(), st.sampled_from(["distribute", "category", "majority"]), st.data())
def test_rules_of_random_tables(drawn, missing, data):
    """Pruned on rows of the caller's own, or on the weighted rows of fit if none are held back."""
    table, nominal, weights = drawn
    label = st.integers(0, 2)
    y = np.array(data.draw(st.lists(label, min_size=len(table), max_size=len(table))))
    X = as_objects(table, nominal)
    tree = GreedyTreeClassifier(missing=missing, categorical_features=nominal)
    model, own = RuleListClassifier(tree, validation_fraction=1e-9), {}
    if data.draw(st.booleans()):
        chosen = data.draw(st.lists(st.integers(0, len(table) - 1), min_size=1, max_size=20))
        flips = data.draw(st.lists(st.sampled_from(y), min_size=len(chosen), max_size=len(chosen)))
        own = {"X_val": X[chosen], "y_val": np.array(flips)}
    model.fit(X, y, weights, **own)
    matrix = np.asarray(model.estimator_._encoder.transform(X), dtype=float)
    rows, labels, unit = matrix, y, weights
    if own:
        rows, labels, unit = matrix[chosen], own["y_val"], np.ones(len(chosen))
    codes = np.searchsorted(model.classes_, labels)
    check_rules(model, list(zip(rows, codes, unit, strict=True)), matrix)
    assert model.predict(X).tolist() == [first_answer(model, row) for row in matrix]


def test_pruned_rules_are_shorter_and_no_worse():
    X, y = load_breast_cancer(return_X_y=True)
    noisy = y ^ (np.random.default_rng(0).random(len(y)) < 0.15)
    X, X_test, noisy, _, _, y_test = train_test_split(X, noisy, y, random_state=0)
    tree = GreedyTreeClassifier().fit(X, noisy)
    rules = RuleListClassifier(random_state=0).fit(X, noisy)
    n_conditions = [len(rule["conditions"]) for rule in rules.rules_]
    assert max(n_conditions) < tree.get_depth()
    assert rules.score(X_test, y_test) > tree.score(X_test, y_test)


def test_records_can_be_read():
    X, y = load_loans(return_X_y=True, as_frame=True)
    model = RuleListClassifier(random_state=0).fit(X, y)
    assert {c["operator"] for rule in model.rules_ for c in rule["conditions"]} <= {
        "<=",
        ">",
        "in",
        "is missing",
        "is not missing",
    }
    assert {c["feature"] for rule in model.rules_ for c in rule["conditions"]} <= set(X.columns)
    assert {rule["answer"] for rule in model.rules_} <= set(model.classes_)
    np.testing.assert_array_equal(
        model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X)
    )


def test_bad_validation_rows():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="X_val and y_val must be given together"):
        RuleListClassifier().fit(X, y, X_val=X)
    with pytest.raises(ValueError, match=r"y_val has labels that y does not have: \[7\]"):
        RuleListClassifier().fit(X, y, X_val=X[:2], y_val=[0, 7])
    with pytest.raises(ValueError, match="X_val has 2 rows and y_val has 1 labels"):
        RuleListClassifier().fit(X, y, X_val=X[:2], y_val=[0])
