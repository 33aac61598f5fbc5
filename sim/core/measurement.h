// Results of the measured interval, from the end of the warm-up until now: differences of counters.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "link.h"
#include "memory.h"
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

// Distribution of RTT samples with a resolution of 1/32 of the value: 32 buckets per octave above 2^10 ns.
class RttHistogram {
public:
    void add(Nanos rtt) {
        std::size_t bucket = bucket_of(rtt) - first_;
        if (bucket >= buckets_.size()) [[unlikely]]
            bucket = widen(bucket + first_);
        ++buckets_[bucket];
        ++count_;
    }
    std::uint64_t count() const { return count_; }
    void clear() { *this = RttHistogram(); }
    // Value in seconds below which `fraction` of the samples lie, interpolated within its bucket. 0 without samples.
    double quantile_s(double fraction) const;
    std::size_t heap_bytes() const { return heap_bytes_of(buckets_); }

private:
    static constexpr int kSubBits = 5;
    static constexpr int kLowestOctave = 10;
    static constexpr int kOctaves = 28;  // up to 2^38 ns, 4.6 minutes

    static std::size_t bucket_of(Nanos rtt) {
        const auto v = static_cast<std::uint64_t>(rtt.value);
        const int octave = static_cast<int>(std::bit_width(v)) - 1;
        if (octave < kLowestOctave) return 0;
        if (octave >= kLowestOctave + kOctaves) return (kOctaves << kSubBits) - 1;
        const std::uint64_t within = (v >> (octave - kSubBits)) & ((1u << kSubBits) - 1);
        return (static_cast<std::size_t>(octave - kLowestOctave) << kSubBits) + within;
    }

    // Makes room for a bucket and returns its position.
    [[gnu::noinline]] std::size_t widen(std::size_t bucket);

    // Covers the octaves from the smallest to the largest sample: the samples of a flow span few octaves, and a network
    // may have many flows.
    std::vector<std::uint32_t> buckets_;
    std::size_t first_ = 0;  // first bucket in `buckets_`
    std::uint64_t count_ = 0;
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

    double seconds(const Network& network) const;
    PacketBalance balance(const Network& network, std::size_t subflow) const;

    Nanos from_{};
    Nanos sent_after_{-1};
    std::vector<RttHistogram> rtts_;  // [flow]
    // Counters at the start of the interval
    std::vector<SubflowBaseline> subflows_;
    std::vector<FlowBaseline> flows_;
    std::vector<LinkBaseline> links_;
};

}  // namespace subflow
