"""All trees of a table within a bound, as a graph (see ``graph_search.hpp``)."""

import numpy as np

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from sktree_opt.optimal.objectives._leaf_objectives import SCORES
from sktree_opt.optimal.tree_sets._bit_rows import ANY_LEAF

from sktree_opt.optimal.tree_sets._row_table cimport (
    LeafRules,
    RowTable,
    leaf_rules,
    row_table,
    set_minima,
)
from sktree_opt.utils._control cimport CppSearchControl, SearchControl, atomic_int64


cdef extern from "sktree_opt/optimal/tree_sets/tree_graph.hpp" namespace "sktree_opt" nogil:
    cdef cppclass Count:
        pass

    Count count_of(uint64_t high, uint64_t low)
    uint64_t high_word(Count count)
    uint64_t low_word(Count count)

    cdef cppclass TreeClass:
        int64_t cost
        int64_t shape
        Count count

    int64_t splits_of(int64_t shape)
    int64_t levels_of(int64_t shape)
    int64_t second_of(int64_t shape)

    cdef cppclass Classes:
        vector[int64_t] size
        const TreeClass* of(int64_t node)

    cdef cppclass CppTreeGraph "sktree_opt::TreeGraph":
        vector[int64_t] leaf_cost
        vector[double] leaf_answer
        vector[int8_t] may_be_leaf
        vector[int64_t] bound
        vector[int32_t] level
        vector[int64_t] option_begin
        vector[int32_t] child
        vector[int64_t] cost
        vector[double] answer
        vector[int64_t] leaf_second
        vector[int64_t] second
        vector[int64_t] test_begin
        vector[int32_t] tests
        int64_t split_cost
        int64_t max_splits
        bint counts_tests
        bint counts_depth
        int64_t max_second
        Classes make_classes(const vector[char]&, CppSearchControl*) except +
        void find(
            const Classes&,
            const vector[char]&,
            int64_t node,
            int64_t at,
            Count rank,
            vector[int32_t]& tree,
            vector[int32_t]& places,
        ) except +


cdef extern from "sktree_opt/optimal/tree_sets/graph_sums.hpp" namespace "sktree_opt" nogil:
    cdef cppclass RelianceSum:
        Count n_without
        int64_t least
        int64_t largest

    cdef cppclass Reliance:
        Reliance(const CppTreeGraph&, const Classes&, const vector[char]&) except +
        cpp_bool solve(CppSearchControl*)
        RelianceSum of_first(int64_t node, int64_t at, Count number) except +

    void sum_answers(
        const CppTreeGraph&,
        const Classes&,
        const vector[Count]& numbers,
        const uint8_t* passes,
        int64_t n_rows,
        int64_t n_tests,
        int n_answers,
        double* sums,
        int n_threads,
        CppSearchControl*,
    ) except +


cdef extern from "sktree_opt/optimal/tree_sets/graph_search.hpp" namespace "sktree_opt" nogil:
    cdef cppclass GraphCounters:
        atomic_int64 n_nodes
        atomic_int64 n_depth_two
        atomic_int64 n_cache_hits
        atomic_int64 n_cached

    cdef cppclass LeafAnswers:
        LeafAnswers()
        bint is_mean
        double centre
        double target_unit
        vector[double] worth
        int n_answers
        double tolerance

    cdef cppclass RowKey:
        uint64_t low, high

    cdef cppclass CostOfRows:
        RowKey key
        double cost

    cdef cppclass CppGraphSearch "sktree_opt::GraphSearch":
        void remember_costs(int least_depth)
        vector[CostOfRows] remembered() except +
        void take(const vector[CostOfRows]& costs) except +
        CppGraphSearch(
            RowTable,
            const LeafRules&,
            const vector[LeafRules]& seconds,
            const LeafAnswers&,
            double split_cost,
            cpp_bool counts_tests,
            const vector[int32_t]& feature,
            CppSearchControl*,
            int n_threads,
        ) except +
        GraphCounters counters
        const vector[int]& root_columns() except +
        double least_cost(int depth, int64_t splits) except +
        double least_cost_of(int column, int depth, int64_t splits, double limit) except +
        cpp_bool build(
            int depth,
            int64_t max_splits,
            double bound,
            const vector[int]& columns,
            CppTreeGraph&,
            vector[RowKey]& keys,
        ) except +


