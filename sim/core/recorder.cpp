#include "recorder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "cc/controllers.h"

namespace subflow {

namespace {

// The only use of the samples during its lifetime. Waits actively: a use is short, and a web page has no mutex.
class Use {
public:
    explicit Use(std::atomic_flag& taken) : taken_(taken) {
        while (taken_.test_and_set(std::memory_order_acquire)) continue;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { taken_.clear(std::memory_order_release); }

private:
    std::atomic_flag& taken_;
};

// The columns of each scope, in the order in which sample() fills them.
constexpr TraceQuantity kFlowColumns[] = {
    {"goodput_bps", "bit/s"},
    {"recv_buffer_bytes", "B"},
};
// Additional columns of flows with several subflows, and of their subflows.
constexpr TraceQuantity kMultipathColumns[] = {
    {"reorder_queue_bytes", "B"},
    {"hol_blocking_s", "s"},
    {"reinjections_pkts", "pkt"},
};
constexpr TraceQuantity kShareColumn[] = {{"schedule_share", ""}};
constexpr TraceQuantity kArrivalColumns[] = {{"throughput_bps", "bit/s"}};
// With one path, the goodput of the flow.
constexpr TraceQuantity kGoodputColumn[] = {{"goodput_bps", "bit/s"}};
constexpr TraceQuantity kSenderColumns[] = {
    {"cwnd_pkts", "pkt"},     {"ssthresh_pkts", "pkt"},     {"srtt_s", "s"},        {"min_rtt_s", "s"},
    {"inflight_pkts", "pkt"}, {"pacing_rate_bps", "bit/s"}, {"losses_pkts", "pkt"},
};
// Subflows whose controller works with monitor intervals: values of the latest finished interval.
constexpr TraceQuantity kIntervalColumns[] = {
    {"interval_rate_bps", "bit/s"},
    {"interval_throughput_bps", "bit/s"},
    {"interval_loss_ratio", ""},
    {"interval_rtt_s", "s"},
    {"interval_min_rtt_s", "s"},
    {"interval_rtt_gradient", ""},
    {"utility", ""},
};
// Subflows whose ends negotiated ECN, and links that may mark.
constexpr TraceQuantity kMarksColumn[] = {{"marks_pkts", "pkt"}};
// Subflows whose delays are measured, and datagram flows, which have no subflows and no ACKs.
constexpr TraceQuantity kDelayColumns[] = {
    {"one_way_delay_s", "s"},
    {"jitter_s", "s"},
    {"reordered_pkts", "pkt"},
};
constexpr TraceQuantity kAckDelayColumn[] = {{"ack_delay_s", "s"}};
// Recorded for a flow if its learning agent controls all subflows together, otherwise for each subflow with an agent.
constexpr TraceQuantity kRewardColumn[] = {{"reward", ""}};
constexpr TraceQuantity kLinkColumns[] = {
    {"queue_pkts", "pkt"},
    {"drops_pkts", "pkt"},
    {"utilisation", ""},
};

// Values of kDelayColumns and of kAckDelayColumn since the counters at the last sample. Not a part of sample(), whose
// position would then be in memory instead of a register.
using DelaySample = std::array<double, std::size(kDelayColumns) + std::size(kAckDelayColumn)>;
[[gnu::noinline]] DelaySample sample_of(const OneWayDelay& measured, const DelayCounters& last) {
    const DelayCounters interval = measured.counters() - last;
    return {interval.mean_delay_s(), interval.compared_pkts > 0 ? measured.jitter_s() : kNaN,
            static_cast<double>(interval.reordered_pkts), interval.mean_ack_delay_s()};
}

std::int64_t drops_of(const LinkStats& s) {
    return s.drops_queue + s.drops_random + s.drops_down + s.drops_scripted;
}

// Packets handed to all subflows of a multipath connection; 0 for a connection with one path.
std::int64_t handed_pkts(const Network& network, const Connection& c) {
    if (!c.is_multipath()) return 0;
    std::int64_t pkts = 0;
    for (std::uint32_t i = c.first_subflow; i < c.first_subflow + c.subflow_count; ++i)
        pkts += network.subflows()[i].sender.stats().handed_pkts();
    return pkts;
}

// True while the subflow is established and its connection is active.
bool is_alive(const Network& network, const Subflow& s) {
    return s.is_established && network.connections()[s.connection].is_active(network.now());
}

// End of the last interval with an RTT sample, including the interval that ends now. kNever before the first sample, of
// data or of the handshake, while the subflow is closed, and after the end of its flow.
Nanos measured_at(const Network& network, const Subflow& s, const Recorder::Position::SubflowCounters& last) {
    if (!is_alive(network, s) || !s.sender.rtt().has_estimate()) return kNever;
    const bool is_new = last.rtt_at == kNever || s.sender.stats().rtt_samples != last.rtt_samples;
    return is_new ? network.now() : last.rtt_at;
}

// True if the agent computes its reward at this scope, flow or subflow.
bool has_reward(const AgentInfo* agent, TraceScope scope) {
    return agent != nullptr && (agent->scope == AgentScope::Subflow) == (scope == TraceScope::Subflow);
}

bool has_reward(const Network& network, std::uint32_t subflow, TraceScope scope) {
    const Agent* const agent = network.agent_steering(subflow);
    return agent != nullptr && has_reward(&agent->info(), scope);
}

}  // namespace

void check_interval(Nanos interval) {
    if (interval <= Nanos(0)) throw ScenarioError("the sampling interval must be greater than 0");
}

std::size_t Recorder::column_count(const Scenario& scenario) {
    std::size_t count =
        scenario.flows.size() * std::size(kFlowColumns) + scenario.links.size() * std::size(kLinkColumns);
    for (const LinkSpec& link : scenario.links)
        if (may_mark(link.discipline)) ++count;
    for (const FlowSpec& flow : scenario.flows) {
        if (flow.paths.size() > 1) count += std::size(kMultipathColumns) + flow.paths.size();
        if (flow.one_way_delay) count += flow.paths.size() * std::size(kDelayColumns);
        if (sends_datagrams(flow.kind)) continue;
        if (flow.one_way_delay) count += flow.paths.size();
        count +=
            flow.paths.size() * (std::size(kArrivalColumns) + std::size(kGoodputColumn) + std::size(kSenderColumns));
        const Controller controller = make_controller(flow.controller);
        if (ecn_mode(scenario, flow, ecn_use_of(controller)) != EcnMode::Off) count += flow.paths.size();
        if (monitors_intervals(controller)) count += flow.paths.size() * std::size(kIntervalColumns);
        if (has_reward(agent_of(controller), TraceScope::Flow)) ++count;
        if (has_reward(agent_of(controller), TraceScope::Subflow)) count += flow.paths.size();
    }
    return count;
}

Recorder::Recorder(const Network& network, Nanos interval) : interval_(interval) {
    check_interval(interval);
    columns_.reserve(column_count(network.scenario()));
    std::uint32_t places = 0;
    const auto add = [&](TraceScope scope, std::uint32_t owner, std::span<const TraceQuantity> columns) {
        for (const TraceQuantity& quantity : columns) columns_.push_back({&quantity, owner, places++, scope});
    };
    std::vector<std::uint32_t> goodput_places;  // [flow]
    for (std::uint32_t i = 0; i < network.connections().size(); ++i) {
        goodput_places.push_back(places);
        add(TraceScope::Flow, i, kFlowColumns);
        if (has_reward(network, network.connections()[i].first_subflow, TraceScope::Flow))
            add(TraceScope::Flow, i, kRewardColumn);
        const Connection& c = network.connections()[i];
        if (sends_datagrams(c.kind) && network.delays_of(c.first_subflow) != nullptr)
            add(TraceScope::Flow, i, kDelayColumns);
        if (c.is_multipath()) add(TraceScope::Flow, i, kMultipathColumns);
    }
    has_intervals_.resize(network.subflows().size());
    for (const Subflow& s : network.subflows()) has_marks_.push_back(s.ecn != EcnMode::Off);
    for (std::uint32_t i = 0; i < network.subflows().size(); ++i) {
        const Connection& c = network.connections()[network.subflows()[i].connection];
        if (sends_datagrams(c.kind)) continue;
        add(TraceScope::Subflow, i, kArrivalColumns);
        if (c.is_multipath()) {
            add(TraceScope::Subflow, i, kGoodputColumn);
        } else {
            columns_.push_back(
                {kGoodputColumn, i, goodput_places[network.subflows()[i].connection], TraceScope::Subflow});
        }
        add(TraceScope::Subflow, i, kSenderColumns);
        if (c.is_multipath()) add(TraceScope::Subflow, i, kShareColumn);
        if (has_reward(network, i, TraceScope::Subflow)) add(TraceScope::Subflow, i, kRewardColumn);
        // Depends on the initial controller: an event that changes the controller does not change the columns.
        has_intervals_[i] = network.subflows()[i].sender.monitor() ? 1 : 0;
        if (has_marks_[i] != 0) add(TraceScope::Subflow, i, kMarksColumn);
        if (network.delays_of(i) != nullptr) {
            add(TraceScope::Subflow, i, kDelayColumns);
            add(TraceScope::Subflow, i, kAckDelayColumn);
        }
        if (has_intervals_[i] != 0) add(TraceScope::Subflow, i, kIntervalColumns);
    }
    for (std::uint32_t i = 0; i < network.links().size(); ++i) {
        add(TraceScope::Link, i, kLinkColumns);
        if (may_mark(network.scenario().links[i].discipline)) add(TraceScope::Link, i, kMarksColumn);
    }

    capacity_ = static_cast<std::size_t>(network.scenario().duration / interval_);
    samples_ = SampleStore(places, capacity_);
    read_counters(network);
}

bool Recorder::run_until(Network& network, Nanos until, std::int64_t& max_events) {
    // Filling about ten columns takes as long as one event.
    const auto events_per_sample = 1 + static_cast<std::int64_t>(columns_.size() / 10);
    for (;;) {
        const auto next = static_cast<std::int64_t>(count_.load(std::memory_order_relaxed)) + 1;
        const Nanos due = interval_ * next;
        if (due > until || static_cast<std::size_t>(next) > capacity_) break;
        if (max_events <= 0 || !network.run_until(due, max_events)) return false;
        sample(network);
        max_events -= events_per_sample;
    }
    return network.run_until(until, max_events);
}

Recorder::Recorder(const Recorder& other)
    : interval_(other.interval_),
      columns_(other.columns_),
      has_intervals_(other.has_intervals_),
      has_marks_(other.has_marks_),
      capacity_(other.capacity_),
      samples_(other.samples_),
      count_(other.count()),
      last_(other.last_),
      known_(other.known_),
      changes_(other.changes_) {}

std::vector<float> Recorder::values(std::size_t column, std::size_t first) const {
    const Use use(is_in_use_);
    std::vector<float> values(count() - std::min(count(), first));
    samples_.read(columns_[column].place, first, values);
    return values;
}

double Recorder::mean(std::size_t column, Nanos from, Nanos until) const {
    double sum = 0;
    double time_s = 0;
    Nanos end = interval_;
    for (const float value : values(column)) {
        const Nanos counted = std::min(end, until) - std::max(end - interval_, from);
        end += interval_;
        if (counted <= Nanos(0) || !std::isfinite(value)) continue;
        sum += static_cast<double>(value) * to_seconds(counted);
        time_s += to_seconds(counted);
    }
    return time_s > 0 ? sum / time_s : kNaN;
}

Recorder::Position Recorder::position() const {
    Position position = last_;
    position.count = count();
    return position;
}

void Recorder::move_to(const Position& position, const Network& network) {
    const Nanos same = same_until(network.live_changes());
    const Use use(is_in_use_);
    // The first sample recorded in a different history.
    std::size_t first_unknown = known_;
    if (same < kNever) first_unknown = std::min(known_, static_cast<std::size_t>((same - Nanos(1)) / interval_));
    if (first_unknown < position.count) {
        for (std::size_t sample = first_unknown; sample < position.count; ++sample) {
            samples_.open(sample);
            for (const TraceColumn& column : columns_) samples_.set(column.place, sample, static_cast<float>(kNaN));
        }
        known_ = position.count;
        changes_ = network.live_changes();
    }
    last_ = position;
    count_.store(position.count, std::memory_order_release);
}

Nanos Recorder::same_until(const std::vector<EventSpec>& changes) const {
    const auto [theirs, ours] = std::ranges::mismatch(changes, changes_);
    Nanos until = kNever;
    if (theirs != changes.end()) until = theirs->at;
    if (ours != changes_.end()) until = std::min(until, ours->at);
    return until;
}

void Recorder::read_counters(const Network& network) {
    last_.flows.clear();
    last_.flows.reserve(network.connections().size());
    for (const Connection& c : network.connections()) {
        last_.flows.push_back({c.delivered_bytes, c.reassembly.next(), c.reassembly.waited_s(), c.reinjected_pkts,
                               handed_pkts(network, c)});
    }
    last_.subflows.resize(network.subflows().size());
    for (std::size_t i = 0; i < last_.subflows.size(); ++i) {
        const Subflow& s = network.subflows()[i];
        const SenderStats& stats = s.sender.stats();
        const Nanos rtt_at = measured_at(network, s, last_.subflows[i]);
        last_.subflows[i] = {s.received_bytes,  s.goodput_bytes, stats.marked_lost, stats.handed_pkts(), s.marked_pkts,
                             stats.rtt_samples, rtt_at};
    }
    last_.delays.resize(network.measured_subflows());
    for (std::size_t i = 0; i < last_.delays.size(); ++i)
        if (const OneWayDelay* const delays = network.delays_of(i)) last_.delays[i] = delays->counters();
    last_.links.clear();
    for (const Link& l : network.links())
        last_.links.push_back({drops_of(l.stats()), l.stats().marks, l.busy_until(network.now())});
}

void Recorder::sample(const Network& network) {
    const std::size_t k = count_.load(std::memory_order_relaxed);
    const double bits_per_byte_s = 8.0 / to_seconds(interval_);
    const double wire_bits = network.scenario().packet_bits();
    const Use use(is_in_use_);
    samples_.open(k);
    std::size_t place = 0;
    const auto put = [&](double value) { samples_.set(place++, k, static_cast<float>(value)); };
    const auto put_rate = [&](std::int64_t bytes) { put(static_cast<double>(bytes) * bits_per_byte_s); };

    for (std::size_t i = 0; i < network.connections().size(); ++i) {
        const Connection& c = network.connections()[i];
        put_rate(c.delivered_bytes - last_.flows[i].delivered_bytes);
        put(static_cast<double>(c.reassembly.held_pkts()) * c.payload_bytes);
        if (has_reward(network, c.first_subflow, TraceScope::Flow))
            put(c.is_active(network.now()) ? network.latest_reward(c.first_subflow).value_or(kNaN) : kNaN);
        const OneWayDelay* const delays = sends_datagrams(c.kind) ? network.delays_of(c.first_subflow) : nullptr;
        if (delays != nullptr) {
            const DelaySample values = sample_of(*delays, last_.delays[c.first_subflow]);
            for (std::size_t n = 0; n < std::size(kDelayColumns); ++n) put(values[n]);
        }
        if (!c.is_multipath()) continue;
        put(static_cast<double>(c.reassembly.held_bytes()));
        const auto delivered_pkts = static_cast<double>(c.reassembly.next() - last_.flows[i].delivered_pkts);
        put(delivered_pkts > 0 ? (c.reassembly.waited_s() - last_.flows[i].waited_s) / delivered_pkts : kNaN);
        put(static_cast<double>(c.reinjected_pkts - last_.flows[i].reinjected_pkts));
    }
    for (std::size_t i = 0; i < network.subflows().size(); ++i) {
        const Subflow& s = network.subflows()[i];
        const Connection& c = network.connections()[s.connection];
        if (sends_datagrams(c.kind)) continue;
        const SubflowSender& sender = s.sender;
        const bool lives = is_alive(network, s);
        const Nanos rtt_at = measured_at(network, s, last_.subflows[i]);
        const bool has_rtt = rtt_at < kNever && network.now() - rtt_at <= sender.rto(network.scenario().transport);
        const auto put_state = [&](bool is_known, double value) { put(lives && is_known ? value : kNaN); };
        put_rate(s.received_bytes - last_.subflows[i].received_bytes);
        if (c.is_multipath()) put_rate(s.goodput_bytes - last_.subflows[i].goodput_bytes);
        put_state(true, sender.window().cwnd_pkts);
        put_state(!std::isinf(sender.window().ssthresh_pkts), sender.window().ssthresh_pkts);
        put_state(has_rtt, to_seconds(sender.rtt().srtt()));
        put_state(sender.rtt().has_sample(), to_seconds(sender.rtt().min_rtt()));
        put_state(true, sender.pipe());
        const double pacing_pps = sender.window().pacing_pps;
        put_state(pacing_pps > 0, pacing_pps * wire_bits);  // NaN: ACK-clocked
        put(static_cast<double>(sender.stats().marked_lost - last_.subflows[i].marked_lost));
        if (c.is_multipath()) {
            const std::int64_t all_pkts = handed_pkts(network, c) - last_.flows[s.connection].handed_pkts;
            const auto own_pkts = static_cast<double>(sender.stats().handed_pkts() - last_.subflows[i].handed_pkts);
            put(all_pkts > 0 ? own_pkts / static_cast<double>(all_pkts) : kNaN);
        }
        if (const auto subflow = static_cast<std::uint32_t>(i); has_reward(network, subflow, TraceScope::Subflow))
            put_state(true, network.latest_reward(subflow).value_or(kNaN));
        if (has_marks_[i] != 0) put(static_cast<double>(s.marked_pkts - last_.subflows[i].marked_pkts));
        if (const OneWayDelay* const delays = network.delays_of(i))
            for (const double value : sample_of(*delays, last_.delays[i])) put(value);
        if (has_intervals_[i] == 0) continue;
        static constexpr IntervalRecord kNone;
        const bool has_interval = sender.latest_interval() != nullptr;
        const IntervalRecord& interval = has_interval ? *sender.latest_interval() : kNone;
        put_state(has_interval, interval.rate_pps * wire_bits);
        put_state(has_interval, interval.throughput_pps() * wire_bits);
        put_state(has_interval, interval.loss_ratio());
        put_state(has_rtt, interval.rtt_mean_s);
        put_state(has_rtt, interval.rtt_min_s);
        put_state(has_rtt, interval.rtt_gradient);
        put_state(true, interval.utility);
    }
    for (std::size_t i = 0; i < network.links().size(); ++i) {
        const Link& link = network.links()[i];
        put(static_cast<double>(link.queue_pkts(network.now())));
        put(static_cast<double>(drops_of(link.stats()) - last_.links[i].drops));
        put(to_seconds(link.busy_until(network.now()) - last_.links[i].busy) / to_seconds(interval_));
        if (may_mark(network.scenario().links[i].discipline))
            put(static_cast<double>(link.stats().marks - last_.links[i].marks));
    }
    read_counters(network);
    if (same_until(network.live_changes()) > network.now()) {
        known_ = std::max(known_, k + 1);
    } else {  // the recorded samples ahead belong to another history
        known_ = k + 1;
        changes_ = network.live_changes();
    }
    count_.store(k + 1, std::memory_order_release);
}

}  // namespace subflow
