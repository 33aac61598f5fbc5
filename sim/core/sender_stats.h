// What a sender counts, and what it tells of an acknowledgement, a timer or a packet that leaves.
#pragma once

#include <cstdint>

namespace subflow {

// What a sender counted since the start of the run.
struct SenderStats {
    std::int64_t packets_sent = 0;  // retransmissions included
    std::int64_t retransmits = 0;
    std::int64_t marked_lost = 0;
    std::int64_t fast_retransmits = 0;  // recovery episodes
    std::int64_t timeouts = 0;
    std::int64_t tail_probes = 0;
    std::int64_t undone = 0;    // reductions taken back
    std::int64_t marked = 0;    // packets that the receiver has reported as marked
    std::int64_t answered = 0;  // reductions because of that
    double cwnd_seconds = 0;    // integral of cwnd over time
    double clock_seconds = 0;   // time established
    double rtt_seconds = 0;     // sum of the RTT samples
    std::int64_t rtt_samples = 0;
    std::int64_t acked_before = 0;  // packets acknowledged to the senders whose books this one continues

    // What the connection gave it to send.
    std::int64_t handed_pkts() const { return packets_sent - retransmits; }
};

// What one ACK did, for the connection and the observers.
struct AckOutcome {
    std::uint32_t newly_delivered = 0;
    bool has_advanced = false;  // the cumulative acknowledgement moved
    bool began_recovery = false;
    bool ended_recovery = false;   // recovery or loss state left
    bool answered_marks = false;   // reduced the window because of them
    bool ended_overshoot = false;  // and that for the first time, after the slow start that went too far
};

// What a timer did.
struct TimerOutcome {
    bool timed_out = false;       // the retransmission timeout
    bool began_recovery = false;  // the reordering window passed without the missing packets
    bool wants_probe = false;     // call probe_with_new() or probe_with_last()
};

struct Transmission {
    std::uint32_t seq = 0;
    std::uint32_t data_seq = 0;
    std::uint32_t number = 0;  // counts every transmission of the subflow
};

}  // namespace subflow
