// Monitor intervals: a controller sends at one rate for some time, and later receives the fate of exactly these
// packets.
//
// The fate of a packet and its RTT sample belong to the interval in which it was sent, whenever they become known. A
// subflow numbers its transmissions, including retransmissions, so that an interval is a range of these numbers. An
// interval is finished when each transmission has been delivered or marked lost.
// Source: Dong et al., "PCC Vivace", NSDI 2018, section 4; Gilad et al., "MPCC", CoNEXT 2020.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "memory.h"
#include "ring.h"
#include "units.h"

namespace subflow {

// Plan of a controller for the interval that begins with the next packet. The controller sets the rate in the window.
struct IntervalPlan {
    Nanos length{1};                // minimum duration
    std::uint32_t min_packets = 1;  // minimum number of packets
    std::int32_t tag = 0;           // chosen by the controller, and returned with the record
};

// Length of an interval that ends only by end_now().
inline constexpr Nanos kOpenEnd{kNever.value / 2};

// An interval, finished or in progress. NaN: unknown.
struct IntervalRecord {
    std::uint32_t number = 0;  // counts the intervals of the subflow
    std::int32_t tag = 0;
    Nanos begin{};        // departure of its first packet
    Nanos end = kNever;   // departure of the first packet of the next interval
    Nanos finished_at{};  // time at which the last fate became known, or the wait ended
    double rate_pps = 0;  // requested rate; 0: unpaced
    std::uint32_t sent_pkts = 0;
    std::uint32_t delivered_pkts = 0;
    std::uint32_t lost_pkts = 0;
    bool is_app_limited = false;  // the sender ran out of data for part of it

    // Acknowledgements of its packets: time of the first and the last one, and the smoothed RTT after each
    Nanos first_ack_at = kNever;
    Nanos last_ack_at{};
    Nanos first_srtt{};
    Nanos last_srtt{};
    std::uint32_t first_ack_pkts = 0;  // packets of the interval that the first acknowledgement delivered

    // RTT samples; the gradient is over the departure times of their packets
    std::uint32_t rtt_samples = 0;
    double rtt_mean_s = std::numeric_limits<double>::quiet_NaN();
    double rtt_min_s = std::numeric_limits<double>::quiet_NaN();
    double rtt_gradient = std::numeric_limits<double>::quiet_NaN();        // least squares, s/s; needs three samples
    double rtt_gradient_error = std::numeric_limits<double>::quiet_NaN();  // its standard error

    double utility = std::numeric_limits<double>::quiet_NaN();  // set by controllers that compute it, in on_interval()

    double length_s() const { return to_seconds(end - begin); }
    // Packets sent per second of the interval: the actual rate.
    double send_rate_pps() const { return sent_pkts / length_s(); }
    // Packets delivered per second between first and last acknowledgement, without the packets of the first; with one
    // acknowledgement, packets delivered per second of the interval.
    double throughput_pps() const;
    // Lost share of the packets sent; 0 if no packet was sent, 1 if no packet was acknowledged.
    double loss_ratio() const { return sent_pkts == 0 ? 0 : static_cast<double>(lost_pkts) / sent_pkts; }
};

// The intervals of one subflow. The sender reports every transmission and its fate.
class IntervalMonitor {
public:
    // True if the next packet begins an interval: no interval is open, the current one has lasted long enough, or
    // end_now() was called.
    bool wants_plan(Nanos now) const {
        return open_.empty() || is_cut_ || (now >= due_ && open_.back().record.sent_pkts >= min_packets_);
    }
    // An interval begins with transmission `number`, which leaves at `now`.
    void begin(const IntervalPlan& plan, double rate_pps, std::uint32_t number, Nanos now);
    // A transmission of the current interval leaves.
    void on_send() { ++open_.back().record.sent_pkts; }
    // The next packet begins an interval.
    void end_now() { is_cut_ = true; }

    // Report the fate of transmission `number`.
    void on_delivered(std::uint32_t number, Nanos now);
    void on_lost(std::uint32_t number);
    // The transmission was marked lost by mistake: its fate is unknown again.
    void on_found(std::uint32_t number);
    // A later transmission replaced it before its fate was known; it no longer counts as sent.
    void on_replaced(std::uint32_t number);
    // Reports the RTT sample of the acknowledgement at `now`, after the deliveries of this acknowledgement. The packet
    // left at `sent`; `srtt`: smoothed RTT after the sample.
    void on_rtt(Nanos sent, Nanos rtt, Nanos now, Nanos srtt);
    // Call if the window has room, but the sender has no packets.
    void mark_app_limited() {
        if (!open_.empty()) open_.back().record.is_app_limited = true;
    }

    // True if the oldest interval is finished: it has ended, and the fate of all its packets is known; or no packet was
    // acknowledged for `patience` after its end, and all packets count as lost.
    bool has_finished(Nanos now, Nanos patience) const;
    // End of the wait for a first acknowledgement of the oldest interval. kNever: a packet was acknowledged, the
    // interval has not ended, or `patience` is unlimited.
    Nanos wait_ends(Nanos patience) const;
    // Takes the oldest interval. Requires has_finished().
    IntervalRecord take_finished(Nanos now);

    // Discards the open intervals: the next packet begins an interval.
    void forget_open() {
        open_.reset();
        is_cut_ = false;
    }

    // Stores a record, including its utility, for observers: as the latest record, and in a bounded list until
    // take_records().
    void keep(const IntervalRecord& record);
    bool has_latest() const { return kept_count_ != 0; }
    const IntervalRecord& latest() const { return latest_; }
    // Records stored since the last call, in order.
    std::vector<IntervalRecord> take_records();
    // Takes over the records of the subflow's previous monitor, and continues its numbering.
    void continue_records(IntervalMonitor&& predecessor);
    // Records discarded for lack of space, the oldest first.
    std::int64_t records_lost() const { return records_lost_; }
    std::uint32_t open_count() const { return open_.size(); }
    // Throws InternalError unless the counters balance: the open intervals wait for the fate of exactly the
    // transmissions in the network, `in_pipe` of them from first_open() on.
    void check_invariants(std::uint32_t in_pipe) const;
    // The first transmission of the oldest open interval. Requires an open interval.
    std::uint32_t first_open() const { return open_.front().first; }

    // Largest number of stored records.
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
    // The interval of a transmission; nullptr if the interval has already been taken.
    Open* interval_of(std::uint32_t number);
    static void settle(Open& interval);

    Ring<Open> open_{4};  // the last one is current
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
