"""The base of the sets of best trees: they are sequences of fitted trees."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sktree_opt.optimal.estimators._base import DOCS, BaseOptimalTree, new_control
from sktree_opt.optimal.estimators._tree_set_conditions import (
    feature_indices,
    is_monotonic,
    monotonic_signs,
)
from sktree_opt.optimal.run._best_trees import Wanted
from sktree_opt.tree import Tree
from sktree_opt.utils._compat import Interval, StrOptions
from sktree_opt.utils._control import SearchControl
from sktree_opt.utils._params import document_shared, shared_constraints
from sktree_opt.utils._typing import RandomState, TableLike

# Attributes of the set that a single tree does not have.
OF_THE_SET = ("_found", "_kept_search")

# Objectives of more trees are not listed.
MOST_LISTED = 10**8

RELIANCE_DTYPE = np.dtype(
    [
        ("name", object),
        ("verdict", object),
        ("share", np.float64),
        ("least_importance", np.float64),
        ("largest_importance", np.float64),
    ]
)

DOCS_OF_SETS = {
    "n_trees": """\
n_trees : int or None, default=None
    Maximum number of trees. None means all that are within `epsilon`, or 10 without it.
""",
    "epsilon": """\
epsilon : float or None, default=None
    How much larger the objective of a tree may be than that of the best one. None means no limit.

epsilon_kind : {"relative", "absolute"}, default="relative"
    Whether `epsilon` is a share of the best objective, or an amount in its units.

distinct_by : {"partitions", "tests"}, default="partitions"
    When two trees are different. "partitions": when they part the training rows differently at some
    node. Tests with the same outcome on a node's rows count as one, and a test over two leaves that
    does not lower their cost makes no tree of its own. "tests": when they have different tests at
    some node; each test has rows on both sides.
""",
    "ranked": """\
ranking : sequence of {"error", "pessimistic_error", "size", "depth"} or None, default=None
    The order of the trees: by objective, C4.5's estimate of the errors on new rows, number of
    tests, depth. "size" and one of the errors must be among them. None means ("error", "size").

max_error : float or None, default=None
    Largest objective that is acceptable; a billionth is allowed for rounding.

max_pessimistic_error : float or None, default=None
    Largest value of C4.5's estimate, summed over leaves, that is acceptable.
""",
    "predict_by": """\
predict_by : {"best", "vote"}, default="best"
    Whether the best tree answers, or all trees together: the class that most of them answer, or the
    mean of their answers. Everything else than predictions describes the best tree.
""",
    "the_set": """\
feature_reliance_ : ndarray of records, shape (n_features,)
    How far the trees rely on each feature: ``name``, ``verdict`` ("all", "some" or "none" of the
    trees need it), ``share`` of the trees that do, ``least_importance`` and ``largest_importance``.

n_trees_ : int
    Number of trees of the set.

n_trees_by_objective_ : dict
    Number of trees for each objective, in rising order.

n_trees_by_size_ : dict
    Number of trees for each number of leaves.

trees_ : sequence of Tree
    The trees, best first, then with the fewest tests. Each is made when it is asked for.

tree_objectives_ : ndarray
    The objective of each tree, rounded to about eleven digits of what a single leaf costs.

tree_ : Tree
    The best tree, by which the set predicts.

objective_ : float
    Objective of the best tree, the cost of its tests included.

lower_bound_ : float
    No tree within the limits has a smaller objective.

gap_ : float
    Difference of the two.

status_ : {"optimal", "time_limit", "memory_limit", "stopped"}
    Whether all trees are proved to be the best ones, or what ended the search before.

incumbents_ : list of (float, float, float)
    Seconds, objective and lower bound of the best tree, each time a better one was found.

optimality_scope_ : str
    What the proof is relative to, in words.

search_stats_ : dict
    Counters of the search.
