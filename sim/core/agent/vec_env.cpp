#include "vec_env.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace subflow {

namespace {

bool steers(const FlowSpec& flow, const std::string& controller) {
    return !sends_datagrams(flow.kind) && flow.controller.name == controller;
}

bool learns(const Agent& agent) {
    return agent.decider().kind == DecisionSourceKind::Outside;
}

}  // namespace

VecEnv::VecEnv(std::string controller, const VecEnvShape& shape, unsigned threads)
    : controller_(std::move(controller)), shape_(shape), episodes_(shape.envs) {
    SF_ASSERT(shape.envs > 0 && shape.slots > 0);
    const std::size_t slots = std::size_t{shape.envs} * shape.slots;
    observation.resize(slots * shape.width);
    mask.resize(slots);
    finished.resize(slots);
    acting.resize(slots);
    agent.assign(slots, -1);
    flow.assign(slots, -1);
    action.resize(slots * shape.action_width);
    reward.resize(slots);
    team_reward.resize(shape.envs);
    terminated.resize(shape.envs);
    truncated.resize(shape.envs);
    time_s.resize(shape.envs);
    truth.resize(slots);
    gathered_.resize(action.size());
    for (unsigned i = 0; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

VecEnv::~VecEnv() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    has_work_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

std::uint32_t VecEnv::slots_of(const Scenario& scenario, const std::string& controller) {
    const Network network(scenario, 1);
    std::size_t slots = 0;
    for (const Agent& each : network.agents()) {
        const bool is_theirs = std::ranges::any_of(each.members(), [&](const Agent::Member& m) {
            return m.acts && steers(scenario.flows[m.flow], controller);
        });
        if (is_theirs) slots += each.members().size();
    }
    return static_cast<std::uint32_t>(slots);
}

void VecEnv::load(std::uint32_t env, Scenario scenario, std::uint64_t seed, Nanos end,
                  std::vector<std::uint32_t> groups) {
    for (FlowSpec& spec : scenario.flows)
        if (steers(spec, controller_)) spec.decider = {.kind = DecisionSourceKind::Outside, .policy = nullptr};
    Episode& e = episodes_.at(env);
    Episode next;
    next.scenario = std::make_unique<const Scenario>(std::move(scenario));
    next.network = std::make_unique<Network>(*next.scenario, seed);
    const std::vector<Agent>& agents = next.network->agents();
    std::size_t slots = 0;
    for (const Agent& each : agents) {
        next.first_slot.push_back(learns(each) ? static_cast<std::uint32_t>(slots) : kNoSlot);
        if (learns(each)) slots += each.members().size();
    }
    if (slots == 0) throw ScenarioError("no flow has the controller '" + controller_ + "', so nothing can learn");
    if (!groups.empty() && groups.size() != slots)
        throw ScenarioError("got " + std::to_string(groups.size()) + " numbers of groups for the " +
                            std::to_string(slots) + " subflows that learning agents see");
    if (slots > shape_.slots)
        throw ScenarioError("learning agents see " + std::to_string(slots) +
                            " subflows of the scenario, more than the " + std::to_string(shape_.slots) + " slots");
    next.acked_before.assign(next.scenario->flows.size(), 0);
    next.end = std::min(end, next.scenario->duration);
    next.is_fresh = true;
    next.summary = e.summary;
    e = std::move(next);

    const std::span<std::int32_t> agent_in = part_of(agent, env), flow_in = part_of(flow, env);
    std::ranges::fill(agent_in, -1);
    std::ranges::fill(flow_in, -1);
    for (std::size_t a = 0; a < agents.size(); ++a) {
        if (e.first_slot[a] == kNoSlot) continue;
        std::size_t slot = e.first_slot[a];
        for (const Agent::Member& member : agents[a].members()) {
            agent_in[slot] = static_cast<std::int32_t>(a);
            flow_in[slot++] = static_cast<std::int32_t>(member.flow);
            e.subflows.push_back(member.subflow);
        }
    }
    std::ranges::fill(part_of(truth, env), EpochTruth{});
    e.told.resize(groups.size());
    e.groups = std::move(groups);
}

void VecEnv::send(std::span<const std::uint32_t> envs) {
    for (const std::uint32_t env : envs) SF_ASSERT(env < shape_.envs && episodes_[env].network != nullptr);
    {
        const std::lock_guard lock(mutex_);
        sent_.insert(sent_.end(), envs.begin(), envs.end());
        under_way_ += static_cast<std::uint32_t>(envs.size());
    }
    has_work_.notify_all();
}

std::vector<std::uint32_t> VecEnv::recv(std::uint32_t least) {
    std::unique_lock lock(mutex_);
    least = std::min(least, under_way_);
    if (workers_.empty()) {
        while (done_.size() < least) step_next(lock);
    } else {
        needed_results_ = least;
        has_result_.wait(lock, [&] { return done_.size() >= least; });
        needed_results_ = kNoneNeeded;
    }
    std::vector<std::uint32_t> done = std::exchange(done_, {});
    under_way_ -= static_cast<std::uint32_t>(done.size());
    lock.unlock();
    std::ranges::sort(done);
    for (const std::uint32_t env : done) {
        if (const std::exception_ptr failure = std::exchange(episodes_[env].failure, nullptr))
            std::rethrow_exception(failure);
    }
    return done;
}

void VecEnv::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        has_work_.wait(lock, [&] { return is_ending_ || !sent_.empty(); });
        if (is_ending_) return;
        step_next(lock);
        if (done_.size() >= needed_results_) has_result_.notify_one();
    }
}

