// Counts the rows that have both of two columns, for a block of columns i against vectors of
// columns j. Included once per instruction set.
//
// The lanes of a vector are columns j. A broadcast word of column i is and-ed with the words of all
// these columns, and the popcount of each lane is the pair count itself. That makes 512 rows times
// columns an instruction with AVX-512, without a sum across lanes. The counts of a block fill the
// registers: a loaded word serves all rows of the block, a broadcast word all its vectors.

// Adds the counts of pairs (i + a, LANES columns from j + b * LANES) over the words first..last.
template <int ROWS, int VECTORS>
SKTREE_INLINE void count_words(const std::uint16_t* words, int stride, int first, int last, int i,
                               int j, Vector16 (&counts)[ROWS][VECTORS]) {
    for (int start = first; start < last; start += STEPS_PER_FOLD) {
        const int end = last - start < STEPS_PER_FOLD ? last : start + STEPS_PER_FOLD;
        Vector16 partial[ROWS][VECTORS];
        for (int a = 0; a < ROWS; ++a) {
            for (int b = 0; b < VECTORS; ++b) {
                partial[a][b] = FOLDS ? Vector16{} : counts[a][b];
            }
        }
        for (int w = start; w < end; ++w) {
            const std::uint16_t* row = words + static_cast<std::ptrdiff_t>(w) * stride;
            Vector16 columns[VECTORS];
            for (int b = 0; b < VECTORS; ++b) {
                columns[b] = load_native<std::int16_t, VECTOR_BYTES>(row + j + b * LANES);
            }
            for (int a = 0; a < ROWS; ++a) {
                const Vector16 spread = broadcast16(row + i + a);
                for (int b = 0; b < VECTORS; ++b) {
                    partial[a][b] = add_popcount(partial[a][b], columns[b] & spread);
                }
            }
        }
        for (int a = 0; a < ROWS; ++a) {
            for (int b = 0; b < VECTORS; ++b) {
                counts[a][b] = FOLDS ? counts[a][b] + fold_counts(partial[a][b]) : partial[a][b];
            }
        }
    }
}

// The same over the segments that count as `coefficient`.
template <int ROWS, int VECTORS>
SKTREE_INLINE void count_segments(const SweepTask<std::int16_t>& task, int coefficient, int i,
                                  int j, Vector16 (&counts)[ROWS][VECTORS]) {
    for (int s = 0; s < task.n_segments; ++s) {
        const Span span = task.spans[s];
        if (task.coefficients[s * task.n_all_channels] == coefficient) {
            count_words<ROWS, VECTORS>(task.words, task.stride, span.first_word,
                                       span.first_word + span.n_words, i, j, counts);
        }
    }
}

// Counts the only channel of a score whose coefficients are powers of two, or their negatives, in
// registers. From the largest power down, the counts are doubled at each step (Horner's rule).
// Their sign is turned around while segments are subtracted. Sums of 16-bit lanes do not overflow,
// whatever the number of words, because the search would have chosen wider lanes.
template <int ROWS, int VECTORS>
SKTREE_INLINE void count_signed(const SweepTask<std::int16_t>& task, int i, int j,
                                Vector16 (&counts)[ROWS][VECTORS]) {
    for (int a = 0; a < ROWS; ++a) {
        for (int b = 0; b < VECTORS; ++b) {
            counts[a][b] = Vector16{};
        }
    }
    for (int power = task.largest_power; power > 0; power /= 2) {
        for (int a = 0; a < ROWS && power < task.largest_power; ++a) {
            for (int b = 0; b < VECTORS; ++b) {
                counts[a][b] = Vector16{} - counts[a][b] - counts[a][b];
            }
        }
        count_segments<ROWS, VECTORS>(task, -power, i, j, counts);
        for (int a = 0; a < ROWS; ++a) {
            for (int b = 0; b < VECTORS; ++b) {
                counts[a][b] = Vector16{} - counts[a][b];
            }
        }
        count_segments<ROWS, VECTORS>(task, power, i, j, counts);
    }
}

// The same, together with the sums without signs.
template <int ROWS, int VECTORS>
SKTREE_INLINE void count_signed_and_mass(const SweepTask<std::int16_t>& task, int i, int j,
                                         Vector16 (&counts)[ROWS][VECTORS],
                                         Vector16 (&mass)[ROWS][VECTORS]) {
    for (const int sign : {-1, 1}) {
        for (int a = 0; a < ROWS; ++a) {
            for (int b = 0; b < VECTORS; ++b) {
                if (sign > 0) mass[a][b] = counts[a][b];
                counts[a][b] = Vector16{};
            }
        }
        for (int power = task.largest_power; power > 0; power /= 2) {
            for (int a = 0; a < ROWS; ++a) {
                for (int b = 0; b < VECTORS; ++b) counts[a][b] = counts[a][b] + counts[a][b];
            }
            count_segments<ROWS, VECTORS>(task, sign * power, i, j, counts);
        }
    }
    for (int a = 0; a < ROWS; ++a) {
        for (int b = 0; b < VECTORS; ++b) {
            const Vector16 negative = mass[a][b];
            mass[a][b] = counts[a][b] + negative;
            counts[a][b] = counts[a][b] - negative;
        }
    }
}

