// Drop-tail: drops packets that find the queue full.
#pragma once

#include <cstdint>
#include <limits>

#include "../units.h"

namespace subflow {

// Limits include the packet in service: "a queue of 67 packets" holds one in transmission and 66 waiting (the kernel's
// pfifo on top of a shaper counts the same way).
struct DropTail {
    std::int64_t limit_pkts = std::numeric_limits<std::int64_t>::max();
    Bytes limit_bytes{std::numeric_limits<std::int64_t>::max()};

    bool admits(std::int64_t queue_pkts, Bytes queue_bytes, Bytes size) const {
        return queue_pkts < limit_pkts && queue_bytes + size <= limit_bytes;
    }
};

}  // namespace subflow
