// The part of Network that moves packets: sending, receiving, acknowledging.
#include <algorithm>
#include <bit>

#include "network.h"

namespace subflow {

namespace {
// Random bits for a packet: different for data and ACKs of a subflow, and for its incarnations.
std::uint64_t draw_for(const Subflow& s, const Packet& p) {
    return s.random_stream ^ mix64((static_cast<std::uint64_t>(p.incarnation()) << 40) |
                                   (static_cast<std::uint64_t>(p.kind()) << 32) | p.number());
}
}  // namespace

// Carries a packet that reaches the link of hops_[hop] at `at` along its route, ahead of the clock while no other event
// can affect it (lookahead.cpp). Inlined in each caller that makes a packet: in most cases, the packet then exists only
// in registers.
template <PacketKind kKind>
SF_INLINE void Network::carry(std::uint32_t hop, Packet& packet, Subflow& s, Connection& c, Nanos at) {
    for (;;) {
        const Hop here = hops_[hop];
        Link& link = links_[here.link];
        std::uint64_t draw = 0;
        if (link.uses_draw()) [[unlikely]]
            draw = draw_for(s, packet);
        const Verdict verdict = link.offer(packet, at, draw);
        if (verdict != Verdict::Accepted) [[unlikely]] {
            if (verdict == Verdict::Kept) {
                attend(here.link);
            } else if (verdict == Verdict::Marked) {
                const Packet copy = packet;  // so that `packet` itself can stay in registers
                carry_marked<kKind>(hop, copy, s, c, at);
            } else {
                on_dropped<kKind>(packet.seq, packet.extension, packet.subflow, packet.sent_time, at);
                if (fates_) {
                    const Packet copy = packet;
                    note_fate(here.link, copy, verdict, at);
                }
                if (verdict == Verdict::DroppedScripted)
                    marks_.add(at, MarkKind::ScriptedDrop, packet.subflow, packet.seq);
            }
            return;
        }
        at = link.arrival();
        if (has_left<kKind>(here, packet, s, c, at)) return;
        ++hop;
        ++packet.hop;
    }
}

// Called after a link has accepted a packet, which reaches the far end at `at`. Returns false if the packet continues
// to the next link at once.
template <PacketKind kKind>
SF_INLINE bool Network::has_left(Hop here, const Packet& packet, Subflow& s, Connection& c, Nanos at) {
    Link& link = links_[here.link];
    if (here.leads == Leads::ToEvent || at > horizon_) {
        link.hold(packet);
        if (here.leads == Leads::ToEvent) events_.schedule(link_source(here.link), link.next_arrival());
        return true;
    }
    link.pass();
    if constexpr (kKind != PacketKind::Ack) {
        if (here.leads == Leads::ToReceiver) {
            receive<kKind>(packet, s, c, at);
            return true;
        }
    }
    return false;
}

// Carries a packet onward after the link of hops_[hop] has accepted and marked it.
template <PacketKind kKind>
void Network::carry_marked(std::uint32_t hop, Packet packet, Subflow& s, Connection& c, Nanos offered_at) {
    packet.mark();
    const Hop here = hops_[hop];
    if (fates_) note_fate(here.link, packet, Verdict::Marked, offered_at);
    const Nanos at = links_[here.link].arrival();
    if (has_left<kKind>(here, packet, s, c, at)) return;
    ++packet.hop;
    carry<kKind>(hop + 1, packet, s, c, at);
}

template <PacketKind kKind>
SF_INLINE void Network::receive(const Packet& packet, Subflow& s, Connection& c, Nanos at) {
    if constexpr (kKind == PacketKind::Handshake) return on_handshake_at_receiver(packet, s, c, at);
    ++packets_delivered_;
    ++s.arrived_pkts;
    mix_signature(at, packet.subflow, packet.seq);
    if constexpr (kKind == PacketKind::Data) {
        if (!is_current(s, packet)) [[unlikely]]
            return note_packet(c, packet, Station::Receiver, at);
        on_data(packet, s, c, at);
    } else {
        if (c.is_observed) [[unlikely]]
            note_packet(c, packet, Station::Receiver, at);
        c.delivered_bytes += packet.size - kDatagramHeaderBytes.value;
    }
}

// Carries a packet that has waited on a link to the next link or to its destination.
void Network::carry_on(Packet& packet, Nanos at) {
    Subflow& s = subflows_[packet.subflow];
    Connection& c = connections_[s.connection];
    ++packet.hop;
    // Most packets are data, and nearly all others are ACKs.
    if (packet.kind() == PacketKind::Data) [[likely]] {
        if (packet.hop == s.hops) return receive<PacketKind::Data>(packet, s, c, at);
        return carry<PacketKind::Data>(s.route + packet.hop, packet, s, c, at);
    }
    if (packet.kind() == PacketKind::Ack) [[likely]] {
        if (packet.hop == s.ack_hops) return on_ack(packet, s, c);
        return carry<PacketKind::Ack>(s.ack_route + packet.hop, packet, s, c, at);
    }
    if (packet.kind() == PacketKind::Datagram) {
        if (packet.hop == s.hops) return receive<PacketKind::Datagram>(packet, s, c, at);
        return carry<PacketKind::Datagram>(s.route + packet.hop, packet, s, c, at);
    }
    if (packet.goes_back()) {
        if (packet.hop == s.ack_hops) return on_handshake_at_sender(packet, s, c);
        return carry<PacketKind::Handshake>(s.ack_route + packet.hop, packet, s, c, at);
    }
    if (packet.hop == s.hops) return receive<PacketKind::Handshake>(packet, s, c, at);
    carry<PacketKind::Handshake>(s.route + packet.hop, packet, s, c, at);
}

template <PacketKind kKind>
void Network::on_dropped(std::uint32_t seq, std::uint32_t extension, std::uint32_t subflow, Nanos sent, Nanos at) {
    mix_signature(at, subflow, ~seq);
    if (kKind == PacketKind::Ack && extension != kNoExtension) free_extensions_.push_back(extension);
    if (kKind == PacketKind::Ack || kKind == PacketKind::Handshake) return;
    Subflow& s = subflows_[subflow];
    ++s.dropped_pkts;
    if (sent > measurement_.sent_after()) ++s.lost_pkts;
}

void Network::take_refused(std::uint32_t link) {
    links_[link].take_dropped([&](const Packet& p, Verdict verdict) { on_dropped(link, p, verdict, now_); });
    if (fates_) links_[link].take_marked([&](const Packet& p) { note_fate(link, p, Verdict::Marked, now_); });
}

void Network::on_dropped(std::uint32_t link, const Packet& packet, Verdict verdict, Nanos at) {
    if (fates_) note_fate(link, packet, verdict, at);
    if (packet.kind() == PacketKind::Ack)
        return on_dropped<PacketKind::Ack>(packet.seq, packet.extension, packet.subflow, packet.sent_time, at);
    if (packet.kind() == PacketKind::Handshake)
        return on_dropped<PacketKind::Handshake>(packet.seq, packet.extension, packet.subflow, packet.sent_time, at);
    on_dropped<PacketKind::Data>(packet.seq, packet.extension, packet.subflow, packet.sent_time, at);
}

SF_INLINE void Network::transmit(Connection& c, Subflow& s, std::uint32_t index, const Transmission& sent, Sent which) {
    Packet packet;
    packet.sent_time = now_;
    packet.seq = sent.seq;
    const bool may_be_marked = which == Sent::First || s.ecn != EcnMode::Classic;  // RFC 3168 section 6.1.5
    packet.transmission = may_be_marked ? sent.number | s.ecn_field : sent.number;
    packet.subflow = index;
    packet.data_seq = sent.data_seq;
    packet.extension = s.acks_heard;
    packet.size = static_cast<std::uint16_t>(c.payload_of(sent.data_seq) + c.header_bytes);
    packet.set_tag(PacketKind::Data, s.incarnation);
    if ((s.looks & kDepartures) != 0) [[unlikely]]
        packet.transmission = with_ecn_mark(packet, which, s, c);
    carry<PacketKind::Data>(s.route, packet, s, c, now_);
}

void Network::transmit_again(Connection& c, Subflow& s, std::uint32_t index, const Transmission& sent) {
    transmit(c, s, index, sent, Sent::Again);
}

void Network::retransmit_lost(Connection& c, Subflow& s, std::uint32_t index) {
    while (s.sender.may_retransmit(now_)) transmit_again(c, s, index, s.sender.retransmit(now_, scenario_->transport));
}

// True if packets are queued at a subflow. First removes packets that have been acknowledged meanwhile, because another
// subflow carried them too.
bool Network::has_queued(Connection& c, Subflow& s) {
    if (s.sender.has_queued() && c.reinjected_pkts != 0) read_data_acks(c);
    while (s.sender.has_queued() && s.sender.next_queued() < c.data_una) s.sender.take_queued();
    return s.sender.has_queued();
}

void Network::send_queued(Connection& c, Subflow& s, std::uint32_t index) {
    while (has_queued(c, s) && s.sender.may_send(now_))
        transmit(c, s, index, s.sender.send_new(s.sender.take_queued(), now_, scenario_->transport));
}

void Network::fill(Connection& c) {
    c.changed = Connection::kAll;
    if (!c.is_started) return;
    if (c.is_plain && c.reinjections.empty()) [[likely]] {
        fill_single_path(c);
        return;
    }
    for (std::uint32_t i = c.first_subflow; i < c.first_subflow + c.subflow_count; ++i) {
        Subflow& s = subflows_[i];
        if (!s.is_established || !s.sender.has_lost_or_queued()) [[likely]]
            continue;
        retransmit_lost(c, s, i);
        send_queued(c, s, i);
    }
    if (c.has_special_fill) [[unlikely]] {
        if (c.pushes_ahead) {
            push_pending(c);
        } else {
            send_everywhere(c);
        }
    } else {
        while (send_next(c)) {
        }
    }
    // True if data remains that neither window nor buffer blocks, but that no subflow took
    const bool has_data = !c.reinjections.empty() || has_new_data(c);
    if (!has_data && c.data_nxt < c.data_end && c.is_multipath()) [[unlikely]]
        act_when_blocked(c);
    bool is_full = c.may_skip_scheduler();
    for (std::uint32_t i = c.first_subflow; i < c.first_subflow + c.subflow_count; ++i) {
        Subflow& s = subflows_[i];
        if (!s.is_established) continue;
        const bool has_room_left = has_room(c, s);
        // A subflow that still has room while data is left was skipped by the scheduler.
        if (s.sender.follows_supply() && (!has_data || has_room_left)) [[unlikely]]
            s.sender.note_out_of_data();
        is_full &= !has_room_left && !s.sender.has_lost_or_queued();
        events_.schedule(timer_source(i), s.sender.timer_deadline(now_, scenario_->transport));
    }
    c.is_full = is_full;
}

// Shortcut of fill() after an acknowledgement on one subflow of a full connection: the other subflows are not examined.
SF_INLINE void Network::fill_one(Connection& c, Subflow& s, std::uint32_t index) {
    if (s.sender.has_lost_or_queued()) [[unlikely]]
        return fill(c);
    if (s.sender.has_room()) [[likely]] {
        if (!is_usable(s)) [[unlikely]]
            return fill(c);
        do {
            if (!has_new_data(c)) [[unlikely]]
                return fill(c);
            c.sent_on.push_back(std::uint64_t{1} << s.ordinal);
            hand_over(c, s, index, c.data_nxt++);
        } while (s.sender.has_room());
    }
    if (s.sender.has_lost_or_queued()) [[unlikely]]
        return fill(c);
    events_.schedule(timer_source(index), s.sender.timer_deadline(now_, scenario_->transport));
}

// Shortcut of fill() for a connection of one subflow with an unlimited send buffer and no reinjections.
void Network::fill_single_path(Connection& c) {
    const std::uint32_t index = c.first_subflow;
    Subflow& s = subflows_[index];
    if (!s.is_established) return;
    if (s.sender.has_lost()) [[unlikely]]
        retransmit_lost(c, s, index);
    const std::uint32_t end = std::min(c.data_end, c.right_edge);
    while (c.data_nxt < end && s.sender.may_send(now_))
        transmit(c, s, index, s.sender.send_new(c.data_nxt++, now_, scenario_->transport));
    // Only a lack of data makes the flow application-limited: as in Linux, a full receive window does not.
    if (c.data_nxt >= c.data_end) [[unlikely]]
        s.sender.note_out_of_data();
    events_.schedule(timer_source(index), s.sender.timer_deadline(now_, scenario_->transport));
}

// A tail loss probe with new data, if any. Over several paths, the scheduler places new data; the probe then sends only
// data that this subflow has queued, or repeats the last packet.
// Source: RFC 8985 section 7.3.
void Network::send_probe(std::uint32_t index) {
    Subflow& s = subflows_[index];
    Connection& c = connections_[s.connection];
    if (has_queued(c, s))
        return transmit(c, s, index, s.sender.probe_with_new(s.sender.take_queued(), now_, scenario_->transport));
    const bool has_new = !c.is_multipath() && c.reinjections.empty() && c.has_new_data();
    if (has_new) return transmit(c, s, index, s.sender.probe_with_new(c.data_nxt++, now_, scenario_->transport));
    transmit_again(c, s, index, s.sender.probe_with_last(now_, scenario_->transport));
}

bool Network::send_next(Connection& c) {
    // Reinjections first, without packets that have been acknowledged meanwhile.
    if (!c.reinjections.empty()) [[unlikely]]
        read_data_acks(c);
    while (!c.reinjections.empty() && c.reinjections.front() < c.data_una) c.reinjections.pop_front();
    const bool is_reinjection = !c.reinjections.empty();
    if (!is_reinjection && !has_new_data(c)) return false;
    const std::uint32_t data_seq = is_reinjection ? c.reinjections.front() : c.data_nxt;

    const std::uint64_t sent_on = is_reinjection && c.is_multipath() ? c.sent_on[data_seq] : 0;
    const std::size_t choice = choose_subflow(c, data_seq, sent_on);
    if (choice >= c.subflow_count) return false;

    if (is_reinjection) [[unlikely]] {
        c.reinjections.pop_front();
        if (c.is_multipath()) c.sent_on[data_seq] &= ~Connection::kQueued;
        send_again(c, choice, data_seq);
        return true;
    }
    ++c.data_nxt;
    if (c.is_multipath()) c.sent_on.push_back(std::uint64_t{1} << choice);
    const auto index = static_cast<std::uint32_t>(c.first_subflow + choice);
    hand_over(c, subflows_[index], index, data_seq);
    return true;
}

// Hands a packet to a subflow. The packet leaves at once unless pacing delays it.
SF_INLINE void Network::hand_over(Connection& c, Subflow& s, std::uint32_t index, std::uint32_t data_seq) {
    if (s.sender.pacing_allows(now_)) [[likely]] {
        SF_VALIDATE(!s.sender.has_queued());
        transmit(c, s, index, s.sender.send_new(data_seq, now_, scenario_->transport));
    } else {
        s.sender.queue(data_seq);
    }
}

// Like hand_over(), for the subflow at `position`, where other packets may already wait for window or pacing.
void Network::hand_over_in_turn(Connection& c, std::size_t position, std::uint32_t data_seq) {
    const auto index = static_cast<std::uint32_t>(c.first_subflow + position);
    Subflow& s = subflows_[index];
    if (s.sender.may_send(now_) && !s.sender.has_queued()) {
        transmit(c, s, index, s.sender.send_new(data_seq, now_, scenario_->transport));
    } else {
        s.sender.queue(data_seq);
    }
}

// Each subflow traverses the stream independently: it sends the packets of other subflows before new data, so that no
// subflow depends on the progress of another. A new packet goes to the scheduler's choice among the subflows that have
// sent all earlier packets. Acknowledged packets are skipped.
// Source: Linux mptcp_redundant.c
void Network::send_everywhere(Connection& c) {
    do {
        for (std::uint32_t position = 0; position < c.subflow_count; ++position) {
            send_copies(c, position);
            // A copy that finds no room at once is not sent later.
            if (c.copies == Copies::Now) subflows_[c.first_subflow + position].copied_below = c.data_nxt;
        }
    } while (send_next(c));
}

void Network::send_copies(Connection& c, std::uint32_t position) {
    Subflow& s = subflows_[c.first_subflow + position];
    std::uint32_t& next = s.copied_below;
    next = std::max(next, c.data_una);
    for (; next != c.data_nxt; ++next) {
        if ((c.sent_on[next] >> position & 1) != 0) continue;
        if (!is_usable(s) || !has_room(c, s) || (s.is_backup && has_active(c))) return;
        if (c.decisions) record_copy(c, next, position);
        c.sent_on[next] |= std::uint64_t{1} << position;
        hand_over(c, s, c.first_subflow + position, next);
        ++c.copied_pkts;
    }
}

// Position of the subflow for a packet that was already sent on the subflows in `sent_on`; subflow_count if no subflow
// is available or the scheduler chooses none.
SF_INLINE std::size_t Network::choose_subflow(Connection& c, std::uint32_t data_seq, std::uint64_t sent_on) {
    const Subflow* const subflows = &subflows_[c.first_subflow];
    // While windows are full, an ACK makes room on one subflow: most calls find this subflow, and the next call finds
    // no room.
    std::size_t available = 0;
    std::size_t last = c.subflow_count;
    for (std::size_t i = 0; i < c.subflow_count; ++i) {
        if (!has_room(c, subflows[i]) || !is_usable(subflows[i])) continue;
        ++available;
        last = i;
    }
    if (available > 1 || (available == 1 && (sent_on != 0 || !c.is_work_conserving)))
        return ask_scheduler(c, data_seq, sent_on);
    if (c.decisions && available == 1) [[unlikely]]
        record_only_choice(c, data_seq, last);
    return last;
}

SF_INLINE void Network::on_data(const Packet& packet, Subflow& s, Connection& c, Nanos at) {
    // Ahead of the clock, the timers of delayed ACKs have not been processed yet.
    if (s.receiver.ack_deadline() < at) [[unlikely]]
        send_due_acks(s, c, packet.subflow, at);
    const std::uint32_t arrived = packet.size - c.header_bytes;
    if ((s.looks & (kSharedTimers | kArrivals)) != 0) [[unlikely]] {
        if ((s.looks & kSharedTimers) != 0 && ack_timers_[s.ack_group].due() < at)
            send_due_acks(s, c, packet.subflow, at);
        if ((s.looks & kArrivals) != 0) {
            s.marks.bytes[static_cast<std::size_t>(packet.ecn())] += arrived;
            if (is_unusual_data(packet, s, c)) on_ecn_arrival(packet, s, c, at);
        }
    }
    const SubflowReceiver::Decision decision =
        s.receiver.on_data(packet.seq, arrived, packet.sent_time, packet.extension, at, s.buffer, scenario_->transport);
    if (decision.is_new) [[likely]]
        s.received_bytes += arrived;
    if (c.defers_data) {
        s.lane.add(at, decision.is_new ? packet.data_seq : DataLane::kNothing, c.arrival_turn++);
    } else if (decision.is_new) [[likely]] {
        take_data(c, s.ordinal, packet.data_seq, at);
    }
    if (decision.ack_now) [[likely]] {
        send_ack(s, c, packet.subflow, at);
    } else {
        set_ack_timer(s, packet.subflow);
    }
    if (decision.has_rtt) [[unlikely]]
        s.buffer.note_rtt(s.receiver.rtt(), at, std::int64_t{s.receiver.rcv_nxt()} * c.payload_bytes);
}

SF_INLINE void Network::take_data(Connection& c, std::uint32_t ordinal, std::uint32_t data_seq, Nanos at) {
    const auto deliver = [&](std::uint32_t seq, std::uint8_t origin) {
        const std::uint32_t payload = c.payload_of(seq);
        c.delivered_bytes += payload;
        subflows_[c.first_subflow + origin].goodput_bytes += payload;
        return payload;
    };
    c.reassembly.on_data(data_seq, c.payload_of(data_seq), static_cast<std::uint8_t>(ordinal), at, deliver);
    if (c.final_data_seq != Reassembly::kUnlimited) [[unlikely]]
        end_if_delivered(c, at);
}

// Sends the delayed ACKs that leave before a packet of this subflow arrives at `at`: its own, and those of all
// receivers with which it shares the link of the ACKs.
[[gnu::noinline]] void Network::send_due_acks(Subflow& s, Connection& c, std::uint32_t index, Nanos at) {
    if (s.ack_group == kNoAckGroup) return send_delayed_ack(s, c, index, s.receiver.ack_deadline());
    AckTimers& timers = ack_timers_[s.ack_group];
    while (timers.due() < at) expire_first(timers);
}

void Network::expire_first(AckTimers& timers) {
    const AckTimers::Timer timer = timers.take_first();
    if (!timers.empty()) subflows_[timers.next()].fetch_ack_timer();
    Subflow& s = subflows_[timer.subflow];
    if (s.receiver.ack_timer() != timer.time) return;  // of a receiver that has begun anew since
    s.receiver.set_ack_timer(kNever);
    if (s.receiver.ack_deadline() <= timer.time)
        send_delayed_ack(s, connections_[s.connection], timer.subflow, timer.time);
    if (s.receiver.ack_deadline() < kNever) set_ack_timer(s, timer.subflow);
}

void Network::add_ack_timer(Subflow& s, std::uint32_t index) {
    s.receiver.set_ack_timer(s.receiver.ack_deadline());
    if (s.ack_group == kNoAckGroup) return events_.schedule(ack_timer_source(index), s.receiver.ack_deadline());
    AckTimers& timers = ack_timers_[s.ack_group];
    timers.add({s.receiver.ack_deadline(), index});
    events_.schedule(ack_timer_source(timers.leader()), timers.due());
}

void Network::send_delayed_ack(Subflow& s, Connection& c, std::uint32_t index, Nanos at) {
    s.receiver.on_delay_over(scenario_->transport);
    if (c.defers_data) s.lane.add(at, DataLane::kTimer, c.arrival_turn++);
    send_ack(s, c, index, at);
}

void Network::send_ack(Subflow& s, Connection& c, std::uint32_t index, Nanos at) {
    Packet ack;
    ack.sent_time = s.receiver.take_echo();
    ack.seq = s.receiver.rcv_nxt();
    ack.transmission = s.receiver.next_ack();
    ack.subflow = index;
    ack.data_seq = c.defers_data ? s.lane.latest() : c.reassembly.next();
    ack.size = static_cast<std::uint16_t>(kHeaderBytes.value);
    ack.set_tag(PacketKind::Ack, s.incarnation);
    if (s.receiver.has_sack_blocks() || c.reassembly.is_limited()) [[unlikely]]
        ack.extension = make_extension({s.receiver.take_sack_blocks(), c.reassembly.advertise()});
    if ((s.looks & kAcks) != 0) [[unlikely]]
        note_ecn_echo(ack, s, c, at);
    carry<PacketKind::Ack>(s.ack_route, ack, s, c, at);
}

void Network::on_ack(const Packet& packet, Subflow& s, Connection& c) {
    if ((s.looks & kAnswers) != 0 && is_unusual_answer(packet, s, c)) [[unlikely]]
        on_ecn_answer(packet, s, c);
    std::span<const SeqRange> blocks;
    if (packet.extension != kNoExtension) [[unlikely]] {
        const AckExtension& extension = ack_extensions_[packet.extension];
        blocks = std::span(extension.sack.blocks).first(extension.sack.count);
        c.right_edge = std::max(c.right_edge, extension.right_edge);
        free_extensions_.push_back(packet.extension);
    }
    if (c.defers_data) {
        hear(c, s, packet.data_seq);
    } else {
        on_data_ack(c, packet.data_seq, now_);
    }
    if (is_current(s, packet) && s.is_established) [[likely]] {
        const Siblings view = c.is_coupled ? gather_siblings(c, packet.subflow) : Siblings{};
        s.is_potentially_failed = false;
        s.acks_heard = packet.number() + 1;
        const AckOutcome outcome =
            s.sender.on_ack(packet.seq, blocks, packet.sent_time, now_, view, scenario_->transport);
        if (outcome.newly_delivered != 0) measurement_.add_rtt(s.connection, now_ - packet.sent_time);
        if (outcome.ended_recovery) [[unlikely]]
            marks_.add(now_, MarkKind::Recovered, packet.subflow, s.sender.window().cwnd_pkts);
        if (outcome.ended_overshoot) [[unlikely]] {
            s.receiver.give_memory_back();
            c.reassembly.give_memory_back();
        }
        if (outcome.began_recovery) [[unlikely]]
            on_reduced(MarkKind::Loss, packet.subflow, s.sender.effective_cwnd_pkts());
        if (outcome.answered_marks) [[unlikely]]
            on_reduced(MarkKind::Marked, packet.subflow, s.sender.effective_cwnd_pkts());
        if (c.calls_agent && calls_agent(packet.subflow)) [[unlikely]]
            return;
        if (c.is_full) [[likely]]
            return fill_one(c, s, packet.subflow);
    }
    fill(c);
}

// `at`: time at which the acknowledgement arrived.
void Network::on_data_ack(Connection& c, std::uint32_t data_ack, Nanos at) {
    if (data_ack <= c.data_una) return;
    c.data_una = data_ack;
    if (!c.is_multipath()) return;
    c.data_acked_at = at;
    if (c.waits_to_join) [[unlikely]]
        begin_joins(c);
    c.sent_on.pop_front(data_ack - c.sent_on.begin_pos());
}

// Processes an acknowledgement that carries a position in the lane: that of the arrival that it acknowledges.
SF_INLINE void Network::hear(Connection& c, Subflow& s, std::uint32_t position) {
    constexpr std::uint32_t kAtOnce = 64;  // batch of acknowledgements: amortises the call, and fits the cache
    s.lane.hear(position, now_);
    if (++c.heard_acks >= kAtOnce || c.waits_to_join) [[unlikely]]
        settle_acked(c);
}

void Network::settle_acked(Connection& c) {
    c.heard_acks = 0;
    Subflow* const subflows = &subflows_[c.first_subflow];
    DataLanes lanes(c.subflow_count, [&](std::uint32_t i) -> DataLane& { return subflows[i].lane; });
    lanes.settle_acked([&](std::uint32_t i, DataLane::Arrival& arrival) { settle(c, i, arrival); });
    std::uint32_t data_ack = c.data_una;
    for (std::uint32_t i = 0; i < c.subflow_count; ++i)
        if (subflows[i].lane.has_heard()) data_ack = std::max(data_ack, subflows[i].lane.latest_heard().next);
    Nanos at = kNever;
    for (std::uint32_t i = 0; i < c.subflow_count; ++i) {
        at = std::min(at, subflows[i].lane.first_heard(data_ack));
        subflows[i].lane.drop_acked();
    }
    on_data_ack(c, data_ack, at);
}

SF_INLINE void Network::settle(Connection& c, std::uint32_t ordinal, DataLane::Arrival& arrival) {
    if (arrival.data_seq < DataLane::kTimer) [[likely]]
        take_data(c, ordinal, arrival.data_seq, arrival.at);
    arrival.next = c.reassembly.next();
}

// Settles the arrivals before `end`, in order.
void Network::settle_before(Connection& c, Nanos end) {
    Subflow* const subflows = &subflows_[c.first_subflow];
    DataLanes lanes(c.subflow_count, [&](std::uint32_t i) -> DataLane& { return subflows[i].lane; });
    lanes.settle_until(end, [&](std::uint32_t i, DataLane::Arrival& arrival) { settle(c, i, arrival); });
}

SF_INLINE Sibling Network::describe_sibling(const Subflow& s) const {
    // Without any delay, the RTT of a path may round to 0, from which no rate can be computed.
    const Nanos srtt = std::max(s.sender.rtt().srtt(), Nanos(1));
    return {.cwnd_pkts = s.sender.effective_cwnd_pkts(),
            .srtt_s = to_seconds(srtt),
            .advertised = s.sender.window().advertised,
            .window_pkts = s.sender.window().cwnd_pkts,
            .acked_since_loss_pkts = s.sender.acked_since_loss_pkts(),
            .acked_between_losses_pkts = s.sender.acked_between_losses_pkts()};
}

Siblings Network::gather_siblings(Connection& c, std::uint32_t self) {
    const Subflow* const subflows = &subflows_[c.first_subflow];
    Siblings view;
    view.common = &c.common;
    const std::uint32_t own_bit = 1u << (self - c.first_subflow);
    if (c.changed != Connection::kAll) [[likely]] {
        view.self = self - c.first_subflow;
        for (std::uint32_t left = c.changed; left != 0; left &= left - 1) {
            const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
            c.siblings[i] = describe_sibling(subflows[i]);
            c.rates[i] = PathRate(c.siblings[i]);
        }
        for (std::uint32_t i = 0; i < c.subflow_count; ++i) {
            SF_VALIDATE(subflows[i].is_established && c.siblings[i] == describe_sibling(subflows[i]));
        }
        c.changed = own_bit;
        // The size of the vectors would cost a division.
        view.all = {c.siblings.data(), c.subflow_count};
        view.known_rates = {c.rates.data(), c.subflow_count};
        return view;
    }
    c.siblings.clear();
    c.rates.clear();
    for (std::uint32_t i = 0; i < c.subflow_count; ++i) {
        if (!subflows[i].is_established || !subflows[i].sender.rtt().has_estimate()) {
            view.absent |= 1u << i;
            continue;
        }
        if (c.first_subflow + i == self) view.self = c.siblings.size();
        c.siblings.push_back(describe_sibling(subflows[i]));
        c.rates.emplace_back(c.siblings.back());
    }
    view.all = c.siblings;
    view.known_rates = c.rates;
    // All subflows are included, and every later change of a subflow sets its bit in `changed`.
    if (view.absent == 0 && !c.calls_agent) c.changed = own_bit;
    return view;
}

void Network::send_datagrams(std::uint32_t index) {
    Subflow& s = subflows_[index];
    Connection& c = connections_[s.connection];
    DatagramSource& source = *c.datagrams;
    if (source.wake_at() > now_) return;  // stopped, or an early wake-up
    if (!source.wake()) return;
    Packet packet;
    packet.sent_time = now_;
    packet.seq = packet.transmission = static_cast<std::uint32_t>(source.sent() - 1);
    packet.subflow = index;
    packet.size = static_cast<std::uint16_t>(scenario_->flows[s.connection].datagrams.packet.value);
    packet.set_tag(PacketKind::Datagram, 0);
    if (c.captured) [[unlikely]]
        note_packet(c, packet, Station::Sender, now_);
    carry<PacketKind::Datagram>(s.route, packet, s, c, now_);
}

// A packet of a handshake, or a signal about an address, leaves at `at`, on the forward path or on the path of the
// ACKs.
void Network::send_handshake(std::uint32_t index, HandshakeStep step, Nanos echo, Nanos at, std::uint32_t address) {
    Subflow& s = subflows_[index];
    Connection& c = connections_[s.connection];
    Packet packet;
    packet.sent_time = echo;
    packet.seq = static_cast<std::uint32_t>(step);
    packet.data_seq = address;
    packet.subflow = index;
    packet.size = static_cast<std::uint16_t>(kHeaderBytes.value);
    packet.set_tag(PacketKind::Handshake, s.incarnation);
    // Each end counts only the packets that it sends, as two separate hosts would.
    packet.transmission = 2 * s.handshake_pkts[packet.goes_back()]++ + packet.goes_back();
    if (c.captured) [[unlikely]]
        note_packet(c, packet, packet.goes_back() ? Station::Receiver : Station::Sender, at);
    carry<PacketKind::Handshake>(packet.goes_back() ? s.ack_route : s.route, packet, s, c, at);
}

}  // namespace subflow
