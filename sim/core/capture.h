// Packets of captured flows, recorded as they pass the network cards of the two hosts.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "memory.h"
#include "packet.h"
#include "receiver.h"
#include "units.h"

namespace subflow {

// Network card that a packet passes: the card of the data sender or of the data receiver.
enum class Station : std::uint8_t { Sender, Receiver };

// ECN information in the headers of a packet.
struct EcnHeader {
    Ecn ecn = Ecn::NotCapable;
    std::uint8_t flags = 0;  // AE, CWR and ECE of the TCP header
    bool has_option = false;
    std::array<std::uint32_t, 3> bytes{};  // payload bytes in the AccECN option: with ECT(0), with CE, with ECT(1)
};

struct PacketRecord {
    Nanos at{};
    Nanos echo{};                     // data: departure from the sender; ACK: echoed departure (RFC 7323)
    std::uint32_t seq = 0;            // number as in Packet; the data packets of a subflow count from 0
    std::uint32_t data_seq = 0;       // number in the connection, whose data packets count from 0
    std::uint32_t transmission = 0;   // number of the transmission; ACKs are numbered separately
    std::uint32_t right_edge = 0;     // ACK: one past the last packet of the receive window, or Reassembly::kUnlimited
    std::uint32_t subflow = 0;        // index into Network's subflows
    std::array<SeqRange, 3> sack{};   // ACK: the first `sack_count` are valid
    std::uint16_t size_bytes = 0;     // size on the wire
    std::uint16_t payload_bytes = 0;  // size without headers
    PacketKind kind = PacketKind::Data;
    Station station = Station::Sender;
    std::uint8_t incarnation = 0;  // incarnation of the subflow: each reopening starts a new TCP connection
    std::uint8_t sack_count = 0;
    EcnHeader ecn;
};

// The packets of one connection, in the order in which the simulator processed them. This is not the order of time,
// because packets are processed ahead of the clock (lookahead.cpp). `take` therefore selects by time, and
// Network::take_packets() sorts.
class PacketLog {
public:
    void set_capacity(std::size_t capacity) { capacity_ = capacity; }
    // Records a packet. `extension`: SACK blocks and receive window of an ACK; nullptr if the ACK carries neither.
    void note(const Packet& packet, Station station, Nanos at, std::uint16_t payload_bytes,
              const AckExtension* extension, const EcnHeader& ecn);
    // Moves the records with times up to and including `until` to the end of `out`; later records stay.
    void take(Nanos until, std::vector<PacketRecord>& out);
    // Packets that were not recorded because the log was full.
    std::int64_t dropped() const { return dropped_; }
    std::size_t heap_bytes() const { return heap_bytes_of(records_); }

private:
    std::vector<PacketRecord> records_;
    std::size_t capacity_ = 0;
    std::int64_t dropped_ = 0;
};

// Packets of a network, taken from its logs: one column per quantity, rows in order of time. Each row of `sack` holds
// three ranges, each as its first number and one past its last; only the first `sack_count` ranges are valid.
struct PacketTable {
    std::vector<std::int64_t> time_ns;
    std::vector<std::int64_t> echo_ns;
    std::vector<std::uint32_t> seq;
    std::vector<std::uint32_t> data_seq;
    std::vector<std::uint32_t> transmission;
    std::vector<std::uint32_t> right_edge;
    std::vector<std::uint32_t> subflow;
    std::vector<std::uint32_t> sack;
    std::vector<std::uint16_t> size_bytes;
    std::vector<std::uint16_t> payload_bytes;
    std::vector<std::uint8_t> kind;
    std::vector<std::uint8_t> station;
    std::vector<std::uint8_t> incarnation;
    std::vector<std::uint8_t> sack_count;
    std::vector<std::uint8_t> ecn;
    std::vector<std::uint8_t> ecn_flags;
    std::vector<std::uint8_t> has_ecn_option;
    std::vector<std::uint32_t> ecn_bytes;  // [row][3]: as EcnHeader::bytes

    explicit PacketTable(const std::vector<PacketRecord>& records);
    std::size_t size() const { return time_ns.size(); }
};

}  // namespace subflow
