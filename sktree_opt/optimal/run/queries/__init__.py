"""Questions with several limits: paths, rankings, two kinds of errors, group fairness.

``_path``
    The optimum for every depth and number of splits.
``_rankings``
    One tree, the first by an order of error, C4.5's estimate, size and depth (DL8).
``_ranked_set``
    The k first trees by such an order.
``_pair_solver``
    Optima where two sums over leaves matter: an objective and C4.5's estimate.
``_fair``
    The least error of the trees whose answers differ little between groups.
"""
