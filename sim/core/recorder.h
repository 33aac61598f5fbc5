// Samples a network's state at a fixed interval into columns that are allocated once.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "memory.h"
#include "network.h"

namespace subflow {

// Throws ScenarioError unless the network can be sampled that often.
void check_interval(Nanos interval);

enum class TraceScope : std::uint8_t { Flow, Subflow, Link };

// One quantity of one object over time.
struct TraceColumn {
    TraceScope scope;
    std::uint32_t owner;  // index of the flow, subflow or link direction in the network
    std::string_view name;
    std::string_view unit;
};

// Sample k stands for time (k + 1) * interval: rates are means over the interval that ends there, the rest is the state
// at that instant. NaN is a gap. The state of a sender has one unless the subflow is established and its flow has not
// ended; round-trip times have one, too, in intervals without a sample that begin more than a retransmission timeout
// after the last interval with one: an acknowledgement would have come by then (RFC 6298). One thread records; others
// may read the first `count()` samples of any column at the same time, because columns never move and the count is
// published after the values.
class Recorder {
public:
    // Where it stands: what a state of the network needs beside it for the next sample to be as it would have been.
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
            Nanos rtt_at = kNever;  // end of the last interval in which a round trip was measured; kNever: of none
        };
        struct LinkCounters {
            std::int64_t drops = 0;
            std::int64_t marks = 0;
            Nanos busy{};
        };

        std::size_t count = 0;  // samples taken
        // Counters at the last one
        std::vector<FlowCounters> flows;
        std::vector<SubflowCounters> subflows;
        std::vector<LinkCounters> links;

        std::size_t heap_bytes() const { return heap_bytes_of(flows, subflows, links); }
    };

    // Throws ScenarioError unless the interval is greater than 0.
    Recorder(const Network& network, Nanos interval);
    // Goes its own way from there, with the samples so far.
    Recorder(const Recorder& other);

    // How many columns a recorder of this scenario has.
    static std::size_t column_count(const Scenario& scenario);
    std::size_t heap_bytes() const { return heap_bytes_of(data_, last_); }

    // Runs the network to `until`, sampling on the way, within `max_events` as in Network::run_until; taking a sample
    // counts as well.
    bool run_until(Network& network, Nanos until, std::int64_t& max_events);

    Nanos interval() const { return interval_; }
    const std::vector<TraceColumn>& columns() const { return columns_; }
    std::size_t count() const { return count_.load(std::memory_order_acquire); }
    std::span<const float> values(std::size_t column) const { return {data_.data() + column * capacity_, count()}; }
    // The mean of a column over that time: a sample counts for the part of it that lies in its interval, a gap for
    // nothing. NaN if there are only gaps.
    double mean(std::size_t column, Nanos from, Nanos until) const;
    Position position() const;
    // After the network was put to another state of the same scenario, earlier or later, which came with that position:
    // samples are then those until there. One that was taken before, by this recorder and in the same history, is kept
    // for that even while it lies in the future; one that was not is NaN.
    void move_to(const Position& position, const Network& network);

private:
    void sample(const Network& network);
    void read_counters(const Network& network);
    // Up to when a network with these live changes did what left the samples.
    Nanos same_until(const std::vector<EventSpec>& changes) const;
    float* at(std::size_t column, std::size_t sample) { return data_.data() + column * capacity_ + sample; }

    Nanos interval_;
    std::vector<TraceColumn> columns_;
    std::vector<std::uint8_t> has_intervals_;  // [subflow] there are columns of them
    std::vector<std::uint8_t> has_marks_;      // [subflow] likewise
    std::size_t capacity_ = 0;
    std::vector<float> data_;  // column after column
    std::atomic<std::size_t> count_ = 0;
    Position last_;  // but for the count

    // Samples that there are of one history, those after count_ included, and the live changes that made it.
    std::size_t known_ = 0;
    std::vector<EventSpec> changes_;
};

}  // namespace subflow
