// Redundant: sends each packet on each usable subflow, for low latency.
#pragma once

#include <array>
#include <string_view>

#include "min_rtt.h"

namespace subflow {

class Redundant {
public:
    static constexpr std::array<std::string_view, 2> kCopiesChoices{"queued", "now"};
    static constexpr std::array kRules{&MinRtt::kLowestRtt, &kSendCopy};
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "copies",
            .kind = OptionKind::Choice,
            .help = "For a copy without room: wait for room, as in Linux, or send now or never.",
            .default_choice = "queued",
            .choices = kCopiesChoices,
        },
    };
    static constexpr AlgorithmInfo kInfo{
        .name = "redundant",
        .summary = "Every packet on every subflow: it arrives with its first copy, at the pace of the best path",
        .source = "Linux mptcp_redundant.c; Frommgen, Erbshaeusser, Buchmann, Zimmermann, Wehrle, ICC 2016",
        .options = kOptions,
        .rules = kRules,
    };

    static constexpr bool kIsWorkConserving = true;

    explicit Redundant(const Options& options)
        : copies_(options.choice("copies") == "queued" ? Copies::Queued : Copies::Now) {}

    Copies copies() const { return copies_; }

    // The first copy leaves on the fastest subflow that has sent all earlier packets.
    std::optional<std::size_t> select(std::span<const Candidate> subflows, const SendMoment& moment) const {
        const std::optional<std::size_t> best = MinRtt::fastest_available(subflows);
        if (moment.why != nullptr && best) MinRtt::explain(*moment.why, subflows, *best);
        return best;
    }

private:
    Copies copies_;
};
static_assert(PacketScheduler<Redundant>);

}  // namespace subflow
