// The engine as Python sees it: one object for one fit, of the number type that the problem needs.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#if defined(_OPENMP)
#include <omp.h>
#endif

#include "sktree_opt/optimal/_build_problem.hpp"
#include "sktree_opt/optimal/_reconstruct.hpp"
#include "sktree_opt/optimal/_search.hpp"

namespace sktree_opt {

class Engine {
public:
    virtual ~Engine() = default;
    // Starts a search; solves at most two levels. Costs of splits may differ from search to search.
    virtual void begin(int max_depth, int max_splits, double split_cost) = 0;
    // Searches to `depth`, which is at most the largest depth plus one of those before.
    virtual void deepen(int depth, double upper, int n_threads) = 0;
    // The tree of the incumbent, or of the optimum once it is proved.
    virtual std::vector<TreeNode> tree() = 0;

    double cost() const { return incumbent_.cost + constant_; }
    double lower_bound() const { return lower_bound_ + constant_; }
    const std::vector<Incumbent>& incumbents() const { return incumbents_; }
    const SearchStats& stats() const { return stats_; }
    double constant() const { return constant_; }
    std::int64_t cache_bytes() const {
        return caches_ ? caches_->bounds.bytes() + caches_->small.bytes() : 0;
    }
    int n_columns() const { return n_columns_; }
    int n_slots() const { return n_slots_; }
    const char* lane_name() const { return lane_name_; }

protected:
    Incumbent incumbent_;
    std::vector<Incumbent> incumbents_;
    double lower_bound_ = 0.0;
    double constant_ = 0.0;
    SearchStats stats_;
    std::unique_ptr<Caches> caches_;
    int n_columns_ = 0, n_slots_ = 0;
    const char* lane_name_ = "";
};

template <class Lane>
class EngineOf final : public Engine {
public:
    EngineOf(
        const Reduction& reduced, const std::vector<double>& coefficients,
        const Objective& objective, const Constraints& constraints, const Switches& switches,
        Simd simd, SearchControl& control, std::int64_t cache_bytes)
        : control_(control) {
        problem_.objective = objective;
        problem_.constraints = constraints;
        problem_.switches = switches;
        problem_.channels = plan_channels(objective, constraints);
        if (!choose_kernels(simd, objective.score, problem_.kernels))
            throw std::logic_error("no kernel for this score and number type");
        problem_.bits = choose_bit_kernels(simd);
        lay_out(reduced, coefficients, problem_);
        problem_.is_signed = counts_signs();
        set_score();
        largest_cost_ = std::max(sum_up(reduced), 1e-290);
        set_table(largest_cost_);
        row_sets_.build(
            problem_.words.data(), problem_.present.data(), problem_.n_words, problem_.stride,
            problem_.n_columns);
        caches_.reset(new Caches(control, cache_bytes));
        constant_ = problem_.constant = reduced.cancelled * objective.pair_cost();
        n_columns_ = problem_.n_columns;
        n_slots_ = problem_.n_words * 16;
        lane_name_ = sizeof(Lane) == 2 ? "int16" : sizeof(Lane) == 4 ? "int32" : "float64";
    }

    void begin(int max_depth, int max_splits, double split_cost) override {
        budget_ = max_splits;
        const LaneType lane = sizeof(Lane) == 8 ? LaneType::DOUBLE : LaneType::INT32;
        problem_.split_cost = 0.0;
        problem_.grid = cost_grid(problem_.objective, lane, split_cost, largest_cost_);
        problem_.slack = (lane == LaneType::DOUBLE ? 64.0 : 0.5) * problem_.grid;
        problem_.split_cost = std::nearbyint(split_cost / problem_.grid) * problem_.grid;
        if (started_ && problem_.split_cost != last_split_cost_) ++caches_->salt;
        last_split_cost_ = problem_.split_cost;
        max_depth_ = max_depth;
        searches_.clear();
        searches_.emplace_back(new Search<Lane>(problem_, row_sets_, *caches_, control_, max_depth));
        started_ = true;
        incumbent_ = Incumbent();
        incumbents_.clear();
        const Node<Lane>& root = searches_[0]->root();
        // A sweep that was stopped halfway has no answer but the leaf.
        incumbent_.cost = control_.stopped()
                              ? leaf_cost(root)
                              : searches_[0]->small_cost(root, max_depth, max_splits);
        incumbent_.seconds = control_.seconds();
        incumbents_.push_back(incumbent_);
        proved_depth_ = control_.stopped() ? 0 : std::min(max_depth, 2);
        lower_bound_ = proved_depth_ == max_depth || max_splits <= 1 ? incumbent_.cost : 0.0;
    }

