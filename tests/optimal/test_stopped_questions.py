"""Rankings, several trees, metrics, paths and folds that are not given the time for a proof."""

import pickle
import signal
import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score, matthews_corrcoef
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sktree_opt.optimal import (
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    SmallestTreeClassifier,
    TreeSetClassifier,
    TreeSetRegressor,
    optimal_path,
)
from sktree_opt.optimal.run._session import Session
from sktree_opt.optimal.run._trees import Prunings
from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._fitting import HeldInterrupt
from tests.effort import also_long
from tests.optimal.common import load_binary, random_table

DEPTHS = also_long(7, 5, 9)


@pytest.fixture(scope="module")
def credit(data_dir):
    return load_binary(data_dir, "german-credit")


def cart_of(X, y, depth):
    return DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)


def errors_of(model, X, y):
    return int(np.count_nonzero(model.predict(X) != y))


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("ranking", [("error", "size"), ("error", "depth", "size")])
def test_a_stopped_ranking_is_no_worse_than_cart(credit, depth, ranking):
    X, y = credit
    model = SmallestTreeClassifier(max_depth=depth, time_limit=0.5, ranking=ranking)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert model.objective_ == errors_of(model, X, y) <= errors_of(cart_of(X, y, depth), X, y)
    objectives = [objective for _, objective, _ in model.incumbents_]
    assert len(objectives) > 1
    assert objectives == sorted(objectives, reverse=True)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("depth", DEPTHS)
def test_as_good_as_cart_and_no_larger(credit, depth):
    X, y = credit
    cart = cart_of(X, y, depth)
    goal = errors_of(cart, X, y)
    model = SmallestTreeClassifier(max_depth=depth, time_limit=0.5, max_error=float(goal))
    model.fit(X, y)
    assert model.objective_ == errors_of(model, X, y) <= goal
    assert model.get_n_leaves() <= cart.get_n_leaves()


@pytest.mark.parametrize("depth", DEPTHS)
def test_the_first_of_several_trees_is_no_worse_than_cart(credit, depth):
    X, y = credit
    model = TreeSetClassifier(max_depth=depth, time_limit=0.5, n_trees=3)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert model.objective_ <= errors_of(cart_of(X, y, depth), X, y)
    assert len(model.trees_) == 3
    assert (np.diff(model.tree_objectives_) >= 0).all()
    for one, objective in zip(model, model.tree_objectives_, strict=True):
        assert errors_of(one, X, y) == objective


def test_several_regression_trees_are_no_worse_than_cart(credit):
    X, y = credit
    targets = y + X @ np.sin(np.arange(X.shape[1]))
    cart = DecisionTreeRegressor(max_depth=6, random_state=0).fit(X, targets)
    model = TreeSetRegressor(max_depth=6, time_limit=0.5, n_trees=2)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, targets)
    assert model.objective_ <= ((cart.predict(X) - targets) ** 2).sum()


LOSSES = {
    "f1": lambda y, answers: 1 - f1_score(y, answers),
    "mcc": lambda y, answers: 1 - matthews_corrcoef(y, answers),
}


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("metric", sorted(LOSSES))
def test_a_stopped_metric_is_no_worse_than_cart(credit, depth, metric):
    X, y = credit
    model = OptimalTreeClassifier(objective=metric, max_depth=depth, time_limit=0.5)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert model.objective_ == pytest.approx(LOSSES[metric](y, model.predict(X)))
    assert model.objective_ <= LOSSES[metric](y, cart_of(X, y, depth).predict(X))
    assert model.pareto_front_["loss"].min() == pytest.approx(model.objective_)
    assert model.tree_.depth <= depth
    assert model.objective_ == model.incumbents_[-1][1]


