// Checks of what must hold if the program is right. A failed one is our bug: it throws, so that the caller's process
// and every other Network survive, and the message says where.
#pragma once

#include <stdexcept>
#include <string>

namespace subflow {

struct InternalError : std::logic_error {
    using std::logic_error::logic_error;
};

[[noreturn]] inline void fail_check(const char* condition, const char* file, int line) {
    throw InternalError(std::string("broken invariant: ") + condition + " at " + file + ":" + std::to_string(line));
}

}  // namespace subflow

// Impossible states, off the per-packet path: always checked.
#define SF_ASSERT(condition)                                       \
    do {                                                           \
        if (!(condition)) [[unlikely]]                             \
            ::subflow::fail_check(#condition, __FILE__, __LINE__); \
    } while (false)

// Costly or per-packet checks: only in builds with SUBFLOW_VALIDATE (debug, sanitizers, the test suite).
#ifdef SUBFLOW_VALIDATE
#define SF_VALIDATE(condition) SF_ASSERT(condition)
#else
#define SF_VALIDATE(condition) static_cast<void>(0)
#endif

// For the few functions on the path of every packet that are only fast as part of their callers.
#define SF_INLINE inline __attribute__((always_inline))
#define SF_INLINE_LAMBDA __attribute__((always_inline))
#define SF_UNREACHABLE() __builtin_unreachable()
