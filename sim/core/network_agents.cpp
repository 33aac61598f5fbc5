// The part of Network that serves learning agents: counts their epochs, shows them their subflows, does what they say.
#include <algorithm>
#include <cmath>

#include "cc/controllers.h"
#include "network.h"

namespace subflow {

namespace {

// How long an agent waits before it looks again for subflows that have an RTT, and, where packets are counted, for the
// first of them to come back.
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

double feedback(const SubflowSender& sender) {
    return static_cast<double>(sender.delivered_pkts()) + static_cast<double>(sender.stats().marked_lost);
}

}  // namespace

void Network::build_agents() {
    agent_of_.assign(subflows_.size(), kNoAgent);
    struct Key {
        std::size_t controller;
        std::uint32_t group;
        const Decider* decider;
    };
    std::vector<Key> keys;
    for (std::uint32_t flow = 0; flow < connections_.size(); ++flow) {
        Connection& c = connections_[flow];
        const FlowSpec& spec = scenario_->flows[flow];
        const Controller& controller = subflows_[c.first_subflow].sender.controller();
        const AgentInfo* const info = subflow::agent_of(controller);
        if (info == nullptr || sends_datagrams(c.kind)) continue;
        const EpochPlan plan = epoch_plan_of(controller);
        c.calls_agent = plan.kind == EpochKind::Packets || plan.kind == EpochKind::Own;
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
            const std::uint64_t luck = combine64(subflows_[subflow].luck, hash_name("agent"));
            agents_.emplace_back(*info, plan, spec.decider, luck);
            keys.push_back({controller.index(), group, &spec.decider});
        }
    }
    for (std::uint32_t a = 0; a < agents_.size(); ++a) {
        const auto steers = [&](std::uint32_t subflow) { return agent_of_[subflow] == a; };
        for (std::uint32_t i = 0; i < subflows_.size(); ++i) {
            const std::uint32_t flow = subflows_[i].connection;
            const bool is_seen = agents_[a].info().scope == AgentScope::Host &&
                                 scenario_->flows[flow].host == keys[a].group &&
                                 !sends_datagrams(connections_[flow].kind);
            if (steers(i) || is_seen) agents_[a].add_member(i, flow, steers(i));
        }
    }
}

// Whether there is something of a subflow to see and to steer.
bool Network::is_under_way(const Subflow& s) const {
    const Connection& c = connections_[s.connection];
    return s.is_established && c.is_started && c.data_una < c.data_end;
}

// A subflow was established.
void Network::note_joined(std::uint32_t subflow) {
    for (Agent& agent : agents_) {
        for (std::size_t m = 0; m < agent.members().size(); ++m) {
            Agent::Member& member = agent.members()[m];
            if (member.subflow != subflow) continue;
            agent.forget(m);
            member.joined_at = now_;
            member.at_join = count(subflows_[subflow].sender);
        }
    }
    if (agent_of_[subflow] == kNoAgent) return;
    Agent& agent = agents_[agent_of_[subflow]];
    if (agent.plan().kind == EpochKind::Packets) agent.feedback_goal = feedback_of(agent) + agent.plan().packets;
    if (agent.due == kNever && !agent.is_waiting) schedule_epoch(agent_of_[subflow], retry_after(agent));
}

Nanos Network::retry_after(const Agent& agent) {
    switch (agent.plan().kind) {
        case EpochKind::Own:
            return kNever;
        case EpochKind::Packets:
            return kPatience;
        default:
            return std::max(agent.plan().time, kShortestRetry);
    }
}

void Network::schedule_epoch(std::uint32_t index, Nanos length) {
    agents_[index].due = length == kNever ? kNever : now_ + length;
    events_.schedule(agent_source(index), agents_[index].due);
}

double Network::feedback_of(const Agent& agent) const {
    double sum = 0;
    for (const Agent::Member& member : agent.members()) {
        if (member.acts) sum += feedback(subflows_[member.subflow].sender);
    }
    return sum;
}

// Something was learned of a subflow. Whether its agent now acts before anything leaves.
bool Network::calls_agent(std::uint32_t subflow) {
    const std::uint32_t index = agent_of_[subflow];
    Agent& agent = agents_[index];
    const bool is_due = agent.plan().kind == EpochKind::Own ? subflows_[subflow].sender.wants_action()
                                                            : feedback_of(agent) >= agent.feedback_goal;
    // Of a transfer that is done there is nothing to decide, but acknowledgements still come.
    if (!is_due || !can_be_seen(subflows_[subflow])) return false;
    if (!agent.is_waiting) schedule_epoch(index, Nanos(0));
    return true;
}

