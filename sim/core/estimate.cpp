#include "estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "agent/agent_options.h"
#include "cc/controllers.h"
#include "network.h"
#include "recorder.h"

namespace subflow {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// What an entry of the rings weighs: a link's copy of the packet and its place in the queue; a sender's record of it; a
// connection's mask of subflows and the receiver's note of the arrival.
constexpr double kLinkEntryBytes = 56;
constexpr double kSenderEntryBytes = 32;
constexpr double kConnectionEntryBytes = 16;

// Slow start finds the limit of a path by overshooting it, and new packets go out while the old ones are repaired.
constexpr double kOvershoot = 2;
// A sender that loses packets at random seldom gets further than this many times the mean distance of two losses.
constexpr double kLossDistances = 10;
// At a stall the fast subflows of a connection run ahead for about this many round trips of the slowest.
constexpr double kStallRoundTrips = 3;
// Delayed ACKs: every second packet, more often where packets are missing.
constexpr double kDelayedAckRatio = 0.6;
// A monitor interval has a packet at least.
constexpr double kIntervalPkts = 1;
// By how many mean bursts an on-off source may send more than its share of the time.
constexpr double kLuckyBursts = 4;

// The extremes of a link direction over its events.
struct LinkLimits {
    double rate_bps = 0;  // infinite: unlimited
    double least_rate_bps = 0;
    double input_bps = 0;  // that can arrive in the long run
    double delay_s = 0;
    double least_delay_s = 0;
    double least_loss = 0;
    double queue_pkts = 0;  // of full packets; infinite: unlimited
    double offered_pkts = 0;
    double windows_pkts = 0;  // that the flows over it can have under way
    double largest_window_pkts = 0;

