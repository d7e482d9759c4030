"""The engine for sets of trees: Pareto fronts, and graphs of all trees within a bound.

Problem: find all trees that no other tree betters in two kinds of errors, or all trees that cost no
more than a bound, within a depth and a number of 0/1 tests. Read the files in this order:

- ``_set_search.pyx``, ``_tree_graph.pyx``: the searches, as Python sees them; ``_bit_rows.py``:
  their table.
- ``set_rows.hpp``: the rows of a node as bit columns, counts of pairs of columns, and the cache.
- ``tree_graph.hpp``: a graph of trees, and what is counted in it; ``graph_search.hpp``: the search
  that makes it; ``graph_sums.hpp``: sums over its trees; ``leaf_costs.hpp``: what leaves
  cost, and the best trees of two levels.
- ``set_search.hpp``: the search for the trees of every node that no other betters in two sums
  (after DL8); ``pareto.hpp``: the errors of two classes; ``two_sums.hpp``: any two sums, within a
  bound.

Terms: a *graph* has a node for each set of rows that trees reach, and an *option* of a node is a
test of it. A *class* of a node is its trees of one cost and one shape.
"""
