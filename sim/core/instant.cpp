#include "instant.h"

#include <algorithm>
#include <cmath>

#include "network.h"

namespace subflow {

namespace {

float progress(const Link::Place& place, Nanos delay, Nanos now) {
    if (place.queue_position != Link::kOnWire) return 0;
    if (delay <= Nanos(0)) return 1;
    const double left = static_cast<double>((place.arrival - now).value) / static_cast<double>(delay.value);
    return static_cast<float>(std::clamp(1 - left, 0.0, 1.0));
}

PacketsUnderWay packets_under_way(const Network& network) {
    std::size_t count = 0;
    for (const Link& link : network.links()) count += static_cast<std::size_t>(link.packets_under_way());
    PacketsUnderWay out;
    out.link.reserve(count);
    out.subflow.reserve(count);
    out.kind.reserve(count);
    out.seq.reserve(count);
    out.size_bytes.reserve(count);
    out.progress.reserve(count);
    out.queue_position.reserve(count);
    for (std::size_t i = 0; i < network.links().size(); ++i) {
        const Link& link = network.links()[i];
        link.for_each_under_way(network.now(), [&](const Packet& packet, const Link::Place& place) {
            out.link.push_back(static_cast<std::int32_t>(i));
            out.subflow.push_back(static_cast<std::int32_t>(packet.subflow));
            // Handshake packets appear as ACKs with number 0.
            const bool is_handshake = packet.kind() == PacketKind::Handshake;
            out.kind.push_back(static_cast<std::uint8_t>(is_handshake ? PacketKind::Ack : packet.kind()));
            out.seq.push_back(is_handshake ? 0 : packet.seq);
            out.size_bytes.push_back(packet.size);
            out.progress.push_back(progress(place, link.delay(), network.now()));
            out.queue_position.push_back(place.queue_position);
        });
    }
    return out;
}

LinksNow links_now(const Network& network) {
    LinksNow out;
    for (const Link& link : network.links()) {
        const LinkStats& stats = link.stats();
        out.queue_pkts.push_back(static_cast<std::int32_t>(link.queue_pkts(network.now())));
        out.queue_bytes.push_back(link.queue_bytes(network.now()).value);
        out.is_up.push_back(link.is_up());
        out.delivered_pkts.push_back(stats.packets_out);
        out.dropped_pkts.push_back(stats.drops_queue + stats.drops_random + stats.drops_down + stats.drops_scripted);
    }
    return out;
}

bool is_over(const Connection& c, Nanos now) {
    // A datagram flow does not wait for arrivals: it ends when it is stopped.
    return c.ended_at <= now || (sends_datagrams(c.kind) && c.is_stopped);
}

SubflowState state_of(const Subflow& s, const Connection& c, Nanos now) {
    if (sends_datagrams(c.kind)) return SubflowState::Datagrams;
    if (is_over(c, now)) return SubflowState::Closed;
    if (!s.is_established) return s.join_at < kNever || s.opening.waits ? SubflowState::Joining : SubflowState::Closed;
    switch (s.sender.state()) {
        case SenderState::Recovery:
            return SubflowState::Recovery;
        case SenderState::Loss:
            return SubflowState::Loss;
        case SenderState::Reduced:
            return SubflowState::Reduced;
        case SenderState::Open:
            break;
    }
    return SubflowState::Open;
}

SubflowsNow subflows_now(const Network& network) {
    const double wire_bits = network.scenario().packet_bits();
    SubflowsNow out;
    for (const Subflow& s : network.subflows()) {
        const Connection& c = network.connections()[s.connection];
        const SubflowState state = state_of(s, c, network.now());
        // Window and RTT are undefined unless the flow is active and the subflow established, even if the sender still
        // holds old values.
        const SubflowSender* const sender = s.is_established && c.is_active(network.now()) ? &s.sender : nullptr;
        const bool has_rtt = sender != nullptr && sender->rtt().has_sample();
        const bool has_srtt = sender != nullptr && sender->rtt().has_estimate() &&
                              !sender->is_unheard(network.now(), network.scenario().transport);
        const double ssthresh_pkts = sender != nullptr ? sender->window().ssthresh_pkts : kNaN;
        const double pacing_pps = sender != nullptr ? sender->window().pacing_pps : 0;
        out.is_established.push_back(sender != nullptr);
        out.state.push_back(static_cast<std::uint8_t>(state));
        out.cwnd_pkts.push_back(sender != nullptr ? sender->window().cwnd_pkts : kNaN);
        out.ssthresh_pkts.push_back(std::isinf(ssthresh_pkts) ? kNaN : ssthresh_pkts);
        out.inflight_pkts.push_back(sender != nullptr ? sender->pipe() : kNaN);
        out.srtt_s.push_back(has_srtt ? to_seconds(sender->rtt().srtt()) : kNaN);
        out.min_rtt_s.push_back(has_rtt ? to_seconds(sender->rtt().min_rtt()) : kNaN);
        out.rto_s.push_back(sender != nullptr ? to_seconds(sender->rto(network.scenario().transport)) : kNaN);
        out.pacing_rate_bps.push_back(pacing_pps > 0 ? pacing_pps * wire_bits : kNaN);  // NaN: clocked by ACKs
    }
    return out;
}

FlowsNow flows_now(const Network& network) {
    FlowsNow out;
    for (const Connection& c : network.connections()) {
        out.delivered_bytes.push_back(c.delivered_bytes);
        out.reorder_queue_bytes.push_back(c.reassembly.held_bytes());
        out.is_active.push_back(c.is_started && !is_over(c, network.now()));
    }
    return out;
}

}  // namespace

Instant inspect(const Network& network) {
    return {network.now(), packets_under_way(network), links_now(network), subflows_now(network), flows_now(network)};
}

}  // namespace subflow
