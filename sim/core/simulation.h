// A scenario, the network it describes and the traces of its run, as one object.
#pragma once

#include <memory>

#include "network.h"
#include "recorder.h"

namespace subflow {

class Simulation {
public:
    // A state to come back to; only for the simulation it was taken from.
    struct Snapshot {
        Network network;
    };

    // Throws ScenarioError if the scenario is not usable.
    Simulation(Scenario scenario, std::uint64_t seed, Nanos sample_interval)
        : scenario_(std::make_unique<const Scenario>(std::move(scenario))),
          network_(*scenario_, seed),
          recorder_(network_, sample_interval) {}

    // Runs to `until` or the end of the scenario, whichever comes first, sampling on the way.
    void run_until(Nanos until) { recorder_.run_until(network_, until < duration() ? until : duration()); }

    Nanos duration() const { return scenario_->duration; }
    Nanos now() const { return network_.now(); }
    bool is_finished() const { return now() >= duration(); }

    Network& network() { return network_; }
    const Network& network() const { return network_; }
    const Scenario& scenario() const { return *scenario_; }
    const Recorder& recorder() const { return recorder_; }

    Snapshot snapshot() const { return {network_}; }
    // Continuing from here gives bit for bit what followed the snapshot. Throws ScenarioError for a foreign one.
    void restore(const Snapshot& snapshot) {
        if (&snapshot.network.scenario() != scenario_.get())
            throw ScenarioError("the snapshot belongs to another simulation");
        network_ = snapshot.network;
        recorder_.rewind(network_);
    }

private:
    std::unique_ptr<const Scenario> scenario_;  // at a fixed address: the network points to it
    Network network_;
    Recorder recorder_;
};

}  // namespace subflow
