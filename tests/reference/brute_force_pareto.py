"""Every tree's errors by class, by trying them all: what Pareto fronts are checked against."""


def errors_of_all_trees(rows, max_depth, may_be_leaf):
    """Pairs of errors that some tree makes, each with the fewest splits that do.

    Parameters
    ----------
    rows : list of (tuple of 0/1, class, weight)
        The training rows; classes are 0 and 1.

    max_depth : int
        Most tests on a path.

    may_be_leaf : callable
        Whether a list of rows is large enough for a leaf.

    Returns
    -------
    errors : dict
        From (false positives, false negatives) to the number of splits.
    """
    errors = {}
    if may_be_leaf(rows):
        errors[sum(w for _, label, w in rows if label == 0), 0] = 0
        errors[0, sum(w for _, label, w in rows if label == 1)] = 0
    if max_depth == 0 or not rows:
        return errors
    for column in range(len(rows[0][0])):
        sides = [[row for row in rows if row[0][column] == value] for value in (0, 1)]
        first, second = (errors_of_all_trees(side, max_depth - 1, may_be_leaf) for side in sides)
        for (fp, fn), n_splits in first.items():
            for (other_fp, other_fn), n_others in second.items():
                point = fp + other_fp, fn + other_fn
                n_all = n_splits + n_others + 1
                errors[point] = min(n_all, errors.get(point, n_all))
    return errors


def pareto_front(errors, max_splits=None):
    """The pairs, of trees with at most `max_splits`, that no other pair betters in both."""
    allowed = [point for point, n in errors.items() if max_splits is None or n <= max_splits]
    return sorted(
        (fp, fn)
        for fp, fn in allowed
        if not any(p <= fp and q <= fn and (p, q) != (fp, fn) for p, q in allowed)
    )
