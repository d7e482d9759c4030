// The scores that leaves may have, and their parameters (see objectives.hpp).
#pragma once

namespace sktree_opt {

enum class Score : int { TWO_CLASS, LARGEST, GINI, ENTROPY, PESSIMISTIC, SQUARED };

// Parameters of a score besides counts; see objectives.hpp.
template <class Lane>
struct ScoreParameters {
    int n_channels = 1;  // summed channels that the score reads
    int n_supports = 0;  // channels after them, each with a minimum for every leaf
    Lane minimum_support[2] = {};
    const double* x_log_x = nullptr;  // entropy: table for whole counts
    double z = 0.0;                   // pessimistic error: the normal quantile of
    double cf = 0.25;                 // this confidence
    Lane least_weight = 0;            // a leaf of less is empty, but for rounding
};

}  // namespace sktree_opt
