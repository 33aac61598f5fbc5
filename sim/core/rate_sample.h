// How fast the network delivers, measured at each acknowledgement. Source: draft-cheng-iccrg-delivery-rate-estimation.
#pragma once

#include <algorithm>
#include <cstdint>

#include "decision.h"
#include "memory.h"
#include "ring.h"
#include "units.h"

namespace subflow {

// One acknowledgement that delivered something, in whatever state the sender is, seen through the most recently sent
// packet that it delivered.
struct DeliverySample {
    Nanos now{};
    Nanos rtt{};   // of that packet; a delayed ACK does not lengthen it as it does the smoothed RTT
    Nanos srtt{};  // of the subflow
    double newly_delivered_pkts = 0;
    double newly_lost_pkts = 0;              // marked lost because of this acknowledgement
    double newly_marked_pkts = 0;            // that the receiver newly reports as marked by queues
    double inflight_pkts = 0;                // after it (RFC 6675 pipe)
    double prior_inflight_pkts = 0;          // before it
    std::uint64_t delivered_pkts = 0;        // of the subflow so far, these included
    std::uint64_t prior_delivered_pkts = 0;  // when that packet left
    Nanos interval{};                        // what delivering the difference took; 0: too short to tell a rate
    double inflight_at_send_pkts = 0;        // when that packet left, itself included
    double lost_since_send_pkts = 0;         // marked lost from then on
    bool is_app_limited = false;             // the packet left after the application had let the pipe run dry
    bool is_cwnd_limited = false;            // the window was in full use in this round trip or the one before
    bool in_recovery = false;                // fast recovery
    bool in_loss = false;                    // recovery from a timeout
    Reason* why = nullptr;                   // to be filled in, if anybody asks

    bool has_rate() const { return interval > Nanos(0); }
    // Packets per second. Only if has_rate().
    double rate_pps() const {
        return static_cast<double>(delivered_pkts - prior_delivered_pkts) / to_seconds(interval);
    }
};

// A packet that has just been marked lost.
struct LostPacket {
    Nanos now{};  // of the latest acknowledgement, by which or after which it was
    std::uint32_t seq = 0;
    std::uint64_t delivered_pkts = 0;        // of the subflow so far
    std::uint64_t prior_delivered_pkts = 0;  // when it left
    double inflight_at_send_pkts = 0;        // when it left, itself included
    double lost_since_send_pkts = 0;         // marked lost from then on, itself included
    bool is_app_limited = false;             // as in DeliverySample
};

// The state behind the samples: a stamp per outstanding packet, renewed by each transmission of it.
class DeliverySampler {
public:
    // Packet `seq`, the next new one or an outstanding one again, leaves a sender that has `pipe` others in the network
    // and has marked so many lost. `was_idle`: nothing was outstanding.
    void on_send(std::uint32_t seq, bool was_idle, Nanos now, std::uint32_t pipe, std::int64_t marked_lost) {
        if (was_idle) first_sent_ = delivered_at_ = now;
        const Stamp stamp(first_sent_, delivered_at_, now, delivered_, pipe + 1, marked_lost, is_app_limited());
        if (seq == stamps_.end_pos()) {
            stamps_.push_back(stamp);
        } else {
            stamps_[seq] = stamp;
        }
    }

    // Begins in the middle: counting of deliveries starts now. Outstanding packets follow, from `first` on.
    void begin(std::uint32_t first, Nanos now) {
        stamps_.reset(first);
        first_sent_ = delivered_at_ = now;
    }
    void add_outstanding(Nanos sent, std::uint32_t pipe, std::int64_t marked_lost) {
        stamps_.push_back(Stamp(sent, delivered_at_, sent, 0, pipe, marked_lost, false));
    }

    // An acknowledgement arrives at a sender with `pipe` packets in the network, which has marked so many lost.
    void begin_ack(std::uint32_t pipe, std::int64_t marked_lost) {
        has_newest_ = false;
        prior_pipe_ = pipe;
        prior_marked_lost_ = marked_lost;
    }

    // Packet `seq`, last sent as number `transmission` of the subflow, is delivered by the acknowledgement in hand.
    void on_delivered(std::uint32_t seq, std::uint32_t transmission, bool was_retransmitted) {
        ++delivered_;
        if (has_newest_ && transmission < newest_transmission_) return;
        has_newest_ = true;
        newest_transmission_ = transmission;
        newest_was_retransmitted_ = was_retransmitted;
        newest_ = stamps_[seq];
    }

