// Spaces a sender's packets evenly.
#pragma once

#include <cstdint>

#include "units.h"

namespace subflow {

// Remembers when the next packet may leave: one interval after the one before. Fractions of a nanosecond are carried
// over, so that the rate is exact; time in which nothing was sent is not made up for. Linux also lets packets leave in
// bursts of up to a millisecond's worth at high rates, to spare the processor: there is no need for it here.
class Pacer {
public:
    bool allows(Nanos now) const { return next_ <= now; }
    Nanos next() const { return next_; }

    // A packet leaves at `now`; `rate_pps` > 0 holds until the next one.
    void on_send(Nanos now, double rate_pps) {
        if (next_ < now) {
            next_ = now;
            fraction_ns_ = 0;
        }
        // No slower than a packet per hour: an interval has to fit the clock.
        const double interval_ns = fraction_ns_ + (rate_pps > 1 / 3600.0 ? 1e9 / rate_pps : 3600e9);
        const auto whole_ns = static_cast<std::int64_t>(interval_ns);
        next_ += Nanos(whole_ns);
        fraction_ns_ = interval_ns - static_cast<double>(whole_ns);
    }

private:
    Nanos next_{};
    double fraction_ns_ = 0;  // the exact time is this much later; below 1
};

}  // namespace subflow
