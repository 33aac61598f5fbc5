// Burst loss: a Markov chain of two states, each with its own loss probability.
#pragma once

#include <cstdint>

#include "fields.h"
#include "rng.h"

namespace subflow {

// Probabilities per packet. The share of packets in the bad state is p / (p + r), so that the stationary loss is (r *
// good + p * bad) / (p + r); a stay in the bad state lasts 1 / r packets on average.
struct GilbertOptions {
    double p = 0;     // transition from the good to the bad state
    double r = 1;     // transition from the bad to the good state
    double good = 0;  // loss in the good state
    double bad = 1;   // loss in the bad state

    friend bool operator==(const GilbertOptions&, const GilbertOptions&) = default;
};
SUBFLOW_FIELDS(GilbertOptions, p, r, good, bad)

// The chain belongs to the link: its n-th step is a draw for (seed, link, n), where n counts all packets offered to the
// link. The loss of a packet in a state is a draw for this packet. Additional traffic therefore shifts the same
// sequence of states to other packets, but does not change draws outside the chain. The chain steps after each packet
// and starts in the stationary distribution.
//
// Source: Gilbert 1960, "Capacity of a burst-noise channel"; Elliott 1963 for losses in the good state.
class GilbertChain {
public:
    GilbertChain() = default;
    // `steps`: number of packets offered to the link before the chain begins.
    GilbertChain(const GilbertOptions& options, std::uint64_t stream, std::uint64_t steps)
        : options_(options), stream_(stream) {
        const double total = options.p + options.r;
        is_bad_ = total > 0 && to_unit_interval(combine64(~stream_, steps)) * total < options.p;
    }

    // Returns true if packet number `step` of the link is lost; `draw` is uniform in [0, 1) and specific to this
    // packet.
    bool loses(std::uint64_t step, double draw) {
        const bool lost = draw < (is_bad_ ? options_.bad : options_.good);
        const double leave = is_bad_ ? options_.r : options_.p;
        is_bad_ ^= to_unit_interval(combine64(stream_, step)) < leave;
        return lost;
    }

private:
    GilbertOptions options_;
    std::uint64_t stream_ = 0;
    bool is_bad_ = false;
};

}  // namespace subflow
