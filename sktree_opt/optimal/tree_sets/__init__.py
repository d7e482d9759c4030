"""The engine that keeps several trees at each node: Pareto fronts and the k best.

Problem: find all trees that no other tree betters in two kinds of errors, or the k best trees,
within a depth and a number of 0/1 tests. Read the files in this order:

- ``_pareto.pyx``, ``_k_best.pyx``: the two searches, as Python sees them; ``_bit_rows.py``: their
  table.
- ``set_search.hpp``: the search over row sets (after DL8), for any algebra.
- ``pareto.hpp``, ``k_best.hpp``: the two algebras: what a set holds, and what it may drop.
- ``set_rows.hpp``: the rows of a node as bit columns, and counts of pairs of columns.

Terms: an *algebra* says which trees of a node are kept, and how the sets of two children combine.
"""