    // Senders are clocked by their bottleneck: elsewhere nothing waits for long.
    double queued_pkts() const { return input_bps > least_rate_bps ? queue_pkts : 0; }
};

// In full packets.
double queue_of(std::optional<std::int64_t> pkts, std::optional<Bytes> bytes, double wire_bytes) {
    const double by_count = pkts ? static_cast<double>(*pkts) : kUnlimited;
    return bytes ? std::min(by_count, static_cast<double>(bytes->value) / wire_bytes) : by_count;
}

// Each link gets what the other links of the path would let through, or the ACKs of what all of them let through.
void add_input(std::vector<LinkLimits>& links, const FlowSpec& flow, const PathSpec& path, double wire_bytes) {
    double least_bps = sends_datagrams(flow.kind) ? flow.datagrams.rate.value : kUnlimited;
    double second_bps = least_bps;  // without the link that is the slowest
    std::uint32_t slowest = 0;
    for (const std::uint32_t index : path.forward) {
        const double rate_bps = links[index].rate_bps;
        if (rate_bps < least_bps) {
            second_bps = least_bps;
            least_bps = rate_bps;
            slowest = index;
        } else {
            second_bps = std::min(second_bps, rate_bps);
        }
    }
    for (const std::uint32_t index : path.forward) links[index].input_bps += index == slowest ? second_bps : least_bps;
    if (sends_datagrams(flow.kind)) return;
    for (const std::uint32_t index : path.reverse)
        links[index].input_bps += least_bps * static_cast<double>(kHeaderBytes.value) / wire_bytes;
}

double least_loss(const GilbertOptions& model) {
    return std::min(model.good, model.bad);
}

std::vector<LinkLimits> link_limits(const Scenario& scenario, double wire_bytes) {
    std::vector<LinkLimits> links;
    for (const LinkSpec& spec : scenario.links) {
        const double delay_s = to_seconds(spec.delay);
        links.push_back({.rate_bps = spec.rate.value,
                         .least_rate_bps = spec.rate.value,
                         .delay_s = delay_s,
                         .least_delay_s = delay_s,
                         .least_loss = spec.loss_model ? least_loss(*spec.loss_model) : spec.loss,
                         .queue_pkts = queue_of(spec.queue_limit_pkts, spec.queue_limit_bytes, wire_bytes)});
    }
    for (const EventSpec& event : scenario.events) {
        if (!event.link) continue;
        LinkLimits& link = links[*event.link];
        if (event.rate) {
            link.rate_bps = std::max(link.rate_bps, event.rate->value);
            link.least_rate_bps = std::min(link.least_rate_bps, event.rate->value);
        }
        if (event.delay) {
            link.delay_s = std::max(link.delay_s, to_seconds(*event.delay));
            link.least_delay_s = std::min(link.least_delay_s, to_seconds(*event.delay));
        }
        if (event.loss) link.least_loss = std::min(link.least_loss, *event.loss);
        if (event.loss_model) link.least_loss = std::min(link.least_loss, least_loss(*event.loss_model));
        if (event.sets_queue)
            link.queue_pkts =
                std::max(link.queue_pkts, queue_of(event.queue_limit_pkts, event.queue_limit_bytes, wire_bytes));
    }
    for (const FlowSpec& flow : scenario.flows) {
        for (const PathSpec& path : flow.paths) add_input(links, flow, path, wire_bytes);
    }
    return links;
}

// One subflow, or the one path of a datagram source.
struct PathLoad {
    const FlowSpec* flow = nullptr;
    const PathSpec* path = nullptr;
    double sent_pkts = 0;    // in the whole run
    double kept_pkts = 0;    // those of them that go out whatever becomes of them
    double window_pkts = 0;  // under way at most
    double rate_pps = 0;
    double base_rtt_s = 0;
    double rtt_s = 0;  // with full queues
};

double packets_of(Bytes size, Bytes mss) {
    return std::ceil(static_cast<double>(size.value) / static_cast<double>(mss.value));
}

double active_seconds(const Scenario& scenario, const FlowSpec& flow) {
    return std::max(0.0, to_seconds(std::min({flow.stop, scenario.duration, flow.start + flow.lifetime}) - flow.start));
}

PathLoad datagram_load(const Scenario& scenario, const FlowSpec& flow) {
    PathLoad load{&flow, &flow.paths.front()};
    const DatagramSpec& spec = flow.datagrams;
    load.rate_pps = spec.rate.value / (8 * static_cast<double>(spec.packet.value));
    double sending_s = active_seconds(scenario, flow);
    if (flow.kind == FlowKind::OnOff) {
        // Its share of the time; luck can add a few bursts to that.
        const double on_s = to_seconds(spec.mean_on);
        sending_s = std::min(sending_s, sending_s * on_s / (on_s + to_seconds(spec.mean_off)) + kLuckyBursts * on_s);
    }
    load.sent_pkts = 1 + load.rate_pps * sending_s;
    load.window_pkts = load.sent_pkts;
    return load;
}

// The highest of the rates that a controller is told to begin with or not to fall below; 0 if it has none.
double given_rate_bps(const AlgorithmChoice& choice) {
    double rate_bps = 0;
    for (const AlgorithmInfo* info : controller_infos()) {
        if (info->name != choice.name) continue;
        const Options options(*info, choice.options);
        for (const OptionInfo& option : info->options) {
            const bool applies = option.base.empty() || option.base == options.choice("base");
            const bool is_sent = option.kind == OptionKind::Rate && option.key != kReferenceRate;
            if (is_sent && applies) rate_bps = std::max(rate_bps, options.number(option.key));
        }
    }
    return rate_bps;
}

// [flow] the controllers that it runs, one after the other.
using Controllers = std::vector<std::vector<const AlgorithmChoice*>>;

Controllers controllers_of(const Scenario& scenario) {
    Controllers controllers;
    for (const FlowSpec& flow : scenario.flows) controllers.push_back({&flow.controller});
    for (const EventSpec& event : scenario.events)
        if (event.controller) controllers[*event.flow].push_back(&*event.controller);
    return controllers;
}

PathLoad transport_load(const Scenario& scenario, const std::vector<LinkLimits>& links, const FlowSpec& flow,
                        const std::vector<const AlgorithmChoice*>& controllers, const PathSpec& path) {
    PathLoad load{&flow, &path};
    const double wire_bits = scenario.packet_bits();
    double rate_bps = kUnlimited;
    double base_rtt_s = 0;
    double least_rtt_s = 0;
    double queued_pkts = 0;
    double delivery = 1;  // share of the packets that random loss lets through
    for (const std::uint32_t index : path.forward) {
        const LinkLimits& link = links[index];
        rate_bps = std::min(rate_bps, link.rate_bps);
        queued_pkts += link.queued_pkts();
        delivery *= 1 - link.least_loss;
    }
    for (const auto& route : {path.forward, path.reverse}) {
        for (const std::uint32_t index : route) {
            base_rtt_s += links[index].delay_s;
            least_rtt_s += links[index].least_delay_s;
        }
    }
    for (const std::uint32_t index : path.reverse) {
        // ACKs that wait stand for a packet or two each.
        if (!std::isinf(links[index].queue_pkts)) queued_pkts += 2 * links[index].queued_pkts();
    }
    const double active_s = active_seconds(scenario, flow);
    const double repetitions = 1 / std::max(delivery, 0.05);
    load.rate_pps = rate_bps / wire_bits;
    // However short its life, the initial window leaves at once.
    const double at_once_pkts = scenario.transport.initial_window_pkts;
    load.sent_pkts = at_once_pkts + load.rate_pps * active_s;
    const double base_pkts = kOvershoot * load.rate_pps * base_rtt_s;
    load.window_pkts = base_pkts + kOvershoot * (queued_pkts + 1);
    if (delivery < 1)
        load.window_pkts = std::min(load.window_pkts, std::max(kLossDistances / (1 - delivery), base_pkts));
    if (flow.size) load.sent_pkts = std::min(load.sent_pkts, repetitions * packets_of(*flow.size, scenario.mss));
    // How soon it gives in where the path is slower than that is up to the network: it is taken to go on, and to send
    // again what is dropped.
    double given_pps = 0;
    for (const AlgorithmChoice* choice : controllers)
        given_pps = std::max(given_pps, given_rate_bps(*choice) / wire_bits);
    if (given_pps > 0) {
        // That may take it until long after its stop.
        const double rest_s = to_seconds(scenario.duration - std::min(flow.start, scenario.duration));
        const double times_each = repetitions + given_pps / load.rate_pps;
        double data_pkts = given_pps * active_s;
        if (flow.size) data_pkts = std::min(data_pkts, packets_of(*flow.size, scenario.mss));
        load.kept_pkts = std::min(given_pps * rest_s, times_each * data_pkts);
        const double full_rtt_s = base_rtt_s + queued_pkts / load.rate_pps;
        load.window_pkts = std::max(load.window_pkts, kOvershoot * given_pps * full_rtt_s);
    }
    for (const std::optional<Bytes> buffer : {flow.recv_buffer, flow.send_buffer}) {
        if (!buffer) continue;
        const double buffer_pkts = packets_of(*buffer, scenario.mss);
        load.window_pkts = std::min(load.window_pkts, kOvershoot * buffer_pkts);
        if (least_rtt_s > 0) {
            const double most_pkts = at_once_pkts + repetitions * buffer_pkts / least_rtt_s * active_s;
            load.sent_pkts = std::min(load.sent_pkts, most_pkts);
            load.kept_pkts = std::min(load.kept_pkts, most_pkts);
        }
    }
    load.window_pkts = std::min(load.window_pkts, std::max(load.sent_pkts, load.kept_pkts));
    load.base_rtt_s = base_rtt_s;
    load.rtt_s = base_rtt_s + load.window_pkts / load.rate_pps;
    return load;
}

// A ring's capacity is the next power of two.
double ring_bytes(double entries, double entry_bytes) {
    return std::exp2(std::ceil(std::log2(std::max(entries, 16.0)))) * entry_bytes;
}

class Estimator {
public:
    explicit Estimator(const Scenario& scenario)
        : scenario_(scenario),
          wire_bytes_(static_cast<double>((scenario.mss + kHeaderBytes).value)),
          links_(link_limits(scenario, wire_bytes_)),
          controllers_(controllers_of(scenario)) {
        for (std::size_t i = 0; i < scenario.flows.size(); ++i) {
            const FlowSpec& flow = scenario.flows[i];
            first_load_.push_back(loads_.size());
            for (const PathSpec& path : flow.paths) {
                loads_.push_back(sends_datagrams(flow.kind)
                                     ? datagram_load(scenario, flow)
                                     : transport_load(scenario, links_, flow, controllers_[i], path));
            }
        }
        first_load_.push_back(loads_.size());
        share_links();
    }

