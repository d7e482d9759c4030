// All trees of a set as one graph, and what is counted in it.
//
// A node of the graph is a set of training rows that some tree reaches after a number of tests. An
// option of a node is a test that leads to two nodes, or a last test that leads to two leaves; a
// node may also be a leaf itself. A tree takes one option at the root, one at each of its children,
// and so on: an AND/OR graph, as in TreeFARMS (Xin et al., NeurIPS 2022, arXiv:2209.08040).
//
// The trees of a node that have the same cost and the same shape are a *class*, of which only the
// number is kept. A shape is a number of tests, and where it matters a depth and a second cost. A
// class is made of pairs of classes of two children, so every question is a sum over the same pairs
// (`for_pairs`):
//
// make_classes   from the leaves to the root: how many trees there are, of some tests only
// find           from the root to the leaves: the tree of a rank
// Reliance       from the leaves to the root: how far trees rely on a feature (graph_sums.hpp)
// RowAnswers     from the root to the leaves: what they answer for a row
//
// The trees of a class have an order: by option, then by test, then by the class and rank of the
// first subtree, then by those of the second. Ranks count in this order.
// Complexity: for each option, the product of the numbers of its children's classes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sktree_opt/utils/control.hpp"
#include "sktree_opt/utils/hash.hpp"

namespace sktree_opt {

#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 Count;
constexpr double MOST_TREES = 1e37;
#else
typedef std::uint64_t Count;
constexpr double MOST_TREES = 1e18;
#endif

// Python's whole numbers are handed over in two words.
inline Count count_of(std::uint64_t high, std::uint64_t low) {
    return sizeof(Count) > 8 ? (static_cast<Count>(high) << 32 << 32) + low : low;
}
inline std::uint64_t high_word(Count count) {
    return sizeof(Count) > 8 ? static_cast<std::uint64_t>(count >> 32 >> 32) : 0;
}
inline std::uint64_t low_word(Count count) { return static_cast<std::uint64_t>(count); }

// Number of splits, depth and second cost of a tree as one whole number, in this order. The shapes
// of two subtrees add up, except for the depth.
constexpr int SECOND_BITS = 42, DEPTH_BITS = 5;
constexpr std::int64_t ONE_LEVEL = std::int64_t{1} << SECOND_BITS;
constexpr std::int64_t ONE_SPLIT = ONE_LEVEL << DEPTH_BITS;
inline std::int64_t splits_of(std::int64_t shape) { return shape >> (SECOND_BITS + DEPTH_BITS); }
inline std::int64_t levels_of(std::int64_t shape) {
    return (shape >> SECOND_BITS) & ((1 << DEPTH_BITS) - 1);
}
inline std::int64_t second_of(std::int64_t shape) { return shape & (ONE_LEVEL - 1); }

struct TreeClass {
    std::int64_t cost;
    std::int64_t shape;
    Count count;
};

inline bool is_before(const TreeClass& one, const TreeClass& other) {
    return one.cost != other.cost ? one.cost < other.cost : one.shape < other.shape;
}

// Numbers of trees by cost and shape, while they are summed: a hash table.
class ClassTable {
public:
    ClassTable() : slots_(64, -1) {}

    void add(std::int64_t cost, std::int64_t shape, Count count) {
        if (2 * entries_.size() >= slots_.size()) grow();
        std::int32_t& slot = slot_of(cost, shape);
        if (slot < 0) {
            slot = static_cast<std::int32_t>(entries_.size());
            entries_.push_back({cost, shape, count});
        } else {
            entries_[slot].count += count;
        }
    }

    std::size_t size() const { return entries_.size(); }

