// One direction of a link: random loss, queue, transmitter, wire.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "boxed.h"
#include "check.h"
#include "fetch.h"
#include "link_features.h"
#include "memory.h"
#include "packet.h"
#include "queue_disc/drop_tail.h"
#include "ring.h"
#include "rng.h"
#include "scenario.h"
#include "units.h"

namespace subflow {

// Counters of a link direction since the start of the run.
struct LinkStats {
    std::int64_t packets_in = 0;   // packets offered to the link
    std::int64_t packets_out = 0;  // packets that arrived at the far end
    Nanos busy{};                  // service time of all accepted packets, including service in the future
    Nanos queue_time{};            // sum over packets of the time in the queue, including service; its rate of
                                   // growth is the mean queue length (Little's law)
    std::int64_t drops_queue = 0;
    std::int64_t drops_random = 0;
    std::int64_t drops_down = 0;
    std::int64_t drops_scripted = 0;
    std::int64_t marks = 0;  // packets that the queue marked instead of dropping them (RFC 3168)
};

// The departure of a packet is known when it joins a first-come-first-served queue, and with it the arrival at the far
// end. The link therefore needs no event to serve the queue, and packets may be offered ahead of the clock, provided
// that the times of successive offers do not decrease. A change of rate or delay rewrites the times of packets still in
// the queue, so that no packet may be offered beyond the next change.
//
// This applies to every predictable link: drop-tail and RED queues, any rate, any loss and any delay. Managed queues
// (CoDel, FQ-CoDel, DualPI2) choose a packet only when the transmitter is free. On a link with overtaking, the packet
// offered first need not arrive first. Callers must offer packets to these two kinds of links at the current time. Both
// keep the packets, and need calls of serve() at the times of next_event().
//
// A plain link (drop-tail, limited or unlimited rate, independent loss) is implemented inline in this class. All other
// features are behind one branch, in LinkFeatures and link.cpp.
class alignas(kCacheLine) Link {
public:
    Link() = default;
    // The link refers to the traces in the spec, which must outlive it.
    Link(const LinkSpec& spec, std::uint64_t seed);

    // True if offer() reads `draw`.
    bool uses_draw() const { return uses_draw_; }
    // True if the arrival of a packet is known when it is accepted. Constant after construction and join_medium().
    bool is_predictable() const { return is_predictable_; }
    // True if the arrival of a packet is known when its service begins, in the order of arrivals: for predictable links
    // and for managed queues, except on shared media and with overtaking.
    bool is_predictable_in_service() const { return is_predictable_ || carries_served_; }
    // True if take_served() may find packets.
    bool has_served() const { return features_->served_pkts != 0; }
    // True for a pure delay, where packets do not influence each other.
    bool is_order_free() const { return unlimited_rate_ && !features_; }

    // Offers a packet that reaches the link at `at`; `draw` is a random number specific to this packet. After Accepted
    // and Marked, the caller must either keep the packet on the link by hold(), or call pass() and carry it to the next
    // hop. After Kept, the caller must call take_dropped() and ensure that an event is pending at next_event().
    SF_INLINE Verdict offer(const Packet& packet, Nanos at, std::uint64_t draw) {
        ++stats_.packets_in;
        if (!is_plain_) [[unlikely]] {
            const Packet copy = packet;  // so that `packet` itself can stay in registers
            return offer_featured(copy, at, draw);
        }
        if (has_independent_loss_ && is_lost(draw)) [[unlikely]] {
            ++stats_.drops_random;
            return Verdict::DroppedRandom;
        }
        if (unlimited_rate_) {
            arrival_ = later_of(at + delay_, earliest_arrival_);
            return Verdict::Accepted;
        }
        const Bytes size(packet.size);
        expire_queue(at);
        const auto queued = static_cast<std::int64_t>(queue_.size());
        if (!discipline_.admits(queued, queue_bytes_, size)) [[unlikely]] {
            ++stats_.drops_queue;
            return Verdict::DroppedQueue;
        }
        const Nanos start = later_of(at, transmitter_free_at_);
        if (at > transmitter_free_at_) carried_fraction_ = 0;
        const Nanos departure = start + transmission_time(size);
        Queued& queued_packet = queue_.push_slot();
        queued_packet.departure = departure;
        queued_packet.size = packet.size;
        transmitter_free_at_ = departure;
        arrival_ = later_of(departure + delay_, earliest_arrival_);
        queue_bytes_ += size;
        stats_.busy += departure - start;
        stats_.queue_time += departure - at;
        if (queued + 1 > max_queue_pkts_) max_queue_pkts_ = queued + 1;
        return Verdict::Accepted;
    }

