"""Error estimates: on which rows trees are grown, and on which they are tried.

An estimate is a list of parts (``_parts.py``). A part grows DT(S) on its building rows and counts
the weight of its search rows that the tree gets wrong. The error of S is the sum over the parts
divided by the weight of all search rows. The trees of the parts are treated like subtrees of one
tree, so that everything the searches know about a tree (Lemma 6, shared subtrees, bounds at nodes)
holds for any list of parts.

The estimates are ``_search.py``, ``_training.py``, ``_cross_validation.py``, ``_bootstrap.py`` and
``_pessimistic.py``; ``_scoring.py`` rates trees by any of scikit-learn's scores.

To add an estimate, write a class with ``_make_parts`` in a file of its own, name the file here, and
add a line to ``ERROR_ESTIMATES``.

Terms: *building rows* grow a tree, *search rows* rate it.
"""

from sktree_opt.subset.errors._bootstrap import BootstrapError
from sktree_opt.subset.errors._cross_validation import CrossValidationError
from sktree_opt.subset.errors._parts import ErrorEstimate
from sktree_opt.subset.errors._pessimistic import PessimisticTrainingError
from sktree_opt.subset.errors._search import SearchError
from sktree_opt.subset.errors._training import TrainingError

ERROR_ESTIMATES: dict[str, type[ErrorEstimate]] = {
    "search": SearchError,
    "training": TrainingError,
    "cross_validation": CrossValidationError,
    "bootstrap": BootstrapError,
    "pessimistic": PessimisticTrainingError,
}


def estimate_of(error):
    """The estimate that a selector's `error` means; None for a function."""
    if isinstance(error, str):
        return ERROR_ESTIMATES[error]()
    return error if isinstance(error, ErrorEstimate) else None
