// A simulation: a scenario, its network and the traces of its run.
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
    Reached,      // reached the requested time, or the end of the scenario
    Interrupted,  // ended by interrupt()
    Exhausted,    // used up max_events
    Waiting,      // waits for the action of an agent: Network::is_waiting()
    OverEvents,   // exceeded RunLimits::link_crossings
    OverMemory,   // exceeded RunLimits::memory_bytes
};

// Upper limits of a run.
struct RunLimits {
    std::int64_t link_crossings = std::numeric_limits<std::int64_t>::max();
    std::size_t memory_bytes = std::numeric_limits<std::size_t>::max();
};

// Thrown in a thread that needs a simulation while another thread uses it.
struct BusyError : std::logic_error {
    using std::logic_error::logic_error;
};

// A controller or scheduler written as a script failed; the message contains the error, the place and the time.
struct ScriptRunError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Only one thread at a time may use a simulation; other threads get a BusyError. Any thread may call interrupt() and
// read samples.
class Simulation {
public:
    // A state for restore(), valid for the simulation that made it and for its forks.
    struct Snapshot {
        std::shared_ptr<const Scenario> scenario;
        Network network;
        Recorder::Position position;

        // Memory of the snapshot in bytes, without the shared scenario.
        std::size_t bytes() const { return sizeof(Snapshot) + heap_bytes_of(network, position); }
    };

    static constexpr std::int64_t kUnlimitedEvents = std::numeric_limits<std::int64_t>::max();
    // Events between two checks for an interruption: 16 ms if an event takes a microsecond.
    static constexpr std::int64_t kEventsPerLook = std::int64_t{1} << 14;

    // Throws ScenarioError if the scenario is not usable, and ScriptRunError if a script fails at its start.
    Simulation(Scenario scenario, std::uint64_t seed, Nanos sample_interval);

    // Runs to `until` or the end of the scenario, whichever comes first, and records samples. After an early end, the
    // simulation can be read, and the next call resumes without any difference. Throws InternalError if an invariant is
    // broken, ScriptRunError if a script fails, and std::bad_alloc if memory runs out. The failed event then leaves an
    // inconsistent state, and only restore() makes the object usable again; other simulations are not affected.
    RunEnd run_until(Nanos until, std::int64_t max_events = kUnlimitedEvents);

    // Makes run_until() end soon after the run exceeds these limits, within some hundredths of a second. Rings may just
    // have doubled their memory by then. Without a call the run is unlimited.
    void set_limits(const RunLimits& limits) {
        const Turn turn = claim();
        limits_ = limits;
    }
    // Current memory in bytes, including traces.
    std::size_t memory_bytes() const { return network_.heap_bytes() + recorder_.heap_bytes(); }

    // Exclusive use of the simulation during the lifetime of the object. Callers of network() or recorder() hold one if
    // other threads may use the simulation; methods that change or copy the simulation take one themselves.
    class Turn {
    public:
        explicit Turn(std::atomic<bool>& is_busy);
        ~Turn() { is_busy_.store(false, std::memory_order_release); }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

    private:
        std::atomic<bool>& is_busy_;
    };
    // Throws BusyError while another thread holds a turn.
    [[nodiscard]] Turn claim() const { return Turn(is_busy_); }

    // Applies these changes one nanosecond after now(), and returns that time: see Network::apply(). Throws
    // ScenarioError, without changing anything, if a change is not usable or the run has ended.
    Nanos apply(std::span<const EventSpec> changes);

    // Ends the current run_until() of another thread, or else the next one, within kEventsPerLook events.
    void interrupt() { is_interrupted_.store(true, std::memory_order_relaxed); }

    Nanos duration() const { return scenario_->duration; }
    Nanos now() const { return network_.now(); }
    bool is_finished() const { return now() >= duration(); }
    // Reason why the simulation is unusable; empty while it is usable.
    std::string_view failure() const;
    // Name and line of the script that failed; empty if none failed.
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
    // Returns to the snapshot, also after a failure. The run then continues exactly as the original run did, bit for
    // bit. Samples before the snapshot are NaN unless this object took them. Throws ScenarioError for a foreign
    // snapshot.
    void restore(const Snapshot& snapshot);
    // A new, independent simulation in the state of the snapshot, with the samples that this object would have after
    // restore(). Both runs return the marks, interval records, agent steps and decisions that were pending at the
    // snapshot. Throws ScenarioError for a foreign snapshot.
    std::unique_ptr<Simulation> fork(const Snapshot& snapshot) const;

private:
    Simulation(const Simulation& origin, const Snapshot& snapshot);
    void require_own(const Snapshot& snapshot) const;
    void require_sound() const;
    RunEnd advance(Nanos until, std::int64_t max_events);
    std::optional<RunEnd> exceeded(std::int64_t events);
    std::string describe(const ScriptFailure& failure) const;

    // At a fixed address: networks point to the scenario. Forks and snapshots share it, because any of them may live
    // longest. Separate copies would invalidate snapshots between forks and cost the memory of a scenario with its
    // delivery traces.
    std::shared_ptr<const Scenario> scenario_;
    Network network_;
    Recorder recorder_;
    RunLimits limits_;
    std::int64_t events_to_look_ = 0;  // events until the next check of the limits
    std::atomic<bool> is_interrupted_ = false;
    mutable std::atomic<bool> is_busy_ = false;
    bool is_sound_ = true;  // false during run_until() and restore(), and after they failed
    std::string failure_;   // message of the failure; empty if memory ran out
    std::optional<std::pair<std::string, std::uint32_t>> failed_script_;
};

}  // namespace subflow