// The number of words whose counts fit in a lane of 16 bits.
constexpr int MAX_WORDS = 2047;

template <class Lane, int ROWS, int VECTORS>
SKTREE_INLINE void add_counts(Lane coefficient, const Vector16 (&counts)[ROWS][VECTORS],
                              Lane* sums) {
    const Pack<Lane> factor = fill_pack(coefficient);
    for (int a = 0; a < ROWS; ++a) {
        for (int b = 0; b < VECTORS; ++b) {
            Lane* sum = sums + (a * VECTORS + b) * LANES;
            store_pack(sum, load_pack(sum) + factor * widen<Lane>(counts[a][b]));
        }
    }
}

// Sums over the rows listed, of CHANNELS of `n_values` values of each row, in N native vectors of
// columns from j: a row adds its value in the columns that it has. Sums stay in registers.
template <int CHANNELS, int N, class Task, class Value>
SKTREE_INLINE void sum_listed(const Task& task, const Value* values, int n_values,
                              const std::int32_t* last, int j, Value* out, int channel_step) {
    Native<Value, VECTOR_BYTES> sums[CHANNELS][N];
    for (int c = 0; c < CHANNELS; ++c) {
        for (int k = 0; k < N; ++k) sums[c][k] = Native<Value, VECTOR_BYTES>{};
    }
    for (const std::int32_t* at = task.listed; at != last; ++at) {
        const std::ptrdiff_t slot = task.slots[*at];
        const std::uint8_t* bits = task.rows + slot * task.row_bytes + j / 8;
        const Value* row = values + slot * n_values;
        SKTREE_UNROLL
        for (int c = 0; c < CHANNELS; ++c) {
            SKTREE_UNROLL
            for (int k = 0; k < N; ++k) sums[c][k] = add_value(sums[c][k], bits, k, row[c]);
        }
    }
    constexpr int WIDTH = VECTOR_BYTES / static_cast<int>(sizeof(Value));
    for (int c = 0; c < CHANNELS; ++c) {
        for (int k = 0; k < N; ++k) {
            store_native<Value, VECTOR_BYTES>(out + c * channel_step + k * WIDTH, sums[c][k]);
        }
    }
}

// Lists the rows that have column i, or those without it.
template <class Task>
SKTREE_INLINE std::int32_t* list_rows(const Task& task, int i, bool with) {
    std::int32_t* last = task.listed;
    const std::uint16_t* word = task.words + i;
    const unsigned flip = with ? 0u : 0xFFFFu;
    int first = 0;
    for (; first + 16 <= task.n_slots; first += 16, word += task.stride) {
        last = append_bits(*word ^ flip, first, last);
    }
    if (first < task.n_slots) {
        last = append_bits((*word ^ flip) & ((1u << (task.n_slots - first)) - 1u), first, last);
    }
    return last;
}

// The first channel of a tile where all rows have the same value in it: a count.
template <int ROWS, int VECTORS>
SKTREE_INLINE void count_rows(const SweepTask<double>& task, int i, int j, double* tile) {
    for (int k = 0; k < ROWS * VECTORS; ++k) store_pack(tile + k * LANES, fill_pack(0.0));
    const int end = task.spans[0].n_words;
    for (int first = 0; first < end; first += MAX_WORDS) {
        const int last = end - first < MAX_WORDS ? end : first + MAX_WORDS;
        Vector16 counts[ROWS][VECTORS];
        for (int a = 0; a < ROWS; ++a) {
            for (int b = 0; b < VECTORS; ++b) {
                counts[a][b] = Vector16{};
            }
        }
        count_words<ROWS, VECTORS>(task.words, task.stride, first, last, i, j, counts);
        add_counts<double, ROWS, VECTORS>(task.common_weight, counts, tile);
    }
}