# More than all rows cost, in units of the grid.
MOST_UNITS = 2**44
# Second costs have 42 bits, and room for the sum of two of them.
MOST_SECOND = 2**42 - 1


def units_of_split(cost, unit):
    """The cost of a split as a whole number; where rows cost next to nothing, a large one."""
    return min(round(cost / unit), MOST_UNITS)


cdef class TreeGraph:
    """All trees of a set (see ``tree_graph.hpp``).

    Attributes
    ----------
    n_nodes, n_options : int
        Size of the graph.

    grid : float
        What a unit of cost is.
    """

    cdef CppTreeGraph cpp
    cdef readonly double grid

    @property
    def n_nodes(self):
        """Number of nodes."""
        return self.cpp.leaf_cost.size()

    @property
    def split_cost(self):
        """Cost of a split, in units of the grid."""
        return self.cpp.split_cost

    @property
    def root_cost(self):
        """Cost of a single leaf, in units of the grid."""
        return self.cpp.leaf_cost[0]

    @property
    def tests(self):
        """Tests that some tree has, in rising order."""
        used = np.array(self.cpp.tests, dtype=np.int32)
        return np.unique(np.where(used < 0, ~used, used))

    @property
    def n_options(self):
        """Number of options of all nodes."""
        return self.cpp.cost.size()

    def count(self, SearchControl control, allowed=None):
        """Count the trees.

        Parameters
        ----------
        control : SearchControl
            If it ends the search, the classes are missing.

        allowed : ndarray of bool or None, default=None
            The tests that trees may have; None for all.

        Returns
        -------
        counted : CountedTrees
        """
        cdef CountedTrees counted = CountedTrees()
        counted.graph = self
        if allowed is not None:
            counted.allowed = np.asarray(allowed, dtype=np.int8).tolist()
        with nogil:
            counted.classes = self.cpp.make_classes(counted.allowed, control.cpp)
        control.raise_pending()
        counted.read()
        return counted

    def __reduce__(self):
        arrays = {
            "leaf_cost": np.array(self.cpp.leaf_cost, dtype=np.int64),
            "leaf_answer": np.array(self.cpp.leaf_answer, dtype=np.float64),
            "may_be_leaf": np.array(self.cpp.may_be_leaf, dtype=np.int8),
            "bound": np.array(self.cpp.bound, dtype=np.int64),
            "level": np.array(self.cpp.level, dtype=np.int32),
            "option_begin": np.array(self.cpp.option_begin, dtype=np.int64),
            "child": np.array(self.cpp.child, dtype=np.int32),
            "cost": np.array(self.cpp.cost, dtype=np.int64),
            "answer": np.array(self.cpp.answer, dtype=np.float64),
            "leaf_second": np.array(self.cpp.leaf_second, dtype=np.int64),
            "second": np.array(self.cpp.second, dtype=np.int64),
            "test_begin": np.array(self.cpp.test_begin, dtype=np.int64),
            "tests": np.array(self.cpp.tests, dtype=np.int32),
        }
        cpp = &self.cpp
        numbers = cpp.split_cost, cpp.counts_tests, self.grid, cpp.max_splits
        return graph_of, (arrays, *numbers, cpp.counts_depth, cpp.max_second)


def graph_of(
    arrays, split_cost, counts_tests, grid, max_splits=2**31 - 1, counts_depth=False,
    max_second=MOST_SECOND,
):
    """A graph of its arrays and numbers."""
    cdef TreeGraph graph = TreeGraph()
    graph.cpp.leaf_cost = arrays["leaf_cost"]
    graph.cpp.leaf_answer = arrays["leaf_answer"]
    graph.cpp.may_be_leaf = arrays["may_be_leaf"]
    graph.cpp.bound = arrays["bound"]
    graph.cpp.level = arrays["level"]
    graph.cpp.option_begin = arrays["option_begin"]
    graph.cpp.child = arrays["child"]
    graph.cpp.cost = arrays["cost"]
    graph.cpp.answer = arrays["answer"]
    graph.cpp.test_begin = arrays["test_begin"]
    graph.cpp.tests = arrays["tests"]
    graph.cpp.leaf_second = arrays.get("leaf_second", ())
    graph.cpp.second = arrays.get("second", ())
    graph.cpp.split_cost, graph.cpp.max_splits = split_cost, max_splits
    graph.cpp.counts_tests, graph.cpp.counts_depth = counts_tests, counts_depth
    graph.cpp.max_second, graph.grid = max_second, grid
    return graph


