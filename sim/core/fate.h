// Fates of packets, recorded on request for one flow: where and why the network dropped or marked them, when they
// arrived, and when the sender noticed.
#pragma once

#include <cstdint>
#include <vector>

#include "memory.h"
#include "packet.h"
#include "units.h"

namespace subflow {

enum class Fate : std::uint8_t {
    UnderWay,   // neither arrived nor dropped yet
    Arrived,    // at the receiver
    QueueFull,  // dropped: the queue had no room
    QueueLaw,   // dropped by the control law of the queue, which had room: RED, CoDel, FQ-CoDel, DualPI2
    Random,     // dropped by the loss model of a link, or after all attempts of its radio failed
    Collision,  // dropped after too many collisions on a shared medium
    Down,       // the link was out of service
    Scripted,   // dropped by the script of the scenario
    Marked,     // marked by a queue; the packet continues, and has another record for its end
};

// One record of a packet. The queue of the link includes the packet in service. A dropped packet no longer counts, nor
// does a packet that a managed queue marks, because these queues decide about packets at their head.
struct FateRecord {
    Nanos at{};
    Nanos sent{};               // departure of this copy from its sender; ACK: echoed departure
    std::uint32_t subflow = 0;  // index into Network's subflows
    std::uint32_t seq = 0;
    std::uint32_t number = 0;  // number of the transmission
    std::uint32_t link = 0;    // Arrived: not set
    std::int64_t queue_pkts = 0;
    std::int64_t queue_bytes = 0;
    std::int64_t limit_pkts = 0;  // limits of the queue at that time
    std::int64_t limit_bytes = 0;
    Fate what = Fate::Arrived;
    PacketKind kind = PacketKind::Data;
};

// The records of the data packets and ACKs of one flow, in the order in which the simulator processed them, which is
// not the order of time (lookahead.cpp). Records beyond the capacity are counted and discarded.
class FateLog {
public:
    FateLog() = default;
    FateLog(std::uint32_t flow, std::size_t capacity) : flow_(flow), capacity_(capacity) {}

    std::uint32_t flow() const { return flow_; }
    void note(const FateRecord& record) {
        if (records_.size() < capacity_) {
            records_.push_back(record);
        } else {
            ++discarded_;
        }
    }
    const std::vector<FateRecord>& records() const { return records_; }
    std::int64_t discarded() const { return discarded_; }
    std::size_t heap_bytes() const { return heap_bytes_of(records_); }

private:
    std::uint32_t flow_ = 0;
    std::size_t capacity_ = 0;
    std::int64_t discarded_ = 0;
    std::vector<FateRecord> records_;
};

// Mechanism by which a sender noticed that a packet was lost or marked.
enum class LossSign : std::uint8_t {
    DuplicateAcks,     // three later packets arrived
    ReorderingWindow,  // RACK: a later packet arrived, and the reordering window has passed
    Probe,             // a tail loss probe repaired the loss
    Timeout,           // the retransmission timeout expired
    Marks,             // an ACK reported marks
};

struct LossNotice {
    Nanos at{};
    Nanos sent{};              // departure of the packet; Marks: not set
    std::uint32_t seq = 0;     // Marks: one past the last packet acknowledged without gaps
    std::uint32_t number = 0;  // number of the transmission; Marks: not set
    LossSign sign = LossSign::DuplicateAcks;
};

// Notices of the subflows of a flow in order of time, each with the fate of its packet; one column per quantity.
struct LossTable {
    std::vector<std::int64_t> time_ns;
    std::vector<std::int64_t> sent_ns;
    std::vector<std::uint32_t> subflow;
    std::vector<std::uint32_t> seq;
    std::vector<std::uint32_t> number;
    std::vector<std::uint8_t> sign;
    std::vector<std::uint8_t> fate;
    std::vector<std::int64_t> fate_ns;  // UnderWay: -1
    std::vector<std::uint32_t> link;    // kNoLink unless a link dropped or marked the packet
    std::vector<std::int64_t> queue_pkts;
    std::vector<std::int64_t> queue_bytes;
    std::vector<std::int64_t> limit_pkts;
    std::vector<std::int64_t> limit_bytes;
    // First arrival, before the notice and before the packet's own, of a packet that was sent later; -1: none
    std::vector<std::int64_t> overtaken_ns;
    std::vector<std::uint32_t> lost_acks;  // dropped ACKs of the subflow between the packet's departure and the notice
    std::vector<std::uint32_t> ack_link;   // link that dropped the last of them, or kNoLink

    static constexpr std::uint32_t kNoLink = 0xffffffff;
    std::size_t size() const { return time_ns.size(); }
};

// Drops and marks of the data packets and ACKs of a flow, in order of time; one column per quantity.
struct FateTable {
    std::vector<std::int64_t> time_ns;
    std::vector<std::int64_t> sent_ns;
    std::vector<std::uint32_t> subflow;
    std::vector<std::uint32_t> seq;
    std::vector<std::uint32_t> number;
    std::vector<std::uint8_t> kind;  // PacketKind
    std::vector<std::uint8_t> fate;
    std::vector<std::uint32_t> link;
    std::vector<std::int64_t> queue_pkts;
    std::vector<std::int64_t> queue_bytes;
    std::vector<std::int64_t> limit_pkts;
    std::vector<std::int64_t> limit_bytes;

    std::size_t size() const { return time_ns.size(); }
};

}  // namespace subflow