    void deepen(int depth, double upper, int n_threads) override {
        if (control_.stopped() || depth != proved_depth_ + 1 || depth > max_depth_) return;
        SharedRoot shared;
        shared.best.store(std::min(incumbent_.cost, upper));
        make_searches(n_threads);
        const int budget = std::min(budget_, full_budget(depth));
        shared.sequence = searches_[0]->root_sequence(depth, budget);
        const int n_team = static_cast<int>(searches_.size());
#pragma omp parallel num_threads(n_team) if (n_team > 1)
        {
#if defined(_OPENMP)
            const int thread = omp_get_thread_num();
#else
            const int thread = 0;
#endif
            try {
                searches_[thread]->explore_root(depth, budget, shared);
            } catch (const std::bad_alloc&) {
                control_.request_stop(MEMORY_LIMIT);
            }
        }
        finish(depth, shared);
    }

    std::vector<TreeNode> tree() override {
        Search<Lane>& search = *searches_[0];
        if (proved_depth_ > 0 && !control_.stopped()) {
            Reconstruction<Lane> exact(search, true);
            exact.build(0, max_depth_, budget_, incumbent_.cost);
            collect_stats();
            if (!control_.stopped()) return std::move(exact.nodes);
        }
        Reconstruction<Lane> known(search, false);
        if (proved_depth_ == 0) return {TreeNode()};
        if (incumbent_.column >= 0)
            known.build_incumbent(incumbent_);
        else
            known.build(0, std::min(2, max_depth_), budget_, incumbent_.cost);
        return std::move(known.nodes);
    }

private:
    void set_score() {
        ScoreParameters<Lane>& score = problem_.score;
        const ChannelPlan& plan = problem_.channels;
        const Constraints& constraints = problem_.constraints;
        score.n_channels = plan.n_channels;
        score.n_supports = plan.n_supports();
        int k = 0;
        if (plan.counts_rows)
            score.minimum_support[k++] = static_cast<Lane>(constraints.min_samples_leaf);
        if (plan.sums_weights) {
            // Sums of real weights that should equal the minimum may fall short by rounding.
            const double minimum = sizeof(Lane) == 8
                                       ? constraints.min_weight_leaf * (1.0 - 1e-12)
                                       : std::ceil(constraints.min_weight_leaf);
            score.minimum_support[k++] = static_cast<Lane>(minimum);
        }
        score.z = problem_.objective.z;
        score.cf = problem_.objective.cf;
        score.least_weight = static_cast<Lane>(problem_.objective.least_weight / 2.0);
    }

    // Two classes, all rows of weight 1, and nothing counted but the score and the mass.
    bool counts_signs() const {
        if (sizeof(Lane) != 2 || problem_.channels.n_all() != 2) return false;
        for (std::size_t k = 0; k < problem_.coefficients.size(); k += 2)
            if (std::abs(static_cast<double>(problem_.coefficients[k])) != 1.0 ||
                problem_.coefficients[k + 1] != 1)
                return false;
        return true;
    }

    // Mass (or base) of all rows times what a unit can cost at most.
    double sum_up(const Reduction& reduced) const {
        double total = 0.0;
        const ChannelPlan& plan = problem_.channels;
        const int n_all = plan.n_all();
        for (std::size_t g = 0; g < reduced.groups.size(); ++g)
            total += reduced.group_values[g * n_all + plan.base()];
        std::size_t s = 0;
        for (const auto& segment : reduced.segments)
            total += static_cast<double>(problem_.coefficients[s++ * n_all + plan.mass()]) *
                     static_cast<double>(segment.second.size());
        return total;
    }

