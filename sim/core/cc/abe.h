// Alternative backoff: a queue that marks packets is short, so that a smaller reduction suffices to keep the link busy.
// Source: RFC 8511.
#pragma once

#include <string_view>

#include "controller.h"

namespace subflow {

constexpr OptionInfo abe_option(std::string_view key) {
    return {
        .key = key,
        .kind = OptionKind::Flag,
        .help =
            "Keep more of the cwnd at a mark than at a loss: 0.8 of it, or 0.85 with CUBIC (alternative backoff, RFC "
            "8511).",
        .default_number = 0,
    };
}

// Alternative backoff as an option of controllers that otherwise answer a mark like a loss.
class OptionalAbe {
public:
    static constexpr OptionInfo kOption = abe_option("abe");
    // The key differs from that of NewReno's option, because `uncoupled` declares the options of both controllers.
    static constexpr OptionInfo kOptionOfCubic = abe_option("abe_cubic");
    static constexpr RuleInfo kReduction{
        .name = "alternative_backoff",
        .formula = "ssthresh = max(beta * cwnd, 2)",
        .computed = "ssthresh = max(beta * cwnd, 2)",
        .source = "RFC 8511 section 3.1",
        .numbers = {number::kCwnd, number::kBeta, number::kSsthresh},
    };
    static constexpr double kBeta = 0.8;          // RFC 8511 section 3.1
    static constexpr double kBetaOfCubic = 0.85;  // RFC 8511 section 4.1

    explicit OptionalAbe(const Options& options, const OptionInfo& by = kOption)
        : is_chosen_(options.number(by.key) != 0) {}

    bool applies_to(const CongestionEvent& event) const { return is_chosen_ && event.kind == CongestionKind::Mark; }

    static void reduce(Window& window, const CongestionEvent& event) {
        const double cwnd = window.cwnd_pkts;
        window.ssthresh_pkts = std::max(kBeta * cwnd, 2.0);
        if (event.why != nullptr) event.why->set(kReduction, {cwnd, kBeta, window.ssthresh_pkts});
    }

private:
    bool is_chosen_;
};

}  // namespace subflow
