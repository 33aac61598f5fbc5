// Packets as they pass the network cards of a flow's two hosts, noted only where that is asked for.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "memory.h"
#include "packet.h"
#include "receiver.h"
#include "units.h"

namespace subflow {

// Whose network card a packet passes: that of the host that sends the flow's data, or of the one that receives it.
enum class Station : std::uint8_t { Sender, Receiver };

// What the headers of a packet say of marks.
struct EcnHeader {
    Ecn ecn = Ecn::NotCapable;
    std::uint8_t flags = 0;  // AE, CWR and ECE of TCP's header
    bool has_option = false;
    std::array<std::uint32_t, 3> bytes{};  // of the AccECN option: payload in packets with ECT(0), marked, with ECT(1)
};

struct PacketRecord {
    Nanos at{};
    Nanos echo{};                     // data: when it left the sender; ACK: what it echoes of that (RFC 7323)
    std::uint32_t seq = 0;            // as in Packet: data packets of a subflow count from 0
    std::uint32_t data_seq = 0;       // likewise those of the connection
    std::uint32_t transmission = 0;   // of an ACK: which one of the subflow it is; its arrival has the same
    std::uint32_t right_edge = 0;     // ACK: one past the last packet there is room for; Reassembly::kUnlimited
    std::uint32_t subflow = 0;        // index into Network's subflows
    std::array<SeqRange, 3> sack{};   // ACK: the first `sack_count` of them
    std::uint16_t size_bytes = 0;     // on the wire
    std::uint16_t payload_bytes = 0;  // of these
    PacketKind kind = PacketKind::Data;
    Station station = Station::Sender;
    std::uint8_t incarnation = 0;  // of the subflow: a closed one that opens again is another TCP connection
    std::uint8_t sack_count = 0;
    EcnHeader ecn;
};

// The packets of one connection in the order in which the simulator dealt with them, which runs ahead of the clock
// where nothing else has a say (see lookahead.cpp): `take` has them in order of time.
class PacketLog {
public:
    void set_capacity(std::size_t capacity) { capacity_ = capacity; }
    // A packet passes. `extension`: what an ACK says beyond its numbers; nullptr: nothing.
    void note(const Packet& packet, Station station, Nanos at, std::uint16_t payload_bytes,
              const AckExtension* extension, const EcnHeader& ecn);
    // Moves those up to and including `until` to the end of `out`; the others stay.
    void take(Nanos until, std::vector<PacketRecord>& out);
    // Packets that the capacity did not leave room for.
    std::int64_t dropped() const { return dropped_; }
    std::size_t heap_bytes() const { return heap_bytes_of(records_); }

private:
    std::vector<PacketRecord> records_;
    std::size_t capacity_ = 0;
    std::int64_t dropped_ = 0;
};

// Packets of a network, taken out of its logs: a column per quantity, in order of time. Row i of `sack` has the first
// and the one past the last of three ranges, of which `sack_count` mean something.
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
