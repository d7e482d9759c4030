// The engine as Python sees it: one object for a fit, compiled for the number type that the problem
// needs.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sktree_opt/optimal/bits/bit_search.hpp"
#include "sktree_opt/optimal/bits/build_problem.hpp"
#include "sktree_opt/optimal/bits/cache.hpp"
#include "sktree_opt/optimal/bits/child_bounds.hpp"
#include "sktree_opt/optimal/bits/discrepancy.hpp"
#include "sktree_opt/optimal/bits/reconstruct.hpp"
#include "sktree_opt/utils/team.hpp"

namespace sktree_opt {

// Lower bounds on the cost of both sides of a column of the root, by the splits that a side has.
struct RootColumn {
    std::int32_t column, budget;
    double with, without;
};

class BitEngineBase {
public:
    explicit BitEngineBase(SearchControl& control) : held_(control.hold()) {}
    virtual ~BitEngineBase() = default;
    // Starts a search; solves at most two levels. Costs of splits may differ from search to search.
    virtual void begin(int max_depth, int max_splits, double split_cost) = 0;
    // Takes a tree within the limits that was known before the search.
    virtual void offer(const std::vector<TreeNode>& nodes, double cost) = 0;
    // Searches to `depth`, at most one level deeper than before. Returns false if `seconds` were
    // over first; then it has to be called again. The first call for a level takes what is `known`
    // of columns of the root from another search of the same level.
    // With ANY_DEPTH, trees of all depths are searched, and `sweeps` may be over first, too.
    virtual bool deepen(int depth, double upper, int n_threads, double seconds, double sweeps,
                        const std::vector<RootColumn>& known) = 0;
    // Begins a search to `depth` of trees with one of some columns at the root. Other levels and
    // columns are searched elsewhere: only the incumbent and `known_columns` are its answer.
    virtual void open_part(int depth, const std::vector<std::int32_t>& columns) = 0;
    // The columns of the root in the order in which the level that has begun tries them.
    virtual std::vector<std::int32_t> root_columns() const = 0;
    // Columns of the root with the bounds that the last level has proved.
    virtual std::vector<RootColumn> known_columns() const = 0;
    // Takes what another search of the level that has begun knows of columns of the root.
    virtual void learn(const std::vector<RootColumn>& known) = 0;
    // Whether trees of all depths can be searched at once: each split has a cost, and the depths
    // that are allowed include all trees that are better than the best one known.
    virtual bool covers_any_depth() const = 0;
    // Searches for a better tree that differs from the greedy one in few places (see
    // discrepancy.hpp).
    virtual void search_discrepancies(int discrepancies) = 0;
    // The tree of the incumbent.
    virtual std::vector<TreeNode> known_tree() = 0;
    // The tree that wins ties against the incumbent (see reconstruct.hpp), if the search has proved
    // the incumbent optimal. If the incumbent costs nothing, the fewest splits are still unknown:
    // smaller trees are searched for with at most `share` of all work before.
    virtual std::vector<TreeNode> tree(double share) = 0;
    // Whether the incumbent has more than two levels and costs nothing. A search ends at the first
    // such tree.
    virtual bool costs_nothing() const = 0;
    // Whether `tree` has found that no tree as good has fewer splits.
    bool has_fewest_splits() const { return has_fewest_splits_; }

    // Solves the root for two levels `n_times` more. Benchmarks of the kernel call it.
    virtual void solve_root(int n_times) = 0;