    // Whole counts: logarithms by table.
    void set_table(double total) {
        if (problem_.objective.score != Score::ENTROPY || problem_.has_values) return;
        for (const Lane coefficient : problem_.coefficients)
            if (static_cast<double>(coefficient) != std::floor(static_cast<double>(coefficient)))
                return;
        if (total > 1e6) return;
        problem_.x_log_x.resize(static_cast<std::size_t>(total) + 2);
        for (std::size_t x = 1; x < problem_.x_log_x.size(); ++x)
            problem_.x_log_x[x] = static_cast<double>(x) * std::log2(static_cast<double>(x));
        problem_.score.x_log_x = problem_.x_log_x.data();
    }

    double leaf_cost(const Node<Lane>& root) const {
        // The base is the cost of a tree without any merit; no leaf costs more.
        const double base = static_cast<double>(root.totals[problem_.channels.base()]);
        return problem_.objective.unit * problem_.objective.base_factor * base;
    }

    void make_searches(int n_threads) {
#if !defined(_OPENMP)
        n_threads = 1;
#endif
        n_threads = std::max(1, std::min(n_threads, n_columns_));
        searches_.resize(std::min<std::size_t>(searches_.size(), n_threads));
        while (static_cast<int>(searches_.size()) < n_threads)
            searches_.emplace_back(
                new Search<Lane>(problem_, row_sets_, *caches_, control_, max_depth_));
    }

    void finish(int depth, SharedRoot& shared) {
        if (shared.incumbent.cost < incumbent_.cost) {
            incumbent_ = shared.incumbent;
            incumbents_.push_back(incumbent_);
        }
        collect_stats();
        if (!control_.stopped()) {
            proved_depth_ = depth;
            if (depth == max_depth_) lower_bound_ = incumbent_.cost;
            return;
        }
        if (depth < max_depth_) return;
        Search<Lane>& search = *searches_[0];
        std::size_t n_read = 0;
        Phase& phase = search.root().phases[depth];
        if (!phase.is_open) return;
        search.read_found(shared, phase, n_read);
        lower_bound_ = std::min(incumbent_.cost, search.least_bound(search.root(), phase));
    }

    void collect_stats() {
        stats_ = SearchStats();
        for (const auto& search : searches_) stats_.add(search->stats());
    }

    SearchControl& control_;
    Problem<Lane> problem_;
    RowSets row_sets_;
    std::vector<std::unique_ptr<Search<Lane>>> searches_;
    double largest_cost_ = 1.0;
    double last_split_cost_ = 0.0;
    int max_depth_ = 2, budget_ = 3, proved_depth_ = 0;
    bool started_ = false;
};

inline Engine* make_engine(
    const Rows& rows, const Objective& objective, const Constraints& constraints,
    const Switches& switches, SearchControl& control, std::int64_t cache_bytes) {
    Simd simd;
    if (!choose_simd(simd))
        throw std::invalid_argument(
            "SKTREE_OPT_SIMD must be one of avx512, avx2, neon, portable that this processor has.");
    const Reduction reduced =
        reduce(rows, objective, constraints, switches, choose_bit_kernels(simd));
    const ChannelPlan plan = plan_channels(objective, constraints);
    const std::vector<double> coefficients =
        segment_coefficients(reduced, objective, plan, rows.weights == nullptr);
    switch (pick_lane(objective, reduced, coefficients, plan.n_all())) {
        case LaneType::INT16:
            return new EngineOf<std::int16_t>(
                reduced, coefficients, objective, constraints, switches, simd, control, cache_bytes);
        case LaneType::INT32:
            return new EngineOf<std::int32_t>(
                reduced, coefficients, objective, constraints, switches, simd, control, cache_bytes);
        default:
            return new EngineOf<double>(
                reduced, coefficients, objective, constraints, switches, simd, control, cache_bytes);
    }
}

}  // namespace sktree_opt
