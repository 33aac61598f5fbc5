#include "estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "network.h"
#include "recorder.h"
#include "sample_store.h"

namespace subflow {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// Memory per packet in flight: 56 bytes on a link, including its place in the queue, and 48 bytes at its sender,
// connection and receiver until it is acknowledged. Half as much is added, because rings double when they are full.
constexpr double kPacketBytes = 156;

// Load of a link direction. Rate, delay and queue limit are the largest over the events of the scenario.
struct LinkLoad {
    double rate_bps = 0;
    double delay_s = 0;
    double queue_pkts = 0;  // 0: unlimited, so that the number of waiting packets is unknown
    double offered_pps = 0;
    double acks_pps = 0;      // packets whose ACKs cross this link
    double offered_pkts = 0;  // in the whole run
    bool is_slowest = false;  // slowest link of a path, where the packets of the path queue
};

// Limit of a queue in full packets; 0: unlimited.
double queue_of(std::optional<std::int64_t> pkts, std::optional<Bytes> bytes, double packet_bits) {
    const double by_count = pkts ? static_cast<double>(*pkts) : kUnlimited;
    const double by_size = bytes ? static_cast<double>(bytes->value) * 8 / packet_bits : kUnlimited;
    return pkts || bytes ? std::min(by_count, by_size) : 0;
}

std::vector<LinkLoad> links_of(const Scenario& scenario) {
    std::vector<LinkLoad> links;
    for (const LinkSpec& spec : scenario.links)
        links.push_back(
            {.rate_bps = spec.rate.value,
             .delay_s = to_seconds(spec.delay),
             .queue_pkts = queue_of(spec.queue_limit_pkts, spec.queue_limit_bytes, scenario.packet_bits())});
    for (const EventSpec& event : scenario.events) {
        if (!event.link) continue;
        LinkLoad& link = links[*event.link];
        if (event.rate) link.rate_bps = std::max(link.rate_bps, event.rate->value);
        if (event.delay) link.delay_s = std::max(link.delay_s, to_seconds(*event.delay));
        if (event.sets_queue)
            link.queue_pkts = std::max(
                link.queue_pkts, queue_of(event.queue_limit_pkts, event.queue_limit_bytes, scenario.packet_bits()));
    }
    return links;
}

// Load by one subflow, or by a datagram source on its only path.
struct PathLoad {
    const FlowSpec& flow;
    const PathSpec& path;
    double rate_pps = 0;
    double sent_pkts = 0;
};

// Rate and number of packets that the links, the buffers and the size of the flow permit; for datagrams, those of the
// source. Marks the slowest link of the path.
PathLoad load_of(const Scenario& scenario, std::vector<LinkLoad>& links, const FlowSpec& flow, const PathSpec& path) {
    PathLoad load{flow, path};
    double active_s = to_seconds(std::min({flow.stop, scenario.duration, flow.start + flow.lifetime}) - flow.start);
    active_s = std::max(0.0, active_s);
    if (sends_datagrams(flow.kind)) {
        const DatagramSpec& spec = flow.datagrams;
        double sending_s = active_s;
        if (flow.kind == FlowKind::OnOff) {
            // On-time share of the flow's active time, and one initial burst
            const double on_s = to_seconds(spec.mean_on);
            sending_s = std::min(active_s, on_s + active_s * on_s / (on_s + to_seconds(spec.mean_off)));
        }
        load.rate_pps = spec.rate.value / (8 * static_cast<double>(spec.packet.value));
        load.sent_pkts = load.rate_pps * sending_s;
        return load;
    }
    const auto slowest =
        std::ranges::min_element(path.forward, {}, [&](std::uint32_t link) { return links[link].rate_bps; });
    links[*slowest].is_slowest = true;
    load.rate_pps = links[*slowest].rate_bps / scenario.packet_bits();
    double rtt_s = 0;
    for (const auto& route : {path.forward, path.reverse})
        for (const std::uint32_t link : route) rtt_s += links[link].delay_s;
    const auto packets_of = [&](Bytes size) { return 1 + static_cast<double>(size / scenario.mss); };
    for (const std::optional<Bytes> buffer : {flow.recv_buffer, flow.send_buffer})
        if (buffer && rtt_s > 0) load.rate_pps = std::min(load.rate_pps, packets_of(*buffer) / rtt_s);
    load.sent_pkts = load.rate_pps * active_s;
    if (flow.size) load.sent_pkts = std::min(load.sent_pkts, packets_of(*flow.size));
    return load;
}

// Upper bound of the memory for recorded decisions, as if every ACK changed a window and every packet of a flow with
// several paths were scheduled.
double decision_bytes(const std::vector<PathLoad>& loads, const DecisionLog::Limits& limits) {
    double bytes = 0;
    for (const PathLoad& load : loads) {
        if (sends_datagrams(load.flow.kind)) continue;
        const double kept = std::min(load.sent_pkts * (load.flow.paths.size() > 1 ? 2 : 1), limits.capacity * 1.0);
        bytes += kept * static_cast<double>(sizeof(Decision) + DecisionTable::kRowBytes);
    }
    return bytes;
}

}  // namespace