    double cost() const { return true_cost(incumbent_.cost) + constant_; }
    double lower_bound() const { return true_cost(lower_bound_) + constant_; }
    const std::vector<Moment>& moments() const { return moments_; }
    const BitStats& stats() const { return stats_; }
    double constant() const { return constant_; }
    std::int64_t cache_bytes() const {
        return caches_ ? caches_->bounds.bytes() + caches_->small.bytes() : 0;
    }
    std::int64_t n_cache_entries() const {
        return caches_ ? caches_->bounds.n_entries() + caches_->small.n_entries() : 0;
    }
    virtual double true_cost(double cost) const = 0;
    int n_columns() const { return n_columns_; }
    int n_slots() const { return n_slots_; }
    const char* lane_name() const { return lane_name_; }

protected:
    const std::shared_ptr<SearchControl> held_;
    BitIncumbent incumbent_;
    std::vector<Moment> moments_;
    double lower_bound_ = 0.0;
    double constant_ = 0.0;
    bool has_fewest_splits_ = false;
    BitStats stats_;
    std::unique_ptr<Caches> caches_;
    int n_columns_ = 0, n_slots_ = 0;
    const char* lane_name_ = "";
};

template <class Lane>
class BitEngineOf final : public BitEngineBase {
public:
    BitEngineOf(const Reduction& reduced, const std::vector<double>& coefficients,
                const BitObjective& objective, const BitConstraints& constraints,
                const BitSwitches& switches, InstructionSet set, SearchControl& control,
                std::int64_t cache_bytes)
        : BitEngineBase(control), control_(control) {
        problem_.objective = objective;
        problem_.constraints = constraints;
        problem_.switches = switches;
        problem_.channels = plan_channels(objective, constraints);
        if (!choose_kernels(set, objective.score, problem_.kernels)) {
            throw std::logic_error("no kernel for this score and number type");
        }
        problem_.bits = choose_bit_kernels(set);
        lay_out(reduced, coefficients, problem_);
        problem_.largest_power = largest_power();
        set_score();
        problem_.common_weight = reduced.common_weight;
        if (can_sweep_roughly()) {
            round_values(problem_.values.data(), problem_.n_words * 16, problem_.channels.n_all(),
                         problem_.common_weight, problem_.rough);
        }
        // The grid is relative to all costs, including those of equal rows. Far smaller differences
        // are rounding errors.
        const double within = objective.base_factor * reduced.within;
        largest_cost_ = std::max(sum_up(reduced) + within, 1e-290);
        set_table(largest_cost_);
        row_sets_.build(problem_.words.data(), problem_.present.data(), problem_.n_words,
                        problem_.stride, problem_.n_columns);
        caches_.reset(new Caches(control, cache_bytes));
        constant_ = problem_.constant =
            reduced.cancelled * objective.pair_cost() + objective.unit * within;
        n_columns_ = problem_.n_columns;
        n_slots_ = problem_.n_words * 16;
        lane_name_ = sizeof(Lane) == 2 ? "int16" : sizeof(Lane) == 4 ? "int32" : "float64";
    }

    void begin(int max_depth, int max_splits, double split_cost) override {
        // Bounds are kept for each number of splits up to the limit, so a limit that no tree can
        // reach is dropped.
        budget_ = max_splits =
            max_splits < most_useful_splits(split_cost) ? max_splits : full_budget(max_depth);
        const LaneType lane = sizeof(Lane) == 8 ? LaneType::DOUBLE : LaneType::INT32;
        problem_.grid = cost_grid(problem_.objective, lane, split_cost, largest_cost_, n_slots_);
        split_cost_ = split_cost;
        problem_.split_cost = std::nearbyint(split_cost / problem_.grid) * problem_.grid;
        set_tie_cost(lane);
        // The smallest of equally good trees wins: rounding changes the cost of a split by at most
        // half of this.
        const bool is_rounded = lane != LaneType::DOUBLE && problem_.tie_cost == 0.0;
        if (is_rounded) problem_.split_cost += problem_.grid;
        problem_.slack = (lane == LaneType::DOUBLE ? 64.0 : 0.5) * problem_.grid;
        caches_->salt = salt_of(problem_.split_cost);
        max_depth_ = max_depth;
        shared_.reset();
        searches_.clear();
        searches_.emplace_back(new BitSearch<Lane>(problem_, row_sets_, *caches_, control_));
        incumbent_ = BitIncumbent();
        moments_.clear();
        const BitNode<Lane>& root = searches_[0]->root();
        // After a sweep that was stopped halfway, the leaf is the only answer.
        incumbent_.cost = control_.stopped()
                              ? leaf_cost(root)
                              : searches_[0]->small_cost(root, max_depth, max_splits);
        proved_depth_ = control_.stopped() ? 0 : std::min(max_depth, 2);
        is_of_any_depth_ = false;
        const bool is_small = max_depth <= 2 || max_splits <= 1;
        lower_bound_ = 0.0;
        if (proved_depth_ > 0) {
            // Trees of more than two splits have at least three.
            const double few = searches_[0]->small_cost(root, 2, std::min(max_splits, 2));
            lower_bound_ = is_small ? incumbent_.cost : std::min(few, 3.0 * problem_.split_cost);
        }
        add_moment();
    }

