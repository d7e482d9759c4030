// Leaf scores, the one place where objectives differ. Included once per instruction set.
//
// A tree's cost is unit * (base - sum of its leaves' scores), where base is a sum over rows that no
// tree changes; so the search maximises scores. A score reads the counts of one leaf by channel for
// a whole vector of columns.
//
// The page on extending lists the files that a new score touches.

// amount / weight; 0 for an empty leaf, whose weight may differ from 0 by rounding.
template <class T>
SKTREE_INLINE Pack<T> share(Pack<T> amount, Pack<T> weight, const ScoreParameters<T>& p) {
    const Pack<T> least = fill_pack(p.least_weight);
    return where_at_least(weight, least, amount / larger(weight, least), fill_pack<T>(0));
}

// A function that takes long for each lane is not inlined: that would take minutes to compile and
// gain nothing.
template <class T>
SKTREE_APART void x_log_x_lanes(T* lanes, const ScoreParameters<T>& p) {
    for (int lane = 0; lane < LANES; ++lane) {
        const T x = lanes[lane];
        if (p.x_log_x != nullptr) {
            lanes[lane] = p.x_log_x[static_cast<int>(x)];
        } else {
            lanes[lane] = x > 0 ? x * std::log2(x) : 0;
        }
    }
}
template <class T>
SKTREE_INLINE Pack<T> x_log_x(Pack<T> pack, const ScoreParameters<T>& p) {
    T lanes[LANES];
    store_pack(lanes, pack);
    x_log_x_lanes(lanes, p);
    return load_pack(lanes);
}

// Errors become minus the estimate, by lane.
template <class T>
SKTREE_APART void estimate_lanes(const T* weights, T* scores, const ScoreParameters<T>& p) {
    for (int lane = 0; lane < LANES; ++lane) {
        const bool empty = weights[lane] < p.least_weight;
        const double estimate = empty ? 0.0 : upper_errors(weights[lane], scores[lane], p.z, p.cf);
        scores[lane] = static_cast<T>(-estimate);
    }
}
template <class T>
SKTREE_INLINE Pack<T> pessimistic_scores(Pack<T> weight, Pack<T> errors,
                                         const ScoreParameters<T>& p) {
    T weights[LANES], scores[LANES];
    store_pack(weights, weight);
    store_pack(scores, errors);
    estimate_lanes(weights, scores, p);
    return load_pack(scores);
}

// The counts n_ij of the rows that have both column i and each column j of a vector, with what the
// counts of the other three combinations follow from (eqs. 2-5 of the paper).
template <class Lane, class Both>
struct PairCounts {
    Both both;           // n_ij, see below
    const Lane* row;     // n_i, by channel
    const Lane* column;  // n_j
    int stride;          // between channels of `row` and `column`
    const Lane* total;   // n
};

template <class Lane>
struct CountsInMemory {
    const Lane* counts;
    int step;  // between channels
    SKTREE_INLINE Pack<Lane> channel(int c) const { return load_pack(counts + c * step); }
};
// Of one channel.
template <class Lane>
struct CountsInRegister {
    Pack<Lane> counts;
    SKTREE_INLINE Pack<Lane> channel(int) const { return counts; }
};
// For leaves of a single test.
struct NoCounts {};

struct LeafBoth {
    template <class Lane, class Both>
    static SKTREE_INLINE Pack<Lane> count(const PairCounts<Lane, Both>& n, int channel) {
        return n.both.channel(channel);
    }
};
struct LeafColumnOnly {
    template <class Lane, class Both>
    static SKTREE_INLINE Pack<Lane> count(const PairCounts<Lane, Both>& n, int channel) {
        return load_pack(n.column + channel * n.stride) - LeafBoth::count(n, channel);
    }
};
struct LeafRowOnly {
    template <class Lane, class Both>
    static SKTREE_INLINE Pack<Lane> count(const PairCounts<Lane, Both>& n, int channel) {
        return fill_pack(n.row[channel * n.stride]) - LeafBoth::count(n, channel);
    }
};
struct LeafNeither {
    template <class Lane, class Both>
    static SKTREE_INLINE Pack<Lane> count(const PairCounts<Lane, Both>& n, int channel) {
        const Lane without_row = n.total[channel] - n.row[channel * n.stride];
        return fill_pack(without_row) - LeafColumnOnly::count(n, channel);
    }
};
// One test only: the rows that have column j, and those that have not.
struct LeafColumn {
    template <class Lane, class Both>
    static SKTREE_INLINE Pack<Lane> count(const PairCounts<Lane, Both>& n, int channel) {
        return load_pack(n.column + channel * n.stride);
    }
};
struct LeafNoColumn {
    template <class Lane, class Both>
    static SKTREE_INLINE Pack<Lane> count(const PairCounts<Lane, Both>& n, int channel) {
        return fill_pack(n.total[channel]) - load_pack(n.column + channel * n.stride);
    }
};
struct LeafAll {
    template <class Lane, class Both>
    static SKTREE_INLINE Pack<Lane> count(const PairCounts<Lane, Both>& n, int channel) {
        return fill_pack(n.total[channel]);
    }
};