cdef Count as_count(number):
    return count_of(number >> 64, number & 0xFFFFFFFFFFFFFFFF)


cdef as_int(Count count):
    return (int(high_word(count)) << 64) + int(low_word(count))


cdef class CountedTrees:
    """The trees of a graph by cost, number of splits, depth and second cost.

    Attributes
    ----------
    costs : ndarray of int64, shape (n_kinds,)
        In units of the grid, rising.

    n_splits, depths, seconds : ndarray of int64, shape (n_kinds,)
        Rising among equal costs, in this order; 0 for what is not counted.

    counts : list of int
        Number of trees of each kind.
    """

    cdef TreeGraph graph
    cdef Classes classes
    cdef vector[char] allowed
    cdef readonly object costs, n_splits, depths, seconds, counts

    cdef read(self):
        cdef int64_t k, n = self.classes.size[0]
        cdef const TreeClass* root = self.classes.of(0)
        self.costs = np.array([root[k].cost for k in range(n)], dtype=np.int64)
        self.n_splits = np.array([splits_of(root[k].shape) for k in range(n)], dtype=np.int64)
        self.depths = np.array([levels_of(root[k].shape) for k in range(n)], dtype=np.int64)
        self.seconds = np.array([second_of(root[k].shape) for k in range(n)], dtype=np.int64)
        self.counts = [
            as_int(root[k].count) for k in range(n)
        ]

    def find(self, int64_t kind, rank):
        """A tree.

        Parameters
        ----------
        kind : int
            Index into `costs`.

        rank : int
            Among the trees of its kind.

        Returns
        -------
        nodes : ndarray of int32, shape (n_nodes, 3)
            Test or -1, child of the rows that pass it, child of the others; in preorder.

        places : ndarray of int32, shape (n_nodes,)
            Node of the graph; -1 for leaves that are none.
        """
        cdef vector[int32_t] tree, places
        cdef Count number = as_count(rank)
        with nogil:
            self.graph.cpp.find(
                self.classes, self.allowed, 0, kind, number, tree, places
            )
        return (
            np.array(tree, dtype=np.int32).reshape(-1, 3), np.array(places, dtype=np.int32)
        )

    def reliance(self, is_asked, counts, SearchControl control):
        """How far trees rely on a feature.

        Parameters
        ----------
        is_asked : ndarray of bool, shape (n_tests,)
            The tests that ask about the feature.

        counts : list of int
            Number of trees of each kind that belong to the set, the first of it.

        control : SearchControl
            May end it: then the answer is None.

        Returns
        -------
        n_without : list of int
            Number of trees of each kind that do without the feature.

        least, largest : ndarray of int64, shape (n_kinds,)
            Of the trees of a kind, the least and the largest sum of what splits by the feature
            lower the cost by.
        """
        cdef vector[char] asked = np.asarray(is_asked, dtype=np.int8).tolist()
        cdef unique_ptr[Reliance] sums
        cdef cpp_bool is_whole
        sums.reset(new Reliance(self.graph.cpp, self.classes, asked))
        with nogil:
            is_whole = sums.get().solve(control.cpp)
        control.raise_pending()
        if not is_whole:
            return None
        n_without, least, largest = [], [], []
        cdef RelianceSum one
        for at, number in enumerate(counts):
            one = sums.get().of_first(0, at, as_count(number))
            n_without.append(as_int(one.n_without))
            least.append(one.least)
            largest.append(one.largest)
        return n_without, np.array(least), np.array(largest)

    def answers(self, passes, counts, int n_answers, int n_threads, SearchControl control):
        """Numbers of trees by answer.

        Parameters
        ----------
        passes : ndarray of uint8, shape (n_rows, n_tests)
            Which tests each row passes.

        counts : list of int
            Number of trees of each kind that belong to the set, the first of it.

        n_answers : int
            Number of classes; 0 for means.

        n_threads : int
            OpenMP threads.

        control : SearchControl

        Returns
        -------
        sums : ndarray of float64, shape (n_rows, n_answers)
            For means, their sum and the sum of their squares.
        """
        cdef const uint8_t[:, ::1] rows = np.ascontiguousarray(passes, dtype=np.uint8)
        cdef int64_t n_rows = rows.shape[0], n_tests = rows.shape[1]
        cdef vector[Count] numbers
        for number in counts:
            numbers.push_back(as_count(number))
        result = np.zeros((n_rows, max(n_answers, 2)))
        cdef double[:, ::1] sums = result
        if n_rows == 0:
            return result
        cdef const uint8_t* first = &rows[0, 0] if n_tests > 0 else NULL
        with nogil:
            sum_answers(
                self.graph.cpp,
                self.classes,
                numbers,
                first,
                n_rows,
                n_tests,
                n_answers,
                &sums[0, 0],
                n_threads,
                control.cpp,
            )
        control.raise_pending()
        return result


