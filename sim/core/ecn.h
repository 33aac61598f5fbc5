// Explicit congestion notification: what the two ends of a subflow tell each other of packets that queues have marked.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "packet.h"

namespace subflow {

// How the receiver reports marks, as agreed on when the subflow opens.
enum class EcnMode : std::uint8_t {
    Off,
    Classic,   // ECE on every ACK from a mark on until the sender has answered with CWR (RFC 3168)
    Dctcp,     // ECE on the ACKs of marked packets and on no others (RFC 8257 section 3.2)
    Accurate,  // a counter of marked packets on every ACK (AccECN, RFC 9768)
};

// What a controller has to do with marks.
struct EcnUse {
    bool answers = false;          // they are events that it answers; else its packets are not to be marked
    bool at_once = false;          // the window is reduced at once and grows meanwhile, whatever the transport does
    EcnMode needs = EcnMode::Off;  // it brings this with it, whatever the scenario says (Linux TCP_CONG_NEEDS_ECN)
    Ecn capable = Ecn::Ect0;       // what its packets say that can be marked
};

// What the two ends agree on, of whom one may have been told more by the scenario than the controller asks for.
inline EcnMode agreed_mode(EcnMode told, const EcnUse& use) {
    return told == EcnMode::Accurate || use.needs == EcnMode::Off ? told : use.needs;
}
// What its data packets say. ECT(1) promises an answer in proportion, which takes an exact report (RFC 9331 section 4).
inline Ecn capable_by(EcnMode mode, const EcnUse& use) {
    if (mode == EcnMode::Off || !use.answers) return Ecn::NotCapable;
    return mode == EcnMode::Accurate ? use.capable : Ecn::Ect0;
}

// Whether the sender tells that it has answered (CWR).
inline bool tells_of_answers(EcnMode mode) {
    return mode == EcnMode::Classic || mode == EcnMode::Dctcp;
}

// RFC 9768 section 3.2.1: where both counters of marked packets begin, as far as headers show.
inline constexpr std::uint32_t kAceStart = 5;
inline constexpr std::uint32_t kAceMask = 7;
inline std::uint32_t first_echo(EcnMode mode) {
    return mode == EcnMode::Accurate ? kAceStart : 0;
}

// What an ACK says of marks.
struct EcnEcho {
    std::uint8_t flags = 0;  // AE, CWR and ECE: the ACE field, or ECE alone
    bool has_option = false;
    std::uint32_t marked_bytes = 0;  // of the option
};
inline constexpr std::uint32_t kEcnByteMask = 0xffffff;

// The AccECN option: payload that came in packets of each kind, in 24 bits (RFC 9768 section 3.2.3).
struct EcnOption {
    bool is_there = false;
    std::array<std::uint32_t, 3> bytes{};  // with ECT(0), marked, with ECT(1)
};

// What a receiver has seen.
struct EcnReceived {
    std::uint32_t marked_pkts = 0;
    // Payload by the ECN field of its packet, from where the RFC has the option's counters begin. Of more bits than
    // they have.
    std::array<std::uint32_t, 4> bytes{0, 1, 1, 0};
    bool echoes = false;    // Classic: until CWR comes; Dctcp: the packet that came last was marked
    bool has_news = false;  // Accurate: marks since the option left last

    std::uint32_t bytes_with(Ecn ecn) const { return bytes[static_cast<std::size_t>(ecn)] & kEcnByteMask; }
    EcnOption option() const {
        return {has_news, {bytes_with(Ecn::Ect0), bytes_with(Ecn::Marked), bytes_with(Ecn::Ect1)}};
    }
};

// How many packets an ACK reports as marked whose ACE field is `ahead` steps beyond what was known, modulo 8, and which
// newly acknowledges `delivered` packets. `marked_bytes`: by how much the option's counter grew; negative: there was no
// option. Without one, as many are assumed as there may be where the field can have wrapped.
// Source: RFC 9768 section 3.2.2.5.2 and appendix A.2; Linux tcp_accecn_process
inline std::uint32_t marks_told(std::uint32_t ahead, std::uint32_t delivered, std::int64_t marked_bytes,
                                std::uint32_t payload) {
    if (delivered <= kAceMask) return ahead;
    const std::uint32_t most = delivered - ((delivered - ahead) & kAceMask);
    if (marked_bytes < 0) return most;
    const auto by_bytes = static_cast<std::uint32_t>((marked_bytes + payload - 1) / payload);
    // As many wraps as the bytes show.
    return std::min(most, by_bytes <= ahead ? ahead : ahead + ((by_bytes - ahead + kAceMask) & ~kAceMask));
}

// What a sender has heard of marks, and answered.
struct EcnHeard {
    EcnEcho echo;             // of the acknowledgement in hand
    std::uint32_t ahead = 0;  // its flags, of `told`
    std::uint32_t payload_bytes = 1;

    EcnMode mode = EcnMode::Off;
    std::uint32_t told = 0;        // the flags that say nothing new, modulo 8: where marked packets are counted, more
    std::uint32_t told_bytes = 0;  // by the latest option
    std::uint32_t reduced_until = 0;  // one past the last packet of the window that marks have reduced
    bool owes_cwr = false;
    bool has_answer = false;  // the controller answers them
    bool at_once = false;     // EcnUse::at_once

    // An acknowledgement comes. `is_long`: it may be of more packets than the ACE field tells apart. Returns whether it
    // has to be looked at.
    bool hear(const EcnEcho& said, bool is_long, std::uint32_t payload) {
        ahead = (said.flags - told) & kAceMask;
        if (ahead == 0 && !is_long) return false;
        echo = said;
        payload_bytes = payload;
        return true;
    }
};

}  // namespace subflow