    // Appends the entries in order, and forgets them.
    void move_to(std::vector<TreeClass>& classes) {
        std::sort(entries_.begin(), entries_.end(), is_before);
        classes.insert(classes.end(), entries_.begin(), entries_.end());
        entries_.clear();
        std::fill(slots_.begin(), slots_.end(), -1);
    }

private:
    std::int32_t& slot_of(std::int64_t cost, std::int64_t shape) {
        std::uint64_t hash = static_cast<std::uint64_t>(cost) * HASH_FACTOR;
        hash += static_cast<std::uint64_t>(shape) * 0xC2B2AE3D27D4EB4Fu;
        hash ^= hash >> 29;
        std::size_t at = hash & (slots_.size() - 1);
        while (slots_[at] >= 0 &&
               (entries_[slots_[at]].cost != cost || entries_[slots_[at]].shape != shape)) {
            at = (at + 1) & (slots_.size() - 1);
        }
        return slots_[at];
    }
    void grow() {
        slots_.assign(4 * slots_.size(), -1);
        for (std::size_t k = 0; k < entries_.size(); ++k) {
            slot_of(entries_[k].cost, entries_[k].shape) = static_cast<std::int32_t>(k);
        }
    }

    std::vector<std::int32_t> slots_;
    std::vector<TreeClass> entries_;
};

// Classes of all nodes, each node's in order. They are made from the last node to the first.
struct Classes {
    std::vector<std::int64_t> begin, size;  // by node
    std::vector<TreeClass> all;

    const TreeClass* of(std::int64_t node) const { return all.data() + begin[node]; }
    // Index among the classes of the node; -1 for none.
    std::int64_t find(std::int64_t node, std::int64_t cost, std::int64_t shape) const {
        const TreeClass* first = of(node);
        const TreeClass* last = first + size[node];
        const TreeClass* at = std::lower_bound(first, last, TreeClass{cost, shape, 0}, is_before);
        return at != last && at->cost == cost && at->shape == shape ? at - first : -1;
    }
};

class TreeGraph {
public:
    // By node; children come after their parents, the root first.
    std::vector<std::int64_t> leaf_cost;
    std::vector<double> leaf_answer;  // index of a class, or a mean
    std::vector<std::int8_t> may_be_leaf;
    std::vector<std::int64_t> bound;  // its trees cost no more
    std::vector<std::int32_t> level;  // tests above it
    std::vector<std::int64_t> option_begin{0};
    // Second costs of nodes and last options; empty if there are none.
    std::vector<std::int64_t> leaf_second, second;
    // By option: the nodes of the rows with and without the test; of a last test -1, the cost of
    // its leaves, and their answers.
    std::vector<std::int32_t> child;  // [option][2]
    std::vector<std::int64_t> cost;
    std::vector<double> answer;  // [option][2]
    std::vector<std::int64_t> test_begin{0};
    // Tests that part the node's rows alike; ~test where its outcomes are the other way round.
    std::vector<std::int32_t> tests;

    std::int64_t split_cost = 0, max_splits = 0;
    bool counts_tests = false;  // whether trees are different by their tests, or by partitions
    bool counts_depth = false;  // whether shapes have a depth
    std::int64_t max_second = ONE_LEVEL;

    std::int64_t n_nodes() const { return static_cast<std::int64_t>(leaf_cost.size()); }
    std::int64_t n_options() const { return static_cast<std::int64_t>(cost.size()); }
    bool is_leaf(std::int64_t node) const {
        return may_be_leaf[node] != 0 && leaf_cost[node] <= bound[node] &&
               leaf_shape(node) <= max_second;
    }
    std::int64_t leaf_shape(std::int64_t node) const {
        return leaf_second.empty() ? 0 : leaf_second[node];
    }
    // The shape of a split over two leaves, and that of a split over two subtrees.
    std::int64_t last_shape(std::int64_t option) const {
        return ONE_SPLIT + (counts_depth ? ONE_LEVEL : 0) + (second.empty() ? 0 : second[option]);
    }
    std::int64_t joined(std::int64_t left, std::int64_t right) const {
        const std::int64_t sum = left + right + ONE_SPLIT;
        if (!counts_depth) return sum;
        return sum + (1 - std::min(levels_of(left), levels_of(right))) * ONE_LEVEL;
    }
    bool is_last(std::int64_t option) const { return child[2 * option] < 0; }
    std::int32_t test(std::int64_t k) const { return tests[k] < 0 ? ~tests[k] : tests[k]; }
    bool is_allowed(std::int64_t k, const std::vector<char>& allowed) const {
        return allowed.empty() || allowed[test(k)] != 0;
    }

