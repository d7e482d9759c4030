"""The input of the subset searches: a table, the rules of a greedy learner, an error estimate."""

import numpy as np
from scipy.special import ndtri

from sktree_opt.greedy._grow cimport CppWeightKind, kind_of_weights, set_learner

from sktree_opt.subset.lattice._units import MAX_UNITS, choose_unit

LOSSES = {"squared_error": CppLoss.SQUARED, "absolute_error": CppLoss.ABSOLUTE}
LOSS_POWERS = {"squared_error": 2, "absolute_error": 1}
# Losses of numbers have no common divisor. The unit is this power of 2 below the loss of always
# answering the mean: finer than any difference that matters, and coarser than the rounding of a
# loss, so that trees of equal error tie.
BITS_OF_NUMBERS = 46
# The largest sum of losses there can be, so far that sums of costs do not overflow.
MAX_BITS_OF_NUMBERS = 58

# The unit of a callback's error, as a share of its scale: finer than any difference that matters.
cdef double CALLBACK_UNIT = 2.0**-40

# How the cases of a node are read.
RULES_OF_READING = {
    "order_index": (32, 10),
    "merge_equal": (0.5, 10),
    "reads_cuts": True,
}
# Besides those of growing (``greedy._grow.RULES``).
RULES = RULES_OF_READING | {
    "confidence": None,
    "costs": None,
    "loss": "squared_error",
    "groups": None,
    "kept": (),
    "has_penalty": False,
}


def as_number(answer):
    """The number that the function given as error returned."""
    try:
        return float(answer)
    except (TypeError, ValueError):
        raise TypeError(f"The function given as error returned {answer!r}, not a number.") from None


cdef int64_t rate_tree(void* context, const int32_t* features, size_t n_features) noexcept with gil:
    """Call the function given as error; an exception ends the search and is raised after it."""
    cdef SubsetProblem problem = <SubsetProblem> context
    cdef size_t i
    try:
        answer = problem.callback(np.array([features[i] for i in range(n_features)], int))
        error = as_number(answer)
        largest = 2.0**60 * problem.cpp.cost_unit
        if not np.isfinite(error) or abs(error) > largest:
            raise ValueError(
                f"The function given as error returned {error}; a finite number is needed, of at "
                f"most {largest:g} in size."
            )
        return round(error / problem.cpp.cost_unit)
    except StopIteration as raised:
        # It would be taken for the end of the search.
        problem.callback_error = RuntimeError("The function given as error raised StopIteration.")
        problem.callback_error.__cause__ = raised
        problem.control.request_stop()
        return 0
    except BaseException as raised:
        problem.callback_error = raised
        problem.control.request_stop()
        return 0


