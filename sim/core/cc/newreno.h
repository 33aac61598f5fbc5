// NewReno: additive increase, multiplicative decrease. Source: RFC 5681 with SACK recovery (RFC 6675) in the sender.
#pragma once

#include <array>

#include "abe.h"
#include "hystart.h"

namespace subflow {

class NewReno {
public:
    static constexpr RuleInfo kAdditiveIncrease{
        .name = "additive_increase",
        .formula = "cwnd + acked / cwnd",
        .computed = "cwnd = cwnd + acked / cwnd",
        .source = "RFC 5681 section 3.1, equation (3)",
        .numbers = {number::kAcked, number::kCwnd},
    };
    static constexpr RuleInfo kHalving{
        .name = "halving",
        .formula = "ssthresh = max(basis / 2, floor); the basis is cwnd, after a timeout what is in flight",
        .computed = "ssthresh = max(basis / 2, floor)",
        .source = "RFC 5681 section 3.1, equation (4)",
        .numbers = {{"basis_pkts", "quantity that is halved: cwnd, or the packets in flight"},
                    {"floor_pkts", "not below this"},
                    number::kSsthresh},
    };
    static constexpr std::array kOptions{OptionalHyStart::kOption, OptionalAbe::kOption};
    static constexpr auto kRules = joined(
        std::array{&kSlowStart, &kAdditiveIncrease, &kHalving, &OptionalAbe::kReduction}, OptionalHyStart::kRules);
    static constexpr AlgorithmInfo kInfo{
        .name = "newreno",
        .summary = "One packet more per round trip, half the cwnd on loss",
        .source = "RFC 5681, RFC 6582, RFC 6675",
        .options = kOptions,
        .rules = kRules,
    };

    explicit NewReno(const Options& options) : hystart_(options), abe_(options) {}
    bool sees_every_ack() const { return hystart_.is_watching(); }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings&) { hystart_.on_every_ack(window, ack); }

    void on_ack(Window& window, const AckSample& ack, const Siblings&) const {
        grow(window, ack, hystart_.beyond_slow_start(window, ack));
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) {
        hystart_.on_congestion_event();
        if (abe_.applies_to(event)) return OptionalAbe::reduce(window, event);
        halve(window, event);
    }

    static void grow(Window& window, const AckSample& ack) { grow(window, ack, beyond_slow_start(window, ack)); }
    static void grow(Window& window, const AckSample& ack, double acked) {
        if (ack.why != nullptr && acked > 0) ack.why->set(kAdditiveIncrease, {acked, window.cwnd_pkts});
        // RFC 5681 section 3.1, equation (3), counting packets: one more per ACKed window
        window.cwnd_pkts += acked / window.cwnd_pkts;
    }

    // RFC 5681 section 3.1, equation (4), with a floor of two packets (coupled subflows: one). After a timeout, the
    // flight size is halved. After other events, the window is halved as in Linux; the two values differ only in a
    // window that is not fully used.
    static void halve(Window& window, const CongestionEvent& event, double floor_pkts = 2.0) {
        const double basis = event.kind == CongestionKind::Timeout ? event.inflight_pkts : window.cwnd_pkts;
        window.ssthresh_pkts = std::max(basis / 2, floor_pkts);
        if (event.why != nullptr) event.why->set(kHalving, {basis, floor_pkts, window.ssthresh_pkts});
    }

private:
    OptionalHyStart hystart_;
    OptionalAbe abe_;
};
static_assert(CongestionController<NewReno>);

}  // namespace subflow
