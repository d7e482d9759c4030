"""The error on the rows that a tree is grown on."""

import numpy as np

from sktree_opt.subset.errors._parts import make_part


class TrainingError:
    """The error on the rows that the tree is grown on."""

    splits_rows = False

    def parts(self, request):
        """One part that grows on all rows and is tried on all rows."""
        rows = np.arange(len(request.y))
        return [make_part(request, rows, rows)]
