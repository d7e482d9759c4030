"""Random tables of every kind, each held against brute force and against itself.

    python -m tests.fuzz --minutes 10 --seed 0

Each seed is one table; every tenth has up to 70 classes, every twentieth 10,000 columns, the most
that are searched. What is checked: the optimum equals that of brute force; bounds of a stopped
search never exceed it; the tree's own answers cost what it says; rows in another order, columns in
another order, other names of classes, several threads, other instruction sets, a small cache and
weights in place of repeated rows change no objective; JSON, rules, Python code and scikit-learn's
tree give the same answers; damaged JSON, and damaged tables and models of the command line, are
refused by a ``ValueError`` or a message, or they answer. A failure names its seed, with which
``--seed`` repeats it.
"""

import argparse
import contextlib
import io
import os
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sktree_opt import (
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    export_code,
    export_rules,
    from_json,
    to_json,
    to_sklearn,
)
from sktree_opt.__main__ import main as run_command
from sktree_opt.simd._dispatch import available_instruction_sets
from tests.export.interpreter import share_of
from tests.reference import brute_force_thresholds as brute

NUMBERS = {
    "few": lambda rng, n: rng.integers(0, 3, n).astype(float),
    "binary": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "distinct": lambda rng, n: rng.permutation(n).astype(float),
    "normal": lambda rng, n: rng.normal(size=n),
    "near": lambda rng, n: 1.0 + rng.integers(0, 4, n) * 2.0**-52,
    "tiny": lambda rng, n: rng.integers(-3, 4, n) * 5e-324,
    "huge": lambda rng, n: rng.choice([-1e308, -1.0, 0.0, 1e308], n),
    "whole": lambda rng, n: rng.choice([-(2.0**63), -(2.0**53), 2.0**53 - 1, 2.0**53, 2.0**63], n),
    "constant": lambda rng, n: np.full(n, 7.0),
}
WEIGHTS = {
    "none": lambda rng, n: None,
    "whole": lambda rng, n: rng.integers(1, 5, n).astype(float),
    "real": lambda rng, n: rng.uniform(0.1, 3.0, n),
    "zeros": lambda rng, n: np.append(rng.choice([0.0, 1.0, 2.0], n - 1), 1.0),
    "decades": lambda rng, n: 10.0 ** rng.integers(-6, 7, n),
}


def random_case(seed):
    """Table, targets, weights, which columns are nominal, and parameters of an estimator."""
    rng = np.random.default_rng(seed)
    has_many_classes = seed % 10 == 5
    depth = 1 if has_many_classes else int(rng.integers(1, 4))
    n = int(rng.integers(80, 140) if has_many_classes else rng.integers(1, [0, 40, 24, 11][depth]))
    m = int(rng.integers(1, [0, 6, 4, 3][depth]))
    X = np.column_stack([NUMBERS[rng.choice(list(NUMBERS))](rng, n) for _ in range(m)])
    nominal = rng.random(m) < 0.3
    X[:, nominal] = rng.integers(0, 4, (n, nominal.sum()))
    if rng.random() < 0.4:
        X[rng.random(X.shape) < 0.2] = np.nan
    weights = WEIGHTS[rng.choice(list(WEIGHTS))](rng, n)
    objective = rng.choice(["error", "cost", "gini", "squared_error", "absolute_error"])
    if objective.endswith("_error"):
        y = rng.normal(size=n).round(int(rng.integers(0, 3)))
    else:
        y = rng.integers(0, 70 if has_many_classes else rng.integers(1, 5), n)
    parameters = {
        "objective": str(objective),
        "max_depth": depth,
        "max_leaf_nodes": rng.choice([None, 2, 3, 4]),
        "min_samples_leaf": int(rng.choice([1, 1, 2])),
        "complexity_cost": float(rng.choice([0.0, 0.0, 0.02])),
        "categorical_features": nominal,
    }
    n_kept = n if weights is None else np.count_nonzero(weights)
    parameters["min_samples_leaf"] = min(parameters["min_samples_leaf"], n_kept)
    return X, y, weights, parameters, rng


def make(parameters):
    is_regression = parameters["objective"] in ("squared_error", "absolute_error")
    return (OptimalTreeRegressor if is_regression else OptimalTreeClassifier)(**parameters)


