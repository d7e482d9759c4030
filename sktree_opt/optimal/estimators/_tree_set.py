"""The base of the sets of best trees: they are sequences of fitted trees."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sktree_opt.optimal.estimators._base import BaseOptimalTree
from sktree_opt.tree import Tree
from sktree_opt.utils._compat import Interval

# Attributes of the set that a single tree does not have.
OF_THE_SET = ("trees_", "tree_objectives_", "_kept_search")


class BaseTreeSet(BaseOptimalTree):
    """A fitted set: ``model[k]`` is the tree of rank `k`, fitted."""

    trees_: list[Tree]
    tree_objectives_: NDArray[np.float64]

    _parameter_constraints: ClassVar[dict] = {
        **BaseOptimalTree._parameter_constraints,
        "n_trees": [Interval(Integral, 1, None, closed="left")],
    }

    # The estimator of one tree.
    _one_tree: ClassVar[type[BaseOptimalTree]]

    def __len__(self) -> int:
        """Return the number of trees found."""
        check_is_fitted(self)
        return len(self.trees_)

    def __getitem__(self, rank: int) -> Any:
        """Return a fitted estimator that predicts by the tree of a rank, 0 for the best."""
        n_trees, at = len(self), operator.index(rank)
        if not -n_trees <= at < n_trees:
            raise IndexError(f"rank must be between 0 and {n_trees - 1}, got {rank}.")
        at %= n_trees
        parameters = self.get_params(deep=False)
        names = self._one_tree().get_params(deep=False)
        one: Any = self._one_tree(
            **{name: parameters[name] for name in names if name in parameters}
        )
        fitted = {k: v for k, v in vars(self).items() if k not in {*parameters, *OF_THE_SET}}
        vars(one).update(fitted)
        one.tree_ = self.trees_[at]
        one.objective_ = float(self.tree_objectives_[at])
        one.gap_ = one.objective_ - one.lower_bound_
        return one

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the fitted estimators, best first."""
        return (self[rank] for rank in range(len(self)))

    def _keep_set(self, plan, solution):
        # The best tree may be proved, and the others not.
        self._keep(plan, solution, gap_is_proof=False)
        self.trees_ = [self.tree_, *(tree for tree, _ in solution.ranked)]
        self.tree_objectives_ = np.array([self.objective_, *(cost for _, cost in solution.ranked)])


def what_set_is_known(estimator):
    """The result of a search that a limit ended, for its warning."""
    return (
        f"It has found {len(estimator.trees_)} trees, which need not be the best ones; the "
        f"objective of the first is {estimator.objective_!r}."
    )
