// BALIA, the balanced linked adaptation algorithm. Source: Peng, Walid, Hwang, Low, IEEE/ACM ToN 2016.
#pragma once

#include <array>
#include <cmath>
#include <optional>

#include "ack_counting.h"
#include "kernel_balia.h"
#include "newreno.h"

namespace subflow {

class Balia {
public:
    static constexpr std::array kOwnOptions{
        OptionInfo{
            .key = "kernel_int",
            .kind = OptionKind::Flag,
            .help = "Compute alpha of the decrease by integer division, as the kernel does: subflows at most half as "
                    "fast as the fastest then give up 3/4 of their cwnd, all others half.",
            .default_number = 0,
        },
    };
    static constexpr auto kOptions =
        joined(kOwnOptions, std::array{AckCounting::kOption, KernelArithmetic::kOption, OptionalHyStart::kOption});
    static constexpr RuleNumber kXR{"x_r_pps", "rate of this subflow"};

    static constexpr RuleInfo kBalancedIncrease{
        .name = "balanced_increase",
        .formula =
            "cwnd + acked * x_r / rtt_r / total_rate^2 * (1 + alpha) / 2 * (4 + alpha) / 5, alpha = max(x_i) / "
            "x_r, total_rate = sum(x_i)",
        .computed = "cwnd = cwnd + acked * x_r / srtt / total_rate**2 * (1 + alpha) / 2 * (4 + alpha) / 5",
        .source = "draft-walid-mptcp-congestion-control-04 section 3.1",
        .numbers = {number::kAcked, number::kCwnd, number::kAlpha, kXR, number::kTotalRate, number::kSrtt,
                    number::kIncrease},
    };
    static constexpr RuleInfo kBalancedDecrease{
        .name = "balanced_decrease",
        .formula = "ssthresh = max(cwnd - cwnd / 2 * min(alpha, 1.5), 1), alpha = max(x_i) / x_r",
        .computed = "ssthresh = max(cwnd - cwnd / 2 * min(alpha, 1.5), 1)",
        .source = "draft-walid-mptcp-congestion-control-04 section 3.1",
        .numbers = {number::kCwnd, number::kAlpha, kXR, number::kSsthresh},
    };
    static constexpr std::array kOwnRules{&kSlowStart, &kBalancedIncrease, &kBalancedDecrease,
                                          &NewReno::kAdditiveIncrease, &NewReno::kHalving};
    static constexpr auto kRules =
        joined(kOwnRules, std::array{&KernelBalia::kStep, &KernelBalia::kDecrease, &KernelArithmetic::kHalving},
               OptionalHyStart::kRules);
    static constexpr AlgorithmInfo kInfo{
        .name = "balia",
        .summary = "Balanced linked adaptation: between LIA's responsiveness and OLIA's load balancing",
        .source = "Peng et al., IEEE/ACM ToN 2016; draft-walid-mptcp-congestion-control-04",
        .is_coupled = true,
        .options = kOptions,
        .rules = kRules,
    };

    explicit Balia(const Options& options)
        : kernel_int_(options.number("kernel_int") != 0), counting_(options), hystart_(options) {
        if (KernelArithmetic::is_chosen(options)) kernel_.emplace();
    }
    bool sees_every_ack() const { return kernel_ || hystart_.is_watching(); }

    // alpha of this subflow: the fastest rate of the connection divided by this subflow's rate, >= 1.
    static double alpha(const Siblings& siblings) { return siblings.rates().fastest_pps / siblings.own().rate_pps(); }

    // Growth of the window per ACKed packet in congestion avoidance, in packets.
    static double increase_per_ack(const Siblings& siblings) {
        return increase_per_ack(siblings, alpha(siblings), siblings.rates().total_pps);
    }
    static double increase_per_ack(const Siblings& siblings, double a, double total_rate) {
        // draft-walid-mptcp-congestion-control-04 section 3.1
        return siblings.coupled_increase(total_rate) * ((1 + a) / 2) * ((4 + a) / 5);
    }

    // Reduction at a congestion event, in packets: half to three quarters of the window.
    static double decrease(double cwnd_pkts, double alpha) { return cwnd_pkts / 2 * std::min(alpha, 1.5); }
    static double decrease(double cwnd_pkts, const Siblings& siblings, bool kernel_int) {
        return decrease(cwnd_pkts, alpha_of_decrease(siblings, kernel_int));
    }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
        if (kernel_) return kernel_->on_every_ack(window, ack, siblings);
        hystart_.on_every_ack(window, ack);
    }

    void on_ack(Window& window, const AckSample& ack, const Siblings& siblings) const {
        if (kernel_) return;
        const double acked = counting_.counted(hystart_.beyond_slow_start(window, ack));
        if (!siblings.has_others()) return NewReno::grow(window, ack, acked);
        if (acked == 0) return;
        const Siblings::Rates rates = siblings.rates();
        const double own_pps = siblings.own().rate_pps();
        const double a = rates.fastest_pps / own_pps;
        const double increase = increase_per_ack(siblings, a, rates.total_pps);
        if (ack.why != nullptr)
            ack.why->set(kBalancedIncrease,
                         {acked, window.cwnd_pkts, a, own_pps, rates.total_pps, siblings.own().srtt_s, increase});
        window.cwnd_pkts += acked * increase;
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings& siblings) {
        if (kernel_) return kernel_->on_congestion_event(window, event, siblings);
        hystart_.on_congestion_event();
        if (!siblings.has_others() || event.kind == CongestionKind::Timeout) {
            NewReno::halve(window, event, siblings.has_others() ? 1.0 : 2.0);
        } else {
            const double a = alpha_of_decrease(siblings, kernel_int_);
            window.ssthresh_pkts = std::max(window.cwnd_pkts - decrease(window.cwnd_pkts, a), 1.0);
            if (event.why != nullptr)
                event.why->set(kBalancedDecrease,
                               {window.cwnd_pkts, a, siblings.own().rate_pps(), window.ssthresh_pkts});
        }
    }

    void on_recovery_exit(const Window& window, const AckSample& ack, const Siblings& siblings) {
        if (kernel_) kernel_->on_recovery_exit(window, ack, siblings);
    }

private:
    static double alpha_of_decrease(const Siblings& siblings, bool kernel_int) {
        return kernel_int ? std::floor(alpha(siblings)) : alpha(siblings);
    }

    bool kernel_int_;
    AckCounting counting_;
    OptionalHyStart hystart_;
    std::optional<KernelBalia> kernel_;
};
static_assert(CongestionController<Balia>);

}  // namespace subflow
