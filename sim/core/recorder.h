// Samples a network's state at a fixed interval.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "memory.h"
#include "network.h"
#include "sample_store.h"

namespace subflow {

// Throws ScenarioError unless the interval is greater than 0.
void check_interval(Nanos interval);

enum class TraceScope : std::uint8_t { Flow, Subflow, Link };

struct TraceQuantity {
    std::string_view name;
    std::string_view unit;
};

// One quantity of one object over time.
struct TraceColumn {
    const TraceQuantity* quantity;
    std::uint32_t owner;  // index of the flow, subflow or link direction in the network
    std::uint32_t place;  // column of the stored samples: columns that are always equal share their samples
    TraceScope scope;

    std::string_view name() const { return quantity->name; }
    std::string_view unit() const { return quantity->unit; }
};

// Sample k describes the time (k + 1) * interval. Rates, utilisation, counts of events, schedule shares, blocking times
// and one-way delays cover the interval that ends then; all other columns are states at that instant. NaN is a gap. The
// columns of a sender's state contain gaps until the subflow is established and after its flow ends. RTT columns also
// contain gaps in intervals that end more than one retransmission timeout after the last interval with a sample: by
// then an ACK would have arrived (RFC 6298). Columns of arrivals contain gaps in intervals without arrivals. One thread
// records. Other threads may read the samples of any column at the same time.
class Recorder {
public:
    // State of the recorder: together with a state of the network, it lets recording resume with identical samples.
    struct Position {
        struct FlowCounters {
            std::int64_t delivered_bytes = 0;
            std::uint32_t delivered_pkts = 0;
            double waited_s = 0;
            std::int64_t reinjected_pkts = 0;
            std::int64_t handed_pkts = 0;
        };
        struct SubflowCounters {
            std::int64_t received_bytes = 0;
            std::int64_t goodput_bytes = 0;
            std::int64_t marked_lost = 0;
            std::int64_t handed_pkts = 0;
            std::int64_t marked_pkts = 0;
            std::int64_t rtt_samples = 0;
            Nanos rtt_at = kNever;  // end of the last interval with an RTT sample; kNever before the first
        };
        struct LinkCounters {
            std::int64_t drops = 0;
            std::int64_t marks = 0;
            Nanos busy{};
        };

        std::size_t count = 0;  // samples taken
        // Counters at the last sample
        std::vector<FlowCounters> flows;
        std::vector<SubflowCounters> subflows;
        std::vector<LinkCounters> links;
        std::vector<DelayCounters> delays;  // [subflow] empty after the last subflow with measured delays

        std::size_t heap_bytes() const { return heap_bytes_of(flows, subflows, links, delays); }
    };

    // Throws ScenarioError unless the interval is greater than 0.
    Recorder(const Network& network, Nanos interval);
    // An independent copy, with the samples so far.
    Recorder(const Recorder& other);

    // Number of columns for this scenario.
    static std::size_t column_count(const Scenario& scenario);
    std::size_t heap_bytes() const { return heap_bytes_of(columns_, samples_, last_); }

    // Runs the network to `until`, as Network::run_until does, and records samples. Each sample counts as some events
    // towards `max_events`.
    bool run_until(Network& network, Nanos until, std::int64_t& max_events);

    Nanos interval() const { return interval_; }
    const std::vector<TraceColumn>& columns() const { return columns_; }
    std::size_t count() const { return count_.load(std::memory_order_acquire); }
    // The samples of a column from the sample `first` on.
    std::vector<float> values(std::size_t column, std::size_t first = 0) const;
    // Mean of a column over a time range, weighted by the overlap with each sample's interval; gaps do not count. NaN
    // if all samples are gaps.
    double mean(std::size_t column, Nanos from, Nanos until) const;
    Position position() const;
    // Call after the network was set to another state of the same scenario, earlier or later, with its recorder
    // position. The samples then end at that position. Samples that this recorder took in the same history are kept,
    // even beyond the position; unknown samples are NaN.
    void move_to(const Position& position, const Network& network);

private:
    void sample(const Network& network);
    void read_counters(const Network& network);
    // End of the common history: until the returned time, a network with these live changes produces the same samples.
    // kNever if the changes are the same.
    Nanos same_until(const std::vector<EventSpec>& changes) const;

    Nanos interval_;
    std::vector<TraceColumn> columns_;
    std::vector<std::uint8_t> has_intervals_;  // [subflow] nonzero with interval columns
    std::vector<std::uint8_t> has_marks_;      // [subflow] nonzero with a column of marks
    std::size_t capacity_ = 0;                 // samples of the whole run
    SampleStore samples_;
    mutable std::atomic_flag is_in_use_;  // while samples are written or read
    std::atomic<std::size_t> count_ = 0;
    Position last_;  // counters at the last sample; `count` is unused

    // Recorded samples of one history, including those after count_, and the live changes of that history.
    std::size_t known_ = 0;
    std::vector<EventSpec> changes_;
};

}  // namespace subflow
