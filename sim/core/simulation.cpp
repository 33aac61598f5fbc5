#include "simulation.h"

#include <algorithm>
#include <new>

namespace subflow {

RunEnd Simulation::run_until(Nanos until, std::int64_t max_events) {
    require_sound();
    // Short enough to be kept without an allocation, which could fail as well: what stands there if nobody replaces it.
    failure_ = "out of memory";
    RunEnd end = RunEnd::Interrupted;
    try {
        until = std::min(until, duration());
        while (!is_interrupted_.load(std::memory_order_relaxed)) {
            const std::int64_t allowed = std::min(max_events, kEventsPerLook);
            std::int64_t left = allowed;
            const bool has_reached = recorder_.run_until(network_, until, left);
            max_events -= allowed - left;
            if (has_reached || max_events <= 0 || network_.is_waiting()) {
                end = has_reached ? RunEnd::Reached : network_.is_waiting() ? RunEnd::Waiting : RunEnd::Exhausted;
                break;
            }
        }
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        failure_ = error.what();
        throw;
    }
    // An early end for want of events or actions is no end yet: the request holds for the call that goes on.
    if (end != RunEnd::Exhausted && end != RunEnd::Waiting) is_interrupted_.store(false, std::memory_order_relaxed);
    failure_.clear();
    return end;
}

Nanos Simulation::apply(std::span<const EventSpec> changes) {
    require_sound();
    if (is_finished()) throw ScenarioError("the run is over");
    return network_.apply(changes);
}

void Simulation::restore(const Snapshot& snapshot) {
    require_own(snapshot);
    failure_ = "out of memory";  // should the copy fail
    network_ = snapshot.network;
    recorder_.move_to(snapshot.position, network_);
    failure_.clear();
}

Simulation::Simulation(const Simulation& origin, const Snapshot& snapshot)
    : scenario_(origin.scenario_), network_(snapshot.network), recorder_(origin.recorder_) {
    recorder_.move_to(snapshot.position, network_);
}

std::unique_ptr<Simulation> Simulation::fork(const Snapshot& snapshot) const {
    require_own(snapshot);
    return std::unique_ptr<Simulation>(new Simulation(*this, snapshot));
}

void Simulation::require_own(const Snapshot& snapshot) const {
    if (snapshot.scenario != scenario_) throw ScenarioError("the snapshot belongs to another simulation");
}

void Simulation::require_sound() const {
    if (!failure_.empty()) throw InternalError("this simulation failed before: " + failure_);
}

}  // namespace subflow
