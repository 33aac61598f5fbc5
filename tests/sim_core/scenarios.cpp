#include "scenarios.h"

namespace subflow::testing {

void fail_link(Scenario& scenario, std::uint32_t link, Nanos from, Nanos to) {
    EventSpec down;
    down.link = link;
    down.at = from;
    down.up = false;
    EventSpec up = down;
    up.at = to;
    up.up = true;
    scenario.events = {down, up};
}

PathSpec add_path(Scenario& scenario, const PathOptions& options) {
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

FlowSpec& add_tcp(Scenario& scenario, const PathSpec& path, const std::string& name) {
    FlowSpec flow;
    flow.name = name;
    flow.kind = FlowKind::Tcp;
    flow.controller.name = "newreno";
    flow.paths = {path};
    scenario.flows.push_back(flow);
    return scenario.flows.back();
}

FlowSpec& add_mptcp(Scenario& scenario, const std::vector<PathSpec>& paths, const std::string& controller,
                    const std::string& name) {
    FlowSpec flow;
    flow.name = name;
    flow.kind = FlowKind::Mptcp;
    flow.controller.name = controller;
    flow.scheduler.name = "minrtt";
    flow.paths = paths;
    scenario.flows.push_back(flow);
    return scenario.flows.back();
}

Scenario textbook(Nanos duration, Nanos warmup) {
    Scenario scenario;
    scenario.duration = duration;
    scenario.warmup = warmup;
    return scenario;
}

Scenario linux_profile(Nanos duration, Nanos warmup) {
    Scenario scenario = textbook(duration, warmup);
    scenario.transport.handshake = true;
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

Network finished(const Scenario& scenario, std::uint64_t seed) {
    Network network(scenario, seed);
    network.run_until(scenario.duration);
    network.check_invariants();
    return network;
}

bool is_same_however_cut(const Scenario& scenario, Nanos until) {
    Network once(scenario, 7);
    once.run_until(until);
    once.check_invariants();
    Network cut(scenario, 7);
    for (Nanos t = 37_ms; t < until * 4 / 5; t += 537_ms) cut.run_until(t);
    Network copy = cut;
    cut.run_until(until);
    copy.run_until(until);
    return once.signature() == cut.signature() && once.signature() == copy.signature();
}

}  // namespace subflow::testing
