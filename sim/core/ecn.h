// Explicit congestion notification: how the two ends of a subflow report packets that queues have marked.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "fields.h"
#include "packet.h"

namespace subflow {

// Reports of marks by the receiver, as negotiated when the subflow opens.
enum class EcnMode : std::uint8_t {
    Off,
    Classic,   // ECE on every ACK after a mark, until the sender has answered with CWR (RFC 3168)
    Dctcp,     // ECE on the ACKs of marked packets and on no others (RFC 8257 section 3.2)
    Accurate,  // a counter of marked packets on every ACK (AccECN, RFC 9768)
};
SUBFLOW_WORDS(EcnMode, "off", "rfc3168", "dctcp", "accecn")

// Reaction of a controller to marks.
struct EcnUse {
    bool answers = false;  // marks are congestion events for the controller; false: its packets are not ECN-capable
    bool at_once = false;  // reduces the window immediately, without PRR; ACKs with marks still grow it
    EcnMode needs = EcnMode::Off;  // mode that the controller requires in any scenario (Linux TCP_CONG_NEEDS_ECN)
    Ecn capable = Ecn::Ect0;       // codepoint of its packets if they are ECN-capable
};

// Mode that both ends agree on: the scenario's mode `told`, unless the controller requires another mode. AccECN
// satisfies every requirement.
inline EcnMode agreed_mode(EcnMode told, const EcnUse& use) {
    return told == EcnMode::Accurate || use.needs == EcnMode::Off ? told : use.needs;
}
// Codepoint of a subflow's data packets. ECT(1) promises a reaction in proportion to the marks, which requires an exact
// report (RFC 9331 section 4).
inline Ecn capable_by(EcnMode mode, const EcnUse& use) {
    if (mode == EcnMode::Off || !use.answers) return Ecn::NotCapable;
    return mode == EcnMode::Accurate ? use.capable : Ecn::Ect0;
}

// True if the sender confirms a reduction of its window with CWR.
inline bool confirms_with_cwr(EcnMode mode) {
    return mode == EcnMode::Classic || mode == EcnMode::Dctcp;
}

// RFC 9768 section 3.2.1: initial value of the counters of marked packets at both ends, in the three bits of the ACE
// field.
inline constexpr std::uint32_t kAceStart = 5;
inline constexpr std::uint32_t kAceMask = 7;
inline std::uint32_t first_echo(EcnMode mode) {
    return mode == EcnMode::Accurate ? kAceStart : 0;
}

// Marks that an ACK reports.
struct EcnEcho {
    std::uint8_t flags = 0;  // AE, CWR and ECE: the ACE field, or only ECE
    bool has_option = false;
    std::uint32_t marked_bytes = 0;  // marked payload, from the option
};
inline constexpr std::uint32_t kEcnByteMask = 0xffffff;

// The AccECN option that ACKs carry from one number on: payload bytes by the codepoint of their packets, in 24 bits
// each (RFC 9768 section 3.2.3).
struct EcnOption {
    std::uint32_t first_ack = 0;           // number of the first ACK with these counters
    std::array<std::uint32_t, 3> bytes{};  // payload with ECT(0), with CE, with ECT(1)
};
// SACK blocks beside which the 40 bytes of TCP options, 12 of them for timestamps, have room for two counters of the
// option; SACK blocks take precedence (RFC 9768 section 3.2.3.3).
inline constexpr std::uint32_t kMostSackBesideOption = 2;

// Marks seen by a receiver.
struct EcnReceived {
    std::uint32_t marked_pkts = 0;
    // Payload bytes by the codepoint of their packets, starting at the initial values of the option's counters. Wider
    // than the 24 bits of these counters.
    std::array<std::uint32_t, 4> bytes{0, 1, 1, 0};
    bool echoes = false;    // Classic: no CWR since a mark; Dctcp: the latest packet was marked
    bool has_news = false;  // Accurate: marks since the latest ACK

    std::uint32_t bytes_with(Ecn ecn) const { return bytes[static_cast<std::size_t>(ecn)] & kEcnByteMask; }
    // The option of the ACK with the number `ack` and of the ACKs after it.
    EcnOption option(std::uint32_t ack) const {
        return {ack, {bytes_with(Ecn::Ect0), bytes_with(Ecn::Marked), bytes_with(Ecn::Ect1)}};
    }
};

// Number of marked packets that an ACK reports. `ahead`: ACE field of the ACK minus the known value, modulo 8;
// `delivered`: packets newly acknowledged by the ACK; `marked_bytes`: growth of the option's counter, negative without
// an option; `payload`: bytes of a full packet. Without an option, the largest possible number is assumed where the
// field may have wrapped.
// Source: RFC 9768 section 3.2.2.5.2 and appendix A.2; Linux tcp_accecn_process
inline std::uint32_t marks_told(std::uint32_t ahead, std::uint32_t delivered, std::int64_t marked_bytes,
                                std::uint32_t payload) {
    if (delivered <= kAceMask) return ahead;
    const std::uint32_t most = delivered - ((delivered - ahead) & kAceMask);
    if (marked_bytes < 0) return most;
    const auto by_bytes = static_cast<std::uint32_t>((marked_bytes + payload - 1) / payload);
    // The bytes determine the number of wraps.
    return std::min(most, by_bytes <= ahead ? ahead : ahead + ((by_bytes - ahead + kAceMask) & ~kAceMask));
}

// State of a sender: marks reported to it, and its reductions because of them.
struct EcnEchoState {
    EcnEcho echo;             // report of the current acknowledgement
    std::uint32_t ahead = 0;  // flags of `echo` minus `told`, modulo 8
    std::uint32_t payload_bytes = 1;

    EcnMode mode = EcnMode::Off;
    std::uint32_t told = 0;           // known flags, modulo 8; Accurate: the whole counter of marked packets
    std::uint32_t told_bytes = 0;     // marked bytes of the latest option
    std::uint32_t reduced_until = 0;  // one past the last packet of the window that was reduced for marks
    bool owes_cwr = false;
    bool has_answer = false;  // the controller answers marks
    bool at_once = false;     // EcnUse::at_once

    // Records the report of an acknowledgement. `is_long`: the acknowledgement may cover more packets than the ACE
    // field can count. Returns false if the report contains nothing new.
    bool hear(const EcnEcho& said, bool is_long, std::uint32_t payload) {
        ahead = (said.flags - told) & kAceMask;
        if (ahead == 0 && !is_long) return false;
        echo = said;
        payload_bytes = payload;
        return true;
    }
};

}  // namespace subflow
