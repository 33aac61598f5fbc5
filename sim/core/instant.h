// What a network is like at one point in time, for whoever wants to look at it: a copy, in columns.
#pragma once

#include <cstdint>
#include <vector>

#include "units.h"

namespace subflow {

class Network;

// Every packet that was sent and has neither arrived nor been dropped is on exactly one link. All columns are [n]: by
// link, and there as Link::for_each_under_way() has them.
struct PacketsUnderWay {
    std::vector<std::int32_t> link;
    std::vector<std::int32_t> subflow;
    std::vector<std::uint8_t> kind;  // PacketKind; of a handshake Ack
    std::vector<std::uint32_t> seq;  // Packet::seq
    std::vector<std::uint16_t> size_bytes;
    // Along the wire, 0 to 1, by the delay that the link has now: after a change of it, what was on the wire before
    // is drawn where a packet with as long to go would be. 0 while queued.
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

// NaN: not defined, not yet, or not any more: the flow is over.
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
    std::vector<std::uint8_t> is_active;  // started, and neither complete nor stopped with everything arrived
};

struct Instant {
    Nanos now{};
    PacketsUnderWay packets;
    LinksNow links;
    SubflowsNow subflows;
    FlowsNow flows;
};

// Reads and changes nothing.
Instant inspect(const Network& network);

}  // namespace subflow
