// A number for each of LANES columns, in as many native vectors as its type needs. Included once
// per instruction set.

template <class T>
struct Pack {
    using N = Native<T, VECTOR_BYTES>;
    static constexpr int PARTS = LANES * sizeof(T) / VECTOR_BYTES;
    N part[PARTS];
};

template <class T>
SKTREE_INLINE Pack<T> load_pack(const T* from) {
    Pack<T> pack;
    for (int k = 0; k < Pack<T>::PARTS; ++k) {
        pack.part[k] = load_native<T, VECTOR_BYTES>(from + k * (VECTOR_BYTES / sizeof(T)));
    }
    return pack;
}
template <class T>
SKTREE_INLINE void store_pack(T* to, Pack<T> pack) {
    for (int k = 0; k < Pack<T>::PARTS; ++k) {
        store_native<T, VECTOR_BYTES>(to + k * (VECTOR_BYTES / sizeof(T)), pack.part[k]);
    }
}
template <class T>
SKTREE_INLINE Pack<T> fill_pack(T value) {
    Pack<T> pack;
    for (int k = 0; k < Pack<T>::PARTS; ++k) pack.part[k] = fill_native<T, VECTOR_BYTES>(value);
    return pack;
}

#define SKTREE_LANEWISE(op)                                                          \
    template <class T>                                                               \
    SKTREE_INLINE Pack<T> operator op(Pack<T> a, Pack<T> b) {                        \
        for (int k = 0; k < Pack<T>::PARTS; ++k) a.part[k] = a.part[k] op b.part[k]; \
        return a;                                                                    \
    }
SKTREE_LANEWISE(+)
SKTREE_LANEWISE(-)
SKTREE_LANEWISE(*)
SKTREE_LANEWISE(/)
#undef SKTREE_LANEWISE

template <class T>
SKTREE_INLINE Pack<T> larger(Pack<T> a, Pack<T> b) {
    for (int k = 0; k < Pack<T>::PARTS; ++k) a.part[k] = larger_native(a.part[k], b.part[k]);
    return a;
}
template <class T>
SKTREE_INLINE Pack<T> smaller(Pack<T> a, Pack<T> b) {
    for (int k = 0; k < Pack<T>::PARTS; ++k) a.part[k] = smaller_native(a.part[k], b.part[k]);
    return a;
}
template <class T>
SKTREE_INLINE Pack<T> magnitude(Pack<T> a) {
    for (int k = 0; k < Pack<T>::PARTS; ++k) a.part[k] = magnitude_native(a.part[k]);
    return a;
}
template <class T>
SKTREE_INLINE Pack<T> where_at_least(Pack<T> value, Pack<T> minimum, Pack<T> a, Pack<T> b) {
    for (int k = 0; k < Pack<T>::PARTS; ++k) {
        a.part[k] = where_at_least_native(value.part[k], minimum.part[k], a.part[k], b.part[k]);
    }
    return a;
}

// 16-bit counts in the lanes' own type.
template <class T>
SKTREE_INLINE Pack<T> widen(Vector16 counts) {
    std::int16_t narrow[LANES];
    T wide[LANES];
    store_native<std::int16_t, VECTOR_BYTES>(narrow, counts);
    for (int lane = 0; lane < LANES; ++lane) wide[lane] = static_cast<T>(narrow[lane]);
    return load_pack(wide);
}
template <>
SKTREE_INLINE Pack<std::int16_t> widen<std::int16_t>(Vector16 counts) {
    Pack<std::int16_t> pack;
    pack.part[0] = counts;
    return pack;
}

template <class T>
SKTREE_INLINE T largest_lane(Pack<T> pack) {
    T lanes[LANES];
    store_pack(lanes, pack);
    T best = lanes[0];
    for (int lane = 1; lane < LANES; ++lane) best = lanes[lane] > best ? lanes[lane] : best;
    return best;
}

// amount / weight; 0 for an empty leaf, whose weight may differ from 0 by rounding.
template <class T>
SKTREE_INLINE Pack<T> share(Pack<T> amount, Pack<T> weight, const ScoreParameters<T>& p) {
    const Pack<T> least = fill_pack(p.least_weight);
    return where_at_least(weight, least, amount / larger(weight, least), fill_pack<T>(0));
}

// What costs much a lane is a function of its own: inlined for every leaf it would take minutes to
// compile and gain nothing.
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

// C4.5's estimate of the errors on new rows that a leaf with `e` errors in weight `w` makes: the
// upper limit of a binomial rate, by the normal approximation with correction for continuity, exact
// at 0 errors and interpolated below 1 (Quinlan, C4.5, 1993, section 4.2). z belongs to confidence
// `cf`.
inline double upper_errors(double w, double e, double z, double cf) {
    if (w <= 0.0) return 0.0;
    const double none = w * (1.0 - std::pow(cf, 1.0 / w));
    if (e < 1e-6) return none;
    if (e < 0.9999) return none + e * (upper_errors(w, 1.0, z, cf) - none);
    if (e + 0.5 >= w) return e + 0.67 * (w - e);
    const double f = e + 0.5, z2 = z * z;
    return w * (f + z2 / 2.0 + z * std::sqrt(f * (1.0 - f / w) + z2 / 4.0)) / (w + z2);
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
