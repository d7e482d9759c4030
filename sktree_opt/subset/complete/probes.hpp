// Lower bounds that rise in steps while a best tree is searched for.
//
// Problem: how much every tree DT(S) costs at least, told by a search that has not ended. Exact.
// The open decisions near the root bound next to nothing, and they are the last to be closed. So
// some of the work goes into probes: "no tree costs at most L" is proved by the same search
// (on_demand.hpp), with L as its limit; it prunes the more, the smaller L is. What is proved stays,
// and L rises: a destructive lower bound (R. Klein and A. Scholl, "Computing lower bounds by
// destructive improvement", EJOR 112 (1999)). A probe that finds a tree has found a better one.
//
//   L      -> Probe::limit
//   share  -> BestRules::probe_share
//
// L rises by a step, which doubles when a probe has been proved and shrinks when it takes too long.
// All is counted in decisions, not in seconds: the result depends on no machine and no thread.
// Cost: an eighth of the decisions, which are up to twice as dear. Memory: a second pool.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sktree_opt/subset/complete/decisions.hpp"

namespace sktree_opt::subset {

struct Probe {
    std::vector<SubSearch> pool;  // what is left of the probe
    bool is_open = false;
    Cost limit = 0, step = 0;
    Cost proved = 0;                // no tree costs less
    std::int64_t patience = 16384;  // decisions of a probe before its step shrinks
    std::int64_t n_here = 0;        // decisions of the probe
    std::int64_t n_decisions = 0;   // of all probes

    static constexpr Cost STEPS = 32;  // the first one is the gap by so many

    // Number of decisions that are due, given those of the search.
    std::int64_t n_due(std::int64_t n_searched, double share) const {
        const double n = static_cast<double>(n_searched + 1) * share;
        return static_cast<std::int64_t>(std::min(n, 1e15)) - n_decisions;
    }

    // Makes ready to go on, with a limit of at most `highest`.
    void prepare(Cost highest, const SearchProblem& problem) {
        if (is_open && n_here > patience && step > 1) {
            step = std::max<Cost>(1, step / 4);
            patience *= 2;
            is_open = false;
        }
        if (!is_open) {
            if (step == 0) step = std::max<Cost>(1, (highest - proved) / STEPS);
            SubSearch whole;
            whole.decisions = first_decisions(problem);
            pool.assign(1, whole);
            limit = proved + step - 1;
            n_here = 0;
            is_open = true;
        }
        limit = std::min(limit, highest);
    }

    // Books the decisions that were made; the rest is in the pool again.
    void went_on(std::int64_t n) {
        n_here += n;
        n_decisions += n;
        if (!pool.empty()) return;
        proved = std::max(proved, limit + 1);
        step *= 2;
        is_open = false;
    }
};

}  // namespace sktree_opt::subset
