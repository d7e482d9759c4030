// Techniques that tests and benchmarks switch off by name. The optimum stays the same.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#define SKTREE_SWITCH_FIELD(name) bool name = true;
#define SKTREE_SWITCH_NAME(name) #name,
#define SKTREE_SWITCH_OFF(name) \
    if (each == #name) {        \
        name = false;           \
        continue;               \
    }

// A struct with a switch for each name of LIST, a macro that calls its argument with each.
#define SKTREE_SWITCHES(Name, LIST)                                                             \
    struct Name {                                                                               \
        LIST(SKTREE_SWITCH_FIELD)                                                               \
        static std::vector<std::string> names() { return {LIST(SKTREE_SWITCH_NAME)}; }          \
        void turn_off(const std::vector<std::string>& off) {                                    \
            for (const std::string& each : off) {                                               \
                LIST(SKTREE_SWITCH_OFF)                                                         \
                throw std::invalid_argument("off must hold names of techniques, got '" + each + \
                                            "'.");                                              \
            }                                                                                   \
        }                                                                                       \
    }
