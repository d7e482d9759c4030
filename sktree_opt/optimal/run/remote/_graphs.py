"""All trees within a bound on many machines: each task makes the graph of some tests at the root.

The parts have nodes in common: rows that trees reach by several tests. A part knows the trees of a
node within the largest of the bounds that its own parents have for it. The node of the whole graph
is that of the part with the largest bound, and has all trees of the others. So the joined graph
does not depend on how the tests were parted: it is that of one machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sktree_opt.optimal.run.remote._rounds import search_in_rounds
from sktree_opt.optimal.tree_sets._tree_graph import graph_of
from sktree_opt.utils._workers import Shared, Workers

# Trees of fewer levels are found here: that takes less than to send the table.
LEAST_DEPTH = 3

# Arrays of a graph with one value for each node, and with some for each option.
OF_NODES = ("leaf_cost", "leaf_answer", "may_be_leaf", "bound", "level", "leaf_second")
OF_OPTIONS = {"cost": 1, "answer": 2, "second": 1}


class GraphsOfWorkers:
    """A ``GraphSearch`` whose parts are tasks; it gives the same costs and graphs.

    Parameters
    ----------
    search : GraphSearch
        The search here.

    make : callable
        From a control to the search of a worker.

    name : bytes
        Of all that the search depends on.

    session : Session

    limits : Limits
    """

    def __init__(self, search, make, name, session, limits):
        self.search, self.session, self.limits = search, session, limits
        self._shared, self._workers = Shared(name, make), Workers()
        self.grid, self.grid_of_second = search.grid, search.grid_of_second
        self.remember_costs, self.take = search.remember_costs, search.take
        self.statistics = search.statistics

    @property
    def remembered(self):
        """As ``GraphSearch`` has it."""
        return self.search.remembered

    def least_cost(self, depth, splits):
        """The least cost of a tree, in units of the grid; of no use when stopped."""
        if min(depth, splits) < LEAST_DEPTH:
            return self.search.least_cost(depth, splits)
        return self._explore(depth, splits, self.search.least_cost(0, 0), False).least

    def build(self, depth, splits, bound):
        """All trees that cost up to `bound`, in units of the grid; None when stopped."""
        if min(depth, splits) < LEAST_DEPTH or not self.search.root_columns:
            return self.search.build(depth, splits, bound)
        explored = self._explore(depth, splits, bound, True)
        return None if self.session.control.stopped else joined(explored.parts)

    def _explore(self, depth, splits, bound, builds):
        """Explore all columns of the root in rounds."""
        explored = Explored(bound)

        def units():
            left = [j for j in self.search.root_columns if j not in explored.done]
            known = (depth, splits, explored.least, builds, self.search.remembered)
            return left, known

        def take(answers):
            for done, least, costs, part in answers:
                explored.done.update(done)
                self.search.take(*costs)
                if builds and done:
                    explored.parts.append(part)
                else:
                    explored.least = min(explored.least, least)

        search_in_rounds(
            self.session, self.limits, explore_columns, self._shared, units, take, self._workers
        )
        return explored


@dataclass
class Explored:
    """The answers of all rounds so far.

    Attributes
    ----------
    least : float
        The least cost of a tree, or the bound of a graph.

    done : set of int
        Columns that have been at the root.

    parts : list of (arrays, numbers, keys)
        Their graphs.
    """

    least: float
    done: set = field(default_factory=set)
    parts: list = field(default_factory=list)


def explore_columns(make, columns, message, search, control, seconds):
    """A task of ``GraphsOfWorkers``: some columns, one after the other."""
    depth, splits, least, builds, costs = message
    if search is None:
        search = make(control)
    # The rows below the root, which the graph needs again.
    search.remember_costs(depth - 1)
    search.take(*costs)
    n_known, end = len(search.remembered[1]), control.seconds + seconds
    done = []
    for column in columns:
        if control.stopped or (done and control.seconds >= end):
            break
        cost = search.least_cost_of(column, depth, splits, least)
        if not builds and not control.stopped:
            least = min(least, cost)
        done.append(column)
    part = None
    if builds and not control.stopped:
        graph, keys = search.build_part(depth, splits, least, done)
        part = None if graph is None else (*graph.__reduce__()[1], keys)
    if control.stopped:
        done = []
    costs = tuple(known[n_known:] for known in search.remembered)
    return (done, least, costs, part), search


def joined(parts):
    """The whole graph of the graphs of parts of the tests at the root."""
    graphs = [part[0] for part in parts]
    sizes = [len(graph["leaf_cost"]) for graph in graphs]
    roots = np.cumsum([0, *sizes[:-1]])
    whole = {name: np.concatenate([graph[name] for graph in graphs]) for name in graphs[0]}
    for name in ("option_begin", "test_begin"):
        whole[name] = np.concatenate([[0], *(np.diff(graph[name]) for graph in graphs)]).cumsum()
    offsets = np.repeat(roots, [len(graph["child"]) for graph in graphs])
    child = np.where(whole["child"] < 0, -1, whole["child"] + offsets).reshape(-1, 2)
    rows = numbers_of_rows(whole["level"], np.concatenate([part[-1] for part in parts]))
    nodes, n_options, options, child = in_order(whole, rows, child, roots)
    for name in OF_NODES:
        whole[name] = whole[name][nodes] if len(whole[name]) else whole[name]
    tests = ranges(whole["test_begin"][options], whole["test_begin"][options + 1])
    n_tests = np.diff(whole["test_begin"])[options]
    for name, width in OF_OPTIONS.items():
        values = whole[name].reshape(-1, width)
        whole[name] = (values[options] if len(values) else values).ravel()
    whole |= {"child": child.ravel(), "tests": whole["tests"][tests]}
    whole["option_begin"] = np.cumsum([0, *n_options])
    whole["test_begin"] = np.cumsum([0, *n_tests])
    return graph_of(whole, *parts[0][1:-1])


def numbers_of_rows(levels, keys):
    """A number for the rows of each node, the same for the same rows below as many tests."""
    order = np.lexsort((keys[:, 0], keys[:, 1], levels))
    columns = levels[order], keys[order, 0], keys[order, 1]
    is_new = np.any([np.diff(column) != 0 for column in columns], axis=0)
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.concatenate([[0], is_new.cumsum()])
    return numbers


def in_order(whole, rows, child, roots):
    """Choose nodes and options from the parts, in the order in which one machine finds them.

    Returns
    -------
    nodes, n_options : ndarray
        The nodes, and how many options each has.

    options, child : ndarray
        Their options, and the two children of each among the nodes.
    """
    starts, ends = whole["option_begin"][:-1], whole["option_begin"][1:]
    best = np.empty(rows.max() + 1, dtype=np.int64)
    by_bound = np.argsort(whole["bound"], kind="stable")
    best[rows[by_bound]] = by_bound
    # The root has the options of all parts.
    at_root = ranges(starts[roots], ends[roots])
    at_root = at_root[np.argsort(whole["tests"][whole["test_begin"][at_root]])]
    nodes, n_options, options = [roots[:1]], [[len(at_root)]], [at_root]
    place = np.full(len(best), -1)
    n_placed = 1
    while len(nodes[-1]):
        below = child[options[-1]].ravel()
        below = rows[below[below >= 0]]
        new = below[np.sort(np.unique(below, return_index=True)[1])]
        place[new] = n_placed + np.arange(len(new))
        n_placed += len(new)
        nodes.append(best[new])
        n_options.append((ends - starts)[nodes[-1]])
        options.append(ranges(starts[nodes[-1]], ends[nodes[-1]]))
    options = np.concatenate(options)
    child = np.where(child[options] < 0, -1, place[rows[child[options]]])
    return np.concatenate(nodes), np.concatenate(n_options), options, child


def ranges(starts, ends):
    """The whole numbers from each start to its end, one after the other."""
    lengths = ends - starts
    return np.repeat(ends - lengths.cumsum(), lengths) + np.arange(lengths.sum())