    Estimate result(Nanos sample_interval, const std::optional<DecisionLog::Limits>& decisions) {
        Estimate out;
        for (std::size_t flow = 0; flow < scenario_.flows.size(); ++flow) add_flow(out, flow);
        for (std::size_t link = 0; link < links_.size(); ++link) add_link(out, link);
        if (decisions) out.decision_bytes = decision_bytes(*decisions);
        out.samples = scenario_.duration / sample_interval;
        out.columns = static_cast<std::int64_t>(Recorder::column_count(scenario_));
        out.trace_bytes = static_cast<double>(out.samples) * static_cast<double>(out.columns) * sizeof(float);
        out.object_bytes =
            static_cast<double>(
                MarkLog::kBytes + links_.size() * (sizeof(Link) + sizeof(LinkSpec)) +
                scenario_.flows.size() * (sizeof(Connection) + sizeof(RttHistogram) + sizeof(FlowSpec)) +
                loads_.size() * (sizeof(Subflow) + sizeof(Controller)) + scenario_.events.size() * sizeof(EventSpec)) +
            interval_bytes() + agent_bytes();
        return out;
    }

private:
    // Those that share a link share its capacity and its queue, which each was given alone. A source that does not
    // listen sends all the same.
    void share_links() {
        for (const PathLoad& load : loads_) {
            for (const std::uint32_t index : load.path->forward) {
                LinkLimits& link = links_[index];
                link.offered_pkts += load.sent_pkts;
                if (sends_datagrams(load.flow->kind)) continue;
                link.windows_pkts += load.window_pkts;
                link.largest_window_pkts = std::max(link.largest_window_pkts, load.window_pkts);
            }
        }
        for (PathLoad& load : loads_) {
            if (sends_datagrams(load.flow->kind)) continue;
            double of_capacity = 1;
            double of_window = 1;
            for (const std::uint32_t index : load.path->forward) {
                const LinkLimits& link = links_[index];
                if (std::isinf(link.rate_bps)) continue;
                const double capacity = link.rate_bps / (8 * wire_bytes_) * to_seconds(scenario_.duration);
                of_capacity = std::min(of_capacity, capacity / link.offered_pkts);
                of_window = std::min(of_window, link.largest_window_pkts / link.windows_pkts);
            }
            load.sent_pkts = std::max(load.sent_pkts * of_capacity, load.kept_pkts);
            load.window_pkts *= of_window;
        }
        for (LinkLimits& link : links_) link.windows_pkts = 0;
        for (const PathLoad& load : loads_) {
            for (const std::uint32_t index : load.path->forward) links_[index].windows_pkts += load.window_pkts;
            if (sends_datagrams(load.flow->kind)) continue;
            for (const std::uint32_t index : load.path->reverse) links_[index].windows_pkts += load.window_pkts;
        }
    }