cdef class SubsetProblem:
    """Case sets, search rows and costs of an error estimate over the subsets of some columns.

    Parameters
    ----------
    table : Table
        All rows, of all parts.

    y : ndarray of int or float
        Class codes, or numbers.

    n_classes : int
        0 for a regression target.

    parts : list of EstimatePart
        The trees of the estimate (see ``errors``).

    measure : int
        A value of ``greedy._grow.MEASURES``.

    nominal_split : int
        A value of ``greedy._grow.NOMINAL_SPLITS``.

    confidence : float or None
        Of C4.5's error bound; None to count errors on search rows.

    costs : ndarray of shape (n_classes, n_classes) or None
        What an answer costs, actual class by row; None if all wrong answers cost 1.

    loss : {"squared_error", "absolute_error"}, default="squared_error"
        What a number costs that a regression tree answers.

    groups : list of ndarray of int or None
        Columns that are kept or dropped together; those that are in none are on their own.

    kept : array-like of int
        Columns that every subset has; their groups are kept as a whole.

    has_penalty : bool
        Whether costs are to be fine enough for penalties.

    order_index : tuple of int or None
        Minimum number of values of a column, and of cases of a node, for which the cases are read
        in the order of the column; None for no column.

    merge_equal : tuple
        Two limits within which equal cases are merged: the maximum share of the rows whose value
        is not the most frequent one of the column, and the minimum number of cases of a node.

    reads_cuts : bool
        Whether cuts of two classes are read off the order of the column.

    **rules
        ``greedy._grow.RULES`` that are not the default.
    """

    def __init__(self, Table table not None, y, n_classes, parts, **rules):
        growth = {name: rules.pop(name) for name in rules.keys() - RULES.keys()}
        rules = {**RULES, **rules}
        rules["kept"] = [int(column) for column in rules["kept"]]
        self.recipe = {"y": np.asarray(y), "n_classes": n_classes, "parts": list(parts)}
        self.recipe |= rules | growth
        self.table, self.cpp.n_rows = table, table.n_rows
        self.target = set_learner(
            &self.cpp.induction, table, y, n_classes, rules["costs"], growth
        )
        self._set_reading(**{name: rules[name] for name in RULES_OF_READING})
        if n_classes == 0:
            self.cpp.loss = LOSSES[rules["loss"]]
        if rules["costs"] is not None:
            self.cpp.largest_loss = max(np.max(rules["costs"]), 1e-300)
        self._set_units(rules["groups"])
        self._keep(rules["kept"])
        self._set_costs(parts, rules["confidence"])
        heaviest = 1.0
        for part in parts:
            heaviest = max(heaviest, self._add_part(part))
        self.cpp.induction.prepare(int(heaviest))

    def _set_reading(self, order_index, merge_equal, bint reads_cuts):
        """Tell the kernels in which ways they may read the cases of a node."""
        cdef MergeRules* merging = &self.cpp.merge_rules
        if order_index is None:
            self.cpp.order_rules.max_bytes = 0
        else:
            self.cpp.order_rules.min_values, self.cpp.order_rules.min_cases = order_index
        merging.max_rare, merging.min_cases = merge_equal
        self.cpp.reads_cuts = reads_cuts

    def _set_units(self, groups):
        """Number the groups, and the columns that are in none, by their first columns."""
        units = [] if groups is None else [sorted(set(map(int, group))) for group in groups]
        grouped = {column for unit in units for column in unit}
        units += [[j] for j in range(self.table.n_columns) if j not in grouped]
        units.sort()
        self.cpp.units = units
        self.cpp.unit_of.resize(self.table.n_columns)
        for number, unit in enumerate(units):
            for column in unit:
                self.cpp.unit_of[<Py_ssize_t> column] = number

    def _keep(self, kept):
        """Mark the groups that every subset has."""
        self.cpp.is_kept.assign(self.cpp.units.size(), 0)
        for column in kept:
            self.cpp.is_kept[self.cpp.unit_of[<Py_ssize_t> column]] = 1

    @property
    def kept_features(self):
        """All columns that every subset has, increasing."""
        cdef vector[int32_t] units
        cdef size_t unit
        for unit in range(self.cpp.units.size()):
            if self.cpp.is_kept[unit]:
                units.push_back(<int32_t> unit)
        return self.features_of(units)

    def _set_costs(self, parts, confidence):
        """Choose the weight that corresponds to a cost of 1."""
        costs = self.recipe["costs"]
        has_penalty = self.recipe["has_penalty"]
        if confidence is not None:
            self.cpp.is_pessimistic = True
            self.cpp.error_bound.confidence = confidence
            self.cpp.error_bound.z = ndtri(1.0 - confidence)
            self.total_cost = sum(part.build_weights.sum() for part in parts)
            # The upper limits of the errors have no common divisor.
            self.cpp.cost_unit = 2.0 ** np.floor(np.log2(self.total_cost / MAX_UNITS))
            return
        weights = np.concatenate([part.search_weights for part in parts])
        self.total_cost = weights.sum()
        if self.recipe["n_classes"] == 0:
            self.cpp.cost_unit = self._unit_of_numbers(parts)
            return
        heaviest = self.total_cost * max(self.cpp.largest_loss, 1.0)
        self.cpp.cost_unit = choose_unit(weights, costs, heaviest, has_penalty=has_penalty)

    def _unit_of_numbers(self, parts):
        """The loss that corresponds to a cost of 1."""
        power = LOSS_POWERS[self.recipe["loss"]]
        largest = (self.target.max() - self.target.min()) ** power
        if largest == 0.0:
            return 1.0
        self.cpp.largest_loss = largest
        losses = np.abs(self.target - self.target.mean()) ** power
        usual = sum((part.search_weights * losses[part.search_rows]).sum() for part in parts)
        most = np.log2(self.total_cost) + np.log2(self.cpp.largest_loss) - MAX_BITS_OF_NUMBERS
        if usual > 0.0:
            most = max(most, np.log2(usual) - BITS_OF_NUMBERS)
        return 2.0 ** np.floor(most)

    def _add_part(self, part):
        """Add a part; returns the weight of its cases if it is a whole number, else 1."""
        cdef const uint32_t[::1] rows = np.ascontiguousarray(part.build_rows, dtype=np.uint32)
        cdef const double[::1] weights = np.ascontiguousarray(part.build_weights, dtype=np.float64)
        cdef const uint32_t[::1] search_rows
        cdef const int64_t[::1] cost_view
        cdef const double[::1] scale_view
        cdef CppPart cpp
        cdef double total = 0.0
        cpp.cases.rows.assign(&rows[0], &rows[0] + rows.shape[0])
        cpp.cases.kind = kind_of_weights(part.build_weights, &total)
        if cpp.cases.kind != CppWeightKind.UNIT:
            cpp.cases.weights.assign(&weights[0], &weights[0] + weights.shape[0])
        if not self.cpp.is_pessimistic:
            search_rows = np.ascontiguousarray(part.search_rows, dtype=np.uint32)
            cpp.search_rows.assign(&search_rows[0], &search_rows[0] + search_rows.shape[0])
        costs = np.zeros(self.table.n_rows, dtype=np.int64)
        if self.recipe["n_classes"] == 0:
            scales = np.zeros(self.table.n_rows)
            scales[part.search_rows] = part.search_weights / self.cpp.cost_unit
            scale_view = scales
            cpp.scales.assign(&scale_view[0], &scale_view[0] + scale_view.shape[0])
        else:
            costs[part.search_rows] = np.rint(part.search_weights / self.cpp.cost_unit)
        cost_view = costs
        cpp.costs.assign(&cost_view[0], &cost_view[0] + cost_view.shape[0])
        self.cpp.parts.push_back(cpp)
        return total

    def __reduce__(self):
        if self.is_callable:
            raise TypeError("A problem with a callback cannot be sent to another process.")
        table = self.table
        columns = [np.append(v, np.nan)[c] for v, c in zip(table.values, table.codes, strict=True)]
        counts = [
            len(values) if is_nominal else -1
            for values, is_nominal in zip(table.values, table.is_nominal, strict=True)
        ]
        return _rebuild, (np.column_stack(columns), counts, self.recipe)

    @property
    def n_units(self):
        """Number of groups and of columns that are in none."""
        return self.cpp.units.size()

    cdef object features_of(self, const vector[int32_t]& units):
        """All columns of some units, increasing."""
        return np.array(cpp_features_of(self.cpp, units), dtype=np.int64)

    def set_callback(self, callback, control, scale=1.0):
        """Rate trees by `callback`, which takes the features that a tree uses.

        `scale` is a power of two that errors are about as large as.
        """
        self.callback, self.control = callback, control
        self.is_callable = True
        self.cpp.rating = rate_tree
        self.cpp.rating_context = <void*> self
        self.cpp.cost_unit = CALLBACK_UNIT * scale
        self.total_cost = 1.0

    cdef int raise_pending(self, SearchControl control) except -1:
        """Raise the exception of a signal handler or of the callback, if there was one."""
        control.raise_pending()
        if self.callback_error is not None:
            raise self.callback_error
        return 0

    def to_error(self, cost):
        """The error that corresponds to `cost`: a share of the weight of all search rows.

        For regression, the mean loss of these rows.
        """
        return cost * self.cpp.cost_unit / self.total_cost

    def to_cost(self, error, exact=False):
        """The cost that corresponds to an error: a whole number, or with `exact` a real one."""
        cost = min(error * self.total_cost / self.cpp.cost_unit, 2.0**60)
        return cost if exact else round(cost)

    @property
    def cost_unit(self):
        """The weight that corresponds to a cost of 1."""
        return self.cpp.cost_unit


def _rebuild(matrix, n_categories, recipe):
    """A pickled problem."""
    recipe = dict(recipe)
    table = Table.from_matrix(np.asfortranarray(matrix), n_categories)
    y, n_classes, parts = (recipe.pop(name) for name in ("y", "n_classes", "parts"))
    return SubsetProblem(table, y, n_classes, parts, **recipe)


cdef dict lattice_stats_dict(const CppLatticeStats& stats):
    return {
        "n_case_sets": stats.n_case_sets,
        "n_found_again": stats.n_found,
        "n_rankings": stats.n_rankings,
        "n_clearings": stats.n_clearings,
        "peak_bytes": stats.peak_bytes,
    }
