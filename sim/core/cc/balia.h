// BALIA, the balanced linked adaptation algorithm. Source: Peng, Walid, Hwang, Low, IEEE/ACM ToN 2016.
#pragma once

#include <array>
#include <cmath>

#include "newreno.h"

namespace subflow {

class Balia {
public:
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "kernel_int",
            .kind = OptionKind::Flag,
            .help = "Compute alpha of the decrease by integer division, as the kernel does: subflows at most half as "
                    "fast as the fastest then give up 3/4 of the window, all others one half.",
            .default_number = 0,
        },
    };
    static constexpr AlgorithmInfo kInfo{
        .name = "balia",
        .summary = "Balanced linked adaptation: between LIA's responsiveness and OLIA's load balancing",
        .source = "Peng et al., IEEE/ACM ToN 2016; draft-walid-mptcp-congestion-control-04",
        .is_coupled = true,
        .options = kOptions,
    };

    explicit Balia(const Options& options) : kernel_int_(options.number("kernel_int") != 0) {}

    // alpha of the own subflow: the rate of the fastest over its own, >= 1.
    static double alpha(const Siblings& siblings) {
        double fastest = 0;
        for (const Sibling& s : siblings.all) fastest = std::max(fastest, s.cwnd_pkts / s.srtt_s);
        return fastest / (siblings.own().cwnd_pkts / siblings.own().srtt_s);
    }

    // Growth of the window per packet acknowledged in congestion avoidance, in packets.
    static double increase_per_ack(const Siblings& siblings) {
        double total_rate = 0;
        for (const Sibling& s : siblings.all) total_rate += s.cwnd_pkts / s.srtt_s;
        const Sibling& own = siblings.own();
        const double a = alpha(siblings);
        // draft-walid-mptcp-congestion-control-04 section 3.1
        const double coupled = own.cwnd_pkts / (own.srtt_s * own.srtt_s) / (total_rate * total_rate);
        return coupled * ((1 + a) / 2) * ((4 + a) / 5);
    }

    // What an event takes from a window, in packets: from a half to three quarters of it.
    static double decrease(double cwnd_pkts, const Siblings& siblings, bool kernel_int) {
        const double a = alpha(siblings);
        return cwnd_pkts / 2 * std::min(kernel_int ? std::floor(a) : a, 1.5);
    }

    void on_ack(Window& window, const AckSample& ack, const Siblings& siblings) const {
        if (!siblings.has_others()) return NewReno::grow(window, ack);
        const double acked = window.in_slow_start() ? slow_start(window, ack.acked_pkts, ack.why) : ack.acked_pkts;
        if (acked == 0) return;
        window.cwnd_pkts += acked * increase_per_ack(siblings);
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings& siblings) const {
        if (!siblings.has_others() || event.kind == CongestionKind::Timeout) {
            NewReno::halve(window, event, siblings.has_others() ? 1.0 : 2.0);
        } else {
            const double lost = decrease(window.cwnd_pkts, siblings, kernel_int_);
            window.ssthresh_pkts = std::max(window.cwnd_pkts - lost, 1.0);
        }
    }

private:
    bool kernel_int_;
};
static_assert(CongestionController<Balia>);

}  // namespace subflow