    void offer(const std::vector<TreeNode>& nodes, double cost) override {
        const int n_splits = static_cast<int>(nodes.size() / 2);
        // The search has rounded the cost of each split.
        const double of_leaves = cost - n_splits * split_cost_;
        cost = std::nearbyint(of_leaves / problem_.grid) * problem_.grid +
               n_splits * problem_.split_cost;
        if (!(cost < incumbent_.cost)) return;
        incumbent_ = {cost, depth_of(nodes, 0), nodes};
        if (shared_ && cost < shared_->best.load()) {
            shared_->best.store(cost);
            shared_->incumbent = incumbent_;
        }
        add_moment();
    }

    bool deepen(int depth, double upper, int n_threads, double seconds, double sweeps,
                const std::vector<RootColumn>& known) override {
        if (depth == ANY_DEPTH) return search_any_depth(upper, n_threads, seconds, sweeps, known);
        if (control_.stopped() || depth != proved_depth_ + 1 || depth > max_depth_) return true;
        const int budget = std::min(budget_, full_budget(depth));
        explore_root(depth, budget, upper, n_threads, seconds, known);
        return finish(depth, budget, bound_on(upper));
    }

    bool covers_any_depth() const override {
        if (!problem_.switches.any_depth || budget_ < full_budget(max_depth_)) return false;
        if (!(problem_.split_cost > problem_.tie_cost)) return false;
        // A tree has no more levels than splits.
        return max_depth_ == ANY_DEPTH || incumbent_.cost <= (max_depth_ + 1) * problem_.split_cost;
    }

    void open_part(int depth, const std::vector<std::int32_t>& columns) override {
        for (const std::int32_t column : columns) {
            if (column < 0 || column >= searches_[0]->root().n_columns) {
                throw std::invalid_argument("a column that the root does not have");
            }
        }
        proved_depth_ = depth - 1;
        shared_.reset(new SharedRoot());
        shared_->best.store(incumbent_.cost);
        shared_->incumbent = incumbent_;
        shared_->is_part = true;
        shared_->sequence = columns;
    }

    std::vector<std::int32_t> root_columns() const override {
        return shared_ ? shared_->sequence : std::vector<std::int32_t>();
    }

    void learn(const std::vector<RootColumn>& known) override {
        if (!shared_) return;
        const int depth = proved_depth_ + 1, budget = std::min(budget_, full_budget(depth));
        take_known(searches_[0]->open_root(depth, budget).n_budgets, known);
    }

    std::vector<RootColumn> known_columns() const override {
        std::vector<RootColumn> known;
        if (is_of_any_depth_) {
            const BitNode<Lane>& root = searches_[0]->root();
            const ChildBounds& bounds = root.child_bounds[ANY_DEPTH];
            for (int j = 0; j < root.n_columns && bounds.is_open; ++j) {
                known.push_back({j, 0, bounds.bounds_true[j], bounds.bounds_false[j]});
            }
            return known;
        }
        for (const auto& one : shared_ ? shared_->found : found_) {
            known.push_back(
                {one.column, one.budget, one.sides.optimum_true, one.sides.optimum_false});
        }
        return known;
    }

    void solve_root(int n_times) override {
        for (int k = 0; k < n_times; ++k) searches_[0]->maker().solve_small(searches_[0]->root());
    }

