// Monitor intervals: sending at one rate for a while and learning what became of exactly these packets.
//
// The fate of a packet belongs to the interval in which it was sent, whenever that fate is known; so do RTT samples.
// A subflow numbers its transmissions, retransmissions included, so an interval is a range of these numbers, and it is
// finished once each of them has been delivered or marked lost. Source: Dong et al., "PCC Vivace", NSDI 2018, section
// 4; Gilad et al., "MPCC", CoNEXT 2020.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "memory.h"
#include "ring.h"
#include "units.h"

namespace subflow {

// What a controller wants of the interval that begins with the packet about to leave, besides the rate, which it sets
// in the window.
struct IntervalPlan {
    Nanos length{1};                // it ends with the first packet that leaves this long after its begin,
    std::uint32_t min_packets = 1;  // but has that many at least
    std::int32_t tag = 0;           // the controller's own: comes back with the record
};

// The length of an interval that lasts until a decision ends it.
inline constexpr Nanos kOpenEnd{kNever.value / 2};

// An interval, so far or finished. NaN: nothing to tell it from.
struct IntervalRecord {
    std::uint32_t number = 0;  // counts the intervals of the subflow
    std::int32_t tag = 0;
    Nanos begin{};        // when its first packet left
    Nanos end = kNever;   // when the first packet of the next one left
    Nanos finished_at{};  // when the last fate was known
    double rate_pps = 0;  // that was asked for; 0: unpaced
    std::uint32_t sent_pkts = 0;
    std::uint32_t delivered_pkts = 0;
    std::uint32_t lost_pkts = 0;
    bool is_app_limited = false;  // there was nothing to send for part of it

    // Acknowledgements of its packets: the first and the last one, and the smoothed RTT after each
    Nanos first_ack_at = kNever;
    Nanos last_ack_at{};
    Nanos first_srtt{};
    Nanos last_srtt{};
    std::uint32_t first_ack_pkts = 0;  // of its packets delivered by the first one

    // RTT samples against the time at which their packets left
    std::uint32_t rtt_samples = 0;
    double rtt_mean_s = std::numeric_limits<double>::quiet_NaN();
    double rtt_min_s = std::numeric_limits<double>::quiet_NaN();
    double rtt_gradient = std::numeric_limits<double>::quiet_NaN();        // least squares, s/s; of three and more
    double rtt_gradient_error = std::numeric_limits<double>::quiet_NaN();  // standard error of it

    double utility = std::numeric_limits<double>::quiet_NaN();  // if the controller computes one: set in on_interval()

    double length_s() const { return to_seconds(end - begin); }
    // Sent over the time of sending: what the rate came to.
    double send_rate_pps() const { return sent_pkts / length_s(); }
    // Delivered over the time of the acknowledgements; over that of sending where there was but one.
    double throughput_pps() const;
    // Of those sent; 1 if none of them was ever heard of.
    double loss_ratio() const { return sent_pkts == 0 ? 0 : static_cast<double>(lost_pkts) / sent_pkts; }
};

// The intervals of one subflow. Told by the sender of every transmission and of its fate.
class IntervalMonitor {
public:
    // Whether the packet about to leave begins an interval: there is none yet, the current one has lasted long enough,
    // or end_now() was called.
    bool wants_plan(Nanos now) const {
        return open_.empty() || is_cut_ || (now >= due_ && open_.back().record.sent_pkts >= min_packets_);
    }
    // An interval begins with transmission `number`, which leaves at `now`.
    void begin(const IntervalPlan& plan, double rate_pps, std::uint32_t number, Nanos now);
    // A transmission of the current interval leaves.
    void on_send() { ++open_.back().record.sent_pkts; }
    // The packet that leaves next begins an interval.
    void end_now() { is_cut_ = true; }

    // The fate of transmission `number`.
    void on_delivered(std::uint32_t number, Nanos now);
    void on_lost(std::uint32_t number);
    // It had been marked lost and was not: nothing is known of it now.
    void on_found(std::uint32_t number);
    // It was replaced by a later one before its fate was known, and never will have one.
    void on_replaced(std::uint32_t number);
    // The acknowledgement at `now`, whose deliveries have been told, is for a packet that left at `sent`; the smoothed
    // RTT after it is `srtt`.
    void on_rtt(Nanos sent, Nanos rtt, Nanos now, Nanos srtt);
    // There is room for packets and nothing to send.
    void mark_app_limited() {
        if (!open_.empty()) open_.back().record.is_app_limited = true;
    }

    // Whether the oldest interval is finished: it has ended, and the fate of all its packets is known; or nothing at
    // all was heard of them for `patience` after its end, and they count as lost.
    bool has_finished(Nanos now, Nanos patience) const;
    // When that patience is over; kNever: something was heard, or it has not ended.
    Nanos patience_ends(Nanos patience) const;
    // Takes it. Only if has_finished().
    IntervalRecord take_finished(Nanos now);

    // Nobody waits for what is open any more: the next packet begins an interval.
    void forget_open() {
        open_.reset();
        is_cut_ = false;
    }

    // Keeps a record, utility included, for observers: the latest, and as many as fit until they are taken.
    void keep(const IntervalRecord& record);
    bool has_latest() const { return kept_count_ != 0; }
    const IntervalRecord& latest() const { return latest_; }
    // Those kept since the last call, in order.
    std::vector<IntervalRecord> take_records();
    // The records of a predecessor on the same subflow come before its own, and the numbers go on.
    void continue_records(IntervalMonitor&& predecessor);
    // Kept and dropped from the oldest on for want of room.
    std::int64_t records_lost() const { return records_lost_; }
    std::uint32_t open_count() const { return open_.size(); }
    // Throws InternalError unless the books balance. The transmissions in the network, `in_pipe` of them numbered from
    // first_open() on, are those whose fate the open intervals wait for.
    void check_invariants(std::uint32_t in_pipe) const;
    // The first transmission of the oldest open interval. Only if there is one.
    std::uint32_t first_open() const { return open_.front().first; }

    // Records that are kept until they are taken.
    static constexpr std::uint32_t kRecordCapacity = 1 << 12;
    std::size_t heap_bytes() const { return heap_bytes_of(open_, records_); }

private:
    struct Open {
        IntervalRecord record;
        std::uint32_t first = 0;  // transmission number
        // Least squares, relative to the first sample: sums of time, RTT and their products
        Nanos origin{};
        Nanos first_rtt{};
        double sum_t = 0, sum_r = 0, sum_tt = 0, sum_tr = 0, sum_rr = 0;

        bool is_decided() const { return record.delivered_pkts + record.lost_pkts >= record.sent_pkts; }
    };
    // The interval of a transmission; nullptr: it was taken already.
    Open* interval_of(std::uint32_t number);
    static void settle(Open& interval);

    Ring<Open> open_{4};  // the last one is the current one
    Nanos due_{};
    std::uint32_t min_packets_ = 1;
    std::uint32_t begun_ = 0;
    bool is_cut_ = false;

    IntervalRecord latest_;
    std::int64_t kept_count_ = 0;
    std::int64_t records_lost_ = 0;
    Ring<IntervalRecord> records_{4};
};

}  // namespace subflow
