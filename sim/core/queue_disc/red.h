// Random early detection: random drops before the queue is full, with a probability that grows with the queue.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "../fields.h"
#include "../units.h"

namespace subflow {

// Thresholds count the packets in the queue at an arrival, including the packet in service. The defaults are those of
// the fluid-model literature for 10 Mbit/s: no drop below 25 packets, linear to 0.1 at 50 and to 1 at 100, by the
// instantaneous queue and independently for each packet. Classic RED averages (weight 0.002) and spreads its drops.
struct RedOptions {
    static constexpr std::string_view kName = "red";
    double min_pkts = 25;
    double max_pkts = 50;
    double max_p = 0.1;
    bool gentle = true;    // linear from max_p at max_pkts to 1 at twice that; otherwise 1 above max_pkts
    double weight = 1;     // weight of a new sample in the average; 1: the instantaneous queue
    bool spreads = false;  // uniform gaps between drops instead of geometric ones
    bool marks = false;    // marks ECN-capable packets instead of dropping them; overflow still drops

    bool may_mark() const { return marks; }
    std::string_view problem() const {
        // Equal thresholds give a step, and are allowed only for marks.
        const bool ascends = max_pkts > min_pkts || (marks && max_pkts == min_pkts);
        if (!(min_pkts >= 0 && ascends && std::isfinite(max_pkts)))
            return "RED's thresholds must be in ascending order";
        if (!(max_p > 0 && max_p <= 1)) return "RED's max_p must be in (0, 1]";
        if (!(weight > 0 && weight <= 1)) return "RED's weight must be in (0, 1]";
        return {};
    }
};
SUBFLOW_FIELDS(RedOptions, min_pkts, max_pkts, max_p, gentle, weight, spreads, marks)

// Source: Floyd, Jacobson 1993, "Random Early Detection gateways for congestion avoidance", figure 2 (average with
// correction for idle time, count of packets since the last drop); Floyd 2000 for the gentle slope.
class Red {
public:
    Red() = default;
    explicit Red(const RedOptions& options) : options_(options) {}

    // Drop probability at an average queue, before the correction for packets since the last drop.
    static double drop_probability(const RedOptions& o, double average_pkts) {
        if (average_pkts < o.min_pkts) return 0;
        if (average_pkts < o.max_pkts) return o.max_p * (average_pkts - o.min_pkts) / (o.max_pkts - o.min_pkts);
        if (!o.gentle || average_pkts >= 2 * o.max_pkts) return 1;
        return o.max_p + (1 - o.max_p) * (average_pkts - o.max_pkts) / o.max_pkts;
    }

    // True if a packet that finds `queue_pkts` is admitted. `idle_services`: packets that could have been sent since
    // the queue became empty; `draw`: uniform in [0, 1), separate for each packet.
    bool admits(std::int64_t queue_pkts, std::int64_t idle_services, double draw) {
        if (queue_pkts == 0) {
            average_pkts_ *= decay(idle_services);
        } else {
            average_pkts_ += options_.weight * (static_cast<double>(queue_pkts) - average_pkts_);
        }
        const double p_b = drop_probability(options_, average_pkts_);
        double p_a = p_b;
        if (options_.spreads && p_b > 0) {
            // Section 7: p_a = p_b / (1 - count * p_b) makes gaps uniform on 1 … 1/p_b. Count covers the packets
            // admitted since the last drop; figure 2 of the paper counts one more, in contrast to its derivation.
            const double rest = 1 - static_cast<double>(admitted_) * p_b;
            p_a = rest > p_b ? p_b / rest : 1;
        }
        const bool drops = draw < p_a;
        admitted_ = drops || p_b <= 0 ? 0 : admitted_ + 1;
        return !drops;
    }

    // The queue limit dropped an admitted packet.
    void on_overflow() { admitted_ = 0; }

    bool marks() const { return options_.marks; }
    double average_pkts() const { return average_pkts_; }

private:
    // (1 - weight)^n by squaring: pow() of different libraries differs in the last digits.
    double decay(std::int64_t n) const {
        double result = 1;
        double factor = 1 - options_.weight;
        for (n = std::max<std::int64_t>(n, 0); n != 0; n >>= 1) {
            if ((n & 1) != 0) result *= factor;
            factor *= factor;
        }
        return result;
    }

    RedOptions options_;
    double average_pkts_ = 0;
    std::int64_t admitted_ = 0;  // packets admitted since the last drop
};

}  // namespace subflow
