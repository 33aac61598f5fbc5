// One-way delay of the packets of a subflow, with the jitter and the reordering of their arrivals.
#pragma once

#include <algorithm>
#include <cstdint>

#include "delay_histogram.h"
#include "memory.h"
#include "ring.h"
#include "units.h"

namespace subflow {

// Counters since the start of the run. Both hosts of the simulator have one clock, so that delays are exact.
struct DelayCounters {
    std::int64_t arrived_pkts = 0;
    std::int64_t compared_pkts = 0;  // arrivals with a predecessor
    std::int64_t reordered_pkts = 0;
    std::int64_t arrived_acks = 0;
    Nanos delay{};             // sum over the arrived packets
    Nanos ack_delay{};         // sum over the arrived ACKs
    double jitter_sum_ns = 0;  // sum of the estimates after each compared packet

    DelayCounters& operator+=(const DelayCounters& other) {
        arrived_pkts += other.arrived_pkts;
        compared_pkts += other.compared_pkts;
        reordered_pkts += other.reordered_pkts;
        arrived_acks += other.arrived_acks;
        delay += other.delay;
        ack_delay += other.ack_delay;
        jitter_sum_ns += other.jitter_sum_ns;
        return *this;
    }
    friend DelayCounters operator-(const DelayCounters& a, const DelayCounters& b) {
        return {.arrived_pkts = a.arrived_pkts - b.arrived_pkts,
                .compared_pkts = a.compared_pkts - b.compared_pkts,
                .reordered_pkts = a.reordered_pkts - b.reordered_pkts,
                .arrived_acks = a.arrived_acks - b.arrived_acks,
                .delay = a.delay - b.delay,
                .ack_delay = a.ack_delay - b.ack_delay,
                .jitter_sum_ns = a.jitter_sum_ns - b.jitter_sum_ns};
    }
    // Mean over the packets in seconds; NaN without packets.
    double mean_delay_s() const { return mean_s(static_cast<double>(delay.value), arrived_pkts); }
    double mean_ack_delay_s() const { return mean_s(static_cast<double>(ack_delay.value), arrived_acks); }
    double mean_jitter_s() const { return mean_s(jitter_sum_ns, compared_pkts); }

private:
    static double mean_s(double sum_ns, std::int64_t count) {
        return count > 0 ? sum_ns * 1e-9 / static_cast<double>(count) : kNaN;
    }
};

// Distribution of the delays since the start of the measured interval.
struct DelaySpread {
    Nanos least = kNever;
    Nanos most{};
    DelayHistogram distribution;

    void add(Nanos delay) {
        least = std::min(least, delay);
        most = std::max(most, delay);
        distribution.add(delay);
    }
    void add(const DelaySpread& other) {
        least = std::min(least, other.least);
        most = std::max(most, other.most);
        distribution.add(other.distribution);
    }
    // Within the range of the delays, so that equal delays have an exact quantile; NaN without delays.
    double quantile_s(double fraction) const {
        if (distribution.count() == 0) return kNaN;
        return std::clamp(distribution.quantile_s(fraction), to_seconds(least), to_seconds(most));
    }
    std::size_t heap_bytes() const { return heap_bytes_of(distribution); }
};

// Observes the packets of one subflow, or of a datagram flow. Numbers count the transmissions: a retransmission is a
// packet of its own. After a closed subflow was opened again, its numbers and its estimate of the jitter begin anew.
class OneWayDelay {
public:
    // Packet `number`, sent at `sent`, arrives at `at`. Call it in the order of arrival.
    void on_arrival(std::uint32_t number, Nanos sent, Nanos at);
    // The next ACK leaves; ACKs are numbered from 0.
    void on_ack_sent(Nanos at) { acks_sent_.push_back(at); }
    void on_ack(std::uint32_t number, Nanos at);
    // The packets and ACKs from now on belong to a new connection of the subflow.
    void reopen();
    // The measured interval begins.
    void restart();

    const DelayCounters& counters() const { return counters_; }
    const DelaySpread& packets() const { return packets_; }
    const DelaySpread& acks() const { return acks_; }
    // Estimate after the latest arrival.
    double jitter_s() const { return jitter_ns_ * 1e-9; }
    // Greatest reordering extent in the measured interval.
    std::int64_t max_extent_pkts() const { return max_extent_pkts_; }
    std::size_t heap_bytes() const { return heap_bytes_of(packets_, acks_, gaps_, acks_sent_); }

private:
    // Numbers that had not arrived when a later one did: from `first` up to the numbers that had arrived.
    struct Gap {
        std::uint32_t first = 0;
        std::uint32_t arrival = 0;  // position of the later number among the arrivals
    };
    std::uint32_t extent_of(std::uint32_t number, std::uint32_t arrival) const;

    // Packets that never arrive leave gaps and ACKs forever. Older ones are forgotten: an extent then counts from the
    // oldest gap, and an ACK overtaken by so many others is not measured.
    static constexpr std::uint32_t kRemembered = 4096;

    DelayCounters counters_;
    DelaySpread packets_;
    DelaySpread acks_;
    Nanos previous_delay_ = kNever;  // of the preceding arrival; kNever before the first
    double jitter_ns_ = 0;
    std::uint32_t arrived_ = 0;  // arrivals since the subflow was opened
    std::uint32_t next_expected_ = 0;
    Ring<Gap> gaps_;
    std::int64_t max_extent_pkts_ = 0;
    Ring<Nanos> acks_sent_;  // send times by number
};

}  // namespace subflow
