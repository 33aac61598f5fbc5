#include "measurement.h"

#include <algorithm>
#include <cmath>

#include "network.h"

namespace subflow {

namespace {
double ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0.0;
}

// Counters of a sender now, or at the end of its flow, including the acknowledgements still under way at the end.
SenderStats active_stats(const Network& network, const Subflow& s) {
    const Nanos ended_at = network.connections()[s.connection].ended_at;
    if (s.at_end) return *s.at_end;
    if (!s.is_established) return s.sender.stats();
    return ended_at > network.now() ? s.sender.stats_at(network.now()) : s.sender.stats_at_end(ended_at);
}
}  // namespace

std::int64_t sent_pkts(const Network& network, const Subflow& s) {
    const Connection& c = network.connections()[s.connection];
    return sends_datagrams(c.kind) ? static_cast<std::int64_t>(c.datagrams->sent()) : s.sender.stats().packets_sent;
}

Measurement::Measurement(const Network& network, Nanos sent_after) : from_(network.now()), sent_after_(sent_after) {
    rtts_.assign(network.connections().size(), {});
    if (from_ == Nanos(0)) return;
    const std::vector<std::int64_t> in_flight = network.packets_in_flight();
    subflows_.reserve(network.subflows().size());
    for (const Subflow& s : network.subflows()) {
        const OneWayDelay* const delays = network.delays_of(subflows_.size());
        subflows_.push_back({s.is_established ? s.sender.stats_at(from_) : s.sender.stats(), s.received_bytes,
                             s.goodput_bytes, sent_pkts(network, s), s.sender.acked_pkts(), s.arrived_pkts,
                             s.dropped_pkts, in_flight[subflows_.size()], s.marked_pkts,
                             delays != nullptr ? delays->counters() : DelayCounters()});
    }
    flows_.reserve(network.connections().size());
    for (const Connection& c : network.connections()) {
        const Reassembly& r = c.reassembly;
        flows_.push_back({c.delivered_bytes, c.reinjected_pkts, r.duplicates(), r.waited_s(), r.next()});
    }
    for (const Link& link : network.links())
        links_.push_back({link.stats(), link.busy_until(from_), link.queue_time_until(from_)});
}

double Measurement::seconds(const Network& network) const {
    return to_seconds(network.now() - from_);
}

PacketBalance Measurement::balance(const Network& network, std::size_t subflow) const {
    const Subflow& s = network.subflows()[subflow];
    const SubflowBaseline& base = counted(subflows_, subflow);
    return {.in_flight_at_start = base.in_flight_pkts,
            .sent = sent_pkts(network, s) - base.sent_pkts,
            .delivered = s.arrived_pkts - base.arrived_pkts,
            .dropped = s.dropped_pkts - base.dropped_pkts,
            .lost = s.lost_pkts,
            .acked = s.sender.acked_pkts() - base.acked_pkts};
}

// Delays of `count` subflows of a connection together; empty if they are not measured.
std::optional<DelayResult> Measurement::delays(const Network& network, std::size_t first, std::size_t count) const {
    if (network.delays_of(first) == nullptr) return std::nullopt;
    DelayResult result;
    DelayCounters sum;
    DelaySpread packets;
    DelaySpread acks;
    for (std::size_t i = first; i < first + count; ++i) {
        const OneWayDelay& measured = *network.delays_of(i);
        sum += measured.counters() - counted(subflows_, i).delays;
        packets.add(measured.packets());
        acks.add(measured.acks());
        result.max_extent_pkts = std::max(result.max_extent_pkts, measured.max_extent_pkts());
    }
    result.mean_s = sum.mean_delay_s();
    result.p95_s = packets.quantile_s(0.95);
    result.mean_jitter_s = sum.mean_jitter_s();
    result.reordered_pkts = sum.reordered_pkts;
    result.reordered_ratio = ratio(static_cast<double>(sum.reordered_pkts), static_cast<double>(sum.arrived_pkts));
    result.mean_ack_s = sum.mean_ack_delay_s();
    result.p95_ack_s = acks.quantile_s(0.95);
    if (sum.arrived_pkts > 0) result.max_s = to_seconds(packets.most);
    if (sum.arrived_acks > 0) result.max_ack_s = to_seconds(acks.most);
    return result;
}