Nanos Network::on_epoch(std::uint32_t index) {
    Agent& agent = agents_[index];
    if (now_ < agent.due) return agent.due;
    agent.due = kNever;
    if (!observe(agent)) {
        const bool has_more = std::ranges::any_of(
            agent.members(), [&](const Agent::Member& m) { return m.acts && is_under_way(subflows_[m.subflow]); });
        if (has_more) schedule_epoch(index, retry_after(agent));
        return agent.due;
    }
    if (agent.decider().kind == DeciderKind::Outside) {
        agent.is_waiting = true;
        ++waiting_;
        horizon_ = now_;  // everything else that happens now still does
        return kNever;
    }
    agent.decide();
    carry_out(index);
    return agent.due;
}

// The flow of a host that is served next: by their numbers, from the one after that which was served last.
std::optional<std::uint32_t> Network::next_in_turn(const Agent& agent) const {
    for (const bool wraps : {false, true}) {
        for (const Agent::Member& m : agent.members()) {
            if (m.acts && (wraps || m.flow > agent.turn) && can_be_seen(subflows_[m.subflow])) return m.flow;
        }
    }
    return std::nullopt;
}

// Ends the epoch of the subflows whose turn it is and puts together what the agent sees. Returns whether any of them
// is there to act.
bool Network::observe(Agent& agent) {
    auto& members = agent.members();
    const bool is_host = agent.info().scope == AgentScope::Host;
    const std::optional<std::uint32_t> turn = is_host ? next_in_turn(agent) : std::nullopt;
    if (is_host && !turn) return false;
    const std::uint32_t target = turn.value_or(0);
    const auto acts = [&](const Agent::Member& m) { return m.acts && (!is_host || m.flow == target); };
    std::uint32_t actor = ~0u;
    for (std::size_t i = 0; i < members.size(); ++i) {
        Agent::Member& m = members[i];
        const Subflow& s = subflows_[m.subflow];
        if (!can_be_seen(s)) {
            if (m.is_known || m.is_counted) agent.forget(i);
            continue;
        }
        if (m.is_counted && m.incarnation != s.incarnation) agent.forget(i);
        if (!m.is_counted) begin_counting(m);
        m.handed_pkts = count(s.sender).handed_pkts - m.at_begin.handed_pkts;
        if (acts(m) && actor == ~0u) actor = m.subflow;
    }
    if (actor == ~0u) return false;

    samples_.clear();
    for (std::size_t i = 0; i < members.size(); ++i) {
        Agent::Member& m = members[i];
        if (!m.is_counted) continue;
        // A host's other flows are seen as they were when it was their turn.
        if (!is_host || acts(m) || (!m.acts && now_ - m.begun_at >= agent.plan().time)) {
            m.sample = take_sample(agent, m);
            SubflowSender& seer = subflows_[m.acts ? m.subflow : actor].sender;
            seer.observe(m.sample, agent.shift(i));
            m.is_known = true;
        }
        if (m.is_known) samples_.push_back(is_host ? since_last_decision(m) : m.sample);
    }
    agent.begin_decision(subflows_[actor].sender.reward(samples_));
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (members[i].is_known) agent.add_row(i, acts(members[i]));
    }
    if (is_host) agent.turn = target;
    return true;
}

bool Network::can_be_seen(const Subflow& s) const {
    return is_under_way(s) && s.sender.rtt().has_sample();
}

void Network::begin_counting(Agent::Member& m) const {
    const Subflow& s = subflows_[m.subflow];
    m.is_counted = true;
    m.incarnation = s.incarnation;
    m.begun_at = connections_[m.flow].started_at;
    m.at_begin = {};
    if (s.incarnation == 0) return;
    m.at_begin = m.at_join;
    m.begun_at = m.joined_at;
}

// The subflow's part of what its connection handed out in the epoch.
double Network::share_of_handed(const Agent& agent, const Agent::Member& m) const {
    double sum = 0;
    for (const Agent::Member& other : agent.members()) {
        if (other.flow == m.flow && other.is_counted) sum += other.handed_pkts;
    }
    return sum > 0 ? m.handed_pkts / sum : 0;
}

// The rates since some time, from what had been counted by then.
void Network::measure(EpochSample& e, const Agent::Counters& then, Nanos since, const Agent::Counters& now) const {
    e.length_s = to_seconds(std::max(now_ - since, Nanos(1)));
    const double delivered = now.delivered_pkts - then.delivered_pkts;
    const double lost = now.lost_pkts - then.lost_pkts;
    e.sent_pps = (now.sent_pkts - then.sent_pkts) / e.length_s;
    e.delivered_pps = delivered / e.length_s;
    e.loss_ratio = lost > 0 ? lost / (lost + delivered) : 0;
    const double rtts = now.rtt_samples - then.rtt_samples;
    if (rtts > 0) e.rtt_s = (now.rtt_seconds - then.rtt_seconds) / rtts;
}

