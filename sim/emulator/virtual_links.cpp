#include "virtual_links.h"

#include <algorithm>
#include <string>

#include "rng.h"

namespace subflow {

namespace {

constexpr std::uint64_t kPacketDraw = hash_name("emulated packet");

void check_link(const LinkSpec& spec) {
    if (spec.access) throw ScenarioError("link '" + spec.name + "' shares a medium; allowed are links of their own");
    if (!spec.drops.empty())
        throw ScenarioError("link '" + spec.name + "' drops packets by number; allowed are random losses");
}

}  // namespace

std::uint32_t VirtualLinks::add_network(const Scenario& scenario, std::uint64_t seed) {
    const auto first = static_cast<std::uint32_t>(links_.size());
    for (const LinkSpec& spec : scenario.links) check_link(spec);
    for (const LinkSpec& spec : scenario.links) {
        links_.emplace_back(spec, seed);
        streams_.push_back(combine64(combine64(seed, kPacketDraw), hash_name(spec.name)));
    }
    draws_.resize(links_.size());
    for (const EventSpec& event : scenario.events) {
        if (!event.link) continue;
        changes_.push_back(event);
        *changes_.back().link += first;
    }
    std::ranges::stable_sort(changes_, {}, &EventSpec::at);
    networks_.push_back({&scenario, first});
    events_ = EventQueue(links_.size());
    return first;
}

std::uint32_t VirtualLinks::add_route(std::span<const std::uint32_t> links) {
    if (routes_.empty()) routes_.push_back(0);
    hops_.insert(hops_.end(), links.begin(), links.end());
    routes_.push_back(static_cast<std::uint32_t>(hops_.size()));
    return static_cast<std::uint32_t>(routes_.size()) - 2;
}

void VirtualLinks::advance(Nanos now) {
    for (;;) {
        const Nanos event = events_.next_time();
        const Nanos change = next_change();
        if (std::min(event, change) > now) break;
        if (change <= event) {
            now_ = change;
            apply(changes_[changed_++]);
        } else {
            events_.dispatch([&](std::uint32_t link, Nanos at) {
                now_ = at;
                return on_link(link, at);
            });
        }
    }
    now_ = now;
}

void VirtualLinks::offer(std::uint32_t route, std::uint32_t frame, std::uint16_t size, std::uint32_t flow, Ecn ecn) {
    Packet packet;
    packet.sent_time = now_;
    packet.seq = route;
    packet.subflow = flow;
    packet.extension = frame;
    packet.size = size;
    packet.set_tag(PacketKind::Data, 0);  // the only kind with an ECN field
    packet.set_ecn(ecn);
    carry(packet, now_);
}

void VirtualLinks::change(std::uint32_t network, EventSpec change) {
    if (network >= networks_.size()) throw ScenarioError("change: names no network");
    const Part& part = networks_[network];
    change.at = Nanos(0);
    check_event(*part.scenario, change);
    if (!change.link) throw ScenarioError("change: needs a link");
    *change.link += part.first_link;
    apply(change);
}

void VirtualLinks::apply(const EventSpec& change) {
    Link& link = links_[*change.link];
    change_link(link, change, now_, [&](const Packet& packet) { leave(packet, now_, true); });
    if (link.next_event() < kNever) events_.schedule(*change.link, link.next_event());
}

// Offers a packet to the link of its current hop, or lets it leave after the last one.
void VirtualLinks::carry(Packet packet, Nanos at) {
    const std::uint32_t hop = routes_[packet.seq] + packet.hop;
    if (hop == routes_[packet.seq + 1]) return leave(packet, at, false);
    const std::uint32_t index = hops_[hop];
    Link& link = links_[index];
    const std::uint64_t draw = link.uses_draw() ? combine64(streams_[index], ++draws_[index]) : 0;
    switch (link.offer(packet, at, draw)) {
        case Verdict::Marked:
            packet.mark();
            [[fallthrough]];
        case Verdict::Accepted:
            link.hold(packet);
            break;
        case Verdict::Kept:
            take_refused(index, at);
            break;
        default:
            leave(packet, at, true);
            return;
    }
    events_.schedule(index, link.next_event());
}

// Returns the time of the link's next event.
Nanos VirtualLinks::on_link(std::uint32_t index, Nanos at) {
    Link& link = links_[index];
    if (!link.is_predictable()) {
        link.serve(at);
        take_refused(index, at);
    }
    if (link.next_arrival() > at) return link.next_event();  // a change delayed it, or a queue was served
    Packet packet = link.take_arrival();
    ++packet.hop;
    carry(packet, at);
    return link.next_event();
}

void VirtualLinks::take_refused(std::uint32_t index, Nanos at) {
    links_[index].take_dropped([&](const Packet& packet, Verdict) { leave(packet, at, true); });
}

void VirtualLinks::leave(const Packet& packet, Nanos at, bool is_lost) {
    leaving_.push_back({at, packet.extension, packet.seq, is_lost, packet.ecn() == Ecn::Marked});
}

}  // namespace subflow
