#include "scenario.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "cc/controllers.h"

namespace subflow {

namespace {

// Sequence numbers are 32-bit counts of packets; with half the range, all differences fit a signed number.
constexpr std::int64_t kMaxPackets = std::int64_t{1} << 31;
// Each burst is an event, even without a packet; shorter bursts would dominate the run time.
constexpr Nanos kMinMeanPeriod{1'000};

void require(bool condition, const std::string& what) {
    if (!condition) throw ScenarioError(what);
}

void check_loss(double loss, const std::string& where) {
    require(loss >= 0 && loss <= 1, where + ": loss must be between 0 and 1");
}

void check_rate(BitsPerSec rate, const std::string& where) {
    require(rate.value >= 1, where + ": rate must be at least 1 bit/s");
}

bool is_probability(double p) {
    return p >= 0 && p <= 1;
}

void check_loss_model(const GilbertOptions& model, const std::string& where) {
    require(
        is_probability(model.p) && is_probability(model.r) && is_probability(model.good) && is_probability(model.bad),
        where + ": the probabilities of a loss model must be between 0 and 1");
}

void check_link(const LinkSpec& link) {
    const std::string where = "link '" + link.name + "'";
    check_rate(link.rate, where);
    check_loss(link.loss, where);
    if (link.loss_model) check_loss_model(*link.loss_model, where);
    const std::string problem = problem_of(link.discipline);
    require(problem.empty(), where + ": " + problem);
    require(is_time(link.delay), where + ": delay must be in [0, 1e6] s");
    require(!link.queue_limit_pkts || *link.queue_limit_pkts >= 1, where + ": the queue must hold a packet");
    require(!link.queue_limit_bytes || link.queue_limit_bytes->value >= 1, where + ": the queue must hold a byte");
    if (link.bucket) {
        require(link.bucket->burst.value >= 1, where + ": a token bucket must hold a byte");
        require(std::isfinite(link.rate.value) && link.bucket->peak >= link.rate,
                where + ": a token bucket has a finite rate, and a peak that is not below it");
        require(link.opportunities_ms.empty(), where + ": a delivery trace has no token bucket");
    }
    if (link.jitter)
        require(link.jitter->spread >= Nanos(0) && link.jitter->spread <= kMaxJitterSpread,
                where + ": the spread of the jitter must be in [0, 0.5] s");
    if (link.retransmission)
        require(link.retransmission->loss >= 0 && link.retransmission->loss < 1 &&
                    is_time(link.retransmission->delay) && link.retransmission->attempts >= 1 &&
                    link.retransmission->attempts <= 100,
                where + ": retransmissions need a loss in [0, 1), a delay, and 1 to 100 attempts");
    if (link.grants)
        require(link.grants->period > Nanos(0) && is_time(link.grants->period) && link.grants->jitter >= Nanos(0) &&
                    link.grants->jitter <= link.grants->period && std::isfinite(link.rate.value),
                where + ": grants need a finite rate, a period, and a jitter of at most a period");
    for (std::size_t i = 0; i < link.pauses.size(); ++i)
        require(link.pauses[i].from >= (i == 0 ? Nanos(0) : link.pauses[i - 1].to) &&
                    link.pauses[i].to > link.pauses[i].from && is_time(link.pauses[i].to),
                where + ": pauses must be in order and apart from each other");
    if (link.access) {
        const AccessOptions& access = *link.access;
        require(std::isfinite(link.rate.value) && access.aggregation >= 1 && access.aggregation <= 1024 &&
                    is_time(access.airtime) && is_time(access.overhead) && access.window_min <= access.window_max &&
                    access.window_max <= 65535,
                where + ": access to a medium needs a finite rate, 1 to 1024 packets, and windows up to 65535");
        require(!link.bucket && !link.grants && link.pauses.empty() && link.opportunities_ms.empty() &&
                    !std::holds_alternative<RedOptions>(link.discipline),
                where + ": who shares a medium has no bucket, grants, pauses, delivery trace or RED");
    }
    require(!(link.bucket && link.grants) && !(link.grants && !link.opportunities_ms.empty()),
            where + ": grants go with no token bucket and no delivery trace");
    require(link.delays_us.empty() || (link.delay_interval > Nanos(0) && is_time(link.delay_interval)),
            where + ": the interval of a delay trace must be greater than 0");
    const auto& times = link.opportunities_ms;
    if (times.empty()) return;
    require(std::ranges::is_sorted(times), where + ": the times of a delivery trace must not descend");
    require(times.back() > 0, where + ": a delivery trace must last at least a millisecond");
    require(std::isfinite(link.rate.value), where + ": a delivery trace has a finite rate");
}

void check_route(const Scenario& scenario, const std::vector<std::uint32_t>& route, const std::string& where) {
    require(route.size() <= 255, where + ": a path may have at most 255 links");
    for (const std::uint32_t link : route) require(link < scenario.links.size(), where + ": a path names no link");
}

void check_datagrams(const FlowSpec& flow, const std::string& where) {
    const DatagramSpec& spec = flow.datagrams;
    require(spec.rate.value > 0 && std::isfinite(spec.rate.value), where + ": rate must be greater than 0");
    require(spec.packet > kDatagramHeaderBytes && spec.packet.value <= 65535,
            where + ": packets must have 29 to 65535 bytes");
    if (flow.kind != FlowKind::OnOff) return;
    for (const Nanos mean : {spec.mean_on, spec.mean_off})
        require(mean >= kMinMeanPeriod && mean <= kMaxDuration,
                where + ": mean times on and off must be in [1 us, 1e6 s]");
}

void check_flow(const Scenario& scenario, const FlowSpec& flow) {
    const std::string where = "flow '" + flow.name + "'";
    require(!flow.paths.empty() && flow.paths.size() <= kMaxSubflows, where + ": needs 1 to 32 paths");
    require(flow.kind == FlowKind::Mptcp || flow.paths.size() == 1, where + ": only mptcp may use several paths");
    require(is_time(flow.start) && flow.stop > flow.start && flow.stop <= kNever,
            where + ": must start at or after 0 and stop after that");
    require(flow.lifetime > Nanos(0) && flow.lifetime <= kNever, where + ": its lifetime must be greater than 0");
    require(!flow.size || (flow.size->value > 0 && flow.size->value / scenario.mss.value < kMaxPackets),
            where + ": size must be positive and below 2^31 packets");
    require(!flow.recv_buffer || *flow.recv_buffer >= scenario.mss, where + ": the receive buffer must hold a packet");
    require(!flow.send_buffer || *flow.send_buffer >= scenario.mss, where + ": the send buffer must hold a packet");
    for (const PathSpec& path : flow.paths) {
        require(!path.forward.empty(), where + ": a path needs a link");
        check_route(scenario, path.forward, where);
        check_route(scenario, path.reverse, where);
        if (sends_datagrams(flow.kind)) continue;
        require(!path.reverse.empty(), where + ": a path needs a way back for its ACKs");
        bool has_bottleneck = false;
        for (const std::uint32_t link : path.forward) {
            const double rate = scenario.links[link].rate.value;
            if (std::isinf(rate)) continue;
            has_bottleneck = true;
        }
        // Without a bottleneck, the window of an endless flow would grow without bound.
        require(has_bottleneck, where + ": at least one link of each path needs a finite rate");
    }
    if (sends_datagrams(flow.kind)) check_datagrams(flow, where);
}

void check_drops(const Scenario& scenario) {
    std::vector<const PathSpec*> subflows;
    for (const FlowSpec& flow : scenario.flows)
        for (const PathSpec& path : flow.paths) subflows.push_back(&path);
    for (std::uint32_t i = 0; i < scenario.links.size(); ++i) {
        const std::string where = "link '" + scenario.links[i].name + "'";
        for (const ScriptedDrop& drop : scenario.links[i].drops) {
            require(drop.number >= 1 && is_time(drop.after), where + ": scripted drops count packets from 1 on");
            require(drop.subflow < subflows.size() &&
                        std::ranges::find(subflows[drop.subflow]->forward, i) != subflows[drop.subflow]->forward.end(),
                    where + ": a scripted drop is of no subflow that sends data over it");
        }
    }
}

// [link] Number of full packets that the link's rates allow within the duration, with `more` added to the events.
std::vector<double> packets_carried(const Scenario& scenario, std::span<const EventSpec> more) {
    std::vector<const EventSpec*> changes;
    for (const EventSpec& event : scenario.events) changes.push_back(&event);
    for (const EventSpec& event : more) changes.push_back(&event);
    std::ranges::stable_sort(changes, {}, [](const EventSpec* event) { return event->at; });

    struct Course {
        double rate_bps = 0;
        Nanos since{};
        double bits = 0;

        void go_on(Nanos until) {
            if (until <= since) return;
            bits += rate_bps * to_seconds(until - since);
            since = until;
        }
    };
    std::vector<Course> links;
    for (const LinkSpec& link : scenario.links) links.push_back({.rate_bps = link.rate.value});
    for (const EventSpec* event : changes) {
        if (!event->link || !event->rate) continue;
        Course& link = links[*event->link];
        link.go_on(std::min(event->at, scenario.duration));
        link.rate_bps = event->rate->value;
    }
    std::vector<double> carried;
    for (Course& link : links) {
        link.go_on(scenario.duration);
        carried.push_back(link.bits / (8.0 * static_cast<double>(scenario.mss.value)));
    }
    return carried;
}

// Refuses learning controllers: an agent's history belongs to its controller, and agents are created at the start of
// the run.
void check_controller_change(const Scenario& scenario, const EventSpec& event) {
    require(event.flow && !event.subflow, "event: a controller is that of a flow, of all its subflows");
    const FlowSpec& flow = scenario.flows[*event.flow];
    require(!sends_datagrams(flow.kind), "event: a flow of datagrams has no controller");
    const Controller controller = make_controller(*event.controller);
    const bool learns = agent_of(controller) != nullptr || agent_of(make_controller(flow.controller)) != nullptr;
    require(!learns, "event: a learning controller can neither replace another nor be replaced during a run");
}

}  // namespace

EcnMode ecn_mode(const Scenario& scenario, const FlowSpec& flow, const EcnUse& use) {
    if (sends_datagrams(flow.kind) || flow.ecn == EcnMode::Off) return EcnMode::Off;
    return agreed_mode(flow.ecn.value_or(scenario.transport.ecn), use);
}

void check_event(const Scenario& scenario, const EventSpec& event) {
    require(is_time(event.at), "event: must happen in [0, 1e6] s");
    require(event.link.has_value() != event.flow.has_value(), "event: needs either a link or a flow");
    if (event.link) require(*event.link < scenario.links.size(), "event: names no link");
    if (event.flow) {
        require(*event.flow < scenario.flows.size(), "event: names no flow");
        require(!event.subflow || *event.subflow < scenario.flows[*event.flow].paths.size(), "event: names no subflow");
    }
    require(event.flow || (!event.announce && !event.refuse), "event: a link has no addresses");
    if (event.controller) check_controller_change(scenario, event);
    if (event.loss) check_loss(*event.loss, "event");
    if (event.loss_model) check_loss_model(*event.loss_model, "event");
    if (event.rate) {
        check_rate(*event.rate, "event");
        // An infinite rate could leave a path without a bottleneck, and its flow's window unbounded.
        require(std::isfinite(event.rate->value), "event: a rate can only be changed to a finite one");
    }
    if (event.delay) require(is_time(*event.delay), "event: delay must be in [0, 1e6] s");
}

// Subflows number their packets, and connections the data of all subflows. Packets of subflows on separate links add
// up; a link shared by several subflows counts once.
void check_packet_numbers(const Scenario& scenario, std::span<const EventSpec> more) {
    const std::vector<double> carried = packets_carried(scenario, more);
    for (const FlowSpec& flow : scenario.flows) {
        if (sends_datagrams(flow.kind)) continue;
        std::vector<std::uint32_t> slowest;
        for (const PathSpec& path : flow.paths)
            slowest.push_back(*std::ranges::min_element(path.forward, {}, [&](auto link) { return carried[link]; }));
        std::ranges::sort(slowest);
        // WORKAROUND(clang 15): as in PacketLog::take()
        slowest.erase(std::unique(slowest.begin(), slowest.end()), slowest.end());
        double together = 0;
        double most = 0;
        for (const std::uint32_t link : slowest) {
            together += carried[link];
            most = std::max(most, carried[link]);
        }
        // A transfer has one data number per packet; only subflow numbers grow with retransmissions.
        if (flow.size) together = most;
        const EcnUse use = ecn_use_of(make_controller(flow.controller));
        const bool has_marks = ecn_mode(scenario, flow, use) != EcnMode::Off;
        require(together < static_cast<double>(has_marks ? Packet::kNumberMask : kMaxPackets),
                "flow '" + flow.name + "': more than 2^" + (has_marks ? "29" : "31") +
                    " packets could be sent within the duration" + (has_marks ? " by one that speaks of marks" : "") +
                    (slowest.size() > 1 ? " over its paths together" : "") +
                    "; allowed are lower rates, a shorter duration or larger packets");
    }
}

void check_scenario(const Scenario& scenario) {
    require(scenario.duration > Nanos(0) && scenario.duration <= kMaxDuration, "duration must be in (0, 1e6] s");
    require(scenario.warmup >= Nanos(0) && scenario.warmup < scenario.duration, "warm-up must be shorter than the run");
    require(scenario.mss.value >= 1 && scenario.mss <= Bytes(65535) - kHeaderBytes, "mss must be in [1, 65483] bytes");
    const TransportOptions& transport = scenario.transport;
    require(is_time(scenario.start_jitter), "the start jitter must be in [0, 1e6] s");
    require(transport.initial_window_pkts >= 1 && transport.initial_window_pkts <= 1e6,
            "the initial window must be in [1, 1e6] packets");
    require(transport.rto_min >= Nanos(0) && transport.rto_min <= transport.rto_max && is_time(transport.rto_max),
            "rto_min must be between 0 and rto_max");
    require(transport.dss_option >= Bytes(0), "the DSS option must not be negative");
    require(transport.delayed_ack_timeout > Nanos(0) && is_time(transport.delayed_ack_timeout),
            "the timeout of delayed ACKs must be greater than 0");
    for (const LinkSpec& link : scenario.links) check_link(link);
    std::map<std::uint32_t, AccessKind> kinds;  // kind of access of each medium
    for (const LinkSpec& link : scenario.links)
        require(!link.access ||
                    kinds.try_emplace(link.access->medium, link.access->kind).first->second == link.access->kind,
                "link '" + link.name + "': all that share a medium get at it in the same way");
    for (const FlowSpec& flow : scenario.flows) check_flow(scenario, flow);
    for (const EventSpec& event : scenario.events) check_event(scenario, event);
    check_drops(scenario);
    check_packet_numbers(scenario);
}

}  // namespace subflow
