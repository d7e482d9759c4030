"""The base of the sets of best trees: they are sequences of fitted trees."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sktree_opt.optimal.estimators._base import DOCS, BaseOptimalTree
from sktree_opt.optimal.run._best_trees import Wanted
from sktree_opt.tree import Tree
from sktree_opt.utils._compat import Interval, StrOptions
from sktree_opt.utils._params import document_shared
from sktree_opt.utils._typing import RandomState

# Attributes of the set that a single tree does not have.
OF_THE_SET = ("_found", "_kept_search")

# Objectives of more trees are not listed.
MOST_LISTED = 10**8

DOCS_OF_SETS = {
    "n_trees": """\
n_trees : int or None, default=None
    Maximum number of trees. None means all that are within `epsilon`, or 10 without it.""",
    "epsilon": """\
epsilon : float or None, default=None
    How much larger the objective of a tree may be than that of the best one. None means no limit.

epsilon_kind : {"relative", "absolute"}, default="relative"
    Whether `epsilon` is a share of the best objective, or an amount in its units.

distinct_by : {"partitions", "tests"}, default="partitions"
    When two trees are different. "partitions": when they part the training rows differently at some
    node. Tests with the same outcome on a node's rows count as one, and a test over two leaves that
    does not lower their cost makes no tree of its own. "tests": when they have different tests at
    some node; each test has rows on both sides.""",
    "the_set": """\
n_trees_ : int
    Number of trees of the set.

n_trees_by_objective_ : dict
    Number of trees for each objective, in rising order.

n_trees_by_size_ : dict
    Number of trees for each number of leaves.

trees_ : sequence of Tree
    The trees, best first, then with the fewest tests. Each is made when it is asked for.

tree_objectives_ : ndarray of shape (n_trees_,)
    Their objectives. They are rounded to about eleven digits of what a single leaf costs.""",
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
        "n_trees": [Interval(Integral, 1, None, closed="left"), None],
        "epsilon": [Interval(Real, 0, None, closed="left"), None],
        "epsilon_kind": [StrOptions({"relative", "absolute"})],
        "distinct_by": [StrOptions({"partitions", "tests"})],
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
        return summed(*(self._fitted_set().kinds()[k] for k in (0, 2)))

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
