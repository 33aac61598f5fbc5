// Rewards shared by several agents.
#pragma once

#include <algorithm>
#include <span>

#include "../cc/power.h"
#include "agent_info.h"

namespace subflow {

// Floor of the goodput in a logarithm, in Mbit/s. Where the length of the epoch is known, one packet per epoch is a
// further floor.
inline constexpr double kLeastMbps = 0.01;

inline double log_goodput(double goodput_bps) {
    return natural_log(std::max(goodput_bps / 1e6, kLeastMbps));
}

inline double least_goodput_bps(const EpochSample& sample) {
    return sample.length_s > 0 ? sample.payload_bits / sample.length_s : 0;
}

// Sum over flows of ln(goodput of the flow). The samples of a flow must be adjacent.
inline double proportional_fairness(std::span<const EpochSample> samples) {
    double sum = 0;
    for (std::size_t i = 0; i < samples.size();) {
        const std::uint32_t flow = samples[i].flow;
        const double least_bps = least_goodput_bps(samples[i]);
        double goodput_bps = 0;
        for (; i < samples.size() && samples[i].flow == flow; ++i) goodput_bps += samples[i].goodput_bps();
        sum += log_goodput(std::max(goodput_bps, least_bps));
    }
    return sum;
}

}  // namespace subflow
