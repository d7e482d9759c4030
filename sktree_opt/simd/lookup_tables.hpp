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

}  // namespace sktree_opt