    void search_discrepancies(int discrepancies) override {
        if (control_.stopped() || max_depth_ < 3 || budget_ < 2) return;
        BitIncumbent found =
            DiscrepancySearch<Lane>(*searches_[0])
                .search_discrepancies(max_depth_, budget_, discrepancies, incumbent_.cost);
        collect_stats();
        if (found.nodes.empty()) return;
        found.depth = depth_of(found.nodes, 0);
        incumbent_ = std::move(found);
        add_moment();
    }

    double true_cost(double cost) const override { return problem_.true_cost(cost); }

    std::vector<TreeNode> known_tree() override {
        if (!incumbent_.nodes.empty()) return incumbent_.nodes;
        if (proved_depth_ == 0) {
            return {TreeNode()};
        }
        return Reconstruction<Lane>(*searches_[0], Order::INDEX).two_levels(max_depth_, budget_);
    }

    bool costs_nothing() const override {
        return !incumbent_.nodes.empty() && true_cost(incumbent_.cost) <= 0.0;
    }

    std::vector<TreeNode> tree(double share) override {
        has_fewest_splits_ = false;
        if (cost() > lower_bound() || control_.stopped()) return known_tree();
        const bool is_perfect = costs_nothing() && problem_.is_perfect(incumbent_.cost);
        if (is_perfect && !make_smallest(share)) return known_tree();
        Reconstruction<Lane> exact(*searches_[0], Order::INDEX);
        std::vector<TreeNode> nodes;
        // Where a bound ended the search early, deeper trees are not searched.
        if (is_of_any_depth_) {
            nodes = exact.smallest(ANY_DEPTH, full_budget(ANY_DEPTH), incumbent_.cost);
        } else if (proved_depth_ == max_depth_ || is_perfect) {
            nodes = exact.smallest(max_depth_, budget_, incumbent_.cost);
        } else {
            nodes = exact.shallowest(max_depth_, budget_, incumbent_.cost);
        }
        collect_stats();
        // No tree of more than two levels has fewer splits than the smallest of two.
        const bool has_two_levels = incumbent_.nodes.empty();
        has_fewest_splits_ =
            !exact.failed() && (proved_depth_ == max_depth_ || is_perfect || has_two_levels);
        return exact.failed() ? known_tree() : nodes;
    }

private:
    // Work that is always allowed: about a tenth of a millisecond (see SweepCounter).
    static constexpr double FREE_WORK = 1e7;

    void set_score() {
        ScoreParameters<Lane>& score = problem_.score;
        const ChannelPlan& plan = problem_.channels;
        const BitConstraints& constraints = problem_.constraints;
        score.n_channels = plan.n_channels;
        score.n_supports = plan.n_supports();
        int k = 0;
        if (plan.counts_rows) {
            score.minimum_support[k++] = static_cast<Lane>(constraints.min_samples_leaf);
        }
        if (plan.sums_weights) {
            // Sums of real weights that should equal the minimum may fall short by rounding.
            const double minimum = sizeof(Lane) == 8 ? constraints.min_weight_leaf * (1.0 - 1e-12)
                                                     : std::ceil(constraints.min_weight_leaf);
            score.minimum_support[k++] = static_cast<Lane>(minimum);
        }
        score.z = problem_.objective.z;
        score.cf = problem_.objective.cf;
        score.least_weight = static_cast<Lane>(problem_.objective.least_weight / 2.0);
    }

    bool can_sweep_roughly() const {
        return problem_.has_values && problem_.kernels.sweep_roughly != nullptr &&
               problem_.channels.n_supports() == 0 && problem_.switches.rough_sweeps;
    }

    // The largest weight, if there are two classes, all weights (or their bits) are powers of two,
    // and only the score and the mass are counted (see SweepTask). Else 0.
    int largest_power() const {
        if (!problem_.switches.signed_counts || sizeof(Lane) != 2 ||
            problem_.channels.n_all() != 2) {
            return 0;
        }
        int largest = 0;
        for (std::size_t k = 0; k < problem_.coefficients.size(); k += 2) {
            const int power = std::abs(static_cast<int>(problem_.coefficients[k]));
            if (power == 0 || (power & (power - 1)) != 0) return 0;
            if (static_cast<int>(problem_.coefficients[k + 1]) != power) return 0;
            largest = std::max(largest, power);
        }
        return largest;
    }

