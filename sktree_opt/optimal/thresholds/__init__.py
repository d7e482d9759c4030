"""The engine for every threshold of numeric columns, by ranks (after ConTree).

Problem: find the tree within a depth and a number of tests whose leaves cost least, where a test is
any threshold of a numeric column, any category, or "is it missing?". Read the files in this order:

- ``_threshold_search.pyx``, ``threshold_problem.hpp``: the input and the answer.
- ``root_search.hpp``: levels, rounds and threads at the root; the bound for few leaves.
- ``subtree_solver.hpp``: the search below one test (the paper's CT), and branch and bound over the
  root tests of one node; ``intervals.hpp``: the paper's three prunings.
- ``node_rows.hpp``, ``column_tests.hpp``: the rows of a node, and its tests; ``limits.hpp``: time
  and memory.
- ``depth_two_passes.hpp``, ``pass_runner.hpp``: two levels by passes over the rows;
  ``stump.hpp``, ``absolute.hpp``: one level.
- ``few_values/``: where columns have few values, squared errors and errors of two classes from
  tables of pairs of columns (``pair_layout.hpp``), which ``rough_tables.hpp`` sums approximately
  and ``value_sweep.hpp`` exactly.
- ``kernels/``: passes over rows. ``threshold_kernels.hpp`` has their arguments, and
  ``compile_threshold_kernels.hpp`` compiles them for each instruction set (see ``simd``).
  ``traverse_columns.hpp`` is what ``two_class_pass.hpp``, ``multi_class_pass.hpp`` and
  ``squares_pass.hpp`` share; ``rough_pair_scores.hpp`` belongs to ``few_values``.

Rounds at the root are written in C++, too: with few rows a round takes microseconds.
``run._thresholds_solver`` decides which level comes next and for how long.

Terms: the *column tests* are the tests of one column with missing values on one side. They are a
*chain* if their left sides grow with the *position*, the place in their order. A *pass* solves
BATCH root tests at once, one for each *lane*. A *column bound* is a lower bound for all trees whose
root tests a column.
"""
