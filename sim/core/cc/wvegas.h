// wVegas, weighted Vegas: the subflows of a connection share a number of queued packets in proportion to their rates.
#pragma once

#include <array>
#include <cmath>
#include <optional>

#include "kernel_wvegas.h"
#include "vegas.h"

namespace subflow {

class WVegas {
public:
    static constexpr std::array kOwnOptions{
        OptionInfo{
            .key = "drain",
            .kind = OptionKind::Flag,
            .help = "Halve the cwnd when the queueing delay has doubled since the last time, as the kernel module "
                    "does; without this, links are fully used.",
            .default_number = 1,
        },
    };
    static constexpr auto kOptions = joined(kOwnOptions, std::array{KernelArithmetic::kOption});
    static constexpr RuleInfo kRoundTrip{
        .name = "wvegas_round_trip",
        .formula =
            "diff = cwnd * (rtt - base_rtt) / rtt; cwnd + 1 if diff < alpha, cwnd - 1 if diff > alpha, at least "
            "2; alpha = max(2, 10 * rate / total_rate), renewed with rate = cwnd / rtt where diff >= alpha",
        .computed = "cwnd = max(cwnd + 1 if diff < alpha else cwnd - 1 if diff > alpha else cwnd, 2)",
        .source = "draft-xu-mptcp-congestion-control-05",
        .numbers = {number::kCwnd, number::kBaseRtt, number::kRtt, number::kDiff, number::kAlphaPkts, number::kRatePps},
    };
    static constexpr RuleInfo kDrain{
        .name = "wvegas_drain",
        .formula = "after a step of one packet, cwnd * base_rtt / (2 rtt), at least 2: the queueing delay has doubled",
        .computed = "cwnd = max(cwnd * base_rtt / (2 * rtt), 2)",
        .source = "Linux MPTCP mptcp_wvegas_cong_avoid",
        .numbers = {number::kCwnd,
                    number::kBaseRtt,
                    number::kRtt,
                    {"queueing_delay_s", "time in queues: the round-trip time minus the lowest one"},
                    {"lowest_queueing_delay_s", "shortest time in queues since the last drain"}},
    };
    static constexpr std::array kOwnRules{&kSlowStart, &Vegas::kSlowStartExit,      &kRoundTrip,
                                          &kDrain,     &NewReno::kAdditiveIncrease, &NewReno::kHalving};
    static constexpr auto kRules =
        joined(kOwnRules, std::array{&KernelWVegas::kSlowStartExit, &KernelWVegas::kRoundTrip, &KernelWVegas::kDrain,
                                     &KernelArithmetic::kReno, &KernelArithmetic::kHalving});
    static constexpr AlgorithmInfo kInfo{
        .name = "wvegas",
        .summary = "Weighted Vegas: ten packets queued in total, moved to where the queueing delay is lowest",
        .source = "Cao, Xu, Fu, ICNP 2012; draft-xu-mptcp-congestion-control-05",
        .is_coupled = true,
        .options = kOptions,
        .rules = kRules,
    };

    static constexpr double kTotalAlpha = 10;  // packets queued by the connection
    static constexpr double kLowestAlpha = 2;
    static constexpr double kGamma = 1;

    explicit WVegas(const Options& options) : drains_(options.number("drain") != 0) {
        if (KernelArithmetic::is_chosen(options)) kernel_.emplace(drains_);
    }

    // Number of queued packets at which a subflow of rate `own_pps` aims: its share of kTotalAlpha by rate, given the
    // last advertised rates of its `siblings`, but at least kLowestAlpha. The subflow's own entry in `siblings` does
    // not count.
    static double alpha(double own_pps, const Siblings& siblings) {
        double total_pps = own_pps;
        for (std::size_t i = 0; i < siblings.all.size(); ++i) {
            if (i != siblings.self) total_pps += siblings.all[i].advertised;
        }
        return std::max(kLowestAlpha, kTotalAlpha * (own_pps / total_pps));
    }

    double alpha_pkts() const { return alpha_; }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
        if (kernel_) return kernel_->on_every_ack(window, ack, siblings);
        base_rtt_ = std::min({base_rtt_, ack.min_rtt, ack.rtt});
        rtt_sum_ += ack.rtt;
        ++samples_;
        is_round_over_ = ack.begins_round;
        if (!is_round_over_) return;
        round_rtt_ = rtt_sum_ / samples_;
        round_samples_ = samples_;
        forget_samples();
    }