SubflowResult Measurement::subflow_result(const Network& network, std::size_t index) const {
    const Subflow& s = network.subflows().at(index);
    const SubflowBaseline& base = counted(subflows_, index);
    const SenderStats stats = s.is_established ? s.sender.stats_at(network.now()) : s.sender.stats();
    const double span_s = seconds(network);
    SubflowResult result;
    result.throughput_bps = ratio(static_cast<double>(s.received_bytes - base.received_bytes) * 8, span_s);
    result.goodput_bps = ratio(static_cast<double>(s.goodput_bytes - base.goodput_bytes) * 8, span_s);
    result.mean_cwnd_pkts =
        ratio(stats.cwnd_seconds - base.sender.cwnd_seconds, stats.clock_seconds - base.sender.clock_seconds);
    const SenderStats active = active_stats(network, s);
    const double active_s = active.clock_seconds - base.sender.clock_seconds;
    result.active_mean_cwnd_pkts = active_s > 0 ? (active.cwnd_seconds - base.sender.cwnd_seconds) / active_s : kNaN;
    const std::int64_t samples = stats.rtt_samples - base.sender.rtt_samples;
    result.mean_rtt_s =
        samples > 0 ? (stats.rtt_seconds - base.sender.rtt_seconds) / static_cast<double>(samples) : kNaN;
    result.packets = balance(network, index);
    result.loss_ratio = result.packets.loss_ratio();
    result.retransmits = stats.retransmits - base.sender.retransmits;
    result.timeouts = stats.timeouts - base.sender.timeouts;
    result.marked_pkts = s.marked_pkts - base.marked_pkts;
    result.mark_reductions = stats.answered - base.sender.answered;
    const Connection& c = network.connections()[s.connection];
    std::int64_t all = 0;
    for (std::uint32_t i = c.first_subflow; i < c.first_subflow + c.subflow_count; ++i)
        all += network.subflows()[i].sender.stats().handed_pkts() - counted(subflows_, i).sender.handed_pkts();
    result.schedule_share = kNaN;
    if (c.is_multipath() && all > 0)
        result.schedule_share =
            static_cast<double>(stats.handed_pkts() - base.sender.handed_pkts()) / static_cast<double>(all);
    result.delays = delays(network, index, 1);
    return result;
}

FlowResult Measurement::flow_result(const Network& network, std::size_t index) const {
    const Connection& c = network.connections().at(index);
    FlowResult result;
    result.goodput_bps =
        ratio(static_cast<double>(c.delivered_bytes - counted(flows_, index).delivered_bytes) * 8, seconds(network));
    result.completion_s = c.completed_at < kNever ? to_seconds(c.completed_at - c.started_at) : kNaN;
    result.start_s = c.is_started ? to_seconds(c.started_at) : kNaN;
    if (c.is_started) {
        const Nanos end = std::min(network.now(), c.ended_at);
        result.active_s = std::max(0.0, to_seconds(end - std::max(from_, c.started_at)));
    }
    result.active_goodput_bps = ratio(result.goodput_bps * seconds(network), result.active_s);
    result.p95_rtt_s = rtts_[index].count() > 0 ? rtts_[index].quantile_s(0.95) : kNaN;
    double rtt_seconds = 0;
    double samples = 0;
    for (std::uint32_t i = c.first_subflow; i < c.first_subflow + c.subflow_count; ++i) {
        const Subflow& s = network.subflows()[i];
        const SubflowBaseline& base = counted(subflows_, i);
        const SenderStats& stats = s.sender.stats();
        rtt_seconds += stats.rtt_seconds - base.sender.rtt_seconds;
        samples += static_cast<double>(stats.rtt_samples - base.sender.rtt_samples);
        result.packets += balance(network, i);
        result.retransmits += stats.retransmits - base.sender.retransmits;
        result.marked_pkts += s.marked_pkts - base.marked_pkts;
        result.mark_reductions += stats.answered - base.sender.answered;
    }
    result.mean_rtt_s = samples > 0 ? rtt_seconds / samples : kNaN;
    result.loss_ratio = result.packets.loss_ratio();
    const FlowBaseline& base = counted(flows_, index);
    result.reinjections = c.reinjected_pkts - base.reinjected_pkts;
    result.duplicates = c.reassembly.duplicates() - base.duplicates;
    const auto delivered = static_cast<double>(c.reassembly.next() - base.delivered_pkts);
    result.mean_hol_blocking_s = delivered > 0 ? (c.reassembly.waited_s() - base.waited_s) / delivered : kNaN;
    result.max_reorder_queue_bytes = c.reassembly.max_held_bytes();
    result.delays = delays(network, c.first_subflow, c.subflow_count);
    return result;
}

LinkResult Measurement::link_result(const Network& network, std::size_t index) const {
    const Link& link = network.links().at(index);
    const LinkBaseline& base = counted(links_, index);
    const LinkStats& stats = link.stats();
    const Nanos span = network.now() - from_;
    LinkResult result;
    if (span > Nanos(0)) {
        result.utilisation = to_seconds(link.busy_until(network.now()) - base.busy) / to_seconds(span);
        result.mean_queue_pkts = to_seconds(link.queue_time_until(network.now()) - base.queue_time) / to_seconds(span);
    }
    result.drops_queue = stats.drops_queue - base.stats.drops_queue;
    result.drops_random = stats.drops_random - base.stats.drops_random;
    result.drops_down = stats.drops_down - base.stats.drops_down;
    result.drops_scripted = stats.drops_scripted - base.stats.drops_scripted;
    result.marks = stats.marks - base.stats.marks;
    result.max_queue_pkts = link.max_queue_pkts();
    return result;
}

}  // namespace subflow
