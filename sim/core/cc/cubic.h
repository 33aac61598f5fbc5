// CUBIC: growth by the time since the last reduction instead of by round trips. Source: RFC 9438.
#pragma once

#include <array>
#include <variant>

#include "cube_root.h"
#include "hystart.h"
#include "linux_cubic.h"
#include "newreno.h"

namespace subflow {

namespace cubic_rules {

// Growth, by region of the curve. RFC 9438 sections 4.3 to 4.5
constexpr RuleInfo growth_rule(std::string_view name, std::string_view formula, std::string_view computed,
                               std::string_view source) {
    return {.name = name,
            .formula = formula,
            .computed = computed,
            .source = source,
            .numbers = {number::kAcked, number::kCwnd, number::kT, number::kK, number::kWMax, number::kWCubic,
                        number::kWEst, number::kTarget}};
}
inline constexpr RuleInfo kFriendly =
    growth_rule("cubic_reno_friendly", "max(cwnd, W_est): W_cubic = 0.4 (t - K)^3 + W_max is below what Reno has",
                "cwnd = max(cwnd, W_est)", "RFC 9438 section 4.3");
inline constexpr RuleInfo kConcave =
    growth_rule("cubic_concave", "cwnd + acked * (target - cwnd) / cwnd, target = W_cubic(t + RTT) <= 1.5 cwnd",
                "cwnd = cwnd + acked * (target - cwnd) / cwnd", "RFC 9438 section 4.4");
inline constexpr RuleInfo kConvex =
    growth_rule("cubic_convex", "cwnd + acked * (target - cwnd) / cwnd, target = W_cubic(t + RTT) <= 1.5 cwnd",
                "cwnd = cwnd + acked * (target - cwnd) / cwnd", "RFC 9438 section 4.5");
inline constexpr RuleInfo kDecrease{
    .name = "cubic_decrease",
    .formula =
        "ssthresh = max(beta * cwnd, 2); W_max = cwnd, or cwnd (1 + beta) / 2 if cwnd had not come back to "
        "the W_max before",
    .computed = "ssthresh = max(beta * cwnd, 2)",
    .source = "RFC 9438 sections 4.6 and 4.7",
    .numbers = {number::kCwnd, number::kBeta, number::kWMaxBefore, number::kWMax, number::kSsthresh},
};

}  // namespace cubic_rules

class Cubic {
public:
    static constexpr std::array<std::string_view, 3> kHyStarts{"off", "linux", "rfc9406"};
    static constexpr std::array<std::string_view, 2> kArithmetics{"linux", "rfc9438"};
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "arithmetic",
            .kind = OptionKind::Choice,
            .help = "Whole packets and a clock of 4 ms as in Linux, which is slower where windows are small, or real "
                    "numbers as in RFC 9438. Left out: linux under the linux profile, rfc9438 under textbook.",
            .default_choice = "linux",
            .textbook_choice = "rfc9438",
            .choices = kArithmetics,
        },
        OptionInfo{
            .key = "fast_convergence",
            .kind = OptionKind::Flag,
            .help = "Give up more when the window was still below the one before it, to make room for newcomers.",
            .default_number = 1,
        },
        OptionInfo{
            .key = "reno_friendly",
            .kind = OptionKind::Flag,
            .help = "Never grow slower than NewReno would: the TCP-friendly region.",
            .default_number = 1,
        },
        OptionInfo{
            .key = "hystart",
            .kind = OptionKind::Choice,
            .help = "Leave slow start before the queue overflows: by ACK trains and RTT as Linux does, or by HyStart++ "
                    "of RFC 9406. Left out: linux under the linux profile, off under textbook.",
            .default_choice = "linux",
            .textbook_choice = "off",
            .choices = kHyStarts,
        },
    };
    static constexpr std::array kRules{&kSlowStart,
                                       &HyStart::kExit,
                                       &HyStartPlusPlus::kGrowth,
                                       &HyStartPlusPlus::kExit,
                                       &cubic_rules::kFriendly,
                                       &cubic_rules::kConcave,
                                       &cubic_rules::kConvex,
                                       &linux_cubic_rules::kFriendly,
                                       &linux_cubic_rules::kConcave,
                                       &linux_cubic_rules::kConvex,
                                       &cubic_rules::kDecrease,
                                       &linux_cubic_rules::kDecrease};
    static constexpr AlgorithmInfo kInfo{
        .name = "cubic",
        .summary = "A cubic curve over the time since the last loss: quickly back, then probing",
        .source = "RFC 9438; Linux tcp_cubic.c; HyStart: Linux tcp_cubic.c, RFC 9406",
        .options = kOptions,
        .rules = kRules,
    };

    static constexpr double kC = 0.4;     // packets per second cubed (section 5)
    static constexpr double kBeta = 0.7;  // section 4.6
    // Section 4.3: with it, Reno-friendly growth has the mean window of Reno.
    static constexpr double kAlpha = 3 * (1 - kBeta) / (1 + kBeta);

    explicit Cubic(const Options& options)
        : has_linux_arithmetic_(options.choice("arithmetic") == "linux"),
          fast_convergence_(options.number("fast_convergence") != 0),
          reno_friendly_(options.number("reno_friendly") != 0) {
        const std::string_view hystart = options.choice("hystart");
        if (hystart == "linux") hystart_ = HyStart();
        if (hystart == "rfc9406") hystart_ = HyStartPlusPlus();
    }

    // Seconds from the start of an epoch until the window is back at w_max. RFC 9438 section 4.2, figure 2.
    static double k_s(double w_max_pkts, double cwnd_epoch_pkts) {
        return cube_root(std::max(w_max_pkts - cwnd_epoch_pkts, 0.0) / kC);
    }

    // W_cubic(t). RFC 9438 section 4.2, figure 1.
    static double window_at(double t_s, double k_s, double w_max_pkts) {
        const double d = t_s - k_s;
        return kC * d * d * d + w_max_pkts;
    }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings&) {
        leave_out_unused_time(ack);
        if (!watches_slow_start_ || !window.in_slow_start()) return;
        const bool is_full = std::visit(
            [&]<class H>(H& hystart) {
                if constexpr (std::is_same_v<H, std::monostate>) {
                    return false;
                } else {
                    return hystart.on_ack(window, ack);
                }
            },
            hystart_);
        if (!is_full) return;
        window.ssthresh_pkts = window.cwnd_pkts;
        watches_slow_start_ = false;
    }

    void on_ack(Window& window, const AckSample& ack, const Siblings&) {
        double acked = ack.acked_pkts;
        if (window.in_slow_start()) {
            has_epoch_ = false;
            linux_.leave_slow_start();
            const auto* plus_plus = std::get_if<HyStartPlusPlus>(&hystart_);
            const bool is_slower = plus_plus != nullptr && watches_slow_start_;
            const double growth = is_slower ? plus_plus->slow_start_growth(acked) : acked;
            const double ssthresh = window.ssthresh_pkts;
            const double left = slow_start(window, growth, ack.why);
            if (is_slower && ack.why != nullptr)
                ack.why->set(HyStartPlusPlus::kGrowth,
                             {acked, growth, plus_plus->is_conservative() ? 1.0 : 0.0, ssthresh});
            acked = left;
            if (acked == 0) return;
        }
        if (has_linux_arithmetic_) {
            window.cwnd_pkts = linux_.grown(window.cwnd_pkts, acked, ack.now, ack.min_rtt, reno_friendly_, ack.why);
            return;
        }
        if (!has_epoch_) begin_epoch(window, ack.now);
        // RFC 9438 section 4.3, figure 4: Reno's own pace once the window before the reduction is reached again
        w_est_ += (w_est_ >= cwnd_prior_ ? 1.0 : kAlpha) * acked / window.cwnd_pkts;
        const double t_s = to_seconds(ack.now - epoch_start_);
        const double w_cubic = window_at(t_s, k_s_, origin_);
        if (reno_friendly_ && w_cubic < w_est_) {
            if (ack.why != nullptr)
                ack.why->set(cubic_rules::kFriendly,
                             {acked, window.cwnd_pkts, t_s, k_s_, origin_, w_cubic, w_est_, w_est_});
            window.cwnd_pkts = std::max(window.cwnd_pkts, w_est_);
            return;
        }
        // RFC 9438 section 4.2: where the curve will be a round trip from now, at most half as much again
        const double w = window.cwnd_pkts;
        const double target = std::clamp(window_at(t_s + to_seconds(ack.srtt), k_s_, origin_), w, 1.5 * w);
        if (ack.why != nullptr)
            ack.why->set(w < origin_ ? cubic_rules::kConcave : cubic_rules::kConvex,
                         {acked, w, t_s, k_s_, origin_, w_cubic, w_est_, target});
        window.cwnd_pkts += acked * (target - w) / w;
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) {
        const double w = window.cwnd_pkts;
        const bool is_timeout = event.kind == CongestionKind::Timeout;
        // Linux starts over after a timeout (bictcp_reset); RFC 9406 is for the first slow start only.
        watches_slow_start_ = is_timeout && std::holds_alternative<HyStart>(hystart_);
        if (has_linux_arithmetic_) {
            const double w_max = linux_.w_max_pkts();
            window.ssthresh_pkts = LinuxCubic::reduced(w);
            linux_.on_loss(w, fast_convergence_);
            if (is_timeout) linux_.on_timeout();
            if (event.why != nullptr)
                event.why->set(linux_cubic_rules::kDecrease,
                               {w, LinuxCubic::kBeta, w_max, linux_.w_max_pkts(), window.ssthresh_pkts});
            return;
        }
        cwnd_prior_ = w;
        const double w_max_before = w_max_;
        // RFC 9438 section 4.7, fast convergence
        w_max_ = fast_convergence_ && w < w_max_ ? w * (1 + kBeta) / 2 : w;
        window.ssthresh_pkts = std::max(kBeta * w, 2.0);
        if (event.why != nullptr)
            event.why->set(cubic_rules::kDecrease, {w, kBeta, w_max_before, w_max_, window.ssthresh_pkts});
        has_epoch_ = false;
        is_after_timeout_ = is_timeout;
    }

