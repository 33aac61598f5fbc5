// Spaces the packets of a sender evenly, either individually or in bursts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "units.h"

namespace subflow {

// Packets per burst: Linux passes these packets to a network card as one buffer for segmentation (TSO). A burst holds
// the data of one millisecond at the pacing rate, and more for a short RTT. `min_rtt`: kNever before the first sample;
// `mss_bytes`: payload of a packet.
// Source: Linux tcp_tso_autosize, tcp_tso_segs, bbr_min_tso_segs. The lower bound is that of BBR, because only BBR
// paces by default in Linux. DEVIATION: Linux delays a burst that the window cuts short if the next ACK is about to
// open the window (tcp_tso_should_defer). Here the packets that fit leave at once.
inline std::uint32_t burst_pkts(double rate_pps, Nanos min_rtt, double mss_bytes) {
    constexpr int kPacingShift = 10;                // sk_pacing_shift: 1 / 1024 s
    constexpr int kRttLog = 9;                      // tcp_tso_rtt_log: the extra bytes halve per 512 us of RTT
    constexpr std::uint64_t kMostBytes = 65'215;    // gso_max_size of 65536, minus 321 for headers
    constexpr std::uint64_t kSlow = 1'200'000 / 8;  // bbr_min_tso_rate, bytes/s
    const auto mss = static_cast<std::uint64_t>(std::max(mss_bytes, 1.0));
    const auto rate = static_cast<std::uint64_t>(std::min(rate_pps * mss_bytes, 1e18));
    std::uint64_t bytes = rate >> kPacingShift;
    const std::int64_t halvings = min_rtt.value / 1000 >> kRttLog;
    if (halvings < 32) bytes += kMostBytes >> halvings;
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(std::min(bytes, kMostBytes) / mss, rate < kSlow ? 1 : 2));
}

// Computes the earliest time for the next packet, one interval after the previous packet. Fractions of a nanosecond are
// carried over, so that the rate is exact. Idle time gives no credit for a later burst.
class Pacer {
public:
    bool allows(Nanos now) const { return next_ <= now; }
    Nanos next() const { return next_; }

    // A packet leaves at `now`; `rate_pps` > 0 sets the interval until the next packet.
    void on_send(Nanos now, double rate_pps) {
        if (next_ < now) {
            next_ = now;
            fraction_ns_ = 0;
        }
        // At least one packet per hour: the interval has to fit the clock.
        const double interval_ns = fraction_ns_ + (rate_pps > 1 / 3600.0 ? 1e9 / rate_pps : 3600e9);
        const auto whole_ns = static_cast<std::int64_t>(interval_ns);
        next_ += Nanos(whole_ns);
        fraction_ns_ = interval_ns - static_cast<double>(whole_ns);
    }

    // Like on_send(), for bursts of up to `most` packets: the next burst starts after the time that individually paced
    // packets would have taken. The remaining packets of a burst that ran out of data may leave at any time.
    void on_send_in_burst(Nanos now, double rate_pps, std::uint32_t most) {
        if (left_in_burst_ == 0) left_in_burst_ = most;
        const Nanos began = next_;
        next_ = std::max(next_, burst_until_);
        on_send(now, rate_pps);
        burst_until_ = next_;
        if (--left_in_burst_ != 0) next_ = began;
    }
    // Ends the current burst early.
    void end_burst() {
        if (left_in_burst_ == 0) return;
        left_in_burst_ = 0;
        next_ = burst_until_;
    }

private:
    Nanos next_{};
    double fraction_ns_ = 0;           // fraction of a nanosecond to add to next_; below 1
    Nanos burst_until_{};              // when the next burst may begin
    std::uint32_t left_in_burst_ = 0;  // packets that may still leave in this burst
};

}  // namespace subflow
