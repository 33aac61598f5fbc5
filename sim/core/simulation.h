// A scenario, the network it describes and the traces of its run, as one object.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "network.h"
#include "recorder.h"
#include "script/machine.h"

namespace subflow {

enum class RunEnd : std::uint8_t {
    Reached,      // the time asked for, or the end of the scenario
    Interrupted,  // by interrupt()
    Exhausted,    // the events allowed
    Waiting,      // for the action of an agent: Network::is_waiting()
    OverEvents,   // RunLimits::link_crossings
    OverMemory,   // RunLimits::memory_bytes
};

// What a run may take at most.
struct RunLimits {
    std::int64_t link_crossings = std::numeric_limits<std::int64_t>::max();
    std::size_t memory_bytes = std::numeric_limits<std::size_t>::max();
};

// Two threads use a simulation at the same time.
struct BusyError : std::logic_error {
    using std::logic_error::logic_error;
};

// A controller or scheduler that was written as text cannot go on: what it did, where and when.
struct ScriptRunError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// One thread at a time uses it, which is checked; interrupt() may come from any other, and so may what reads the
// samples.
class Simulation {
public:
    // A state to come back to: for the simulation it was taken from and for those forked off it.
    struct Snapshot {
        std::shared_ptr<const Scenario> scenario;
        Network network;
        Recorder::Position position;

        // What it takes, the scenario aside, which they all share.
        std::size_t bytes() const { return sizeof(Snapshot) + heap_bytes_of(network, position); }
    };

    static constexpr std::int64_t kUnlimitedEvents = std::numeric_limits<std::int64_t>::max();
    // Events between two looks at the request to stop: milliseconds, even where an event takes a microsecond.
    static constexpr std::int64_t kEventsPerLook = std::int64_t{1} << 14;

    // Throws ScenarioError if the scenario is not usable, and ScriptRunError if a script cannot even begin.
    Simulation(Scenario scenario, std::uint64_t seed, Nanos sample_interval);

    // Runs to `until` or the end of the scenario, whichever comes first, sampling on the way. Ended early, it can be
    // read, and the next call goes on from there as if nothing had happened. Throws InternalError if an invariant is
    // broken, ScriptRunError if a script cannot go on, and std::bad_alloc if memory runs out: this object then stands
    // half-way through an event and only restore() makes it usable again; other simulations are not touched.
    RunEnd run_until(Nanos until, std::int64_t max_events = kUnlimitedEvents);

    // From now on run_until() ends soon after the run has taken more than that: some hundredths of a second of work
    // later, and with a ring that has just doubled its size. Without a call there are no limits.
    void set_limits(const RunLimits& limits) {
        const Turn turn = claim();
        limits_ = limits;
    }
    // What it takes now, traces included.
    std::size_t memory_bytes() const { return network_.heap_bytes() + recorder_.heap_bytes(); }

    // The right to use it, for as long as the object lives. Whoever calls something of network() or recorder(), and may
    // not be alone, holds one; the calls of this class that change or copy the simulation take it themselves.
    class Turn {
    public:
        explicit Turn(std::atomic<bool>& is_busy);
        ~Turn() { is_busy_.store(false, std::memory_order_release); }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

    private:
        std::atomic<bool>& is_busy_;
    };
    // Throws BusyError while another thread has it.
    [[nodiscard]] Turn claim() const { return Turn(is_busy_); }

    // Makes these changes now, in fact one nanosecond later: see Network::apply(). Throws ScenarioError, and changes
    // nothing, if one is not usable or the run is over.
    Nanos apply(std::span<const EventSpec> changes);

    // Ends the run_until() that is under way in another thread, or else the next one, within kEventsPerLook events.
    void interrupt() { is_interrupted_.store(true, std::memory_order_relaxed); }

    Nanos duration() const { return scenario_->duration; }
    Nanos now() const { return network_.now(); }
    bool is_finished() const { return now() >= duration(); }
    // Why it is of no further use; empty while it is.
    std::string_view failure() const;
    // The script that failed, by its name, and in which line; nothing: none did.
    const std::optional<std::pair<std::string, std::uint32_t>>& failed_script() const { return failed_script_; }

    Network& network() { return network_; }
    const Network& network() const { return network_; }
    const Scenario& scenario() const { return *scenario_; }
    const Recorder& recorder() const { return recorder_; }

    // Throws InternalError after a failure.
    Snapshot snapshot() const {
        const Turn turn = claim();
        require_sound();
        return {scenario_, network_, recorder_.position()};
    }
    // Continuing from here gives bit for bit what followed the snapshot, also after a failure. Samples until then that
    // this object has not taken itself are NaN. Throws ScenarioError for a foreign snapshot.
    void restore(const Snapshot& snapshot);
    // Another simulation, which stands at that state, with the samples that this one would have after restore(), and
    // goes on by itself. Marks, records of intervals, agents and decisions that had not been taken by then are there
    // for it to take, too: each run has all of its own. Throws ScenarioError for a foreign snapshot.
    std::unique_ptr<Simulation> fork(const Snapshot& snapshot) const;

private:
    Simulation(const Simulation& origin, const Snapshot& snapshot);
    void require_own(const Snapshot& snapshot) const;
    void require_sound() const;
    RunEnd advance(Nanos until, std::int64_t max_events);
    std::optional<RunEnd> exceeded(std::int64_t events);
    std::string describe(const ScriptFailure& failure) const;

    // At a fixed address: networks point to it. Shared, against the rule, with forks and snapshots, none of which is
    // the one to outlive the others; a copy for each would make them strangers to each other's snapshots, and cost what
    // a scenario with its delivery traces does.
    std::shared_ptr<const Scenario> scenario_;
    Network network_;
    Recorder recorder_;
    RunLimits limits_;
    std::int64_t events_to_look_ = 0;  // until the limits are looked at again
    std::atomic<bool> is_interrupted_ = false;
    mutable std::atomic<bool> is_busy_ = false;
    bool is_sound_ = true;  // not while an event is under way, nor after it failed
    std::string failure_;   // what an invariant said; empty: memory ran out
    std::optional<std::pair<std::string, std::uint32_t>> failed_script_;
};

}  // namespace subflow
