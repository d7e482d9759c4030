// Change of the answers of a tree when one feature is not known: exact for the tree and the weights
// of its nodes. No table is needed.
//
// The rows of a leaf are known by its path: an interval, some categories, missing or not, for each
// feature. Without feature j, such a row goes down every branch of a test on j by the branches'
// weight. A test on another feature sends it where its path says; if the path leaves several
// branches open, it goes down these by weight. With a(L) the answer of leaf L, m_j(L) the mean
// answer of the leaves that the row then reaches and w(L) the weight of L,
//
//     importance(j) = sum over leaves L of w(L) |a(L) - m_j(L)|^2
//
// For class frequencies this is the increase of the Brier score, for means that of the squared
// error. It is 0 if no answer depends on j.
//
// Cost: for each leaf and each feature on its path, the leaves that the row reaches: at most
// leaves^2 for each feature. A part of a row below `least_share` is not followed further, but
// answered by the mean of the node that it has reached: 1 / least_share nodes of a level at most.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sktree_opt/tree/node_record.hpp"

namespace sktree_opt {

class ImportanceSums {
public:
    ImportanceSums(const Node* nodes, std::size_t n_nodes, const std::int32_t* category_branch,
                   const double* leaf_answers, std::int32_t n_outputs, std::size_t n_features,
                   double least_share)
        : nodes_(nodes),
          category_branch_(category_branch),
          n_outputs_(n_outputs),
          least_share_(least_share),
          answers_(leaf_answers, leaf_answers + n_nodes * n_outputs),
          known_(n_features),
          top_test_(n_features, -1),
          mixture_(n_outputs) {
        average_answers(n_nodes);
    }

    // Adds the importance of each feature to `out`.
    void run(double* out) {
        path_.assign(1, {0, -1, {}});
        while (!path_.empty()) {
            Step& step = path_.back();
            const Node& node = nodes_[step.node];
            if (node.kind == LEAF && node.weight > 0.0) add_leaf(step.node, out);
            leave_branch(step);
            if (++step.branch < node.n_children) {
                enter_branch(step);
                path_.push_back({node.first_child + step.branch, -1, {}});
            } else {
                if (node.kind != LEAF && top_test_[node.feature] == step.node) {
                    top_test_[node.feature] = -1;
                }
                path_.pop_back();
            }
        }
    }

private:
    enum Presence : std::uint8_t { ANY, PRESENT, ABSENT };

    // What a path tells about a feature. Without `open_categories` all are open.
    struct KnownOfFeature {
        double above = -std::numeric_limits<double>::infinity();
        double up_to = std::numeric_limits<double>::infinity();
        Presence presence = ANY;
        std::vector<std::uint8_t> open_categories;
    };
    // A node of the path, the branch it takes, and what was known before of the tested feature.
    struct Step {
        std::int32_t node;
        std::int32_t branch;
        KnownOfFeature before;
    };

    double* answer(std::int32_t node) {
        return answers_.data() + static_cast<std::size_t>(node) * n_outputs_;
    }

    // Inner nodes answer by the mean of their leaves; children come after their parent.
    void average_answers(std::size_t n_nodes) {
        for (std::size_t i = n_nodes; i-- > 0;) {
            const Node& node = nodes_[i];
            if (node.kind == LEAF) continue;
            double total = 0.0;
            double* mean = answer(static_cast<std::int32_t>(i));
            for (std::int32_t b = 0; b < node.n_children; ++b) {
                total += nodes_[node.first_child + b].weight;
            }
            if (!(total > 0.0)) continue;
            std::fill(mean, mean + n_outputs_, 0.0);
            for (std::int32_t b = 0; b < node.n_children; ++b) {
                add(node.first_child + b, nodes_[node.first_child + b].weight / total, mean);
            }
        }
    }

    void add(std::int32_t node, double share, double* to) {
        const double* from = answer(node);
        for (std::int32_t k = 0; k < n_outputs_; ++k) to[k] += share * from[k];
    }

    void leave_branch(Step& step) {
        if (step.branch >= 0) known_[nodes_[step.node].feature] = std::move(step.before);
    }

