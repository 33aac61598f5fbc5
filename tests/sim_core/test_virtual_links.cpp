// Packets of any origin on the links of a scenario: the same times and losses as in a simulation, and marks in frames.
#ifdef __linux__
#include "virtual_links.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "frames.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace testing;

constexpr std::uint16_t kBytes = 1500;

// A datagram of 1500 bytes in each interval, as a CBR flow at `rate`.
Scenario stream_over(const PathOptions& options, BitsPerSec rate, Nanos duration) {
    Scenario scenario = textbook(duration);
    FlowSpec flow;
    flow.name = "stream";
    flow.kind = FlowKind::Cbr;
    flow.paths = {add_path(scenario, options)};
    DatagramSpec spec;
    spec.rate = rate;
    flow.datagrams = spec;
    scenario.flows.push_back(flow);
    return scenario;
}

EventSpec change_of(std::uint32_t link, Nanos at) {
    EventSpec event;
    event.at = at;
    event.link = link;
    return event;
}

struct Outcome {
    std::int64_t lost = 0;  // until the end of the stream, as are the next two
    LinkStats stats;
    std::int64_t max_queue = 0;
    std::vector<VirtualLinks::Leaving> left;  // also later
};

// The same datagrams, offered from outside.
Outcome carried(const Scenario& scenario, Nanos gap, Ecn ecn = Ecn::NotCapable) {
    VirtualLinks links;
    links.add_network(scenario, 1);
    const std::uint32_t route = links.add_route(scenario.flows[0].paths[0].forward);
    std::uint32_t frame = 0;
    for (Nanos at{}; at <= scenario.duration; at += gap) {
        links.advance(at);
        links.offer(route, frame++, kBytes, 7, ecn);
    }
    Outcome outcome;
    outcome.stats = links.links()[0].stats();
    outcome.max_queue = links.links()[0].max_queue_pkts();
    for (const VirtualLinks::Leaving& each : links.leaving()) outcome.lost += each.is_lost;
    links.advance(scenario.duration + 60_s);
    outcome.left = links.leaving();
    return outcome;
}

