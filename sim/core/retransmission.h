// Link-layer retransmission of damaged packets on a radio link: delays packets instead of losing them.
#pragma once

#include <cstdint>

#include "fields.h"
#include "rng.h"
#include "units.h"

namespace subflow {

// Each attempt fails with probability `loss`, independently of all others. The next attempt follows after `delay`, and
// the packet is lost after `attempts` failures. A share of loss^attempts of all packets is lost, and a packet is late
// by n < attempts delays with probability loss^n (1 - loss). Source: HARQ of LTE, 3GPP TS 36.321 section 5.3.2 (8 ms, 4
// attempts).
struct RetransmissionOptions {
    double loss = 0;
    Nanos delay{};
    std::uint32_t attempts = 1;
};
SUBFLOW_FIELDS(RetransmissionOptions, loss, delay, attempts)

// Number of failed attempts of a packet, at most options.attempts, drawn from 64 random bits.
inline std::uint32_t failed_attempts(const RetransmissionOptions& options, std::uint64_t bits) {
    std::uint32_t failed = 0;
    while (failed < options.attempts && to_unit_interval(combine64(bits, failed)) < options.loss) ++failed;
    return failed;
}

}  // namespace subflow
