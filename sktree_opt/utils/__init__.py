"""Shared tools of all folders; only ``all_estimators`` is public, for tests and documentation.

Files in reading order:

- ``_validation.py``: the checks of ``fit``, and ``TrainingData``, what they leave for the kernels.
- ``_params.py``: the shared parameters: checks, documentation, units.
- ``_fitting.py``: the frame of a fit: Ctrl-C, undoing, callbacks.
- ``_control.pyx``, ``control.hpp``: limits of a search, and how it is told to stop.
- ``_team.pyx``, ``team.hpp``: the threads; ``_workers.py``: the workers of other machines.
- ``_checkpoint.py``: the state of a search in a file.
- ``_equal_rows.py``, ``hash.hpp``, ``upper_errors.hpp``, ``switches.hpp``: groups of equal rows,
  hashes, C4.5's estimate of errors, and names of techniques to switch off.
- ``_compat.py``: all private names of scikit-learn.
- ``_typing.py``: types of the public interface.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

from sklearn.base import BaseEstimator

import sktree_opt

__all__ = ["all_estimators"]


def public_modules() -> list[ModuleType]:
    """Return the modules whose ``__all__`` is the public interface.

    Returns
    -------
    modules : list of module
        The package itself and its public sub-packages, by name.
    """
    names = ["sktree_opt"]
    names += [
        info.name
        for info in pkgutil.iter_modules(sktree_opt.__path__, "sktree_opt.")
        if info.ispkg and not info.name.rpartition(".")[2].startswith("_")
    ]
    return [importlib.import_module(name) for name in sorted(names)]


def all_estimators() -> list[tuple[str, type[BaseEstimator]]]:
    """Return the public estimators.

    Returns
    -------
    estimators : list of (str, type)
        Name and class of each estimator that a public module lists in ``__all__``, by name.

    Examples
    --------
    >>> from sktree_opt.utils import all_estimators
    >>> all(name == estimator.__name__ for name, estimator in all_estimators())
    True
    """
    found = {
        name: value
        for module in public_modules()
        for name in getattr(module, "__all__", ())
        if inspect.isclass(value := getattr(module, name))
        and issubclass(value, BaseEstimator)
        and not inspect.isabstract(value)
    }
    return sorted(found.items())