def test_a_stopped_metric_counts_its_tests(credit):
    X, y = credit
    model = OptimalTreeClassifier(
        objective="f1", max_depth=7, time_limit=0.5, complexity_cost=0.002, min_samples_leaf=5
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    loss = LOSSES["f1"](y, model.predict(X))
    assert model.objective_ == pytest.approx(loss + 0.002 * model.tree_.n_splits)
    assert model.tree_.nodes["n_samples"].min() >= 5


@pytest.mark.parametrize("depth", also_long(7, 5))
def test_a_stopped_path_is_no_worse_than_cart_at_any_depth(credit, depth):
    X, y = credit
    with pytest.warns(ConvergenceWarning):
        path = optimal_path(OptimalTreeClassifier(max_depth=depth, time_limit=1.0), X, y)
    for level in range(3, depth + 1):
        cart = cart_of(X, y, level)
        splits = cart.get_n_leaves() - 1
        assert path.objectives[level, -1] <= errors_of(cart, X, y)
        assert path.objectives[level, splits] <= errors_of(cart, X, y)
        assert path.lower_bounds[level, splits] <= errors_of(cart, X, y)
    assert (np.diff(path.objectives, axis=0) <= 0).all()
    assert (np.diff(path.objectives, axis=1) <= 0).all()
    for (level, splits), index in np.ndenumerate(path.tree_index):
        tree = path.trees[index]
        assert tree.depth <= level
        assert tree.n_splits <= splits
        leaves = tree.nodes["kind"] == 0
        found = (tree.values.sum(axis=1) - tree.values.max(axis=1))[leaves].sum()
        assert found == path.objectives[level, splits]


def test_bounds_of_a_path_are_bounds(global_random_seed):
    X, y = random_table(global_random_seed, m=12)
    whole = optimal_path(OptimalTreeClassifier(max_depth=4, time_limit=100.0), X, y)
    plain = optimal_path(OptimalTreeClassifier(max_depth=4, time_limit=None), X, y)
    assert (whole.lower_bounds == whole.objectives).all()
    assert (whole.objectives == plain.objectives).all()
    assert whole.trees == plain.trees
    for seconds in (0.0, 0.002, 0.005, 0.01):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            part = optimal_path(OptimalTreeClassifier(max_depth=4, time_limit=seconds), X, y)
        assert (part.lower_bounds <= plain.objectives).all()
        assert (part.objectives >= plain.objectives).all()
        assert part.search_stats["seconds"] > 0


def test_a_path_of_many_short_searches_looks_at_the_clock():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (3000, 10))
    y = X[:, :5].sum(axis=1) + 2 * rng.integers(0, 2, 3000) > 3
    with pytest.warns(ConvergenceWarning):
        path = optimal_path(OptimalTreeClassifier(max_depth=9, time_limit=0.5), X, y)
    assert path.status == "time_limit"
    assert (path.lower_bounds < path.objectives).any()


@pytest.mark.parametrize("objective", ["error", "entropy", "gini"])
def test_a_path_does_not_depend_on_a_limit_that_is_not_reached(objective, global_random_seed):
    X, y = random_table(global_random_seed, n=150, m=9, n_classes=3)
    weights = np.random.default_rng(global_random_seed).uniform(0.3, 2.0, len(y))
    model = OptimalTreeClassifier(objective=objective, time_limit=None)
    whole = optimal_path(model, X, y, sample_weight=weights)
    limited = optimal_path(model.set_params(time_limit=60.0), X, y, sample_weight=weights)
    assert whole.trees == limited.trees
    assert (whole.objectives == limited.objectives).all()
    assert (whole.lower_bounds == whole.objectives).all()


@pytest.mark.parametrize(
    "question",
    [
        OptimalTreeClassifier(objective="f1"),
        TreeSetClassifier(n_trees=3),
        TreeSetClassifier(n_trees=3, objective="entropy"),
        SmallestTreeClassifier(),
        SmallestTreeClassifier(max_error=1e6),
    ],
    ids=str,
)
def test_incumbents_end_with_the_proof(question, global_random_seed):
    X, y = random_table(global_random_seed, m=8)
    model = clone(question).fit(X, y)
    seconds, objective, bound = model.incumbents_[-1]
    assert all(type(number) is float for entry in model.incumbents_ for number in entry)
    assert objective == pytest.approx(model.objective_)
    assert bound == pytest.approx(model.objective_)
    assert seconds <= model.search_stats_["seconds"] + 0.1
    objectives = [entry[1] for entry in model.incumbents_]
    assert objectives == sorted(objectives, reverse=True)


