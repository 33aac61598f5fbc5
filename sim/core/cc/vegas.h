// Vegas: keeps a few packets queued, estimated from the difference between the RTT and its minimum.
#pragma once

#include <array>

#include "newreno.h"

namespace subflow {

class Vegas {
public:
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "alpha",
            .help = "Grow while fewer packets than this are queued.",
            .default_number = 2,
            .minimum = 0,
            .maximum = 1e6,
            .unit = "pkt",
        },
        OptionInfo{
            .key = "beta",
            .help = "Shrink while more packets than this are queued; at least alpha.",
            .default_number = 4,
            .minimum = 0,
            .maximum = 1e6,
            .unit = "pkt",
        },
        OptionInfo{
            .key = "gamma",
            .help = "Leave slow start when more packets than this are queued.",
            .default_number = 1,
            .minimum = 0,
            .maximum = 1e6,
            .unit = "pkt",
        },
    };
    static constexpr RuleInfo kRoundTrip{
        .name = "vegas_round_trip",
        .formula =
            "diff = cwnd * (rtt - base_rtt) / rtt; cwnd + 1 if diff < alpha, cwnd - 1 if diff > beta, at least 2",
        .computed = "cwnd = max(cwnd + 1 if diff < alpha else cwnd - 1 if diff > beta else cwnd, 2)",
        .source = "Brakmo, O'Malley, Peterson, SIGCOMM 1994; Linux tcp_vegas_cong_avoid",
        .numbers = {number::kCwnd,
                    number::kBaseRtt,
                    number::kRtt,
                    number::kDiff,
                    number::kAlphaPkts,
                    {"beta_pkts", "share that remains after a loss, or upper bound of the rule"}},
    };
    static constexpr RuleInfo kSlowStartExit{
        .name = "vegas_slow_start_exit",
        .formula = "diff = cwnd * (rtt - base_rtt) / rtt > gamma: cwnd = min(cwnd, cwnd - diff + 1), at least 2",
        .computed = "cwnd = max(min(cwnd, cwnd - diff + 1), 2)",
        .source = "Linux tcp_vegas_cong_avoid",
        .numbers = {number::kCwnd,
                    number::kBaseRtt,
                    number::kRtt,
                    number::kDiff,
                    {"gamma_pkts", "packets in queues at which slow start ends"}},
    };
    static constexpr std::array kRules{&kSlowStart, &kSlowStartExit, &kRoundTrip, &NewReno::kAdditiveIncrease,
                                       &NewReno::kHalving};
    static constexpr AlgorithmInfo kInfo{
        .name = "vegas",
        .summary = "Two to four packets queued, judged by the RTT; backs off before packets are lost",
        .source = "Brakmo, O'Malley, Peterson, SIGCOMM 1994; Linux tcp_vegas.c",
        .options = kOptions,
        .rules = kRules,
    };

    explicit Vegas(const Options& options)
        : alpha_(options.number("alpha")), beta_(options.number("beta")), gamma_(options.number("gamma")) {
        if (beta_ < alpha_) throw ScenarioError("option 'beta' of 'vegas' must not be below its option 'alpha'");
    }

    // Queued packets of the window: the window minus the packets that the path holds at the minimum RTT.
    static double queued_pkts(double cwnd_pkts, Nanos base_rtt, Nanos rtt) {
        return cwnd_pkts * static_cast<double>((rtt - base_rtt).value) / static_cast<double>(rtt.value);
    }

    // Ends slow start if more than `gamma` packets are queued: sets the window to the packets that the path holds, plus
    // one. Returns false if slow start continues. Source: Linux tcp_vegas_cong_avoid.
    static bool leave_slow_start(Window& window, double queued, double gamma, const AckSample& ack, Nanos base_rtt,
                                 Nanos round_rtt) {
        if (queued <= gamma) return false;
        if (ack.why != nullptr)
            ack.why->set(kSlowStartExit,
                         {window.cwnd_pkts, to_seconds(base_rtt), to_seconds(round_rtt), queued, gamma});
        window.cwnd_pkts = std::min(window.cwnd_pkts, window.cwnd_pkts - queued + 1);
        window.ssthresh_pkts = std::min(window.ssthresh_pkts, window.cwnd_pkts - 1);
        return true;
    }

    // One packet less if more than `beta` are queued, one more if fewer than `alpha`.
    static void step(Window& window, double queued, double alpha, double beta) {
        if (queued > beta) {
            window.cwnd_pkts -= 1;
            window.ssthresh_pkts = std::min(window.ssthresh_pkts, window.cwnd_pkts - 1);
        } else if (queued < alpha) {
            window.cwnd_pkts += 1;
        }
    }

    // Applied after each decision: at least two packets, and a slow start threshold that follows the window.
    // Source: Linux tcp_vegas_cong_avoid, tcp_current_ssthresh.
    static void bound(Window& window) {
        window.cwnd_pkts = std::max(window.cwnd_pkts, 2.0);
        window.ssthresh_pkts = std::max(window.ssthresh_pkts, 0.75 * window.cwnd_pkts);
    }

    void on_every_ack(const Window&, const AckSample& ack, const Siblings&) {
        lowest_rtt_ = std::min(lowest_rtt_, ack.rtt);
        ++samples_;
        is_round_over_ = ack.begins_round;
        if (!is_round_over_) return;
        round_rtt_ = lowest_rtt_;
        round_samples_ = samples_;
        forget_samples();
    }

    void on_ack(Window& window, const AckSample& ack, const Siblings&) const {
        // Two samples may both come from delayed ACKs: too few for a decision (Linux tcp_vegas_cong_avoid).
        const bool may_judge = is_enabled_ && is_round_over_ && round_samples_ > 2;
        if (may_judge) {
            judge(window, ack);
        } else if (!is_enabled_ || is_round_over_) {
            NewReno::grow(window, ack);
        } else if (window.in_slow_start()) {
            slow_start(window, ack.acked_pkts, ack.why);
        }
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) {
        NewReno::halve(window, event);
        is_enabled_ = false;
    }

    void on_recovery_exit(const Window&, const AckSample&, const Siblings&) {
        is_enabled_ = true;
        is_round_over_ = false;
        forget_samples();
    }

private:
    void judge(Window& window, const AckSample& ack) const {
        const double queued = queued_pkts(window.cwnd_pkts, ack.min_rtt, round_rtt_);
        if (window.in_slow_start()) {
            if (!leave_slow_start(window, queued, gamma_, ack, ack.min_rtt, round_rtt_))
                slow_start(window, ack.acked_pkts, ack.why);
        } else {
            if (ack.why != nullptr)
                ack.why->set(kRoundTrip, {window.cwnd_pkts, to_seconds(ack.min_rtt), to_seconds(round_rtt_), queued,
                                          alpha_, beta_});
            step(window, queued, alpha_, beta_);
        }
        bound(window);
    }

    void forget_samples() {
        lowest_rtt_ = kNever;
        samples_ = 0;
    }

    double alpha_;
    double beta_;
    double gamma_;
    // lowest_rtt_ and samples_ belong to the current round trip, round_rtt_ and round_samples_ to the last complete
    // one.
    Nanos lowest_rtt_ = kNever;
    Nanos round_rtt_{};
    std::uint32_t samples_ = 0;
    std::uint32_t round_samples_ = 0;
    bool is_round_over_ = false;
    bool is_enabled_ = true;  // false during loss recovery
};
static_assert(CongestionController<Vegas>);

}  // namespace subflow
