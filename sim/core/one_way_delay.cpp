#include "one_way_delay.h"

#include <cmath>

#include "check.h"

namespace subflow {

void OneWayDelay::on_arrival(std::uint32_t number, Nanos sent, Nanos at) {
    const Nanos delay = at - sent;
    ++counters_.arrived_pkts;
    counters_.delay += delay;
    packets_.add(delay);
    if (previous_delay_ == kNever) {
        jitter_ns_ = 0;
    } else {
        // RFC 3550 section 6.4.1 and appendix A.8, J(i); without rounding to whole units
        const auto change_ns = static_cast<double>(std::abs((delay - previous_delay_).value));
        jitter_ns_ += (change_ns - jitter_ns_) / 16;
        counters_.jitter_sum_ns += jitter_ns_;
        ++counters_.compared_pkts;
    }
    previous_delay_ = delay;

    const std::uint32_t arrival = arrived_++;
    if (number < next_expected_) {  // RFC 4737 section 3.3
        ++counters_.reordered_pkts;
        max_extent_pkts_ = std::max<std::int64_t>(max_extent_pkts_, extent_of(number, arrival));
        return;
    }
    if (number > next_expected_) {
        if (gaps_.size() == kRemembered) gaps_.pop_front();
        gaps_.push_back({next_expected_, arrival});
    }
    next_expected_ = number + 1;
}

// RFC 4737 section 4.2.2: i - j, where j is the first arrival with a greater number. This arrival opened the gap that
// contains the number.
std::uint32_t OneWayDelay::extent_of(std::uint32_t number, std::uint32_t arrival) const {
    SF_ASSERT(!gaps_.empty());
    std::uint32_t low = gaps_.begin_pos();
    std::uint32_t high = gaps_.end_pos();
    while (high - low > 1) {
        const std::uint32_t middle = low + (high - low) / 2;
        (gaps_[middle].first <= number ? low : high) = middle;
    }
    return arrival - gaps_[low].arrival;
}

void OneWayDelay::on_ack(std::uint32_t number, Nanos at) {
    const std::uint32_t before = number - acks_sent_.begin_pos();
    if (before >= acks_sent_.size()) return;  // forgotten
    const Nanos delay = at - acks_sent_[number];
    ++counters_.arrived_acks;
    counters_.ack_delay += delay;
    acks_.add(delay);
    if (before > kRemembered) acks_sent_.pop_front(before - kRemembered);
}

void OneWayDelay::reopen() {
    previous_delay_ = kNever;
    arrived_ = next_expected_ = 0;
    gaps_.reset();
    acks_sent_.reset();
}

void OneWayDelay::restart() {
    packets_ = {};
    acks_ = {};
    max_extent_pkts_ = 0;
}

}  // namespace subflow
