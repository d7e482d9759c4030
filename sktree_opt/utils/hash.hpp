// Random numbers and hashes out of whole numbers.
#pragma once

#include <cstdint>

namespace sktree_opt {

// An odd number without pattern: 2^64 over the golden ratio.
constexpr std::uint64_t HASH_FACTOR = 0x9E3779B97F4A7C15u;

// A random number that depends on `x` alone (splitmix64).
inline std::uint64_t split_mix(std::uint64_t x) {
    x += HASH_FACTOR;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

}  // namespace sktree_opt
