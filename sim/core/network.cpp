#include "network.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "cc/controllers.h"

namespace subflow {

namespace {

// Intended number of events between two possible stops of a run, and the first and the longest time between them
constexpr std::int64_t kFewEvents = 4096;
constexpr std::int64_t kManyEvents = 16384;
constexpr Nanos kFirstStride{1'000'000};
constexpr Nanos kLongestStride{1'000'000'000};

Controller controller_of(const FlowSpec& flow) {
    // A datagram source has no window, and its sender is not used: any controller will do.
    return make_controller(sends_datagrams(flow.kind) ? AlgorithmChoice{"newreno", {}} : flow.controller);
}

}  // namespace

Network::Network(const Scenario& scenario, std::uint64_t seed) : scenario_(&scenario), seed_(seed) {
    check_scenario(scenario);
    links_.reserve(scenario.links.size());
    for (const LinkSpec& spec : scenario.links) links_.emplace_back(spec, seed);
    join_media();

    for (const EventSpec& event : scenario.events)
        if (event.controller) note_script(*event.controller);
    for (const FlowSpec& flow : scenario.flows) {
        note_script(flow.controller);
        note_script(flow.scheduler);
        Connection connection;
        connection.kind = flow.kind;
        connection.is_observed = flow.one_way_delay;
        connection.first_subflow = static_cast<std::uint32_t>(subflows_.size());
        connection.subflow_count = static_cast<std::uint32_t>(flow.paths.size());
        const Controller controller = controller_of(flow);
        connection.is_coupled = is_coupled(controller) && connection.is_multipath();
        if (flow.kind == FlowKind::Mptcp) connection.scheduler.emplace(make_scheduler(flow.scheduler));
        if (connection.is_multipath()) {
            connection.copies = copies_of(*connection.scheduler);
            connection.pushes_ahead = pushes_ahead(*connection.scheduler);
            connection.has_special_fill = connection.pushes_ahead || connection.copies != Copies::None;
        }
        if (sends_datagrams(flow.kind)) connection.datagrams.emplace(flow.kind, flow.datagrams, seed, flow.name);
        // The option reduces the payload of a packet, not its size on the wire, and leaves at least one byte of
        // payload.
        const std::int64_t option =
            flow.kind == FlowKind::Mptcp ? std::min(scenario.transport.dss_option.value, scenario.mss.value - 1) : 0;
        const std::int64_t payload = scenario.mss.value - option;
        connection.payload_bytes = static_cast<std::uint32_t>(payload);
        connection.header_bytes = static_cast<std::uint32_t>(kHeaderBytes.value + option);
        if (flow.size) {
            const std::int64_t packets = (flow.size->value + payload - 1) / payload;
            connection.data_end = static_cast<std::uint32_t>(packets);
            connection.last_data_seq = connection.final_data_seq = connection.data_end - 1;
            connection.last_payload_bytes = static_cast<std::uint32_t>(flow.size->value - (packets - 1) * payload);
        }
        if (flow.recv_buffer) {
            const std::int64_t limit = flow.recv_buffer->value / payload;
            connection.reassembly = Reassembly(static_cast<std::uint32_t>(std::min<std::int64_t>(limit, 0x7fffffff)));
            connection.right_edge = connection.reassembly.advertise();
        }
        if (flow.send_buffer)
            connection.send_buffer_pkts =
                static_cast<std::uint32_t>(std::clamp<std::int64_t>(flow.send_buffer->value / payload, 1, 0x7fffffff));
        connection.is_plain = !connection.is_multipath() && !flow.send_buffer;
        for (std::size_t i = 0; i < flow.paths.size(); ++i) {
            const PathSpec& path = flow.paths[i];
            Subflow s;
            s.connection = static_cast<std::uint32_t>(connections_.size());
            s.ordinal = static_cast<std::uint8_t>(i);
            s.is_backup = path.is_backup;
            s.hops = static_cast<std::uint8_t>(path.forward.size());
            s.ack_hops = static_cast<std::uint8_t>(path.reverse.size());
            s.route = static_cast<std::uint32_t>(hops_.size());
            for (const std::uint32_t link : path.forward) hops_.push_back({link});
            s.ack_route = static_cast<std::uint32_t>(hops_.size());
            for (const std::uint32_t link : path.reverse) hops_.push_back({link});
            s.random_stream = combine64(combine64(seed, hash_name(flow.name)), i + 1);
            s.sender = make_sender(controller, connection, s);
            if (flow.one_way_delay) {
                delays_.resize(subflows_.size() + 1);
                delays_.back().emplace();
            }
            agree_on_ecn(s, connection, controller);
            s.buffer = ReceiveBuffer(payload, flow.recv_buffer);
            s.lane = DataLane(s.ordinal, path.forward.back(), links_[path.forward.back()].is_order_free());
            subflows_.push_back(std::move(s));
        }
        if (connection.is_multipath()) connection.reinjections.reserve();
        connections_.push_back(std::move(connection));
        note_backups(connections_.back());
    }

    const auto link_count = static_cast<std::uint32_t>(links_.size());
    const auto subflow_count = static_cast<std::uint32_t>(subflows_.size());
    first_timer_ = link_count;
    first_ack_timer_ = first_timer_ + subflow_count;
    first_meta_timer_ = first_ack_timer_ + subflow_count;
    first_agent_ = first_meta_timer_ + static_cast<std::uint32_t>(connections_.size());
    agents_ = LearningAgents(*this);
    for (Connection& c : connections_) {
        const Agent* const agent = agents_.steering(c.first_subflow);
        c.calls_agent = agent != nullptr && agent->acts_on_news();
    }
    events_ = EventQueue(first_agent_ + agents_.all().size());
    timeline_ = Timeline(scenario, seed);
    for (const EventSpec& event : scenario.events)
        if (event.announce) connections_[*event.flow].signals_addresses = true;
    for (std::uint32_t flow = 0; flow < connections_.size(); ++flow) {
        connections_[flow].defers_data = may_defer_data(connections_[flow]);
        if (connections_[flow].defers_data) deferring_.push_back(flow);
    }
    plan_lookahead();
    // Without a warm-up, the measured interval is the whole run, including its first instant. With a warm-up, this
    // measurement provides the results of a run that stops during the warm-up.
    measurement_ = Measurement(*this);
    is_warming_up_ = scenario.warmup > Nanos(0);
}

Network::Network(const Network&) = default;
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(const Network&) = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() = default;

// All events up to and including now have been processed, and an event of the scenario precedes other events at its
// time: one nanosecond later is the first time at which the scenario could contain the change.
Nanos Network::apply(std::span<const EventSpec> changes) {
    if (is_waiting()) throw ScenarioError("an agent waits for its action, and nothing can change until it acts");
    for (const EventSpec& change : changes) check_event(*scenario_, change);
    const Nanos at = now_ + Nanos(1);
    if (std::ranges::any_of(changes, [](const EventSpec& change) { return change.rate.has_value(); })) {
        std::vector<EventSpec> live = timeline_.live_changes();
        for (const EventSpec& change : changes) live.emplace_back(change).at = at;
        check_packet_numbers(*scenario_, live);
    }
    timeline_.add(changes, at);
    for (const EventSpec& change : changes)
        if (change.controller) note_script(*change.controller);
    for (const EventSpec& change : changes)
        if (change.announce) connections_[*change.flow].signals_addresses = true;
    const bool may_end_order = std::ranges::any_of(changes, [](const EventSpec& change) {
        return change.announce || (change.link && (change.rate || change.delay == Nanos(0) || change.loss_model));
    });
    if (may_end_order) replan_lookahead();
    return at;
}

bool Network::run_until(Nanos until, std::int64_t& max_events) {
    if (is_waiting()) return false;
    if (is_warming_up_ && scenario_->warmup <= until) {
        // The measured interval is (warm-up, end]: like the samples, it includes events at its end, not at its start.
        if (!process_events(scenario_->warmup, max_events)) return false;
        begin_measurement();
        is_warming_up_ = false;
    }
    return process_events(until, max_events);
}

bool Network::process_events(Nanos until, std::int64_t& max_events) {
    for (;;) {
        const Nanos change = timeline_.next_at();
        // Packets are carried ahead at most to the end requested by the caller, or to just before the next change.
        const Nanos end = std::min(until, change - Nanos(1));
        bool has_reached = now_ > end;  // true if the next change occurs now
        while (!has_reached) {
            if (max_events <= 0) return false;
            horizon_ = std::min(end, now_ + stride_);
            has_reached = horizon_ == end;
            const std::int64_t events = process_stretch();
            max_events -= events;
            if (is_waiting()) [[unlikely]]
                return false;
            // Keeps stretches short enough for a limit on events, and long enough for a low overhead.
            if (events < kFewEvents && stride_ < kLongestStride) stride_ = stride_ * 2;
            if (events > kManyEvents) stride_ = stride_ / 2;
        }
        if (change > until) return true;
        now_ = change;
        on_timeline();
        stride_ = kFirstStride;  // after the change, events may be a thousand times as frequent as before
    }
}

// Processes every event up to the horizon, and advances the clock to it. Returns the number of events and of carried
// packets.
std::int64_t Network::process_stretch() {
    std::int64_t events = carry_held_packets();
    for (; events_.next_time() <= horizon_; ++events) {
        events_.dispatch([this](std::uint32_t source, Nanos time) {
            now_ = time;
            if (events_.has_many()) fetch_next();
            return on_event(source);
        });
    }
    now_ = horizon_;
    settle_all();
    return events;
}

// In a large network, the data of an event is not in the processor's caches: it is prefetched some events earlier, when
// the event becomes one of four candidates for the next. For the likeliest next event, the link that its packet reaches
// is also prefetched.
SF_INLINE void Network::fetch_next() {
    const EventQueue::Candidates candidates = events_.find_candidates();
    if (candidates.newest < first_timer_) {
        links_[candidates.newest].fetch_arrival();
    } else if (candidates.newest >= first_ack_timer_ && candidates.newest < first_meta_timer_) {
        subflows_[candidates.newest - first_ack_timer_].fetch_ack_timer();
    }
    if (candidates.next >= first_timer_) return;
    const Packet* const packet = links_[candidates.next].first_held();
    if (packet == nullptr) return;
    const std::uint32_t onward = hop_of(*packet) + 1;
    if (onward < hops_.size()) links_[hops_[onward].link].fetch();
}

Nanos Network::on_event(std::uint32_t source) {
    if (source < first_timer_) [[likely]]
        return on_link_event(source);
    if (source < first_ack_timer_) return on_subflow_timer(source - first_timer_);
    if (source < first_meta_timer_) return on_ack_timer(source - first_ack_timer_);
    if (source < first_agent_) return on_meta_timer(source - first_meta_timer_);
    return on_epoch(source - first_agent_);
}

void Network::on_timeline() {
    while (timeline_.next_at() <= now_) {
        const Timeline::Entry entry = timeline_.take_next();
        switch (entry.kind) {
            case Timeline::Kind::FlowStart:
                start_flow(entry.index);
                break;
            case Timeline::Kind::FlowStop:
                stop_flow(entry.index);
                break;
            case Timeline::Kind::Change:
                apply_change(scenario_->events[entry.index]);
                break;
            case Timeline::Kind::LiveChange:
                apply_change(timeline_.live_changes()[entry.index]);
                break;
        }
    }
}

Nanos Network::on_link_event(std::uint32_t link_index) {
    Link& link = links_[link_index];
    if (!link.is_predictable()) [[unlikely]] {
        link.serve(now_);
        if (link.station() != nullptr) access_medium(link_index);
        take_refused(link_index);
        carry_served(link);
    }
    if (link.next_arrival() > now_) return link.next_event();  // a change delayed the arrival, or a queue was served
    Packet packet = link.take_arrival();
    if (events_.has_many()) {
        const Packet* const later = link.held_after(1);
        if (later != nullptr) subflows_[later->subflow].fetch();
    }
    carry_on(packet, now_);
    return link.next_event();
}

Nanos Network::on_subflow_timer(std::uint32_t index) {
    Subflow& s = subflows_[index];
    Connection& c = connections_[s.connection];
    if (sends_datagrams(c.kind)) {
        send_datagrams(index);
        return c.datagrams->wake_at();
    }
    if (s.join_at <= now_) {
        if (s.opening.is_announced) {
            on_announcement_timeout(index);
        } else if (s.is_refused && !scenario_->transport.handshake) {
            s.join_at = kNever;
            marks_.add(now_, MarkKind::Refused, index);
        } else if (scenario_->transport.handshake) {
            on_handshake_timeout(index);
        } else {
            establish(index);
        }
    }
    if (s.is_established) {
        TimerOutcome outcome;
        if (s.sender.has_expired(now_)) {
            note_end(s);
            outcome = s.sender.on_timer(now_, gather_siblings(c, index), scenario_->transport);
        }
        if (outcome.timed_out) on_timed_out(index);
        if (outcome.began_recovery) on_reduced(MarkKind::Loss, index, s.sender.window().ssthresh_pkts);
        if (outcome.wants_probe) send_probe(index);
        if (!c.calls_agent || !calls_agent(index)) fill(c);
    }
    if (s.join_at < kNever) return s.join_at;
    return s.is_established ? s.sender.timer_deadline(now_, scenario_->transport) : kNever;
}

void Network::on_timed_out(std::uint32_t index) {
    Subflow& s = subflows_[index];
    Connection& c = connections_[s.connection];
    mix_signature(now_, index, 0xffffffff);
    const Window& window = s.sender.window();
    on_reduced(MarkKind::Timeout, index, std::isinf(window.ssthresh_pkts) ? window.cwnd_pkts : window.ssthresh_pkts);
    if (c.is_multipath() && !c.pushes_ahead) {
        s.is_potentially_failed = true;
        reinject(c, s, false);
    }
}

Nanos Network::on_ack_timer(std::uint32_t index) {
    Subflow& s = subflows_[index];
    if (s.ack_group != kNoAckGroup) {
        AckTimers& timers = ack_timers_[s.ack_group];
        if (timers.leader() != index) return kNever;
        // One at a time, because other events of this time may lie between two timers.
        if (timers.due() <= now_) expire_first(timers);
        return timers.due();
    }
    if (s.is_established && s.receiver.ack_deadline() <= now_)
        send_delayed_ack(s, connections_[s.connection], index, now_);
    s.receiver.set_ack_timer(s.is_established ? s.receiver.ack_deadline() : kNever);
    return s.receiver.ack_timer();
}

// Called after an event of a subflow. Returns true if the subflow's agent acts before any packet leaves.
bool Network::calls_agent(std::uint32_t subflow) {
    if (!agents_.has_news(agents_reach(), subflow)) return false;
    schedule_agent(agents_.index_steering(subflow));
    return true;
}

Nanos Network::on_epoch(std::uint32_t agent) {
    const std::optional<std::uint32_t> changed = agents_.on_epoch(agents_reach(), agent);
    if (agents_[agent].is_waiting) horizon_ = now_;  // all other events of this time are still processed
    if (changed) fill(connections_[*changed]);
    return agents_[agent].due;
}

void Network::act(std::uint32_t agent, std::span<const float> action) {
    const std::uint32_t changed = agents_.act(agents_reach(), agent, action);
    schedule_agent(agent);
    fill(connections_[changed]);
}

void Network::start_flow(std::uint32_t flow) {
    Connection& c = connections_[flow];
    if (now_ >= scenario_->flows[flow].stop) return;  // the start jitter exceeds the time until the stop
    c.is_started = true;
    c.started_at = now_;
    if (c.is_multipath()) start_meta_timer(flow);
    if (sends_datagrams(c.kind)) return start_datagrams(c.first_subflow);
    const bool has_handshake = scenario_->transport.handshake;
    // The first subflow establishes the connection: its first packet leaves at the start of the flow. Further subflows
    // join afterwards.
    c.waits_to_join = has_handshake && c.is_multipath();
    if (has_handshake) {
        begin_handshake(c.first_subflow);
    } else {
        establish(c.first_subflow);
    }
    for (std::uint32_t i = 1; i < c.subflow_count; ++i)
        if (!scenario_->flows[flow].paths[i].is_late) open_subflow(c.first_subflow + i);
}

void Network::start_datagrams(std::uint32_t index) {
    DatagramSource& source = *connections_[subflows_[index].connection].datagrams;
    source.start(now_);
    events_.schedule(timer_source(index), source.wake_at());
}

void Network::stop_flow(std::uint32_t flow) {
    Connection& c = connections_[flow];
    if (!c.is_started) return;
    c.is_stopped = true;
    if (c.datagrams) c.datagrams->stop();
    c.data_end = std::min(c.data_end, c.data_nxt);
    if (c.data_end == 0) {  // no data is under way, and datagram flows do not wait for arrivals
        c.ended_at = now_;
        return;
    }
    c.final_data_seq = c.data_end - 1;
    end_if_delivered(c, now_);
}

void Network::apply_change(const EventSpec& change) {
    if (change.link) change_link(change);
    if (change.flow && change.controller) change_controller(change);
    if (change.flow && change.backup) change_priority(change);
    if (change.flow && (change.announce || change.refuse)) change_address(change);
    if (!change.flow || !change.open) return;
    const Connection& c = connections_[*change.flow];
    for (std::uint32_t i = 0; i < c.subflow_count; ++i) {
        if (change.subflow && *change.subflow != i) continue;
        const std::uint32_t index = c.first_subflow + i;
        Subflow& s = subflows_[index];
        if (sends_datagrams(c.kind)) {
            connections_[*change.flow].datagrams->stop();
            if (*change.open && c.is_started && !c.is_stopped) start_datagrams(index);
        } else if (!*change.open) {
            close_subflow(index);
        } else if (c.is_started && !s.is_established && s.join_at == kNever) {
            open_subflow(index);
        }
    }
}

void Network::change_controller(const EventSpec& change) {
    Connection& c = connections_[*change.flow];
    c.changed_controller.emplace() = *change.controller;
    const Controller controller = make_controller(*change.controller);
    for (std::uint32_t i = c.first_subflow; i < c.first_subflow + c.subflow_count; ++i) {
        Subflow& s = subflows_[i];
        note_end(s);
        // A separate seed for each change and incarnation
        const std::uint64_t seed = combine64(s.random_stream ^ hash_name("controller"), s.incarnation);
        s.sender.change_controller(controller, combine64(seed, static_cast<std::uint64_t>(now_.value)), now_);
        // The ECN mode negotiated at the opening stays; the controller determines the codepoint.
        s.ecn_field = Packet::bits_of(capable_by(s.ecn, ecn_use_of(controller)));
    }
    c.is_coupled = is_coupled(controller) && c.is_multipath();
    marks_.add(now_, MarkKind::ControllerChange, *change.flow);
    fill(c);
}

void Network::change_priority(const EventSpec& change) {
    Connection& c = connections_[*change.flow];
    for (std::uint32_t i = 0; i < c.subflow_count; ++i) {
        if (!change.subflow || *change.subflow == i) subflows_[c.first_subflow + i].is_backup = *change.backup;
    }
    note_backups(c);
    fill(c);
}

// Updates the flags that depend on backups. With backups, the scheduler may leave the only subflow with room unused.
void Network::note_backups(Connection& c) {
    const std::span all = std::span(subflows_).subspan(c.first_subflow, c.subflow_count);
    c.has_backups = std::ranges::any_of(all, &Subflow::is_backup);
    // A single path needs no scheduling, even if the scheduler would wait.
    c.is_work_conserving = !c.is_multipath() || (!c.has_backups && is_work_conserving(*c.scheduler));
}

void Network::change_link(const EventSpec& change) {
    Link& link = links_[*change.link];
    subflow::change_link(link, change, now_,
                         [&](const Packet& p) { on_dropped(*change.link, p, Verdict::DroppedDown, now_); });
    if (change.rate || change.delay || change.loss || change.loss_model || change.sets_queue)
        marks_.add(now_, MarkKind::LinkChange, *change.link);
    if (change.up) marks_.add(now_, *change.up ? MarkKind::LinkUp : MarkKind::LinkDown, *change.link);
    if (link.station() != nullptr) update_medium(*change.link);
    if (link.next_event() < kNever) events_.schedule(link_source(*change.link), link.next_event());
}

// Propagation delay of both directions, without queueing.
Nanos Network::base_rtt(const Subflow& s) const {
    Nanos rtt{};
    for (std::uint32_t i = 0; i < s.hops; ++i) rtt += links_[hops_[s.route + i].link].delay();
    for (std::uint32_t i = 0; i < s.ack_hops; ++i) rtt += links_[hops_[s.ack_route + i].link].delay();
    return rtt;
}

// A sender for the subflow's current incarnation, with a seed that differs from those of its packets and predecessors.
SubflowSender Network::make_sender(const Controller& controller, const Connection& c, const Subflow& s) const {
    const std::uint64_t seed = combine64(s.random_stream ^ hash_name("controller"), s.incarnation);
    SubflowSender sender(controller, scenario_->transport, seed, scenario_->packet_bits());
    const LinuxMptcp* const linux_mptcp = c.scheduler ? std::get_if<LinuxMptcp>(&*c.scheduler) : nullptr;
    if (linux_mptcp != nullptr) sender.set_tick(linux_mptcp->tick());
    sender.set_payload(c.payload_bytes);
    return sender;
}

void Network::open_subflow(std::uint32_t index) {
    Subflow& s = subflows_[index];
    const bool waits = scenario_->transport.handshake && connections_[s.connection].waits_to_join;
    if (s.ordinal != 0 && !waits && !may_join(connections_[s.connection])) return;
    if (!scenario_->transport.handshake) {
        s.join_at = now_ + base_rtt(s);
        events_.schedule(timer_source(index), s.join_at);
    } else if (s.ordinal != 0 && waits) {
        s.opening.waits = true;
    } else {
        begin_handshake(index);
    }
}

void Network::establish(std::uint32_t index) {
    Subflow& s = subflows_[index];
    s.join_at = kNever;
    s.is_established = true;
    s.is_potentially_failed = false;
    s.sender.start(now_);
    marks_.add(now_, MarkKind::Established, index, s.sender.window().cwnd_pkts);
    if (!agents_.empty() && agents_.note_joined(*this, index)) schedule_agent(agents_.index_steering(index));
    fill(connections_[s.connection]);
}

void Network::close_subflow(std::uint32_t index) {
    Subflow& s = subflows_[index];
    const bool was_opening = s.join_at < kNever;
    s.join_at = kNever;
    s.opening = {};
    if (!s.is_established) {
        // Answers to earlier packets no longer open the subflow.
        if (was_opening) s.incarnation = static_cast<std::uint8_t>((s.incarnation + 1) & kIncarnationMask);
        return;
    }
    s.is_established = false;
    Connection& c = connections_[s.connection];
    note_end(s);
    s.sender.account_cwnd(now_);
    reinject(c, s, true);
    marks_.add(now_, MarkKind::Closed, index, s.sender.window().cwnd_pkts);
    // The successor is a new TCP connection: no window, no RTT, sequence numbers from zero. Only the counters continue.
    SubflowSender predecessor = std::move(s.sender);
    s.incarnation = static_cast<std::uint8_t>((s.incarnation + 1) & kIncarnationMask);
    const Controller controller =
        c.changed_controller ? make_controller(*c.changed_controller) : controller_of(scenario_->flows[s.connection]);
    s.sender = make_sender(controller, c, s);
    s.sender.continue_books(std::move(predecessor));
    s.receiver = SubflowReceiver();
    if (OneWayDelay* const delays = delays_at(index)) delays->reopen();
    agree_on_ecn(s, c, controller);
    s.buffer = ReceiveBuffer(c.payload_bytes, scenario_->flows[s.connection].recv_buffer);
    s.acks_heard = 0;
    s.copied_below = 0;
    fill(c);
}

std::size_t Network::heap_bytes() const {
    return heap_bytes_of(events_, links_, media_, subflows_, connections_, hops_, ack_timers_, held_ahead_, deferring_,
                         agents_, ack_extensions_, ecn_options_, free_extensions_, timeline_, measurement_, marks_,
                         delays_, fates_);
}

Network::Fullest Network::fullest() const {
    Fullest fullest;
    const auto weigh = [&](bool is_link, std::uint32_t index, std::size_t bytes) {
        if (bytes > fullest.bytes) fullest = {is_link, index, bytes};
    };
    for (std::uint32_t i = 0; i < links_.size(); ++i) weigh(true, i, links_[i].heap_bytes());
    for (std::uint32_t i = 0; i < connections_.size(); ++i) {
        const Connection& c = connections_[i];
        std::size_t bytes = c.heap_bytes();
        for (std::uint32_t s = c.first_subflow; s < c.first_subflow + c.subflow_count; ++s) {
            bytes += subflows_[s].heap_bytes();
            if (s < delays_.size()) bytes += delays_[s].heap_bytes();
        }
        weigh(false, i, bytes);
    }
    return fullest;
}

void Network::begin_measurement() {
    measurement_ = Measurement(*this, now_);
    for (Subflow& s : subflows_) s.lost_pkts = 0;
    for (Boxed<OneWayDelay>& delays : delays_)
        if (delays) delays->restart();
    for (Connection& c : connections_) c.reassembly.restart_max();
    for (Link& link : links_) link.restart_max_queue(now_);
}

std::vector<std::int64_t> Network::packets_in_flight() const {
    std::vector<std::int64_t> in_flight(subflows_.size(), 0);
    for (const Link& link : links_)
        link.for_each_under_way(now_, [&](const Packet& p, const Link::Place&) {
            if (p.kind() == PacketKind::Data || p.kind() == PacketKind::Datagram) ++in_flight[p.subflow];
        });
    return in_flight;
}

std::int64_t Network::link_crossings() const {
    std::int64_t crossings = 0;
    for (const Link& link : links_) crossings += link.stats().packets_in;
    return crossings;
}

std::uint64_t Network::signature() const {
    std::uint64_t h = combine64(signature_, static_cast<std::uint64_t>(packets_delivered_));
    for (const Connection& c : connections_) h = combine64(h, static_cast<std::uint64_t>(c.delivered_bytes));
    return h;
}

}  // namespace subflow
