// The ECN part of Network: the packets that can be marked, the reports of receivers, and their processing by senders.
//
// Source: RFC 3168 section 6.1, RFC 8257 section 3, RFC 9768 section 3; Linux tcp_ecn_send, tcp_ecn_check_ce,
// tcp_ecn_accept_cwr, dctcp_ece_ack_update, tcp_accecn_process. Pure ACKs and handshake packets cannot be marked.
// Retransmissions can be marked only if the report identifies the marked packet (RFC 3168 section 6.1.5), as in Linux
// (RFC 8311, draft-ietf-tcpm-generalized-ecn).
#include "cc/controllers.h"
#include "network.h"

namespace subflow {

// The handshake negotiates ECN before any data is sent. Its result depends only on the scenario and the controller, and
// is therefore applied when the two ends are created.
void Network::agree_on_ecn(Subflow& s, const Connection& c, const Controller& controller) {
    s.ecn = ecn_mode(*scenario_, scenario_->flows[s.connection], ecn_use_of(controller));
    s.ecn_field = Packet::bits_of(capable_by(s.ecn, ecn_use_of(controller)));
    s.sender.agree_on_ecn(s.ecn);
    s.receiver.say(first_echo(s.ecn));
    s.marks = {};
    if (s.ecn == EcnMode::Accurate) {
        const std::size_t index = c.first_subflow + s.ordinal;
        if (ecn_options_.size() <= index) ecn_options_.resize(index + 1);
        ecn_options_[index] = Ring<EcnOption>();
        ecn_options_[index].push_back(s.marks.option(0));
    }
    update_packet_checks(s, c);
}

// Determines the packets that need the slow path. Nearly all packets carry no new ECN information, and the check must
// cost nearly nothing.
void Network::update_packet_checks(Subflow& s, const Connection& c) {
    int looks = s.ecn == EcnMode::Off ? kNoLooks : kArrivals | kAnswers;
    if (confirms_with_cwr(s.ecn) && s.sender.owes_cwr()) looks |= kDepartures;
    if (s.marks.has_news) looks |= kAcks;
    if (c.is_observed) looks |= c.captured ? kAllLooks : kArrivals | kAcks | kAnswers;
    if (s.ack_group != kNoAckGroup) looks |= kSharedTimers;
    s.looks = static_cast<std::uint8_t>(looks);
}

// Called after the sender has reduced its window. If the ECN mode uses CWR, the next new packet reports the reduction
// to the receiver.
void Network::on_reduced(MarkKind why, std::uint32_t index, double cwnd_pkts) {
    marks_.add(now_, why, index, cwnd_pkts);
    Subflow& s = subflows_[index];
    update_packet_checks(s, connections_[s.connection]);
}

// A data packet leaves. Returns its transmission number with its ECN bits.
std::uint32_t Network::with_ecn_mark(Packet packet, Sent which, Subflow& s, Connection& c) {
    if (which == Sent::First && confirms_with_cwr(s.ecn) && s.sender.owes_cwr()) {
        packet.set_ecn_flags(1);
        s.sender.forget_cwr();
        update_packet_checks(s, c);
    }
    note_packet(c, packet, Station::Sender, now_);
    return packet.transmission;
}

// A data packet reaches the receiver at `at`.
void Network::on_ecn_arrival(const Packet& packet, Subflow& s, Connection& c, Nanos at) {
    if (c.is_observed) note_packet(c, packet, Station::Receiver, at);
    const bool is_marked = packet.ecn() == Ecn::Marked;
    s.marked_pkts += is_marked;
    EcnReceived& seen = s.marks;
    switch (s.ecn) {
        case EcnMode::Off:
            return;
        case EcnMode::Classic:
            if (packet.ecn_flags() != 0) {
                seen.echoes = false;
                // The reduced window may be one packet: an ACK that waits for a second packet would stall the sender.
                s.receiver.acknowledge_next_at_once(packet.sent_time);
            }
            if (is_marked && !seen.echoes) {
                seen.echoes = true;
                s.receiver.quicken();
            }
            s.receiver.say(seen.echoes);
            break;
        case EcnMode::Dctcp:
            if (is_marked == seen.echoes) break;
            if (s.receiver.owes_ack()) ack_before_change(s, c, packet.subflow, at);
            seen.echoes = is_marked;
            s.receiver.say(seen.echoes);
            s.receiver.acknowledge_next_at_once(packet.sent_time);
            break;
        case EcnMode::Accurate:
            // Marks need no early ACK: with an ACK for at least every second packet, no ACK reports more than two marks
            // (RFC 9768 section 3.2.2.5.1).
            seen.marked_pkts += is_marked;
            seen.has_news |= is_marked;
            s.receiver.say((kAceStart + seen.marked_pkts) & kAceMask);
            break;
    }
    update_packet_checks(s, c);
}

// Acknowledges the packets before a change of the mark separately, with the earlier state (RFC 8257 section 3.2).
void Network::ack_before_change(Subflow& s, Connection& c, std::uint32_t index, Nanos at) {
    if (c.defers_data) s.lane.add(at, DataLane::kNothing, c.arrival_turn++);
    send_ack(s, c, index, at);
}

std::uint32_t Network::make_extension(const AckExtension& content) {
    if (free_extensions_.empty()) {
        ack_extensions_.push_back(content);
        return static_cast<std::uint32_t>(ack_extensions_.size() - 1);
    }
    const std::uint32_t slot = free_extensions_.front();
    free_extensions_.pop_front();
    ack_extensions_[slot] = content;
    return slot;
}

// An ACK leaves. Every ACK with room for the AccECN option carries it, as in Linux (tcp_ecn_option = 2): without the
// option, an ACK after lost ACKs leaves the number of marks open. Only changes of the counters are stored.
void Network::note_ecn_echo(Packet ack, Subflow& s, Connection& c, Nanos at) {
    if (s.ecn == EcnMode::Accurate) {
        if (s.marks.has_news || c.captured) ecn_options_[ack.subflow].push_back(s.marks.option(ack.number()));
        s.marks.has_news = false;
        update_packet_checks(s, c);
    }
    if (c.is_observed) note_packet(c, ack, Station::Receiver, at);
}

// The AccECN option of an ACK, or null without it.
const EcnOption* Network::ecn_option(const Packet& ack, const Subflow& s) const {
    // The ACK may have left before the subflow was reopened.
    if (s.ecn != EcnMode::Accurate || !is_current(s, ack)) return nullptr;
    if (ack.extension != kNoExtension && ack_extensions_[ack.extension].sack.count > kMostSackBesideOption)
        return nullptr;
    const Ring<EcnOption>& sent = ecn_options_[ack.subflow];
    std::uint32_t after = sent.end_pos();
    while (after - 1 != sent.begin_pos() && sent[after - 1].first_ack > ack.number()) --after;
    return &sent[after - 1];
}

// An ACK reaches the sender.
void Network::on_ecn_answer(const Packet& ack, Subflow& s, Connection& c) {
    if (c.is_observed) note_packet(c, ack, Station::Sender, now_);
    // The counter of marks has three bits: the smaller number in an overtaken ACK would look like new marks.
    if (s.ecn == EcnMode::Off || !is_current(s, ack) || !s.is_established || ack.number() < s.acks_heard) return;
    EcnEcho echo{.flags = ack.ecn_flags()};
    if (const EcnOption* option = ecn_option(ack, s)) {
        echo.has_option = true;
        echo.marked_bytes = option->bytes[1];
        // Later ACKs carry this option or a later one; the record of packets also shows overtaken ACKs.
        Ring<EcnOption>& sent = ecn_options_[ack.subflow];
        while (!c.captured && &sent.front() != option) sent.pop_front();
    }
    s.sender.process_echo(echo, ack.seq, ack.extension != kNoExtension, c.payload_bytes);
}

// ECN fields in the headers of a captured packet.
EcnHeader Network::ecn_header(const Packet& p, const Subflow& s) const {
    constexpr std::uint8_t kAe = 4;
    constexpr std::uint8_t kCwr = 2;
    constexpr std::uint8_t kEce = 1;
    EcnHeader header{.ecn = p.ecn(), .flags = 0, .has_option = false, .bytes = {}};
    switch (p.kind()) {
        case PacketKind::Datagram:
            break;
        case PacketKind::Data:
            // The receiving end sends no data that could be marked: the counter of its marks keeps the initial value.
            header.flags = s.ecn == EcnMode::Accurate ? kAceStart : p.ecn_flags() != 0 ? kCwr : 0;
            break;
        case PacketKind::Ack:
            header.flags = p.ecn_flags();
            if (const EcnOption* option = ecn_option(p, s)) {
                header.has_option = true;
                header.bytes = option->bytes;
            }
            break;
        case PacketKind::Handshake: {
            // RFC 3168 section 6.1.1; RFC 9768 section 3.1.1, table 2: neither SYN nor SYN-ACK can be marked
            const auto step = static_cast<HandshakeStep>(p.seq);
            const FlowSpec& flow = scenario_->flows[s.connection];
            const EcnMode asked = s.ecn == EcnMode::Off && flow.ecn ? scenario_->transport.ecn : s.ecn;
            if (step == HandshakeStep::Syn && asked != EcnMode::Off)
                header.flags = asked == EcnMode::Accurate ? kAe | kCwr | kEce : kCwr | kEce;
            if (step == HandshakeStep::SynAck && s.ecn != EcnMode::Off)
                header.flags = s.ecn == EcnMode::Accurate ? kCwr : kEce;
            if ((step == HandshakeStep::Ack || step == HandshakeStep::JoinAck) && s.ecn == EcnMode::Accurate)
                header.flags = step == HandshakeStep::Ack ? kCwr : kAceStart;
            break;
        }
    }
    return header;
}

}  // namespace subflow
