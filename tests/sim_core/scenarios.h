// Small networks for the tests, with the numbers that matter as arguments.
#pragma once

#include <string>

#include "network.h"

namespace subflow::testing {

using namespace subflow::literals;

struct PathOptions {
    BitsPerSec rate = 10_Mbps;
    Nanos one_way = 50_ms;
    std::int64_t queue_pkts = 84;
    double loss = 0;
};

// Adds a link whose way back is a pure delay. Returns the path over it.
inline PathSpec add_path(Scenario& scenario, const PathOptions& options = {}) {
    const std::string name = "link" + std::to_string(scenario.links.size() / 2);
    LinkSpec forward;
    forward.name = name + "/forward";
    forward.rate = options.rate;
    forward.delay = options.one_way;
    forward.queue_limit_pkts = options.queue_pkts;
    forward.loss = options.loss;
    LinkSpec reverse;
    reverse.name = name + "/reverse";
    reverse.delay = options.one_way;
    const auto index = static_cast<std::uint32_t>(scenario.links.size());
    scenario.links.push_back(forward);
    scenario.links.push_back(reverse);
    return {{index}, {index + 1}};
}

inline FlowSpec& add_tcp(Scenario& scenario, const PathSpec& path, const std::string& name = "tcp") {
    FlowSpec flow;
    flow.name = name;
    flow.kind = FlowKind::Tcp;
    flow.controller.name = "newreno";
    flow.paths = {path};
    scenario.flows.push_back(flow);
    return scenario.flows.back();
}

inline FlowSpec& add_mptcp(Scenario& scenario, const std::vector<PathSpec>& paths, const std::string& controller,
                           const std::string& name = "mptcp") {
    FlowSpec flow;
    flow.name = name;
    flow.kind = FlowKind::Mptcp;
    flow.controller.name = controller;
    flow.scheduler.name = "minrtt";
    flow.paths = paths;
    scenario.flows.push_back(flow);
    return scenario.flows.back();
}

// Textbook transport: an ACK per packet, the window cut at once.
inline Scenario textbook(Nanos duration, Nanos warmup = Nanos(0)) {
    Scenario scenario;
    scenario.duration = duration;
    scenario.warmup = warmup;
    return scenario;
}

// The current Linux behaviour, as far as the core has it.
inline Scenario linux_profile(Nanos duration, Nanos warmup = Nanos(0)) {
    Scenario scenario = textbook(duration, warmup);
    scenario.transport.loss_detection = LossDetection::Rack;
    scenario.transport.dsack = true;
    scenario.transport.rto_rule = RtoRule::Linux;
    scenario.transport.rto_max = 120_s;
    scenario.transport.delayed_ack = DelayedAck::Linux;
    scenario.transport.prr = Prr::Linux;
    scenario.transport.undo = true;
    scenario.transport.cwnd_validation = CwndValidation::Decay;
    scenario.transport.idle_restart = IdleRestart::Linux;
    return scenario;
}

}  // namespace subflow::testing
