#include "link.h"

namespace subflow {

namespace {

// Random streams of all draws except the independent loss.
constexpr std::uint64_t kRedDraw = hash_name("red");
constexpr std::uint64_t kChainDraw = hash_name("gilbert");
constexpr std::uint64_t kChainLossDraw = hash_name("gilbert loss");
constexpr std::uint64_t kJitterDraw = hash_name("jitter");
constexpr std::uint64_t kRetransmissionDraw = hash_name("retransmission");
constexpr std::uint64_t kGrantDraw = hash_name("grants");

// Packet size whose transmission time is the unit of RED's idle time.
constexpr double kTypicalPacketBytes = 1500;

}  // namespace

Link::Link(const LinkSpec& spec, std::uint64_t seed)
    : delay_(spec.delay),
      discipline_{spec.queue_limit_pkts.value_or(DropTail{}.limit_pkts),
                  spec.queue_limit_bytes.value_or(DropTail{}.limit_bytes)},
      loss_stream_(combine64(seed, hash_name(spec.name))) {
    set_rate(spec.rate, Nanos(0));
    if (const auto* red = std::get_if<RedOptions>(&spec.discipline)) features().red.emplace(*red);
    if (ManagedQueue queue = make_queue(spec.discipline); queue.index() != 0) features().queue = std::move(queue);
    if (!spec.opportunities_ms.empty()) features().trace.emplace(spec.opportunities_ms);
    if (spec.bucket) features().bucket.emplace(*spec.bucket, spec.rate);
    if (spec.jitter) features().jitter = spec.jitter;
    if (spec.retransmission) features().retransmission = spec.retransmission;
    if (!spec.pauses.empty()) features().pauses.emplace(spec.pauses);
    if (spec.grants) features().grants.emplace(*spec.grants, combine64(loss_stream_, kGrantDraw));
    if (!spec.delays_us.empty()) {
        features().delays.emplace(spec.delays_us, spec.delay_interval);
        delay_ = features_->delays->shortest();
    }
    if (spec.reorder) features().may_overtake = true;
    if (!spec.drops.empty()) features().script.emplace(spec.drops);
    if (spec.loss_model) {
        set_loss(*spec.loss_model);
    } else {
        set_loss(spec.loss);
    }
}

LinkFeatures& Link::features() {
    return features_ ? *features_ : features_.emplace();
}

void Link::describe_kind() {
    is_plain_ = up_ && !features_;
    is_predictable_ = !features_ || (!features_->has_managed_queue() && !features_->may_overtake);
    has_independent_loss_ = loss_threshold_ != 0;
    carries_served_ = features_ && features_->has_managed_queue() && !features_->may_overtake && !features_->station;
    has_only_managed_queue_ =
        carries_served_ && !unlimited_rate_ && !has_independent_loss_ && features_->is_only_queue();
    uses_draw_ =
        has_independent_loss_ ||
        (features_ && (features_->red || features_->loss_chain || features_->jitter || features_->retransmission));
}

// --- timed changes ---------------------------------------------------------------------------------------------------

void Link::set_rate(BitsPerSec rate, Nanos now) {
    unlimited_rate_ = std::isinf(rate.value);
    nanos_per_byte_ = unlimited_rate_ ? 0.0 : 8e9 / rate.value;
    carried_fraction_ = 0;
    if (features_) {
        features_->trace.reset();
        features_->bucket.reset();
    }
    settle(now);
    // On a shared medium, queued packets already have access and keep their times.
    if (!queue_.empty() && station() == nullptr) {
        // The entries after the packet in service are removed from the statistics and computed again.
        Nanos free_at = queue_.front().departure;
        stats_.busy -= transmitter_free_at_ - free_at;
        if (features_ && features_->grants) features_->grants->skip_to_next_grant(free_at);
        for (std::uint32_t pos = queue_.begin_pos() + 1; pos != queue_.end_pos(); ++pos) {
            Queued& entry = queue_[pos];
            const Nanos service = next_departure(Bytes(entry.size), free_at) - free_at;
            stats_.queue_time += free_at + service - entry.departure;
            stats_.busy += service;
            free_at += service;
            entry.departure = free_at;
        }
        transmitter_free_at_ = free_at;
    }
    reschedule_arrivals(now);
    describe_kind();
}

void Link::set_delay(Nanos delay, Nanos now) {
    delay_ = delay;
    if (features_) features_->delays.reset();
    settle(now);
    reschedule_arrivals(now);
    describe_kind();
}

void Link::reschedule_arrivals(Nanos now) {
    const std::uint32_t first = in_flight_.end_pos() - queue_.size();
    if (!may_overtake()) earliest_arrival_ = first != in_flight_.begin_pos() ? in_flight_[first - 1].arrival : now;
    for (std::uint32_t i = 0; i < queue_.size(); ++i) {
        const Queued& queued = queue_[queue_.begin_pos() + i];
        if (features_ && features_->varies_delay()) {
            note_arrival(queued.departure, queued.extra_ns);
            in_flight_[first + i].arrival = arrival_;
        } else {
            in_flight_[first + i].arrival = later_of(queued.departure + delay_, earliest_arrival_);
        }
    }
}

Nanos Link::arrival_after(Nanos departure, std::int32_t extra_ns) const {
    const Nanos delay = features_->delays ? features_->delays->at(departure) : delay_;
    return later_of(departure + later_of(delay + Nanos(extra_ns), Nanos(0)), earliest_arrival_);
}

void Link::note_arrival(Nanos departure, std::int32_t extra_ns) {
    arrival_ = arrival_after(departure, extra_ns);
    if (keeps_order_itself()) earliest_arrival_ = arrival_;
}

void Link::take_back_tokens(Nanos now) {
    TokenBucket& bucket = *features_->bucket;
    Bytes returned{};
    for (std::uint32_t pos = queue_.begin_pos(); pos != queue_.end_pos(); ++pos) {
        const Bytes size(queue_[pos].size);
        if (queue_[pos].departure - bucket.sending_time(size) > now) returned += size;
    }
    if (!queue_.empty()) bucket.take_back(returned, now);
}

void Link::set_loss(double loss) {
    // 2^64 does not fit in 64 bits: certain loss has a separate flag.
    always_loses_ = loss >= 1.0;
    loss_threshold_ = always_loses_ ? 1 : static_cast<std::uint64_t>(loss * 0x1.0p64);
    if (features_) features_->loss_chain.reset();
    describe_kind();
}

void Link::set_loss(const GilbertOptions& model) {
    always_loses_ = false;
    loss_threshold_ = 0;
    features().loss_chain.emplace(model, combine64(loss_stream_, kChainDraw),
                                  static_cast<std::uint64_t>(stats_.packets_in));
    describe_kind();
}

// --- packets under way ----------------------------------------------------------------------------------------------

Nanos Link::queue_time_until(Nanos now) const {
    Nanos spent = stats_.queue_time;
    for (std::uint32_t pos = first_queued(now); pos != queue_.end_pos(); ++pos) spent -= queue_[pos].departure - now;
    if (features_) spent += (now - features_->queue_counted_to) * features_->waiting_pkts();
    return spent;
}

Bytes Link::queue_bytes(Nanos now) const {
    Bytes bytes = features_ ? features_->waiting_bytes() : Bytes(0);
    for (std::uint32_t pos = first_queued(now); pos != queue_.end_pos(); ++pos) bytes += Bytes(queue_[pos].size);
    return bytes;
}

void Link::settle(Nanos now) {
    if (!may_overtake()) {
        expire_queue(now);
        return;
    }
    while (!queue_.empty() && queue_.front().departure <= now) {
        sort_into_wire(in_flight_.end_pos() - queue_.size());
        queue_bytes_ -= Bytes(queue_.front().size);
        queue_.pop_front();
    }
}

void Link::sort_into_wire(std::uint32_t pos) {
    const InFlight entry = in_flight_[pos];
    for (; pos != in_flight_.begin_pos() && entry.arrival < in_flight_[pos - 1].arrival; --pos)
        in_flight_[pos] = in_flight_[pos - 1];
    in_flight_[pos] = entry;
}

Nanos Link::next_unpredictable_event() const {
    if (carries_served_) return waiting_pkts() != 0 ? std::min(next_arrival(), transmitter_free_at_) : next_arrival();
    Nanos next = kNever;
    // With overtaking, only packets on the wire can arrive next; in_flight_ also contains the queued packets.
    if (!may_overtake() || in_flight_.size() != queue_.size()) next = next_arrival();
    if (may_overtake() && !queue_.empty()) next = std::min(next, queue_.front().departure);
    if (station() != nullptr) return std::min(next, station()->access_at);
    if (waiting_pkts() != 0) next = std::min(next, transmitter_free_at_);
    return next;
}

// --- links that are not plain ----------------------------------------------------------------------------------------

bool Link::loses(std::uint64_t draw) {
    if (has_independent_loss_ && is_lost(draw)) return true;
    if (!features_) return false;
    if (features_->retransmission && failed_attempts(draw) == features_->retransmission->attempts) return true;
    if (!features_->loss_chain) return false;
    return features_->loss_chain->loses(static_cast<std::uint64_t>(stats_.packets_in),
                                        to_unit_interval(combine64(loss_stream_ ^ kChainLossDraw, draw)));
}

Verdict Link::offer_featured(const Packet& packet, Nanos at, std::uint64_t draw) {
    if (has_only_managed_queue_ && up_) {
        expire_queue(at);
        return offer_managed(packet, at, draw);
    }
    if (features_ && features_->script && features_->script->takes(packet, at)) {
        ++stats_.drops_scripted;
        return Verdict::DroppedScripted;
    }
    if (loses(draw)) {
        ++stats_.drops_random;
        return Verdict::DroppedRandom;
    }
    if (!up_) {
        ++stats_.drops_down;
        return Verdict::DroppedDown;
    }
    settle(at);
    if (unlimited_rate_) {
        note_arrival(features_->pauses ? features_->pauses->working_at(at) : at, extra_delay(draw));
        if (is_predictable_) return Verdict::Accepted;
        in_flight_.push_back({arrival_, packet});
        sort_into_wire(in_flight_.end_pos() - 1);
        return Verdict::Kept;
    }
    if (features_->has_managed_queue()) return offer_managed(packet, at, draw);
    const auto queued = static_cast<std::int64_t>(queue_.size());
    Packet copy = packet;
    bool is_marked = false;
    if (features_->red && !red_admits(at, draw)) {
        is_marked = features_->red->marks() && copy.mark();
        if (!is_marked) {
            ++stats_.drops_queue;
            return Verdict::DroppedEarly;
        }
    }
    if (!discipline_.admits(queued, queue_bytes_, Bytes(packet.size))) {
        if (features_->red) features_->red->on_overflow();
        ++stats_.drops_queue;
        return Verdict::DroppedQueue;
    }
    if (is_marked) ++stats_.marks;
    transmit({copy, at, extra_delay(draw)}, at);
    max_queue_pkts_ = std::max(max_queue_pkts_, queued + 1);
    if (!is_predictable_) return Verdict::Kept;
    return is_marked ? Verdict::Marked : Verdict::Accepted;
}

std::uint32_t Link::failed_attempts(std::uint64_t draw) const {
    return subflow::failed_attempts(*features_->retransmission, combine64(loss_stream_ ^ kRetransmissionDraw, draw));
}

std::int32_t Link::extra_delay(std::uint64_t draw) const {
    Nanos extra{};
    if (features_->jitter) extra = jitter_of(*features_->jitter, combine64(loss_stream_ ^ kJitterDraw, draw));
    if (features_->retransmission) extra += features_->retransmission->delay * failed_attempts(draw);
    return static_cast<std::int32_t>(std::min(extra, kMaxExtraDelay).value);
}

bool Link::red_admits(Nanos at, std::uint64_t draw) {
    std::int64_t idle_services = 0;
    if (queue_.empty() && at > transmitter_free_at_)
        idle_services = static_cast<std::int64_t>(static_cast<double>((at - transmitter_free_at_).value) /
                                                  (nanos_per_byte_ * kTypicalPacketBytes));
    const double own_draw = to_unit_interval(combine64(loss_stream_ ^ kRedDraw, draw));
    return features_->red->admits(queue_.size(), idle_services, own_draw);
}

void Link::transmit(const Waiting& next, Nanos now) {
    const Nanos start = later_of(now, transmitter_free_at_);
    if (now > transmitter_free_at_) carried_fraction_ = 0;
    enter(next, start, departure_of(Bytes(next.packet.size), start, next.since, now), now);
}

// The same for a transmitter that is free, on a link with a managed queue and no other feature. Without the branches of
// enter() and departure_of(), a packet takes 65 instructions fewer.
void Link::transmit_plainly(const Waiting& next, Nanos now) {
    if (now > transmitter_free_at_) carried_fraction_ = 0;
    const Bytes size(next.packet.size);
    const Nanos service = transmission_time(size);
    transmitter_free_at_ = now + service;
    arrival_ = later_of(transmitter_free_at_ + delay_, earliest_arrival_);
    queue_.push_back({transmitter_free_at_, next.packet.size, 0});
    in_flight_.push_back({arrival_, next.packet});
    queue_bytes_ += size;
    stats_.busy += service;
    stats_.queue_time += service;
}

// Departure of a packet that waited since `since` and reaches the transmitter at `now`; the transmitter is free at
// `start`.
Nanos Link::departure_of(Bytes size, Nanos start, Nanos since, Nanos now) {
    const bool is_backlogged = transmitter_free_at_ > since;
    if (features_->trace) {
        Nanos departure = features_->trace->departure(size, now, is_backlogged);
        // Opportunities during a pause are lost.
        while (features_->pauses && features_->pauses->working_at(departure) != departure)
            departure = features_->trace->departure(size, features_->pauses->working_at(departure), false);
        return departure;
    }
    if (features_->grants) {
        Nanos departure = features_->grants->departure(size, now, is_backlogged, nanos_per_byte_);
        while (features_->pauses && features_->pauses->working_at(departure) != departure)
            departure =
                features_->grants->departure(size, features_->pauses->working_at(departure), false, nanos_per_byte_);
        return departure;
    }
    return next_departure(size, start);
}

// Departure of the next queued packet if the transmitter is free at `start`.
Nanos Link::next_departure(Bytes size, Nanos start) {
    if (!features_) return start + transmission_time(size);
    if (features_->grants) return features_->grants->departure(size, start, true, nanos_per_byte_);
    if (!features_->pauses)
        return features_->bucket ? features_->bucket->departure(size, start) : start + transmission_time(size);
    const Pauses& pauses = *features_->pauses;
    if (features_->bucket) return pauses.working_at(features_->bucket->departure(size, pauses.working_at(start)));
    return pauses.end_of(start, transmission_time(size));
}

void Link::enter(const Waiting& next, Nanos start, Nanos departure, Nanos now) {
    queue_.push_back({departure, next.packet.size, next.extra_ns});
    transmitter_free_at_ = departure;
    note_arrival(departure, next.extra_ns);
    if (!is_predictable_) in_flight_.push_back({arrival_, next.packet});
    queue_bytes_ += Bytes(next.packet.size);
    stats_.busy += departure - start;
    stats_.queue_time += departure - now;
}

// --- queues that choose a packet when the transmitter is free -------------------------------------------------------

// Sends packets of the managed queue until the transmitter is busy. Requires count_waiting() before.
template <class Queue>
SF_INLINE void Link::start_service(Queue& queue, Nanos now) {
    const auto drop = [&](const Waiting& w) { drop_waiting(w, Verdict::DroppedEarly); };
    // Sends several packets if they share a delivery opportunity.
    while (transmitter_free_at_ <= now && queue.pkts() != 0) {
        const std::int64_t marks = stats_.marks;
        const std::optional<Waiting> next = queue.dequeue(now, drop, stats_.marks);
        if (!next) continue;
        if (stats_.marks != marks && features_->keeps_marked) [[unlikely]]
            features_->marked.push_back(next->packet);
        if (has_only_managed_queue_) {
            transmit_plainly(*next, now);
        } else {
            transmit(*next, now);
        }
        features_->served_pkts += carries_served_;
    }
    settle(now);
}

Verdict Link::offer_managed(const Packet& packet, Nanos now, std::uint64_t draw) {
    const auto in_service = static_cast<std::int64_t>(queue_.size());
    const bool is_taken = visit_queue(features_->queue, [&]<class Queue>(Queue& queue) {
        count_waiting(queue.pkts(), now);
        const std::int32_t extra_ns = has_only_managed_queue_ ? 0 : extra_delay(draw);
        if constexpr (MakesRoom<Queue>) {
            queue.enqueue({packet, now, extra_ns});
            while (queue.pkts() != 0 && (in_service + queue.pkts() > discipline_.limit_pkts ||
                                         queue_bytes_ + queue.bytes() > discipline_.limit_bytes))
                queue.make_room([&](const Waiting& w) { drop_waiting(w, Verdict::DroppedQueue); });
        } else {
            if (!discipline_.admits(in_service + queue.pkts(), queue_bytes_ + queue.bytes(), Bytes(packet.size)))
                return false;
            queue.enqueue({packet, now, extra_ns});
        }
        max_queue_pkts_ = std::max(max_queue_pkts_, in_service + queue.pkts());
        if (transmitter_free_at_ <= now && !features_->station) start_service(queue, now);
        return true;
    });
    if (is_taken) return Verdict::Kept;
    ++stats_.drops_queue;
    return Verdict::DroppedQueue;
}

void Link::serve(Nanos now) {
    settle(now);
    if (transmitter_free_at_ > now || features_->station) return;
    visit_queue(features_->queue, [&](auto& queue) {
        count_waiting(queue.pkts(), now);
        start_service(queue, now);
    });
}

// The packet that the queue sends next; empty if the queue dropped all waiting packets.
std::optional<Waiting> Link::take_waiting(Nanos now) {
    const auto drop = [&](const Waiting& w) { drop_waiting(w, Verdict::DroppedEarly); };
    const std::int64_t marks = stats_.marks;
    std::optional<Waiting> next =
        visit_queue(features_->queue, [&](auto& queue) { return queue.dequeue(now, drop, stats_.marks); });
    if (next && stats_.marks != marks && features_->keeps_marked) features_->marked.push_back(next->packet);
    return next;
}

void Link::drop_waiting(const Waiting& waiting, Verdict verdict) {
    ++(verdict == Verdict::DroppedDown        ? stats_.drops_down
       : verdict == Verdict::DroppedCollision ? stats_.drops_random
                                              : stats_.drops_queue);
    features_->dropped.push_back({waiting.packet, verdict});
}

void Link::empty_managed_queue(Nanos now) {
    count_waiting(waiting_pkts(), now);
    const auto drop = [&](const Waiting& w) { drop_waiting(w, Verdict::DroppedDown); };
    visit_queue(features_->queue, [&](auto& queue) { queue.clear(drop); });
}

// --- shared media ----------------------------------------------------------------------------------------------------

void Link::join_medium(const AccessOptions& options, std::uint32_t number) {
    features().station.emplace();
    features_->station->options = options;
    features_->station->number = number;
    // A CoDel queue that never drops at its head acts as a drop-tail queue that is served by events.
    if (!features_->has_managed_queue()) features_->queue.emplace<CodelQueue>(CodelOptions{kNever, kNever});
    describe_kind();
}

Nanos Link::access(Nanos now) {
    count_waiting(waiting_pkts(), now);
    settle(now);
    MediumPlace& own = *features_->station;
    own.together.clear();
    const bool takes_turns = own.options.kind == AccessKind::Turns && own.options.airtime > Nanos(0);
    // A packet that begins within the airtime is sent to its end. In turns, the next airtimes are shorter for it, so
    // that large packets or low rates give no station more time.
    const Nanos airtime = takes_turns ? own.options.airtime - own.exceeded : own.options.airtime;
    if (takes_turns && airtime <= Nanos(0)) {
        own.exceeded -= own.options.airtime;
        return now;
    }
    Nanos sending{};
    while (own.together.size() < own.options.aggregation && waiting_pkts() != 0 &&
           (own.together.empty() || sending < airtime)) {
        const std::optional<Waiting> next = take_waiting(now);
        if (!next) break;
        sending += transmission_time(Bytes(next->packet.size));
        own.together.push_back(*next);
    }
    if (takes_turns) own.exceeded = later_of(sending - airtime, Nanos(0));
    if (own.together.empty()) return now;
    const Nanos end = now + own.options.overhead + sending;
    stats_.busy += end - now;
    for (const Waiting& next : own.together) enter(next, end, end, now);
    return end;
}

Nanos Link::access_time() const {
    if (waiting_pkts() == 0) return Nanos(0);
    const auto [count, each_ns] = expected_access();
    return features_->station->options.overhead + Nanos(static_cast<std::int64_t>(count * each_ns));
}

std::pair<double, double> Link::expected_access() const {
    const MediumPlace& own = *features_->station;
    const auto waiting = static_cast<double>(waiting_pkts());
    const double each_ns = static_cast<double>(features_->waiting_bytes().value) / waiting * nanos_per_byte_;
    const double most = std::floor(static_cast<double>(own.options.airtime.value) / each_ns + 1);
    return {std::min({waiting, static_cast<double>(own.options.aggregation), most}), each_ns};
}

Nanos Link::begin_access(Nanos now) {
    MediumPlace& own = *features_->station;
    own.began = now;
    own.announced = static_cast<std::uint32_t>(expected_access().first);
    return access_time();
}

void Link::end_access(Nanos now) {
    count_waiting(waiting_pkts(), now);
    settle(now);
    const MediumPlace& own = *features_->station;
    for (std::uint32_t i = 0; i < own.announced && waiting_pkts() != 0; ++i) {
        const std::optional<Waiting> next = take_waiting(now);
        if (!next) break;
        enter(*next, now, now, now);
        stats_.busy += i == 0 ? now - own.began : Nanos(0);
    }
}

void Link::give_up_access(Nanos now) {
    count_waiting(waiting_pkts(), now);
    for (std::uint32_t i = 0; i < features_->station->options.aggregation && waiting_pkts() != 0; ++i)
        if (const std::optional<Waiting> next = take_waiting(now)) drop_waiting(*next, Verdict::DroppedCollision);
}

}  // namespace subflow
