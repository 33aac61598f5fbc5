// Loss in bursts: a Markov chain of two states, each with its own loss probability.
#pragma once

#include <cstdint>

#include "rng.h"

namespace subflow {

// Probabilities per packet. The share of packets that see the bad state is p / (p + r), so that the stationary loss is
// (r * good + p * bad) / (p + r); a stay in the bad state lasts 1 / r packets on average.
struct GilbertOptions {
    double p = 0;     // from the good to the bad state
    double r = 1;     // from the bad to the good state
    double good = 0;  // loss in the good state
    double bad = 1;   // loss in the bad state

    friend bool operator==(const GilbertOptions&, const GilbertOptions&) = default;
};

// The chain belongs to the link: its n-th step is a draw for (seed, link, n), n counting every packet offered to the
// link, whichever flow it is of. Whether a state loses a packet is a draw of that packet's own. So with other traffic
// the same weather passes over other packets, which bursts cannot help; draws outside the chain stay what they are. A
// packet meets the state first and the chain steps afterwards; it starts in the stationary distribution.
//
// Source: Gilbert 1960, "Capacity of a burst-noise channel"; Elliott 1963 for losses in the good state.
class GilbertChain {
public:
    GilbertChain() = default;
    // `steps` packets have passed before it begins.
    GilbertChain(const GilbertOptions& options, std::uint64_t stream, std::uint64_t steps)
        : options_(options), stream_(stream) {
        const double total = options.p + options.r;
        is_bad_ = total > 0 && to_unit_interval(combine64(~stream_, steps)) * total < options.p;
    }

    // Whether packet number `step` of the link is lost; `draw` is uniform in [0, 1) and this packet's own.
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
