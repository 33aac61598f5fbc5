// Random networks with random events: whatever happens, packets are conserved, books balance, data arrives once and in
// order.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "cc/controllers.h"
#include "network.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace testing;

class Draws {
public:
    explicit Draws(std::uint64_t seed) : seed_(seed) {}
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
    }
    bool chance(double p) { return to_unit_interval(next()) < p; }
    // Log-uniform, so that small and large values are equally likely.
    double scale(double low, double high) { return low * std::pow(high / low, to_unit_interval(next())); }

private:
    std::uint64_t next() { return combine64(seed_, count_++); }
    std::uint64_t seed_;
    std::uint64_t count_ = 0;
};

std::optional<std::int64_t> random_queue(Draws& draw) {
    return draw.chance(0.1) ? std::nullopt : std::optional(draw.between(1, 200));
}

void add_random_link(Scenario& scenario, Draws& draw) {
    for (const char* direction : {"forward", "reverse"}) {
        LinkSpec link;
        link.name = "link" + std::to_string(scenario.links.size() / 2) + "/" + direction;
        link.rate = BitsPerSec(draw.scale(1e5, 1e8));
        link.delay = Nanos(draw.between(0, 100'000'000));
        link.queue_limit_pkts = random_queue(draw);
        if (draw.chance(0.2)) link.queue_limit_bytes = Bytes(draw.between(1500, 100'000));
        if (draw.chance(0.5)) link.loss = draw.scale(1e-4, 0.3);
        scenario.links.push_back(link);
    }
}

PathSpec random_path(const Scenario& scenario, Draws& draw) {
    PathSpec path;
    const auto links = static_cast<std::int64_t>(scenario.links.size() / 2);
    for (std::int64_t hop = draw.between(1, 4); hop > 0; --hop) {
        const auto link = static_cast<std::uint32_t>(2 * draw.between(0, links - 1));
        path.forward.push_back(link);
        path.reverse.insert(path.reverse.begin(), link + 1);
    }
    return path;
}

void add_random_flow(Scenario& scenario, Draws& draw) {
    const auto infos = controller_infos();
    FlowSpec flow;
    flow.name = "flow" + std::to_string(scenario.flows.size());
    flow.kind = draw.chance(0.2) ? FlowKind::Cbr : draw.chance(0.6) ? FlowKind::Mptcp : FlowKind::Tcp;
    flow.controller.name = infos[static_cast<std::size_t>(draw.between(0, std::ssize(infos) - 1))]->name;
    flow.scheduler.name = "minrtt";
    const std::int64_t paths = flow.kind == FlowKind::Mptcp ? draw.between(1, 5) : 1;
    for (std::int64_t i = 0; i < paths; ++i) flow.paths.push_back(random_path(scenario, draw));
    flow.start = Nanos(draw.between(0, 2'000'000'000));
    if (draw.chance(0.3)) flow.stop = flow.start + Nanos(draw.between(1, 8'000'000'000));
    if (flow.kind == FlowKind::Cbr) {
        flow.cbr_rate = BitsPerSec(draw.scale(1e4, 2e7));
        flow.cbr_packet = Bytes(draw.between(64, 1500));
    } else {
        if (draw.chance(0.5)) flow.size = Bytes(draw.between(1, 2'000'000));
        if (draw.chance(0.4)) flow.recv_buffer = Bytes(draw.between(1448, 300'000));
    }
    scenario.flows.push_back(flow);
}

void add_random_event(Scenario& scenario, Draws& draw, Nanos at) {
    EventSpec event;
    event.at = at;
    if (draw.chance(0.3)) {
        event.flow = static_cast<std::uint32_t>(draw.between(0, std::ssize(scenario.flows) - 1));
        if (draw.chance(0.7))
            event.subflow =
                static_cast<std::uint32_t>(draw.between(0, std::ssize(scenario.flows[*event.flow].paths) - 1));
        event.open = draw.chance(0.5);
    } else {
        event.link = static_cast<std::uint32_t>(draw.between(0, std::ssize(scenario.links) - 1));
        if (draw.chance(0.4)) event.rate = BitsPerSec(draw.scale(1e5, 1e8));
        if (draw.chance(0.4)) event.delay = Nanos(draw.between(0, 100'000'000));
        if (draw.chance(0.3)) event.loss = draw.chance(0.1) ? 1.0 : draw.scale(1e-4, 0.3);
        if (draw.chance(0.3)) event.up = draw.chance(0.6);
        event.sets_queue = draw.chance(0.3);
        if (event.sets_queue) event.queue_limit_pkts = random_queue(draw);
    }
    scenario.events.push_back(event);
}

Scenario random_scenario(std::uint64_t seed) {
    Draws draw(seed);
    Scenario scenario = draw.chance(0.7) ? linux_profile(10_s) : textbook(10_s);
    scenario.warmup = Nanos(draw.between(0, 3'000'000'000));
    if (draw.chance(0.5)) scenario.start_jitter = 1_s;
    for (std::int64_t i = draw.between(1, 6); i > 0; --i) add_random_link(scenario, draw);
    for (std::int64_t i = draw.between(1, 8); i > 0; --i) add_random_flow(scenario, draw);
    Nanos at{};
    for (std::int64_t i = draw.between(0, 12); i > 0; --i) {
        at += Nanos(draw.between(0, 2'000'000'000));
        add_random_event(scenario, draw, at);
    }
    return scenario;
}

// SUBFLOW_FUZZ_SCENARIOS asks for more than the few hundred of every test run, e.g. for a night's worth.
std::uint64_t scenario_count() {
    const char* wanted = std::getenv("SUBFLOW_FUZZ_SCENARIOS");
    return wanted == nullptr ? 200 : std::strtoull(wanted, nullptr, 10);
}

TEST(Fuzz, InvariantsHoldInRandomNetworks) {
    for (std::uint64_t seed = 0; seed < scenario_count(); ++seed) {
        SCOPED_TRACE("scenario " + std::to_string(seed));
        const Scenario scenario = random_scenario(seed);
        Network network(scenario, seed);
        Network repeated(scenario, seed);
        for (Nanos t = 500_ms; t <= scenario.duration; t += 500_ms) {
            network.run_until(t);
            network.check_invariants();
        }
        repeated.run_until(scenario.duration);
        ASSERT_EQ(network.signature(), repeated.signature());
        for (std::size_t i = 0; i < scenario.flows.size(); ++i) {
            const Connection& c = network.connections()[i];
            ASSERT_LE(c.delivered_bytes, scenario.flows[i].size.value_or(Bytes(1LL << 60)).value);
            if (c.kind == FlowKind::Cbr) continue;
            std::int64_t by_subflow = 0;
            for (std::uint32_t s = c.first_subflow; s < c.first_subflow + c.subflow_count; ++s)
                by_subflow += network.subflows()[s].goodput_bytes;
            ASSERT_EQ(by_subflow, c.delivered_bytes);
        }
        for (std::size_t i = 0; i < scenario.links.size(); ++i) {
            ASSERT_GE(network.link_result(i).utilisation, 0);
            ASSERT_LE(network.link_result(i).utilisation, 1 + 1e-9);
            ASSERT_GE(network.link_result(i).mean_queue_pkts, -1e-9);
        }
    }
}

}  // namespace
}  // namespace subflow
