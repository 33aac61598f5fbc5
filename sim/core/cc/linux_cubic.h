// CUBIC in Linux's arithmetic: whole packets, a counter of ACKed packets, a clock of 4 ms. Part of CUBIC.
// Source: Linux 6.18 tcp_cubic.c (bictcp_update, bictcp_recalc_ssthresh), tcp_cong.c (tcp_cong_avoid_ai).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../decision.h"
#include "../units.h"
#include "cube_root.h"

namespace subflow {

namespace linux_cubic_rules {

// Rules for growth, by what determines it: the curve before or after its inflection point, or Reno's window
constexpr RuleInfo growth_rule(std::string_view name, std::string_view formula) {
    return {.name = name,
            .formula = formula,
            .source = "Linux tcp_cubic.c (bictcp_update), tcp_cong_avoid_ai",
            .numbers = {number::kAcked,
                        {"credit_pkts", "acknowledged packets not yet counted"},
                        {"acks_per_packet", "acknowledged packets for which the cwnd grows by one"},
                        number::kT,
                        number::kK,
                        number::kWMax,
                        number::kWCubic,
                        number::kWEst}};
}
inline constexpr RuleInfo kConcave =
    growth_rule("linux_cubic_concave", "a packet per cwnd / (W_cubic - cwnd) acknowledged; before t reaches K");
inline constexpr RuleInfo kConvex =
    growth_rule("linux_cubic_convex", "a packet per cwnd / (W_cubic - cwnd) acknowledged; after t has reached K");
inline constexpr RuleInfo kFriendly =
    growth_rule("linux_cubic_friendly", "a packet per cwnd / (W_est - cwnd) acknowledged: Reno would be faster");
inline constexpr RuleInfo kDecrease{
    .name = "linux_cubic_decrease",
    .formula =
        "ssthresh = max(floor(beta * cwnd), 2) for whole packets; W_max = cwnd, or cwnd (1 + beta) / 2 if "
        "cwnd had not come back to the W_max before; forgotten after a timeout",
    .computed = "ssthresh = max(whole(beta * cwnd), 2)",
    .source = "Linux tcp_cubic.c (bictcp_recalc_ssthresh, bictcp_reset)",
    .numbers = {number::kCwnd, number::kBeta, number::kWMaxBefore, number::kWMax, number::kSsthresh},
};

}  // namespace linux_cubic_rules

// The rounding matters for small windows: at 2 % loss it changes the goodput by a tenth to a third. The growth towards
// Reno's window stays at 8/15 of a packet per round trip, whereas RFC 9438 continues with one packet once the old
// window is reached.
class LinuxCubic {
public:
    static constexpr std::int64_t kHz = 250;  // CONFIG_HZ of many distribution kernels; others use 1000
    static constexpr Nanos kTick{1'000'000'000 / kHz};
    static constexpr std::int64_t kLooksPerSecond = 32;  // evaluations of the curve while the window is constant
    static constexpr double kC = 410.0 / 1024;           // 0.4, in steps of 1/1024
    static constexpr double kBeta = 717.0 / 1024;        // 0.7, in steps of 1/1024

    // The window after a loss: rounded down to whole packets, at least two.
    static double reduced(double cwnd_pkts, double beta = kBeta) {
        return static_cast<double>(std::max<std::int64_t>(whole(static_cast<double>(whole(cwnd_pkts)) * beta), 2));
    }
    // W_max after a loss; lower with fast convergence if the window was still below the previous W_max.
    static std::int64_t origin_after(double cwnd_pkts, std::int64_t w_max, bool fast_convergence) {
        const std::int64_t cwnd = whole(cwnd_pkts);
        return cwnd < w_max && fast_convergence ? cwnd * (1024 + 717) / 2048 : cwnd;
    }

    void on_loss(double cwnd_pkts, bool fast_convergence) {
        w_max_ = origin_after(cwnd_pkts, w_max_, fast_convergence);
        has_epoch_ = false;
        credit_ = 0;
    }
    // Linux resets all state after a timeout (bictcp_reset).
    void on_timeout() { *this = LinuxCubic(); }
    void leave_slow_start() { has_epoch_ = false; }
    double w_max_pkts() const { return static_cast<double>(w_max_); }  // 0: no loss so far
    void shift_epoch(Nanos by) { epoch_start_ += by; }

    // Congestion avoidance: the window after `acked_pkts` more packets.
    double grown(double cwnd_pkts, double acked_pkts, Nanos now, Nanos min_rtt, bool reno_friendly, Reason* why) {
        std::int64_t cwnd = whole(cwnd_pkts);
        const std::int64_t acked = whole(acked_pkts + 0.5);
        const std::int64_t credit = credit_;
        update(cwnd, acked, now, min_rtt, reno_friendly);
        if (credit_ >= acks_per_packet_) {  // counted for a larger acks_per_packet_: yields only one packet
            credit_ = 0;
            ++cwnd;
        }
        credit_ += acked;
        if (credit_ >= acks_per_packet_) {
            cwnd += credit_ / acks_per_packet_;
            credit_ %= acks_per_packet_;
        }
        // An ACK that only adds to the credit is no decision.
        if (why != nullptr && static_cast<double>(cwnd) != cwnd_pkts)
            why->set(*rule_, {static_cast<double>(acked), static_cast<double>(credit),
                              static_cast<double>(acks_per_packet_), look_s_, k_s_, static_cast<double>(origin_),
                              static_cast<double>(target_), static_cast<double>(reno_cwnd_)});
        return static_cast<double>(cwnd);
    }

private:
    static std::int64_t whole(double pkts) { return static_cast<std::int64_t>(pkts); }
    static std::int64_t ticks(Nanos time) { return time / kTick; }

    // Updates acks_per_packet_, the number of ACKed packets for which the window grows by one.
    void update(std::int64_t cwnd, std::int64_t acked, Nanos now, Nanos min_rtt, bool reno_friendly) {
        const std::int64_t tick = ticks(now);
        epoch_acked_ += acked;
        if (has_epoch_ && cwnd == last_cwnd_ && tick - last_tick_ <= kHz / kLooksPerSecond) return;
        if (!has_epoch_ || tick != last_tick_) {
            last_cwnd_ = cwnd;
            last_tick_ = tick;
            if (!has_epoch_) begin_epoch(cwnd, acked, now);
            // The curve at least one round trip ahead
            const Nanos ahead = min_rtt + kTick - Nanos(1);
            look_s_ = static_cast<double>(ticks(now - epoch_start_) + ticks(ahead)) / kHz;
            const double d = look_s_ - k_s_;
            const auto rise = static_cast<std::int64_t>(kC * std::abs(d * d * d));
            target_ = d < 0 ? origin_ - rise : origin_ + rise;
            acks_per_packet_ = target_ > cwnd ? cwnd / (target_ - cwnd) : 100 * cwnd;
            rule_ = d < 0 ? &linux_cubic_rules::kConcave : &linux_cubic_rules::kConvex;
            if (w_max_ == 0) acks_per_packet_ = std::min<std::int64_t>(acks_per_packet_, 20);
        }
        if (reno_friendly) {
            const std::int64_t per_packet = cwnd * 15 / 8;  // (1 + beta) / (3 (1 - beta)) windows
            while (epoch_acked_ > per_packet) {
                epoch_acked_ -= per_packet;
                ++reno_cwnd_;
            }
            if (reno_cwnd_ > cwnd && cwnd / (reno_cwnd_ - cwnd) < acks_per_packet_) {
                acks_per_packet_ = cwnd / (reno_cwnd_ - cwnd);
                rule_ = &linux_cubic_rules::kFriendly;
            }
        }
        acks_per_packet_ = std::max<std::int64_t>(acks_per_packet_, 2);  // growth by at most half per round trip
    }

    void begin_epoch(std::int64_t cwnd, std::int64_t acked, Nanos now) {
        has_epoch_ = true;
        epoch_start_ = now;
        epoch_acked_ = acked;
        reno_cwnd_ = cwnd;
        origin_ = std::max(w_max_, cwnd);
        k_s_ = cube_root(static_cast<double>(origin_ - cwnd) / kC);
    }

    std::int64_t w_max_ = 0;  // 0: no loss so far
    std::int64_t origin_ = 0;
    std::int64_t reno_cwnd_ = 0;
    std::int64_t epoch_acked_ = 0;
    std::int64_t acks_per_packet_ = 1;
    std::int64_t credit_ = 0;
    std::int64_t last_cwnd_ = 0;
    std::int64_t last_tick_ = 0;
    double k_s_ = 0;
    Nanos epoch_start_{};
    // Values at the last evaluation of the curve: time in the epoch, value of the curve, and the rule that determines
    // the growth
    double look_s_ = 0;
    std::int64_t target_ = 0;
    const RuleInfo* rule_ = &linux_cubic_rules::kConcave;
    bool has_epoch_ = false;
};

}  // namespace subflow
