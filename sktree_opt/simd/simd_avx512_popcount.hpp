// Counting with BITALG (Intel since Ice Lake, AMD since Zen 4): one popcount an instruction, so
// that counts are 16-bit lanes at once. The counts of a block take 16 of the 32 registers.

#define SKTREE_ONLY_16_BITS 1  // other kernels gain nothing from BITALG
constexpr int STEPS_PER_FOLD = 2047;
constexpr bool FOLDS = false;     // whether counts are bytes until folded
constexpr bool BY_TABLE = false;  // whether counts_by_table.hpp serves

SKTREE_INLINE Vector16 add_popcount(Vector16 counts, Vector16 bits) {
    return counts + (Vector16)_mm512_popcnt_epi16((__m512i)bits);
}
SKTREE_INLINE Vector16 fold_counts(Vector16 counts) { return counts; }
