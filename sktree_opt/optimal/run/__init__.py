"""From a table and an objective to a proved tree: the only room that knows the engines.

A fit goes through these modules in this order; none calls back into an earlier one:

``_problem``
    ``Problem`` (rows, objective, limits) and ``Solution`` (tree, cost, bound, status): records that
    nobody changes.
``_plan``
    ``make_plan`` chooses the engine and makes what it reads: binary tests, or ranks.
``_session``
    ``Session`` is what searches share with the fit: the clock, Ctrl-C, callbacks, and the search
    that the last fit has kept.
``_run``
    ``find_tree`` is one tree. The other questions are ``_k_best.find_best_trees``,
    ``_smallest.find_smallest_tree`` and ``_path.find_path``.
``_bits``, ``_thresholds``, ``_metric``
    Each drives an engine: levels, dives, rounding of sums, fronts.
``_look``
    What a search that is stopped answers instead.
``_trees``
    What reaches the nodes of a tree, its cost by the rows themselves, its prunings, and the
    immutable ``Tree``.

Terms: a *level* is the proof of all trees up to a depth; a *dive* finds a good tree of full depth
by limited discrepancy; a *look* is a short search by the bits engine whose tree serves another
search; a *bound* is a cost that no tree goes below; *splits* are tests of a tree, one fewer than
its leaves.
"""
