"""The case sets that the trees of all feature subsets have in common.

Problem: grow DT(S) for many subsets S on the same rows. The split of a node depends on its cases
alone, so the features are ranked once for each case set, and DT(S) takes the first feature of each
ranking that is in S.

Reading order:

- ``_subset_problem.pyx``, ``subset_problem.hpp``: what a search reads; ``_units.py`` chooses the
  unit in which errors are counted as whole numbers.
- ``lattice.hpp``: case nodes, how they are found again, and their rankings, on one thread or
  several.
- ``node_growth.hpp``: how the features of one case set are ranked. It uses ``order_index.hpp``
  (cases in the order of a column without sorting) and ``equal_cases.hpp`` (equal cases merged).
- ``tree_traversal.hpp``: the error, size and features of DT(S).
"""
