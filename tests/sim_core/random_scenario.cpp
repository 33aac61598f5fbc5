#include "random_scenario.h"

#include <algorithm>
#include <limits>

#include "cc/controllers.h"
#include "estimate.h"
#include "scenarios.h"
#include "sched/schedulers.h"
#include "traffic.h"

namespace subflow::testing {
namespace {

std::optional<std::int64_t> random_queue(Draws& draw) {
    return draw.chance(0.1) ? std::nullopt : std::optional(draw.between(1, 200));
}

GilbertOptions random_bursts(Draws& draw) {
    GilbertOptions model{.p = draw.scale(1e-4, 1), .r = draw.scale(1e-2, 1)};
    if (draw.chance(0.3)) model.good = draw.scale(1e-4, 0.1);
    if (draw.chance(0.3)) model.bad = draw.scale(1e-2, 1);
    return model;
}

CodelOptions random_codel(Draws& draw) {
    return {.target = Nanos(draw.between(100'000, 20'000'000)),
            .interval = Nanos(draw.between(1'000'000, 200'000'000))};
}

Discipline random_discipline(Draws& draw) {
    switch (draw.between(0, 4)) {
        case 0: {
            const double min = draw.scale(0.5, 50);
            return RedOptions{.min_pkts = min,
                              .max_pkts = min * draw.scale(1.1, 5),
                              .max_p = draw.scale(0.01, 1),
                              .gentle = draw.chance(0.5),
                              .weight = draw.chance(0.5) ? 1 : draw.scale(1e-3, 1),
                              .spreads = draw.chance(0.5)};
        }
        case 1:
            return random_codel(draw);
        case 2:
            return FqCodelOptions{.codel = random_codel(draw),
                                  .quantum = Bytes(draw.between(300, 3000)),
                                  .flows = static_cast<std::uint32_t>(draw.between(1, 1024))};
        default:
            return {};
    }
}

// Up to 200 delivery opportunities, some of them at once, with gaps of up to 30 ms.
std::vector<std::uint32_t> random_trace(Draws& draw) {
    std::vector<std::uint32_t> times;
    std::int64_t ms = draw.between(0, 10);
    for (std::int64_t i = draw.between(1, 200); i > 0; --i) {
        times.push_back(static_cast<std::uint32_t>(ms));
        if (draw.chance(0.8)) ms += draw.chance(0.1) ? draw.between(1, 30) : 1;
    }
    times.push_back(static_cast<std::uint32_t>(ms + 1));
    return times;
}

BitsPerSec mean_rate(const std::vector<std::uint32_t>& times_ms) {
    return BitsPerSec(static_cast<double>(times_ms.size()) * 12e6 / times_ms.back());
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
        if (draw.chance(0.2)) link.loss_model = random_bursts(draw);
        link.discipline = random_discipline(draw);
        if (draw.chance(0.2)) {
            link.opportunities_ms = random_trace(draw);
            link.rate = mean_rate(link.opportunities_ms);
        }
        link.reorder = draw.chance(0.2);
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

// Some of the options an algorithm declares, within their ranges.
std::vector<OptionValue> random_options(const AlgorithmInfo& info, Draws& draw) {
    std::vector<OptionValue> options;
    for (const OptionInfo& option : info.options) {
        if (option.kind == OptionKind::Policy || !draw.chance(0.3)) continue;
        OptionValue value{std::string(option.key), 0.0};
        if (option.kind == OptionKind::Choice) {
            value.value =
                std::string(option.choices[static_cast<std::size_t>(draw.between(0, std::ssize(option.choices) - 1))]);
        } else if (option.kind == OptionKind::Flag) {
            value.value = draw.chance(0.5);
        } else if (option.kind == OptionKind::Rate) {
            value.value = draw.scale(option.minimum, option.maximum);
        } else {
            value.value = draw.number(option.minimum, option.maximum);
        }
        options.push_back(value);
    }
    return options;
}

// Incompatible options are omitted, for example those of a base that was not chosen.
template <class Make>
AlgorithmChoice random_choice(const AlgorithmInfo& info, Draws& draw, Make make) {
    AlgorithmChoice choice{std::string(info.name), random_options(info, draw)};
    try {
        make(choice);
    } catch (const ScenarioError&) {
        choice.options.clear();
    }
    return choice;
}

FlowKind random_kind(Draws& draw) {
    if (draw.chance(0.3)) return draw.chance(0.5) ? FlowKind::Cbr : FlowKind::OnOff;
    return draw.chance(0.6) ? FlowKind::Mptcp : FlowKind::Tcp;
}

DatagramSpec random_datagrams(Draws& draw) {
    DatagramSpec spec;
    spec.rate = BitsPerSec(draw.scale(1e4, 2e7));
    spec.packet = Bytes(draw.between(64, 1500));
    if (draw.chance(0.4)) spec.spacing = Spacing::Poisson;
    spec.mean_on = from_seconds(draw.scale(1e-4, 20));
    spec.mean_off = from_seconds(draw.scale(1e-4, 20));
    return spec;
}

void add_random_flow(Scenario& scenario, Draws& draw) {
    const auto infos = controller_infos();
    const auto schedulers = scheduler_infos();
    FlowSpec flow;
    flow.name = "flow" + std::to_string(scenario.flows.size());
    flow.kind = random_kind(draw);
    const AlgorithmInfo& info = *infos[static_cast<std::size_t>(draw.between(0, std::ssize(infos) - 1))];
    flow.controller = random_choice(info, draw, make_controller);
    flow.scheduler.name = schedulers[static_cast<std::size_t>(draw.between(0, std::ssize(schedulers) - 1))]->name;
    const std::int64_t paths = flow.kind == FlowKind::Mptcp ? draw.between(1, 5) : 1;
    for (std::int64_t i = 0; i < paths; ++i) flow.paths.push_back(random_path(scenario, draw));
    flow.start = Nanos(draw.between(0, 2'000'000'000));
    if (draw.chance(0.3)) flow.stop = flow.start + Nanos(draw.between(1, 8'000'000'000));
    if (draw.chance(0.2)) flow.lifetime = from_seconds(draw.scale(1e-6, 20));
    if (sends_datagrams(flow.kind)) {
        flow.datagrams = random_datagrams(draw);
    } else {
        if (draw.chance(0.5)) flow.size = Bytes(draw.between(1, 2'000'000));
        if (draw.chance(0.4)) flow.recv_buffer = Bytes(draw.between(1448, 300'000));
    }
    scenario.flows.push_back(flow);
}

// Copies of a flow that arrive one after the other, like `arrivals` of a scenario file.
void add_random_arrivals(Scenario& scenario, Draws& draw) {
    add_random_flow(scenario, draw);
    FlowSpec flow = scenario.flows.back();
    scenario.flows.pop_back();
    ArrivalSpec spec;
    spec.mean_gap = from_seconds(draw.scale(0.1, 10));
    spec.from = flow.start;
    spec.until = flow.stop;
    spec.limit = draw.between(1, 30);
    if (draw.chance(0.7)) spec.lifetime = from_seconds(draw.scale(1e-3, 10));
    spec.is_lifetime_exponential = draw.chance(0.5);
    const std::string name = flow.name;
    for (const Arrival& arrival : poisson_arrivals(spec, scenario.seed, name)) {
        flow.name = name + "." + std::to_string(scenario.flows.size());
        flow.start = arrival.at;
        flow.lifetime = arrival.lifetime;
        scenario.flows.push_back(flow);
    }
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
        if (draw.chance(0.1)) event.loss_model = random_bursts(draw);
        if (draw.chance(0.3)) event.up = draw.chance(0.6);
        event.sets_queue = draw.chance(0.3);
        if (event.sets_queue) event.queue_limit_pkts = random_queue(draw);
    }
    scenario.events.push_back(event);
}

void add_random_events(Scenario& scenario, Draws& draw) {
    Nanos at{};
    for (std::int64_t i = draw.between(0, 12); i > 0; --i) {
        at += Nanos(draw.between(0, 2'000'000'000));
        add_random_event(scenario, draw, at);
    }
}

// Options of a connection with several subflows beside its controller. Drawn last, so that older inputs of the fuzzer
// give the same networks.
void add_random_choices_of_mptcp(Scenario& scenario, Draws& draw) {
    for (EventSpec& event : scenario.events)
        if (event.flow && draw.chance(0.3)) event.backup = draw.chance(0.5);
    for (FlowSpec& flow : scenario.flows) {
        if (flow.kind != FlowKind::Mptcp) continue;
        if (draw.chance(0.2)) flow.send_buffer = Bytes(draw.between(1448, 300'000));
        for (PathSpec& path : flow.paths) path.is_backup = draw.chance(0.15);
        for (const AlgorithmInfo* info : scheduler_infos())
            if (info->name == flow.scheduler.name) flow.scheduler = random_choice(*info, draw, make_scheduler);
    }
}

bool learns(const AlgorithmChoice& choice) {
    return agent_of(make_controller(choice)) != nullptr;
}

// Some events of flows change the controller. Drawn after all others, for the same reason.
void add_random_controllers(Scenario& scenario, Draws& draw) {
    const auto infos = controller_infos();
    for (EventSpec& event : scenario.events) {
        if (!event.flow || !draw.chance(0.4)) continue;
        const FlowSpec& flow = scenario.flows[*event.flow];
        const AlgorithmInfo& info = *infos[static_cast<std::size_t>(draw.between(0, std::ssize(infos) - 1))];
        const AlgorithmChoice choice = random_choice(info, draw, make_controller);
        if (sends_datagrams(flow.kind) || learns(flow.controller) || learns(choice)) continue;
        event.subflow.reset();
        event.controller = choice;
    }
}

// Marks, and flows with ECN. Drawn after all others as well.
void add_random_marks(Scenario& scenario, Draws& draw) {
    static constexpr EcnMode kModes[] = {EcnMode::Off, EcnMode::Classic, EcnMode::Accurate};
    scenario.transport.ecn = kModes[draw.between(0, 2)];
    for (FlowSpec& flow : scenario.flows)
        if (draw.chance(0.2)) flow.ecn = kModes[draw.between(0, 2)];
    const auto set = [&](CodelOptions& codel) {
        codel.marks = draw.chance(0.6);
        if (draw.chance(0.3)) codel.ce_threshold = Nanos(draw.between(100'000, 20'000'000));
    };
    for (LinkSpec& link : scenario.links) {
        if (draw.chance(0.1))
            link.discipline = DualPi2Options{.target = Nanos(draw.between(1'000'000, 50'000'000)),
                                             .update = Nanos(draw.between(1'000'000, 50'000'000)),
                                             .coupling = draw.scale(1, 4),
                                             .step = Nanos(draw.between(100'000, 10'000'000)),
                                             .ramp = Nanos(draw.between(-5'000'000, 5'000'000))};
        // Half of the queues have a step.
        if (auto* dual = std::get_if<DualPi2Options>(&link.discipline)) dual->ramp = std::max(dual->ramp, Nanos(0));
        if (auto* red = std::get_if<RedOptions>(&link.discipline)) red->marks = draw.chance(0.6);
        if (auto* codel = std::get_if<CodelOptions>(&link.discipline)) set(*codel);
        if (auto* fq = std::get_if<FqCodelOptions>(&link.discipline)) set(fq->codel);
    }
}

// Scripted losses of packets. Drawn after all others as well.
void add_random_drops(Scenario& scenario, Draws& draw) {
    std::uint32_t subflow = 0;
    for (const FlowSpec& flow : scenario.flows) {
        for (const PathSpec& path : flow.paths) {
            for (const std::uint32_t link : path.forward) {
                for (std::int64_t i = draw.chance(0.3) ? draw.between(1, 4) : 0; i > 0; --i)
                    scenario.links[link].drops.push_back({.subflow = subflow,
                                                          .number = draw.between(1, 60),
                                                          .after = Nanos(draw.between(0, 3'000'000'000))});
            }
            ++subflow;
        }
    }
}

JitterOptions random_jitter(Draws& draw) {
    return {.kind = static_cast<JitterKind>(draw.between(0, 3)), .spread = Nanos(draw.between(0, 50'000'000))};
}

// Varying delays and bursty rates. Drawn after all others as well.
void add_random_variation(Scenario& scenario, Draws& draw) {
    for (LinkSpec& link : scenario.links) {
        if (draw.chance(0.2)) link.jitter = random_jitter(draw);
        if (draw.chance(0.15)) {
            for (std::int64_t i = draw.between(1, 50); i > 0; --i)
                link.delays_us.push_back(static_cast<std::uint32_t>(draw.between(0, 60'000)));
            link.delay_interval = Nanos(draw.between(1'000'000, 500'000'000));
            link.delay = Nanos(1000) * std::ranges::max(link.delays_us);
        }
        if (draw.chance(0.15) && link.opportunities_ms.empty()) {
            link.bucket = TokenBucketOptions{.burst = Bytes(draw.between(100, 100'000))};
            if (draw.chance(0.5)) link.bucket->peak = BitsPerSec(link.rate.value * draw.scale(1, 100));
        }
    }
}

std::vector<Pause> random_pauses(Draws& draw) {
    std::vector<Pause> pauses;
    Nanos at{};
    for (std::int64_t i = draw.between(1, 20); i > 0; --i) {
        at += Nanos(draw.between(1, 1'000'000'000));
        pauses.push_back({at, at + Nanos(draw.between(1, 300'000'000))});
        at = pauses.back().to;
    }
    return pauses;
}

AccessOptions random_access(Draws& draw) {
    AccessOptions access;
    access.medium = static_cast<std::uint32_t>(draw.between(0, 1));
    access.kind = access.medium == 0 ? AccessKind::Contention : AccessKind::Turns;
    access.aggregation = static_cast<std::uint32_t>(draw.between(1, 64));
    access.airtime = Nanos(draw.between(0, 5'000'000));
    access.overhead = Nanos(draw.between(0, 300'000));
    access.window_min = static_cast<std::uint32_t>(draw.between(0, 31));
    access.window_max = access.window_min + static_cast<std::uint32_t>(draw.between(0, 1023));
    // The groups of hidden stations use no further draw, so that later draws stay the same.
    if (access.kind == AccessKind::Contention) access.group = access.aggregation % 3;
    return access;
}

// Radio: pauses, medium access and repetition. Drawn last.
void add_random_radio(Scenario& scenario, Draws& draw) {
    for (LinkSpec& link : scenario.links) {
        if (draw.chance(0.1))
            link.retransmission = RetransmissionOptions{.loss = draw.scale(0.01, 0.9),
                                                        .delay = Nanos(draw.between(0, 20'000'000)),
                                                        .attempts = static_cast<std::uint32_t>(draw.between(1, 6))};
        if (draw.chance(0.15)) link.pauses = random_pauses(draw);
        if (draw.chance(0.15) && !link.bucket && link.opportunities_ms.empty()) {
            link.grants = GrantOptions{.period = Nanos(draw.between(100'000, 50'000'000))};
            if (draw.chance(0.5)) link.grants->jitter = Nanos(draw.between(0, link.grants->period.value));
        }
        if (draw.chance(0.3) && !link.bucket && !link.grants && link.pauses.empty() && link.opportunities_ms.empty() &&
            !std::holds_alternative<RedOptions>(link.discipline))
            link.access = random_access(draw);
    }
}

// Late paths, changing addresses, and peers that refuse them. Drawn after all others as well.
void add_random_addresses(Scenario& scenario, Draws& draw) {
    scenario.transport.syn_retries = static_cast<int>(draw.between(0, 6));
    for (std::uint32_t i = 0; i < scenario.flows.size(); ++i) {
        FlowSpec& flow = scenario.flows[i];
        if (flow.kind != FlowKind::Mptcp || flow.paths.size() < 2 || !draw.chance(0.4)) continue;
        for (std::size_t path = 1; path < flow.paths.size(); ++path) flow.paths[path].is_late = draw.chance(0.4);
        const auto limit = [&] { return static_cast<std::uint32_t>(draw.between(0, std::ssize(flow.paths))); };
        if (draw.chance(0.2)) flow.subflow_limit = limit();
        if (draw.chance(0.2)) flow.address_limit = limit();
        for (std::int64_t events = draw.between(0, 6); events > 0; --events) {
            EventSpec& event = scenario.events.emplace_back();
            event.at = Nanos(draw.between(0, 9'000'000'000));
            event.flow = i;
            if (draw.chance(0.8))
                event.subflow = static_cast<std::uint32_t>(draw.between(0, std::ssize(flow.paths) - 1));
            if (draw.chance(0.7)) event.announce = draw.chance(0.7);
            if (draw.chance(0.3)) event.refuse = draw.chance(0.4);
        }
    }
    std::ranges::stable_sort(scenario.events, {}, [](const EventSpec& event) { return event.at.value; });
}

// Independent parts, or parts that share links by chance: parallel links, shared bottlenecks, detours, paths that use a
// link twice.
Scenario random_scenario(Draws& draw) {
    Scenario scenario = draw.chance(0.7) ? linux_profile(10_s) : textbook(10_s);
    scenario.warmup = Nanos(draw.between(0, 3'000'000'000));
    if (draw.chance(0.5)) scenario.start_jitter = 1_s;
    for (std::int64_t i = draw.between(1, 6); i > 0; --i) add_random_link(scenario, draw);
    for (std::int64_t i = draw.between(1, 8); i > 0; --i) add_random_flow(scenario, draw);
    if (draw.chance(0.2)) add_random_arrivals(scenario, draw);
    add_random_events(scenario, draw);
    add_random_choices_of_mptcp(scenario, draw);
    add_random_controllers(scenario, draw);
    return scenario;
}

// Flows of four hosts through one bottleneck with queues in both directions, as in papers; some of them use all three
// kinds of links, some only the bottleneck.
Scenario random_dumbbell(Draws& draw) {
    Scenario scenario = draw.chance(0.7) ? linux_profile(10_s) : textbook(10_s);
    for (int i = 0; i < 5; ++i) add_random_link(scenario, draw);
    const auto over = [](std::initializer_list<std::uint32_t> links) {
        PathSpec path;
        for (const std::uint32_t link : links) {
            path.forward.push_back(2 * link);
            path.reverse.insert(path.reverse.begin(), 2 * link + 1);
        }
        return path;
    };
    const PathSpec routes[] = {over({1, 0, 3}), over({2, 0, 4}), over({1, 0, 4}),
                               over({0}),       over({1, 0}),    over({0, 3})};
    for (std::int64_t i = draw.between(1, 10); i > 0; --i) {
        add_random_flow(scenario, draw);
        for (PathSpec& path : scenario.flows.back().paths)
            path = routes[static_cast<std::size_t>(draw.between(0, std::ssize(routes) - 1))];
    }
    add_random_events(scenario, draw);
    add_random_choices_of_mptcp(scenario, draw);
    add_random_controllers(scenario, draw);
    return scenario;
}

// Scales the rates among a controller's options, including the defaults, by a factor, up to `most_bps`.
void slow_down(AlgorithmChoice& choice, double factor, double most_bps) {
    for (const AlgorithmInfo* info : controller_infos()) {
        if (info->name != choice.name) continue;
        const std::vector<OptionValue> given_before = choice.options;
        const Options options(*info, given_before);
        for (const OptionInfo& option : info->options) {
            const bool applies = option.base.empty() || option.base == options.choice("base");
            if (option.kind != OptionKind::Rate || !applies) continue;
            const double rate = std::max(option.minimum, std::min(factor * options.number(option.key), most_bps));
            std::erase_if(choice.options, [&](const OptionValue& given) { return given.key == option.key; });
            choice.options.push_back({std::string(option.key), rate});
        }
    }
}

}  // namespace

Scenario random_network(Draws& draw) {
    Scenario scenario = draw.chance(0.3) ? random_dumbbell(draw) : random_scenario(draw);
    add_random_drops(scenario, draw);
    add_random_variation(scenario, draw);
    scenario.transport.tso = draw.chance(0.3);
    add_random_marks(scenario, draw);
    add_random_radio(scenario, draw);
    add_random_addresses(scenario, draw);
    return scenario;
}

void slow_down(Scenario& scenario, double crossings) {
    // The estimate does not include packets that controllers send into slow links by their options.
    const double most_bps = crossings * scenario.packet_bits() / to_seconds(scenario.duration);
    const auto slow_controllers_down = [&](double factor) {
        for (FlowSpec& flow : scenario.flows) slow_down(flow.controller, factor, most_bps);
        for (EventSpec& event : scenario.events)
            if (event.controller) slow_down(*event.controller, factor, most_bps);
    };
    slow_controllers_down(1);
    double told_before = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 20; ++round) {
        const double told = estimate(scenario, scenario.duration).link_crossings;
        if (told <= crossings || told > 0.95 * told_before) return;
        told_before = told;
        const double factor = std::max(0.9 * crossings / told, 0.01);
        for (LinkSpec& link : scenario.links) {
            link.rate.value *= factor;
            for (std::uint32_t& ms : link.opportunities_ms) ms = static_cast<std::uint32_t>(std::min(ms / factor, 1e9));
            if (!link.opportunities_ms.empty()) link.rate = mean_rate(link.opportunities_ms);
        }
        for (FlowSpec& flow : scenario.flows) flow.datagrams.rate.value *= factor;
        for (EventSpec& event : scenario.events)
            if (event.rate) event.rate->value *= factor;
        slow_controllers_down(factor);
    }
}

}  // namespace subflow::testing
