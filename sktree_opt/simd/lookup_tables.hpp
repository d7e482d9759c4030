// Tables with an entry for each byte, for kernels that look bits up.
#pragma once

#include <cstdint>

namespace sktree_opt {

// Each byte as eight numbers 0 or 1.
struct SpreadByte {
    double of[256][8];
    SpreadByte() {
        for (int byte = 0; byte < 256; ++byte) {
            for (int bit = 0; bit < 8; ++bit) of[byte][bit] = (byte >> bit) & 1;
        }
    }
};
inline const SpreadByte SPREAD_BYTE;

// Each byte as eight masks.
template <class T>
struct ByteMasks {
    T of[256][8];
    ByteMasks() {
        for (int byte = 0; byte < 256; ++byte) {
            for (int bit = 0; bit < 8; ++bit) of[byte][bit] = static_cast<T>(-((byte >> bit) & 1));
        }
    }
};
inline const ByteMasks<std::int16_t> BYTE_MASKS;
inline const ByteMasks<std::int32_t> WORD_MASKS;

// By byte and its half (the lower one first), how many bits each nibble has in common with it.
struct CommonBits {
    alignas(64) std::uint8_t of[256][2][16];
    CommonBits() {
        for (int byte = 0; byte < 256; ++byte) {
            for (int nibble = 0; nibble < 16; ++nibble) {
                for (int half = 0; half < 2; ++half) {
                    int common = (half == 0 ? byte & 15 : byte >> 4) & nibble;
                    std::uint8_t count = 0;
                    for (; common != 0; common &= common - 1) ++count;
                    of[byte][half][nibble] = count;
                }
            }
        }
    }
};
inline const CommonBits COMMON_BITS;

}  // namespace sktree_opt
