// wVegas as the MPTCP kernel computes it. Source: mptcp_wvegas.c of multipath-tcp.org 0.92.
#pragma once

#include "kernel_arithmetic.h"

namespace subflow {

// RTTs are whole microseconds plus one, queued packets are rounded down, and rates are packets per microsecond times
// 2^16: 6 for ten packets in 100 ms. A new round trip begins after each recovery. The drain compares queueing delays
// without a tolerance: two microseconds are twice as much as one, and even an empty queue counts as doubled.
class KernelWVegas {
public:
    static constexpr RuleInfo kSlowStartExit{
        .name = "kernel_wvegas_slow_start_exit",
        .formula = "more than one packet queued: cwnd = min(cwnd, cwnd * base_rtt // rtt + 1), at least 2",
        .source = "multipath-tcp.org 0.92, mptcp_wvegas_cong_avoid",
        .numbers = {number::kCwnd, number::kBaseRtt, number::kRtt, number::kDiff},
    };
    static constexpr RuleInfo kRoundTrip{
        .name = "kernel_wvegas_round_trip",
        .formula =
            "diff = cwnd * (rtt - base_rtt) // rtt; cwnd + 1 if diff < alpha, cwnd - 1 if diff > alpha, at least 2; "
            "alpha "
            "= max(2, 10 * rate // total_rate), renewed where diff >= alpha",
        .computed = "cwnd = max(cwnd + 1 if diff < alpha else cwnd - 1 if diff > alpha else cwnd, 2)",
        .source = "multipath-tcp.org 0.92, mptcp_wvegas_cong_avoid",
        .numbers = {number::kCwnd, number::kBaseRtt, number::kRtt, number::kDiff, number::kAlphaPkts},
    };
    static constexpr RuleInfo kDrain{
        .name = "kernel_wvegas_drain",
        .formula =
            "after a step of one packet, cwnd * (base_rtt * 2^16 // (2 rtt)) // 2^16, at least 2: the queueing delay "
            "has "
            "doubled",
        .computed = "cwnd = max(whole(cwnd * whole(65536 * base_rtt / (2 * rtt)) / 65536), 2)",
        .source = "multipath-tcp.org 0.92, mptcp_wvegas_cong_avoid",
        .numbers = {number::kCwnd,
                    number::kBaseRtt,
                    number::kRtt,
                    {"queueing_delay_s", "time in queues: the round-trip time minus the lowest one"},
                    {"lowest_queueing_delay_s", "shortest time in queues since the last drain"}},
    };

    explicit KernelWVegas(bool drains) : drains_(drains) {}

    void on_every_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
        if (!is_begun_) {
            is_begun_ = true;
            round_end_ = ack.snd_una - ack.advanced_pkts;
        }
        const std::uint32_t rtt = KernelArithmetic::microseconds(ack.rtt) + 1;
        base_rtt_ = std::min(base_rtt_, rtt);
        sampled_rtt_ += rtt;
        ++samples_;
        if (KernelArithmetic::raises_window(ack)) avoid_congestion(window, ack, siblings);
        advertise(window);
    }

    void on_congestion_event(Window& window, const CongestionEvent& event) {
        KernelArithmetic::halve(window, event);
        if (event.kind == CongestionKind::Timeout) rate_ = 0;
        tcp_.begin_reduction();
        is_enabled_ = false;
        advertise(window);
    }

    // Like wvegas_enable.
    void on_recovery_exit(Window& window, const AckSample& ack) {
        is_enabled_ = is_begun_ = true;
        round_end_ = ack.snd_nxt;
        samples_ = 0;
        sampled_rtt_ = 0;
        rate_ = 0;
        alpha_ = kLowestAlpha;
        weight_ = kOne;
        queueing_delay_ = 0;
        advertise(window);
    }

private:
    static constexpr std::uint32_t kTotalAlpha = 10;
    static constexpr std::uint32_t kLowestAlpha = 2;
    static constexpr std::uint32_t kGamma = 1;
    static constexpr int kScale = 16;
    static constexpr std::uint64_t kOne = 1 << kScale;

    // Advertises a rate only while the current round trip has samples.
    void advertise(Window& window) const { window.advertised = sampled_rtt_ > 0 ? static_cast<double>(rate_) : 0; }

    void avoid_congestion(Window& window, const AckSample& ack, const Siblings& siblings) {
        if (!is_enabled_) return tcp_.reno(window, ack);
        const bool is_round_over = static_cast<std::int32_t>(ack.snd_una - round_end_) > 0;
        if (!is_round_over) {
            if (KernelArithmetic::in_slow_start(window)) KernelArithmetic::slow_start(window, ack);
            return;
        }
        round_end_ = ack.snd_nxt;
        if (samples_ <= 2) {
            tcp_.reno(window, ack);
        } else {
            judge(window, ack, siblings);
        }
        samples_ = 0;
        sampled_rtt_ = 0;
    }

