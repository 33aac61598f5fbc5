// One direction of a link: random loss, queue, transmitter, wire.
#pragma once

#include <cmath>
#include <cstdint>

#include "packet.h"
#include "queue_disc/drop_tail.h"
#include "ring.h"
#include "rng.h"
#include "scenario.h"
#include "units.h"

namespace subflow {

// What a link direction counted since the start of the run.
struct LinkStats {
    std::int64_t packets_in = 0;   // offered to the link
    std::int64_t packets_out = 0;  // arrived at the far end
    std::int64_t drops_queue = 0;
    std::int64_t drops_random = 0;
    std::int64_t drops_down = 0;
    Nanos busy{};        // time the transmitter is engaged by the accepted packets, past or still to come
    Nanos queue_time{};  // sum over packets of the time in the queue, service included (Little: its rate of
                         // growth is the mean queue length)
};

enum class Verdict : std::uint8_t { Accepted, DroppedQueue, DroppedRandom, DroppedDown };

// The departure of a packet is known when it joins a first-come-first-served queue, so the link keeps one ring of
// packets with departure and arrival times and needs one pending event in all: the arrival of its first packet. A
// change of rate or delay rewrites the times of what has not left the queue yet.
class Link {
public:
    Link() = default;
    Link(const LinkSpec& spec, std::uint64_t seed);

    bool is_lossy() const { return loss_threshold_ != 0; }

    // Offers a packet; `luck` is a random number of this packet's own, used when the link is lossy.
    // After Accepted the caller makes sure an event is pending at next_arrival().
    Verdict enqueue(const Packet& packet, Nanos now, std::uint64_t luck) {
        ++stats_.packets_in;
        if (is_lossy() && (always_loses_ || combine64(loss_stream_, luck) < loss_threshold_)) [[unlikely]] {
            ++stats_.drops_random;
            return Verdict::DroppedRandom;
        }
        if (!up_) [[unlikely]] {
            ++stats_.drops_down;
            return Verdict::DroppedDown;
        }
        if (unlimited_rate_) {
            // A pure delay: leaves at once, never queues.
            in_flight_.push_back({now, later_of(now + delay_, last_arrival_), packet});
            last_arrival_ = in_flight_.back().arrival;
            queue_head_ = in_flight_.end_pos();
            queue_bytes_ = Bytes(0);
            return Verdict::Accepted;
        }
        const Bytes size(packet.size);
        expire_queue(now);
        const auto queued = static_cast<std::int64_t>(in_flight_.end_pos() - queue_head_);
        if (!discipline_.admits(queued, queue_bytes_, size)) [[unlikely]] {
            ++stats_.drops_queue;
            return Verdict::DroppedQueue;
        }
        const Nanos start = later_of(now, transmitter_free_at_);
        if (now > transmitter_free_at_) carried_fraction_ = 0;
        const Nanos departure = start + transmission_time(size);
        const Nanos arrival = later_of(departure + delay_, last_arrival_);
        in_flight_.push_back({departure, arrival, packet});
        transmitter_free_at_ = departure;
        last_arrival_ = arrival;
        queue_bytes_ += size;
        stats_.busy += departure - start;
        stats_.queue_time += departure - now;
        if (queued + 1 > max_queue_pkts_) max_queue_pkts_ = queued + 1;
        return Verdict::Accepted;
    }

    // When the first packet reaches the far end; kNever if none is under way.
    Nanos next_arrival() const { return in_flight_.empty() ? kNever : in_flight_.front().arrival; }

    // Takes the packet that arrives. Only when next_arrival() has come.
    Packet take_arrival(Nanos now) {
        expire_queue(now);
        const Packet packet = in_flight_.front().packet;
        in_flight_.pop_front();
        ++stats_.packets_out;
        return packet;
    }