    // The cumulative acknowledgement moved to `seq`.
    void forget_below(std::uint32_t seq) {
        while (stamps_.begin_pos() != seq) stamps_.pop_front();
    }

    // The sample of the acknowledgement in hand, which delivered something and after which so many are marked lost.
    // `echoed_rtt` is what its timestamp says: a packet that was sent twice cannot tell which of the two arrived.
    DeliverySample sample(Nanos now, Nanos echoed_rtt, std::int64_t marked_lost) {
        if (delivered_ > app_limited_until_) app_limited_until_ = 0;  // the bubble has passed through the network
        delivered_at_ = now;
        first_sent_ = newest_.sent;
        DeliverySample sample;
        sample.now = now;
        sample.rtt = newest_was_retransmitted_ ? echoed_rtt : now - newest_.sent;
        sample.newly_lost_pkts = static_cast<double>(marked_lost - prior_marked_lost_);
        sample.prior_inflight_pkts = prior_pipe_;
        sample.delivered_pkts = delivered_;
        sample.prior_delivered_pkts = newest_.delivered;
        sample.inflight_at_send_pkts = newest_.inflight;
        sample.lost_since_send_pkts = newest_.lost_since(marked_lost);
        sample.is_app_limited = newest_.is_app_limited;
        min_rtt_ = std::min(min_rtt_, sample.rtt);
        // The slower of the two: sends may be bunched by us, ACKs by the network.
        const Nanos interval = std::max(newest_.sent - newest_.first_sent, now - newest_.delivered_at);
        // Nothing is delivered in less than a round trip: what seems so is a retransmission that was not needed.
        if (interval >= min_rtt_) sample.interval = interval;
        return sample;
    }

    // Outstanding packet `seq` has been marked lost, as the last of so many.
    LostPacket lost(std::uint32_t seq, Nanos now, std::int64_t marked_lost) const {
        const Stamp& stamp = stamps_[seq];
        return {.now = now,
                .seq = seq,
                .delivered_pkts = delivered_,
                .prior_delivered_pkts = stamp.delivered,
                .inflight_at_send_pkts = static_cast<double>(stamp.inflight),
                .lost_since_send_pkts = stamp.lost_since(marked_lost),
                .is_app_limited = stamp.is_app_limited != 0};
    }

    // There is room for more than the `pipe` packets in the network, and no data to fill it.
    void mark_app_limited(std::uint32_t pipe) { app_limited_until_ = std::max<std::uint64_t>(delivered_ + pipe, 1); }
    bool is_app_limited() const { return app_limited_until_ != 0; }

    std::size_t heap_bytes() const { return heap_bytes_of(stamps_); }

private:
    struct Stamp {
        Nanos first_sent{};    // the send of the packet whose delivery opens the interval
        Nanos delivered_at{};  // the last delivery before this send
        Nanos sent{};
        std::uint64_t delivered = 0;  // by then
        std::uint32_t marked_lost = 0;
        std::uint32_t inflight : 31 = 0;
        std::uint32_t is_app_limited : 1 = 0;

        Stamp() = default;
        Stamp(Nanos first, Nanos last_delivery, Nanos now, std::uint64_t so_far, std::uint32_t pipe, std::int64_t lost,
              bool is_limited)
            : first_sent(first),
              delivered_at(last_delivery),
              sent(now),
              delivered(so_far),
              marked_lost(static_cast<std::uint32_t>(lost)),
              inflight(pipe & 0x7FFF'FFFF),
              is_app_limited(is_limited) {}
        // Less than nothing, where what had been marked lost was found again, is nothing.
        double lost_since(std::int64_t lost) const {
            const auto grown = static_cast<std::int32_t>(static_cast<std::uint32_t>(lost) - marked_lost);
            return std::max(grown, 0);
        }
    };
    static_assert(sizeof(Stamp) == 40);

    std::uint64_t delivered_ = 0;
    std::uint64_t app_limited_until_ = 0;  // this many deliveries end the bubble; 0: there is none
    Nanos delivered_at_{};
    Nanos first_sent_{};
    Nanos min_rtt_ = kNever;
    Stamp newest_{};
    std::uint32_t newest_transmission_ = 0;
    bool newest_was_retransmitted_ = false;
    bool has_newest_ = false;
    std::uint32_t prior_pipe_ = 0;
    std::int64_t prior_marked_lost_ = 0;
    Ring<Stamp> stamps_;  // [snd_una, snd_nxt)
};

}  // namespace subflow
