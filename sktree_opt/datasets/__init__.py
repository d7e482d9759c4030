"""Small tables that ship with the package, for examples and tests.

``_restaurant.py`` and ``_loans.py`` hold one each; ``_bunch.py`` returns a table as scikit-learn's
datasets do.
"""

from sktree_opt.datasets._loans import load_loans
from sktree_opt.datasets._restaurant import load_restaurant

__all__ = ["load_loans", "load_restaurant"]
