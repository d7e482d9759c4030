"""What a search keeps for the next fit on the same data."""

import hashlib

import numpy as np


class KeptSearch:
    """The search of an estimator's last fit.

    A fit takes it out and puts it back when it is done, so that two fits never share one. Copies
    and pickles begin empty: a cache is worth no file, and none may serve two estimators.
    """

    def __init__(self):
        self._stored = None

    def take(self, fingerprint):
        """Control, search and whatever else was kept for this fingerprint; None for others."""
        stored, self._stored = self._stored, None
        return stored[1:] if stored is not None and stored[0] == fingerprint else None

    def keep(self, fingerprint, *search):
        """Put a search back."""
        self._stored = (fingerprint, *search)

    def __reduce__(self):
        return KeptSearch, ()


def fingerprint(problem, *settings):
    """Digest of all that a cache depends on: tests, rows, objective, minima, memory, `settings`."""
    tests, form, limits = problem.tests, problem.leaf_form, problem.limits
    digest = hashlib.blake2b(digest_size=16)
    arrays = [
        getattr(tests, name)
        for name in ("bits", "kind", "feature", "threshold", "category", "missing_branch")
    ]
    arrays += [problem.y, problem.weights, form.class_channels, form.class_mass]
    for array in arrays:
        if array is not None:
            digest.update(repr((array.shape, array.dtype)).encode())
            digest.update(np.ascontiguousarray(array).data)
    numbers = {k: v for k, v in vars(form).items() if not isinstance(v, np.ndarray)}
    minima = (limits.min_samples_leaf, limits.min_weight_leaf, limits.memory_limit)
    digest.update(repr((numbers, minima, settings)).encode())
    return digest.digest()