    // Timed changes. Packets that have left the queue keep their arrival; those still queued are served under the new
    // values; the one in service keeps the rate it started with. Packets never overtake each other on a link.
    void set_rate(BitsPerSec rate, Nanos now);
    void set_delay(Nanos delay, Nanos now);
    void set_loss(double loss);
    void set_queue_limit(DropTail limits) { discipline_ = limits; }  // a smaller limit lets the excess drain
    // Calls on_drop(packet) for each queued packet a link going down loses; those on the wire still arrive.
    template <class OnDrop>
    void set_up(bool up, Nanos now, OnDrop&& on_drop) {
        if (up_ == up) return;
        up_ = up;
        if (up) return;
        expire_queue(now);
        for (std::uint32_t pos = queue_head_; pos != in_flight_.end_pos(); ++pos) {
            stats_.queue_time -= in_flight_[pos].departure - now;
            ++stats_.drops_down;
            on_drop(in_flight_[pos].packet);
        }
        in_flight_.truncate(queue_head_);
        stats_.busy = busy_until(now);
        transmitter_free_at_ = now;
        last_arrival_ = in_flight_.empty() ? now : in_flight_.back().arrival;
        queue_bytes_ = Bytes(0);
    }

    Nanos delay() const { return delay_; }
    const LinkStats& stats() const { return stats_; }
    std::int64_t queue_pkts(Nanos now) const { return in_flight_.end_pos() - first_queued(now); }
    std::int64_t packets_under_way() const { return in_flight_.size(); }
    // Time engaged until `now`: what is queued has been counted in advance.
    Nanos busy_until(Nanos now) const {
        return stats_.busy - (transmitter_free_at_ > now ? transmitter_free_at_ - now : Nanos(0));
    }
    // Queueing time spent until `now`, likewise.
    Nanos queue_time_until(Nanos now) const;
    std::int64_t max_queue_pkts() const { return max_queue_pkts_; }
    void restart_max_queue(Nanos now) { max_queue_pkts_ = queue_pkts(now); }

private:
    struct InFlight {
        Nanos departure;
        Nanos arrival;
        Packet packet;
    };

    static Nanos later_of(Nanos a, Nanos b) { return a < b ? b : a; }

    // Nanoseconds to send `size`, carrying the fraction to the next packet of a busy period, so that rates are exact.
    Nanos transmission_time(Bytes size) {
        const double exact = static_cast<double>(size.value) * nanos_per_byte_ + carried_fraction_;
        const auto whole = static_cast<std::int64_t>(exact);
        carried_fraction_ = exact - static_cast<double>(whole);
        return Nanos(whole);
    }

    // Ring position of the first packet that has not left the queue at `now`.
    std::uint32_t first_queued(Nanos now) const {
        std::uint32_t pos = queue_head_;
        while (pos != in_flight_.end_pos() && in_flight_[pos].departure <= now) ++pos;
        return pos;
    }

    // Moves past the packets that have left the queue by now.
    void expire_queue(Nanos now) {
        while (queue_head_ != in_flight_.end_pos() && in_flight_[queue_head_].departure <= now) {
            queue_bytes_ -= Bytes(in_flight_[queue_head_].packet.size);
            ++queue_head_;
        }
    }

    // Recomputes the times of the queued packets; the first of them is in service and keeps its departure.
    void reschedule_queue(Nanos now);

    Ring<InFlight> in_flight_;
    std::uint32_t queue_head_ = 0;  // ring position of the first packet that has not left the queue
    Nanos transmitter_free_at_{};
    Nanos last_arrival_{};
    Bytes queue_bytes_{};
    Nanos delay_{};
    double nanos_per_byte_ = 0;
    double carried_fraction_ = 0;
    DropTail discipline_;
    std::uint64_t loss_threshold_ = 0;  // loss probability scaled to 2^64
    std::uint64_t loss_stream_ = 0;
    bool always_loses_ = false;
    bool unlimited_rate_ = true;
    bool up_ = true;
    std::int64_t max_queue_pkts_ = 0;
    LinkStats stats_;
};

}  // namespace subflow