// A host's flows are seen at intervals of their own; the reward is about what all of them did since the last decision.
EpochSample Network::since_last_decision(Agent::Member& m) const {
    EpochSample e = m.sample;
    const Agent::Counters now = count(subflows_[m.subflow].sender);
    if (m.decided_at != Nanos(0) && m.decided_at < now_) measure(e, m.at_decision, m.decided_at, now);
    m.at_decision = now;
    m.decided_at = now_;
    return e;
}

// What happened on a subflow in the epoch that ends now; the next one begins.
EpochSample Network::take_sample(const Agent& agent, Agent::Member& m) const {
    const Subflow& s = subflows_[m.subflow];
    const Connection& c = connections_[m.flow];
    const Agent::Counters now = count(s.sender);
    const EpochSample& last = m.sample;
    EpochSample e;
    e.flow = m.flow;
    e.is_multipath = c.kind == FlowKind::Mptcp;
    e.is_new = !m.is_known;
    e.packet_bits = scenario_->packet_bits();
    e.payload_bits = static_cast<double>(c.payload_bytes) * 8;
    e.rtt_s = m.is_known ? last.rtt_s : to_seconds(s.sender.rtt().srtt());
    measure(e, m.at_begin, m.begun_at, now);
    e.rtt_dev_s = to_seconds(s.sender.rtt().rttvar());
    e.min_rtt_s = to_seconds(std::max(s.sender.rtt().min_rtt(), Nanos(1)));
    e.cwnd_pkts = s.sender.window().cwnd_pkts;
    e.rate_pps = s.sender.window().pacing_pps;
    if (m.is_known) {
        e.rtt_change_s = e.rtt_s - last.rtt_s;
        e.cwnd_change_pkts = e.cwnd_pkts - last.cwnd_pkts;
    }
    e.schedule_share = share_of_handed(agent, m);
    const double floor_pps = agent.plan().reference_bps / e.packet_bits;
    e.reference_pps = std::max({floor_pps, e.delivered_pps, m.is_known ? last.reference_pps : 0.0});
    m.at_begin = now;
    m.begun_at = now_;
    return e;
}

// What the agent has decided happens, and its next epoch begins.
void Network::carry_out(std::uint32_t index) {
    Agent& agent = agents_[index];
    const bool is_noted = agent_steps_ && note_decision(index);
    ++agent.decisions;
    const std::size_t width = agent.action_width();
    Nanos longest{};
    std::uint32_t flow = 0;
    std::span<const float> left = agent.action();
    for (const std::uint32_t row : agent.acting()) {
        const Agent::Member& m = agent.members()[agent.member_of(row)];
        Subflow& s = subflows_[m.subflow];
        flow = m.flow;
        const std::span<const float> action = left.first(width);
        left = left.subspan(width);
        s.sender.act(action, m.sample.reference_pps, now_);
        if (const auto logit = schedule_action_of(s.sender.controller())) s.schedule_logit = action[*logit];
        longest = std::max(longest, s.sender.rtt().srtt());
    }
    if (is_noted) note_effects(index);
    const EpochPlan& plan = agent.plan();
    switch (plan.kind) {
        case EpochKind::Time:
            schedule_epoch(index, std::max(plan.time / served_flows(agent), Nanos(1)));
            break;
        case EpochKind::Rtt:
            schedule_epoch(index, std::max({plan.time, longest, Nanos(1)}));
            break;
        case EpochKind::Packets:
            agent.feedback_goal = feedback_of(agent) + plan.packets;
            schedule_epoch(index, std::max(kPatience, longest * 4));
            break;
        case EpochKind::Own:
            break;
    }
    fill(connections_[flow]);
}

// The flows that share the epochs of an agent.
std::int64_t Network::served_flows(const Agent& agent) const {
    if (agent.info().scope != AgentScope::Host) return 1;
    std::int64_t count = 0;
    std::uint32_t last = ~0u;
    for (const Agent::Member& m : agent.members()) {
        if (!m.acts || m.flow == last || !can_be_seen(subflows_[m.subflow])) continue;
        last = m.flow;
        ++count;
    }
    return std::max<std::int64_t>(count, 1);
}

void Network::act(std::uint32_t index, std::span<const float> action) {
    Agent& agent = agents_.at(index);
    SF_ASSERT(agent.is_waiting);
    agent.decide(action);
    agent.is_waiting = false;
    --waiting_;
    carry_out(index);
}

bool Network::end_epoch(std::uint32_t index) {
    Agent& agent = agents_.at(index);
    if (agent.is_waiting) return false;
    return agent.decisions > 0 && observe(agent);
}

}  // namespace subflow
