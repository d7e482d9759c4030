"""From a user's table to what kernels read."""

from sktree_opt.preprocessing._discretizer import MDLPDiscretizer
from sktree_opt.preprocessing._encoder import TableEncoder
from sktree_opt.preprocessing._table import Table

__all__ = ["MDLPDiscretizer", "Table", "TableEncoder"]
