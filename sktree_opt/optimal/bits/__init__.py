"""The engine for 0/1 tests, which it keeps as columns of bits (after MurTree).

Problem: given the outcomes of binary tests for each row, find the tree within a depth and a number
of tests whose leaves cost least. Read the files in this order:

- ``_bit_engine.pyx``, ``bit_engine.hpp``: one engine for one fit, for each number type.
- ``build_problem.hpp``, ``bit_problem.hpp``: rows are merged, columns are laid out, costs become
  channels.
- ``bit_search.hpp``: the search (MurTree, Algorithms 1 to 3); ``child_bounds.hpp``, its bounds;
  ``cache.hpp``, what it keeps.
- ``bit_node.hpp``, ``node_maker.hpp``: a node, and how it is made from its parent; ``row_set.hpp``:
  its rows; ``buffer.hpp``: memory for all of them.
- ``discrepancy.hpp``: good trees quickly; ``reconstruct.hpp``: the tree that wins ties.
- ``kernels/``: loops over words and lanes. ``bit_kernels.hpp`` has their arguments, and
  ``compile_bit_kernels.hpp`` compiles them for each instruction set (see ``simd``).
  ``depth_two.hpp`` solves two levels (MurTree, Algorithm 4) from ``pair_counts.hpp``;
  ``rough_squares.hpp`` and ``solve_column.hpp`` do so for targets; ``similarity.hpp`` bounds
  columns; ``transpose.hpp`` turns rows into columns.

The search itself is written in C++, too: it is compiled for three number types, and a node takes
microseconds. ``run._bits_solver`` decides which level and which limited discrepancy comes next.

Terms: a *channel* is a sum over rows that a score reads, such as the weight of a class. A *segment*
is a group of rows that count alike. A *slot* is the place of a row. A *sweep* solves two levels by
counting all pairs of columns. The *base* is the part of the cost that no tree changes.
"""