    // Time at which the packet accepted last reaches the far end. Requires a predictable link.
    Nanos arrival() const { return arrival_; }
    // Keeps the packet accepted last until arrival(). On a pure delay, where packets may be offered in any order,
    // packets with the same arrival time are sorted by subflow. On other links, they keep the order of their offers.
    SF_INLINE void hold(const Packet& packet) {
        InFlight& held = in_flight_.push_slot();
        held.arrival = arrival_;
        held.packet = packet;
        if (is_order_free() && in_flight_.size() > 1 && !has_order(in_flight_[in_flight_.end_pos() - 2], held))
            [[unlikely]]
            sort_in_last();
    }
    void pass() { ++stats_.packets_out; }

    // Time at which the first held packet reaches the far end; kNever if no packet is under way. On a link
    // that is not predictable, packets count only after serve() has processed them.
    Nanos next_arrival() const { return in_flight_.empty() ? kNever : in_flight_.front().arrival; }

    // Takes the first held packet. Requires that the time of next_arrival() has come.
    Packet take_arrival() {
        const Packet packet = in_flight_.front().packet;
        in_flight_.pop_front();
        ++stats_.packets_out;
        return packet;
    }

    // Time of the next event of the link: an arrival, or on an unpredictable link a call of serve(), which may make a
    // packet arrive. kNever: no event until a packet is offered.
    Nanos next_event() const { return is_predictable_ ? next_arrival() : next_unpredictable_event(); }

    // On an unpredictable link: processes the queue up to `now`. The caller must then call take_dropped().
    void serve(Nanos now);

    // Makes the link a station of a shared medium, which then determines by set_access_at() when the link sends.
    // `number`: the link's number in the medium, from Medium::add().
    void join_medium(const AccessOptions& options, std::uint32_t number);
    const MediumPlace* station() const { return features_ && features_->station ? &*features_->station : nullptr; }
    bool has_waiting() const { return waiting_pkts() != 0; }
    void set_access_at(Nanos time) { features_->station->access_at = time; }
    // Sends the packets of one access and returns the end of the access, or `now` if no packet is left. The caller must
    // then call take_dropped().
    Nanos access(Nanos now);
    // Approximate duration of an access, computed as if all waiting packets had the mean size; 0 without packets.
    Nanos access_time() const;
    // Drops the waiting packets of an access after too many collisions: at most AccessOptions::aggregation packets.
    void give_up_access(Nanos now);
    // With hidden stations: begins an access and returns its duration.
    Nanos begin_access(Nanos now);
    // With hidden stations: ends an access that was received without a collision.
    void end_access(Nanos now);

    // Passes each packet dropped by serve() or by an accepting offer() to on_drop(packet, verdict). The statistics
    // already include these drops.
    template <class OnDrop>
    void take_dropped(OnDrop&& on_drop) {
        if (!features_) return;
        for (const Refused& each : features_->dropped) on_drop(each.packet, each.verdict);
        features_->dropped.clear();
    }
    // From now on, packets that a managed queue marks are kept for take_marked().
    void keep_marked() {
        if (features_) features_->keeps_marked = true;
    }
    // Passes each packet that the managed queue has marked to on_mark(packet).
    template <class OnMark>
    void take_marked(OnMark&& on_mark) {
        if (!features_) return;
        for (const Packet& packet : features_->marked) on_mark(packet);
        features_->marked.clear();
    }
    const DropTail& limits() const { return discipline_; }

    // After serve() or an offer on a link that is not predictable: takes those packets whose service began in this
    // call, that arrive by `until` and for which `wants(packet)` holds, and passes them to `take(packet, arrival)`,
    // which must not offer packets to this link. The other packets stay.
    template <class Wants, class Take>
    void take_served(Nanos until, Wants&& wants, Take&& take) {
        const std::uint32_t end = in_flight_.end_pos();
        std::uint32_t kept_end = end - std::exchange(features_->served_pkts, 0u);
        for (std::uint32_t pos = kept_end; pos != end; ++pos) {
            InFlight entry = in_flight_[pos];
            if (entry.arrival > until || !wants(entry.packet)) {
                in_flight_[kept_end++] = entry;
                continue;
            }
            ++stats_.packets_out;
            take(entry.packet, entry.arrival);
        }
        in_flight_.truncate(kept_end);
    }

