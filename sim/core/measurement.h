// Results of the measured interval, from the end of the warm-up until now: differences of counters.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "delay_histogram.h"
#include "link.h"
#include "memory.h"
#include "one_way_delay.h"
#include "sender.h"
#include "units.h"

namespace subflow {

class Network;
struct Subflow;

// Data packets and datagrams of the interval: in_flight_at_start + sent = delivered + dropped + packets in flight now
// (Network::packets_in_flight()). Each term is counted independently.
struct PacketBalance {
    std::int64_t in_flight_at_start = 0;
    std::int64_t sent = 0;       // retransmissions included
    std::int64_t delivered = 0;  // reached the far end, including duplicates
    std::int64_t dropped = 0;    // dropped in the network
    std::int64_t lost = 0;       // dropped packets that were sent in the interval
    std::int64_t acked = 0;      // reported to the sender in the interval as arrived; datagrams: 0

    double loss_ratio() const { return sent > 0 ? static_cast<double>(lost) / static_cast<double>(sent) : 0; }
    PacketBalance& operator+=(const PacketBalance& other) {
        in_flight_at_start += other.in_flight_at_start;
        sent += other.sent;
        delivered += other.delivered;
        dropped += other.dropped;
        lost += other.lost;
        acked += other.acked;
        return *this;
    }
};

// Delays of the packets that arrived in the measured interval; times are NaN without packets.
struct DelayResult {
    double mean_s = kNaN;
    double p95_s = kNaN;
    double max_s = kNaN;
    double mean_jitter_s = kNaN;  // mean of the running estimate (RFC 3550) over the arrivals
    std::int64_t reordered_pkts = 0;
    double reordered_ratio = 0;        // of the packets that arrived
    std::int64_t max_extent_pkts = 0;  // greatest reordering extent (RFC 4737)
    double mean_ack_s = kNaN;
    double p95_ack_s = kNaN;
    double max_ack_s = kNaN;
};

struct SubflowResult {
    double throughput_bps = 0;
    double goodput_bps = 0;
    double mean_cwnd_pkts = 0;         // while established, including the time after the end of the flow
    double active_mean_cwnd_pkts = 0;  // while established and the flow active; NaN without any active time
    double mean_rtt_s = 0;             // NaN without samples
    double loss_ratio = 0;             // packets.lost / packets.sent
    std::int64_t retransmits = 0;
    std::int64_t timeouts = 0;
    std::int64_t marked_pkts = 0;      // arrived packets that a queue had marked
    std::int64_t mark_reductions = 0;  // reductions of the window because of marks
    PacketBalance packets;
    double schedule_share = 0;  // this subflow's share of the packets handed out; NaN for one path or no packets
    std::optional<DelayResult> delays;  // only if the flow measures them
};

struct FlowResult {
    double goodput_bps = 0;
    double completion_s = 0;        // since the flow's start; NaN while incomplete
    double active_s = 0;            // measured interval between the start and the end of the flow
    double active_goodput_bps = 0;  // over active_s; 0 if active_s is 0
    double start_s = 0;             // NaN if the flow never started
    double mean_rtt_s = 0;
    double p95_rtt_s = 0;
    double loss_ratio = 0;
    PacketBalance packets;
    std::int64_t marked_pkts = 0;
    std::int64_t mark_reductions = 0;
    std::int64_t retransmits = 0;
    std::int64_t reinjections = 0;   // packets that were handed to a subflow again
    std::int64_t duplicates = 0;     // arrivals discarded because their data had already arrived
    double mean_hol_blocking_s = 0;  // mean time for which packets wait for earlier ones; NaN without deliveries
    std::int64_t max_reorder_queue_bytes = 0;
    std::optional<DelayResult> delays;  // of all subflows together; only if the flow measures them
};

struct LinkResult {
    double utilisation = 0;
    std::int64_t drops_queue = 0;
    std::int64_t drops_random = 0;
    std::int64_t drops_down = 0;
    std::int64_t drops_scripted = 0;
    std::int64_t marks = 0;
    double mean_queue_pkts = 0;
    std::int64_t max_queue_pkts = 0;
};

// Data packets or datagrams sent by a subflow since the start, including retransmissions.
std::int64_t sent_pkts(const Network& network, const Subflow& s);

// Counters at the beginning of the measured interval, and the results since then.
class Measurement {
public:
    Measurement() = default;
    // The interval begins now. Packets sent after `sent_after` belong to it.
    explicit Measurement(const Network& network, Nanos sent_after = Nanos(-1));
    Nanos sent_after() const { return sent_after_; }
    void add_rtt(std::uint32_t flow, Nanos rtt) { rtts_[flow].add(rtt); }

    SubflowResult subflow_result(const Network& network, std::size_t index) const;
    FlowResult flow_result(const Network& network, std::size_t index) const;
    LinkResult link_result(const Network& network, std::size_t index) const;

    std::size_t heap_bytes() const { return heap_bytes_of(rtts_, subflows_, flows_, links_); }

private:
    struct SubflowBaseline {
        SenderStats sender;
        std::int64_t received_bytes = 0;
        std::int64_t goodput_bytes = 0;
        std::int64_t sent_pkts = 0;
        std::int64_t acked_pkts = 0;
        std::int64_t arrived_pkts = 0;
        std::int64_t dropped_pkts = 0;
        std::int64_t in_flight_pkts = 0;
        std::int64_t marked_pkts = 0;
        DelayCounters delays;
    };
    struct FlowBaseline {
        std::int64_t delivered_bytes = 0;
        std::int64_t reinjected_pkts = 0;
        std::int64_t duplicates = 0;
        double waited_s = 0;
        std::uint32_t delivered_pkts = 0;
    };
    struct LinkBaseline {
        LinkStats stats;
        Nanos busy{};
        Nanos queue_time{};
    };

    template <class Baseline>
    static const Baseline& counted(const std::vector<Baseline>& all, std::size_t index) {
        static constexpr Baseline kNothing;
        return all.empty() ? kNothing : all[index];
    }
    double seconds(const Network& network) const;
    PacketBalance balance(const Network& network, std::size_t subflow) const;
    std::optional<DelayResult> delays(const Network& network, std::size_t first, std::size_t count) const;

    Nanos from_{};
    Nanos sent_after_{-1};
    std::vector<DelayHistogram> rtts_;  // [flow]
    // Counters at the start of the interval; empty if it is the start of the run, when all counters are 0
    std::vector<SubflowBaseline> subflows_;
    std::vector<FlowBaseline> flows_;
    std::vector<LinkBaseline> links_;
};

}  // namespace subflow