void VecEnv::step_next(std::unique_lock<std::mutex>& lock) {
    const std::uint32_t env = sent_.front();
    sent_.pop_front();
    // Prefetches for the following environments: the last level for the next environment, and one level less for each
    // environment after it.
    for (std::uint32_t i = 0; i < Network::kFetchLevels && i < sent_.size(); ++i)
        episodes_[sent_[i]].network->fetch_ahead(Network::kFetchLevels - 1 - i);
    lock.unlock();
    step(env);
    lock.lock();
    done_.push_back(env);
}

void VecEnv::step(std::uint32_t env) {
    try {
        make_step(env);
    } catch (...) {
        episodes_[env].failure = std::current_exception();
    }
}

void VecEnv::make_step(std::uint32_t env) {
    Episode& e = episodes_[env];
    if (e.is_fresh) {
        std::ranges::fill(part_of(observation, env), 0.0F);
        std::ranges::fill(part_of(mask, env), std::uint8_t{0});
        std::ranges::fill(part_of(finished, env), std::uint8_t{0});
    } else {
        SF_ASSERT(!terminated[env] && !truncated[env]);  // after an episode has ended, load() must start another
        carry_out_actions(env);
    }
    std::ranges::fill(part_of(acting, env), std::uint8_t{0});
    std::ranges::fill(part_of(reward, env), 0.0F);
    terminated[env] = truncated[env] = 0;

    Network& network = *e.network;
    const bool has_ended = network.run_until(e.end);
    for (std::uint32_t a = 0; a < network.agents().size(); ++a) {
        if (e.first_slot[a] == kNoSlot) continue;
        const bool shows = has_ended ? network.end_epoch(a) : network.agents()[a].is_waiting;
        if (!shows) continue;
        ++e.decisions;
        show(env, network.agents()[a], e.first_slot[a]);
    }
    note_absent(env);
    reward_team(env);
    time_s[env] = to_seconds(network.now());
    e.is_fresh = false;
    if (has_ended) finish(env);
}

void VecEnv::carry_out_actions(std::uint32_t env) {
    Episode& e = episodes_[env];
    Network& network = *e.network;
    const std::size_t width = shape_.action_width;
    const std::span<const float> actions = part_of(action, env);
    const std::span<float> gathered = part_of(gathered_, env);
    for (std::uint32_t a = 0; a < network.agents().size(); ++a) {
        const Agent& each = network.agents()[a];
        if (!each.is_waiting) continue;
        auto next = gathered.begin();
        for (const std::uint32_t row : each.acting()) {
            const std::size_t slot = e.first_slot[a] + each.member_of(row);
            next = std::ranges::copy(actions.subspan(slot * width, width), next).out;
        }
        network.act(a, std::span(gathered.begin(), next));
    }
}

// Writes an agent's observation into its slots.
void VecEnv::show(std::uint32_t env, const Agent& each, std::uint32_t first_slot) {
    const std::size_t first = std::size_t{env} * shape_.slots + first_slot;
    std::ranges::fill(part_of(mask, env).subspan(first_slot, each.members().size()), std::uint8_t{0});
    const Observation seen = each.observation();
    for (std::uint32_t row = 0; row < seen.subflows(); ++row) {
        const std::size_t slot = first + each.member_of(row);
        mask[slot] = 1;
        std::ranges::copy(seen.row(row), &observation[slot * shape_.width]);
    }
    for (const std::uint32_t row : each.acting()) {
        const std::size_t slot = first + each.member_of(row);
        acting[slot] = 1;
        reward[slot] = each.decisions > 0 ? static_cast<float>(each.reward()) : 0.0F;
        if (!episodes_[env].groups.empty())
            tell_truth(env, each.members()[each.member_of(row)].sample, first_slot + each.member_of(row));
    }
}

