// CUBIC over several paths, coupled: all subflows together take what one CUBIC would on the best of them. Source: RFC
// 9438 for the curve and RFC 6356 for the goals. MPCubic (Le, Hong, Lee, ICTC 2011), mpCUBIC (Kato et al., WorldCIST
// 2020) and Coupled CUBIC (Lee et al., CSSE 45(1), 2023) pursue the same; the coupling is derived here: the window of a
// CUBIC is as C^(1/4), RFC 9438 section 5.1, and that of its Reno-friendly estimate as alpha^(1/2). With s^4 C and s^2
// alpha on each path a subflow has s times what a CUBIC would have there, so that the sum of the rates is that of the
// best CUBIC for s = max(x_i) / sum(x_i), whatever the losses are.
#pragma once

#include <array>

#include "cubic.h"

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
    "coupled_cubic_reno_friendly", "max(cwnd, W_est), which grows by share^2 of what it would: W_cubic is below it",
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
        OptionInfo{
            .key = "fast_convergence",
            .kind = OptionKind::Flag,
            .help = "Give up more when the window was still below the one before it, to make room for newcomers.",
            .default_number = 1,
        },
        OptionalHyStart::kOption,
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
        .summary = "CUBIC on each subflow, scaled so that all together take what one would on the best path",
        .source = "RFC 9438; RFC 6356",
        .is_coupled = true,
        .options = kOptions,
        .rules = kRules,
    };

    explicit CoupledCubic(const Options& options)
        : hystart_(options), fast_convergence_(options.number("fast_convergence") != 0) {}

    // Of what a CUBIC would have on its path, what each subflow is to have.
    static double share(const Siblings& siblings) {
        if (!siblings.has_others()) return 1;
        const Siblings::Rates rates = siblings.rates();
        return rates.fastest_pps / rates.total_pps;
    }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
        leave_out_unused_time(ack);
        if (ack.begins_round) couple(share(siblings), ack.now);
        hystart_.on_every_ack(window, ack);
    }

    void on_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
        if (window.in_slow_start()) has_epoch_ = false;
        const double acked = hystart_.beyond_slow_start(window, ack);
        if (acked == 0) return;
        if (!has_epoch_) begin_epoch(window, ack.now, share(siblings));
        w_est_ += (w_est_ >= cwnd_prior_ ? 1.0 : Cubic::kAlpha) * share_ * share_ * acked / window.cwnd_pkts;
        const double t_s = to_seconds(ack.now - epoch_start_);
        const double w = window.cwnd_pkts;
        if (window_at(t_s) < w_est_) {
            if (ack.why != nullptr)
                ack.why->set(coupled_cubic_rules::kFriendly, {acked, w, t_s, k_s_, w_max_, w_est_, w_est_, share_});
            window.cwnd_pkts = std::max(w, w_est_);
            return;
        }
        const double target = std::clamp(window_at(t_s + to_seconds(ack.srtt)), w, 1.5 * w);
        if (ack.why != nullptr)
            ack.why->set(w < w_max_ ? coupled_cubic_rules::kConcave : coupled_cubic_rules::kConvex,
                         {acked, w, t_s, k_s_, w_max_, w_est_, target, share_});
        window.cwnd_pkts += acked * (target - w) / w;
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) {
        const double w = window.cwnd_pkts;
        hystart_.on_congestion_event();
        cwnd_prior_ = w;
        const double w_max_before = w_max_;
        // RFC 9438 section 4.7, fast convergence
        w_max_ = fast_convergence_ && w < w_max_ ? w * (1 + Cubic::kBeta) / 2 : w;
        window.ssthresh_pkts = std::max(Cubic::kBeta * w, 2.0);
        if (event.why != nullptr)
            event.why->set(cubic_rules::kDecrease, {w, Cubic::kBeta, w_max_before, w_max_, window.ssthresh_pkts});
        has_epoch_ = false;
        is_after_timeout_ = event.kind == CongestionKind::Timeout;
    }

private:
    // W_cubic(t), RFC 9438 section 4.2, with share^4 C for C.
    double window_at(double t_s) const {
        const double d = t_s - k_s_;
        return share_ * share_ * share_ * share_ * Cubic::kC * d * d * d + w_max_;
    }

    void begin_epoch(const Window& window, Nanos now, double share) {
        const double w = window.cwnd_pkts;
        const bool has_lost = w_max_ > 0;
        if (!has_lost) cwnd_prior_ = w;  // slow start was left without a loss
        // RFC 9438 sections 4.8 and 4.10
        if (!has_lost || is_after_timeout_ || w >= w_max_) w_max_ = w;
        is_after_timeout_ = false;
        share_ = share;
        const double quarter = share * share;
        k_s_ = cube_root((w_max_ - w) / (quarter * quarter * Cubic::kC));
        w_est_ = w;
        epoch_start_ = now;
        has_epoch_ = true;
    }

    // Another share in the middle of an epoch: the curve goes on from where it is, with its time stretched.
    void couple(double share, Nanos now) {
        if (!has_epoch_ || share == share_) return;
        const double before = share_ / share;
        const double stretch = before * cube_root(before);
        const double t_s = to_seconds(now - epoch_start_) * stretch;
        k_s_ *= stretch;
        epoch_start_ = now - from_seconds(t_s);
        share_ = share;
    }

    // Time in which the window was not in use does not count. RFC 9438 section 5.8.
    void leave_out_unused_time(const AckSample& ack) {
        if (was_idle_) {
            const Nanos sent = ack.now - ack.rtt;
            if (sent > last_ack_) epoch_start_ += sent - last_ack_;
        } else if (!ack.is_cwnd_limited) {
            epoch_start_ += ack.now - last_ack_;
        }
        last_ack_ = ack.now;
        was_idle_ = ack.inflight_pkts == 0;
    }

    OptionalHyStart hystart_;
    double share_ = 1;
    double w_max_ = 0;  // 0: no loss so far
    double k_s_ = 0;
    double w_est_ = 0;       // what Reno would have
    double cwnd_prior_ = 0;  // before the last reduction
    Nanos epoch_start_{};
    Nanos last_ack_{};
    bool fast_convergence_;
    bool has_epoch_ = false;
    bool is_after_timeout_ = false;
    bool was_idle_ = false;
};
static_assert(CongestionController<CoupledCubic>);

}  // namespace subflow
