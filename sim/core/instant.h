// Copy of a network's state at one point in time, in columns.
#pragma once

#include <cstdint>
#include <vector>

#include "units.h"

namespace subflow {

class Network;

// All packets that were sent and have neither arrived nor been dropped; each is on exactly one link. The columns have a
// row per packet, sorted by link, and within a link in the order of Link::for_each_under_way().
struct PacketsUnderWay {
    std::vector<std::int32_t> link;
    std::vector<std::int32_t> subflow;
    std::vector<std::uint8_t> kind;  // PacketKind; Ack for handshakes
    std::vector<std::uint32_t> seq;  // Packet::seq
    std::vector<std::uint16_t> size_bytes;
    // Position on the wire from 0 to 1, relative to the current delay of the link; 0 while queued. After a change of
    // the delay, packets already on the wire are placed by their remaining time.
    std::vector<float> progress;
    std::vector<std::int32_t> queue_position;  // -1: on the wire
};

struct LinksNow {
    std::vector<std::int32_t> queue_pkts;
    std::vector<std::int64_t> queue_bytes;
    std::vector<std::uint8_t> is_up;
    std::vector<std::int64_t> delivered_pkts;
    std::vector<std::int64_t> dropped_pkts;
};

enum class SubflowState : std::uint8_t { Closed, Joining, Open, Recovery, Loss, Datagrams, Reduced };

// NaN: value undefined, not yet known, or flow ended.
struct SubflowsNow {
    std::vector<std::uint8_t> is_established;
    std::vector<std::uint8_t> state;  // SubflowState
    std::vector<double> cwnd_pkts;
    std::vector<double> ssthresh_pkts;
    std::vector<double> inflight_pkts;
    std::vector<double> srtt_s;  // NaN also after a retransmission timeout without an acknowledgement
    std::vector<double> min_rtt_s;
    std::vector<double> rto_s;  // not backed off
    std::vector<double> pacing_rate_bps;
};

struct FlowsNow {
    std::vector<std::int64_t> delivered_bytes;
    std::vector<std::int64_t> reorder_queue_bytes;
    std::vector<std::uint8_t> is_active;  // started, and not ended (Connection::is_active); datagrams: not stopped
};

struct Instant {
    Nanos now{};
    PacketsUnderWay packets;
    LinksNow links;
    SubflowsNow subflows;
    FlowsNow flows;
};

// Copies the current state and does not change the network.
Instant inspect(const Network& network);

}  // namespace subflow