    void add_flow(Estimate& out, std::size_t index) const {
        const FlowSpec& flow = scenario_.flows[index];
        const std::span<const PathLoad> loads(&loads_[first_load_[index]], flow.paths.size());
        const double acks_per_packet = scenario_.transport.delayed_ack == DelayedAck::Off ? 1.0 : kDelayedAckRatio;
        double crossings = 0;
        double bytes = 0;
        double sent_pkts = 0;
        double kept_pkts = 0;
        double ahead_pkts = 0;
        double rate_pps = 0;
        double slowest_rtt_s = 0;
        for (const PathLoad& load : loads) {
            sent_pkts += load.sent_pkts;
            kept_pkts += load.kept_pkts;
            crossings += load.sent_pkts * static_cast<double>(load.path->forward.size());
            if (sends_datagrams(flow.kind)) continue;
            crossings += load.sent_pkts * acks_per_packet * static_cast<double>(load.path->reverse.size());
            crossings += load.window_pkts;  // what still waits in the first queue at the end
            bytes += ring_bytes(load.window_pkts, kSenderEntryBytes);
            ahead_pkts += load.window_pkts;
            rate_pps += load.rate_pps;
            slowest_rtt_s = std::max(slowest_rtt_s, load.rtt_s);
        }
        if (flow.paths.size() > 1) {
            ahead_pkts += kStallRoundTrips * rate_pps * slowest_rtt_s;
            for (const std::optional<Bytes> buffer : {flow.recv_buffer, flow.send_buffer}) {
                if (buffer) ahead_pkts = std::min(ahead_pkts, static_cast<double>(*buffer / scenario_.mss));
            }
            bytes += ring_bytes(std::min(ahead_pkts, sent_pkts), kConnectionEntryBytes);
            // All its subflows together send no more than there is, some of it twice.
            const double there_is =
                flow.size ? std::max(2 * packets_of(*flow.size, scenario_.mss), kept_pkts) : kUnlimited;
            if (sent_pkts > there_is) crossings *= there_is / sent_pkts;
        }
        out.link_crossings += crossings;
        if (crossings > out.busiest_crossings) {
            out.busiest_crossings = crossings;
            out.busiest_flow = flow.name;
        }
        add_bytes(out, bytes, "flow", flow.name);
    }

