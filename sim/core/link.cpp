#include "link.h"

namespace subflow {

Link::Link(const LinkSpec& spec, std::uint64_t seed)
    : delay_(spec.delay),
      discipline_{spec.queue_limit_pkts.value_or(DropTail{}.limit_pkts),
                  spec.queue_limit_bytes.value_or(DropTail{}.limit_bytes)},
      loss_stream_(combine64(seed, hash_name(spec.name))) {
    set_loss(spec.loss);
    set_rate(spec.rate, Nanos(0));
}

void Link::set_rate(BitsPerSec rate, Nanos now) {
    unlimited_rate_ = std::isinf(rate.value);
    nanos_per_byte_ = unlimited_rate_ ? 0.0 : 8e9 / rate.value;
    carried_fraction_ = 0;
    reschedule_queue(now);
}

void Link::set_delay(Nanos delay, Nanos now) {
    delay_ = delay;
    reschedule_queue(now);
}

void Link::set_loss(double loss) {
    // 2^64 does not fit in 64 bits: certain loss is a flag of its own.
    always_loses_ = loss >= 1.0;
    loss_threshold_ = always_loses_ ? 1 : static_cast<std::uint64_t>(loss * 0x1.0p64);
}

Nanos Link::queue_time_until(Nanos now) const {
    Nanos spent = stats_.queue_time;
    for (std::uint32_t pos = first_queued(now); pos != queue_.end_pos(); ++pos) spent -= queue_[pos].departure - now;
    return spent;
}

void Link::reschedule_queue(Nanos now) {
    expire_queue(now);
    const std::uint32_t first = in_flight_.end_pos() - queue_.size();
    earliest_arrival_ = first != in_flight_.begin_pos() ? in_flight_[first - 1].arrival : now;
    if (queue_.empty()) return;
    // Everything queued beyond the packet in service is taken out of the books and entered anew.
    Nanos free_at = queue_.front().departure;
    Nanos arrival = earliest_arrival_;
    stats_.busy -= transmitter_free_at_ - free_at;
    for (std::uint32_t i = 0; i < queue_.size(); ++i) {
        Queued& entry = queue_[queue_.begin_pos() + i];
        if (i != 0) {
            const Nanos service = transmission_time(Bytes(entry.size));
            stats_.queue_time += free_at + service - entry.departure;
            stats_.busy += service;
            free_at += service;
            entry.departure = free_at;
        }
        arrival = later_of(entry.departure + delay_, arrival);
        in_flight_[first + i].arrival = arrival;
    }
    transmitter_free_at_ = free_at;
}

}  // namespace subflow
