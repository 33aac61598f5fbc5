// EWTCP, equally-weighted TCP: NewReno on each subflow, weighted so that n of them by default get the rate of one TCP.
#pragma once

#include <array>
#include <cmath>

#include "newreno.h"

namespace subflow {

class Ewtcp {
public:
    static constexpr std::array<std::string_view, 3> kWeights{"1/n^2", "1/n", "1/sqrt(n)"};
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "a",
            .kind = OptionKind::Choice,
            .help = "Weight of the increase, a / cwnd per packet acknowledged, with n subflows. n of them together "
                    "take n * sqrt(a) times what one TCP takes: 1, sqrt(n) or n^(3/4).",
            .default_choice = "1/n^2",
            .choices = kWeights,
        },
        OptionalHyStart::kOption,
        OptionalAbe::kOption,
    };
    static constexpr RuleInfo kWeightedIncrease{
        .name = "weighted_increase",
        .formula = "cwnd + acked * a / cwnd",
        .computed = "cwnd = cwnd + acked * a / cwnd",
        .source = "Honda et al., PFLDNeT 2009",
        .numbers = {number::kAcked, number::kCwnd, {"a", "weight of this subflow's increase"}, number::kN},
    };
    static constexpr auto kRules = joined(std::array{&kSlowStart, &kWeightedIncrease, &NewReno::kAdditiveIncrease,
                                                     &NewReno::kHalving, &OptionalAbe::kReduction},
                                          OptionalHyStart::kRules);
    static constexpr AlgorithmInfo kInfo{
        .name = "ewtcp",
        .summary = "Equally weighted: each of n subflows takes 1/n of a TCP's share on its path",
        .source = "Honda et al., PFLDNeT 2009; Wischik et al., NSDI 2011, section 2",
        .is_coupled = true,
        .options = kOptions,
        .rules = kRules,
    };

    explicit Ewtcp(const Options& options)
        : weight_(static_cast<Weight>(std::ranges::find(kWeights, options.choice("a")) - kWeights.begin())),
          hystart_(options),
          abe_(options) {}
    bool sees_every_ack() const { return hystart_.is_watching(); }

    enum class Weight : std::uint8_t { InverseSquare, Inverse, InverseRoot };

    static double a(Weight weight, std::size_t subflows) {
        const auto n = static_cast<double>(subflows);
        switch (weight) {
            case Weight::InverseSquare:
                return 1 / (n * n);
            case Weight::Inverse:
                return 1 / n;
            case Weight::InverseRoot:
                return 1 / std::sqrt(n);
        }
        return 1;
    }

    // Growth of the window per ACKed packet in congestion avoidance, in packets.
    static double increase_per_ack(double cwnd_pkts, double a) { return a / cwnd_pkts; }
    static double increase_per_ack(double cwnd_pkts, const Siblings& siblings, Weight weight) {
        return increase_per_ack(cwnd_pkts, a(weight, siblings.all.size()));
    }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings&) { hystart_.on_every_ack(window, ack); }

    void on_ack(Window& window, const AckSample& ack, const Siblings& siblings) const {
        const double acked = hystart_.beyond_slow_start(window, ack);
        if (!siblings.has_others()) return NewReno::grow(window, ack, acked);
        const std::size_t n = siblings.all.size();
        const double weight = a(weight_, n);
        if (ack.why != nullptr && acked > 0)
            ack.why->set(kWeightedIncrease, {acked, window.cwnd_pkts, weight, static_cast<double>(n)});
        window.cwnd_pkts += acked * increase_per_ack(window.cwnd_pkts, weight);
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) {
        hystart_.on_congestion_event();
        if (abe_.applies_to(event)) return OptionalAbe::reduce(window, event);
        NewReno::halve(window, event);
    }

private:
    Weight weight_;
    OptionalHyStart hystart_;
    OptionalAbe abe_;
};
static_assert(CongestionController<Ewtcp>);

}  // namespace subflow
