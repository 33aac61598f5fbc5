// Checks of conditions that hold if the program is correct. A failed check is a bug in Subflow. It throws, so that the
// caller's process and every other Network survive, and the message contains the position in the source.
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

// For checks outside the per-packet path: active in every build.
#define SF_ASSERT(condition)                                       \
    do {                                                           \
        if (!(condition)) [[unlikely]]                             \
            ::subflow::fail_check(#condition, __FILE__, __LINE__); \
    } while (false)

// For costly or per-packet checks: active only in builds with SUBFLOW_VALIDATE (debug, sanitizers, the test suite).
#ifdef SUBFLOW_VALIDATE
#define SF_VALIDATE(condition) SF_ASSERT(condition)
#else
#define SF_VALIDATE(condition) static_cast<void>(0)
#endif

// Forces inlining of the few functions on the per-packet path that are fast only as part of their callers.
#define SF_INLINE inline __attribute__((always_inline))
#define SF_INLINE_LAMBDA __attribute__((always_inline))
#define SF_UNREACHABLE() __builtin_unreachable()
