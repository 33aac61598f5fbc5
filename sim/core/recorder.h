// Samples a network's state at a fixed interval into columns that are allocated once.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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
// at that instant. One thread records; others may read the first `count()` samples of any column at the same time,
// because columns never move and the count is published after the values.
class Recorder {
public:
    // Throws ScenarioError unless the interval is greater than 0.
    Recorder(const Network& network, Nanos interval);

    // How many columns a recorder of this scenario has.
    static std::size_t column_count(const Scenario& scenario);

    // Runs the network to `until`, sampling on the way, within `max_events` as in Network::run_until; taking a sample
    // counts as well.
    bool run_until(Network& network, Nanos until, std::int64_t& max_events);

    Nanos interval() const { return interval_; }
    const std::vector<TraceColumn>& columns() const { return columns_; }
    std::size_t count() const { return count_.load(std::memory_order_acquire); }
    std::span<const float> values(std::size_t column) const { return {data_.data() + column * capacity_, count()}; }
    // After the network was put back to an earlier state: forgets the samples after its clock.
    void rewind(const Network& network);

private:
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
    };
    struct LinkCounters {
        std::int64_t drops = 0;
        Nanos busy{};
    };

    void sample(const Network& network);
    void read_counters(const Network& network);
    float* at(std::size_t column, std::size_t sample) { return data_.data() + column * capacity_ + sample; }

    Nanos interval_;
    std::vector<TraceColumn> columns_;
    std::size_t capacity_ = 0;
    std::vector<float> data_;  // column after column
    std::atomic<std::size_t> count_ = 0;

    // Counters at the last sample
    std::vector<FlowCounters> flows_;
    std::vector<SubflowCounters> subflows_;
    std::vector<LinkCounters> links_;
};

}  // namespace subflow
