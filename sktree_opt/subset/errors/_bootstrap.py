"""The .632 bootstrap."""

import numpy as np
from sklearn.utils import check_random_state

from sktree_opt.subset.errors._parts import EstimatePart, make_part


class BootstrapError:
    """The .632 bootstrap: out-of-bag error of resampled trees, and training error of one tree.

    R. Kohavi, "A study of cross-validation and bootstrap for accuracy estimation and model
    selection", IJCAI 1995, section 3.2.
    """

    splits_rows = False
    OUT_OF_BAG_SHARE = 0.632

    def parts(self, request):
        """`n_bootstraps` resampled parts, and one of all rows."""
        rng = check_random_state(request.random_state)
        n_rows = len(request.y)
        rows = np.arange(n_rows)
        resampled = []
        for _ in range(request.n_bootstraps):
            counts = np.bincount(rng.randint(n_rows, size=n_rows), minlength=n_rows)
            build, out_of_bag = np.flatnonzero(counts), np.flatnonzero(counts == 0)
            if not np.any(request.weights[out_of_bag]) or not np.any(request.weights[build]):
                continue
            part = make_part(request, build, out_of_bag)
            share = self.OUT_OF_BAG_SHARE / part.search_weights.sum()
            resampled.append(
                EstimatePart(
                    build,
                    part.build_weights * counts[build],
                    out_of_bag,
                    part.search_weights * share,
                )
            )
        if not resampled:
            raise ValueError(f"{n_rows} rows leave none out of a bootstrap sample.")
        of_one = 1.0 / len(resampled)
        parts = [
            EstimatePart(p.build_rows, p.build_weights, p.search_rows, p.search_weights * of_one)
            for p in resampled
        ]
        share = (1.0 - self.OUT_OF_BAG_SHARE) / request.weights.sum()
        parts.append(EstimatePart(rows, request.weights, rows, request.weights * share))
        return parts
