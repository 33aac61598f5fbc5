// Many simulations stepped together, for the training of learning agents.
//
// A step runs a simulation from one decision of its learning agents to the next, or to the end of the episode. The
// subflows in the observations of learning agents occupy slots: those of the first agent, then those of the next, each
// in the order of the scenario.
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
    std::uint32_t width = 1;  // numbers of a subflow in an observation
    std::uint32_t action_width = 1;
};

// Results of an episode, over all flows with a congestion window, so without datagrams.
struct EpisodeSummary {
    double goodput_bps = 0;       // DATA_ACKed payload of all flows over the episode
    double flow_goodput_bps = 0;  // mean goodput while active, over the flows that use the trained controller
    double rtt_inflation = 0;     // mean RTT / lowest RTT, weighted by samples; 0 without samples
    double rtt_s = 0;             // mean RTT of all subflows, weighted by samples; 0 without samples
    double loss_ratio = 0;        // lost packets as a share of the packets sent
    double jain = 0;              // Jain index of the goodputs while active; 0 without deliveries
    double duration_s = 0;
    std::int64_t decisions = 0;
};

// Values of an epoch that an agent cannot observe, or only less exactly: for critics during training, never for
// policies in use. They cover the subflow, its group as passed to load(), and all flows that do not learn.
struct EpochTruth {
    float epoch_s = 0;
    float loss_ratio = 0;
    float rtt_s = 0;  // mean RTT of the epoch
    float own_pps = 0;
    float group_pps = 0;   // delivery rate of all subflows of the group
    float beside_pps = 0;  // delivery rate of the flows that do not learn

    static constexpr std::uint32_t kWidth = 6;
};
static_assert(sizeof(EpochTruth) == EpochTruth::kWidth * sizeof(float));

// Arrays are allocated once and never move. Only one thread at a time may call `send` and `recv`. From `send` until
// `recv` returns an environment, its rows belong to a simulating thread.
class VecEnv {
public:
    // `controller`: controller whose agents learn. `threads`: number of simulating threads; 0: recv() simulates.
    VecEnv(std::string controller, const VecEnvShape& shape, unsigned threads);
    ~VecEnv();
    VecEnv(const VecEnv&) = delete;
    VecEnv& operator=(const VecEnv&) = delete;

    // Makes the next step of environment `env` begin an episode of `scenario`, which ends no later than `end`; flows
    // with the controller learn. `groups`: a number for each used slot, equal for subflows whose packets are summed in
    // EpochTruth; empty if no truth is needed. Throws ScenarioError if the scenario is not usable, no flow has the
    // controller, the agents observe more subflows than slots exist, or `groups` has the wrong length.
    void load(std::uint32_t env, Scenario scenario, std::uint64_t seed, Nanos end,
              std::vector<std::uint32_t> groups = {});

    // Starts a step of these environments with the actions in their rows.
    void send(std::span<const std::uint32_t> envs);
    // Waits until at least `least` of the sent environments have finished their step, and returns the finished ones.
    // Rethrows the exception of a simulation.
    std::vector<std::uint32_t> recv(std::uint32_t least);

    const VecEnvShape& shape() const { return shape_; }
    // Number of subflows that agents of `controller` would observe in a scenario.
    static std::uint32_t slots_of(const Scenario& scenario, const std::string& controller);
    const EpisodeSummary& summary(std::uint32_t env) const { return episodes_[env].summary; }

    std::vector<float> observation;      // [envs, slots, width]
    std::vector<std::uint8_t> mask;      // [envs, slots] the subflow exists now
    std::vector<std::uint8_t> finished;  // [envs, slots] the flow has delivered all of its data
    std::vector<std::uint8_t> acting;    // [envs, slots] the subflow needs an action
    std::vector<std::int32_t> agent;     // [envs, slots] index of the agent; -1: unused in this scenario
    std::vector<std::int32_t> flow;      // [envs, slots] index of the flow
    std::vector<float> action;           // [envs, slots, action_width]
    std::vector<float> reward;           // [envs, slots] set for acting slots
    std::vector<float> team_reward;      // [envs]
    std::vector<std::uint8_t> terminated;
    std::vector<std::uint8_t> truncated;
    std::vector<double> time_s;
    std::vector<EpochTruth> truth;  // [envs, slots] set for acting slots with groups

private:
    // Time and deliveries when the truth of a slot was last computed.
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
        std::vector<std::uint32_t> groups;        // [slots in use]; empty: no truth needed
        std::vector<std::uint32_t> subflows;      // [slots in use]
        std::vector<Told> told;                   // [slots in use]
        Nanos end{};
        Nanos stepped_at{};
        bool is_fresh = false;
        std::int64_t decisions = 0;
        EpisodeSummary summary;  // summary of the last episode that ended in this environment
        std::exception_ptr failure;
    };
    static constexpr std::uint32_t kNoSlot = ~0u;

    // The elements of an array that belong to environment `env`: each environment has an equal number of consecutive
    // elements.
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
    // Number of results for which recv() waits; the worker wakes it for no smaller number.
    std::size_t needed_results_ = kNoneNeeded;
    static constexpr std::size_t kNoneNeeded = ~std::size_t{0};
    std::uint32_t under_way_ = 0;
    bool is_ending_ = false;
    std::vector<std::thread> workers_;
};

}  // namespace subflow
