#include "learning_agents.h"

#include <algorithm>
#include <cmath>

#include "../cc/controllers.h"
#include "../network.h"

namespace subflow {

namespace {

// Time after which an agent is checked again if nothing can be observed: at least kShortestRetry for epochs by time or
// RTT, kPatience for epochs by packets. kPatience is also the shortest time after which an epoch by packets ends
// without enough packets.
constexpr Nanos kShortestRetry{10'000'000};
constexpr Nanos kPatience{1'000'000'000};

Agent::Counters count(const SubflowSender& sender) {
    const SenderStats& stats = sender.stats();
    return {.sent_pkts = static_cast<double>(stats.packets_sent),
            .delivered_pkts = static_cast<double>(sender.delivered_pkts()),
            .lost_pkts = static_cast<double>(stats.marked_lost),
            .handed_pkts = static_cast<double>(stats.handed_pkts()),
            .rtt_seconds = stats.rtt_seconds,
            .rtt_samples = static_cast<double>(stats.rtt_samples)};
}

std::uint32_t to_milliseconds(Nanos time) {
    return static_cast<std::uint32_t>(time.value / 1'000'000);
}

double feedback(const SubflowSender& sender) {
    return static_cast<double>(sender.delivered_pkts()) + static_cast<double>(sender.stats().marked_lost);
}

}  // namespace

LearningAgents::LearningAgents(const Network& network) : agent_of_(network.subflows().size(), kNoAgent) {
    const std::vector<Subflow>& subflows = network.subflows();
    const std::vector<Connection>& connections = network.connections();
    struct Key {
        std::size_t controller;
        std::uint32_t group;
        const DecisionSource* decider;
    };
    std::vector<Key> keys;
    for (std::uint32_t flow = 0; flow < connections.size(); ++flow) {
        const Connection& c = connections[flow];
        const FlowSpec& spec = network.scenario().flows[flow];
        const Controller controller = subflows[c.first_subflow].sender.controller();
        const AgentInfo* const info = subflow::agent_of(controller);
        if (info == nullptr || sends_datagrams(c.kind)) continue;
        const EpochPlan plan = epoch_plan_of(controller);
        for (std::uint32_t i = 0; i < c.subflow_count; ++i) {
            const std::uint32_t subflow = c.first_subflow + i;
            const std::uint32_t group = info->scope == AgentScope::Host         ? spec.host
                                        : info->scope == AgentScope::Connection ? flow
                                                                                : subflow;
            const auto is_same = [&](const Key& key) {
                return key.controller == controller.index() && key.group == group &&
                       key.decider->kind == spec.decider.kind && key.decider->policy == spec.decider.policy;
            };
            const auto known = std::ranges::find_if(keys, is_same);
            agent_of_[subflow] = static_cast<std::uint32_t>(known - keys.begin());
            if (known != keys.end()) continue;
            const std::uint64_t seed = combine64(subflows[subflow].random_stream, hash_name("agent"));
            agents_.emplace_back(*info, plan, spec.decider, seed);
            keys.push_back({controller.index(), group, &spec.decider});
        }
    }
    for (std::uint32_t a = 0; a < agents_.size(); ++a) {
        const auto steers = [&](std::uint32_t subflow) { return agent_of_[subflow] == a; };
        for (std::uint32_t i = 0; i < subflows.size(); ++i) {
            const std::uint32_t flow = subflows[i].connection;
            const bool is_seen = agents_[a].info().scope == AgentScope::Host &&
                                 network.scenario().flows[flow].host == keys[a].group &&
                                 !sends_datagrams(connections[flow].kind);
            if (steers(i) || is_seen) agents_[a].add_member(i, flow, steers(i));
        }
    }
}

bool LearningAgents::note_joined(const Network& network, std::uint32_t subflow) {
    for (Agent& agent : agents_) {
        for (std::size_t m = 0; m < agent.members().size(); ++m) {
            Agent::Member& member = agent.members()[m];
            if (member.subflow != subflow) continue;
            agent.forget(m);
            member.joined_at = network.now();
            member.at_join = count(network.subflows()[subflow].sender);
        }
    }
    if (agent_of_[subflow] == kNoAgent) return false;
    Agent& agent = agents_[agent_of_[subflow]];
    if (agent.plan().kind == EpochKind::Packets)
        agent.feedback_goal = feedback_of(network, agent) + agent.plan().packets;
    if (agent.due != kNever || agent.is_waiting) return false;
    set_due(agent, network.now(), retry_after(agent));
    return true;
}

Nanos LearningAgents::retry_after(const Agent& agent) {
    switch (agent.plan().kind) {
        case EpochKind::Own:
            return kNever;
        case EpochKind::Packets:
            return kPatience;
        default:
            return std::max(agent.plan().time, kShortestRetry);
    }
}

void LearningAgents::set_due(Agent& agent, Nanos now, Nanos length) {
    agent.due = length == kNever ? kNever : now + length;
}

double LearningAgents::feedback_of(const Network& network, const Agent& agent) {
    double sum = 0;
    for (const Agent::Member& member : agent.members()) {
        if (member.acts) sum += feedback(network.subflows()[member.subflow].sender);
    }
    return sum;
}

bool LearningAgents::has_news(const Reach& reach, std::uint32_t subflow) {
    const Network& network = reach.network;
    Agent& agent = agents_[agent_of_[subflow]];
    Subflow& s = reach.subflows[subflow];
    const bool is_due = agent.plan().kind == EpochKind::Own ? s.sender.wants_action()
                                                            : feedback_of(network, agent) >= agent.feedback_goal;
    // A stage with a single event would leave nothing to measure: its sample begins earlier.
    if (agent.plan().measures_stage && !is_due) begin_stage(agent, s, subflow, network.now());
    // After a transfer is complete, ACKs still arrive, but the agent makes no further decisions.
    if (!is_due || !network.can_be_seen(s)) return false;
    if (!agent.is_waiting) set_due(agent, network.now(), Nanos(0));
    return true;
}

// Discards the measurements of a subflow from before the current stage of its controller.
void LearningAgents::begin_stage(Agent& agent, Subflow& s, std::uint32_t subflow, Nanos now) {
    const auto member = std::ranges::find(agent.members(), subflow, &Agent::Member::subflow);
    const std::uint32_t stage = s.sender.measured_stage();
    if (member->stage == stage) return;
    member->stage = stage;
    if (!member->is_counted) return;
    const Nanos least = s.sender.take_least_rtt();
    if (least != kNever) member->min_rtt.add(to_milliseconds(now), to_seconds(std::max(least, Nanos(1))));
    member->at_begin = count(s.sender);
    member->begun_at = now;
}

std::optional<std::uint32_t> LearningAgents::on_epoch(const Reach& reach, std::uint32_t index) {
    Agent& agent = agents_[index];
    const Nanos now = reach.network.now();
    if (now < agent.due) return std::nullopt;
    agent.due = kNever;
    if (!observe(reach, agent)) {
        const bool has_more = std::ranges::any_of(agent.members(), [&](const Agent::Member& m) {
            return m.acts && reach.network.is_under_way(reach.subflows[m.subflow]);
        });
        if (has_more) set_due(agent, now, retry_after(agent));
        return std::nullopt;
    }
    if (agent.decider().kind == DecisionSourceKind::Outside) {
        agent.is_waiting = true;
        ++waiting_;
        return std::nullopt;
    }
    agent.decide();
    return carry_out(reach, index);
}

// The next flow that a host's agent serves: by number, starting after the flow served last.
std::optional<std::uint32_t> LearningAgents::next_in_turn(const Network& network, const Agent& agent) {
    for (const bool wraps : {false, true}) {
        for (const Agent::Member& m : agent.members()) {
            if (m.acts && (wraps || m.flow > agent.turn) && network.can_be_seen(network.subflows()[m.subflow]))
                return m.flow;
        }
    }
    return std::nullopt;
}

// Ends the epoch of the subflows to be served and builds the observation. Returns true if at least one of them can act.
bool LearningAgents::observe(const Reach& reach, Agent& agent) {
    const Network& network = reach.network;
    auto& members = agent.members();
    const bool is_host = agent.info().scope == AgentScope::Host;
    const std::optional<std::uint32_t> turn = is_host ? next_in_turn(network, agent) : std::nullopt;
    if (is_host && !turn) return false;
    const std::uint32_t target = turn.value_or(0);
    const auto acts = [&](const Agent::Member& m) { return m.acts && (!is_host || m.flow == target); };
    std::uint32_t actor = ~0u;
    for (std::size_t i = 0; i < members.size(); ++i) {
        Agent::Member& m = members[i];
        const Subflow& s = reach.subflows[m.subflow];
        if (!network.can_be_seen(s)) {
            if (m.is_known || m.is_counted) agent.forget(i);
            continue;
        }
        if (m.is_counted && m.incarnation != s.incarnation) agent.forget(i);
        if (!m.is_counted) begin_counting(network, m);
        m.handed_pkts = count(s.sender).handed_pkts - m.at_begin.handed_pkts;
        if (acts(m) && actor == ~0u) actor = m.subflow;
    }
    if (actor == ~0u) return false;

    samples_.clear();
    for (std::size_t i = 0; i < members.size(); ++i) {
        Agent::Member& m = members[i];
        if (!m.is_counted) continue;
        // Unless the agent measures all flows, the observation of a host's other flows dates from the last turn of
        // each.
        if (!is_host || agent.plan().measures_all || acts(m) ||
            (!m.acts && network.now() - m.begun_at >= agent.plan().time)) {
            m.sample = take_sample(reach, agent, m);
            SubflowSender& seer = reach.subflows[m.acts ? m.subflow : actor].sender;
            seer.observe(m.sample, agent.shift(i));
            m.is_known = true;
        }
        const bool rewards_all = is_host || agent.plan().rewards_all_stages;
        if (m.is_known) samples_.push_back(rewards_all ? since_last_decision(network, agent.plan(), m) : m.sample);
    }
    agent.begin_decision(reach.subflows[actor].sender.reward(samples_));
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (members[i].is_known) agent.add_row(i, acts(members[i]));
    }
    if (is_host) agent.turn = target;
    return true;
}

void LearningAgents::begin_counting(const Network& network, Agent::Member& m) {
    const Subflow& s = network.subflows()[m.subflow];
    m.is_counted = true;
    m.incarnation = s.incarnation;
    m.begun_at = network.connections()[m.flow].started_at;
    m.at_begin = {};
    if (s.incarnation == 0) return;
    m.at_begin = m.at_join;
    m.begun_at = m.joined_at;
}

// The subflow's share of the packets that the connection handed to its subflows in the epoch; 0 without packets.
double LearningAgents::share_of_handed(const Agent& agent, const Agent::Member& m) {
    double sum = 0;
    for (const Agent::Member& other : agent.members()) {
        if (other.flow == m.flow && other.is_counted) sum += other.handed_pkts;
    }
    return sum > 0 ? m.handed_pkts / sum : 0;
}

// Computes the rates between two readings of the counters.
void LearningAgents::measure(EpochSample& e, const Agent::Counters& then, const Agent::Counters& now, Nanos length) {
    e.length_s = to_seconds(std::max(length, Nanos(1)));
    const double delivered = now.delivered_pkts - then.delivered_pkts;
    const double lost = now.lost_pkts - then.lost_pkts;
    e.sent_pps = (now.sent_pkts - then.sent_pkts) / e.length_s;
    e.delivered_pps = delivered / e.length_s;
    e.loss_ratio = lost > 0 ? lost / (lost + delivered) : 0;
    const double rtts = now.rtt_samples - then.rtt_samples;
    if (rtts > 0) e.rtt_s = (now.rtt_seconds - then.rtt_seconds) / rtts;
}

// Returns the sample of a subflow for a reward that covers the time since the last decision. A host's agent observes
// its flows at different times, and an agent that measures one stage of its controller also acts on the others.
EpochSample LearningAgents::since_last_decision(const Network& network, const EpochPlan& plan, Agent::Member& m) {
    EpochSample e = m.sample;
    const Agent::Counters now = count(network.subflows()[m.subflow].sender);
    if (m.decided_at != Nanos(0) && m.decided_at < network.now())
        measure(e, m.at_decision, now, network.now() - m.decided_at);
    if (plan.sees_mean_rtt) e.seen_rtt_s = e.rtt_s;
    m.at_decision = now;
    m.decided_at = network.now();
    return e;
}

// Measures the epoch of a subflow that ends now, and begins the next epoch.
EpochSample LearningAgents::take_sample(const Reach& reach, const Agent& agent, Agent::Member& m) const {
    const Network& network = reach.network;
    Subflow& s = reach.subflows[m.subflow];
    const Connection& c = network.connections()[m.flow];
    const Agent::Counters now = count(s.sender);
    const EpochSample& last = m.sample;
    EpochSample e;
    e.flow = m.flow;
    e.is_multipath = c.kind == FlowKind::Mptcp;
    e.is_new = !m.is_known;
    e.packet_bits = network.scenario().packet_bits();
    e.payload_bits = static_cast<double>(c.payload_bytes) * 8;
    e.rtt_s = m.is_known ? last.rtt_s : to_seconds(s.sender.rtt().srtt());
    measure(e, m.at_begin, now, network.now() - m.begun_at);
    e.rtt_dev_s = to_seconds(s.sender.rtt().rttvar());
    // take_least_rtt() resets the minimum, so that only the agent that controls the subflow may call it.
    const Agent* const steering = agent_of_[m.subflow] == kNoAgent ? &agent : &agents_[agent_of_[m.subflow]];
    const Nanos least = steering == &agent ? s.sender.take_least_rtt() : kNever;
    e.least_rtt_s = least != kNever ? to_seconds(std::max(least, Nanos(1))) : m.is_known ? last.least_rtt_s : e.rtt_s;
    e.seen_rtt_s = agent.plan().sees_mean_rtt ? e.rtt_s : e.least_rtt_s;
    const std::uint32_t now_ms = to_milliseconds(network.now());
    m.min_rtt.add(now_ms, e.least_rtt_s);
    e.min_rtt_s = m.min_rtt.value();
    e.cwnd_pkts = s.sender.window().cwnd_pkts;
    e.rate_pps = s.sender.window().pacing_pps;
    if (m.is_known) {
        e.rtt_change_s = e.seen_rtt_s - last.seen_rtt_s;
        e.cwnd_change_pkts = e.cwnd_pkts - last.cwnd_pkts;
    }
    e.schedule_share = share_of_handed(agent, m);
    const double floor_pps = agent.plan().reference_bps / e.packet_bits;
    m.reference.add(now_ms, e.delivered_pps);
    e.reference_pps = std::max(floor_pps, m.reference.value());
    m.at_begin = now;
    m.begun_at = network.now();
    return e;
}

// Executes the agent's decision and begins its next epoch.
std::uint32_t LearningAgents::carry_out(const Reach& reach, std::uint32_t index) {
    const Nanos now = reach.network.now();
    Agent& agent = agents_[index];
    const bool is_noted = steps_ && note_decision(reach, index);
    agent.length = agent.decisions > 0 ? now - agent.decided_at : Nanos(0);
    agent.decided_at = now;
    ++agent.decisions;
    const std::size_t width = agent.action_width();
    Nanos longest{};
    std::uint32_t flow = 0;
    std::span<const float> left = agent.action();
    for (const std::uint32_t row : agent.acting()) {
        const Agent::Member& m = agent.members()[agent.member_of(row)];
        Subflow& s = reach.subflows[m.subflow];
        flow = m.flow;
        const std::span<const float> action = left.first(width);
        left = left.subspan(width);
        s.note_end(reach.network.connections()[s.connection], now);
        s.sender.act(action, m.sample, now);
        if (agent.plan().measures_stage) begin_stage(agent, s, m.subflow, now);
        if (const auto logit = s.sender.schedule_action()) s.schedule_logit = action[*logit];
        longest = std::max(longest, s.sender.rtt().srtt());
    }
    if (is_noted) note_effects(reach, index);
    const EpochPlan& plan = agent.plan();
    switch (plan.kind) {
        case EpochKind::Time:
            set_due(agent, now, std::max(plan.time / served_flows(reach.network, agent), Nanos(1)));
            break;
        case EpochKind::Rtt:
            set_due(agent, now, std::max({plan.time, longest, Nanos(1)}));
            break;
        case EpochKind::Packets:
            agent.feedback_goal = feedback_of(reach.network, agent) + plan.packets;
            set_due(agent, now, std::max(kPatience, longest * 4));
            break;
        case EpochKind::Own:
            break;
    }
    return flow;
}

// Number of flows that share the epochs of an agent.
std::int64_t LearningAgents::served_flows(const Network& network, const Agent& agent) {
    if (agent.info().scope != AgentScope::Host) return 1;
    std::int64_t count = 0;
    std::uint32_t last = ~0u;
    for (const Agent::Member& m : agent.members()) {
        if (!m.acts || m.flow == last || !network.can_be_seen(network.subflows()[m.subflow])) continue;
        last = m.flow;
        ++count;
    }
    return std::max<std::int64_t>(count, 1);
}

std::uint32_t LearningAgents::act(const Reach& reach, std::uint32_t index, std::span<const float> action) {
    Agent& agent = agents_.at(index);
    SF_ASSERT(agent.is_waiting);
    agent.decide(action);
    agent.is_waiting = false;
    --waiting_;
    return carry_out(reach, index);
}

bool LearningAgents::end_epoch(const Reach& reach, std::uint32_t index) {
    Agent& agent = agents_.at(index);
    if (agent.is_waiting || agent.decisions < 2) return false;
    // A short epoch measures its action poorly, but would have the weight of a whole epoch.
    const bool is_long_enough = reach.network.now() - agent.decided_at >= Nanos(agent.length.value / 2);
    return is_long_enough && observe(reach, agent);
}

void LearningAgents::record_steps() {
    if (agents_.empty()) return;
    std::uint32_t width = 0;
    std::size_t action_width = 0;
    for (const Agent& agent : agents_) {
        width = std::max(width, agent.width());
        action_width = std::max(action_width, agent.action_width());
    }
    steps_.emplace(width, static_cast<std::uint32_t>(action_width));
}

// Logs the decision before its execution. Returns true if it fitted into the log.
bool LearningAgents::note_decision(const Reach& reach, std::uint32_t index) {
    const Agent& agent = agents_[index];
    const Observation seen = agent.observation();
    if (!steps_->has_room(seen.subflows())) return false;
    const double packet_bits = reach.network.scenario().packet_bits();
    AgentStep step{.at = reach.network.now(),
                   .agent = index,
                   .number = agent.decisions,
                   .value = static_cast<float>(agent.value())};
    if (agent.decisions > 0) step.reward = static_cast<float>(agent.reward());
    std::size_t next = 0;  // index into the acting rows, which are sorted
    for (std::uint32_t row = 0; row < seen.subflows(); ++row) {
        const Agent::Member& m = agent.members()[agent.member_of(row)];
        const EpochSample& sample = m.sample;
        const Window& window = reach.subflows[m.subflow].sender.window();
        step.subflow = m.subflow;
        step.is_acting = next < seen.acting.size() && seen.acting[next] == row;
        step.epoch_s = static_cast<float>(sample.length_s);
        step.sending_rate_bps = static_cast<float>(sample.sent_pps * packet_bits);
        step.goodput_bps = static_cast<float>(sample.goodput_bps());
        step.loss_ratio = static_cast<float>(sample.loss_ratio);
        step.rtt_s = static_cast<float>(sample.rtt_s);
        step.min_rtt_s = static_cast<float>(sample.min_rtt_s);
        step.schedule_share = static_cast<float>(sample.schedule_share);
        step.cwnd_before_pkts = step.cwnd_after_pkts = static_cast<float>(window.cwnd_pkts);
        step.rate_before_bps = step.rate_after_bps = static_cast<float>(window.pacing_pps * packet_bits);
        const std::size_t width = agent.action_width();
        steps_->add(step, seen.row(row),
                    step.is_acting ? agent.action().subspan(next * width, width) : std::span<const float>());
        next += step.is_acting ? 1 : 0;
    }
    return true;
}

// Adds the resulting windows to the latest logged decision.
void LearningAgents::note_effects(const Reach& reach, std::uint32_t index) {
    const Agent& agent = agents_[index];
    std::vector<AgentStep>& steps = steps_->steps();
    const double packet_bits = reach.network.scenario().packet_bits();
    const std::size_t first_row = steps.size() - agent.observation().subflows();
    for (const std::uint32_t row : agent.acting()) {
        AgentStep& step = steps[first_row + row];
        const Window& window = reach.subflows[step.subflow].sender.window();
        step.cwnd_after_pkts = static_cast<float>(window.cwnd_pkts);
        step.rate_after_bps = static_cast<float>(window.pacing_pps * packet_bits);
        reach.marks.add(reach.network.now(), MarkKind::Action, step.subflow, window.cwnd_pkts);
    }
}

std::optional<double> LearningAgents::latest_reward(std::uint32_t subflow) const {
    const std::uint32_t index = agent_of_[subflow];
    if (index == kNoAgent || agents_[index].decisions < 2) return std::nullopt;
    return agents_[index].reward();
}

}  // namespace subflow