void VecEnv::tell_truth(std::uint32_t env, const EpochSample& sample, std::uint32_t slot) {
    Episode& e = episodes_[env];
    const Network& network = *e.network;
    const auto delivered = [&](std::uint32_t subflow) {
        return static_cast<double>(network.subflows()[subflow].sender.delivered_pkts());
    };
    Told now{.at = network.now()};
    for (std::size_t i = 0; i < e.groups.size(); ++i)
        if (e.groups[i] == e.groups[slot]) now.group_pkts += delivered(e.subflows[i]);
    for (std::uint32_t i = 0; i < network.subflows().size(); ++i) {
        const std::uint32_t whose = network.subflows()[i].connection;
        if (!sends_datagrams(network.connections()[whose].kind) && !steers(e.scenario->flows[whose], controller_))
            now.beside_pkts += delivered(i);
    }
    const Told before = std::exchange(e.told[slot], now);
    const double elapsed_s = std::max(to_seconds(now.at - before.at), 1e-9);
    const auto rate = [&](double then, double later) {
        return static_cast<float>(std::max(later - then, 0.0) / elapsed_s);
    };
    EpochTruth& told = truth[std::size_t{env} * shape_.slots + slot];
    told.epoch_s = static_cast<float>(sample.length_s);
    told.loss_ratio = static_cast<float>(sample.loss_ratio);
    told.rtt_s = static_cast<float>(std::isnan(sample.rtt_s) ? 0 : sample.rtt_s);
    told.own_pps = static_cast<float>(sample.delivered_pps);
    told.group_pps = rate(before.group_pkts, now.group_pkts);
    told.beside_pps = rate(before.beside_pkts, now.beside_pkts);
}

// Clears the mask of subflows that have disappeared since their agent last acted, and marks completed flows. show()
// updates the mask only when the agent acts, which may never happen again.
void VecEnv::note_absent(std::uint32_t env) {
    const Episode& e = episodes_[env];
    const Network& network = *e.network;
    for (std::size_t a = 0; a < network.agents().size(); ++a) {
        if (e.first_slot[a] == kNoSlot) continue;
        std::size_t slot = std::size_t{env} * shape_.slots + e.first_slot[a];
        for (const Agent::Member& member : network.agents()[a].members()) {
            const Connection& c = network.connections()[member.flow];
            mask[slot] = mask[slot] && network.can_be_seen(network.subflows()[member.subflow]);
            finished[slot] = c.is_started && c.data_una >= c.data_end;
            ++slot;
        }
    }
}

// Team reward since the last step: sum over the active flows of ln(goodput in Mbit/s).
void VecEnv::reward_team(std::uint32_t env) {
    Episode& e = episodes_[env];
    const Network& network = *e.network;
    const double elapsed_s = to_seconds(network.now() - e.stepped_at);
    double sum = 0;
    for (std::size_t f = 0; f < network.connections().size(); ++f) {
        const Connection& c = network.connections()[f];
        if (sends_datagrams(c.kind) || !c.is_started || e.acked_before[f] >= c.data_end) continue;
        const double packets = static_cast<double>(c.data_una - e.acked_before[f]);
        e.acked_before[f] = c.data_una;
        if (elapsed_s > 0) sum += log_goodput(packets * c.payload_bytes * 8 / elapsed_s);
    }
    e.stepped_at = network.now();
    team_reward[env] = static_cast<float>(sum);
}

void VecEnv::finish(std::uint32_t env) {
    Episode& e = episodes_[env];
    const Network& network = *e.network;
    EpisodeSummary summary;
    summary.decisions = e.decisions;
    summary.duration_s = to_seconds(network.now());
    double sum = 0;
    double squares = 0;
    double flows = 0;
    double learned_sum = 0;
    double learned_flows = 0;
    bool is_complete = true;
    for (std::size_t f = 0; f < network.connections().size(); ++f) {
        const Connection& c = network.connections()[f];
        if (sends_datagrams(c.kind)) continue;
        const bool learned = steers(e.scenario->flows[f], controller_);
        if (learned && (!c.is_started || c.data_una < c.data_end)) is_complete = false;
        if (!c.is_started) continue;
        const double bits = static_cast<double>(c.data_una) * c.payload_bytes * 8;
        const double active_s = to_seconds(std::min(network.now(), c.ended_at) - c.started_at);
        summary.goodput_bps += bits / summary.duration_s;
        const double rate = active_s > 0 ? bits / active_s : 0;
        sum += rate;
        squares += rate * rate;
        flows += 1;
        if (!learned) continue;
        learned_sum += rate;
        learned_flows += 1;
    }
    summary.flow_goodput_bps = learned_flows > 0 ? learned_sum / learned_flows : 0;
    summary.jain = squares > 0 ? sum * sum / (flows * squares) : 0;
    double sent = 0;
    double lost = 0;
    double rtts = 0;
    double lowest = 0;
    double samples = 0;
    for (const Subflow& s : network.subflows()) {
        const SenderStats& stats = s.sender.stats();
        sent += static_cast<double>(stats.packets_sent);
        lost += static_cast<double>(stats.marked_lost);
        if (!s.sender.rtt().has_sample()) continue;
        rtts += stats.rtt_seconds;
        samples += static_cast<double>(stats.rtt_samples);
        lowest += to_seconds(s.sender.rtt().min_rtt()) * static_cast<double>(stats.rtt_samples);
    }
    summary.loss_ratio = sent > 0 ? lost / sent : 0;
    summary.rtt_s = samples > 0 ? rtts / samples : 0;
    summary.rtt_inflation = lowest > 0 ? rtts / lowest : 0;
    e.summary = summary;
    (is_complete ? terminated : truncated)[env] = 1;
}

}  // namespace subflow
