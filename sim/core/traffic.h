// When flows arrive and when datagrams leave: seeded processes that know nothing of networks.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "scenario.h"
#include "units.h"

namespace subflow {

// The sending times of a Cbr or OnOff flow. A value: a copy goes on as the original would.
//
// An on-off source is on from its start, for an exponential time; then it is silent for another, and so on. Packets
// leave at equal (or exponential) distances of the time it was on: what was left of a distance when a burst ended is
// waited out at the beginning of the next, so that the mean rate is rate * on / (on + off) however short the bursts
// are. Packet k of a burst thus never strays from its grid. A constant-rate source is one whose first burst never ends.
class DatagramSource {
public:
    DatagramSource() = default;
    // Draws are functions of (seed, name of the flow, how many came before).
    DatagramSource(FlowKind kind, const DatagramSpec& spec, std::uint64_t seed, std::string_view name);

    // Begins to send, or begins anew: nothing is caught up on, and the draws go on.
    void start(Nanos now);
    void stop() { wake_at_ = kNever; }

    // When wake() wants to be called next; kNever: not before the next start().
    Nanos wake_at() const { return wake_at_; }
    // Only when wake_at() has come: goes on to the next packet or burst. True if a packet leaves now.
    bool wake();
    // Packets that left so far.
    std::uint64_t sent() const { return sent_; }

private:
    enum class Draw : std::uint8_t { On, Off, Gap };

    void plan();
    Nanos draw(Draw what, std::uint64_t ordinal, double mean_ns) const;

    std::uint64_t stream_ = 0;
    double interval_ns_ = 0;  // mean distance of two packets
    Nanos mean_on_ = kNever;
    Nanos mean_off_{};
    bool is_bursty_ = false;
    bool is_poisson_ = false;

    Nanos wake_at_ = kNever;
    bool sends_at_wake_ = false;
    Nanos burst_start_{};
    Nanos burst_end_{};
    Nanos on_before_burst_{};  // time it was on since start(), without this burst
    Nanos due_{};              // the time on at which the next packet leaves
    std::uint64_t sent_since_start_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t bursts_ = 0;
    std::uint64_t gaps_ = 0;
};

// Flows that arrive as a Poisson process.
struct ArrivalSpec {
    Nanos mean_gap{};
    Nanos from{};            // the process begins here; the first flow comes one gap later
    Nanos until = kNever;    // none arrives at or after it
    std::int64_t limit = 0;  // at most that many
    Nanos lifetime = kNever;
    bool is_lifetime_exponential = false;  // then `lifetime` is the mean
};

struct Arrival {
    Nanos at{};
    Nanos lifetime = kNever;
};

// The arrivals in order of time. Functions of (seed, name, ordinal): the first k stay what they are whatever the end
// and the limit, and other flows do not change them. Throws ScenarioError unless the mean gap is in (0, 1e6] s and
// there is an end or a limit.
std::vector<Arrival> poisson_arrivals(const ArrivalSpec& spec, std::uint64_t seed, std::string_view name);

// When something that works for an exponential time and fails for another is out of service, from its start in working
// order on: times in order, which depend on the seed and its name alone.
std::vector<Pause> random_outages(std::string_view name, std::uint64_t seed, Nanos mean_up, Nanos mean_down,
                                  Nanos until);

}  // namespace subflow
