// What happened at points in time, kept until it is taken.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "memory.h"
#include "units.h"

namespace subflow {

enum class MarkKind : std::uint8_t {
    Loss,  // fast retransmit began
    Timeout,
    Recovered,
    Established,
    Closed,
    Completed,  // of a flow
    LinkUp,
    LinkDown,
    LinkChange,
    Penalised,         // its window was halved because what it holds blocks the connection's window
    MetaTimeout,       // of a flow: the data-level head is retransmitted
    Action,            // a learning agent acted; only while its steps are recorded
    ControllerChange,  // of a flow
    ScriptedDrop,      // a data packet was dropped because the scenario says so
    Announced,         // its address was, by the peer: ADD_ADDR
    Refused,           // it was, by the peer, when it was to be opened
    Stale,             // its connection binds no data to it any more, until it is heard of
    Marked,            // its window was reduced because queues had marked packets
};

// Something that happened at a point in time. `owner` indexes links for the Link kinds, flows for Completed,
// MetaTimeout and ControllerChange, else subflows.
struct Mark {
    Nanos time;
    // Window after it in packets; seconds since the start for Completed, waited for MetaTimeout; the packet's sequence
    // number in its subflow for ScriptedDrop, how often it was before for Announced
    double value = 0;
    std::uint32_t owner = 0;
    MarkKind kind = MarkKind::Loss;
};

// Bounded: what does not fit is counted, and not kept.
class MarkLog {
public:
    static constexpr std::size_t kCapacity = std::size_t{1} << 16;
    // What it takes, whatever the scenario.
    static constexpr std::size_t kBytes = kCapacity * sizeof(Mark);

    MarkLog() { marks_.reserve(kCapacity); }

    void add(Nanos at, MarkKind kind, std::uint32_t owner, double value = 0) {
        if (marks_.size() < kCapacity) {
            marks_.push_back({at, value, owner, kind});
        } else {
            ++lost_;
        }
    }
    // Those since the last call, in order of time.
    std::vector<Mark> take() {
        std::vector<Mark> taken;
        taken.reserve(kCapacity);
        taken.swap(marks_);
        // Completions are noted when the last packet is carried to its receiver, ahead of what happens meanwhile.
        std::ranges::stable_sort(taken, {}, [](const Mark& m) { return std::tuple(m.time, m.kind, m.owner); });
        return taken;
    }
    std::int64_t lost() const { return lost_; }
    std::size_t heap_bytes() const { return heap_bytes_of(marks_); }

private:
    std::vector<Mark> marks_;
    std::int64_t lost_ = 0;
};

}  // namespace subflow
