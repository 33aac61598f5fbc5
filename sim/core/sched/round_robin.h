// Round-robin: the same number of packets to each subflow in turn.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "../memory.h"
#include "scheduler.h"

namespace subflow {

class RoundRobin {
public:
    static constexpr RuleNumber kNumSegments{"num_segments_pkts", "packets of a subflow's turn"};

    static constexpr RuleInfo kTurn{
        .name = "turn",
        .formula =
            "the first subflow that has begun its turn, else the first that has not had one in this round: "
            "used_pkts < num_segments_pkts",
        .source = "Linux mptcp_rr.c",
        .numbers = {number::kUsed, kNumSegments},
    };
    static constexpr RuleInfo kWaitForTurn{
        .name = "wait_for_turn",
        .formula = "send nothing: the subflow whose turn it is has no room",
        .source = "Linux mptcp_rr.c, cwnd_limited = 0",
        .numbers = {number::kUsed, kNumSegments, number::kInflight, number::kCwnd},
    };
    static constexpr RuleInfo kReinjection{
        .name = "first_available",
        .formula = "a packet that is sent again goes to the first subflow with room, regardless of turns",
        .source = "Linux mptcp_rr.c",
        .numbers = {},
    };
    static constexpr std::array kRules{&kTurn, &kWaitForTurn, &kReinjection};
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "num_segments",
            .kind = OptionKind::Number,
            .help = "Packets that a subflow gets in a row.",
            .default_number = 1,
            .minimum = 1,
            .maximum = 255,
            .unit = "pkt",
        },
        OptionInfo{
            .key = "cwnd_limited",
            .kind = OptionKind::Flag,
            .help = "Skip subflows without room in their cwnd, so a saturated connection is shared in proportion to "
                    "cwnd; otherwise turns are strict, and all wait for the subflow whose turn it is.",
            .default_number = 1,
        },
    };
    static constexpr AlgorithmInfo kInfo{
        .name = "roundrobin",
        .summary = "Every subflow in turn, by default those with room in their cwnd",
        .source = "Linux mptcp_rr.c",
        .options = kOptions,
        .rules = kRules,
    };

    explicit RoundRobin(const Options& options)
        : num_segments_(static_cast<std::uint32_t>(options.number("num_segments"))),
          passes_over_(options.number("cwnd_limited") != 0) {}

    std::optional<std::size_t> select(std::span<const Candidate> subflows, const SendMoment& moment) {
        used_.resize(subflows.size());
        if (moment.is_reinjection) {
            if (moment.why != nullptr) moment.why->set(kReinjection, {});
            return first(subflows, [](const Candidate& c, std::uint32_t) { return c.is_available; });
        }
        std::optional<std::size_t> turn = whose_turn(subflows);
        if (!turn) {
            // All participating subflows have used their turns: the next round begins. Other subflows keep their
            // counts.
            for (std::size_t i = 0; i < subflows.size(); ++i) {
                if (participates(subflows[i])) used_[i] = 0;
            }
            turn = whose_turn(subflows);
        }
        if (!turn) return std::nullopt;
        const Candidate& next = subflows[*turn];
        const auto used = static_cast<double>(used_[*turn]);
        if (!next.is_available) {
            if (moment.why != nullptr)
                moment.why->set(kWaitForTurn,
                                {used, static_cast<double>(num_segments_), next.inflight_pkts, next.cwnd_pkts});
            return std::nullopt;
        }
        if (moment.why != nullptr) moment.why->set(kTurn, {used, static_cast<double>(num_segments_)});
        ++used_[*turn];
        return turn;
    }

    std::size_t heap_bytes() const { return heap_bytes_of(used_); }

private:
    bool participates(const Candidate& c) const { return passes_over_ ? c.is_available : c.is_usable; }

    // A subflow within its turn comes before subflows whose turn has not begun.
    std::optional<std::size_t> whose_turn(std::span<const Candidate> subflows) const {
        const auto begun = first(subflows, [this](const Candidate& c, std::uint32_t used) {
            return participates(c) && used > 0 && used < num_segments_;
        });
        if (begun) return begun;
        return first(subflows, [this](const Candidate& c, std::uint32_t used) { return participates(c) && used == 0; });
    }

    template <class Matches>
    std::optional<std::size_t> first(std::span<const Candidate> subflows, Matches&& matches) const {
        for (std::size_t i = 0; i < subflows.size(); ++i) {
            if (matches(subflows[i], used_[i])) return i;
        }
        return std::nullopt;
    }

    std::uint32_t num_segments_;
    bool passes_over_;
    std::vector<std::uint32_t> used_;  // packets in this round, by position
};
static_assert(PacketScheduler<RoundRobin>);

}  // namespace subflow
