// Counts sweeps and their work. Both are the same on any machine, so a limit on them does not make
// the answer depend on the processor.
#pragma once

#include <cstdint>

namespace sktree_opt {

struct SweepCounter {
    std::int64_t n = 0;
    double work = 0.0;  // pairs of columns by word

    void add(int n_words, int n_columns) {
        ++n;
        work += WORK_A_SWEEP + static_cast<double>(n_words) * n_columns * n_columns;
    }

private:
    // However few pairs there are, a sweep takes about a microsecond.
    static constexpr double WORK_A_SWEEP = 1e5;
};

}  // namespace sktree_opt
