// Many simulations stepped together, for learning agents to be trained in.
//
// A step takes a simulation from the instant at which learning agents have acted to the next at which one of them has
// to act, or to the end of its episode. The subflows that learning agents see stand in slots: those of the first agent,
// then those of the next, each agent's in the order of the scenario.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "../network.h"
#include "reward.h"

namespace subflow {

struct VecEnvShape {
    std::uint32_t envs = 1;
    std::uint32_t slots = 1;
    std::uint32_t width = 1;  // of an observation of a subflow
    std::uint32_t action_width = 1;
};

// What came of an episode, over all flows with a window.
struct EpisodeSummary {
    double goodput_bps = 0;       // DATA_ACKed payload of all of them over the episode
    double flow_goodput_bps = 0;  // of those with the controller: mean of each one's goodput while it was active
    double rtt_inflation = 0;     // mean RTT / lowest RTT, weighted by samples; 0 without
    double loss_ratio = 0;        // of the packets sent
    double jain = 0;              // of the goodputs while each was active; 0 if nothing was delivered
    double duration_s = 0;
    std::int64_t decisions = 0;
};

// What of an epoch an agent cannot see, or not as exactly: for those that judge it while it learns, and for nobody at
// run time. Of the subflow, of its group, which load() was told of, and of all flows that do not learn.
struct EpochTruth {
    float epoch_s = 0;
    float loss_ratio = 0;
    float rtt_s = 0;  // mean of the epoch
    float own_pps = 0;
    float group_pps = 0;   // delivered by all subflows of the group meanwhile
    float beside_pps = 0;  // delivered by the flows that do not learn meanwhile

    static constexpr std::uint32_t kWidth = 6;
};
static_assert(sizeof(EpochTruth) == EpochTruth::kWidth * sizeof(float));

// Arrays are allocated once and stay where they are. `send` and `recv` are for one thread at a time; between the two
// the rows of an environment that was sent belong to its worker.
class VecEnv {
public:
    // `controller`: whose agents learn. `threads`: that simulate; none: recv() does it.
    VecEnv(std::string controller, const VecEnvShape& shape, unsigned threads);
    ~VecEnv();
    VecEnv(const VecEnv&) = delete;
    VecEnv& operator=(const VecEnv&) = delete;

    // The next step of that environment begins an episode of this scenario, which ends at `end` at the latest; flows
    // with the controller learn. Throws ScenarioError if the scenario is not usable, has no such flow, or more subflows
    // than there are slots. `groups`: of each slot that an agent has a number, the same for subflows whose packets
    // count together in the truth of an epoch; empty: there is no need of it.
    void load(std::uint32_t env, Scenario scenario, std::uint64_t seed, Nanos end,
              std::vector<std::uint32_t> groups = {});

    // Has these environments make a step with the actions in their rows.
    void send(std::span<const std::uint32_t> envs);
    // Waits until at least `least` of those that were sent have made their step, and returns which. Throws what a
    // simulation threw.
    std::vector<std::uint32_t> recv(std::uint32_t least);

    const VecEnvShape& shape() const { return shape_; }
    // The subflows that agents of that controller would see in a scenario.
    static std::uint32_t slots_of(const Scenario& scenario, const std::string& controller);
    const EpisodeSummary& summary(std::uint32_t env) const { return episodes_[env].summary; }

    std::vector<float> observation;      // [envs, slots, width]
    std::vector<std::uint8_t> mask;      // [envs, slots] there is a subflow
    std::vector<std::uint8_t> finished;  // [envs, slots] its flow has delivered all that it will ever have
    std::vector<std::uint8_t> acting;    // [envs, slots] which has to act
    std::vector<std::int32_t> agent;     // [envs, slots]; -1: no subflow of this scenario has the slot
    std::vector<std::int32_t> flow;      // [envs, slots]
    std::vector<float> action;           // [envs, slots, action_width]
    std::vector<float> reward;           // [envs, slots] of those that act
    std::vector<float> team_reward;      // [envs]
    std::vector<std::uint8_t> terminated;
    std::vector<std::uint8_t> truncated;
    std::vector<double> time_s;
    std::vector<EpochTruth> truth;  // [envs, slots] of those that act, where groups were told of

private:
    // What had been delivered, and when, as a slot's truth was told last.
    struct Told {
        Nanos at{};
        double group_pkts = 0;
        double beside_pkts = 0;
    };
    struct Episode {
        std::unique_ptr<const Scenario> scenario;
        std::unique_ptr<Network> network;
        std::vector<std::uint32_t> first_slot;    // [agents]; kNoSlot: does not learn
        std::vector<std::uint32_t> acked_before;  // [flows]
        std::vector<std::uint32_t> groups;        // [slots in use]; empty: no truth is wanted
        std::vector<std::uint32_t> subflows;      // [slots in use]
        std::vector<Told> told;                   // [slots in use]
        Nanos end{};
        Nanos stepped_at{};
        bool is_fresh = false;
        std::int64_t decisions = 0;
        EpisodeSummary summary;  // of the last one that ended here
        std::exception_ptr failure;
    };
    static constexpr std::uint32_t kNoSlot = ~0u;

    // What an environment has of an array that holds as much for each.
    template <class T>
    std::span<T> part_of(std::vector<T>& array, std::uint32_t env) const {
        const std::size_t size = array.size() / shape_.envs;
        return std::span(array).subspan(env * size, size);
    }

    void work();
    void step_next(std::unique_lock<std::mutex>& lock);
    void step(std::uint32_t env);
    void make_step(std::uint32_t env);
    void carry_out_actions(std::uint32_t env);
    void show(std::uint32_t env, const Agent& agent, std::uint32_t first_slot);
    void tell_truth(std::uint32_t env, const EpochSample& sample, std::uint32_t slot);
    void note_absent(std::uint32_t env);
    void reward_team(std::uint32_t env);
    void finish(std::uint32_t env);

    std::string controller_;
    VecEnvShape shape_;
    std::vector<Episode> episodes_;
    std::vector<float> gathered_;  // scratch space [envs, slots * action_width]

    std::mutex mutex_;
    std::condition_variable has_work_;
    std::condition_variable has_result_;
    std::deque<std::uint32_t> sent_;
    std::vector<std::uint32_t> done_;
    std::uint32_t under_way_ = 0;
    bool is_ending_ = false;
    std::vector<std::thread> workers_;
};

}  // namespace subflow
