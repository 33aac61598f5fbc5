// A controller written as a script (script/program.h), executed by a virtual machine.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "../rng.h"
#include "../script/program.h"
#include "controller.h"

namespace subflow {

class Scripted {
public:
    // The empty name excludes scripts from the lists of controllers; their names are in the program. `is_coupled`
    // excludes them as bases of `uncoupled`, whether or not a script is coupled.
    static constexpr AlgorithmInfo kInfo{.name = "", .summary = "", .source = "", .is_coupled = true};

    // Bounds of a script's window: at least one packet, and at most a number that no realistic link can hold.
    static constexpr double kLeastWindow = 1;
    static constexpr double kLargestWindow = 1e6;

    explicit Scripted(const Options&) {}
    // Throws ScenarioError for an option unknown to the script.
    explicit Scripted(const AlgorithmChoice& choice);

    bool is_coupled() const { return program_->is_coupled; }
    bool sees_every_ack() const { return program_->has(ScriptHook::EveryAck); }
    bool samples_delivery() const { return program_->has(ScriptHook::Delivery); }
    bool monitors_intervals() const { return program_->has(ScriptHook::Plan); }
    bool governs_recovery() const { return monitors_intervals(); }

    void on_start(Window& window, std::uint64_t seed);
    void on_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
        if (program_->has(ScriptHook::Ack)) follow_ack(ScriptHook::Ack, window, ack, siblings);
    }
    void on_every_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
        if (program_->has(ScriptHook::EveryAck)) follow_ack(ScriptHook::EveryAck, window, ack, siblings);
    }
    void on_delivery(Window& window, const DeliverySample& sample, const Siblings& siblings);
    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings& siblings);
    void on_recovery_exit(Window& window, const AckSample& ack, const Siblings& siblings) {
        if (program_->has(ScriptHook::RecoveryExit)) follow_ack(ScriptHook::RecoveryExit, window, ack, siblings);
    }
    void on_idle_restart(Window& window, Nanos now, Reason* why);
    IntervalPlan plan_interval(Window& window, const IntervalMoment& moment);
    NextInterval on_interval(Window& window, IntervalRecord& record, const IntervalMoment& moment,
                             const Siblings& siblings);

    const ScriptProgram& program() const { return *program_; }
    std::size_t heap_bytes() const { return heap_bytes_of(frame_); }

private:
    void follow_ack(ScriptHook hook, Window& window, const AckSample& ack, const Siblings& siblings);
    struct Call;

    std::shared_ptr<const ScriptProgram> program_;
    std::vector<double> frame_;
    Draws draws_;
};

}  // namespace subflow