""",
}
document_set = partial(document_shared, more=DOCS | DOCS_OF_SETS)


class TreesOnDemand(Sequence):
    """The trees of a set, made when they are asked for."""

    def __init__(self, found):
        self._found = found

    def __len__(self):
        return self._found.n_trees

    def __getitem__(self, rank):
        if isinstance(rank, slice):
            return [self[k] for k in range(*rank.indices(len(self)))]
        return self._found.tree(checked_rank(rank, self._found.n_trees))[0]

    def __repr__(self):
        return f"<{self._found.n_trees} trees>"


class BaseTreeSet(BaseOptimalTree):
    """A fitted set: ``model[k]`` is the tree of rank `k`, fitted."""

    _parameter_constraints: ClassVar[dict] = {
        **BaseOptimalTree._parameter_constraints,
        **shared_constraints("checkpoint"),
        "n_trees": [Interval(Integral, 1, None, closed="left"), None],
        "epsilon": [Interval(Real, 0, None, closed="left"), None],
        "epsilon_kind": [StrOptions({"relative", "absolute"})],
        "distinct_by": [StrOptions({"partitions", "tests"})],
        "predict_by": [StrOptions({"best", "vote"})],
    }

    # The estimator of one tree.
    _one_tree: ClassVar[type[BaseOptimalTree]]

    @property
    def n_trees_(self) -> int:
        """Number of trees of the set; may be larger than ``len`` can say."""
        return self._fitted_set().n_trees

    @property
    def n_trees_by_objective_(self) -> dict[float, int]:
        """Number of trees for each objective, in rising order."""
        totals = summed(*(self._fitted_set().kinds()[k] for k in (0, 2)))
        return dict(sorted(totals.items()))

    @property
    def n_trees_by_size_(self) -> dict[int, int]:
        """Number of trees for each number of leaves."""
        _, n_splits, counts = self._fitted_set().kinds()
        return dict(sorted(summed(n_splits + 1, counts).items()))

    @property
    def trees_(self) -> Sequence[Tree]:
        """The trees, best first, then with the fewest tests; made when they are asked for."""
        return TreesOnDemand(self._fitted_set())

    @property
    def tree_objectives_(self) -> NDArray[np.float64]:
        """Objectives of the trees."""
        found = self._fitted_set()
        if found.n_trees > MOST_LISTED:
            raise MemoryError(
                f"The objectives of {found.n_trees} trees are too many for a list; "
                "n_trees_by_objective_ counts them."
            )
        return found.objectives(found.n_trees)

    def __len__(self) -> int:
        """Return the number of trees."""
        return self.n_trees_

    def __getitem__(self, rank: int) -> Any:
        """Return a fitted estimator that predicts by the tree of a rank, 0 for the best."""
        found = self._fitted_set()
        return self._as_estimator(*found.tree(checked_rank(rank, found.n_trees)))

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the fitted estimators, best first."""
        return self.trees()

    def trees(self) -> Iterator[Any]:
        """Iterate over the trees as fitted estimators, best first.

        Each is made when it is asked for, so that one may stop anywhere.

        Yields
        ------
        tree : OptimalTreeClassifier or OptimalTreeRegressor
            The next tree.
        """
        found = self._fitted_set()
        rank = 0
        while rank < found.n_trees:
            yield self._as_estimator(*found.tree(rank))
            rank += 1

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> list[Any]:
        """Draw trees of the set, each with the same probability, with replacement.

        Parameters
        ----------
        n_samples : int, default=1
            Number of trees.

        random_state : int, RandomState or None, default=None
            Determines what is drawn.

        Returns
        -------
        trees : list of OptimalTreeClassifier or OptimalTreeRegressor
            Fitted estimators.
        """
        found, random = self._fitted_set(), check_random_state(random_state)
        ranks = (random_below(found.n_trees, random) for _ in range(n_samples))
        return [self._as_estimator(*found.tree(rank)) for rank in ranks]

    def without(self, features: int | str | Iterable[int | str]) -> Any:
        """Return the best tree of the set that asks about none of some features.

        Parameters
        ----------
        features : int, str or iterable of them
            Indices or names of columns.

        Returns
        -------
        tree : OptimalTreeClassifier or OptimalTreeRegressor
            Fitted. If the set is whole, no better tree exists without these features:
            ``lower_bound_`` is its objective.
        """
        return self.having(without=features)

    def having(
        self,
        condition: Callable[[Any], bool] | None = None,
        *,
        without: int | str | Iterable[int | str] = (),
        monotonic_cst: dict | ArrayLike | None = None,
    ) -> Any:
        """Return the best tree of the set that fulfils some conditions.

        Trees are tried in the order of their objective, so that no better one of the set fulfils
        them. A tree is a partition of the training rows by default (see `distinct_by`): `without`
        chooses the test for each part that does not need these features.

        Parameters
        ----------
        condition : callable or None, default=None
            Takes a fitted estimator, and returns whether its tree is acceptable.

        without : int, str or iterable of them, default=()
            Indices or names of columns that no test may ask about.

        monotonic_cst : dict, array-like of shape (n_features,) or None, default=None
            As in scikit-learn's trees: 1 where the answer must not fall when the feature rises, -1
            where it must not rise, 0 for no constraint. The answer is the mean, or the probability
            of the second of two classes.

        Returns
        -------
        tree : OptimalTreeClassifier or OptimalTreeRegressor
            Fitted. If the set is whole, ``lower_bound_`` is its objective.

        Raises
        ------
        LookupError
            If no tree of the set fulfils the conditions.

        TimeoutError
            If none was found within `time_limit`.
        """
        found, names = self._fitted_set(), self._encoder.feature_names_
        control = new_control(self)
        banned = feature_indices(without, names)
        signs = {}
        if monotonic_cst is not None:
            signs = monotonic_signs(monotonic_cst, names, self._encoder.n_categories_ < 0)
            if len(getattr(self, "classes_", ())) > 2:
                raise ValueError("monotonic_cst needs a regression or two classes.")
        n_tried = 0
        for nodes in found.without(banned, control) if banned else found.in_order(control):
            one = self._as_estimator(*found.made(nodes))
            n_tried += 1
            answers = one.tree_.node_values()[:, -1]
            if is_monotonic(one.tree_, answers, signs) and (condition is None or condition(one)):
                self._prove(one, condition, banned, signs)
                return one
        control.raise_pending()
        if control.stopped:
            raise TimeoutError(
                f"None of the first {n_tried} trees fulfils the conditions; time_limit="
                f"{self.time_limit} does not allow for more."
            )
        raise LookupError(
            f"None of the {found.n_trees} trees of the set fulfils the conditions. A larger "
            "epsilon or n_trees makes the set larger."
        )

    def _prove(self, one, condition, banned, signs):
        """Say what is known of the best tree under some conditions."""
        if self.status_ != "optimal":
            return
        names = self._encoder.feature_names_
        words = [f"without {names[feature]!r}" for feature in banned]
        words += [f"monotonic in {names[feature]!r}" for feature in signs]
        words += ["that fulfil the condition"] * (condition is not None)
        one.optimality_scope_ = ", ".join([self.optimality_scope_, *words])
        one.lower_bound_, one.gap_ = one.objective_, 0.0

    @property
    def feature_reliance_(self) -> NDArray[np.void]:
        """How far the trees of the set rely on each feature.

        A record for each feature: its ``name``; in how many trees it is needed (``verdict``:
        "all", "some" or "none"; ``share``: of the trees); and ``least_importance`` and
        ``largest_importance`` in any tree, as shares of what the tree lowers the objective by. A
        partition that tests of other features make, too, does not need the feature; it counts for
        the largest importance alone.
        """
        found = self._fitted_set()
        if not hasattr(found, "feature_reliance"):
            names = self._encoder.feature_names_
            table = np.zeros(len(names), dtype=RELIANCE_DTYPE)
            for feature, name in enumerate(names):
                n_needing, least, largest = found.reliance(feature)
                share = n_needing / found.n_trees
                verdict = "none" if n_needing == 0 else "some"
                verdict = "all" if n_needing == found.n_trees else verdict
                table[feature] = (str(name), verdict, share, least, largest)
            found.feature_reliance = table
        return found.feature_reliance.copy()

    def disagreement(self, X: TableLike) -> NDArray[np.float64]:
        """Return how the answers of all trees differ for each row.

        The trees are counted by answer, without making them.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_classes) or (n_samples,)
            For classes, the share of the trees that answer each of ``classes_``. For a regression,
            the standard deviation of the answers.
        """
        answers = self._answers_of_all(X)
        if hasattr(self, "classes_"):
            return answers
        return np.sqrt(np.maximum(0.0, answers[:, 1] - answers[:, 0] ** 2))

    def _answers_of_all(self, X):
        found, control = self._fitted_set(), SearchControl()
        parts = [found.answers(block, self._n_threads(), control) for block in self._blocks(X)]
        return np.concatenate(parts)

    def _option_table(self, most_options, most_trees):
        """The trees as an ``OptionTable``; shrunken probabilities depend on the path to a node."""
        by_path = getattr(self, "hierarchical_shrinkage", 0.0) > 0.0
        return self._fitted_set().option_table(most_options, most_trees, by_path=by_path)

    def _fitted_set(self):
        check_is_fitted(self, "_found")
        return self._found

    def _as_estimator(self, tree, objective):
        parameters = self.get_params(deep=False)
        names = self._one_tree().get_params(deep=False)
        one: Any = self._one_tree(
            **{name: parameters[name] for name in names if name in parameters}
        )
        fitted = {k: v for k, v in vars(self).items() if k not in {*parameters, *OF_THE_SET}}
        vars(one).update(fitted)
        one.tree_, one.objective_ = tree, objective
        one.gap_ = one.objective_ - one.lower_bound_
        return one

    def _wanted(self):
        return Wanted(
            self.n_trees,
            self.epsilon,
            self.epsilon_kind == "relative",
            self.distinct_by == "tests",
        )

    def _keep_set(self, plan, solution):
        # The best tree may be proved, and the others not.
        self._keep(plan, solution, gap_is_proof=False)
        self._found = solution.found


def checked_rank(rank, n_trees):
    """A rank as an index from 0."""
    at = operator.index(rank)
    if not -n_trees <= at < n_trees:
        raise IndexError(f"rank must be between 0 and {n_trees - 1}, got {rank}.")
    return at % n_trees


def summed(keys, counts):
    """Counts by key, in the order of the keys."""
    totals: dict = {}
    for key, count in zip(keys.tolist(), counts, strict=True):
        totals[key] = totals.get(key, 0) + count
    return totals


def random_below(n, random):
    """A random whole number below `n`, which may be larger than any integer of numpy."""
    n_bits = max(1, (n - 1).bit_length())
    while True:
        words = random.randint(0, 2**32, size=-(-n_bits // 32), dtype=np.uint64).tolist()
        number = sum(word << (32 * k) for k, word in enumerate(words)) & ((1 << n_bits) - 1)
        if number < n:
            return number


def what_set_is_known(estimator):
    """The result of a search that a limit ended, for its warning."""
    return (
        f"It has found {estimator.n_trees_} trees, which need not be the best ones nor all; the "
        f"objective of the first is {estimator.objective_!r}."
    )