    void enter_branch(Step& step) {
        const Node& node = nodes_[step.node];
        if (top_test_[node.feature] < 0) top_test_[node.feature] = step.node;
        KnownOfFeature& known = known_[node.feature];
        step.before = known;
        if (node.kind == IS_MISSING) {
            known.presence = step.branch == 0 ? ABSENT : PRESENT;
            return;
        }
        if (node.missing_branch >= 0 && node.missing_branch != step.branch) {
            known.presence = PRESENT;
        }
        if (node.kind == NUMERIC) {
            double& bound = step.branch == 0 ? known.up_to : known.above;
            bound = step.branch == 0 ? std::min(bound, node.threshold)
                                     : std::max(bound, node.threshold);
            return;
        }
        known.open_categories.resize(node.n_categories, 1);
        const std::int32_t* branches = category_branch_ + node.category_start;
        for (std::int32_t c = 0; c < node.n_categories; ++c) {
            known.open_categories[c] &= branches[c] == step.branch;
        }
    }

    // Marks the branches of a test that are open to what is known of its feature; all if none is.
    // Rows whose path allows no value miss it.
    void find_open_branches(const Node& node) {
        const KnownOfFeature& known = known_[node.feature];
        open_.assign(node.n_children, 0);
        if (known.presence != ABSENT) open_known_branches(node, known);
        if (known.presence != PRESENT && is_none_open()) {
            const std::int32_t branch = node.kind == IS_MISSING ? 0 : node.missing_branch;
            if (branch >= 0) open_[branch] = 1;
        }
        if (is_none_open()) open_.assign(open_.size(), 1);
    }

    bool is_none_open() const { return std::find(open_.begin(), open_.end(), 1) == open_.end(); }

    void open_known_branches(const Node& node, const KnownOfFeature& known) {
        if (node.kind == IS_MISSING) {
            open_[0] = known.presence == ANY;
            open_[1] = 1;
        } else if (node.kind == NUMERIC) {
            if (!(known.above < known.up_to)) return;
            open_[0] = known.above < node.threshold;
            open_[1] = known.up_to > node.threshold;
        } else {
            const std::int32_t* branches = category_branch_ + node.category_start;
            const auto n_known = static_cast<std::int32_t>(known.open_categories.size());
            for (std::int32_t c = 0; c < node.n_categories; ++c) {
                if (c >= n_known || known.open_categories[c]) open_[branches[c]] = 1;
            }
        }
    }

    void add_leaf(std::int32_t leaf, double* out) {
        for (std::size_t depth = 0; depth + 1 < path_.size(); ++depth) {
            const std::int32_t top = path_[depth].node;
            const std::int32_t feature = nodes_[top].feature;
            if (top_test_[feature] != top) continue;
            mix(top, feature);
            double change = 0.0;
            for (std::int32_t k = 0; k < n_outputs_; ++k) {
                const double difference = answer(leaf)[k] - mixture_[k];
                change += difference * difference;
            }
            out[feature] += nodes_[leaf].weight * change;
        }
    }

    // Leaves in `mixture_` the mean answer of a row at `top` whose value of `feature` is not known.
    void mix(std::int32_t top, std::int32_t feature) {
        std::fill(mixture_.begin(), mixture_.end(), 0.0);
        parts_.assign(1, {top, 1.0});
        while (!parts_.empty()) {
            const auto [index, share] = parts_.back();
            parts_.pop_back();
            const Node& node = nodes_[index];
            if (node.kind == LEAF || share < least_share_) {
                add(index, share, mixture_.data());
                continue;
            }
            if (node.feature == feature) {
                open_.assign(node.n_children, 1);
            } else {
                find_open_branches(node);
            }
            follow(node, index, share);
        }
    }

    void follow(const Node& node, std::int32_t index, double share) {
        double total = 0.0;
        std::int32_t n_open = 0, last = 0;
        for (std::int32_t b = 0; b < node.n_children; ++b) {
            if (!open_[b]) continue;
            total += nodes_[node.first_child + b].weight;
            ++n_open;
            last = b;
        }
        if (n_open == 1) {
            parts_.push_back({node.first_child + last, share});
        } else if (!(total > 0.0)) {
            add(index, share, mixture_.data());
        } else {
            for (std::int32_t b = 0; b < node.n_children; ++b) {
                const double weight = nodes_[node.first_child + b].weight;
                if (open_[b] && weight > 0.0) {
                    parts_.push_back({node.first_child + b, share * weight / total});
                }
            }
        }
    }

    const Node* nodes_;
    const std::int32_t* category_branch_;
    std::int32_t n_outputs_;
    double least_share_;
    std::vector<double> answers_;
    std::vector<KnownOfFeature> known_;   // by feature
    std::vector<std::int32_t> top_test_;  // by feature: the first node of the path that tests it
    std::vector<Step> path_;
    std::vector<double> mixture_;
    std::vector<std::pair<std::int32_t, double>> parts_;
    std::vector<std::uint8_t> open_;  // by branch
};

}  // namespace sktree_opt
