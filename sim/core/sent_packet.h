// The sender's records of its transmissions.
#pragma once

#include <cstdint>

#include "units.h"

namespace subflow {

// An outstanding packet. The sender defines the flags.
class SentPacket {
public:
    std::uint32_t data_seq = 0;
    std::uint32_t transmission = 0;
    Nanos sent_time() const { return Nanos(static_cast<std::int64_t>(time_and_flags_ >> kFlagBits)); }
    std::uint8_t flags() const { return static_cast<std::uint8_t>(time_and_flags_); }
    void set(Nanos sent_time, std::uint32_t flags) {
        time_and_flags_ = static_cast<std::uint64_t>(sent_time.value) << kFlagBits | flags;
    }
    void set_flags(std::uint32_t flags) { set(sent_time(), flags); }

private:
    static constexpr int kFlagBits = 8;  // leaves 56 bits for the time: a run ends before 2^50 ns
    std::uint64_t time_and_flags_ = 0;
};
static_assert(sizeof(SentPacket) == 16);  // the largest part of a flow's memory

struct Retransmission {
    std::uint32_t seq = 0;
    std::uint32_t transmission = 0;
};

}  // namespace subflow
