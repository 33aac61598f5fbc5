// Round-trip time estimation and the retransmission timeout. Source: RFC 6298.
#pragma once

#include <cmath>

#include "scenario.h"
#include "units.h"

namespace subflow {

class RttEstimator {
public:
    bool has_sample() const { return min_rtt_ < kNever; }
    Nanos srtt() const { return srtt_; }
    Nanos rttvar() const { return rttvar_; }
    Nanos min_rtt() const { return min_rtt_; }

    void add_sample(Nanos rtt) {
        if (has_sample()) [[likely]] {
            const std::int64_t error = rtt.value - srtt_.value;
            const std::int64_t deviation = error < 0 ? -error : error;
            // RFC 6298 (2.3): beta = 1/4 and alpha = 1/8, rttvar first
            rttvar_ += Nanos((deviation - rttvar_.value) / 4);
            srtt_ += Nanos(error / 8);
            if (rtt < min_rtt_) min_rtt_ = rtt;
        } else {
            // RFC 6298 (2.2)
            srtt_ = rtt;
            rttvar_ = rtt / 2;
            min_rtt_ = rtt;
        }
    }

    // RFC 6298 (2.3), (2.4), (5.5): srtt + 4 rttvar within [rto_min, rto_max], doubled per back-off.
    // The clock granularity G of the RFC is the nanosecond of simulated time: nil.
    Nanos rto(const TransportOptions& options, int backoffs) const {
        Nanos rto = has_sample() ? srtt_ + rttvar_ * 4 : options.rto_initial;
        if (rto < options.rto_min) rto = options.rto_min;
        for (int i = 0; i < backoffs && rto < options.rto_max; ++i) rto = rto * 2;
        return rto < options.rto_max ? rto : options.rto_max;
    }

private:
    Nanos srtt_{};
    Nanos rttvar_{};
    Nanos min_rtt_ = kNever;
};

}  // namespace subflow
