// Delivery rate of the network, measured at each ACK. Source: draft-cheng-iccrg-delivery-rate-estimation.
#pragma once

#include <algorithm>
#include <cstdint>

#include "decision.h"
#include "memory.h"
#include "ring.h"
#include "units.h"

namespace subflow {

// An ACK that delivered at least one packet, in any sender state. "That packet" is the most recently sent packet among
// those delivered.
struct DeliverySample {
    Nanos now{};
    Nanos rtt{};   // from the send time of that packet; from the echoed timestamp if it was retransmitted
    Nanos srtt{};  // smoothed RTT of the subflow
    double newly_delivered_pkts = 0;
    double newly_lost_pkts = 0;              // packets marked lost because of this ACK
    double newly_marked_pkts = 0;            // packets newly reported by the receiver as marked by queues
    double inflight_pkts = 0;                // packets in flight after the ACK (RFC 6675 pipe)
    double prior_inflight_pkts = 0;          // packets in flight before the ACK
    std::uint64_t delivered_pkts = 0;        // packets delivered on the subflow so far, including those of this ACK
    std::uint64_t prior_delivered_pkts = 0;  // delivered_pkts when that packet was sent
    Nanos interval{};                        // time over which this sample counts deliveries; 0: too short for a rate
    double inflight_at_send_pkts = 0;        // packets in flight when that packet was sent, including itself
    double lost_since_send_pkts = 0;         // packets marked lost since that packet was sent
    Nanos departs_in{};                      // time for which pacing holds back the next packet
    bool is_app_limited = false;             // that packet was sent while the application had too little data
    bool is_cwnd_limited = false;            // the window was fully used in this round trip or the previous one
    bool in_recovery = false;                // fast recovery
    bool in_loss = false;                    // recovery from a timeout
    Reason* why = nullptr;                   // output: reason of the decision; null if decisions are not recorded

    bool has_rate() const { return interval > Nanos(0); }
    // Packets per second. Only if has_rate().
    double rate_pps() const {
        return static_cast<double>(delivered_pkts - prior_delivered_pkts) / to_seconds(interval);
    }
};

// A packet that has just been marked lost.
struct LostPacket {
    Nanos now{};  // time of the latest ACK
    std::uint32_t seq = 0;
    std::uint64_t delivered_pkts = 0;        // packets delivered on the subflow so far
    std::uint64_t prior_delivered_pkts = 0;  // delivered_pkts when the packet was sent
    double inflight_at_send_pkts = 0;        // packets in flight when the packet was sent, including itself
    double lost_since_send_pkts = 0;         // packets marked lost since that send, including this packet
    bool is_app_limited = false;             // the packet was sent while the application had too little data
};

// Takes the samples from a stamp per outstanding packet, which each transmission of the packet renews.
class DeliverySampler {
public:
    // Packet `seq`, new or retransmitted, leaves the sender. `was_idle`: no packet was outstanding; `pipe`: other
    // packets in flight; `marked_lost`: number of packets marked lost so far.
    void on_send(std::uint32_t seq, bool was_idle, Nanos now, std::uint32_t pipe, std::int64_t marked_lost) {
        if (was_idle) first_sent_ = delivered_at_ = now;
        const Stamp stamp(first_sent_, delivered_at_, now, delivered_, pipe + 1, marked_lost, is_app_limited());
        if (seq == stamps_.end_pos()) {
            stamps_.push_back(stamp);
        } else {
            stamps_[seq] = stamp;
        }
    }

    // Starts in the middle of a connection: deliveries count from now. The caller then reports each outstanding packet
    // by add_outstanding(), starting at `first`.
    void begin(std::uint32_t first, Nanos now) {
        stamps_.reset(first);
        first_sent_ = delivered_at_ = now;
    }
    void add_outstanding(Nanos sent, std::uint32_t pipe, std::int64_t marked_lost) {
        stamps_.push_back(Stamp(sent, delivered_at_, sent, 0, pipe, marked_lost, false));
    }

    // An ACK arrives at a sender with `pipe` packets in flight and `marked_lost` packets marked lost so far.
    void begin_ack(std::uint32_t pipe, std::int64_t marked_lost) {
        has_newest_ = false;
        prior_pipe_ = pipe;
        prior_marked_lost_ = marked_lost;
    }

    // The current ACK delivers packet `seq`, whose last transmission had the number `transmission` on the subflow.
    void on_delivered(std::uint32_t seq, std::uint32_t transmission, bool was_retransmitted) {
        ++delivered_;
        if (has_newest_ && transmission < newest_transmission_) return;
        has_newest_ = true;
        newest_transmission_ = transmission;
        newest_was_retransmitted_ = was_retransmitted;
        newest_ = stamps_[seq];
    }

    // The cumulative ACK moved to `seq`.
    void forget_below(std::uint32_t seq) {
        while (stamps_.begin_pos() != seq) stamps_.pop_front();
    }

    // The sample of the current ACK, which delivered at least one packet; `marked_lost`: packets marked lost after it.
    // `echoed_rtt`: RTT from the echoed timestamp, needed for retransmitted packets, where the transmission is
    // ambiguous.
    DeliverySample sample(Nanos now, Nanos echoed_rtt, std::int64_t marked_lost) {
        if (delivered_ > app_limited_until_) app_limited_until_ = 0;  // packets sent while app-limited are delivered
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
        // The longer of the two intervals: the sender may bunch data, and the network may bunch ACKs.
        const Nanos interval = std::max(newest_.sent - newest_.first_sent, now - newest_.delivered_at);
        // No delivery takes less than a round trip: a shorter interval comes from a spurious retransmission.
        if (interval >= min_rtt_) sample.interval = interval;
        return sample;
    }

    // Outstanding packet `seq` has been marked lost; `marked_lost` includes it.
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

    // The window allows more than the `pipe` packets in flight, but the application supplies no data.
    void mark_app_limited(std::uint32_t pipe) { app_limited_until_ = std::max<std::uint64_t>(delivered_ + pipe, 1); }
    bool is_app_limited() const { return app_limited_until_ != 0; }

    std::size_t heap_bytes() const { return heap_bytes_of(stamps_); }

private:
    struct Stamp {
        Nanos first_sent{};    // send time of the packet whose delivery opens the interval
        Nanos delivered_at{};  // last delivery before this send; the send time if nothing was outstanding
        Nanos sent{};
        std::uint64_t delivered = 0;  // packets delivered before this send
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
        // Packets marked lost since this send; 0 if more marks were undone than set.
        double lost_since(std::int64_t lost) const {
            const auto grown = static_cast<std::int32_t>(static_cast<std::uint32_t>(lost) - marked_lost);
            return std::max(grown, 0);
        }
    };
    static_assert(sizeof(Stamp) == 40);

    std::uint64_t delivered_ = 0;
    std::uint64_t app_limited_until_ = 0;  // application-limited up to this number of deliveries; 0: not limited
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
