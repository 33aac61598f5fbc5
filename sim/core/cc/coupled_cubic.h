// CUBIC coupled over several paths: all subflows together reach the rate of one CUBIC on the best path. Source: RFC
// 9438 for the curve and RFC 6356 for the goals. MPCubic (Le, Hong, Lee, ICTC 2011), mpCUBIC (Kato et al., WorldCIST
// 2020) and Coupled CUBIC (Lee et al., CSSE 45(1), 2023) have the same goal; the coupling is derived here. The window
// of a CUBIC scales as C^(1/4), RFC 9438 section 5.1, and that of its Reno-friendly estimate as alpha^(1/2). With s^4 C
// and s^2 alpha on each path, a subflow reaches s times the rate of a CUBIC on that path. For s = max(x_i) / sum(x_i)
// with the subflows' rates x_i, the sum of the rates is that of one CUBIC on the best path, for any losses.
#pragma once

#include <array>

#include "cubic_curve.h"
#include "hystart.h"

namespace subflow {

namespace coupled_cubic_rules {

inline constexpr RuleNumber kShare{"share", "largest rate of a subflow, of the rates of all"};

constexpr RuleInfo growth_rule(std::string_view name, std::string_view formula, std::string_view computed,
                               std::string_view source) {
    return {.name = name,
            .formula = formula,
            .computed = computed,
            .source = source,
            .numbers = {number::kAcked, number::kCwnd, number::kT, number::kK, number::kWMax, number::kWEst,
                        number::kTarget, kShare}};
}
inline constexpr RuleInfo kFriendly = growth_rule(
    "coupled_cubic_reno_friendly", "max(cwnd, W_est), with W_est growing at share^2 of its rate: W_cubic is below it",
    "cwnd = max(cwnd, W_est)", "RFC 9438 section 4.3; RFC 6356 section 2");
inline constexpr RuleInfo kConcave =
    growth_rule("coupled_cubic_concave",
                "cwnd + acked * (target - cwnd) / cwnd, target = W_cubic(t + RTT) <= 1.5 cwnd, W_cubic = share^4 * 0.4 "
                "(t - K)^3 + W_max",
                "cwnd = cwnd + acked * (target - cwnd) / cwnd", "RFC 9438 section 4.4; RFC 6356 section 2");
inline constexpr RuleInfo kConvex =
    growth_rule("coupled_cubic_convex",
                "cwnd + acked * (target - cwnd) / cwnd, target = W_cubic(t + RTT) <= 1.5 cwnd, W_cubic = share^4 * 0.4 "
                "(t - K)^3 + W_max",
                "cwnd = cwnd + acked * (target - cwnd) / cwnd", "RFC 9438 section 4.5; RFC 6356 section 2");

}  // namespace coupled_cubic_rules

class CoupledCubic {
public:
    static constexpr std::array kOptions{
        CubicCurve::kFastConvergence,
        OptionalHyStart::kOption,
        OptionalAbe::kOption,
    };
    static constexpr std::array kRules{&kSlowStart,
                                       &HyStartPlusPlus::kGrowth,
                                       &HyStartPlusPlus::kExit,
                                       &coupled_cubic_rules::kFriendly,
                                       &coupled_cubic_rules::kConcave,
                                       &coupled_cubic_rules::kConvex,
                                       &cubic_rules::kDecrease};
    static constexpr AlgorithmInfo kInfo{
        .name = "coupled-cubic",
        .summary = "CUBIC on each subflow, scaled so that all together take what one CUBIC would on the best path",
        .source = "RFC 9438; RFC 6356",
        .is_coupled = true,
        .options = kOptions,
        .rules = kRules,
    };

    explicit CoupledCubic(const Options& options) : curve_(options), hystart_(options), abe_(options) {}

    // Share s of each subflow in the rate of a CUBIC on its path.
    static double share(const Siblings& siblings) {
        if (!siblings.has_others()) return 1;
        const Siblings::Rates rates = siblings.rates();
        return rates.fastest_pps / rates.total_pps;
    }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
        curve_.leave_out_unused_time(ack);
        if (ack.begins_round) curve_.couple(share(siblings), ack.now);
        hystart_.on_every_ack(window, ack);
    }

    void on_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
        if (window.in_slow_start()) curve_.end_epoch();
        const double acked = hystart_.beyond_slow_start(window, ack);
        if (acked == 0) return;
        if (!curve_.has_epoch()) curve_.begin_epoch(window, ack.now, share(siblings));
        const CubicCurve::Place place = curve_.advance(window, ack, acked);
        if (ack.why != nullptr) {
            const RuleInfo& rule = place.is_reno_ahead        ? coupled_cubic_rules::kFriendly
                                   : place.is_concave(window) ? coupled_cubic_rules::kConcave
                                                              : coupled_cubic_rules::kConvex;
            ack.why->set(rule, {acked, window.cwnd_pkts, place.t_s, place.k_s, place.w_max, place.w_est, place.target,
                                curve_.share()});
        }
        place.grow(window, acked);
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) {
        hystart_.on_congestion_event();
        const bool is_gentle = abe_.applies_to(event);
        curve_.on_congestion_event(window, event, is_gentle ? OptionalAbe::kBetaOfCubic : CubicCurve::kBeta);
    }

private:
    CubicCurve curve_;
    OptionalHyStart hystart_;
    OptionalAbe abe_;
};
static_assert(CongestionController<CoupledCubic>);

}  // namespace subflow
