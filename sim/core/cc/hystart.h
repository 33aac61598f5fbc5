// Exit from slow start before the queue overflows: two ways to detect a full path. Part of CUBIC, and an option of
// other controllers.
#pragma once

#include <optional>

#include "controller.h"

namespace subflow {

// Rise of a round's minimum RTT above the reference that counts as a queue: an eighth of the reference, within 4 to 16
// ms.
// Source: Linux tcp_cubic.c (HYSTART_DELAY_THRESH), RFC 9406 section 4.2 (RttThresh).
constexpr Nanos hystart_delay_threshold(Nanos reference) {
    return std::clamp(reference / 8, Nanos(4'000'000), Nanos(16'000'000));
}

// Two tests per round trip, for windows of at least 16 packets: a train of closely spaced ACKs that lasts for half the
// minimum RTT, and a minimum RTT of this round above the overall minimum. Source: Ha, Rhee, PFLDNeT 2008; Linux
// tcp_cubic.c (hystart_update).
class HyStart {
public:
    static constexpr RuleInfo kExit{
        .name = "hystart",
        .formula =
            "ssthresh = cwnd: ACKs came closely spaced for longer than train_limit, or the lowest RTT of the "
            "round is above min_rtt + threshold",
        .source = "Linux tcp_cubic.c (hystart_update)",
        .numbers = {number::kCwnd,
                    {"train_s", "how long ACKs came closely spaced"},
                    {"train_limit_s", "how long they may"},
                    number::kRoundRtt,
                    number::kMinRtt,
                    {"threshold_s", "from here on the two differ"}},
    };

    static constexpr double kLowWindow = 16;
    static constexpr std::uint32_t kMinSamples = 8;
    static constexpr Nanos kAckSpacing{2'000'000};
    // Time for delayed ACKs, added to the minimum RTT. Linux allows the time of four segments of the largest offload
    // size at twice the current rate, but at most a millisecond; up to 1 Gbit/s the millisecond applies.
    static constexpr Nanos kAckDelayAllowance{1'000'000};

    // True if slow start should end.
    bool on_ack(const Window& window, const AckSample& ack) {
        if (ack.begins_round) {
            round_start_ = last_ack_ = ack.now;
            lowest_rtt_ = kNever;
            samples_ = 0;
        }
        if (window.cwnd_pkts < kLowWindow) return false;
        bool is_full = false;
        const Nanos train_limit = (ack.min_rtt + kAckDelayAllowance) / 2;
        if (ack.now - last_ack_ <= kAckSpacing) {
            last_ack_ = ack.now;
            is_full = ack.now - round_start_ > train_limit;
        }
        lowest_rtt_ = std::min(lowest_rtt_, ack.rtt);
        const Nanos threshold = hystart_delay_threshold(ack.min_rtt);
        if (samples_ < kMinSamples) {
            ++samples_;
        } else {
            is_full |= lowest_rtt_ > ack.min_rtt + threshold;
        }
        if (is_full && ack.why != nullptr)
            ack.why->set(kExit, {window.cwnd_pkts, to_seconds(last_ack_ - round_start_), to_seconds(train_limit),
                                 to_seconds(lowest_rtt_), to_seconds(ack.min_rtt), to_seconds(threshold)});
        return is_full;
    }

private:
    Nanos round_start_{};
    Nanos last_ack_{};
    Nanos lowest_rtt_ = kNever;
    std::uint32_t samples_ = 0;
};

// A rise of the RTT from round to round starts Conservative Slow Start, four times slower, which ends slow start after
// five rounds unless the RTT falls back. Only in the first slow start. Source: RFC 9406 section 4.
class HyStartPlusPlus {
public:
    static constexpr RuleInfo kExit{
        .name = "hystart_plus_plus",
        .formula = "ssthresh = cwnd: the RTT stayed up for five rounds of conservative slow start",
        .source = "RFC 9406 section 4.2",
        .numbers = {number::kCwnd,
                    number::kRounds,
                    {"baseline_rtt_s", "round-trip time above which conservative slow start begins"},
                    number::kRoundRtt},
    };
    static constexpr RuleInfo kGrowth{
        .name = "hystart_plus_plus_slow_start",
        .formula = "cwnd + growth, up to ssthresh; growth = min(acked, 8), a fourth of it in conservative slow start",
        .computed = "cwnd = min(before + growth, max(before, ssthresh))",
        .source = "RFC 9406 section 4.2",
        .numbers = {number::kAcked,
                    {"growth_pkts", "packets by which the window grows"},
                    {"is_conservative", "1 in conservative slow start"},
                    number::kSsthresh},
    };