    // Records of monitor intervals, a round trip each, until they are taken.
    double interval_bytes() const {
        double bytes = 0;
        for (const PathLoad& load : loads_) {
            if (sends_datagrams(load.flow->kind)) continue;
            const bool monitors = std::ranges::any_of(
                controllers_[static_cast<std::size_t>(load.flow - scenario_.flows.data())],
                [](const AlgorithmChoice* choice) { return monitors_intervals(make_controller(*choice)); });
            if (!monitors) continue;
            const double round_trips = active_seconds(scenario_, *load.flow) / std::max(load.base_rtt_s, 1e-9);
            const double records = std::min(
                {round_trips, load.sent_pkts / kIntervalPkts, static_cast<double>(IntervalMonitor::kRecordCapacity)});
            bytes += sizeof(IntervalMonitor) + ring_bytes(records, sizeof(IntervalRecord));
        }
        return bytes;
    }

    // What agents saw and did, and the columns of what is taken of it at once.
    double agent_bytes() const {
        const bool has_agents = std::ranges::any_of(scenario_.flows, [](const FlowSpec& flow) {
            return !sends_datagrams(flow.kind) && agent_of(make_controller(flow.controller)) != nullptr;
        });
        return has_agents ? 2.0 * AgentStepLog::kMostBytes : 0;
    }

    // Nearly every acknowledgement changes a window; each packet of a connection of several subflows is placed.
    double decision_bytes(const DecisionLog::Limits& limits) const {
        const auto log_bytes = [&](double decisions) {
            const double kept = std::min<double>(decisions, limits.capacity);
            return ring_bytes(kept + 1, sizeof(Decision)) + kept * static_cast<double>(DecisionTable::kRowBytes);
        };
        const double acks_per_packet = scenario_.transport.delayed_ack == DelayedAck::Off ? 1.0 : kDelayedAckRatio;
        double bytes = 0;
        for (std::size_t flow = 0; flow < scenario_.flows.size(); ++flow) {
            if (sends_datagrams(scenario_.flows[flow].kind)) continue;
            double sent_pkts = 0;
            for (std::size_t i = first_load_[flow]; i < first_load_[flow + 1]; ++i) {
                sent_pkts += loads_[i].sent_pkts;
                bytes += log_bytes(loads_[i].sent_pkts * acks_per_packet);
            }
            if (scenario_.flows[flow].paths.size() > 1) bytes += log_bytes(sent_pkts);
        }
        return bytes;
    }

    void add_link(Estimate& out, std::size_t index) const {
        const LinkLimits& link = links_[index];
        const double on_wire =
            std::isinf(link.rate_bps) ? kUnlimited : link.rate_bps * link.delay_s / (8 * wire_bytes_);
        add_bytes(out, ring_bytes(std::min(link.queued_pkts() + on_wire, link.windows_pkts), kLinkEntryBytes), "link",
                  scenario_.links[index].name);
    }

    static void add_bytes(Estimate& out, double bytes, const char* what, const std::string& name) {
        out.packet_bytes += bytes;
        if (bytes <= out.fullest_bytes) return;
        out.fullest_bytes = bytes;
        out.fullest = std::string(what) + " '" + name + "'";
    }

    const Scenario& scenario_;
    double wire_bytes_;
    std::vector<LinkLimits> links_;
    Controllers controllers_;
    std::vector<PathLoad> loads_;
    std::vector<std::size_t> first_load_;  // [flow], and the end
};

}  // namespace

Estimate estimate(const Scenario& scenario, Nanos sample_interval,
                  const std::optional<DecisionLog::Limits>& decisions) {
    check_scenario(scenario);
    check_interval(sample_interval);
    return Estimator(scenario).result(sample_interval, decisions);
}

}  // namespace subflow