def optimum_of(X, y, weights, parameters, costs):
    """Brute force over the rows that have a weight."""
    unit = np.ones(len(y)) if weights is None else weights
    X, y, unit = X[unit > 0], y[unit > 0], unit[unit > 0]
    objective = parameters["objective"]
    if objective == "gini":
        leaf_cost = brute.gini_leaf(y, unit)
    elif objective in ("error", "cost"):
        y = np.unique(y, return_inverse=True)[1]
        leaf_cost = brute.classification_leaf(
            y, unit, np.logical_not(np.eye(y.max() + 1)) if costs is None else costs
        )
    elif objective == "squared_error":
        leaf_cost = brute.squared_error_leaf(y, unit)
    else:
        leaf_cost = brute.absolute_error_leaf(y, unit)
    leaves = parameters["max_leaf_nodes"]
    return brute.best_cost(
        list(enumerate(map(tuple, X.tolist()))),
        leaf_cost,
        parameters["categorical_features"],
        unit,
        max_depth=parameters["max_depth"],
        max_splits=None if leaves is None else min(leaves - 1, 2 ** parameters["max_depth"] - 1),
        min_rows=parameters["min_samples_leaf"],
        split_cost=parameters["complexity_cost"] * unit.sum(),
    )


def close(a, b, scale):
    return abs(a - b) <= 1e-9 * max(1.0, abs(a), scale)


def check_seed(seed):
    """All checks of one table; the name of its objective."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        return check_table(seed)


def check_table(seed):
    X, y, weights, parameters, rng = random_case(seed)
    costs = None
    if parameters["objective"] == "cost":
        kept = slice(None) if weights is None else weights > 0
        n_classes = len(np.unique(y))
        costs = rng.integers(0, 5, (n_classes, n_classes)).astype(float)
        parameters["cost_matrix"] = costs
        costs = costs[np.ix_(*[np.isin(np.unique(y), np.unique(y[kept]))] * 2)]
    expected = optimum_of(X, y, weights, parameters, costs)
    scale = float(np.sum(weights) if weights is not None else len(y)) * (1 + np.abs(y).max()) ** 2
    model = make(parameters).fit(X, y, weights)
    assert model.status_ == "optimal"
    assert close(model.objective_, expected, scale), (model.objective_, expected)
    assert model.lower_bound_ <= expected + 1e-9 * max(1.0, scale)
    check_answers(model, X, y, weights, parameters, scale)
    check_damaged_text(to_json(model), X, rng)
    if seed % 20 == 0:
        check_command_line(to_json(model), X, y, rng)
    if seed % 20 == 10:
        check_wide(seed)
    for same, data in variants(X, y, weights, parameters, rng):
        assert close(make(same).fit(*data).objective_, expected, scale), same
    for name in available_instruction_sets():
        os.environ["SKTREE_OPT_SIMD"] = name
        try:
            assert close(make(parameters).fit(X, y, weights).objective_, expected, scale), name
        finally:
            del os.environ["SKTREE_OPT_SIMD"]
    for limit in (0.0, model.search_stats_["seconds"] * rng.random()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            stopped = make(parameters | {"time_limit": float(limit)}).fit(X, y, weights)
        assert stopped.lower_bound_ <= expected + 1e-9 * max(1.0, scale)
        assert stopped.objective_ >= expected - 1e-9 * max(1.0, scale)
    return parameters["objective"]


def check_answers(model, X, y, weights, parameters, scale):
    """The tree's answers cost what it says, and every export gives them."""
    answers = model.predict(X)
    check_exports(model, X, answers)
    unit = np.ones(len(y)) if weights is None else weights
    cost = parameters["complexity_cost"] * unit.sum() * model.tree_.n_splits
    loss = {
        "error": lambda: unit @ (answers != y),
        "squared_error": lambda: unit @ (answers - y) ** 2,
        "absolute_error": lambda: unit @ np.abs(answers - y),
    }.get(parameters["objective"])
    assert loss is None or close(cost + loss(), model.objective_, scale)


def check_exports(model, X, answers):
    """JSON, code, rules and scikit-learn's tree answer as the model does."""
    assert (from_json(to_json(model)).predict(X) == answers).all()
    with np.errstate(over="ignore"):
        single = X.astype(np.float32)
    # scikit-learn's trees read numbers in single precision.
    if np.isfinite(single[~np.isnan(X)]).all() and all(
        len(np.unique(a)) == len(np.unique(b)) for a, b in zip(X.T, single.T, strict=True)
    ):
        assert (to_sklearn(model).predict(X) == answers).all()
    module, rules = {}, export_rules(model)
    exec(export_code(model), module)
    for row, answer in zip(X, answers, strict=True):
        cells = {f"x{j}": None if np.isnan(value) else value for j, value in enumerate(row)}
        assert module["predict"](cells) == answer
        (rule,) = [rule for rule in rules if share_of(rule, cells) == 1.0]
        assert rule["prediction"] == answer


