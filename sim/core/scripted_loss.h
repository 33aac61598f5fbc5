// Scripted loss: drops exactly the packets that a lecture or a recovery test names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

#include "fields.h"
#include "memory.h"
#include "packet.h"
#include "units.h"

namespace subflow {

// A packet to drop: number `number` among the subflow's data packets or datagrams that reach a link at `after` or
// later, counted from 1. Retransmissions and packets lost on the link for other reasons count as well.
struct ScriptedDrop {
    std::uint32_t subflow = 0;  // index among all subflows of the scenario, in the order of the flows
    std::int64_t number = 1;
    Nanos after{};
};
SUBFLOW_FIELDS(ScriptedDrop, subflow, number, after)

// The script of one link direction. A copy continues from the state of the original.
class ScriptedLoss {
public:
    explicit ScriptedLoss(std::vector<ScriptedDrop> drops) {
        const auto place = [](const ScriptedDrop& d) { return std::tuple(d.subflow, d.after, d.number); };
        std::ranges::sort(drops, std::ranges::greater(), place);
        for (const ScriptedDrop& drop : drops) {
            if (counts_.empty() || counts_.back().subflow != drop.subflow || counts_.back().after != drop.after) {
                Count& count = counts_.emplace_back();
                count.subflow = drop.subflow;
                count.after = drop.after;
            }
            counts_.back().numbers.push_back(drop.number);
        }
    }

    // True if this packet, which reaches the link at `at`, is to be dropped. Call once per packet, in order.
    bool takes(const Packet& packet, Nanos at) {
        if (packet.kind() == PacketKind::Ack || packet.kind() == PacketKind::Handshake) return false;
        bool is_taken = false;
        for (Count& count : counts_) {
            if (count.subflow != packet.subflow || at < count.after) continue;
            ++count.seen;
            while (!count.numbers.empty() && count.numbers.back() == count.seen) {
                count.numbers.pop_back();
                is_taken = true;
            }
        }
        return is_taken;
    }

    std::size_t heap_bytes() const { return heap_bytes_of(counts_); }

private:
    struct Count {
        std::uint32_t subflow = 0;
        Nanos after{};
        std::int64_t seen = 0;
        std::vector<std::int64_t> numbers;  // remaining numbers, descending

        std::size_t heap_bytes() const { return heap_bytes_of(numbers); }
    };

    std::vector<Count> counts_;
};

}  // namespace subflow