    // The largest cost of all rows, in units: their summed base or mass.
    double sum_up(const Reduction& reduced) const {
        double total = 0.0;
        const ChannelPlan& plan = problem_.channels;
        const int n_all = plan.n_all();
        for (std::size_t g = 0; g < reduced.groups.size(); ++g) {
            total += reduced.group_values[g * n_all + plan.base()];
        }
        std::size_t s = 0;
        for (const auto& segment : reduced.segments) {
            total += static_cast<double>(problem_.coefficients[s++ * n_all + plan.mass()]) *
                     static_cast<double>(segment.second.size());
        }
        return total;
    }

    // Whole counts: logarithms by table.
    void set_table(double total) {
        if (problem_.objective.score != Score::ENTROPY || problem_.has_values) return;
        for (const Lane coefficient : problem_.coefficients) {
            if (static_cast<double>(coefficient) != std::floor(static_cast<double>(coefficient))) {
                return;
            }
        }
        if (total > 1e6) return;
        problem_.x_log_x.resize(static_cast<std::size_t>(total) + 2);
        for (std::size_t x = 1; x < problem_.x_log_x.size(); ++x) {
            problem_.x_log_x[x] = static_cast<double>(x) * std::log2(static_cast<double>(x));
        }
        problem_.score.x_log_x = problem_.x_log_x.data();
    }

    double leaf_cost(const BitNode<Lane>& root) const {
        // Without a base, scores are costs.
        if (problem_.objective.base_factor == 0.0) {
            return std::nearbyint(problem_.objective.leaf_cost / problem_.grid) * problem_.grid;
        }
        // The base is the largest cost that a tree can have.
        const double base = static_cast<double>(root.totals[problem_.channels.base()]);
        return problem_.objective.unit * problem_.objective.base_factor * base;
    }

    void make_searches(int n_threads) {
        n_threads = std::max(1, std::min(n_threads, n_columns_));
        searches_.resize(std::min<std::size_t>(searches_.size(), n_threads));
        while (static_cast<int>(searches_.size()) < n_threads) {
            searches_.emplace_back(new BitSearch<Lane>(problem_, row_sets_, *caches_, control_));
        }
    }

    // See `deepen`, for trees of all depths.
    bool search_any_depth(double upper, int n_threads, double seconds, double sweeps,
                          const std::vector<RootColumn>& known) {
        if (control_.stopped() || !covers_any_depth()) return true;
        const int budget = full_budget(ANY_DEPTH);
        make_searches(n_threads);
        is_of_any_depth_ = true;
        const double share = sweeps / static_cast<double>(searches_.size());
        for (const auto& search : searches_) search->limit_sweeps(share);
        explore_root(ANY_DEPTH, budget, upper, n_threads, seconds, known);
        bool is_cut = false;
        for (const auto& search : searches_) is_cut |= search->stopped();
        for (const auto& search : searches_) {
            search->limit_sweeps(std::numeric_limits<double>::infinity());
        }
        const bool is_done = finish(ANY_DEPTH, budget, bound_on(upper), is_cut);
        // Columns that were not finished are tried again.
        if (is_cut) shared_.reset();
        return is_done;
    }

    void take_known(int n_budgets, const std::vector<RootColumn>& known) {
        for (const RootColumn& one : known) {
            if (one.column < 0 || one.column >= searches_[0]->root().n_columns || one.budget < 0 ||
                one.budget >= n_budgets) {
                shared_.reset();
                throw std::invalid_argument("a bound on no column of the root");
            }
            shared_->found.push_back({one.column, one.budget, {one.with, one.without}});
        }
    }