    // Whether rows that pass the k-th test are those of the option's first child.
    bool goes_first(std::int64_t k, const std::uint8_t* passes) const {
        return (passes[test(k)] != 0) != (tests[k] < 0);
    }
    // By how much a split lowers the cost.
    std::int64_t gain(std::int64_t node, std::int64_t option) const {
        if (is_last(option)) return leaf_cost[node] - cost[option];
        return leaf_cost[node] - leaf_cost[child[2 * option]] - leaf_cost[child[2 * option + 1]];
    }

    // In how many ways an option can be taken; `allowed`: by which tests, empty for all of them.
    Count n_ways(std::int64_t option, const std::vector<char>& allowed) const {
        std::int64_t n = 0;
        for (std::int64_t k = test_begin[option]; k < test_begin[option + 1]; ++k) {
            n += is_allowed(k, allowed);
        }
        return static_cast<Count>(counts_tests ? n : std::min<std::int64_t>(n, 1));
    }

    // A last test that does not lower a cost, its own left out, makes no tree of its own.
    bool is_idle(std::int64_t node, std::int64_t sum, std::int64_t shape) const {
        if (counts_tests || !may_be_leaf[node] || leaf_cost[node] - sum >= 2) return false;
        return leaf_second.empty() || leaf_second[node] - second_of(shape) < 2;
    }

    // Calls with_pair(i, j, cost, shape, count) for each pair of classes of an option's children
    // that makes trees of the node; `count` is the number of pairs of subtrees.
    template <class WithPair>
    void for_pairs(const Classes& classes, std::int64_t node, std::int64_t option,
                   WithPair with_pair) const {
        const std::int64_t most = max_splits - level[node];
        if (is_last(option)) {
            const std::int64_t sum = cost[option] + split_cost;
            const std::int64_t shape = last_shape(option);
            if (sum <= bound[node] && most >= 1 && second_of(shape) <= max_second) {
                with_pair(0, 0, sum, shape, Count{1});
            }
            return;
        }
        const std::int64_t left_node = child[2 * option], right_node = child[2 * option + 1];
        const TreeClass* left = classes.of(left_node);
        const TreeClass* right = classes.of(right_node);
        for (std::int64_t i = 0; i < classes.size[left_node]; ++i) {
            for (std::int64_t j = 0; j < classes.size[right_node]; ++j) {
                const std::int64_t sum = left[i].cost + right[j].cost;
                if (sum + split_cost > bound[node]) break;
                const std::int64_t shape = joined(left[i].shape, right[j].shape);
                const std::int64_t n_splits = splits_of(shape);
                if (n_splits > most || (n_splits == 1 && is_idle(node, sum, shape))) continue;
                if (second_of(shape) > max_second) continue;
                with_pair(i, j, sum + split_cost, shape, left[i].count * right[j].count);
            }
        }
    }

    // Throws std::overflow_error where there are too many trees to count. When the search was
    // stopped, the root has no classes.
    Classes make_classes(const std::vector<char>& allowed, SearchControl* control) const {
        Classes classes;
        std::int64_t booked = 0, work = 0;
        classes.begin.assign(n_nodes(), 0);
        classes.size.assign(n_nodes(), 0);
        std::vector<double> n_trees(n_nodes(), 0.0);
        ClassTable table;
        for (std::int64_t node = n_nodes() - 1; node >= 0; --node) {
            if (is_leaf(node)) {
                table.add(leaf_cost[node], leaf_shape(node), 1);
                n_trees[node] = 1.0;
            }
            for (std::int64_t o = option_begin[node]; o < option_begin[node + 1]; ++o) {
                const Count ways = n_ways(o, allowed);
                if (ways == 0) continue;
                double most = static_cast<double>(ways);
                for (int side = 0; side < 2 && !is_last(o); ++side) {
                    most *= n_trees[child[2 * o + side]];
                }
                n_trees[node] += most;
                if (n_trees[node] > MOST_TREES) throw std::overflow_error("too many trees");
                for_pairs(classes, node, o,
                          [&](std::int64_t, std::int64_t, std::int64_t sum, std::int64_t shape,
                              Count count) {
                              table.add(sum, shape, ways * count);
                              ++work;
                          });
            }
            classes.begin[node] = static_cast<std::int64_t>(classes.all.size());
            classes.size[node] = static_cast<std::int64_t>(table.size());
            table.move_to(classes.all);
            const std::int64_t bytes =
                static_cast<std::int64_t>(classes.all.size() * sizeof(TreeClass)) - booked;
            booked += bytes;
            if (!control->reserve(bytes) || control->stopped()) break;
            if ((work += classes.size[node]) < 100000) continue;
            work = 0;
            if (control->poll()) break;
        }
        if (control->stopped()) classes.size[0] = 0;
        control->memory_used.fetch_sub(booked);
        return classes;
    }

