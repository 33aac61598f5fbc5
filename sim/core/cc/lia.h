// LIA, the Linked Increases Algorithm of MPTCP. Source: RFC 6356.
#pragma once

#include "newreno.h"

namespace subflow {

class Lia {
public:
    static constexpr AlgorithmInfo kInfo{
        .name = "lia",
        .summary = "Linked increases: all subflows together take what one TCP would on the best path",
        .source = "RFC 6356",
        .is_coupled = true,
    };

    explicit Lia(const Options&) {}

    // Growth of the window per packet acknowledged in congestion avoidance, in packets.
    static double increase_per_ack(double cwnd_pkts, const Siblings& siblings) {
        double best = 0;
        double total_rate = 0;
        for (const Sibling& s : siblings.all) {
            const double rate = s.cwnd_pkts / s.srtt_s;
            best = std::max(best, rate / s.srtt_s);
            total_rate += rate;
        }
        // RFC 6356 section 3: alpha / cwnd_total, capped so that no subflow is more aggressive than TCP on its path
        return std::min(best / (total_rate * total_rate), 1 / cwnd_pkts);
    }

    void on_ack(Window& window, const AckSample& ack, const Siblings& siblings) const {
        if (!siblings.has_others()) return NewReno::grow(window, ack);
        const double acked = window.in_slow_start() ? slow_start(window, ack.acked_pkts, ack.why) : ack.acked_pkts;
        window.cwnd_pkts += acked * increase_per_ack(window.cwnd_pkts, siblings);
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) const {
        NewReno::halve(window, event);
    }
};
static_assert(CongestionController<Lia>);

}  // namespace subflow
