// The checks themselves: each fails when a test corrupts the state that it guards.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "event_queue.h"
#include "network.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace testing;

// Observers receive references to const; the objects behind them are not const.
template <class T>
T& broken(const T& value) {
    return const_cast<T&>(value);
}

struct Fault {
    const char* what;
    const char* named;  // part of the condition that finds it
    std::function<void(Network&)> inflict;
};

TEST(Invariants, EachFindsWhatItGuards) {
    Scenario scenario = linux_profile(10_s);
    add_mptcp(scenario, {add_path(scenario, {.loss = 0.01}), add_path(scenario, {.one_way = 10_ms})}, "lia");
    FlowSpec cbr;
    cbr.name = "cbr";
    cbr.kind = FlowKind::Cbr;
    cbr.datagrams.rate = BitsPerSec(1e6);
    cbr.paths = {scenario.flows[0].paths[0]};
    scenario.flows.push_back(cbr);
    Network sound(scenario, 1);
    sound.run_until(5_s);
    ASSERT_NO_THROW(sound.check_invariants());

    const auto sender = [](Network& n) -> SubflowSender& { return broken(n.subflows()[0].sender); };
    const Fault faults[] = {
        {"a packet that vanished on a link", "packets_in",
         [](Network& n) { ++broken(n.links()[0].stats()).packets_in; }},
        {"a packet taken off a link and gone", "arrived_pkts",
         [](Network& n) {
             for (Link& link : n.links()) {
                 if (link.packets_under_way() > 0) {
                     link.take_arrival();
                     return;
                 }
             }
         }},
        {"a packet sent that never entered the network", "under_way",
         [&](Network& n) { ++broken(sender(n).stats()).packets_sent; }},
        {"a drop that was not counted", "under_way", [](Network& n) { --broken(n.subflows()[0]).dropped_pkts; }},
        {"a datagram that was dropped and arrived", "under_way",
         [](Network& n) { ++broken(n.subflows()[2]).dropped_pkts; }},
        {"a window that is no number", "cwnd_pkts",
         [&](Network& n) { broken(sender(n).window()).cwnd_pkts = std::nan(""); }},
        {"a window without room for a packet", "cwnd_pkts",
         [&](Network& n) { broken(sender(n).window()).cwnd_pkts = 0.5; }},
        {"a threshold that is no number", "ssthresh_pkts",
         [&](Network& n) { broken(sender(n).window()).ssthresh_pkts = std::nan(""); }},
        {"a receiver ahead of its sender", "rcv_nxt",
         [](Network& n) {
             broken(n.subflows()[0].receiver) = [&] {
                 SubflowReceiver ahead;
                 ReceiveBuffer buffer;
                 for (std::uint32_t seq = 0; seq <= n.subflows()[0].sender.snd_nxt(); ++seq)
                     ahead.on_data(seq, 1448, Nanos(0), 0, Nanos(0), buffer, TransportOptions{});
                 return ahead;
             }();
         }},
        {"data acknowledged before it was delivered", "data_una",
         [](Network& n) { broken(n.connections()[0]).data_una = n.connections()[0].reassembly.next() + 1; }},
        {"data sent beyond the receive window", "right_edge",
         [](Network& n) { broken(n.connections()[0]).right_edge = n.connections()[0].data_nxt - 1; }},
        {"a byte delivered twice", "delivered_bytes", [](Network& n) { ++broken(n.connections()[0]).delivered_bytes; }},
    };
    for (const Fault& fault : faults) {
        Network network = sound;
        fault.inflict(network);
        try {
            network.check_invariants();
            ADD_FAILURE() << fault.what << " went unnoticed";
        } catch (const InternalError& error) {
            EXPECT_NE(std::string(error.what()).find(fault.named), std::string::npos)
                << fault.what << ": " << error.what();
        }
    }
    EXPECT_NO_THROW(sound.check_invariants());
}

TEST(Invariants, EventsGoForwardInTimeAndBySourceAmongEquals) {
    EventQueue events(4);
    for (const std::uint32_t source : {3u, 1u, 2u, 0u}) events.schedule(source, source == 0 ? 7_ns : 5_ns);
    events.check_invariants();
    std::vector<std::pair<std::int64_t, std::uint32_t>> order;
    while (!events.empty()) {
        events.dispatch([&](std::uint32_t source, Nanos time) {
            order.emplace_back(time.value, source);
            return kNever;
        });
        events.check_invariants();
    }
    EXPECT_EQ(order, (std::vector<std::pair<std::int64_t, std::uint32_t>>{{5, 1}, {5, 2}, {5, 3}, {7, 0}}));
}

TEST(Invariants, AnEventThatWantsToFireInThePastIsFound) {
    EventQueue events(1);
    events.schedule(0, 5_ns);
    EXPECT_THROW(events.dispatch([](std::uint32_t, Nanos) { return 4_ns; }), InternalError);
}

}  // namespace
}  // namespace subflow