    // Takes the packets that arrive by `until` and for which `wants(packet)` holds, and passes them to `take(packet,
    // arrival)`, which must not offer packets to this link. The other packets stay.
    template <class Wants, class Take>
    void take_until(Nanos until, Wants&& wants, Take&& take) {
        std::uint32_t end = in_flight_.begin_pos();
        std::uint32_t taken = 0;
        for (; end != in_flight_.end_pos() && in_flight_[end].arrival <= until; ++end) {
            InFlight entry = in_flight_[end];
            if (!wants(entry.packet)) continue;
            ++taken;
            ++stats_.packets_out;
            take(entry.packet, entry.arrival);
        }
        // Close the gaps between the remaining packets.
        std::uint32_t to = end;
        if (taken != end - in_flight_.begin_pos()) {
            for (std::uint32_t from = end; from != in_flight_.begin_pos(); --from)
                if (!wants(in_flight_[from - 1].packet)) in_flight_[--to] = in_flight_[from - 1];
        }
        in_flight_.pop_front(taken);
    }

    // Calls visit(packet) for each held packet; `visit` may change the packet.
    template <class Visit>
    void for_each_held(Visit&& visit) {
        for (std::uint32_t pos = in_flight_.begin_pos(); pos != in_flight_.end_pos(); ++pos)
            visit(in_flight_[pos].packet);
    }

    // Timed changes. Packets that have left the queue keep their arrival; queued packets are served with the new
    // values; the packet in service keeps its rate. Packets do not overtake each other, unless the link allows it. A
    // new rate ends a delivery trace and a token bucket, and a new delay ends a delay trace.
    void set_rate(BitsPerSec rate, Nanos now);
    void set_delay(Nanos delay, Nanos now);
    void set_loss(double loss);
    void set_loss(const GilbertOptions& model);
    // Applies to every discipline. If the queue exceeds the new limit, drop-tail, RED and CoDel let the excess drain;
    // FQ-CoDel drops it when the next packet arrives.
    void set_queue_limit(DropTail limits) { discipline_ = limits; }
    // Calls on_drop(packet) for each queued packet that is lost when the link goes down; packets on the wire still
    // arrive.
    template <class OnDrop>
    void set_up(bool up, Nanos now, OnDrop&& on_drop) {
        if (up_ == up) return;
        up_ = up;
        is_plain_ = up_ && !features_;
        if (up) return;
        if (features_) empty_managed_queue(now);
        settle(now);
        if (features_ && features_->bucket) take_back_tokens(now);
        const std::uint32_t first = in_flight_.end_pos() - queue_.size();
        for (std::uint32_t i = 0; i < queue_.size(); ++i) {
            stats_.queue_time -= queue_[queue_.begin_pos() + i].departure - now;
            ++stats_.drops_down;
            on_drop(in_flight_[first + i].packet);
        }
        take_dropped([&](const Packet& packet, Verdict) { on_drop(packet); });
        in_flight_.truncate(first);
        queue_.truncate(queue_.begin_pos());
        stats_.busy = busy_until(now);
        transmitter_free_at_ = now;
        queue_bytes_ = Bytes(0);
        if (keeps_order_itself()) earliest_arrival_ = in_flight_.empty() ? now : in_flight_.back().arrival;
    }