def test_trees_are_read_in_time():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (3000, 60)), rng.integers(0, 2, 3000)
    model = TreeSetClassifier(max_depth=6, n_trees=20000, time_limit=1.0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert model.status_ == "time_limit"
    assert 1 < len(model) < 20000
    assert len({str(tree.to_dict()) for tree in model.trees_}) == len(model)
    assert (np.diff(model.tree_objectives_) >= 0).all()
    assert [model[k].objective_ for k in range(3)] == model.tree_objectives_[:3].tolist()
    again = pickle.loads(pickle.dumps(model))
    assert list(again.trees_) == list(model.trees_)


def test_a_share_of_the_time_is_a_share():
    control = SearchControl(10.0)
    with Session(control).for_seconds(0.01):
        time.sleep(0.02)
        assert control.poll()
        assert control.status == "time_limit"
    assert not control.poll()
    assert control.status == "optimal"
    assert control.seconds_left > 5.0
    control = SearchControl(0.01)
    with Session(control).for_seconds(5.0):
        time.sleep(0.02)
        assert control.poll()
    assert control.poll()
    control = SearchControl()
    with Session(control).for_seconds(5.0):
        control.request_stop()
        assert control.poll()
    assert control.status == "stopped"


def test_ctrl_c_at_the_end_of_a_share_ends_the_search():
    control = SearchControl(10.0)
    with pytest.raises(KeyboardInterrupt), HeldInterrupt() as interrupt:
        session = Session(control, interrupt)
        session.begin()
        with session.for_seconds(0.0):
            assert control.poll()
            signal.raise_signal(signal.SIGINT)
    assert control.status == "stopped"


def test_prunings_are_the_best_of_all(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    nodes, depths = [[-1, -1, -1]], [0]
    for _ in range(6):
        leaves = [k for k, node in enumerate(nodes) if node[0] < 0 and depths[k] < 4]
        at = int(rng.choice(leaves))
        nodes[at] = [int(rng.integers(10)), len(nodes), len(nodes) + 1]
        nodes += [[-1, -1, -1], [-1, -1, -1]]
        depths += [depths[at] + 1] * 2
    costs = rng.integers(0, 20, len(nodes)).astype(float)

    def all_prunings(at, depth):
        yield 0, costs[at]
        if nodes[at][0] >= 0 and depth > 0:
            for a, x in all_prunings(nodes[at][1], depth - 1):
                for b, z in all_prunings(nodes[at][2], depth - 1):
                    yield a + b + 1, x + z

    for depth in range(5):
        pruned = Prunings(np.array(nodes, dtype=np.int32), costs, depth)
        found = list(all_prunings(0, depth))
        for size, cost in enumerate(pruned.costs):
            assert cost == min(c for s, c in found if s == size)
            tree, origin = pruned.tree(size)
            assert costs[origin[tree[:, 0] < 0]].sum() == cost
            assert np.count_nonzero(tree[:, 0] >= 0) == size
        useful = pruned.useful_sizes(0.5)
        totals = pruned.costs + 0.5 * np.arange(len(pruned.costs))
        assert useful[0] == 0
        assert (np.diff(totals[useful]) < 0).all()
        assert totals[useful[-1]] == totals.min()


@pytest.mark.parametrize("thresholds", also_long("all", 40))
@pytest.mark.parametrize("depth", also_long(6, 4, 8))
def test_a_stopped_search_of_all_thresholds_is_no_worse_than_cart(depth, thresholds):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    y = (X[:, 0] * X[:, 1] > 0) ^ (X[:, 2] > 0.5) ^ (rng.random(2000) < 0.1)
    targets = X @ np.arange(10) * y
    cart = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, targets)
    least = ((cart.predict(X) - targets) ** 2).sum()
    model = OptimalTreeRegressor(max_depth=depth, time_limit=1.0, thresholds=thresholds)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, targets)
    with pytest.warns(ConvergenceWarning):
        path = optimal_path(OptimalTreeRegressor(max_depth=depth, time_limit=1.0), X, targets)
    assert model.objective_ == pytest.approx(((model.predict(X) - targets) ** 2).sum())
    # Few thresholds are not all of them: with few levels they may be a hundredth behind.
    slack = 1.02 if depth == 4 else 1.0
    assert model.objective_ <= slack * least
    assert path.objectives[-1, -1] <= slack * least
    assert model.objective_ == model.incumbents_[-1][1]
