"""What cross-validation finds on each fold."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import indexable

from sktree_opt.optimal.estimators._optimal_path import path_of
from sktree_opt.utils._compat import safe_indexing


@dataclass
class ScoredFold:
    """What is found on the training rows of a fold.

    Attributes
    ----------
    scores : ndarray of shape (max_depth + 1, max_splits + 1)
        Score of the optimal tree of every depth and number of tests on the rows left out.

    status : str
        Whether all of them are proved to be optimal.

    stats : dict
        Counters of the search.
    """

    scores: NDArray[np.float64]
    status: str
    stats: dict[str, Any]


def score_fold(model, scorer, X, y, sample_weight, train, test, score_params, costs):
    """Search on some rows and score on others; `costs` are those of the classes of the former."""
    model.set_params(cost_matrix=costs)

    def part(values, rows):
        return None if values is None else safe_indexing(values, rows)

    path = path_of(
        model, safe_indexing(X, train), safe_indexing(y, train), part(sample_weight, train)
    )
    X_test, y_test = safe_indexing(X, test), safe_indexing(y, test)
    score_params = {name: part(*indexable(value), test) for name, value in score_params.items()}
    scores = []
    for tree in path.trees:
        model.tree_ = tree
        scores.append(scorer(model, X_test, y_test, **score_params))
    return ScoredFold(
        np.array(scores, dtype=np.float64)[path.tree_index], path.status, path.search_stats
    )


def summed(stats):
    """Sums of the counters of several searches; other entries are left out."""
    names = [name for name, value in stats[0].items() if isinstance(value, (int, float))]
    return {name: sum(one.get(name, 0) for one in stats) for name in names}
