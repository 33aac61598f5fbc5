#include "combinations.h"

#include <algorithm>
#include <cmath>

#include "cc/controllers.h"
#include "scenarios.h"
#include "sched/schedulers.h"

namespace subflow::testing {

namespace {

constexpr std::string_view kBase = "base";  // option of `uncoupled` with each subflow's controller

const OptionInfo* base_option(const AlgorithmInfo& info) {
    const auto it = std::ranges::find(info.options, kBase, &OptionInfo::key);
    return it == info.options.end() ? nullptr : &*it;
}

// A separate network for each purpose; `flow` holds the other arguments of add_mptcp().
FlowSpec& add_flow(Scenario& scenario, const std::vector<PathSpec>& paths, const Combination& combination) {
    FlowSpec& flow = add_mptcp(scenario, paths, combination.controller.name, "flow");
    flow.controller = combination.controller;
    flow.scheduler = combination.scheduler;
    return flow;
}

EventSpec& add_event(Scenario& scenario, Nanos at) {
    scenario.events.emplace_back().at = at;
    return scenario.events.back();
}

SmallNetwork disjoint(const Combination& combination) {
    SmallNetwork network{"two disjoint links", textbook(1500_ms, 500_ms), 0.3 * 16e6};
    const PathSpec fast = add_path(network.scenario, {.one_way = 10_ms, .queue_pkts = 20});
    const PathSpec slow = add_path(network.scenario, {.rate = 6_Mbps, .one_way = 15_ms, .queue_pkts = 20});
    add_flow(network.scenario, {fast, slow}, combination);
    return network;
}

// Round trips of 10 and 100 ms; 40 kB are less than half of the slow path's bandwidth-delay product.
SmallNetwork heterogeneous(const Combination& combination) {
    SmallNetwork network{"unlike lossy paths, little receive buffer", linux_profile(20_s)};
    const PathSpec near = add_path(network.scenario, {.rate = 8_Mbps, .one_way = 5_ms, .queue_pkts = 20, .loss = 0.01});
    const PathSpec far = add_path(network.scenario, {.rate = 8_Mbps, .one_way = 50_ms, .queue_pkts = 60, .loss = 0.01});
    FlowSpec& flow = add_flow(network.scenario, {near, far}, combination);
    flow.size = Bytes(400'000);
    flow.recv_buffer = Bytes(40'000);
    return network;
}

SmallNetwork shared_bottleneck(const Combination& combination) {
    SmallNetwork network{"a shared bottleneck", linux_profile(2_s, 500_ms), 0.1 * 8e6};
    Scenario& scenario = network.scenario;
    const PathSpec bottleneck = add_path(scenario, {.rate = 8_Mbps, .one_way = 10_ms, .queue_pkts = 25});
    const auto through_it = [&](Nanos one_way) {
        PathSpec path = add_path(scenario, {.rate = 100_Mbps, .one_way = one_way});
        path.forward.push_back(bottleneck.forward.front());
        path.reverse.insert(path.reverse.begin(), bottleneck.reverse.front());
        return path;
    };
    const std::vector<PathSpec> paths{through_it(1_ms), through_it(3_ms)};
    // Copies of every packet on both paths do not add to the goodput.
    if (copies_of(make_scheduler(combination.scheduler)) != Copies::None) network.least_goodput_bps /= 2;
    add_flow(scenario, paths, combination);
    add_tcp(scenario, bottleneck);
    return network;
}

SmallNetwork short_transfer(const Combination& combination) {
    SmallNetwork network{"a short transfer", linux_profile(5_s)};
    const PathSpec near = add_path(network.scenario, {.one_way = 10_ms});
    const PathSpec far = add_path(network.scenario, {.one_way = 40_ms});
    add_flow(network.scenario, {near, far}, combination).size = Bytes(20'001);
    return network;
}

SmallNetwork one_path(const Combination& combination) {
    SmallNetwork network{"a single path", linux_profile(20_s)};
    const PathSpec path = add_path(network.scenario, {.one_way = 10_ms, .queue_pkts = 20, .loss = 0.005});
    add_flow(network.scenario, {path}, combination).size = Bytes(300'000);
    return network;
}

SmallNetwork three_subflows(const Combination& combination) {
    SmallNetwork network{"three subflows, two of them on one path", textbook(1500_ms, 500_ms), 0.3 * 10e6};
    const PathSpec twice = add_path(network.scenario, {.rate = 6_Mbps, .one_way = 10_ms, .queue_pkts = 20});
    const PathSpec once = add_path(network.scenario, {.rate = 4_Mbps, .one_way = 20_ms, .queue_pkts = 20});
    add_flow(network.scenario, {twice, once, twice}, combination).recv_buffer = Bytes(200'000);
    // linux-mptcp binds data to subflows windows ahead: with a small receive buffer, a loss on one subflow blocks all.
    if (combination.scheduler.name == "linux-mptcp") network.least_goodput_bps *= 0.6;
    return network;
}

// The queue is full when the flow starts, and the flow ends before the run.
SmallNetwork late_start(const Combination& combination) {
    SmallNetwork network{"a late start beside a TCP flow", linux_profile(3_s, 500_ms), 0.2 * 8e6};
    const PathSpec busy = add_path(network.scenario, {.rate = 5_Mbps, .one_way = 10_ms, .queue_pkts = 20});
    const PathSpec idle = add_path(network.scenario, {.rate = 3_Mbps, .one_way = 20_ms, .queue_pkts = 20});
    FlowSpec& flow = add_flow(network.scenario, {busy, idle}, combination);
    flow.start = 700_ms;
    flow.stop = 2200_ms;
    add_tcp(network.scenario, busy);
    return network;
}

template <class Make>
bool is_refused(const AlgorithmChoice& choice, Make make) {
    try {
        make(choice);
    } catch (const ScenarioError&) {
        return true;
    }
    return false;
}

// Sets all other numbers to the same end of their ranges as the chosen one.
void move_together(AlgorithmChoice& choice, const AlgorithmInfo& info, bool is_least) {
    choice.options.clear();
    for (const OptionInfo& option : info.options)
        if (option.kind != OptionKind::Choice && option.kind != OptionKind::Flag && option.kind != OptionKind::Policy)
            choice.options.push_back({std::string(option.key), is_least ? option.minimum : option.maximum});
}

template <class Make>
std::vector<AlgorithmChoice> with_each_option(const std::vector<const AlgorithmInfo*>& infos, Make make) {
    std::vector<AlgorithmChoice> choices;
    for (const AlgorithmInfo* info : infos) {
        const auto add = [&](const OptionInfo& option, std::variant<double, bool, std::string> value) {
            choices.push_back({std::string(info->name), {{std::string(option.key), std::move(value)}}});
        };
        for (const OptionInfo& option : info->options) {
            if (option.kind == OptionKind::Policy) continue;  // the core does not read it
            if (option.kind == OptionKind::Choice) {
                for (const std::string_view value : option.choices)
                    if (value != option.default_choice) add(option, std::string(value));
            } else if (option.kind == OptionKind::Flag) {
                add(option, option.default_number == 0);
            } else {
                for (const bool is_least : {true, false}) {
                    add(option, is_least ? option.minimum : option.maximum);
                    if (is_refused(choices.back(), make)) move_together(choices.back(), *info, is_least);
                }
            }
        }
    }
    return choices;
}

// The first of three paths fails and the second one is closed: for half a second the backup carries all data.
SmallNetwork backup(const Combination& combination) {
    SmallNetwork network{"a backup path, little send buffer", linux_profile(30_s)};
    Scenario& scenario = network.scenario;
    const PathSpec first = add_path(scenario, {.rate = 6_Mbps, .one_way = 10_ms, .queue_pkts = 20});
    const PathSpec second = add_path(scenario, {.rate = 4_Mbps, .one_way = 20_ms, .queue_pkts = 20, .loss = 0.01});
    PathSpec spare = add_path(scenario, {.rate = 2_Mbps, .one_way = 40_ms, .queue_pkts = 20});
    spare.is_backup = true;
    FlowSpec& flow = add_flow(scenario, {first, second, spare}, combination);
    flow.size = Bytes(500'000);
    flow.send_buffer = Bytes(60'000);
    for (const auto& [at, up] : {std::pair(200_ms, false), std::pair(900_ms, true)}) {
        EventSpec& event = add_event(scenario, at);
        event.link = first.forward.front();
        event.up = up;
    }
    EventSpec& close = add_event(scenario, 400_ms);
    close.flow = 0;
    close.subflow = 1;
    close.open = false;
    std::ranges::stable_sort(scenario.events, {}, [](const EventSpec& event) { return event.at.value; });
    return network;
}

}  // namespace

std::vector<AlgorithmChoice> single_path_controllers() {
    std::vector<AlgorithmChoice> choices;
    for (const AlgorithmInfo* info : controller_infos())
        if (!info->is_coupled) choices.push_back({std::string(info->name), {}});
    return choices;
}

std::vector<AlgorithmChoice> multipath_controllers() {
    std::vector<AlgorithmChoice> choices;
    for (const AlgorithmInfo* info : controller_infos()) {
        if (!info->is_coupled) continue;
        const std::string name(info->name);
        const OptionInfo* base = base_option(*info);
        if (base == nullptr) {
            choices.push_back({name, {}});
        } else {
            for (const std::string_view value : base->choices)
                choices.push_back({name, {{std::string(kBase), std::string(value)}}});
        }
    }
    return choices;
}

std::vector<Combination> combinations() {
    std::vector<Combination> all;
    for (const AlgorithmChoice& controller : multipath_controllers())
        for (const AlgorithmInfo* scheduler : scheduler_infos())
            all.push_back({controller, {std::string(scheduler->name), {}}});
    return all;
}

std::string name_of(const AlgorithmChoice& choice) {
    std::string name = choice.name;
    for (const OptionValue& option : choice.options)
        if (const auto* value = std::get_if<std::string>(&option.value)) name += '_' + *value;
    std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

std::string name_of(const Combination& combination) {
    return name_of(combination.controller) + '_' + name_of(combination.scheduler);
}

SmallNetwork storm(const Combination& combination) {
    SmallNetwork network{"a storm", linux_profile(30_s)};
    Scenario& scenario = network.scenario;
    const PathSpec first = add_path(scenario, {.rate = 8_Mbps, .one_way = 15_ms, .queue_pkts = 20, .loss = 0.01});
    const PathSpec second = add_path(scenario, {.rate = 4_Mbps, .one_way = 25_ms, .queue_pkts = 20});
    add_flow(scenario, {first, second}, combination).size = Bytes(1'500'001);
    const std::uint32_t rough = first.forward.front();
    const std::uint32_t mended = second.forward.front();
    add_event(scenario, 300_ms).link = mended;
    scenario.events.back().up = false;
    add_event(scenario, 600_ms).link = mended;
    scenario.events.back().up = true;
    add_event(scenario, 800_ms).link = rough;
    scenario.events.back().rate = 2_Mbps;
    add_event(scenario, 1_s).link = rough;
    scenario.events.back().delay = 5_ms;
    for (const auto& [at, open] : {std::pair(1200_ms, false), std::pair(1400_ms, true)}) {
        EventSpec& event = add_event(scenario, at);
        event.flow = 0;
        event.subflow = 1;
        event.open = open;
    }
    add_event(scenario, 1500_ms).link = rough;
    scenario.events.back().up = false;
    add_event(scenario, 1900_ms).link = rough;
    scenario.events.back().up = true;
    return network;
}

std::vector<SmallNetwork> small_networks(const Combination& combination) {
    return {disjoint(combination),       heterogeneous(combination),  shared_bottleneck(combination),
            storm(combination),          short_transfer(combination), one_path(combination),
            three_subflows(combination), late_start(combination),     backup(combination)};
}

Scenario over_one_path(Scenario scenario, FlowKind kind) {
    FlowSpec& flow = scenario.flows.front();
    flow.kind = kind;
    flow.paths.resize(1);
    std::erase_if(scenario.events, [](const EventSpec& event) { return event.flow && event.subflow != 0u; });
    return scenario;
}

std::vector<AlgorithmChoice> controllers_with_each_option() {
    std::vector<const AlgorithmInfo*> infos = controller_infos();
    // its options are those of its bases
    std::erase_if(infos, [](const AlgorithmInfo* info) { return info->name == "uncoupled"; });
    return with_each_option(infos, make_controller);
}

std::vector<AlgorithmChoice> schedulers_with_each_option() {
    return with_each_option(scheduler_infos(), make_scheduler);
}

}  // namespace subflow::testing
