// Confluence's model of a path: the delivery rate of the last round trips, and whether losses met a full queue.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "../rate_sample.h"
#include "../units.h"
#include "../windowed_max.h"

namespace subflow {

class PathModel {
public:
    static constexpr double kRounds = 3;        // round trips over which the largest delivery rate is remembered
    static constexpr std::size_t kNear = 6;     // ACKs around a loss, of which the highest RTT counts
    static constexpr double kShortQueue = 1.5;  // packets: shorter queues do not show the cause of a loss
    static constexpr int kRoundsIgnored = 2;    // round trips after a cut in which packets sent before it arrive

    // `memory`: time for which the highest RTT is remembered.
    explicit PathModel(Nanos memory) : peak_rtt_s_(static_cast<std::uint32_t>(memory.value / kTick)) {}

    // Largest delivery rate, packets per second; 0 before the first sample.
    double rate_pps() const { return rate_pps_.value(); }
    // Delay of the fullest queue so far: the highest RTT above the lowest one, `base_s`. It does not expire, because a
    // subflow that keeps a queue short does not see the whole buffer again.
    double fullest_queue_s(double base_s) const { return std::max(highest_rtt_s_ - base_s, 0.0); }
    // True until the rate after a cut has been measured.
    bool is_settling() const { return rounds_ignored_ > 0; }

    // Returns the number of packets lost with this ACK, each weighted by the position of the RTT around its loss
    // between the lowest RTT, `base_s`, and the highest one: about 0 for random losses, and 1 for those of a full
    // queue.
    double on_delivery(const DeliverySample& sample, double base_s) {
        now_ = static_cast<std::uint32_t>(sample.now.value / kTick);
        if (rounds_ignored_ > 0 && sample.prior_delivered_pkts >= round_ends_at_) {
            round_ends_at_ = sample.delivered_pkts;
            --rounds_ignored_;
        }
        delivered_pkts_ = sample.delivered_pkts;
        if (rounds_ignored_ == 0 && sample.has_rate() && (!sample.is_app_limited || sample.rate_pps() > rate_pps())) {
            rate_pps_.set_window(static_cast<std::uint32_t>(kRounds * static_cast<double>(sample.srtt.value) / kTick) +
                                 1);
            rate_pps_.add(now_, sample.rate_pps());
        }
        // The lower one of two RTTs in a row, because the receiver may delay a single ACK.
        const double newest_s = to_seconds(sample.rtt);
        const double rtt_s = acks_ > 0 ? std::min(newest_s, last_rtt_s_) : newest_s;
        last_rtt_s_ = newest_s;
        peak_rtt_s_.add(now_, rtt_s);
        highest_rtt_s_ = std::max(highest_rtt_s_, rtt_s);
        near_s_[acks_++ % kNear] = rtt_s;
        const double span_s = peak_rtt_s_.value() - base_s;
        if (sample.newly_lost_pkts <= 0 || span_s * rate_pps() < kShortQueue) return 0;
        return sample.newly_lost_pkts * std::clamp((std::ranges::max(near_s_) - base_s) / span_s, 0.0, 1.0);
    }

    // Lowers the rate. Samples with packets that were sent before do not count.
    void cut(double rate_pps) {
        rate_pps_ = WindowedMax(1);
        rate_pps_.add(now_, rate_pps);
        rounds_ignored_ = kRoundsIgnored;
        round_ends_at_ = delivered_pkts_;
    }

private:
    static constexpr std::int64_t kTick = 100'000;  // ns; 32 bits cover days

    WindowedMax rate_pps_{1};
    WindowedMax peak_rtt_s_;
    std::array<double, kNear> near_s_{};
    double last_rtt_s_ = 0;
    double highest_rtt_s_ = 0;
    std::size_t acks_ = 0;
    std::uint32_t now_ = 0;
    std::uint64_t delivered_pkts_ = 0;
    std::uint64_t round_ends_at_ = 0;
    int rounds_ignored_ = 0;
};

}  // namespace subflow
