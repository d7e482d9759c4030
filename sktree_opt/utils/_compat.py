"""Every private name of scikit-learn that the package uses, in one place."""

from sklearn.base import _fit_context as fit_context
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils._param_validation import HasMethods, Hidden, Interval, Options, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

try:
    # Public but experimental in scikit-learn 1.9: it may change without a deprecation.
    from sklearn.callback import CallbackSupportMixin
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks: no callback can be set."""


__all__ = [
    "CallbackSupportMixin",
    "HasMethods",
    "Hidden",
    "Interval",
    "Options",
    "StrOptions",
    "check_sample_weight",
    "fit_context",
    "n_threads_for",
]


def n_threads_for(n_jobs):
    """Number of OpenMP threads that scikit-learn's ``n_jobs`` stands for.

    None means one thread; a negative number counts back from the number of cores, which
    OMP_NUM_THREADS and threadpoolctl limit.
    """
    return 1 if n_jobs is None else _openmp_effective_n_threads(n_jobs)