// Overload of 10 Mbit/s by 12 for 2 s, with each kind of queue and with changes.
TEST(VirtualLinks, TreatPacketsAsASimulationDoes) {
    std::map<std::string, Scenario> scenarios;
    const auto plain = [] { return stream_over({}, 12_Mbps, 2_s); };
    scenarios["drop-tail"] = plain();
    scenarios["CoDel"] = plain();
    scenarios["CoDel"].links[0].discipline = CodelOptions{};
    scenarios["FQ-CoDel"] = plain();
    scenarios["FQ-CoDel"].links[0].discipline = FqCodelOptions{};
    scenarios["a trace"] = plain();
    scenarios["a trace"].links[0].opportunities_ms = {1, 2, 2, 9, 10};
    scenarios["a token bucket"] = plain();
    scenarios["a token bucket"].links[0].bucket = TokenBucketOptions{Bytes(30'000), 100_Mbps};
    scenarios["changes"] = plain();
    EventSpec slower = change_of(0, 300_ms);
    slower.rate = 4_Mbps;
    EventSpec nearer = change_of(0, 700_ms);
    nearer.delay = 10_ms;
    EventSpec down = change_of(0, 1000_ms);
    down.up = false;
    EventSpec again = change_of(0, 1200_ms);
    again.up = true;
    scenarios["changes"].events = {slower, nearer, down, again};
    for (const auto& [name, scenario] : scenarios) {
        SCOPED_TRACE(name);
        const Network network = finished(scenario);
        const LinkStats& simulated = network.links()[0].stats();
        const Outcome outcome = carried(scenario, 1_ms);
        EXPECT_GT(simulated.packets_out, 100);
        EXPECT_EQ(outcome.stats.packets_in, simulated.packets_in);
        EXPECT_EQ(outcome.stats.packets_out, simulated.packets_out);
        EXPECT_EQ(outcome.stats.busy, simulated.busy);
        EXPECT_EQ(outcome.stats.queue_time, simulated.queue_time);
        EXPECT_EQ(outcome.stats.drops_queue, simulated.drops_queue);
        EXPECT_EQ(outcome.stats.drops_down, simulated.drops_down);
        EXPECT_EQ(outcome.max_queue, network.links()[0].max_queue_pkts());
        EXPECT_EQ(outcome.lost, simulated.drops_queue + simulated.drops_down);
    }
}

TEST(VirtualLinks, AddUpTheLinksOfARoute) {
    Scenario scenario = textbook(1_s);
    const PathSpec first = add_path(scenario, {12_Mbps, 10_ms});
    const PathSpec second = add_path(scenario, {6_Mbps, 20_ms});
    VirtualLinks links;
    links.add_network(scenario, 1);
    const std::array both{first.forward[0], second.forward[0]};
    const std::uint32_t there = links.add_route(both);
    const std::uint32_t none = links.add_route({});
    links.advance(5_ms);
    links.offer(there, 1, kBytes, 0, Ecn::NotCapable);
    links.offer(none, 2, kBytes, 0, Ecn::NotCapable);
    EXPECT_EQ(links.next_event(), 16_ms);
    links.advance(100_ms);
    ASSERT_EQ(links.leaving().size(), 2u);
    EXPECT_EQ(links.leaving()[0].frame, 2u);
    EXPECT_EQ(links.leaving()[0].at, 5_ms);
    EXPECT_EQ(links.leaving()[1].at, 5_ms + 11_ms + 22_ms);
    EXPECT_FALSE(links.leaving()[1].is_lost);
}

TEST(VirtualLinks, MarkCapablePacketsAndDropOthers) {
    CodelOptions codel;
    codel.marks = true;
    RedOptions red;
    red.marks = true;
    for (const Discipline& discipline : {Discipline(codel), Discipline(red), Discipline(DualPi2Options{})}) {
        Scenario scenario = stream_over({.queue_pkts = 1000}, 12_Mbps, 3_s);
        scenario.links[0].discipline = discipline;
        const Outcome capable = carried(scenario, 1_ms, Ecn::Ect0);
        const Outcome other = carried(scenario, 1_ms);
        std::int64_t marked = 0;
        for (const VirtualLinks::Leaving& each : capable.left) marked += each.is_marked && !each.is_lost;
        EXPECT_GT(capable.stats.marks, 10);
        EXPECT_GE(marked, capable.stats.marks);
        EXPECT_EQ(other.stats.marks, 0);
        EXPECT_GT(other.lost, 10);
    }
}

TEST(VirtualLinks, ApplyChangesAndRefuseWrongOnes) {
    Scenario scenario = stream_over({12_Mbps, 10_ms}, 1_Mbps, 1_s);
    VirtualLinks links;
    links.add_network(scenario, 1);
    const std::uint32_t route = links.add_route(scenario.flows[0].paths[0].forward);
    links.offer(route, 0, kBytes, 0, Ecn::NotCapable);
    links.offer(route, 1, kBytes, 0, Ecn::NotCapable);
    EventSpec change = change_of(0, Nanos(0));
    change.delay = 50_ms;
    links.change(0, change);
    change = change_of(0, Nanos(0));
    change.loss = 2;
    EXPECT_THROW(links.change(0, change), ScenarioError);
    EXPECT_THROW(links.change(1, change_of(0, Nanos(0))), ScenarioError);
    EXPECT_THROW(links.change(0, change_of(9, Nanos(0))), ScenarioError);
    change = change_of(0, Nanos(0));
    change.up = false;
    links.advance(1500_us);
    links.change(0, change);  // the second packet is in service and lost, the first on the wire
    links.advance(1_s);
    ASSERT_EQ(links.leaving().size(), 2u);
    EXPECT_TRUE(links.leaving()[0].is_lost);
    EXPECT_EQ(links.leaving()[0].frame, 1u);
    EXPECT_EQ(links.leaving()[1].at, 51_ms);
}

TEST(VirtualLinks, RefuseLinksThatNeedTheSimulation) {
    Scenario shared = stream_over({}, 1_Mbps, 1_s);
    shared.links[0].access.emplace();
    Scenario scripted = stream_over({}, 1_Mbps, 1_s);
    scripted.links[0].drops = {ScriptedDrop{}};
    VirtualLinks links;
    EXPECT_THROW(links.add_network(shared, 1), ScenarioError);
    EXPECT_THROW(links.add_network(scripted, 1), ScenarioError);
    EXPECT_TRUE(links.links().empty());
}

// --- frames ----------------------------------------------------------------------------------------------------------

using Frame = std::vector<std::uint8_t>;

// 10.0.0.1:4660 to 10.0.0.2:80 with the given ECN field.
Frame ipv4_frame(std::uint8_t protocol, std::uint8_t ecn) {
    Frame frame(54);
    frame[12] = 8;
    frame[14] = 0x45;
    frame[15] = static_cast<std::uint8_t>(0xb8 | ecn);
    frame[17] = 40;
    frame[22] = 64;
    frame[23] = protocol;
    const std::array<std::uint8_t, 8> addresses{10, 0, 0, 1, 10, 0, 0, 2};
    std::ranges::copy(addresses, frame.begin() + 26);
    const std::array<std::uint8_t, 4> ports{0x12, 0x34, 0, 80};
    std::ranges::copy(ports, frame.begin() + 34);
    std::uint32_t sum = 0;
    for (std::size_t at = 14; at < 34; at += 2) sum += static_cast<std::uint32_t>(frame[at] << 8 | frame[at + 1]);
    const std::uint32_t folded = ~((sum & 0xffff) + (sum >> 16));
    frame[24] = static_cast<std::uint8_t>(folded >> 8);
    frame[25] = static_cast<std::uint8_t>(folded);
    return frame;
}

Frame ipv6_frame(std::uint8_t ecn) {
    Frame frame(74);
    frame[12] = 0x86;
    frame[13] = 0xdd;
    frame[14] = 0x60;
    frame[15] = static_cast<std::uint8_t>(ecn << 4 | 3);
    frame[20] = 17;
    frame[22] = 0xfd;
    frame[37] = 1;
    frame[38] = 0xfd;
    frame[53] = 2;
    frame[55] = 9;
    frame[57] = 53;
    return frame;
}

bool has_valid_checksum(const Frame& frame) {
    std::uint32_t sum = 0;
    for (std::size_t at = 14; at < 34; at += 2) sum += static_cast<std::uint32_t>(frame[at] << 8 | frame[at + 1]);
    return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

TEST(Frames, ShowAddressesFlowsAndEcn) {
    const FrameFields tcp = fields_of(ipv4_frame(6, 2));
    EXPECT_EQ(tcp.ecn, Ecn::Ect0);
    EXPECT_EQ(tcp.source, 0x0a000001u);
    EXPECT_EQ(tcp.destination, 0x0a000002u);
    Frame other_port = ipv4_frame(6, 2);
    other_port[37] = 81;
    EXPECT_NE(fields_of(other_port).flow, tcp.flow);
    EXPECT_EQ(fields_of(ipv4_frame(6, 0)).flow, tcp.flow);
    Frame fragment = other_port;
    fragment[20] = 0x20;
    EXPECT_EQ(fields_of(fragment).flow, [&] {
        Frame also = ipv4_frame(6, 2);
        also[20] = 0x20;
        return fields_of(also).flow;
    }());
    EXPECT_EQ(fields_of(ipv6_frame(1)).ecn, Ecn::Ect1);
    EXPECT_EQ(fields_of(ipv6_frame(1)).source, 0u);
    Frame arp(60);
    arp[12] = 8;
    arp[13] = 6;
    EXPECT_EQ(fields_of(arp).flow, 0u);
    const Frame whole = ipv6_frame(2);
    for (std::size_t size = 0; size < whole.size(); ++size) fields_of(std::span(whole).first(size));  // sanitizers
}

TEST(Frames, ShowTheEndsOfDatagrams) {
    const std::optional<UdpEnds> six = udp_ends_of(ipv6_frame(0));
    ASSERT_TRUE(six);
    EXPECT_EQ(six->source, "fd00::1");
    EXPECT_EQ(six->destination, "fd00::2");
    EXPECT_EQ(six->source_port, 9);
    EXPECT_EQ(six->destination_port, 53);
    EXPECT_EQ(udp_ends_of(ipv4_frame(17, 0))->destination, "10.0.0.2");
    EXPECT_FALSE(udp_ends_of(ipv4_frame(6, 0)));
    EXPECT_FALSE(udp_ends_of(Frame(20)));
}

TEST(Frames, AreMarkedWithAValidChecksum) {
    for (std::uint8_t ecn = 1; ecn <= 3; ++ecn) {
        Frame frame = ipv4_frame(6, ecn);
        ASSERT_TRUE(has_valid_checksum(frame));
        mark_frame(frame);
        EXPECT_EQ(fields_of(frame).ecn, Ecn::Marked);
        EXPECT_EQ(frame[15] & 0xfc, 0xb8);
        EXPECT_TRUE(has_valid_checksum(frame));
        Frame six = ipv6_frame(ecn);
        mark_frame(six);
        EXPECT_EQ(fields_of(six).ecn, Ecn::Marked);
        EXPECT_EQ(six[15] & 0x0f, 3);
    }
}

}  // namespace
}  // namespace subflow
#endif