    static constexpr std::uint32_t kMinSamples = 8;  // N_RTT_SAMPLE
    static constexpr double kCssGrowthDivisor = 4;   // CSS_GROWTH_DIVISOR
    static constexpr std::uint32_t kCssRounds = 5;   // CSS_ROUNDS
    static constexpr double kMostGrowthPerAck = 8;   // L, for a sender that does not pace

    bool is_conservative() const { return is_conservative_; }

    // True if slow start should end.
    bool on_ack(const Window& window, const AckSample& ack) {
        if (ack.begins_round) {
            last_round_rtt_ = lowest_rtt_;
            lowest_rtt_ = kNever;
            samples_ = 0;
            // The first, partial round counts as a full one.
            if (is_conservative_ && ++conservative_rounds_ >= kCssRounds) {
                if (ack.why != nullptr)
                    ack.why->set(kExit, {window.cwnd_pkts, static_cast<double>(conservative_rounds_),
                                         to_seconds(baseline_rtt_), to_seconds(last_round_rtt_)});
                return true;
            }
        }
        lowest_rtt_ = std::min(lowest_rtt_, ack.rtt);
        ++samples_;
        if (samples_ < kMinSamples) return false;
        if (is_conservative_) {
            if (lowest_rtt_ < baseline_rtt_) is_conservative_ = false;
        } else if (last_round_rtt_ < kNever &&
                   lowest_rtt_ >= last_round_rtt_ + hystart_delay_threshold(last_round_rtt_)) {
            is_conservative_ = true;
            conservative_rounds_ = 0;
            baseline_rtt_ = lowest_rtt_;
        }
        return false;
    }

    double slow_start_growth(double acked_pkts) const {
        const double grown = std::min(acked_pkts, kMostGrowthPerAck);
        return is_conservative_ ? grown / kCssGrowthDivisor : grown;
    }

private:
    Nanos lowest_rtt_ = kNever;      // minimum RTT of this round
    Nanos last_round_rtt_ = kNever;  // minimum of the previous round
    Nanos baseline_rtt_ = kNever;    // a lower RTT shows that the rise was spurious
    std::uint32_t samples_ = 0;
    std::uint32_t conservative_rounds_ = 0;
    bool is_conservative_ = false;
};

// HyStart++ as an option of controllers with the slow start of RFC 5681. Only for the first slow start (RFC 9406
// section 4.3): a loss ends it.
class OptionalHyStart {
public:
    static constexpr OptionInfo kOption{
        .key = "hystart_plus_plus",
        .kind = OptionKind::Flag,
        .help = "Leave the first slow start before the queue overflows, when the RTT rises: HyStart++ of RFC 9406.",
        .default_number = 0,
    };
    static constexpr std::array kRules{&HyStartPlusPlus::kGrowth, &HyStartPlusPlus::kExit};

    explicit OptionalHyStart(const Options& options) {
        if (options.number(kOption.key) != 0) hystart_.emplace();
    }

    bool is_watching() const { return hystart_.has_value(); }

    void on_every_ack(Window& window, const AckSample& ack) {
        if (!hystart_ || !window.in_slow_start() || !hystart_->on_ack(window, ack)) return;
        window.ssthresh_pkts = window.cwnd_pkts;
        hystart_.reset();
    }
    void on_congestion_event() { hystart_.reset(); }

    // Applies slow start below the threshold. Returns the packets left for congestion avoidance.
    double beyond_slow_start(Window& window, const AckSample& ack) const {
        if (!hystart_ || !window.in_slow_start()) return subflow::beyond_slow_start(window, ack);
        const double growth = hystart_->slow_start_growth(ack.acked_pkts);
        const double ssthresh = window.ssthresh_pkts;
        const double left = slow_start(window, growth, ack.why);
        if (ack.why != nullptr)
            ack.why->set(HyStartPlusPlus::kGrowth,
                         {ack.acked_pkts, growth, hystart_->is_conservative() ? 1.0 : 0.0, ssthresh});
        return left;
    }

private:
    std::optional<HyStartPlusPlus> hystart_;
};

}  // namespace subflow
