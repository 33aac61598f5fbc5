// Packets on links, in 32 bytes each.
#pragma once

#include <cstdint>

#include "units.h"

namespace subflow {

enum class PacketKind : std::uint8_t { Data, Ack, Datagram, Handshake };

// Handshake packets, which open or end a subflow or announce addresses; Packet::seq stores the value. Odd values travel
// in the direction of the ACKs.
enum class HandshakeStep : std::uint8_t {
    Syn,
    SynAck,
    Ack,
    JoinAck,  // answers the ACK of a joining subflow, which sends no data before (RFC 8684 section 3.2)
    // AddAddr and RemoveAddr concern an address of the receiving end, and AddAddrEcho confirms AddAddr;
    // Packet::data_seq is the address identifier (RFC 8684 section 3.4).
    AddAddrEcho,
    AddAddr,
    RemoveAddr = 7,
    Reset = 9,  // refuses a SYN, or ends the subflow
};

// The ECN field of the IP header, with its bit values. Source: RFC 3168 section 5, RFC 8311
enum class Ecn : std::uint8_t { NotCapable, Ect1, Ect0, Marked };

inline constexpr std::uint32_t kNoExtension = 0xffffffff;
inline constexpr std::uint8_t kIncarnationMask = 0x3f;

// Stored by value in the rings of the links: copying 32 bytes per hop is cheaper than a look-up in a pool, and the
// packets of a link are contiguous in memory. Sequence numbers count packets of one MSS (the last packet of a transfer
// may be shorter).
struct Packet {
    Nanos sent_time;        // data: send time of this copy; ACK: echo of the send time (RFC 7323 timestamps)
    std::uint32_t seq = 0;  // data: subflow sequence number; ACK: next expected number (cumulative)
    // data: number of this transmission on the subflow; ACK: number of this ACK. Bits above kNumberBits, in flows with
    // ECN: data: the ECN field and the CWR flag of the TCP header; ACK: AE, CWR and ECE.
    std::uint32_t transmission = 0;
    std::uint32_t subflow = 0;   // index into Network's subflows
    std::uint32_t data_seq = 0;  // data: connection-level number; ACK: next expected number (the DATA_ACK)
    // ACK: slot in Network's pool of SACK blocks and window updates; data: number of ACKs that the sender had received,
    // which replaces the echoed timestamp of real TCP (RFC 7323)
    std::uint32_t extension = kNoExtension;
    std::uint16_t size = 0;  // bytes on the wire
    std::uint8_t hop = 0;    // links crossed so far
    std::uint8_t tag = 0;    // kind and incarnation

    PacketKind kind() const { return static_cast<PacketKind>(tag & 3); }
    // Incarnation of the subflow: packets of an earlier, closed subflow are ignored.
    std::uint8_t incarnation() const { return tag >> 2; }
    // Sets the whole byte: writing a bit-field would first read the byte that it overwrites.
    void set_tag(PacketKind kind, std::uint8_t incarnation) {
        tag = static_cast<std::uint8_t>(static_cast<std::uint8_t>(kind) | incarnation << 2);
    }
    static constexpr int kNumberBits = 29;
    static constexpr std::uint32_t kNumberMask = (1u << kNumberBits) - 1;
    std::uint32_t number() const { return transmission & kNumberMask; }
    // ECN flags of the TCP header: 1 for CWR in a data packet; AE, CWR and ECE as a number of three bits in an ACK.
    std::uint8_t ecn_flags() const {
        const std::uint32_t bits = transmission >> kNumberBits;
        return static_cast<std::uint8_t>(kind() == PacketKind::Data ? bits >> 2 : bits);
    }
    void set_ecn_flags(std::uint32_t flags) {
        const std::uint32_t ecn = kind() == PacketKind::Data ? transmission >> kNumberBits & 3 : 0;
        const std::uint32_t bits = kind() == PacketKind::Data ? ecn | flags << 2 : flags;
        transmission = number() | bits << kNumberBits;
    }
    // An ECN field, shifted to its place in the `transmission` of a data packet.
    static constexpr std::uint32_t bits_of(Ecn ecn) { return static_cast<std::uint32_t>(ecn) << kNumberBits; }
    Ecn ecn() const {
        return kind() == PacketKind::Data ? static_cast<Ecn>(transmission >> kNumberBits & 3) : Ecn::NotCapable;
    }
    // Only for data packets.
    void set_ecn(Ecn ecn) { transmission = (transmission & ~(3u << kNumberBits)) | bits_of(ecn); }
    // Marks the packet, as a queue does instead of dropping it. Returns false if the packet is not ECN-capable.
    bool mark() {
        if (ecn() == Ecn::NotCapable) return false;
        set_ecn(Ecn::Marked);
        return true;
    }

    bool goes_back() const { return kind() == PacketKind::Ack || (kind() == PacketKind::Handshake && (seq & 1) != 0); }

    Packet() = default;
    Packet(const Packet&) = default;
    // Copies member by member: a new packet is in registers, and a block copy would first write it to memory.
    Packet& operator=(const Packet& p) {
        sent_time = p.sent_time;
        seq = p.seq;
        transmission = p.transmission;
        subflow = p.subflow;
        data_seq = p.data_seq;
        extension = p.extension;
        size = p.size;
        hop = p.hop;
        tag = p.tag;
        return *this;
    }
};
static_assert(sizeof(Packet) == 32);

}  // namespace subflow
