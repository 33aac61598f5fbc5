// Arrival times of flows and sending times of datagrams: seeded processes without a network.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "scenario.h"
#include "units.h"

namespace subflow {

// Sending times of a Cbr or OnOff flow. A copy continues like the original.
//
// An on-off source starts with an on-period of exponential length, followed by an off-period of exponential length, and
// so on. Packets leave at equal (or exponential) intervals of on-time. An unfinished interval continues in the next
// on-period, so that the mean rate is rate * on / (on + off) even for short bursts. A constant-rate source has one
// endless burst.
class DatagramSource {
public:
    DatagramSource() = default;
    // Draws are functions of the seed, the name of the flow and the number of previous draws.
    DatagramSource(FlowKind kind, const DatagramSpec& spec, std::uint64_t seed, std::string_view name);

    // Starts or restarts sending: no missed packets are sent, and the draws continue.
    void start(Nanos now);
    void stop() { wake_at_ = kNever; }

    // Time of the next call of wake(); kNever while stopped.
    Nanos wake_at() const { return wake_at_; }
    // Call at wake_at(): advances to the next packet or burst. True if a packet leaves now.
    bool wake();
    // Packets sent so far.
    std::uint64_t sent() const { return sent_; }

private:
    enum class Draw : std::uint8_t { On, Off, Gap };

    void plan();
    Nanos draw(Draw what, std::uint64_t ordinal, double mean_ns) const;

    std::uint64_t stream_ = 0;
    double interval_ns_ = 0;  // mean on-time between packets
    Nanos mean_on_ = kNever;
    Nanos mean_off_{};
    bool is_bursty_ = false;
    bool is_poisson_ = false;

    Nanos wake_at_ = kNever;
    bool sends_at_wake_ = false;
    Nanos burst_start_{};
    Nanos burst_end_{};
    Nanos on_before_burst_{};  // on-time since start(), without this burst
    Nanos due_{};              // on-time at which the next packet leaves
    std::uint64_t sent_since_start_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t bursts_ = 0;
    std::uint64_t gaps_ = 0;
};

// Flows with Poisson arrivals.
struct ArrivalSpec {
    Nanos mean_gap{};
    Nanos from{};            // start of the process; the first flow arrives one gap later
    Nanos until = kNever;    // no arrivals at or after this time
    std::int64_t limit = 0;  // maximum number of arrivals; 0: unlimited
    Nanos lifetime = kNever;
    bool is_lifetime_exponential = false;  // then `lifetime` is the mean
};

struct Arrival {
    Nanos at{};
    Nanos lifetime = kNever;
};

// Arrivals in order of time. Each is a function of (seed, name, ordinal): the first k do not depend on the end, the
// limit or other flows. Throws ScenarioError unless the mean gap is in (0, 1e6] s and an end or a limit is set.
std::vector<Arrival> poisson_arrivals(const ArrivalSpec& spec, std::uint64_t seed, std::string_view name);

// Outages that begin before `until`, in order of time, of a component that works at the start. The times to failure and
// to repair are exponential with the given means. The draws depend only on the seed and the name. Throws ScenarioError
// unless both means are greater than 0.
std::vector<Pause> random_outages(std::string_view name, std::uint64_t seed, Nanos mean_up, Nanos mean_down,
                                  Nanos until);

}  // namespace subflow
