// The features of one case set, ranked by several threads.
//
// What takes the time of a search is to find the best split of each feature at a node, which features
// have nothing to do with each other for. So they are shared out, each thread with its own working
// memory; what is found does not depend on threads. Sharing whole trees out instead would keep threads
// busy longer at a time, but what one finds is of use to the others, and the largest tree of a step is
// most of its work.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sktree_opt/subset/node_growth.hpp"
#include "sktree_opt/subset/threads.hpp"

namespace sktree_opt::subset {

class RankingTeam {
public:
    // Below so many cases times features a second thread is not worth waking.
    static constexpr std::int64_t MIN_WORK = 4000;

    // `own` ranks where there is not enough to share.
    RankingTeam(const Problem& problem, SearchControl& control, CaseLearner& own, int n_threads,
                std::int64_t min_work)
        : own_(own), min_work_(min_work) {
        for (int i = 0; i < n_threads && n_threads > 1; ++i) {
            members_.push_back(std::make_unique<Member>(problem, control));
        }
    }

    // As CaseLearner::rank.
    void rank(const greedy::CaseSet& cases, const std::vector<std::int32_t>& features,
              std::vector<RankedFeature>& ranked, std::vector<std::int32_t>& varying) {
        const std::size_t n = members_.size();
        const auto work = static_cast<std::int64_t>(features.size()) * cases.size();
        if (n == 0 || work < min_work_) {
            own_.rank(cases, features, ranked, varying);
            return;
        }
        run_tasks(n, static_cast<int>(n), [&](std::size_t i, int) {
            Member& member = *members_[i];
            member.features.assign(features.begin() + i * features.size() / n,
                                   features.begin() + (i + 1) * features.size() / n);
            member.learner.rank(cases, member.features, member.ranked, member.varying);
        });
        ranked.clear();
        varying.clear();
        for (const auto& member : members_) {
            ranked.insert(ranked.end(), member->ranked.begin(), member->ranked.end());
            varying.insert(varying.end(), member->varying.begin(), member->varying.end());
        }
    }

private:
    struct Member {
        Member(const Problem& problem, SearchControl& control) : learner(problem, control) {}
        CaseLearner learner;
        std::vector<std::int32_t> features, varying;
        std::vector<RankedFeature> ranked;
    };

    CaseLearner& own_;
    std::int64_t min_work_;
    std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace sktree_opt::subset
