"""Every private name of scikit-learn and joblib that the package uses, in one place."""

import os
import warnings
from collections.abc import Callable
from functools import lru_cache
from inspect import signature
from typing import Any, TypeVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.tree._tree import NODE_DTYPE as SKLEARN_NODE_DTYPE
from sklearn.tree._tree import Tree as SklearnTree
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils._param_validation import (
    HasMethods,
    Hidden,
    Interval,
    Options,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils._param_validation import validate_params as _validate_params
from sklearn.utils.metadata_routing import _raise_for_params as raise_for_params
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

from sktree_opt.utils._team import has_openmp

try:
    # Public but experimental in scikit-learn 1.9: it may change without a deprecation.
    from sklearn.callback import CallbackSupportMixin
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks: no callback can be set."""


class DocLinkMixin:
    """Link to the estimator's page in the reference; scikit-learn reads both attributes."""

    _doc_link_module = "sktree_opt"
    _doc_link_template = (
        "https://sktree-opt.readthedocs.io/en/latest/api/generated/"
        "{estimator_module}.{estimator_name}.html"
    )


class CheckedOnceMixin:
    """Checks each combination of parameters once: a check takes as long as a search of few rows."""

    def _validate_params(self):
        cls = type(self)
        values = [getattr(self, name) for name in names_of_parameters(cls)]
        if all(type(value) in PLAIN_TYPES for value in values):
            check_plain_parameters(cls, *values)
        else:
            super()._validate_params()


# Values of these types are all there is to check, and hold nothing that lives as long as the cache.
PLAIN_TYPES = frozenset((bool, int, float, str, type(None)))


@lru_cache(maxsize=64)
def names_of_parameters(cls):
    """Names of an estimator's parameters, which scikit-learn reads anew each time."""
    return tuple(cls._get_param_names())


@lru_cache(maxsize=256, typed=True)
def check_plain_parameters(cls, *values):
    """Raise if a value is not allowed; it is asked again then."""
    parameters = dict(zip(names_of_parameters(cls), values, strict=True))
    validate_parameter_constraints(cls._parameter_constraints, parameters, cls.__name__)


__all__ = [
    "SKLEARN_NODE_DTYPE",
    "CallbackSupportMixin",
    "CheckedOnceMixin",
    "DocLinkMixin",
    "HasMethods",
    "Hidden",
    "Interval",
    "Options",
    "RealNotInt",
    "StrOptions",
    "accepts_weights",
    "begin_callbacks",
    "check_feature_names_in",
    "check_sample_weight",
    "drop_callbacks",
    "fit_context",
    "make_sklearn_tree",
    "n_threads_for",
    "n_workers_of",
    "output_of",
    "raise_for_params",
    "routing_enabled",
    "safe_indexing",
    "validate_parameter_constraints",
    "validate_params",
]

Function = TypeVar("Function", bound=Callable[..., Any])


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Function], Function]:
    """scikit-learn's decorator of ``fit``; the signature stays visible to type checkers."""
    return _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)


def validate_params(
    constraints: dict[str, Any], *, prefer_skip_nested_validation: bool
) -> Callable[[Function], Function]:
    """The same for functions."""
    return _validate_params(
        constraints, prefer_skip_nested_validation=prefer_skip_nested_validation
    )


class _Process:
    """What is known of this process."""

    is_forked = False
    has_warned = False

    @classmethod
    def note_fork(cls):
        cls.is_forked, cls.has_warned = True, False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Process.note_fork)


def is_forked(n_jobs):
    """Whether a fork made this process; warns once that it runs one thread instead of `n_jobs`."""
    if _Process.is_forked and not _Process.has_warned:
        _Process.has_warned = True
        warnings.warn(
            f"n_jobs={n_jobs} is taken for 1 in a forked process, where threads would wait forever "
            "for those of the parent. Use the start method 'spawn' or 'forkserver', or joblib's "
            "default backend.",
            RuntimeWarning,
            stacklevel=2,
        )
    return _Process.is_forked


def n_threads_for(n_jobs):
    """Number of OpenMP threads that scikit-learn's ``n_jobs`` means.

    None means one thread; a negative number counts back from the number of cores, which
    OMP_NUM_THREADS and threadpoolctl limit. In a process made by a fork, it is always one.
    """
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning: give a number of threads, or -1 for all.")
    n_threads = 1 if n_jobs is None else _openmp_effective_n_threads(n_jobs)
    return 1 if n_threads == 1 or is_forked(n_jobs) or not has_openmp() else n_threads


def n_workers_of(parallel):
    """Number of workers of an open ``Parallel``."""
    return max(1, parallel._effective_n_jobs())


def begin_callbacks(estimator):
    """The context of an estimator's callbacks in one fit; None if it has no callbacks."""
    if not getattr(estimator, "_skl_callbacks", None):
        return None
    return estimator._init_callback_context(max_subtasks=None)


def drop_callbacks(estimator):
    """Undo ``set_callbacks``."""
    vars(estimator).pop("_skl_callbacks", None)


def output_of(transformer):
    """The container that ``set_output`` asked for, or None."""
    return getattr(transformer, "_sklearn_output_config", {}).get("transform")


def accepts_weights(scorer):
    """Whether a scorer takes ``sample_weight``; of several, whether one does."""
    if hasattr(scorer, "_accept_sample_weight"):
        return scorer._accept_sample_weight()
    return "sample_weight" in signature(scorer).parameters


def make_sklearn_tree(nodes, values, n_features, n_classes, depth):
    """scikit-learn's ``Tree`` made of node records and values of shape (n_nodes, 1, n_classes)."""
    arguments = [n_features, np.array([n_classes], dtype=np.intp), 1]
    try:
        tree = SklearnTree(*arguments)
    except TypeError:
        # Later versions are also told the number of categories of each feature: none has any.
        tree = SklearnTree(*arguments, np.full(n_features, -1, dtype=np.intp))
    tree.__setstate__(
        {
            "max_depth": depth,
            "node_count": len(nodes),
            "nodes": nodes,
            "values": np.ascontiguousarray(values, dtype=np.float64),
        }
    )
    return tree