Estimate estimate(const Scenario& scenario, Nanos sample_interval,
                  const std::optional<DecisionLog::Limits>& decisions) {
    check_scenario(scenario);
    check_interval(sample_interval);
    std::vector<LinkLoad> links = links_of(scenario);
    std::vector<PathLoad> loads;
    for (const FlowSpec& flow : scenario.flows)
        for (const PathSpec& path : flow.paths) loads.push_back(load_of(scenario, links, flow, path));
    for (const PathLoad& load : loads) {
        for (const std::uint32_t link : load.path.forward) {
            links[link].offered_pps += load.rate_pps;
            links[link].offered_pkts += load.sent_pkts;
        }
    }
    // Only packets that pass the bottleneck are acknowledged.
    for (const PathLoad& load : loads) {
        if (sends_datagrams(load.flow.kind)) continue;
        double share = 1;
        for (const std::uint32_t link : load.path.forward)
            share = std::min(share, links[link].rate_bps / scenario.packet_bits() / links[link].offered_pps);
        for (const std::uint32_t link : load.path.reverse) links[link].acks_pps += share * load.rate_pps;
    }

    Estimate out;
    const double duration_s = to_seconds(scenario.duration);
    const double acks_per_packet = scenario.transport.delayed_ack == DelayedAck::Off ? 1.0 : 0.5;
    double crossings = 0;
    for (PathLoad& load : loads) {
        if (&load.path == &load.flow.paths.front()) crossings = 0;
        // Flows on a shared link share its capacity. Datagram sources do not react and send at their full rate.
        if (!sends_datagrams(load.flow.kind)) {
            double share = 1;
            for (const std::uint32_t link : load.path.forward) {
                const double capacity_pkts = links[link].rate_bps / scenario.packet_bits() * duration_s;
                share = std::min(share, capacity_pkts / links[link].offered_pkts);
            }
            if (share < 1) load.sent_pkts *= share;
        }
        double hops = static_cast<double>(load.path.forward.size());
        if (!sends_datagrams(load.flow.kind)) hops += acks_per_packet * static_cast<double>(load.path.reverse.size());
        crossings += load.sent_pkts * hops;
        out.link_crossings += load.sent_pkts * hops;
        if (crossings <= out.busiest_crossings) continue;
        out.busiest_crossings = crossings;
        out.busiest_flow = load.flow.name;
    }
    for (std::size_t i = 0; i < links.size(); ++i) {
        const LinkLoad& link = links[i];
        const double carried_pps = std::min(link.offered_pps, link.rate_bps / scenario.packet_bits());
        const bool has_queue = link.is_slowest || link.offered_pps > carried_pps;
        const double kept = carried_pps * link.delay_s + (has_queue ? link.queue_pkts : 0);
        const double bytes =
            kPacketBytes * (std::min(kept, link.offered_pkts) + link.acks_pps * std::min(link.delay_s, duration_s));
        out.packet_bytes += bytes;
        if (bytes <= out.fullest_bytes) continue;
        out.fullest_bytes = bytes;
        out.fullest = "link '" + scenario.links[i].name + "'";
    }
    if (decisions) out.decision_bytes = decision_bytes(loads, *decisions);
    out.samples = scenario.duration / sample_interval;
    out.columns = static_cast<std::int64_t>(Recorder::column_count(scenario));
    out.trace_bytes =
        static_cast<double>(out.samples) * static_cast<double>(out.columns) * SampleStore::kBytesPerSample;
    const auto measured = std::ranges::count_if(loads, [](const PathLoad& load) { return load.flow.one_way_delay; });
    out.object_bytes =
        static_cast<double>(MarkLog::kBytes + links.size() * (sizeof(Link) + sizeof(LinkSpec)) +
                            loads.size() * sizeof(Subflow) + static_cast<std::size_t>(measured) * sizeof(OneWayDelay) +
                            scenario.flows.size() * (sizeof(Connection) + sizeof(DelayHistogram) + sizeof(FlowSpec)) +
                            scenario.events.size() * sizeof(EventSpec));
    return out;
}

}  // namespace subflow
