// Which decisions a failure hangs on, so that others are not tried in vain.
//
// Problem: below some decisions no tree is wanted, because it costs too much. Which of the decisions
// are needed to say so? Exact: any tree on which those units are decided alike costs too much.
// The scheme is known from constraint programming: P. Prosser, "Hybrid algorithms for the constraint
// satisfaction problem", Computational Intelligence 9 (1993), section 4 (conflict-directed
// backjumping). That the parts of a cost come with their reasons is ours.
//
//   Claim         a part of the tree costs at least this, as long as some units stay decided: those on
//                 the path to a leaf or an open node, and those that its bound hangs on
//   explanation   enough claims to show that the whole costs too much, chosen to need no late decision
//
// Mostly a few leaves have all the cost, and the decisions of the other parts of the tree play no role:
// where the last decision plays none, its other side fails too. Two sides that fail for the reasons R
// and Q, which have the unit u in common, fail for R and Q without u.
// Units that many of the last failures hang on are decided early, where they fail for more (as in M. W.
// Moskewicz et al., "Chaff: engineering an efficient SAT solver", DAC 2001, section 3: VSIDS).
// Cost: claims times decisions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sktree_opt/subset/subset_bounds.hpp"

namespace sktree_opt::subset {

constexpr UnitMask ALL_UNITS = ~UnitMask{0};

struct Claim {
    Cost cost = 0;
    UnitMask why = 0;
    Cost least = 0;           // what it costs for
    UnitMask why_least = 0;   // these reasons alone
};

// The units that show that the claims sum to what they do less `spare`, at most. `latest` are the
// decisions, the last first: what hangs on them is given up first.
inline UnitMask explain(std::vector<Claim>& claims, Cost spare,
                        const std::vector<UnitMask>& latest) {
    UnitMask used = 0;
    for (const Claim& claim : claims) used |= claim.why | claim.why_least;
    for (UnitMask unit : latest) {
        if ((used & unit) == 0) continue;
        Cost lost = 0;
        for (const Claim& claim : claims) {
            if ((claim.why_least & unit) != 0) {
                lost += claim.cost;
            } else if ((claim.why & unit) != 0) {
                lost += claim.cost - claim.least;
            }
        }
        if (lost > spare) continue;
        spare -= lost;
        used = 0;
        std::size_t n_kept = 0;
        for (Claim claim : claims) {
            if ((claim.why_least & unit) != 0) continue;
            if ((claim.why & unit) != 0) {
                claim.cost = claim.least;
                claim.why = claim.why_least;
            }
            if (claim.cost == 0) continue;
            used |= claim.why;
            claims[n_kept++] = claim;
        }
        claims.resize(n_kept);
    }
    return used;
}

// How much units have been to blame for failures, of which the last weigh most.
class Blame {
public:
    void add(UnitMask why) {
        weight_ *= GROWTH;
        for (; why != 0; why &= why - 1) blame_[lowest_bit(why)] += weight_;
        if (weight_ < LARGE) return;
        for (double& blame : blame_) blame /= LARGE;
        weight_ /= LARGE;
    }
    double of(std::int32_t unit) const { return blame_[unit & 63]; }

private:
    static constexpr double GROWTH = 1.05, LARGE = 1e100;
    std::array<double, 64> blame_{};
    double weight_ = 1.0;
};

}  // namespace sktree_opt::subset