// Errors with two classes. The only channel is the difference d of the class weights: a leaf of
// weight w errs on (w - |d|) / 2. One channel in place of two halves the work of the kernel.
struct TwoClassScore {
    template <class Leaf, class Lane, class Both>
    static SKTREE_INLINE Pack<Lane> score(const PairCounts<Lane, Both>& n,
                                          const ScoreParameters<Lane>&) {
        return magnitude(Leaf::count(n, 0));
    }
};

// The largest channel: weight of the class a leaf answers (errors of any number of classes), or,
// with a channel for each answer, what that answer saves over the worst one (a cost matrix).
struct LargestScore {
    template <class Leaf, class Lane, class Both>
    static SKTREE_INLINE Pack<Lane> score(const PairCounts<Lane, Both>& n,
                                          const ScoreParameters<Lane>& p) {
        Pack<Lane> best = Leaf::count(n, 0);
        for (int c = 1; c < p.n_channels; ++c) best = larger(best, Leaf::count(n, c));
        return best;
    }
};

// Summed Gini impurity: w (1 - sum of (w_c / w)^2) = w - sum of w_c^2 / w.
struct GiniScore {
    template <class Leaf, class Lane, class Both>
    static SKTREE_INLINE Pack<Lane> score(const PairCounts<Lane, Both>& n,
                                          const ScoreParameters<Lane>& p) {
        Pack<Lane> weight = Leaf::count(n, 0);
        Pack<Lane> squares = weight * weight;
        for (int c = 1; c < p.n_channels; ++c) {
            const Pack<Lane> count = Leaf::count(n, c);
            weight = weight + count;
            squares = squares + count * count;
        }
        return share(squares, weight, p);
    }
};

// Summed entropy in bits: w log w - sum of w_c log w_c.
struct EntropyScore {
    template <class Leaf, class Lane, class Both>
    static SKTREE_INLINE Pack<Lane> score(const PairCounts<Lane, Both>& n,
                                          const ScoreParameters<Lane>& p) {
        Pack<Lane> weight = Leaf::count(n, 0);
        Pack<Lane> sum = x_log_x(weight, p);
        for (int c = 1; c < p.n_channels; ++c) {
            const Pack<Lane> count = Leaf::count(n, c);
            weight = weight + count;
            sum = sum + x_log_x(count, p);
        }
        return sum - x_log_x(weight, p);
    }
};

// C4.5's estimate of a leaf's errors on new rows: DL8's example of an objective that is not a
// count.
struct PessimisticScore {
    template <class Leaf, class Lane, class Both>
    static SKTREE_INLINE Pack<Lane> score(const PairCounts<Lane, Both>& n,
                                          const ScoreParameters<Lane>& p) {
        Pack<Lane> weight = Leaf::count(n, 0);
        Pack<Lane> best = weight;
        for (int c = 1; c < p.n_channels; ++c) {
            const Pack<Lane> count = Leaf::count(n, c);
            weight = weight + count;
            best = larger(best, count);
        }
        return pessimistic_scores(weight, weight - best, p);
    }
};

// Squared error: sum of w y^2 (the base) - (sum of w y)^2 / sum of w.
struct SquaredScore {
    template <class Leaf, class Lane, class Both>
    static SKTREE_INLINE Pack<Lane> score(const PairCounts<Lane, Both>& n,
                                          const ScoreParameters<Lane>& p) {
        const Pack<Lane> sum = Leaf::count(n, 1);
        return share(sum * sum, Leaf::count(n, 0), p);
    }
};
