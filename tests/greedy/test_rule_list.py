"""Rule lists against their definition."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import train_test_split

from sktree_opt import GreedyTreeClassifier, OptimalTreeClassifier, RuleListClassifier
from sktree_opt.datasets import load_loans
from tests.reference.naive_predict import branch_of

LOADERS = {"loans": load_loans, "iris": load_iris, "breast_cancer": load_breast_cancer}


def meets(tree, conditions, row):
    """Whether one row meets all conditions; a value that goes down every branch meets none."""
    return all(
        branch_of(tree, node, float(row[tree.nodes["feature"][node]])) == branch
        for node, branch in conditions
    )


def error(tree, conditions, answer, rows, labels):
    covered = [
        label for row, label in zip(rows, labels, strict=True) if meets(tree, conditions, row)
    ]
    return sum(label != answer for label in covered) / len(covered) if covered else 1.0


def paths(tree, index=0, path=()):
    if tree.nodes["kind"][index] == 0:
        if tree.nodes["weight"][index] > 0:
            yield index, list(path)
        return
    first = int(tree.nodes["first_child"][index])
    for branch in range(int(tree.nodes["n_children"][index])):
        yield from paths(tree, first + branch, (*path, (index, branch)))


def naive_rules(tree, answers, rows, labels, n_classes):
    """(conditions, Laplace accuracy) of the pruned rules, in the order of the leaves."""
    for leaf, path in sorted(paths(tree)):
        kept, answer = list(path), answers[leaf]
        while kept:
            errors = [
                error(tree, [c for c in kept if c != gone], answer, rows, labels) for gone in kept
            ]
            if min(errors) > error(tree, kept, answer, rows, labels) + 1e-12:
                break
            del kept[errors.index(min(errors))]
        covered = [k for row, k in zip(rows, labels, strict=True) if meets(tree, kept, row)]
        right = sum(k == answer for k in covered)
        yield tuple(kept), (right + 1) / (len(covered) + n_classes)


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("estimator", [GreedyTreeClassifier(), OptimalTreeClassifier(max_depth=3)])
def test_rules_are_those_of_the_definition(name, estimator):
    X, y = LOADERS[name](return_X_y=True)
    X, X_val, y, y_val = train_test_split(X, y, random_state=0, stratify=y)
    model = RuleListClassifier(estimator).fit(X, y, X_val=X_val, y_val=y_val)
    tree, encoder = model.estimator_.tree_, model.estimator_._encoder
    rows = encoder.transform(X_val)
    codes = np.searchsorted(model.classes_, y_val)
    answers = model.estimator_._decide_nodes()
    expected = list(naive_rules(tree, answers, rows, codes, len(model.classes_)))
    expected.sort(key=lambda rule: (-rule[1], len(rule[0])))
    found = [(rule.conditions, rule.accuracy) for rule in model._rules]
    # Rules that no row of fit meets first are left out.
    matrix = encoder.transform(X)
    is_open, kept = np.ones(len(matrix), dtype=bool), []
    for conditions, accuracy in expected:
        first = [i for i in np.flatnonzero(is_open) if meets(tree, conditions, matrix[i])]
        if first:
            kept.append((conditions, pytest.approx(accuracy)))
            is_open[first] = False
    assert found == kept
    assert [rule["n_samples"] for rule in model.rules_][:1] != [0]
    assert sum(rule["n_samples"] for rule in model.rules_) == len(matrix) - is_open.sum()
    # The first rule that a row meets answers.
    for row, label in zip(rows, model.predict(X_val), strict=True):
        first = [i for i, (conditions, _) in enumerate(found) if meets(tree, conditions, row)]
        answer = model.rules_[first[0]]["answer"] if first else model.default_
        assert label == answer


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
