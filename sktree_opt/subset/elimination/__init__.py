"""Backward elimination: start from all features and remove the one whose removal is best.

Reading order: ``elimination.hpp`` (the steps, and the rules for ties and for the end),
``dtsbe.hpp`` (DTsbe: only what a removal changes is grown again), ``sbe.hpp`` (SBE and PSBE: every
tree is grown anew, for comparison), ``backward.hpp`` (the choice of the method) and
``_backward.pyx``.
"""
