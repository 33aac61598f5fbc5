// Counters of a sender, and the outcomes of an ACK, a timer and a transmission.
#pragma once

#include <cstdint>

namespace subflow {

// Counters since the start of the run.
struct SenderStats {
    std::int64_t packets_sent = 0;  // including retransmissions
    std::int64_t retransmits = 0;
    std::int64_t marked_lost = 0;
    std::int64_t fast_retransmits = 0;  // recovery episodes
    std::int64_t timeouts = 0;
    std::int64_t tail_probes = 0;
    std::int64_t undone = 0;    // reductions undone
    std::int64_t marked = 0;    // packets that the receiver reported as marked
    std::int64_t answered = 0;  // reductions because of marks
    double cwnd_seconds = 0;    // integral of cwnd over time
    double clock_seconds = 0;   // total time while established
    double rtt_seconds = 0;     // sum of the RTT samples
    std::int64_t rtt_samples = 0;
    std::int64_t acked_before = 0;  // packets acknowledged to the predecessors of this sender

    // Packets that the connection handed to this subflow and that have been sent, each counted once.
    std::int64_t handed_pkts() const { return packets_sent - retransmits; }
};

// Outcome of an ACK, for the connection and the observers.
struct AckOutcome {
    std::uint32_t newly_delivered = 0;
    bool has_advanced = false;  // the cumulative ACK moved
    bool began_recovery = false;
    bool ended_recovery = false;   // recovery or loss state left
    bool answered_marks = false;   // reduced the window because of marks
    bool ended_overshoot = false;  // ended the first recovery, after an overshooting slow start
};

// Outcome of a timer.
struct TimerOutcome {
    bool timed_out = false;       // the retransmission timeout
    bool began_recovery = false;  // the reordering window passed without the missing packets
    bool wants_probe = false;     // call probe_with_new() or probe_with_last()
};

struct Transmission {
    std::uint32_t seq = 0;
    std::uint32_t data_seq = 0;
    std::uint32_t number = 0;  // counts all transmissions of the subflow
};

}  // namespace subflow
