"""From a table and an objective to a proved tree: the only room that knows the engines.

A fit goes through these modules in this order; none calls back into an earlier one:

``_problem``
    ``Problem`` (rows, objective, limits) and ``Solution`` (tree, cost, bound, status): frozen
    records.
``_plan``
    ``make_plan`` chooses the engine and makes what it reads: binary tests, or ranks.
``_session``
    ``Session`` is what searches share with the fit: the clock, Ctrl-C, callbacks, and the search
    that the last fit has kept.
``_run``
    ``find_tree`` is one tree. The other questions are ``_best_trees.find_best_trees`` and those of
    ``queries``.
``_look_ahead``
    The first tree over all thresholds, in polynomial time.
``_bits_solver``, ``_thresholds_solver``, ``_metric``
    Each drives an engine: levels, limited discrepancy, rounding of sums, fronts. ``_f1`` needs no
    front: it asks for the least cost a few times.
``_found_trees``
    The trees of a set, each made when it is asked for.
``_one_column``
    A table of one numeric column needs no engine: its best division into intervals is found here.
``_fallback``
    The answer of a search that is stopped early.
``_trees``
    The rows in each node of a tree, its cost by these rows, its prunings, and the immutable
    ``Tree``.

Terms: a *level* is the proof for all trees up to a depth. A *discrepancy* is a node at which a tree
differs from the greedy one. A *short search* by the bits engine finds a good tree for another
search. A *bound* is a cost that no tree is below. *Splits* are the tests of a tree, one fewer than
its leaves.
"""