    // Lets a team try the columns of the root, for `seconds`; see `deepen`.
    void explore_root(int depth, int budget, double upper, int n_threads, double seconds,
                      const std::vector<RootColumn>& known) {
        make_searches(n_threads);
        if (!shared_) {
            shared_.reset(new SharedRoot());
            shared_->best.store(std::min(incumbent_.cost, bound_on(upper)));
            shared_->incumbent = incumbent_;
            shared_->is_last = depth == max_depth_ || depth == ANY_DEPTH;
            shared_->sequence = searches_[0]->root_sequence(depth, budget);
            take_known(searches_[0]->open_root(depth, budget).n_budgets, known);
        }
        shared_->seconds = control_.seconds() + seconds;
        const int n_team = static_cast<int>(searches_.size());
        run_tasks(control_, n_team, n_team, [&](std::int64_t member, int) {
            try {
                searches_[member]->explore_root(depth, budget, *shared_, TreeOfColumn());
            } catch (const std::bad_alloc&) {
                control_.request_stop(MEMORY_LIMIT);
            }
        });
    }

    // Searches for a tree that is as good as the incumbent and has fewer splits. Returns false
    // after a stop, or when the work exceeds `share` of all work before.
    bool make_smallest(double share) {
        BitSearch<Lane>& search = *searches_[0];
        const double free_work = share > 0.0 ? FREE_WORK : 0.0;
        search.limit_work(search.maker().sweeps.work * (1.0 + share) + free_work);
        // A tree has at least as many splits as levels.
        for (int depth = 3; depth <= max_depth_ && !search.stopped(); ++depth) {
            if (depth * problem_.tie_cost >= incumbent_.cost) break;
            const int budget = std::min(budget_, full_budget(depth));
            SharedRoot level;
            level.best.store(incumbent_.cost);
            level.incumbent = incumbent_;
            level.counts_splits = true;
            level.sequence = search.root_sequence(depth, budget);
            try {
                search.explore_root(depth, budget, level, TreeOfColumn());
            } catch (const std::bad_alloc&) {
                control_.request_stop(MEMORY_LIMIT);
            }
            incumbent_ = std::move(level.incumbent);
        }
        const bool is_done = !search.stopped();
        search.lift_work_limit();
        collect_stats();
        return is_done;
    }

    // Makes the tree of a column that beats the incumbent.
    struct TreeOfColumn {
        std::vector<TreeNode> operator()(BitSearch<Lane>& search, const SolvedColumn& root) const {
            Reconstruction<Lane> tree(search, Order::LOOK_AHEAD);
            std::vector<TreeNode> nodes = tree.below(root);
            return tree.failed() ? std::vector<TreeNode>() : nodes;
        }
    };

    // Returns false if columns of the root are left.
    bool finish(int depth, int budget, double upper, bool is_cut = false) {
        SharedRoot& shared = *shared_;
        BitSearch<Lane>& search = *searches_[0];
        incumbent_ = shared.incumbent;
        moments_.insert(moments_.end(), shared.moments.begin(), shared.moments.end());
        shared.moments.clear();
        collect_stats();
        if (shared.is_part) {
            return control_.stopped() || problem_.is_perfect(shared.best.load()) ||
                   shared.next.load() >= static_cast<int>(shared.sequence.size());
        }
        if (shared.is_last) lower_bound_ = std::max(lower_bound_, shared.bound);
        if (control_.stopped()) return true;
        const double best = std::min(incumbent_.cost, upper);
        // Such a tree was found, or no tree can cost less than `upper`.
        const bool is_perfect = problem_.is_perfect(shared.best.load());
        const bool is_over = shared.next.load() >= static_cast<int>(shared.sequence.size());
        if (is_cut) {
            ChildBounds& bounds = search.open_root(depth, budget);
            lower_bound_ =
                std::max(lower_bound_, std::min(best, search.least_bound(search.root(), bounds)));
            return false;
        }
        if (!is_over && !is_perfect) return false;
        const bool is_exact =
            incumbent_.cost <= upper && (depth == ANY_DEPTH || incumbent_.depth <= depth);
        if (!is_perfect) search.remember(search.root(), depth, budget, best, is_exact);
        proved_depth_ = std::min(depth, max_depth_);
        // Deeper trees have more splits than this one has levels.
        const double of_deeper = (depth + 1) * problem_.split_cost;
        if (shared.is_last || (of_deeper < best && of_deeper > lower_bound_)) {
            lower_bound_ = shared.is_last ? best : of_deeper;
            add_moment();
        }
        found_ = std::move(shared.found);
        shared_.reset();
        return true;
    }