    // Appends the tree of a rank of a class: (test or -1, child of the rows that pass it, child of
    // the others), in preorder. `places` are the nodes of the graph that its nodes are, -1 for
    // leaves of a last test.
    void find(const Classes& classes, const std::vector<char>& allowed, std::int64_t node,
              std::int64_t at, Count rank, std::vector<std::int32_t>& tree,
              std::vector<std::int32_t>& places) const {
        const TreeClass wanted = classes.of(node)[at];
        const std::size_t index = tree.size();
        add_leaf(node, tree, places);
        if (splits_of(wanted.shape) == 0) return;
        for (std::int64_t o = option_begin[node]; o < option_begin[node + 1]; ++o) {
            const Count ways = n_ways(o, allowed);
            if (ways == 0) continue;
            std::int64_t i, j;
            Count count;
            if (next_pair(classes, node, o, wanted, ways, rank, i, j, count)) {
                std::int64_t k = test_begin[o] - 1;
                for (Count skip = rank / count + 1; skip > 0; skip -= is_allowed(k, allowed)) ++k;
                const bool is_complement = tests[k] < 0;
                tree[index] = test(k);
                rank %= count;
                const Count n_second = is_last(o) ? 1 : classes.of(child[2 * o + 1])[j].count;
                const Count ranks[2] = {rank / n_second, rank % n_second};
                const std::int64_t indices[2] = {i, j};
                for (int turn = 0; turn < 2; ++turn) {
                    const int side = is_complement ? 1 - turn : turn;
                    tree[index + 1 + turn] = static_cast<std::int32_t>(tree.size() / 3);
                    if (is_last(o)) {
                        add_leaf(-1, tree, places);
                    } else {
                        find(classes, allowed, child[2 * o + side], indices[side], ranks[side],
                             tree, places);
                    }
                }
                return;
            }
        }
        throw std::logic_error("a class has fewer trees than were counted");
    }

private:
    static void add_leaf(std::int64_t node, std::vector<std::int32_t>& tree,
                         std::vector<std::int32_t>& places) {
        tree.insert(tree.end(), {-1, -1, -1});
        places.push_back(static_cast<std::int32_t>(node));
    }

    // Whether an option has the tree of a rank among the trees of a class: if so, in which pair of
    // classes, of how many trees for each test. `rank` becomes the rank within it, or what is left.
    bool next_pair(const Classes& classes, std::int64_t node, std::int64_t option,
                   const TreeClass& wanted, Count ways, Count& rank, std::int64_t& i,
                   std::int64_t& j, Count& count) const {
        bool is_found = false;
        for_pairs(classes, node, option,
                  [&](std::int64_t left, std::int64_t right, std::int64_t sum, std::int64_t shape,
                      Count n_pairs) {
                      if (is_found || sum != wanted.cost || shape != wanted.shape) return;
                      if (rank >= ways * n_pairs) {
                          rank -= ways * n_pairs;
                          return;
                      }
                      is_found = true;
                      i = left;
                      j = right;
                      count = n_pairs;
                  });
        return is_found;
    }
};

}  // namespace sktree_opt
