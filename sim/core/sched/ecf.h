// ECF, earliest completion first: a slower subflow gets the remaining data only if that completes sooner than waiting
// for the fastest subflow.
#pragma once

#include <algorithm>
#include <array>

#include "min_rtt.h"

namespace subflow {

class Ecf {
public:
    static constexpr RuleNumber kCwndFast{"cwnd_fast_pkts", "congestion window of the fastest subflow"};
    static constexpr RuleNumber kCwndSlow{"cwnd_slow_pkts", "congestion window of the slower subflow"};
    static constexpr RuleNumber kDelta{"delta_s", "allowance for the variation of round-trip times"};
    static constexpr RuleNumber kMargin{"margin", "factor by which the faster subflow is preferred"};
    static constexpr RuleNumber kUnsent{"unsent_pkts", "packets that wait to be sent"};

    static constexpr RuleInfo kWaitForFastest{
        .name = "wait_for_fastest",
        .formula =
            "send nothing: srtt_fast (max(unsent, cwnd_fast) + cwnd_fast) < margin cwnd_fast (srtt_slow + delta) "
            "and srtt_slow max(unsent, cwnd_slow) >= cwnd_slow (2 srtt_fast + delta)",
        .source = "Lim, Nahum, Towsley, Gibbens, CoNEXT 2017; Linux mptcp_ecf.c",
        .numbers = {number::kSrttFast, number::kSrttSlow, kDelta, kCwndFast, kCwndSlow, kUnsent, kMargin},
    };
    static constexpr RuleInfo kSlowerIsSooner{
        .name = "slower_is_sooner",
        .formula = "the slower subflow: one of the tests of wait_for_fastest fails",
        .source = "Lim, Nahum, Towsley, Gibbens, CoNEXT 2017; Linux mptcp_ecf.c",
        .numbers = {number::kSrttFast, number::kSrttSlow, kDelta, kCwndFast, kCwndSlow, kUnsent, kMargin},
    };
    static constexpr std::array kRules{&MinRtt::kLowestRtt, &kWaitForFastest, &kSlowerIsSooner};
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "beta",
            .kind = OptionKind::Ratio,
            .help = "While it waits for the fastest subflow, a slower one must be faster by this margin to be used.",
            .default_number = 0.25,
            .minimum = 0,
            .maximum = 10,
        },
        kRetransmissionOption,
        kPenalisationOption,
    };
    static constexpr AlgorithmInfo kInfo{
        .name = "ecf",
        .summary = "minRTT that waits for the fastest subflow if that completes the remaining data sooner",
        .source = "Lim, Nahum, Towsley, Gibbens, CoNEXT 2017; Linux mptcp_ecf.c",
        .options = kOptions,
        .rules = kRules,
    };

    // Inputs of the two tests. Windows and data in packets, times in seconds.
    struct Terms {
        double srtt_fast = 0;
        double cwnd_fast = 0;
        double srtt_slow = 0;
        double cwnd_slow = 0;
        double delta = 0;
        double unsent = 0;
        double margin = 1;  // 1 + beta while waiting
    };

    explicit Ecf(const Options& options)
        : beta_(options.number("beta")),
          retransmits_(options.number(kRetransmissionOption.key) != 0),
          penalises_(options.number(kPenalisationOption.key) != 0) {}

    std::optional<std::size_t> select(std::span<const Candidate> subflows, const SendMoment& moment) {
        const std::optional<std::size_t> choice = MinRtt::fastest_available(subflows);
        const std::optional<std::size_t> fastest = MinRtt::faster_than(subflows, choice);
        if (!fastest) {
            if (moment.why != nullptr && choice) MinRtt::explain(*moment.why, subflows, *choice);
            return choice;
        }
        const Terms terms = describe(subflows[*fastest], subflows[*choice], moment.unsent_pkts);
        const bool is_fastest_sooner = finishes_sooner_on_fastest(terms);
        const bool is_awaited = is_fastest_sooner && gains_nothing_on_slower(terms);
        if (moment.why != nullptr)
            moment.why->set(is_awaited ? kWaitForFastest : kSlowerIsSooner,
                            {terms.srtt_fast, terms.srtt_slow, terms.delta, terms.cwnd_fast, terms.cwnd_slow,
                             terms.unsent, terms.margin});
        // If only the first test holds, Linux keeps the margin.
        if (is_awaited) is_waiting_ = true;
        if (!is_fastest_sooner) is_waiting_ = false;
        if (is_awaited) return std::nullopt;
        return choice;
    }

    bool retransmits_when_blocked() const { return retransmits_; }
    bool penalises() const { return penalises_; }
    bool is_waiting() const { return is_waiting_; }

    // Linux ecf_get_available_subflow: srtt_f (x_f + cwnd_f) < (1 + waiting beta) cwnd_f (srtt_s + delta), where x_f is
    // the remaining data, but at least a window of the fastest subflow
    static bool finishes_sooner_on_fastest(const Terms& t) {
        const double on_fastest = std::max(t.unsent, t.cwnd_fast);
        return t.srtt_fast * (on_fastest + t.cwnd_fast) < t.margin * t.cwnd_fast * (t.srtt_slow + t.delta);
    }
    // Linux ecf_get_available_subflow: srtt_s x_s >= cwnd_s (2 srtt_f + delta), where x_s is the remaining data, but at
    // least a window of the slower subflow
    static bool gains_nothing_on_slower(const Terms& t) {
        return t.srtt_slow * std::max(t.unsent, t.cwnd_slow) >= t.cwnd_slow * (2 * t.srtt_fast + t.delta);
    }

private:
    Terms describe(const Candidate& fast, const Candidate& slow, double unsent_pkts) const {
        // Linux's rttvar_us is four times that of RFC 6298, and ECF uses half of it.
        const Nanos delta = std::max(fast.rttvar, slow.rttvar) * 2;
        return {.srtt_fast = to_seconds(fast.srtt),
                .cwnd_fast = fast.cwnd_pkts,
                .srtt_slow = to_seconds(slow.srtt),
                .cwnd_slow = slow.cwnd_pkts,
                .delta = to_seconds(delta),
                .unsent = unsent_pkts,
                .margin = is_waiting_ ? 1 + beta_ : 1};
    }

    double beta_;
    bool retransmits_;
    bool penalises_;
    bool is_waiting_ = false;
};
static_assert(PacketScheduler<Ecf>);

}  // namespace subflow
