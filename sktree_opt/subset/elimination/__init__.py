"""Backward elimination: start from all features and remove the one whose removal is best.

Reading order:

- ``elimination.hpp``: the steps, and the rules for ties and for the end.
- ``dtsbe.hpp``: DTsbe, which grows again only what a removal changes.
- ``sbe.hpp``: SBE and PSBE, which grow every tree anew, for comparison.
- ``_backward.pyx``: the choice of the method, and the steps as an iterator.
"""