    void on_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
        if (kernel_) return;
        const bool may_judge = is_enabled_ && is_round_over_ && round_samples_ > 2;
        if (may_judge) {
            judge(window, ack, siblings);
        } else if (!is_enabled_ || is_round_over_) {
            NewReno::grow(window, ack);
        } else if (window.in_slow_start()) {
            slow_start(window, ack.acked_pkts, ack.why);
        }
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) {
        if (kernel_) return kernel_->on_congestion_event(window, event);
        NewReno::halve(window, event);
        is_enabled_ = false;
        if (event.kind == CongestionKind::Timeout) window.advertised = 0;
    }

    // Resets all estimates except the minimum RTT. Source: Linux MPTCP wvegas_enable.
    void on_recovery_exit(Window& window, const AckSample& ack, const Siblings&) {
        if (kernel_) return kernel_->on_recovery_exit(window, ack);
        is_enabled_ = true;
        is_round_over_ = false;
        window.advertised = 0;
        alpha_ = kLowestAlpha;
        lowest_queueing_delay_ = Nanos(0);
        forget_samples();
    }

private:
    void judge(Window& window, const AckSample& ack, const Siblings& siblings) {
        const double queued = Vegas::queued_pkts(window.cwnd_pkts, base_rtt_, round_rtt_);
        if (window.in_slow_start()) {
            // Whole packets, as in the kernel: a flow's own bursts queue one to two packets on an idle link.
            if (std::floor(queued) <= kGamma ||
                !Vegas::leave_slow_start(window, queued, kGamma, ack, base_rtt_, round_rtt_))
                slow_start(window, ack.acked_pkts, ack.why);
        } else {
            if (queued >= alpha_) {
                window.advertised = window.cwnd_pkts / to_seconds(round_rtt_);
                alpha_ = alpha(window.advertised, siblings);
            }
            if (ack.why != nullptr)
                ack.why->set(kRoundTrip, {window.cwnd_pkts, to_seconds(base_rtt_), to_seconds(round_rtt_), queued,
                                          alpha_, window.advertised});
            Vegas::step(window, queued, alpha_, alpha_);
            if (drains_) drain(window, ack);
        }
        Vegas::bound(window);
    }

    // Empties the queue once its delay has doubled, so that the minimum RTT is measured again. An empty queue counts as
    // doubled: on real hosts it measures noise of some microseconds, which causes about as many drains.
    // Source: Linux MPTCP mptcp_wvegas_cong_avoid.
    void drain(Window& window, const AckSample& ack) {
        const Nanos queueing_delay = round_rtt_ - base_rtt_;
        if (lowest_queueing_delay_ == Nanos(0) || queueing_delay < lowest_queueing_delay_)
            lowest_queueing_delay_ = queueing_delay;
        if (queueing_delay < lowest_queueing_delay_ * 2) return;
        if (ack.why != nullptr)
            ack.why->set(kDrain, {window.cwnd_pkts, to_seconds(base_rtt_), to_seconds(round_rtt_),
                                  to_seconds(queueing_delay), to_seconds(lowest_queueing_delay_)});
        window.cwnd_pkts *= static_cast<double>(base_rtt_.value) / (2.0 * static_cast<double>(round_rtt_.value));
        lowest_queueing_delay_ = Nanos(0);
    }

    void forget_samples() {
        rtt_sum_ = Nanos(0);
        samples_ = 0;
    }

    double alpha_ = kLowestAlpha;
    Nanos base_rtt_ = kNever;
    Nanos lowest_queueing_delay_{};  // since the last drain; 0: no sample yet
    // rtt_sum_ and samples_ belong to the current round trip, round_rtt_ and round_samples_ to the last complete one.
    Nanos rtt_sum_{};
    Nanos round_rtt_{};
    std::uint32_t samples_ = 0;
    std::uint32_t round_samples_ = 0;
    bool drains_;
    bool is_round_over_ = false;
    bool is_enabled_ = true;  // false during loss recovery
    std::optional<KernelWVegas> kernel_;
};
static_assert(CongestionController<WVegas>);

}  // namespace subflow