cdef array_of_keys(const vector[RowKey]& keys):
    cdef Py_ssize_t k, n = keys.size()
    words = np.empty((n, 2), dtype=np.uint64)
    cdef uint64_t[:, ::1] word = words
    for k in range(n):
        word[k, 0], word[k, 1] = keys[k].low, keys[k].high
    return words


cdef class GraphSearch:
    """The trees of one table within several bounds, with one cache.

    Parameters
    ----------
    table : BitRows
        The rows.

    objective : LeafObjective
        What leaves cost (see ``_leaf_objectives.py``).

    control : SearchControl
        Deadline, memory, interrupts.

    feature : ndarray of int32, shape (n_columns,)
        Feature that each test asks about.

    worth : ndarray of shape (n_classes, n_answers) or None, default=None
        What each answer is worth for a row of each class; None for a regression.

    centre : float, default=0.0
        What the targets of a regression were lowered by.

    tolerance : float, default=0.0
        Answers whose worth differs by less are equal: the difference is rounding.

    split_cost : float
        Cost of each split.

    minima : LeafMinima, default=ANY_LEAF
        What may be a leaf.

    second : LeafObjective or None, default=None
        A second cost, which tells classes of trees apart.

    counts_tests : bool, default=False
        Whether trees are different by their tests; else by how they part the rows.

    counts_depth : bool, default=False
        Whether the depth tells classes of trees apart.

    max_second : float, default=inf
        Trees of a larger second cost are left out.

    n_threads : int
        OpenMP threads.

    Attributes
    ----------
    grid, grid_of_second : float
        What a unit of cost is, and of the second cost.
    """

    cdef unique_ptr[CppGraphSearch] search
    cdef SearchControl control
    cdef object table  # what the kernel points into
    cdef bint counts_depth
    cdef int64_t max_second
    cdef readonly double grid, grid_of_second

    def __init__(
        self,
        table,
        objective,
        SearchControl control,
        *,
        feature,
        worth=None,
        double centre=0.0,
        double tolerance=0.0,
        double split_cost=0.0,
        minima=ANY_LEAF,
        second=None,
        bint counts_tests=False,
        bint counts_depth=False,
        double max_second=np.inf,
        int n_threads=1,
    ):
        cdef RowTable view = row_table(table)
        cdef LeafRules rules
        cdef vector[LeafRules] seconds
        cdef LeafAnswers answers
        cdef vector[int32_t] features = np.asarray(feature, dtype=np.int32)
        self.grid = table.grid_of(objective)
        rules = leaf_rules(table, objective, self.grid, SCORES.index(objective.score))
        set_minima(rules, minima)
        self.grid_of_second = 0.0
        if second is not None:
            self.grid_of_second = table.grid_of(second)
            score = SCORES.index(second.score)
            seconds.push_back(leaf_rules(table, second, self.grid_of_second, score))
        answers.is_mean = worth is None
        if worth is None:
            answers.centre = centre
            answers.target_unit = table.value_unit[0]
        else:
            answers.worth = np.asarray(worth, dtype=np.float64).ravel().tolist()
            answers.n_answers = worth.shape[1]
            answers.tolerance = tolerance
        self.table = table
        self.control = control
        self.counts_depth = counts_depth
        self.max_second = MOST_SECOND
        if second is not None:
            self.max_second = min(max_second / self.grid_of_second, MOST_SECOND)
        self.search.reset(
            new CppGraphSearch(
                view,
                rules,
                seconds,
                answers,
                units_of_split(split_cost, self.grid),
                counts_tests,
                features,
                control.cpp,
                n_threads,
            )
        )

    def least_cost(self, int depth, int64_t splits):
        """The least cost of a tree, in units of the grid; of no use when stopped."""
        cdef double cost
        with nogil:
            cost = self.search.get().least_cost(depth, splits)
        self.control.raise_pending()
        return cost

    @property
    def root_columns(self):
        """The columns that part all rows in different ways, in rising order."""
        return list(self.search.get().root_columns())

    def least_cost_of(self, int column, int depth, int64_t splits, double limit):
        """The same for trees with a test on a column at the root; above `limit`, any such cost."""
        cdef double cost
        with nogil:
            cost = self.search.get().least_cost_of(column, depth, splits, limit)
        self.control.raise_pending()
        return cost

    def build(self, int depth, int64_t max_splits, double bound):
        """All trees that cost up to `bound`, in units of the grid; None when stopped."""
        return self._build(depth, max_splits, bound, [])[0]

    def build_part(self, int depth, int64_t max_splits, double bound, columns):
        """Those with a test on one of some columns at the root, of a depth of at least 3.

        Returns
        -------
        graph : TreeGraph or None

        keys : ndarray of uint64, shape (n_nodes, 2)
            Names of the rows of its nodes.
        """
        return self._build(depth, max_splits, bound, columns)

    cdef _build(self, int depth, int64_t max_splits, double bound, columns):
        cdef TreeGraph graph = TreeGraph()
        cdef vector[int] at_root = columns
        cdef vector[RowKey] keys
        cdef bint is_whole
        graph.cpp.counts_depth = self.counts_depth
        graph.cpp.max_second = self.max_second
        with nogil:
            is_whole = self.search.get().build(
                depth, max_splits, bound, at_root, graph.cpp, keys
            )
        self.control.raise_pending()
        graph.grid = self.grid
        return (graph if is_whole else None), array_of_keys(keys)

    def remember_costs(self, int least_depth):
        """Remember the costs of rows with at least so many levels, for another search."""
        self.search.get().remember_costs(least_depth)

    @property
    def remembered(self):
        """The costs that have become known; may be read while another thread searches.

        Returns
        -------
        keys : ndarray of uint64, shape (n_costs, 2)
            Of rows, levels and splits.

        costs : ndarray of float64, shape (n_costs,)
        """
        cdef vector[CostOfRows] known
        with nogil:
            known = self.search.get().remembered()
        cdef Py_ssize_t k, n = known.size()
        cdef vector[RowKey] keys
        costs = np.empty(n)
        cdef double[::1] cost = costs
        keys.reserve(n)
        for k in range(n):
            keys.push_back(known[k].key)
            cost[k] = known[k].cost
        return array_of_keys(keys), costs

    def take(self, keys, costs):
        """Take what another search of the same table has remembered."""
        cdef const uint64_t[:, ::1] key = keys
        cdef const double[::1] cost = costs
        cdef vector[CostOfRows] known
        cdef Py_ssize_t k
        if len(keys) != len(costs):
            raise ValueError("keys and costs must have the same length")
        known.resize(key.shape[0])
        for k in range(key.shape[0]):
            known[k].key.low, known[k].key.high = key[k, 0], key[k, 1]
            known[k].cost = cost[k]
        with nogil:
            self.search.get().take(known)

    def statistics(self):
        """Counters of the search."""
        counters = &self.search.get().counters
        return {
            "n_nodes": counters.n_nodes.load(),
            "n_depth_two": counters.n_depth_two.load(),
            "n_cache_hits": counters.n_cache_hits.load(),
            "n_cached": counters.n_cached.load(),
        }
