// Round-trip time estimation and the retransmission timeout. Source: RFC 6298; Linux tcp_rtt_estimator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "scenario.h"
#include "timer_wheel.h"
#include "units.h"

namespace subflow {

class RttEstimator {
public:
    bool has_sample() const { return min_rtt_ < kNever; }
    // True once a smoothed RTT exists, from data or from the handshake.
    bool has_estimate() const { return has_sample() || srtt_ > Nanos(0); }
    Nanos srtt() const { return srtt_; }
    Nanos rttvar() const { return rttvar_; }
    Nanos min_rtt() const { return min_rtt_; }
    // Minimum of the samples since the last call; kNever without a sample.
    Nanos take_least() { return std::exchange(least_, kNever); }

    // The RTT of the handshake. It does not count for the minimum: handshake packets are small, and Linux reports
    // samples to controllers (pkts_acked) only for data.
    void add_handshake(Nanos rtt, const TransportOptions& options) {
        srtt_ = rtt;
        rttvar_ = rtt / 2;
        margin_ = round_margin_ = std::max(rttvar_ * 4, options.rto_min);
    }

    // An ACK gives two samples. `rtt`, of the oldest packet that it reports, contains the delay of the ACK: timeouts
    // must exceed both. `newest_rtt`, of the newest packet, shows the path: minima count it.
    // Source: Linux tcp_ack_update_rtt (seq_rtt_us and ca_rtt_us)
    void add_sample(Nanos rtt, Nanos newest_rtt) {
        const bool is_first = !has_estimate();
        count_for_minima(newest_rtt);
        if (is_first) [[unlikely]] {  // RFC 6298 (2.2)
            srtt_ = rtt;
            rttvar_ = rtt / 2;
            return;
        }
        const std::int64_t error = rtt.value - srtt_.value;
        const std::int64_t deviation = error < 0 ? -error : error;
        // RFC 6298 (2.3): beta = 1/4 and alpha = 1/8, rttvar first
        rttvar_ += Nanos((deviation - rttvar_.value) / 4);
        srtt_ += Nanos(error / 8);
    }

    // Like add_sample(), with the additional state of the Linux rule: the largest 4 rttvar of each round trip, but at
    // least rto_min, raises the margin of the timeout at once. A smaller value lowers the margin by a quarter of the
    // difference per round trip. A falling RTT raises rttvar by only 1/32 of the difference, so that it hardly
    // lengthens the timeout. `snd_una`: the cumulative ACK of the sample.
    void add_sample_linux(Nanos rtt, Nanos newest_rtt, std::uint32_t snd_una, std::uint32_t snd_nxt,
                          const TransportOptions& options) {
        const bool is_first = !has_estimate();
        count_for_minima(newest_rtt);
        if (is_first) [[unlikely]] {
            srtt_ = rtt;
            rttvar_ = rtt / 2;
            margin_ = round_margin_ = std::max(rttvar_ * 4, options.rto_min);
            round_end_ = snd_nxt;
            return;
        }
        const std::int64_t error = rtt.value - srtt_.value;
        const std::int64_t deviation = error < 0 ? -error : error;
        const std::int64_t change = deviation - rttvar_.value;
        rttvar_ += Nanos(change / (error < 0 && change > 0 ? 32 : 4));
        srtt_ += Nanos(error / 8);
        round_margin_ = std::max(round_margin_, rttvar_ * 4);
        margin_ = std::max(margin_, round_margin_);
        if (snd_una > round_end_) {
            margin_ -= Nanos((margin_ - round_margin_).value / 4);
            round_end_ = snd_nxt;
            round_margin_ = options.rto_min;
        }
    }

    // RFC 6298 (2.3), (2.4), (5.5): srtt + 4 rttvar within [rto_min, rto_max], doubled per back-off; rto_initial
    // instead of the sum before the first estimate. The clock granularity G of the RFC is 0, because simulated time
    // counts nanoseconds. The Linux rule: srtt plus the margin, which is at least rto_min.
    Nanos rto(const TransportOptions& options, int backoffs) const {
        Nanos rto = options.rto_initial;
        if (has_estimate()) [[likely]]
            rto = srtt_ + (options.rto_rule == RtoRule::Linux ? margin_ : rttvar_ * 4);
        if (rto < options.rto_min) rto = options.rto_min;
        for (int i = 0; i < backoffs && rto < options.rto_max; ++i) rto = rto * 2;
        return rto < options.rto_max ? rto : options.rto_max;
    }

    // Expiry of a timeout that begins now.
    Nanos expiry(Nanos now, const TransportOptions& options, int backoffs) const {
        const Nanos timeout = rto(options, backoffs);
        if (tick_ns_ == 0) [[likely]]
            return now + timeout;
        return wheel_expiry(now, timeout, Nanos(tick_ns_));
    }
    // Tick of the host's timer wheel; 0 for an exact clock.
    void set_tick(Nanos tick) { tick_ns_ = static_cast<std::uint32_t>(tick.value); }

private:
    void count_for_minima(Nanos rtt) {
        min_rtt_ = std::min(min_rtt_, rtt);
        least_ = std::min(least_, rtt);
    }

    Nanos srtt_{};
    Nanos rttvar_{};
    Nanos min_rtt_ = kNever;
    Nanos least_ = kNever;         // minimum since the last take_least()
    Nanos margin_{};               // Linux rule: timeout minus srtt
    Nanos round_margin_{};         // the largest 4 rttvar of this round trip
    std::uint32_t round_end_ = 0;  // an ACK beyond it begins the next round trip
    std::uint32_t tick_ns_ = 0;
};

}  // namespace subflow