    // Delay of a packet without jitter and retransmission; with a delay trace, the shortest delay.
    Nanos delay() const { return delay_; }
    // True if a packet may reach the far end at the time at which it leaves the transmitter.
    bool may_take_no_time() const { return delay_ == Nanos(0) || (features_ && features_->jitter); }
    bool is_up() const { return up_; }
    const LinkStats& stats() const { return stats_; }
    std::int64_t queue_pkts(Nanos now) const { return queue_.end_pos() - first_queued(now) + waiting_pkts(); }
    std::int64_t packets_under_way() const { return in_flight_.size() + waiting_pkts(); }
    // Position of a packet on the link: on the wire, with queue_position kOnWire and the time of its arrival; or in the
    // queue, where position 0 is in service. In a managed queue, which may still drop the packet, the arrival is
    // unknown (kNever).
    struct Place {
        Nanos arrival = kNever;
        std::int32_t queue_position = 0;
    };
    static constexpr std::int32_t kOnWire = -1;
    // Calls visit(packet, place) for each packet under way: packets on the wire in the order of their arrival, then the
    // queue from its head. Packets in a managed queue come last: CoDel's in order, FQ-CoDel's in the order in
    // which they would be served if no packet arrived or was dropped, DualPI2's queue by queue.
    template <class Visit>
    void for_each_under_way(Nanos now, Visit&& visit) const {
        const std::uint32_t queued = queue_.end_pos() - first_queued(now);
        const std::uint32_t wire_end = in_flight_.end_pos() - queued;
        for (std::uint32_t pos = in_flight_.begin_pos(); pos != wire_end; ++pos)
            visit(in_flight_[pos].packet, Place{in_flight_[pos].arrival, kOnWire});
        std::int32_t position = 0;
        for (std::uint32_t pos = wire_end; pos != in_flight_.end_pos(); ++pos)
            visit(in_flight_[pos].packet, Place{in_flight_[pos].arrival, position++});
        if (waiting_pkts() == 0) return;
        const auto visit_waiting = [&](const Waiting& waiting) { visit(waiting.packet, Place{kNever, position++}); };
        visit_queue(features_->queue, [&](const auto& queue) { queue.for_each(visit_waiting); });
    }
    // Bytes in the queue, including the packet in service.
    Bytes queue_bytes(Nanos now) const;
    // Time the transmitter was busy until `now`, without the service of queued packets, which `busy` counts in advance.
    Nanos busy_until(Nanos now) const {
        return stats_.busy - (transmitter_free_at_ > now ? transmitter_free_at_ - now : Nanos(0));
    }
    // Queueing time until `now`, without the future time of queued packets.
    Nanos queue_time_until(Nanos now) const;
    std::int64_t max_queue_pkts() const { return max_queue_pkts_; }
    void restart_max_queue(Nanos now) { max_queue_pkts_ = queue_pkts(now); }
    std::size_t heap_bytes() const { return heap_bytes_of(queue_, in_flight_, features_); }
    // Prefetches the memory of the next packets taken and added (Network::fetch_ahead).
    void fetch_ahead() const {
        queue_.fetch_from(queue_.begin_pos());
        queue_.fetch_from(queue_.end_pos());
        in_flight_.fetch_from(in_flight_.begin_pos());
        in_flight_.fetch_from(in_flight_.end_pos());
    }
    // Prefetches the memory of the link that each packet touches.
    void fetch() const { fetch_some(this, 1, 3 * kCacheLine); }
    void fetch_arrival() const {
        fetch();
        if (!in_flight_.empty()) fetch_some(&in_flight_.front(), 1);
    }
    // The held packet that arrives after `count` other packets; nullptr if fewer are held.
    const Packet* held_after(std::uint32_t count) const {
        return in_flight_.size() > count ? &in_flight_[in_flight_.begin_pos() + count].packet : nullptr;
    }
    const Packet* first_held() const { return held_after(0); }

private:
    struct Queued {
        Nanos departure;
        std::uint16_t size = 0;
        std::int32_t extra_ns = 0;  // jitter and retransmission delay; set only if varies_delay()
    };
    struct InFlight {
        Nanos arrival;
        Packet packet;
    };

    static Nanos later_of(Nanos a, Nanos b) { return a < b ? b : a; }

    // Nanoseconds to send `size`. The fraction is carried to the next packet of a busy period, so that rates are exact.
    Nanos transmission_time(Bytes size) {
        const double exact = static_cast<double>(size.value) * nanos_per_byte_ + carried_fraction_;
        const auto whole = static_cast<std::int64_t>(exact);
        carried_fraction_ = exact - static_cast<double>(whole);
        return Nanos(whole);
    }

    // Ring position of the first packet that has not left the queue at `now`.
    std::uint32_t first_queued(Nanos now) const {
        std::uint32_t pos = queue_.begin_pos();
        while (pos != queue_.end_pos() && queue_[pos].departure <= now) ++pos;
        return pos;
    }

    // Removes the entries of packets that have left the queue by `now`.
    void expire_queue(Nanos now) {
        while (!queue_.empty() && queue_.front().departure <= now) {
            queue_bytes_ -= Bytes(queue_.front().size);
            queue_.pop_front();
        }
    }

    static bool has_order(const InFlight& a, const InFlight& b) {
        return a.arrival < b.arrival || (a.arrival == b.arrival && a.packet.subflow <= b.packet.subflow);
    }
    void sort_in_last() {
        const InFlight last = in_flight_.back();
        std::uint32_t pos = in_flight_.end_pos() - 1;
        for (; pos != in_flight_.begin_pos() && !has_order(in_flight_[pos - 1], last); --pos)
            in_flight_[pos] = in_flight_[pos - 1];
        in_flight_[pos] = last;
    }

    bool is_lost(std::uint64_t draw) const { return always_loses_ || combine64(loss_stream_, draw) < loss_threshold_; }

    // Like expire_queue(); with overtaking, packets that have left the queue are sorted into the packets on the wire.
    void settle(Nanos now);
    void sort_into_wire(std::uint32_t pos);
    // Recomputes the arrival times of packets that have not left the queue.
    void reschedule_arrivals(Nanos now);