    // `upper`, raised to the next cost that a tree can have without tie costs.
    double bound_on(double upper) const {
        return problem_.tie_cost > 0.0 ? std::ceil(upper / problem_.unit) * problem_.unit : upper;
    }

    void set_tie_cost(LaneType lane) {
        problem_.tie_cost = 0.0;
        problem_.unit = 0.0;
        if (lane == LaneType::DOUBLE || problem_.grid != problem_.objective.unit) return;
        problem_.unit = problem_.grid;
        // No tree has as many splits as rows, nor more than 2^20.
        problem_.tie_cost =
            problem_.unit / std::exp2(std::min(std::ceil(std::log2(n_slots_ + 1)), 21.0));
        problem_.grid = problem_.tie_cost;
        problem_.split_cost += problem_.tie_cost;
    }

    // More splits than this leave a leaf empty, or cost more than a single leaf.
    double most_useful_splits(double split_cost) const {
        const double most = n_slots_;
        return split_cost > 0.0 ? std::min(most, largest_cost_ / split_cost) : most;
    }

    static int depth_of(const std::vector<TreeNode>& nodes, int at) {
        const TreeNode& node = nodes[at];
        if (node.column < 0) return 0;
        return 1 + std::max(depth_of(nodes, node.with), depth_of(nodes, node.without));
    }

    void add_moment() {
        if (!moments_.empty() && moments_.back().cost == incumbent_.cost &&
            moments_.back().bound == lower_bound_) {
            return;
        }
        moments_.push_back({control_.seconds(), incumbent_.cost, lower_bound_});
    }

    // The number of this split cost among those searched so far. Cached bounds hold for one split
    // cost.
    int salt_of(double split_cost) {
        const auto known = std::find(split_costs_.begin(), split_costs_.end(), split_cost);
        const auto salt = known - split_costs_.begin();
        if (known == split_costs_.end()) split_costs_.push_back(split_cost);
        return static_cast<int>(salt);
    }

    void collect_stats() {
        stats_ = BitStats();
        for (const auto& search : searches_) stats_.add(search->stats());
    }

    SearchControl& control_;
    BitProblem<Lane> problem_;
    RowSets row_sets_;
    std::vector<std::unique_ptr<BitSearch<Lane>>> searches_;
    std::unique_ptr<SharedRoot> shared_;          // of the depth that is being searched
    std::vector<SharedRoot::FoundColumn> found_;  // in the last depth that has been searched
    double largest_cost_ = 1.0;
    double split_cost_ = 0.0;  // as it was given
    std::vector<double> split_costs_;
    int max_depth_ = 2, budget_ = 3, proved_depth_ = 0;
    bool is_of_any_depth_ = false;  // the proof
};

inline BitEngineBase* make_engine(const InputRows& rows, const BitObjective& objective,
                                  const BitConstraints& constraints, const BitSwitches& switches,
                                  InstructionSet set, SearchControl& control,
                                  std::int64_t cache_bytes) {
    const Reduction reduced =
        reduce(rows, objective, constraints, switches, choose_bit_kernels(set));
    const ChannelPlan plan = plan_channels(objective, constraints);
    const std::vector<double> coefficients =
        segment_coefficients(reduced, objective, plan, rows.weights == nullptr);
    switch (pick_lane(objective, reduced, coefficients, plan.n_all(), switches.narrow_lanes)) {
        case LaneType::INT16:
            return new BitEngineOf<std::int16_t>(reduced, coefficients, objective, constraints,
                                                 switches, set, control, cache_bytes);
        case LaneType::INT32:
            return new BitEngineOf<std::int32_t>(reduced, coefficients, objective, constraints,
                                                 switches, set, control, cache_bytes);
        default:
            return new BitEngineOf<double>(reduced, coefficients, objective, constraints, switches,
                                           set, control, cache_bytes);
    }
}

}  // namespace sktree_opt
