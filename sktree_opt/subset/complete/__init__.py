"""Searches over all feature subsets: every distinct tree, or a best one with proof.

Reading order:

- ``_subsets.py``: Algorithm 1 of the paper, all subsets.
- ``dtdistinct.hpp``: DTdistinct and DTaccept as published (Algorithms 2 to 4).
- ``on_demand.hpp``: our search. It decides about a feature when a node asks for it, and meets every
  distinct tree once; with lower bounds on the error of all trees that the decisions leave.
- ``complete.hpp``: rounds of sub-searches on several threads.
- ``_streams.pyx``: the searches as Python iterators; ``_complete_run.py`` runs them on threads or
  on the workers of joblib; ``_collection.py`` keeps the best trees found.
"""
