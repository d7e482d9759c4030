"""C4.5's estimate of the error from the training rows."""

from sktree_opt.subset.errors._training import TrainingError


class PessimisticTrainingError(TrainingError):
    """C4.5's estimate: the training errors of each leaf, raised to an upper confidence limit.

    J. R. Quinlan, "C4.5: Programs for Machine Learning", 1993, section 4.2. The errors and cases of
    a leaf are those of the growing, fractional cases included; no row is sent down the tree.
    """