private:
    // The first ACK of congestion avoidance.
    void begin_epoch(const Window& window, Nanos now) {
        const double w = window.cwnd_pkts;
        const bool has_lost = w_max_ > 0;
        if (!has_lost) cwnd_prior_ = w;  // slow start was left without a loss
        // RFC 9438 sections 4.8 and 4.10: after a timeout or such a slow start, the window is at the inflection point.
        if (!has_lost || is_after_timeout_ || w >= w_max_) w_max_ = w;
        is_after_timeout_ = false;
        origin_ = w_max_;
        k_s_ = k_s(w_max_, w);
        w_est_ = w;
        epoch_start_ = now;
        has_epoch_ = true;
    }

    // Time in which the window was not in use does not count. RFC 9438 section 5.8.
    void leave_out_unused_time(const AckSample& ack) {
        if (was_idle_) {
            // Nothing was under way from the ACK before until the packet was sent that this one is for.
            const Nanos sent = ack.now - ack.rtt;
            if (sent > last_ack_) shift_epoch(sent - last_ack_);
        } else if (!ack.is_cwnd_limited) {
            shift_epoch(ack.now - last_ack_);
        }
        last_ack_ = ack.now;
        was_idle_ = ack.inflight_pkts == 0;
    }

    void shift_epoch(Nanos by) {
        epoch_start_ += by;
        linux_.shift_epoch(by);
    }

    double w_max_ = 0;   // 0: no loss so far
    double origin_ = 0;  // w_max of this epoch
    double k_s_ = 0;
    double w_est_ = 0;       // what Reno would have
    double cwnd_prior_ = 0;  // before the last reduction
    Nanos epoch_start_{};
    Nanos last_ack_{};
    std::variant<std::monostate, HyStart, HyStartPlusPlus> hystart_;
    LinuxCubic linux_;
    bool has_linux_arithmetic_;
    bool fast_convergence_;
    bool reno_friendly_;
    bool has_epoch_ = false;
    bool is_after_timeout_ = false;
    bool was_idle_ = false;
    bool watches_slow_start_ = true;
};
static_assert(CongestionController<Cubic>);

}  // namespace subflow
