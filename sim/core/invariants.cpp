// Invariants of a network between two calls of run_until().
#include <cmath>

#include "network.h"

namespace subflow {

void Network::check_invariants() const {
    // Event order: no event remains in the past.
    events_.check_invariants();
    SF_ASSERT(events_.next_time() >= now_);

    // Conservation of packets per link
    const std::vector<std::int64_t> under_way = packets_in_flight();
    std::size_t extensions = free_extensions_.size();
    for (const Link& link : links_) {
        const LinkStats& s = link.stats();
        SF_ASSERT(s.packets_in == s.packets_out + s.drops_queue + s.drops_random + s.drops_down + s.drops_scripted +
                                      link.packets_under_way());
        link.for_each_under_way(now_, [&](const Packet& p, const Link::Place&) {
            if (p.kind() == PacketKind::Ack && p.extension != kNoExtension) ++extensions;
        });
    }
    // Every ACK extension is free or belongs to an ACK in flight.
    SF_ASSERT(extensions == ack_extensions_.size());

    // Conservation of packets per subflow and in total
    std::int64_t sent_in_all = 0;
    std::int64_t accounted_in_all = packets_delivered_;
    for (std::size_t i = 0; i < subflows_.size(); ++i) {
        const Subflow& s = subflows_[i];
        const Connection& c = connections_[s.connection];
        const std::int64_t sent = sent_pkts(*this, s);
        SF_ASSERT(sent == s.arrived_pkts + s.dropped_pkts + under_way[i]);
        SF_ASSERT(s.lost_pkts <= s.dropped_pkts);
        sent_in_all += sent;
        accounted_in_all += s.dropped_pkts + under_way[i];
        if (sends_datagrams(c.kind)) continue;

        // Windows and sequence numbers
        s.sender.check_invariants();
        SF_ASSERT(!std::isnan(s.sender.window().ssthresh_pkts) && s.sender.window().ssthresh_pkts > 0);
        SF_ASSERT(s.sender.snd_una() <= s.receiver.rcv_nxt() && s.receiver.rcv_nxt() <= s.sender.snd_nxt());
        SF_ASSERT(!s.is_established || !s.sender.has_outstanding() || s.sender.rto_deadline() < kNever);
        // Queued packets belong to an established subflow and wait only for window or pacing.
        SF_ASSERT(s.is_established || !s.sender.has_queued());
        s.sender.for_each_undelivered([&](std::uint32_t data_seq) { SF_ASSERT(data_seq < c.data_nxt); });
        SF_ASSERT(!s.sender.has_queued() || !s.sender.may_send(now_) || s.sender.next_queued() < c.data_una);
        // No subflow of a full connection can send.
        SF_ASSERT(!c.is_full || !s.is_established || !(s.sender.has_room() || s.sender.has_lost_or_queued()));
    }
    SF_ASSERT(sent_in_all == accounted_in_all);

    for (const Connection& c : connections_) {
        if (sends_datagrams(c.kind)) continue;
        // Acknowledged data was delivered, delivered data was sent, and sent data was within the window.
        SF_ASSERT(c.data_una <= c.reassembly.next());
        SF_ASSERT(c.reassembly.next() <= c.data_nxt);
        SF_ASSERT(c.data_nxt <= c.right_edge);
        // The buffer of a connection that pushes ahead shrinks when a subflow closes.
        SF_ASSERT(c.pushes_ahead || c.data_nxt - c.data_una <= c.send_buffer_pkts);
        SF_ASSERT(!c.is_multipath() || (c.sent_on.begin_pos() == c.data_una && c.sent_on.end_pos() == c.data_nxt));
        // Every byte is delivered once. All packets but the last are full.
        std::int64_t bytes = static_cast<std::int64_t>(c.reassembly.next()) * c.payload_bytes;
        if (c.reassembly.next() > c.last_data_seq) bytes -= c.payload_bytes - c.last_payload_bytes;
        SF_ASSERT(c.delivered_bytes == bytes);
    }
}

}  // namespace subflow
