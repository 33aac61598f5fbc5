#include "scenario_checks.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <sstream>

#include "estimate.h"
#include "instant.h"
#include "json.h"
#include "scenario_json.h"
#include "simulation.h"

namespace subflow::testing {
namespace {

void require(bool condition, const std::string& what) {
    if (!condition) throw InternalError(what);
}

// All results of a run in one text: equal runs have equal texts, digit for digit.
std::string results_of(const Network& network) {
    std::ostringstream out;
    out << std::hexfloat << network.signature() << ' ' << network.packets_delivered() << ' '
        << network.link_crossings();
    for (std::size_t i = 0; i < network.connections().size(); ++i) {
        const FlowResult r = network.flow_result(i);
        out << " flow " << r.goodput_bps << ' ' << r.completion_s << ' ' << r.mean_rtt_s << ' ' << r.p95_rtt_s << ' '
            << r.loss_ratio << ' ' << r.retransmits << ' ' << r.reinjections << ' ' << r.duplicates << ' '
            << r.mean_hol_blocking_s << ' ' << r.max_reorder_queue_bytes;
        const Connection& c = network.connections()[i];
        out << " data " << c.data_una << ' ' << c.data_acked_at.value << ' ' << c.delivered_bytes << ' '
            << c.ended_at.value;
    }
    for (std::size_t i = 0; i < network.subflows().size(); ++i) {
        const SubflowResult r = network.subflow_result(i);
        out << " subflow " << r.throughput_bps << ' ' << r.goodput_bps << ' ' << r.mean_rtt_s << ' ' << r.loss_ratio
            << ' ' << r.retransmits << ' ' << r.timeouts << ' ' << r.packets.sent;
    }
    for (std::size_t i = 0; i < network.links().size(); ++i) {
        const LinkResult r = network.link_result(i);
        out << " link " << r.utilisation << ' ' << r.drops_queue << ' ' << r.drops_random << ' ' << r.drops_down << ' '
            << r.mean_queue_pkts << ' ' << r.max_queue_pkts;
    }
    return out.str();
}

// All measured delays in one text.
std::string delays_of(const Network& network) {
    std::ostringstream out;
    out << std::hexfloat;
    const auto tell = [&](const std::optional<DelayResult>& r) {
        if (!r) return;
        out << ' ' << r->mean_s << ' ' << r->p95_s << ' ' << r->max_s << ' ' << r->mean_jitter_s << ' '
            << r->reordered_pkts << ' ' << r->max_extent_pkts << ' ' << r->mean_ack_s << ' ' << r->p95_ack_s << ' '
            << r->max_ack_s;
    };
    for (std::size_t i = 0; i < network.connections().size(); ++i) tell(network.flow_result(i).delays);
    for (std::size_t i = 0; i < network.subflows().size(); ++i) tell(network.subflow_result(i).delays);
    return out.str();
}

// Hash of every bit of every sample, so that a missing value equals a missing value.
std::uint64_t hash_of_traces(const Recorder& recorder) {
    std::uint64_t hash = 0;
    for (std::size_t column = 0; column < recorder.columns().size(); ++column)
        for (const float value : recorder.values(column)) hash = combine64(hash, std::bit_cast<std::uint32_t>(value));
    return hash;
}

void check_books(const Network& network) {
    const Scenario& scenario = network.scenario();
    for (std::size_t i = 0; i < scenario.flows.size(); ++i) {
        const FlowSpec& flow = scenario.flows[i];
        const Connection& c = network.connections()[i];
        if (flow.size) require(c.delivered_bytes <= flow.size->value, "more was delivered than the flow has");
        const double active_s = network.flow_result(i).active_s;
        require(active_s >= 0 && active_s <= to_seconds(network.now()), "a flow was active for longer than the run");
        if (sends_datagrams(c.kind)) continue;
        std::int64_t by_subflow = 0;
        for (std::uint32_t s = c.first_subflow; s < c.first_subflow + c.subflow_count; ++s)
            by_subflow += network.subflows()[s].goodput_bytes;
        require(by_subflow == c.delivered_bytes, "the subflows' goodput is not the connection's");
    }
    for (std::size_t i = 0; i < scenario.links.size(); ++i) {
        const LinkResult r = network.link_result(i);
        require(r.utilisation >= 0 && r.utilisation <= 1 + 1e-9, "a link was used less than nothing or more than full");
        require(r.mean_queue_pkts >= -1e-9, "a queue was shorter than empty");
    }
}

// The visible state of a network agrees with its counters: every packet in flight has one place, queues are in order.
void check_instant(const Network& network) {
    const Instant seen = inspect(network);
    const PacketsUnderWay& packets = seen.packets;
    std::size_t next = 0;
    for (std::size_t i = 0; i < network.links().size(); ++i) {
        const Link& link = network.links()[i];
        std::int32_t queued = 0;
        std::int64_t bytes = 0;
        std::int64_t here = 0;
        for (; next < packets.link.size() && packets.link[next] == static_cast<std::int32_t>(i); ++next, ++here) {
            const std::int32_t position = packets.queue_position[next];
            require(position == (position == -1 && queued == 0 ? -1 : queued++), "a packet is not in its place");
            require(packets.progress[next] >= 0 && packets.progress[next] <= (position == -1 ? 1 : 0),
                    "a packet is beside the wire");
            if (position != -1) bytes += packets.size_bytes[next];
        }
        require(here == link.packets_under_way(), "packets under way are not to be seen");
        require(queued == link.queue_pkts(seen.now) && queued == seen.links.queue_pkts[i], "a queue looks otherwise");
        require(bytes == seen.links.queue_bytes[i], "a queue looks heavier or lighter");
        require(link.stats().packets_in == seen.links.delivered_pkts[i] + seen.links.dropped_pkts[i] + here,
                "packets offered to a link got lost from sight");
    }
    require(next == packets.link.size(), "packets are not in the order of their links");
}

void check_steps(const Scenario& scenario, std::uint64_t seed, Draws& draw, const std::string& expected) {
    const Nanos interval(draw.between(1'000'000, 3'000'000'000));
    Simulation simulation(scenario, seed, interval);
    if (draw.chance(0.5)) simulation.network().record_decisions({.capacity = 1000});
    std::optional<Simulation::Snapshot> snapshot;
    for (int stops = 0; !simulation.is_finished(); ++stops) {
        // Half of the steps end at a time, the others after a number of events; some end at a past time. The limit
        // keeps inputs with only the shortest steps from running forever.
        if (stops == 100) {
            simulation.run_until(scenario.duration);
        } else if (draw.chance(0.5)) {
            const auto ahead = static_cast<std::int64_t>(draw.scale(1, 4e9));
            simulation.run_until(simulation.now() + Nanos(ahead - 1000));
        } else {
            simulation.run_until(scenario.duration, draw.between(1, 20'000));
        }
        simulation.network().check_invariants();
        check_instant(simulation.network());
        if (!snapshot && draw.chance(0.2)) snapshot = simulation.snapshot();
    }
    const auto results = [](const Network& network) { return results_of(network) + delays_of(network); };
    require(results(simulation.network()) == expected,
            "steps or records made a difference: " + results(simulation.network()) + " not " + expected);
    require(simulation.recorder().count() == static_cast<std::size_t>(scenario.duration / interval),
            "samples are missing");
    if (!snapshot) return;
    const std::uint64_t traces = hash_of_traces(simulation.recorder());
    const std::unique_ptr<Simulation> fork = simulation.fork(*snapshot);
    for (Simulation* each : {&simulation, fork.get()}) {
        if (each == &simulation) each->restore(*snapshot);
        each->run_until(scenario.duration);
        require(results(each->network()) == expected, "what followed a snapshot was another run");
        require(hash_of_traces(each->recorder()) == traces, "what followed a snapshot left other traces");
    }
}

// A record of packets has the DATA_ACK of each acknowledgement, so that the receiver reassembles data on arrival and
// not later: from the start, or from the middle of the run.
void check_capture(const Scenario& scenario, std::uint64_t seed, const std::string& expected) {
    Network network(scenario, seed);
    if (seed % 2 == 0) network.run_until(scenario.duration / 2);
    for (std::uint32_t flow = 0; flow < scenario.flows.size(); ++flow) network.capture_packets(flow, 1000);
    network.run_until(scenario.duration);
    network.check_invariants();
    require(results_of(network) == expected,
            "a record of packets made a difference: " + results_of(network) + " not " + expected);
}

// Some events come as live changes instead: a run that receives them a nanosecond earlier equals the run of the
// scenario with these events, which follow its own at the same time.
void check_live_changes(const Scenario& scenario, std::uint64_t seed, Draws& draw) {
    Scenario surprised = scenario;
    Scenario replayed = scenario;
    surprised.events.clear();
    replayed.events.clear();
    std::vector<EventSpec> live;
    for (const EventSpec& event : scenario.events) {
        const bool comes_live = event.at > Nanos(0) && event.at <= scenario.duration && draw.chance(0.7);
        (comes_live ? live : surprised.events).push_back(event);
    }
    replayed.events = surprised.events;
    replayed.events.insert(replayed.events.end(), live.begin(), live.end());
    std::ranges::stable_sort(live, {}, &EventSpec::at);

    Network whole(replayed, seed);
    whole.run_until(replayed.duration);
    Network network(surprised, seed);
    const auto end_live = [&](std::size_t next) {
        for (; next < live.size(); ++next) {
            for (int stops = 0; stops < 3 && network.now() < live[next].at - Nanos(1) && draw.chance(0.5); ++stops)
                network.run_until(Nanos(draw.between(network.now().value, live[next].at.value - 1)));
            network.run_until(live[next].at - Nanos(1));
            require(network.apply(std::span(&live[next], 1)) == live[next].at, "a live change came at another time");
            network.check_invariants();
        }
        network.run_until(surprised.duration);
        network.check_invariants();
        require(results_of(network) == results_of(whole),
                "live changes and events of the scenario differ: " + results_of(network) + " not " + results_of(whole));
    };
    // Once without a break, and once from a copy made in the middle, with changes before and after it.
    const Network beginning = network;
    end_live(0);
    if (live.empty()) return;
    network = beginning;
    network.run_until(live.front().at - Nanos(1));
    network.apply(std::span(live.data(), 1));
    const Network copied = network;
    network.run_until(surprised.duration);
    network = copied;
    end_live(1);
}

// With unusual weights any rate may pay for a controller that tries rates, and a controller with a given rate may send
// at it: their load has no bound.
bool tries_any_rate(const AlgorithmChoice& choice) {
    const bool monitors = monitors_intervals(make_controller(choice));
    for (const AlgorithmInfo* info : controller_infos()) {
        if (info->name != choice.name) continue;
        for (const OptionValue& given : choice.options) {
            const auto option = std::ranges::find(info->options, given.key, &OptionInfo::key);
            if (option->kind == OptionKind::Rate || (monitors && option->key != "base")) return true;
        }
    }
    return false;
}

bool tries_any_rate(const Scenario& scenario) {
    const auto flow_does = [](const FlowSpec& flow) {
        return !sends_datagrams(flow.kind) && tries_any_rate(flow.controller);
    };
    const auto event_does = [](const EventSpec& event) {
        return event.controller && tries_any_rate(*event.controller);
    };
    return std::ranges::any_of(scenario.flows, flow_does) || std::ranges::any_of(scenario.events, event_does);
}

}  // namespace

void check_json(const Scenario& scenario) {
    const std::string text = write_scenario(scenario);
    const Scenario read = read_scenario(text, {policies_of(scenario)}, kMaxJsonValues);
    require(write_scenario(read) == text, "a scenario that was written and read is another one: " + text);
}

Network run_and_check(const Scenario& scenario, std::uint64_t seed, Draws& draw) {
    Network network(scenario, seed);
    network.run_until(scenario.duration);
    network.check_invariants();
    check_books(network);
    if (draw.chance(0.5)) {
        check_steps(scenario, seed, draw, results_of(network));
    } else {
        Scenario measured = scenario;
        for (FlowSpec& flow : measured.flows) flow.one_way_delay = true;
        Network observed(measured, seed);
        observed.run_until(measured.duration);
        require(results_of(observed) == results_of(network), "the measurement of delays made a difference");
        check_steps(measured, seed, draw, results_of(observed) + delays_of(observed));
    }
    check_capture(scenario, seed, results_of(network));
    if (!scenario.events.empty()) check_live_changes(scenario, seed, draw);
    if (tries_any_rate(scenario)) return network;
    // Twice the estimate, for paths that cross a link more than once; and a few packets for short runs. On-off sources
    // count as always on, because their draws may have no pauses.
    Scenario steady = scenario;
    for (FlowSpec& flow : steady.flows)
        if (flow.kind == FlowKind::OnOff) flow.kind = FlowKind::Cbr;
    const double told = estimate(steady, scenario.duration).link_crossings;
    require(static_cast<double>(network.link_crossings()) <= 2 * told + 1000,
            "more links were crossed than estimated: " + std::to_string(network.link_crossings()) + " of " +
                std::to_string(told));
    return network;
}

std::string describe(const AlgorithmChoice& choice) {
    std::ostringstream out;
    out << choice.name;
    for (const OptionValue& option : choice.options) {
        out << ' ' << option.key << '=';
        std::visit([&](const auto& value) { out << value; }, option.value);
    }
    return out.str();
}

std::string describe(const Scenario& scenario) {
    std::ostringstream out;
    const auto route = [&](const std::vector<std::uint32_t>& links) {
        for (const std::uint32_t link : links) out << ' ' << link;
    };
    out << "duration " << to_seconds(scenario.duration) << " s, warm-up " << to_seconds(scenario.warmup) << " s, mss "
        << scenario.mss.value << ", jitter " << to_seconds(scenario.start_jitter) << " s, delayed ACKs "
        << static_cast<int>(scenario.transport.delayed_ack) << '\n';
    for (std::size_t i = 0; i < scenario.links.size(); ++i) {
        const LinkSpec& link = scenario.links[i];
        out << "link " << i << ' ' << link.name << ": " << link.rate.value << " bit/s, " << link.delay.value
            << " ns, queue " << link.queue_limit_pkts.value_or(-1) << " packets, "
            << link.queue_limit_bytes.value_or(Bytes(-1)).value << " bytes, loss " << link.loss << '\n';
    }
    for (const FlowSpec& flow : scenario.flows) {
        out << "flow " << flow.name << ", kind " << static_cast<int>(flow.kind) << ", " << describe(flow.controller)
            << ", " << describe(flow.scheduler) << ": " << flow.start.value << " to " << flow.stop.value << " ns, size "
            << flow.size.value_or(Bytes(-1)).value << ", buffers " << flow.recv_buffer.value_or(Bytes(-1)).value << ' '
            << flow.send_buffer.value_or(Bytes(-1)).value << ", lifetime " << flow.lifetime.value
            << " ns, datagrams of " << flow.datagrams.packet.value << " at " << flow.datagrams.rate.value
            << ", spacing " << static_cast<int>(flow.datagrams.spacing) << ", on " << flow.datagrams.mean_on.value
            << " ns, off " << flow.datagrams.mean_off.value << " ns";
        for (const PathSpec& path : flow.paths) {
            out << (path.is_backup ? "; backup" : "; path");
            route(path.forward);
            out << " back";
            route(path.reverse);
        }
        out << '\n';
    }
    for (const EventSpec& event : scenario.events) {
        out << "event at " << event.at.value << " ns:";
        if (event.link) out << " link " << *event.link;
        if (event.flow) out << " flow " << *event.flow;
        if (event.subflow) out << " subflow " << *event.subflow;
        if (event.rate) out << " rate " << event.rate->value;
        if (event.delay) out << " delay " << event.delay->value;
        if (event.loss) out << " loss " << *event.loss;
        if (event.sets_queue)
            out << " queue " << event.queue_limit_pkts.value_or(-1) << ' '
                << event.queue_limit_bytes.value_or(Bytes(-1)).value;
        if (event.up) out << " up " << *event.up;
        if (event.open) out << " open " << *event.open;
        if (event.backup) out << " backup " << *event.backup;
        if (event.announce) out << " announce " << *event.announce;
        if (event.refuse) out << " refuse " << *event.refuse;
        out << '\n';
    }
    return out.str();
}

void spoil(Scenario& scenario, Draws& draw) {
    static constexpr double kNumbers[] = {
        0, -1, -0.0, 1e-300, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
    static constexpr std::int64_t kWholes[] = {0,
                                               -1,
                                               1,
                                               65'535,
                                               65'536,
                                               std::int64_t{1} << 31,
                                               std::int64_t{1} << 40,
                                               std::numeric_limits<std::int64_t>::max(),
                                               std::numeric_limits<std::int64_t>::min()};
    const auto number = [&] { return kNumbers[static_cast<std::size_t>(draw.between(0, std::ssize(kNumbers) - 1))]; };
    const auto whole = [&] { return kWholes[static_cast<std::size_t>(draw.between(0, std::ssize(kWholes) - 1))]; };
    const auto pick = [&](auto& items) -> auto& {
        return items[static_cast<std::size_t>(draw.between(0, std::ssize(items) - 1))];
    };
    for (std::int64_t i = draw.between(1, 3); i > 0; --i) {
        LinkSpec& link = pick(scenario.links);
        FlowSpec& flow = pick(scenario.flows);
        switch (draw.between(0, 20)) {
            case 0:
                scenario.duration = Nanos(whole());
                break;
            case 1:
                scenario.warmup = Nanos(whole());
                break;
            case 2:
                scenario.mss = Bytes(whole());
                break;
            case 3:
                scenario.start_jitter = Nanos(whole());
                break;
            case 4:
                scenario.transport.initial_window_pkts = number();
                break;
            case 5:
                link.rate.value = number();
                break;
            case 6:
                link.delay = Nanos(whole());
                break;
            case 7:
                link.queue_limit_pkts = whole();
                break;
            case 8:
                link.queue_limit_bytes = Bytes(whole());
                break;
            case 9:
                link.loss = number();
                break;
            case 10:
                flow.controller.name = "nonsense";
                break;
            case 11:
                flow.controller.options.push_back({"nonsense", number()});
                break;
            case 12:
                flow.scheduler.name = "";
                break;
            case 13:
                flow.paths.resize(static_cast<std::size_t>(draw.between(1, 40)));
                break;
            case 14:
                flow.paths.front().forward.push_back(static_cast<std::uint32_t>(whole()));
                break;
            case 15:
                flow.start = Nanos(whole());
                break;
            case 16:
                flow.stop = Nanos(whole());
                break;
            case 17:
                flow.size = Bytes(whole());
                break;
            case 18:
                flow.recv_buffer = Bytes(whole());
                break;
            case 19:
                flow.send_buffer = Bytes(whole());
                break;
            default:
                if (!scenario.events.empty()) {
                    EventSpec& event = pick(scenario.events);
                    event.at = Nanos(whole());
                    event.rate = BitsPerSec(number());
                    event.delay = Nanos(whole());
                    event.loss = number();
                }
        }
    }
}

void check_bytes(std::span<const std::uint8_t> bytes) {
    // Small enough for milliseconds per input, also with sanitizers.
    constexpr double kCrossings = 5000;
    Draws draw(bytes);
    Scenario scenario = random_network(draw);
    scenario.duration = Nanos(draw.between(1'000'000, 5'000'000'000));
    scenario.warmup = Nanos(draw.between(0, scenario.duration.value - 1));
    if (draw.chance(0.2)) spoil(scenario, draw);
    check_json(scenario);
    try {
        slow_down(scenario, kCrossings);
        const Estimate told = estimate(scenario, scenario.duration);
        if (told.link_crossings > 2 * kCrossings || told.memory_bytes() > 1e8) return;
    } catch (const ScenarioError&) {
        return;
    }
    try {
        run_and_check(scenario, 1, draw);
    } catch (const ScenarioError&) {
        // An option or a name that the constructor of an algorithm refuses.
    }
}

}  // namespace subflow::testing
