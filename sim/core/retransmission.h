// Repetition of what a radio link damages, below the transport: it makes packets late instead of losing them.
#pragma once

#include <cstdint>

#include "rng.h"
#include "units.h"

namespace subflow {

// Each attempt fails with probability `loss`, independently of all others, and the next comes `delay` later; after
// `attempts` of them the packet is lost. So loss^attempts of all packets are lost, and a packet is late by n delays
// with probability loss^n (1 - loss). Source: HARQ of LTE, 3GPP TS 36.321 section 5.3.2 (8 ms, 4 attempts).
struct RetransmissionOptions {
    double loss = 0;
    Nanos delay{};
    std::uint32_t attempts = 1;
};

// How many attempts of a packet fail, at most all of them, by a draw with 64 random bits.
inline std::uint32_t failed_attempts(const RetransmissionOptions& options, std::uint64_t bits) {
    std::uint32_t failed = 0;
    while (failed < options.attempts && to_unit_interval(combine64(bits, failed)) < options.loss) ++failed;
    return failed;
}

}  // namespace subflow
