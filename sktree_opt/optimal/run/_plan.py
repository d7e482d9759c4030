"""Which engine answers, and what it reads: binary tests, or a table of ranks.

The bits and tree sets engines read a binary column for each test; the thresholds engine reads
ranks, for one tree and for objectives that it knows. It is chosen where it is faster, or where
there are more tests than the others take.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import numpy as np

from sktree_opt.optimal.bits._bit_engine import SCORES
from sktree_opt.optimal.run._fallback import FewTests
from sktree_opt.optimal.run._problem import Problem
from sktree_opt.optimal.run._thresholds_solver import can_search, coarse_table
from sktree_opt.preprocessing._binary_tests import (
    CATEGORICAL_SPLITS,
    MAX_TESTS,
    BinaryTests,
    OneVsRest,
)
from sktree_opt.preprocessing._table import Table
from sktree_opt.preprocessing._thresholds import AllThresholds, resolve_thresholds
from sktree_opt.utils._params import warn_user

# Numeric tests, for each pass over a column (two where values are missing), from which a search
# over ranks is faster than one over a binary column for each test. The latter counts rows of
# classes 16 or more at a time; sums of targets take it longer.
MANY_THRESHOLDS = 60
MANY_FOR_TARGETS = 15
SHARE_FOR_REALS = 1 / 8

# Where columns have few values, costs come from tables of pairs of columns: a row is added to each,
# for each root column, and a line of 8 cells summed for each test and value. Or they come from
# binary columns: pairs of tests count rows, for each root test. Nanoseconds, approximately, of
# squared errors and of errors of two classes.
ADDITION, CELLS, PAIR_OF_TESTS = 3.75, 100.0, 0.035
ADDITION_OF_CLASSES, CELLS_OF_CLASSES, PAIR_FOR_CLASSES = 2.0, 20.0, 0.00017

# Values of a column in such tables, at most.
FEW_VALUES = 64
FEW_WEIGHTS = 8

# Tests, approximately, that are left of a table with more than can be searched at all: a search of
# depth 3 over so many takes seconds.
THINNED_TESTS = 1000

# Bytes of all binary columns, and number of numeric tests, whose pairs are counted, above which a
# search over ranks takes much less memory.
MOST_TEST_BYTES = 1 << 27
MOST_NUMERIC_TESTS = 3000

# Choosing thresholds takes at most this share of the time that is left.
SHARE_FOR_CHOICE = 0.5

ENGINES = ("bits", "thresholds", "column")
# Engine and switches of `use_engine`.
_chosen = ContextVar("engine", default=(None, ()))


@contextmanager
def use_engine(name=None, off=()):
    """Choose the engine of all fits inside, if it can answer; for tests and benchmarks.

    Parameters
    ----------
    name : {"bits", "thresholds", "column"} or None, default=None
        None for the one that is faster. "column" is the dynamic programme over one column.

    off : tuple of str, default=()
        Techniques of the engine to do without (its ``SWITCHES``), where one tree is asked for.
    """
    if name not in (*ENGINES, None):
        raise ValueError(f"name must be one of {ENGINES}, got {name!r}.")
    token = _chosen.set((name, tuple(off)))
    try:
        yield
    finally:
        _chosen.reset(token)


@dataclass(frozen=True)
class Plan:
    """A problem, and what the engine that is to answer it reads.

    Attributes
    ----------
    problem : Problem

    asked : str
        The tests that trees may use, in words.

    tests : BinaryTests or None
        What the bits and tree sets engines read.

    table : Table or None
        What the thresholds engine reads instead.

    around : list of ndarray or None
        Of `table`, by column, the values on both sides of the threshold above each code, if codes
        are intervals; None if they are values.

    few_tests : FewTests or None
        Some tests of `table`, for a search of it that is stopped.

    off : tuple of str
        Techniques to do without.

    by_column : bool
        Whether `table` has a single column, to be searched as such.
    """

    problem: Problem
    asked: str
    tests: BinaryTests | None = None
    table: Table | None = None
    around: list | None = None
    few_tests: FewTests | None = None
    off: tuple = ()
    by_column: bool = False

    @property
    def engine(self):
        """Name of the engine for one tree."""
        if self.by_column:
            return "column"
        return "bits" if self.table is None else "thresholds"

    def scope(self, objective=np.inf):
        """The trees that a proof is about, in words; `objective` is that of the best of them."""
        limits = self.problem.limits
        # A deeper tree has more tests: more than allowed, or they alone cost more than the best.
        is_any_depth = limits.max_depth >= limits.max_splits > 1
        is_any_depth |= limits.any_depth and limits.split_cost > 0.0 and self.engine == "bits"
        is_any_depth |= (limits.max_depth + 1) * limits.split_cost > objective
        trees = "all trees" if is_any_depth else f"all trees of depth at most {limits.max_depth}"
        if limits.max_splits < 2**limits.max_depth - 1 or not is_any_depth:
            trees += f" with at most {limits.max_splits + 1} leaves"
        return f"{trees}, with {self.asked}"


def make_plan(
    problem, session, *, thresholds, categorical_splits, sums_one_tree=True, prefers_tests=False
):
    """Choose the engine, and make what it reads.

    Parameters
    ----------
    problem : Problem

    session : Session
        Its clock may end the choice of thresholds, which gets half of the time.

    thresholds, categorical_splits
        The parameters of an estimator.

    sums_one_tree : bool, default=True
        Whether the answer is one tree whose leaves' costs sum to the least.

    prefers_tests : bool, default=False
        Whether binary tests are better unless there are too many.

    Returns
    -------
    plan : Plan
    """
    choice, split = resolve_thresholds(thresholds), CATEGORICAL_SPLITS[categorical_splits]
    forced, off = _chosen.get()
    asked = f"tests of numbers at {choice.scope}, of categories as {split.scope}"
    plan = Plan(problem, asked, off=off)
    # Some objectives only the thresholds engine knows.
    has_bits = problem.form.score in SCORES
    if isinstance(choice, AllThresholds) and has_bits and forced != "thresholds":
        data = problem.data
        tests = BinaryTests.from_binary_matrix(data.matrix, data.encoder.n_categories_)
        if tests is not None:
            return replace(plan, tests=tests)
    few_tests, is_cut_short = offered_tests(problem, choice, split, session)
    if is_cut_short:
        plan = replace(plan, asked=f"{asked}, as many as there was time to choose")
    can_rank = can_search(problem.form) and ranks_categories(problem.data, split)
    if sums_one_tree and can_rank and (forced != "bits" or not has_bits):
        if session.control.poll():
            # Without time, the search answers a leaf, which needs no tests.
            return replace(plan, table=few_tests.table)
        ranked = plan_of_ranks(plan, few_tests, forced, prefers_tests)
        if ranked is not None:
            return ranked
    return plan_of_tests(plan, few_tests)


def offered_tests(problem, choice, split, session):
    """The table by ranks with the tests that trees may use; whether time ended their choice."""
    data, control = problem.data, session.control
    table = table_of(data, problem.limits.n_threads)
    with session.for_seconds(SHARE_FOR_CHOICE * control.seconds_left):
        cuts = choice.codes(table, data, control)
        is_cut_short = control.stopped and not isinstance(choice, AllThresholds)
    return FewTests(table, cuts, data, split), is_cut_short


def ranks_categories(data, split):
    """Whether each test of categories has one alone on a side, as in a search over ranks."""
    return split is OneVsRest or data.encoder.n_categories_.max() <= 3


def plan_of_ranks(plan, few_tests, forced, prefers_tests):
    """The plan of a search over ranks; None if binary tests suit the table better.

    `forced` is the engine that ``use_engine`` names, or None.
    """
    problem, table, cuts = plan.problem, few_tests.table, few_tests.cuts
    has_bits, is_forced = problem.form.score in SCORES, forced in ("thresholds", "column")
    by_column = forced in (None, "column") and is_one_deep_column(table, problem.limits)
    prefers_bits = is_full_tree_too_costly(problem) and not by_column
    suits = not has_bits or is_forced
    if not suits and not suits_ranks(Sizes.of(table, cuts), problem, prefers_tests, prefers_bits):
        return None
    around = None
    if cuts is not None:
        table, around = coarse_table(table, cuts, problem.limits.n_threads)
    few_tests = few_tests if has_bits else None
    return replace(plan, table=table, around=around, few_tests=few_tests, by_column=by_column)


def plan_of_tests(plan, few_tests):
    """The plan of a search over binary tests, thinned if there are more than can be searched."""
    if plan.problem.form.score not in SCORES:
        encoder = plan.problem.data.encoder
        raise ValueError(
            "objective='absolute_error' needs categorical_splits='one_vs_rest' where a column has "
            f"more than 3 categories, as {encoder.feature_names_[encoder.n_categories_.argmax()]!r}"
            " has."
        )
    n_tests, n_thresholds = few_tests.count(), None
    if n_tests > MAX_TESTS:
        # 0 if the categories alone are too many, which making the tests refuses.
        n_thresholds = few_tests.number_within(THINNED_TESTS) or None
    if n_thresholds is not None:
        warn_of_thinning(n_tests, n_thresholds)
        asked = f"{plan.asked}, thinned to at most {n_thresholds} thresholds of each column"
        plan = replace(plan, asked=asked)
    return replace(plan, tests=few_tests.make(n_thresholds))


def warn_of_thinning(n_tests, n_thresholds):
    """Warn that not all thresholds can be searched."""
    warn_user(
        f"X offers {n_tests} tests, and a search for this objective takes at most {MAX_TESTS}. It "
        f"is limited to {n_thresholds} thresholds of each column, spread evenly over its values; "
        "the proof is relative to them. Pass thresholds='ensemble' or a number to choose others."
    )


def table_of(data, n_threads):
    """The columns of training data by ranks."""
    matrix = data.matrix
    if matrix.dtype.kind in "biu":
        matrix = matrix.astype(np.float64)
    return Table.from_matrix(matrix, data.encoder.n_categories_, n_threads)


@dataclass(frozen=True)
class Sizes:
    """The numbers of values and of tests of a table's columns.

    Attributes
    ----------
    n_rows : int

    is_numeric : ndarray of bool

    n_codes, n_tests : ndarray of int64
        Different values, missing ones included, and binary columns made of them.

    n_passes : int
        Columns with tests, counted twice where values are missing.
    """

    n_rows: int
    is_numeric: np.ndarray
    n_codes: np.ndarray
    n_tests: np.ndarray
    n_passes: int

    @classmethod
    def of(cls, table, cuts):
        """Count them in a table that may be cut after some codes (None: after all)."""
        is_numeric, has_missing = ~table.is_nominal, table.n_missing > 0
        n_values = np.array([len(values) for values in table.values], dtype=np.int64)
        if cuts is not None:
            n_cuts = np.array([len(codes) for codes in cuts], dtype=np.int64)
            n_values = np.where(is_numeric, np.minimum(n_cuts + 1, n_values), n_values)
        n_tests = np.maximum(0, n_values - is_numeric)
        n_tests = np.where(has_missing, 2 * n_tests + 1, n_tests)
        n_passes = int((n_tests > 0).sum() + ((n_tests > 0) & has_missing).sum())
        return cls(table.n_rows, is_numeric, n_values + has_missing, n_tests, n_passes)


def is_full_tree_too_costly(problem):
    """Whether the tests of a full tree cost more than errors on all rows.

    Only the bits engine leaves out trees that have more tests than they can pay for.
    """
    limits, is_classifier = problem.limits, problem.data.classes is not None
    return is_classifier and limits.split_cost * limits.max_splits > problem.data.weights.sum()


def suits_ranks(sizes, problem, prefers_tests, prefers_bits):
    """Whether a search over ranks beats one over binary tests, or is the only possible one.

    Binary tests are kept as long as they are possible if `prefers_tests`, and as long as they and
    their pairs take little memory if `prefers_bits`.
    """
    if sizes.n_tests.sum() > MAX_TESTS:
        return True
    if is_large_for_pairs(sizes):
        return not prefers_tests
    prefers_bits = prefers_bits or prefers_tests
    if prefers_bits:
        return False
    return has_many_thresholds(sizes, problem.form, problem.weights) or has_few_values(
        sizes, problem
    )


def is_large_for_pairs(sizes):
    """Whether binary columns of all tests, or the counts of their pairs, take much memory."""
    n_bytes = sizes.n_tests.sum() * (sizes.n_rows / 8)
    n_numeric = sizes.n_tests[sizes.is_numeric].sum()
    return n_bytes > MOST_TEST_BYTES or n_numeric >= MOST_NUMERIC_TESTS


def has_many_thresholds(sizes, form, weights=None):
    """Whether a search over ranks beats one that makes a binary column of every test."""
    many = MANY_FOR_TARGETS if form.score == "squared" else MANY_THRESHOLDS
    if form.score != "squared" and weights is not None and has_many_reals(weights):
        many *= SHARE_FOR_REALS
    return sizes.n_tests[sizes.is_numeric].sum() >= many * max(1, sizes.n_passes)


def has_few_values(sizes, problem):
    """Whether columns have few values, and tables of their pairs beat binary columns."""
    score, limits = problem.form.score, problem.limits
    if not sizes.is_numeric.all():
        return False
    if score in ("squared", "gini"):
        return has_small_tables(sizes, ADDITION, CELLS, PAIR_OF_TESTS)
    # Errors of two classes are counted in tables for full trees of three levels.
    is_full = limits.max_depth == 3 and limits.max_splits >= 7
    has_minima = limits.min_samples_leaf > 1 or limits.min_weight_leaf > 0.0
    if score != "two_class" or not is_full or has_minima or sizes.n_codes.max() > FEW_VALUES:
        return False
    return has_small_tables(sizes, ADDITION_OF_CLASSES, CELLS_OF_CLASSES, PAIR_FOR_CLASSES)


def has_small_tables(sizes, addition, cells, pair_of_tests):
    """Whether tables of pairs of values take less time than a binary column of every test."""
    n_tests, n_columns = float(sizes.n_tests.sum()), len(sizes.n_codes)
    n_pairs = n_columns * (n_columns - 1) / 2
    lines = n_pairs * (sizes.n_codes * np.ceil(sizes.n_codes / 8)).mean()
    by_tables = addition * sizes.n_rows * n_pairs * n_columns + cells * n_tests * lines
    return bool(by_tables < pair_of_tests * sizes.n_rows * n_tests**3)


def has_many_reals(weights):
    """Whether weights are fractional and too many to count rows by weight."""
    return (weights != np.rint(weights)).any() and len(np.unique(weights)) > FEW_WEIGHTS


def is_one_deep_column(table, limits):
    """Whether there is one column, of numbers, none of them missing, and more than two levels."""
    is_numeric = table.n_columns == 1 and not table.is_nominal[0] and not table.n_missing[0]
    return bool(is_numeric and limits.max_depth > 2)
