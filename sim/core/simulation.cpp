#include "simulation.h"

#include <algorithm>
#include <new>

namespace subflow {

Simulation::Turn::Turn(std::atomic<bool>& is_busy) : is_busy_(is_busy) {
    if (is_busy_.exchange(true, std::memory_order_acquire))
        throw BusyError(
            "the simulation is in use by another thread: until that is done, it can only be interrupted, and its "
            "samples so far can be read");
}

Simulation::Simulation(Scenario scenario, std::uint64_t seed, Nanos sample_interval) try
    : scenario_(std::make_shared<const Scenario>(std::move(scenario))),
      network_(*scenario_, seed),
      recorder_(network_, sample_interval) {
    network_.record_agent_steps();
} catch (const ScriptFailure& failure) {
    throw ScriptRunError("script '" + failure.program + "', line " + std::to_string(failure.line) +
                         ", at the start: " + failure.what());
}

RunEnd Simulation::run_until(Nanos until, std::int64_t max_events) {
    const Turn turn = claim();
    require_sound();
    is_sound_ = false;
    RunEnd end = RunEnd::Interrupted;
    try {
        end = advance(std::min(until, duration()), max_events);
    } catch (const std::bad_alloc&) {
        failure_.clear();
        throw;
    } catch (const ScriptFailure& failure) {
        failure_ = describe(failure);
        failed_script_ = {failure.program, failure.line};
        throw ScriptRunError(failure_);
    } catch (const std::exception& error) {
        failure_ = error.what();
        throw;
    }
    is_sound_ = true;
    // Running out of events or waiting for actions does not consume the interruption, which then ends the next call.
    if (end != RunEnd::Exhausted && end != RunEnd::Waiting) is_interrupted_.store(false, std::memory_order_relaxed);
    return end;
}

std::string Simulation::describe(const ScriptFailure& failure) const {
    std::string text = "script '" + failure.program + "'";
    if (failure.line != 0) text.append(", line ").append(std::to_string(failure.line));
    if (const auto owner = network_.owner_of_script(failure.script)) {
        text.append(", ").append(scenario_->flows[owner->flow].name);
        if (owner->subflow) text.append("/").append(std::to_string(*owner->subflow + 1));
    }
    std::string fraction = std::to_string(now().value % 1'000'000'000);
    fraction.insert(0, 9 - fraction.size(), '0');
    return text + " at " + std::to_string(now().value / 1'000'000'000) + "." + fraction + " s: " + failure.what();
}

RunEnd Simulation::advance(Nanos until, std::int64_t max_events) {
    while (!is_interrupted_.load(std::memory_order_relaxed)) {
        const std::int64_t allowed = std::min(max_events, kEventsPerLook);
        std::int64_t left = allowed;
        const bool has_reached = recorder_.run_until(network_, until, left);
        max_events -= allowed - left;
        if (has_reached && is_finished()) return RunEnd::Reached;
        if (const std::optional<RunEnd> over = exceeded(allowed - left)) return *over;
        if (has_reached) return RunEnd::Reached;
        if (network_.is_waiting()) return RunEnd::Waiting;
        if (max_events <= 0) return RunEnd::Exhausted;
    }
    return RunEnd::Interrupted;
}

// A check costs about ten nanoseconds per link and subflow. The interval between checks grows with the number of links
// and subflows, so that the cost is negligible, and is short enough to limit the growth of memory.
std::optional<RunEnd> Simulation::exceeded(std::int64_t events) {
    events_to_look_ -= events;
    if (events_to_look_ > 0) return std::nullopt;
    events_to_look_ = std::max<std::int64_t>(
        kEventsPerLook, 32 * static_cast<std::int64_t>(network_.links().size() + 4 * network_.subflows().size()));
    if (network_.link_crossings() > limits_.link_crossings) return RunEnd::OverEvents;
    if (memory_bytes() > limits_.memory_bytes) return RunEnd::OverMemory;
    return std::nullopt;
}

Nanos Simulation::apply(std::span<const EventSpec> changes) {
    const Turn turn = claim();
    require_sound();
    if (is_finished()) throw ScenarioError("the run is over");
    return network_.apply(changes);
}

void Simulation::restore(const Snapshot& snapshot) {
    const Turn turn = claim();
    require_own(snapshot);
    is_sound_ = false;  // in case the copy fails
    failure_.clear();
    failed_script_.reset();
    network_ = snapshot.network;
    recorder_.move_to(snapshot.position, network_);
    is_sound_ = true;
    events_to_look_ = 0;
}

Simulation::Simulation(const Simulation& origin, const Snapshot& snapshot)
    : scenario_(origin.scenario_), network_(snapshot.network), recorder_(origin.recorder_), limits_(origin.limits_) {
    recorder_.move_to(snapshot.position, network_);
}

std::unique_ptr<Simulation> Simulation::fork(const Snapshot& snapshot) const {
    const Turn turn = claim();
    require_own(snapshot);
    return std::unique_ptr<Simulation>(new Simulation(*this, snapshot));
}

void Simulation::require_own(const Snapshot& snapshot) const {
    if (snapshot.scenario != scenario_) throw ScenarioError("the snapshot belongs to another simulation");
}

std::string_view Simulation::failure() const {
    if (is_sound_) return {};
    return failure_.empty() ? "out of memory" : std::string_view(failure_);
}

void Simulation::require_sound() const {
    if (!is_sound_) throw InternalError("this simulation failed before: " + std::string(failure()));
}

}  // namespace subflow