// A tile of sums of real values. Rows are added in their order, whatever the instruction set. Where
// most rows have a column, those without it are added up and subtracted from the sums of all rows.
// It does not depend on the objective: as a function of its own it is compiled once.
template <int ROWS, int VECTORS>
SKTREE_APART void sum_tile(const SweepTask<double>& task, int i, int j, double* tile) {
    constexpr int STEP = ROWS * VECTORS * LANES;
    const int first = task.common_weight > 0.0 ? 1 : 0;
    if (first > 0) count_rows<ROWS, VECTORS>(task, i, j, tile);
    for (int a = 0; a < ROWS; ++a) {
        const std::int32_t* last = list_rows(task, i + a, true);
        const bool has_most = 2 * (last - task.listed) > task.n_slots;
        if (has_most) last = list_rows(task, i + a, false);
        double* const row = tile + a * VECTORS * LANES;
        constexpr int N = VECTORS * Pack<double>::PARTS;
        const int n_values = task.n_all_channels;
        int c = first;
        for (; c + 2 <= task.n_counted; c += 2) {
            sum_listed<2, N>(task, task.values + c, n_values, last, j, row + c * STEP, STEP);
        }
        for (; c < task.n_counted; ++c) {
            sum_listed<1, N>(task, task.values + c, n_values, last, j, row + c * STEP, STEP);
        }
        for (c = first; c < task.n_counted && has_most; ++c) {
            for (int b = 0; b < VECTORS; ++b) {
                double* const sum = row + c * STEP + b * LANES;
                const double* all = task.counted->marginals + c * task.stride + j + b * LANES;
                store_pack(sum, load_pack(all) - load_pack(sum));
            }
        }
    }
}

// Counts of a tile of pairs, by channel: tile[((c * ROWS + a) * VECTORS + b) * LANES].
template <class Lane, int ROWS, int VECTORS>
SKTREE_APART void count_tile(const SweepTask<Lane>& task, int i, int j, Lane* tile) {
    const int per_channel = ROWS * VECTORS * LANES;
    if constexpr (sizeof(Lane) == sizeof(double)) {
        if (task.values != nullptr) {
            sum_tile<ROWS, VECTORS>(task, i, j, tile);
            return;
        }
    }
    for (int k = 0; k < task.n_counted * per_channel; k += LANES) {
        store_pack(tile + k, fill_pack<Lane>(0));
    }
    for (int s = 0; s < task.n_segments; ++s) {
        const Span span = task.spans[s];
        const int end = span.first_word + span.n_words;
        for (int first = span.first_word; first < end; first += MAX_WORDS) {
            const int last = end - first < MAX_WORDS ? end : first + MAX_WORDS;
            Vector16 counts[ROWS][VECTORS];
            for (int a = 0; a < ROWS; ++a) {
                for (int b = 0; b < VECTORS; ++b) {
                    counts[a][b] = Vector16{};
                }
            }
            count_words<ROWS, VECTORS>(task.words, task.stride, first, last, i, j, counts);
            for (int c = 0; c < task.n_counted; ++c) {
                const Lane coefficient = task.coefficients[s * task.n_all_channels + c];
                if (coefficient != 0) {
                    add_counts<Lane, ROWS, VECTORS>(coefficient, counts, tile + c * per_channel);
                }
            }
        }
    }
}

// Sums of each column alone, of all values of the rows.
template <class Task, class Value>
void sum_marginals(const Task& task, const Value* values, int n_values, Value* marginals) {
    constexpr int N = LANES * static_cast<int>(sizeof(Value)) / VECTOR_BYTES;
    for (int k = 0; k < task.n_slots; ++k) task.listed[k] = k;
    const std::int32_t* last = task.listed + task.n_slots;
    for (int j = 0; j < task.n_columns; j += LANES) {
        Value* out = marginals + j;
        int c = 0;
        for (; c + 2 <= n_values; c += 2, out += 2 * task.stride) {
            sum_listed<2, N>(task, values + c, n_values, last, j, out, task.stride);
        }
        if (c < n_values) sum_listed<1, N>(task, values + c, n_values, last, j, out, task.stride);
    }
}

// Counts of each column alone, by channel.
template <class Lane>
void count_marginals(const SweepTask<Lane>& task, Lane* marginals) {
    for (int k = 0; k < task.n_all_channels * task.stride; k += LANES) {
        store_pack(marginals + k, fill_pack<Lane>(0));
    }
    if constexpr (sizeof(Lane) == sizeof(double)) {
        if (task.values != nullptr) {
            sum_marginals(task, task.values, task.n_all_channels, marginals);
            return;
        }
    }
    for (int s = 0; s < task.n_segments; ++s) {
        const Lane* coefficients = task.coefficients + s * task.n_all_channels;
        const int end = task.spans[s].first_word + task.spans[s].n_words;
        for (int j = 0; j < task.n_columns; j += LANES) {
            for (int first = task.spans[s].first_word; first < end; first += STEPS_PER_FOLD) {
                const int last = end - first < STEPS_PER_FOLD ? end : first + STEPS_PER_FOLD;
                Vector16 counts = Vector16{};
                for (int w = first; w < last; ++w) {
                    const Vector16 bits = load_native<std::int16_t, VECTOR_BYTES>(
                        task.words + static_cast<std::ptrdiff_t>(w) * task.stride + j);
                    counts = add_popcount(counts, bits);
                }
                const Pack<Lane> wide = widen<Lane>(fold_counts(counts));
                for (int c = 0; c < task.n_all_channels; ++c) {
                    Lane* sum = marginals + c * task.stride + j;
                    store_pack(sum, load_pack(sum) + fill_pack(coefficients[c]) * wide);
                }
            }
        }
    }
}