    // Returns the features, and adds them to a plain link.
    LinkFeatures& features();
    void describe_kind();
    bool may_overtake() const { return features_ && features_->may_overtake; }
    // True if a varying delay (delay trace, jitter or retransmission) could make packets overtake each other, and the
    // link prevents it.
    bool keeps_order_itself() const { return features_ && features_->varies_delay() && !features_->may_overtake; }
    // Time at which a packet that leaves the transmitter at `departure` reaches the far end, with `extra_ns` of
    // additional delay.
    Nanos arrival_after(Nanos departure, std::int32_t extra_ns) const;
    void note_arrival(Nanos departure, std::int32_t extra_ns);
    void take_back_tokens(Nanos now);
    std::int64_t waiting_pkts() const { return features_ ? features_->waiting_pkts() : 0; }
    bool loses(std::uint64_t draw);
    Verdict offer_featured(const Packet& packet, Nanos at, std::uint64_t draw);
    Verdict offer_managed(const Packet& packet, Nanos now, std::uint64_t draw);
    std::int32_t extra_delay(std::uint64_t draw) const;
    std::uint32_t failed_attempts(std::uint64_t draw) const;
    Nanos next_departure(Bytes size, Nanos start);
    bool red_admits(Nanos at, std::uint64_t draw);
    // Sends a packet that waited until `now`. The statistics must already include its waiting time.
    void transmit(const Waiting& next, Nanos now);
    void transmit_plainly(const Waiting& next, Nanos now);
    void enter(const Waiting& next, Nanos start, Nanos departure, Nanos now);
    Nanos departure_of(Bytes size, Nanos start, Nanos since, Nanos now);
    // Expected number of packets in an access that begins now, and mean nanoseconds per packet.
    std::pair<double, double> expected_access() const;
    std::optional<Waiting> take_waiting(Nanos now);
    template <class Queue>
    void start_service(Queue& queue, Nanos now);
    // Adds the waiting time of `waiting` packets since the last call. Call it before their number changes.
    void count_waiting(std::int64_t waiting, Nanos now) {
        stats_.queue_time += (now - features_->queue_counted_to) * waiting;
        features_->queue_counted_to = now;
    }
    void drop_waiting(const Waiting& waiting, Verdict verdict);
    void empty_managed_queue(Nanos now);
    Nanos next_unpredictable_event() const;

    // Fields that every packet touches come first, in the order of use, on three cache lines.
    Ring<Queued> queue_;        // packets that have not left the queue, by departure
    Ring<InFlight> in_flight_;  // held packets by arrival; queued packets come last
    Nanos transmitter_free_at_{};
    Nanos arrival_{};           // arrival of the packet accepted last
    Nanos earliest_arrival_{};  // no later packet arrives before this time, unless packets may overtake
    Bytes queue_bytes_{};
    Nanos delay_{};
    double nanos_per_byte_ = 0;
    double carried_fraction_ = 0;
    DropTail discipline_;
    bool is_plain_ = true;  // up and without features
    bool unlimited_rate_ = true;
    bool is_predictable_ = true;
    bool carries_served_ = false;          // a managed queue that decides alone when each packet leaves
    bool has_only_managed_queue_ = false;  // carries_served_, without any other feature and with a limited rate
    bool uses_draw_ = false;
    bool has_independent_loss_ = false;
    bool always_loses_ = false;
    bool up_ = true;
    std::int64_t max_queue_pkts_ = 0;
    LinkStats stats_;
    Boxed<LinkFeatures> features_;
    std::uint64_t loss_threshold_ = 0;  // loss probability scaled to 2^64
    std::uint64_t loss_stream_ = 0;
};

// Applies an event to its link. Calls on_drop(packet) for each packet that is lost when the link goes down.
template <class OnDrop>
void change_link(Link& link, const EventSpec& change, Nanos now, OnDrop&& on_drop) {
    if (change.rate) link.set_rate(*change.rate, now);
    if (change.delay) link.set_delay(*change.delay, now);
    if (change.loss) link.set_loss(*change.loss);
    if (change.loss_model) link.set_loss(*change.loss_model);
    if (change.sets_queue)
        link.set_queue_limit({change.queue_limit_pkts.value_or(DropTail{}.limit_pkts),
                              change.queue_limit_bytes.value_or(DropTail{}.limit_bytes)});
    if (change.up) link.set_up(*change.up, now, on_drop);
}

}  // namespace subflow