    void judge(Window& window, const AckSample& ack, const Siblings& siblings) {
        const std::uint32_t rtt = sampled_rtt_ / samples_;
        const std::uint32_t before = KernelArithmetic::cwnd(window);
        const auto queued = static_cast<std::uint32_t>(std::uint64_t{before} * (rtt - base_rtt_) / rtt);
        std::uint32_t cwnd = before;
        std::uint32_t ssthresh = KernelArithmetic::ssthresh(window);
        if (KernelArithmetic::in_slow_start(window)) {
            if (queued > kGamma) {
                cwnd = std::min(cwnd, static_cast<std::uint32_t>(std::uint64_t{cwnd} * base_rtt_ / rtt) + 1);
                ssthresh = std::min(ssthresh, cwnd);
                if (ack.why != nullptr)
                    ack.why->set(kSlowStartExit, {static_cast<double>(before), seconds(base_rtt_), seconds(rtt),
                                                  static_cast<double>(queued)});
            } else {
                KernelArithmetic::slow_start(window, ack);
                cwnd = KernelArithmetic::cwnd(window);
            }
        } else {
            if (queued >= alpha_) {
                rate_ = (std::uint64_t{cwnd} << kScale) / rtt;
                weight_ = weight(siblings, KernelArithmetic::own_path(window, ack.srtt, static_cast<double>(rate_)));
                alpha_ = std::max(static_cast<std::uint32_t>((weight_ * kTotalAlpha) >> kScale), kLowestAlpha);
            }
            if (ack.why != nullptr)
                ack.why->set(kRoundTrip, {static_cast<double>(before), seconds(base_rtt_), seconds(rtt),
                                          static_cast<double>(queued), static_cast<double>(alpha_)});
            if (queued > alpha_) {
                --cwnd;
                ssthresh = std::min(ssthresh, cwnd);
            } else if (queued < alpha_) {
                ++cwnd;
            }
            if (drains_) cwnd = drained(cwnd, rtt, ack.why);
        }
        cwnd = std::max(cwnd, 2u);
        window.cwnd_pkts = cwnd;
        KernelArithmetic::set_ssthresh(window, std::max(ssthresh, cwnd / 2 + cwnd / 4));  // like tcp_current_ssthresh
    }

    std::uint64_t weight(const Siblings& siblings, const KernelArithmetic::Path& own) const {
        std::uint64_t total = 0;
        KernelArithmetic::for_each_path(
            siblings, own, [&](const KernelArithmetic::Path& path) { total += static_cast<std::uint64_t>(path.told); });
        return total != 0 && rate_ != 0 ? (rate_ << kScale) / total : weight_;
    }

    std::uint32_t drained(std::uint32_t cwnd, std::uint32_t rtt, Reason* why) {
        const std::uint32_t delay = rtt - base_rtt_;
        if (queueing_delay_ == 0 || queueing_delay_ > delay) queueing_delay_ = delay;
        if (delay < 2 * queueing_delay_) return cwnd;
        if (why != nullptr)
            why->set(kDrain, {static_cast<double>(cwnd), seconds(base_rtt_), seconds(rtt), seconds(delay),
                              seconds(queueing_delay_)});
        queueing_delay_ = 0;
        const std::uint64_t factor = (std::uint64_t{base_rtt_} << kScale) / (2 * rtt);
        return static_cast<std::uint32_t>((cwnd * factor) >> kScale);
    }

    static double seconds(std::uint32_t microseconds) { return to_seconds(Nanos(microseconds * std::int64_t{1000})); }

    KernelArithmetic tcp_;
    std::uint64_t rate_ = 0;       // instant_rate in the module
    std::uint64_t weight_ = kOne;  // share of the connection's rate, times 2^16
    std::uint32_t alpha_ = kLowestAlpha;
    std::uint32_t base_rtt_ = 0x7fffffff;
    std::uint32_t queueing_delay_ = 0;  // minimum since the last drain; 0: no sample yet
    std::uint32_t sampled_rtt_ = 0;     // sum in the current round trip
    std::uint16_t samples_ = 0;         // number of samples in the sum
    std::uint32_t round_end_ = 0;       // beg_snd_nxt in the module
    bool drains_;
    bool is_enabled_ = true;
    bool is_begun_ = false;
};

}  // namespace subflow
