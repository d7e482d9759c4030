"""From a user's table to what kernels read.

In reading order: ``_columns`` reads one column of any container, ``_encoder`` a whole table, fitted
once and applied to new rows. ``_table`` surveys a matrix of numbers, and ranks each column: its
values become codes (``ranked_column.hpp``). ``_times`` makes numbers of dates. ``_binary_tests``
lists the tests of a table and packs their outcomes with ``_bits`` (``bits.hpp``); ``_thresholds``
chooses among them. ``_discretizer``, ``_mdlp`` and ``mdlp.hpp`` put thresholds where the classes
change. ``_combiner`` adds columns that combine others.

A *code* is the rank of a number among the values of its column, or the number of a category. A
*test* is a question with two answers about one column.
"""

from sktree_opt.preprocessing._combiner import ColumnCombiner
from sktree_opt.preprocessing._discretizer import MDLPDiscretizer

__all__ = ["ColumnCombiner", "MDLPDiscretizer"]
