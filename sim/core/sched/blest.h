// BLEST, blocking estimation: skips a slower subflow if its packets would fill the receive window and block the faster
// subflow.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "../memory.h"
#include "min_rtt.h"

namespace subflow {

class Blest {
public:
    static constexpr RuleNumber kFast{"fast_pkts", "packets that the fastest subflow sends meanwhile"};
    static constexpr RuleNumber kHeldSlow{"held_slow_pkts", "packets that the slower subflows hold"};
    static constexpr RuleNumber kLambda{"lambda", "safety factor, larger after sending was blocked"};
    static constexpr RuleNumber kLinger{"linger_s", "how long a packet stays on the slower subflow"};

    static constexpr RuleInfo kSkipSlower{
        .name = "skip_slower",
        .formula =
            "send nothing: fast > window - (held_slow + 1), where fast = lambda * packets that the fastest sends "
            "in `rounds` of its RTT, while a packet lingers on the slower",
        .source = "Ferlin, Alay, Mehani, Boreli, IFIP Networking 2016; Linux mptcp_blest.c",
        .numbers = {number::kSrttFast, number::kSrttSlow, kLinger, number::kRounds, kLambda, kFast, number::kWindow,
                    kHeldSlow},
    };
    static constexpr RuleInfo kSlowerLeavesRoom{
        .name = "slower_leaves_room",
        .formula = "the slower subflow: fast <= window - (held_slow + 1), with `fast` as in skip_slower",
        .source = "Ferlin, Alay, Mehani, Boreli, IFIP Networking 2016; Linux mptcp_blest.c",
        .numbers = {number::kSrttFast, number::kSrttSlow, kLinger, number::kRounds, kLambda, kFast, number::kWindow,
                    kHeldSlow},
    };
    static constexpr std::array kRules{&MinRtt::kLowestRtt, &kSkipSlower, &kSlowerLeavesRoom};
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "lambda",
            .kind = OptionKind::Number,
            .help = "Initial factor on the estimate of what the fastest subflow sends.",
            .default_number = 1.2,
            .minimum = 0.1,
            .maximum = 10,
        },
        OptionInfo{
            .key = "lambda_min",
            .kind = OptionKind::Number,
            .help = "The lower bound of that factor.",
            .default_number = 1.0,
            .minimum = 0.1,
            .maximum = 10,
        },
        OptionInfo{
            .key = "lambda_max",
            .kind = OptionKind::Number,
            .help = "The upper bound of that factor.",
            .default_number = 1.3,
            .minimum = 0.1,
            .maximum = 10,
        },
        OptionInfo{
            .key = "lambda_raise",
            .kind = OptionKind::Number,
            .help = "Its increase after a round trip of the slower subflow in which the receive window was blocked.",
            .default_number = 0.04,
            .minimum = 0,
            .maximum = 1,
        },
        OptionInfo{
            .key = "lambda_lower",
            .kind = OptionKind::Number,
            .help = "Its decrease after a round trip of the slower subflow without such a block.",
            .default_number = 0.01,
            .minimum = 0,
            .maximum = 1,
        },
        kRetransmissionOption,
    };
    static constexpr AlgorithmInfo kInfo{
        .name = "blest",
        .summary = "minRTT that skips a slower subflow if the receive window would block the fastest one meanwhile",
        .source = "Ferlin, Alay, Mehani, Boreli, IFIP Networking 2016; Linux mptcp_blest.c",
        .options = kOptions,
        .rules = kRules,
    };

    // Range of a subflow's smoothed RTT since it opened.
    struct RttRange {
        Nanos lowest = kNever;
        Nanos highest{};
        std::uint8_t incarnation = 0;

        void add(Nanos srtt) {
            lowest = std::min(lowest, srtt);
            highest = std::max(highest, srtt);
        }
    };

    explicit Blest(const Options& options)
        : lambda_(options.number("lambda")),
          lambda_min_(options.number("lambda_min")),
          lambda_max_(options.number("lambda_max")),
          lambda_raise_(options.number("lambda_raise")),
          lambda_lower_(options.number("lambda_lower")),
          retransmits_(options.number(kRetransmissionOption.key) != 0) {}

    std::optional<std::size_t> select(std::span<const Candidate> subflows, const SendMoment& moment) {
        follow_rtts(subflows);
        const std::optional<std::size_t> choice = MinRtt::fastest_available(subflows);
        const std::optional<std::size_t> fastest = MinRtt::faster_than(subflows, choice);
        if (!fastest) {
            if (moment.why != nullptr && choice) MinRtt::explain(*moment.why, subflows, *choice);
            return choice;
        }
        const Candidate& slow = subflows[*choice];
        const Candidate& fast = subflows[*fastest];
        follow_lambda(moment.now, seen_[*choice].lowest);
        const Nanos linger = linger_time(slow, seen_[*choice]);
        const std::int64_t rounds = rounds_within(linger, seen_[*fastest]);
        const double fast_pkts = lambda_ * packets_within(rounds, fast);
        // All packets on the slower subflow, including this one, occupy the window until they are acknowledged.
        const double held_pkts = slow.inflight_pkts + slow.queued_pkts;
        const bool is_skipped = fast_pkts > std::max(0.0, moment.window_pkts - (held_pkts + 1));
        if (moment.why != nullptr)
            moment.why->set(is_skipped ? kSkipSlower : kSlowerLeavesRoom,
                            {to_seconds(fast.srtt), to_seconds(slow.srtt), to_seconds(linger),
                             static_cast<double>(rounds), lambda_, fast_pkts, moment.window_pkts, held_pkts});
        if (is_skipped) return std::nullopt;
        return choice;
    }

    bool retransmits_when_blocked() const { return retransmits_; }
    void on_blocked_retransmission(std::size_t) { was_blocked_ = true; }
    double lambda() const { return lambda_; }

    // Expected delay of a packet sent on this subflow now: between the lowest and the highest RTT, growing with the use
    // of its window. Source: Linux blestsched_estimate_linger_time
    static Nanos linger_time(const Candidate& slow, const RttRange& seen) {
        const double fullness = std::min((slow.inflight_pkts + 1) / slow.cwnd_pkts, 1.0);
        const auto slope = static_cast<double>((seen.highest - seen.lowest).value);
        return std::max(slow.srtt, seen.lowest + Nanos(static_cast<std::int64_t>(slope * fullness)));
    }

    // Round trips of a subflow within `linger`, including the current one. Source: Linux blestsched_estimate_bytes
    static std::int64_t rounds_within(Nanos linger, const RttRange& seen) {
        const Nanos mean = (seen.lowest + seen.highest) / 2;
        return mean > Nanos(0) ? linger.value / mean.value + 1 : 1;
    }

    // Packets that a subflow sends in `rounds` round trips, in whole packets and under Reno: its window doubles in the
    // first slow start; otherwise congestion avoidance is assumed. Source: Linux blestsched_estimate_bytes
    static double packets_within(std::int64_t rounds, const Candidate& fast) {
        const double cwnd = std::floor(fast.cwnd_pkts);
        if (std::isinf(fast.ssthresh_pkts)) {
            constexpr std::int64_t kMostDoublings = 16;
            return cwnd * static_cast<double>((std::int64_t{1} << std::min(rounds, kMostDoublings)) - 1);
        }
        const double avoiding = std::max(cwnd, std::floor(fast.ssthresh_pkts) + 1);
        return (avoiding + static_cast<double>((rounds - 1) / 2)) * static_cast<double>(rounds);
    }

    std::size_t heap_bytes() const { return heap_bytes_of(seen_); }

