// The links of scenarios in virtual time, which carry packets of any origin along given routes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "event_queue.h"
#include "link.h"
#include "scenario.h"
#include "units.h"

namespace subflow {

// Unlike in Network, packets have neither a sender nor a receiver here: they come from outside, cross the links of
// their route, and leave. Queues, losses, delays, traces and events are those of the simulation. Links of shared media
// need stations that know each other, and losses by packet number need the packets of a flow: both are refused.
class VirtualLinks {
public:
    // A packet at the end of its route, or where it was lost.
    struct Leaving {
        Nanos at{};
        std::uint32_t frame = 0;  // number that the caller gave the packet
        std::uint32_t route = 0;
        bool is_lost = false;
        bool is_marked = false;
    };

    VirtualLinks() = default;

    // Adds the links of a scenario, which must outlive this object, and its events of links; returns the index of the
    // first link. Networks count from 0. Call it before the first packet. Throws ScenarioError if a link cannot be
    // emulated.
    std::uint32_t add_network(const Scenario& scenario, std::uint64_t seed);
    // Adds a route over these links, in order, and returns its number. A route without links passes packets at once.
    std::uint32_t add_route(std::span<const std::uint32_t> links);

    // Carries out all events up to `now`, which must not decrease; leaving() then contains the packets that have left.
    void advance(Nanos now);
    // Offers a packet to the first link of its route at the time of the latest advance(). `flow` identifies the
    // packet's connection for queues per flow.
    void offer(std::uint32_t route, std::uint32_t frame, std::uint16_t size, std::uint32_t flow, Ecn ecn);
    // Applies a change to a link of a network now. Throws ScenarioError if the values are not usable.
    void change(std::uint32_t network, EventSpec change);

    // Packets that have left since the caller emptied the list, in the order of their times.
    std::vector<Leaving>& leaving() { return leaving_; }
    Nanos next_event() const { return std::min(events_.next_time(), next_change()); }
    Nanos now() const { return now_; }
    const std::vector<Link>& links() const { return links_; }
    std::vector<Link>& links() { return links_; }

private:
    Nanos next_change() const { return changed_ < changes_.size() ? changes_[changed_].at : kNever; }
    void apply(const EventSpec& change);
    void carry(Packet packet, Nanos at);
    Nanos on_link(std::uint32_t index, Nanos at);
    void take_refused(std::uint32_t index, Nanos at);
    void leave(const Packet& packet, Nanos at, bool is_lost);

    struct Part {
        const Scenario* scenario;
        std::uint32_t first_link;
    };

    Nanos now_{};
    std::vector<Part> networks_;
    std::vector<Link> links_;
    std::vector<std::uint64_t> streams_;  // [link] seed of the draws of its packets
    std::vector<std::uint64_t> draws_;    // [link] packets that have drawn
    std::vector<std::uint32_t> hops_;     // links of all routes
    std::vector<std::uint32_t> routes_;   // [route] first hop; one more entry marks the end
    std::vector<EventSpec> changes_;      // of all networks, in time order
    std::size_t changed_ = 0;
    EventQueue events_;
    std::vector<Leaving> leaving_;
};

}  // namespace subflow
