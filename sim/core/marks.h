// Events of a run at points in time, recorded until the application takes them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "memory.h"
#include "units.h"

namespace subflow {

enum class MarkKind : std::uint8_t {
    Loss,  // fast recovery began
    Timeout,
    Recovered,
    Established,
    Closed,
    Completed,  // a flow was completed
    LinkUp,
    LinkDown,
    LinkChange,
    Penalised,         // the subflow's window was halved because its data blocks the connection's window
    MetaTimeout,       // the retransmission timer of a connection expired
    Action,            // a learning agent acted; only while its steps are recorded
    ControllerChange,  // an event replaced the controller of a flow
    ScriptedDrop,      // the scenario's script dropped a data packet or datagram
    Announced,         // the peer announced the subflow's address: ADD_ADDR
    Refused,           // the peer refused to open the subflow
    Stale,             // the connection assigns no data to the subflow until the subflow's next acknowledgement
    Marked,            // the window was reduced because queues had marked packets
};

// An event at a point in time. `owner` is the index of a link for the Link kinds, of a flow for Completed, MetaTimeout
// and ControllerChange, and of a subflow otherwise.
struct Mark {
    Nanos time;
    // Window after the event in packets (Timeout: ssthresh, if finite); Completed: seconds since the start;
    // MetaTimeout: the timeout in seconds; ScriptedDrop: sequence number of the packet in its subflow; Announced:
    // number of earlier announcements; 0 for the Link kinds, ControllerChange, Refused and Stale
    double value = 0;
    std::uint32_t owner = 0;
    MarkKind kind = MarkKind::Loss;
};

// Bounded: marks beyond the capacity are counted and discarded.
class MarkLog {
public:
    static constexpr std::size_t kCapacity = std::size_t{1} << 16;
    // Heap memory of a log, the same for every scenario.
    static constexpr std::size_t kBytes = kCapacity * sizeof(Mark);

    MarkLog() { marks_.reserve(kCapacity); }

    void add(Nanos at, MarkKind kind, std::uint32_t owner, double value = 0) {
        if (marks_.size() < kCapacity) {
            marks_.push_back({at, value, owner, kind});
        } else {
            ++lost_;
        }
    }
    // Marks since the last call, in order of time.
    std::vector<Mark> take() {
        std::vector<Mark> taken;
        taken.reserve(kCapacity);
        taken.swap(marks_);
        // A completion is recorded when the last packet is carried to its receiver, possibly before marks with earlier
        // times.
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
