// Unit of the increases of coupled controllers: ACKed packets or ACKs.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "../algorithm.h"

namespace subflow {

class AckCounting {
public:
    static constexpr std::array<std::string_view, 2> kChoices{"packets", "acks"};
    static constexpr OptionInfo kOption{
        .key = "counting",
        .kind = OptionKind::Choice,
        .help =
            "Unit of congestion avoidance: acknowledged packets (appropriate byte counting, RFC 3465), or ACKs, "
            "as the kernel does up to MPTCP 0.93: with delayed ACKs, cwnd then grows half as fast.",
        .default_choice = "packets",
        .choices = kChoices,
    };

    explicit AckCounting(const Options& options) : by_ack_(options.choice(kOption.key) == kChoices[1]) {}

    // Number of per-packet increases for an ACK that acknowledges `acked_pkts` packets beyond slow start.
    double counted(double acked_pkts) const { return by_ack_ ? std::min(acked_pkts, 1.0) : acked_pkts; }

private:
    bool by_ack_;
};

}  // namespace subflow
