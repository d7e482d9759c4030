// C4.5's estimate of errors on new rows, which objectives and pruning share.
#pragma once

#include <algorithm>
#include <cmath>

namespace sktree_opt {

// The upper limit of a binomial rate, for a leaf with `e` errors in weight `w` (Quinlan, C4.5,
// 1993, section 4.2, and its program file Subset.c). It is the normal approximation with correction
// for continuity, exact at 0 errors and interpolated below 1. `z` is the normal quantile of
// 1 - `cf`, the confidence.
inline double upper_errors(double w, double e, double z, double cf) {
    if (w <= 0.0) return e;
    const double none = w * (1.0 - std::pow(cf, 1.0 / w));
    if (e < 1e-6) return e + none;
    if (e < 0.9999) return none + e * (upper_errors(w, 1.0, z, cf) - none);
    if (e + 0.5 >= w) return e + 0.67 * std::max(0.0, w - e);
    const double f = e + 0.5, z2 = z * z;
    return w * (f + z2 / 2.0 + z * std::sqrt(f * (1.0 - f / w) + z2 / 4.0)) / (w + z2);
}

}  // namespace sktree_opt