private:
    void follow_rtts(std::span<const Candidate> subflows) {
        seen_.resize(subflows.size());
        for (std::size_t i = 0; i < subflows.size(); ++i) {
            if (seen_[i].incarnation != subflows[i].incarnation) seen_[i] = {.incarnation = subflows[i].incarnation};
            if (subflows[i].srtt > Nanos(0)) seen_[i].add(subflows[i].srtt);
        }
    }

    // Once per RTT of the slower subflow: raises lambda if the window was blocked, else lowers it. Source: Linux
    // blestsched_update_lambda
    void follow_lambda(Nanos now, Nanos slow_rtt) {
        if (now - lambda_since_ < slow_rtt) return;
        const double next = was_blocked_ ? lambda_ + lambda_raise_ : lambda_ - lambda_lower_;
        lambda_ = std::max(lambda_min_, std::min(lambda_max_, next));
        was_blocked_ = false;
        lambda_since_ = now;
    }

    double lambda_;
    double lambda_min_;
    double lambda_max_;
    double lambda_raise_;
    double lambda_lower_;
    bool retransmits_;
    bool was_blocked_ = false;  // since the last update of lambda
    Nanos lambda_since_{};
    std::vector<RttRange> seen_;  // RTT ranges by position of the subflow
};
static_assert(PacketScheduler<Blest>);

}  // namespace subflow