def check_wide(seed):
    """A table of 10,000 columns against the best single test, by numpy; more are refused."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 30))
    X, y = rng.integers(0, 2, (n, 100_000)), np.append(rng.integers(0, 3, n - 3), [0, 1, 2])
    with contextlib.suppress(ValueError):
        OptimalTreeClassifier(max_depth=1).fit(X, y)
        raise AssertionError("100,000 columns were searched")
    X = X[:, :10_000]
    wrong = [[((side == X) & (y != k)[:, None]).sum(axis=0) for k in range(3)] for side in (0, 1)]
    costs = np.min(wrong[0], axis=0) + np.min(wrong[1], axis=0)
    model = OptimalTreeClassifier(max_depth=1).fit(X, y)
    assert model.objective_ == min(costs.min(), *((y != k).sum() for k in range(3)))


def damaged(text, rng):
    """A text in which a few parts are replaced, repeated, exchanged or left out."""
    for _ in range(int(rng.integers(1, 4))):
        start, other = sorted(rng.integers(0, len(text) + 1, 2))
        end = min(len(text), start + int(rng.integers(1, 9)))
        new = rng.choice(["", "-1", "null", "1e999", "[", "{}", '"', ",", "\x00", "9" * 25, "NaN"])
        repeated = text[other : other + int(rng.integers(0, 20))]
        text = text[:start] + str(rng.choice([new, repeated])) + text[end:]
    return text


def check_damaged_text(text, X, rng):
    """What ``from_json`` reads predicts; all else is refused by a ``ValueError``."""
    for _ in range(10):
        try:
            model = from_json(damaged(text, rng))
        except ValueError:
            continue
        # A model of other columns, or of categories that X does not have, says so.
        with contextlib.suppress(ValueError, TypeError):
            model.predict(X)
            to_json(model)


def check_command_line(model, X, y, rng):
    """Damaged tables and models end in an exit code, never in a traceback."""
    table = "\n".join(",".join(map(repr, [*row, label])) for row, label in zip(X, y, strict=True))
    table = ",".join([*(f"x{j}" for j in range(X.shape[1])), "y"]) + "\n" + table + "\n"
    with tempfile.TemporaryDirectory() as folder:
        data, tree = Path(folder, "data.csv"), Path(folder, "tree.json")
        for _ in range(3):
            data.write_text(damaged(table.replace("np.float64", ""), rng), "utf-8")
            tree.write_text(model if rng.random() < 0.5 else damaged(model, rng), "utf-8")
            for command in (
                ["fit", str(data), "--target=y", "--max-depth=1", "--cv=0", "--n-jobs=1"],
                ["predict", str(tree), str(data)],
            ):
                silent = contextlib.redirect_stdout(io.StringIO())
                with silent, contextlib.redirect_stderr(io.StringIO()):
                    try:
                        code = run_command(command)
                    except SystemExit as end:
                        code = end.code
                assert code is None or isinstance(code, (int, str)), code


def variants(X, y, weights, parameters, rng):
    """Parameters and data of the same problem."""
    rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    moved = parameters | {"categorical_features": parameters["categorical_features"][columns]}
    in_rows = None if weights is None else weights[rows]
    yield parameters, (X[rows], y[rows], in_rows)
    yield moved, (X[:, columns], y, weights)
    yield parameters | {"n_jobs": 2}, (X, y, weights)
    memory_limit = 2_000_000 if len(np.unique(y)) < 10 else 100_000_000
    yield parameters | {"memory_limit": memory_limit}, (X, y, weights)
    if parameters["objective"] in ("error", "gini"):
        yield parameters, (X, np.array([f"class {99 - k}" for k in range(70)])[y], weights)
    is_whole = weights is not None and (weights == weights.round()).all() and weights.max() < 9
    if is_whole and parameters["min_samples_leaf"] == 1:
        counts = weights.astype(int)
        repeated = np.repeat(X, counts, axis=0), np.repeat(y, counts)
        if "cost_matrix" not in parameters or len(np.unique(repeated[1])) == len(np.unique(y)):
            yield parameters, (*repeated, None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0, help="of the first table")
    arguments = parser.parse_args()
    end, seed, done = time.monotonic() + 60 * arguments.minutes, arguments.seed, Counter()
    while time.monotonic() < end:
        try:
            done[check_seed(seed)] += 1
        except Exception as error:
            raise SystemExit(f"seed {seed}: {type(error).__name__}: {error}") from error
        seed += 1
    print(f"{done.total()} tables, none failed: {dict(done)}; next --seed {seed}")


if __name__ == "__main__":
    main()
