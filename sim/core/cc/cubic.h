// CUBIC: growth depends on the time since the last reduction, not on round trips. Source: RFC 9438.
#pragma once

#include <array>
#include <variant>

#include "cubic_curve.h"
#include "hystart.h"
#include "linux_cubic.h"
#include "newreno.h"

namespace subflow {

namespace cubic_rules {

// Rules for growth, by region of the curve: RFC 9438 sections 4.3 to 4.5
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
    growth_rule("cubic_reno_friendly", "max(cwnd, W_est): W_cubic = 0.4 (t - K)^3 + W_max is below Reno's window",
                "cwnd = max(cwnd, W_est)", "RFC 9438 section 4.3");
inline constexpr RuleInfo kConcave =
    growth_rule("cubic_concave", "cwnd + acked * (target - cwnd) / cwnd, target = W_cubic(t + RTT) <= 1.5 cwnd",
                "cwnd = cwnd + acked * (target - cwnd) / cwnd", "RFC 9438 section 4.4");
inline constexpr RuleInfo kConvex =
    growth_rule("cubic_convex", "cwnd + acked * (target - cwnd) / cwnd, target = W_cubic(t + RTT) <= 1.5 cwnd",
                "cwnd = cwnd + acked * (target - cwnd) / cwnd", "RFC 9438 section 4.5");
}  // namespace cubic_rules

class Cubic {
public:
    static constexpr std::array<std::string_view, 3> kHyStarts{"off", "linux", "rfc9406"};
    static constexpr std::array<std::string_view, 2> kArithmetics{"linux", "rfc9438"};
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "arithmetic",
            .kind = OptionKind::Choice,
            .help = "Whole packets and a clock of 4 ms as in Linux, which is slower where cwnd is small, or real "
                    "numbers as in RFC 9438. Default: linux under the linux profile, rfc9438 under textbook.",
            .default_choice = "linux",
            .textbook_choice = "rfc9438",
            .choices = kArithmetics,
        },
        CubicCurve::kFastConvergence,
        OptionInfo{
            .key = "reno_friendly",
            .kind = OptionKind::Flag,
            .help = "Never grow slower than NewReno would: the TCP-friendly region.",
            .default_number = 1,
        },
        OptionInfo{
            .key = "hystart",
            .kind = OptionKind::Choice,
            .help = "Leave slow start before the queue overflows: by ACK trains and RTT as Linux does, or by "
                    "HyStart++ of RFC 9406. Default: linux under the linux profile, off under textbook.",
            .default_choice = "linux",
            .textbook_choice = "off",
            .choices = kHyStarts,
        },
        OptionalAbe::kOptionOfCubic,
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
        .summary = "A cubic curve over the time since the last loss: back quickly, then probing",
        .source = "RFC 9438; Linux tcp_cubic.c; HyStart: Linux tcp_cubic.c, RFC 9406",
        .options = kOptions,
        .rules = kRules,
    };

    explicit Cubic(const Options& options)
        : curve_(options),
          abe_(options, OptionalAbe::kOptionOfCubic),
          has_linux_arithmetic_(options.choice("arithmetic") == "linux"),
          reno_friendly_(options.number("reno_friendly") != 0) {
        const std::string_view hystart = options.choice("hystart");
        if (hystart == "linux") hystart_ = HyStart();
        if (hystart == "rfc9406") hystart_ = HyStartPlusPlus();
    }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings&) {
        linux_.shift_epoch(curve_.leave_out_unused_time(ack));
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
            curve_.end_epoch();
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
        if (!curve_.has_epoch()) curve_.begin_epoch(window, ack.now);
        const CubicCurve::Place place = curve_.advance(window, ack, acked, reno_friendly_);
        if (ack.why != nullptr) {
            const RuleInfo& rule = place.is_reno_ahead        ? cubic_rules::kFriendly
                                   : place.is_concave(window) ? cubic_rules::kConcave
                                                              : cubic_rules::kConvex;
            ack.why->set(rule, {acked, window.cwnd_pkts, place.t_s, place.k_s, place.w_max, place.w_cubic, place.w_est,
                                place.target});
        }
        place.grow(window, acked);
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) {
        const double w = window.cwnd_pkts;
        const bool is_timeout = event.kind == CongestionKind::Timeout;
        // HyStart of Linux restarts after a timeout (bictcp_reset); HyStart++ of RFC 9406 applies only to the first
        // slow start.
        watches_slow_start_ = is_timeout && std::holds_alternative<HyStart>(hystart_);
        const bool is_gentle = abe_.applies_to(event);
        if (has_linux_arithmetic_) {
            const double beta = is_gentle ? OptionalAbe::kBetaOfCubic : LinuxCubic::kBeta;
            const double w_max = linux_.w_max_pkts();
            window.ssthresh_pkts = LinuxCubic::reduced(w, beta);
            linux_.on_loss(w, curve_.fast_convergence());
            if (is_timeout) linux_.on_timeout();
            if (event.why != nullptr)
                event.why->set(linux_cubic_rules::kDecrease,
                               {w, beta, w_max, linux_.w_max_pkts(), window.ssthresh_pkts});
            return;
        }
        curve_.on_congestion_event(window, event, is_gentle ? OptionalAbe::kBetaOfCubic : CubicCurve::kBeta);
    }

private:
    CubicCurve curve_;
    OptionalAbe abe_;
    std::variant<std::monostate, HyStart, HyStartPlusPlus> hystart_;
    LinuxCubic linux_;
    bool has_linux_arithmetic_;
    bool reno_friendly_;
    bool watches_slow_start_ = true;
};
static_assert(CongestionController<Cubic>);

}  // namespace subflow
