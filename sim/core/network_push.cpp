// The part of Network that assigns data to subflows before their windows have room, as mainline Linux does: each
// subflow is a TCP connection with a queue, from which it sends and repairs its losses. The connection acts when no
// DATA_ACK arrived within the timers of its subflows, when a subflow is stale, or when a subflow is closed.
#include <algorithm>
#include <cmath>

#include "network.h"

namespace subflow {

Socket Network::describe_socket(const Subflow& s) const {
    const SubflowSender& sender = s.sender;
    const Window& window = sender.window();
    const Connection& c = connections_[s.connection];
    constexpr double kMost = 0x7fffffff;  // TCP_INFINITE_SSTHRESH
    const Nanos timer = sender.next_expiry();
    const Nanos left = timer < kNever ? std::max(timer - now_, Nanos(1)) : Nanos(0);
    return {.is_open = s.is_established,
            .is_backup = s.is_backup,
            .incarnation = s.incarnation,
            .acks_heard = s.acks_heard,
            .cwnd_pkts = static_cast<std::uint32_t>(std::clamp(window.cwnd_pkts, 1.0, kMost)),
            .ssthresh_pkts = static_cast<std::uint32_t>(std::clamp(window.ssthresh_pkts, 1.0, kMost)),
            .packets_out = sender.snd_nxt() - sender.snd_una(),
            .unsent_pkts = sender.queued_pkts(),
            .srtt_eighth_us = sender.rtt().has_estimate() ? static_cast<std::uint32_t>(std::max<std::int64_t>(
                                                                sender.rtt().srtt().value * 8 / 1000, 1))
                                                          : 0,
            .paced_rate = static_cast<std::uint64_t>(window.pacing_pps * c.payload_bytes),
            .timer = left};
}

SocketsView Network::describe_sockets(const Connection& c) {
    for (std::uint32_t i = 0; i < c.subflow_count; ++i) {
        Subflow& s = subflows_[c.first_subflow + i];
        s.sender.timer_deadline(now_, scenario_->transport);  // updates the timers of the sender
        sockets_[i] = describe_socket(s);
    }
    return {.sockets = std::span(sockets_).first(c.subflow_count),
            .payload_bytes = c.payload_bytes,
            .window_left_bytes = std::uint64_t{c.right_edge - c.data_nxt} * c.payload_bytes,
            .overhead_bytes = scenario_->transport.tso ? 0 : LinuxMptcp::kPacketOverhead};
}

// Position of the subflow for a packet; empty if this packet and all later packets must wait.
std::optional<std::size_t> Network::choose_to_push(Connection& c, std::uint32_t data_seq) {
    const SocketsView view = describe_sockets(c);
    auto& scheduler = std::get<LinuxMptcp>(*c.scheduler);
    c.meta_timer.patience = scheduler.timeout(view.sockets);
    SendMoment moment{.now = now_, .is_reinjection = data_seq < c.data_nxt, .sockets = &view};
    if (!c.decisions) return scheduler.select({}, moment);
    describe_candidates(c, 0);
    // Available: room in the send buffer. Usable: open and not stale.
    for (std::uint32_t i = 0; i < c.subflow_count; ++i) {
        candidates_[i].is_usable = view.sockets[i].is_open && !scheduler.is_stale(i);
        candidates_[i].is_available = candidates_[i].is_usable && scheduler.has_memory(view, i);
    }
    moment.why = &c.decisions->draft(Cause::Schedule, now_).reason;
    const std::optional<std::size_t> choice = scheduler.select({}, moment);
    record_choice(c, data_seq, choice);
    return choice;
}

// Hands out one packet, reinjections first. Returns false if no packet was left or no subflow was chosen.
bool Network::push_next(Connection& c) {
    if (!c.reinjections.empty()) read_data_acks(c);
    while (!c.reinjections.empty() && c.reinjections.front() < c.data_una) c.reinjections.pop_front();
    const bool is_reinjection = !c.reinjections.empty();
    if (!is_reinjection && !has_new_data(c)) return false;
    const std::uint32_t data_seq = is_reinjection ? c.reinjections.front() : c.data_nxt;
    const std::optional<std::size_t> choice = choose_to_push(c, data_seq);
    if (!choice) return false;
    if (is_reinjection) {
        c.reinjections.pop_front();
        c.sent_on[data_seq] &= ~Connection::kQueued;
        send_again(c, *choice, data_seq);
        return true;
    }
    ++c.data_nxt;
    c.sent_on.push_back(std::uint64_t{1} << *choice);
    hand_over_in_turn(c, *choice, data_seq);
    return true;
}

// Without a given size, the send buffer of the connection follows those of its subflows. It counts payload; Linux adds
// some 100 bytes for every 32 kB.
void Network::size_send_buffer(Connection& c) {
    if (scenario_->flows[static_cast<std::size_t>(&c - connections_.data())].send_buffer) return;
    const std::uint64_t bytes = std::get<LinuxMptcp>(*c.scheduler).connection_buffer(describe_sockets(c).sockets);
    c.send_buffer_pkts = static_cast<std::uint32_t>(bytes / c.payload_bytes);
}

void Network::push_pending(Connection& c) {
    size_send_buffer(c);
    bool has_pushed = false;
    while (push_next(c)) has_pushed = true;
    // The timer of the connection restarts, with the latest duration, when an acknowledgement advances data_una, and
    // with a push while the timer is stopped.
    // Source: Linux __mptcp_clean_una, __mptcp_push_pending
    read_data_acks(c);
    MetaTimer& timer = c.meta_timer;
    if (c.data_una == timer.una_when_set && (timer.due < kNever || !has_pushed)) return;
    timer.una_when_set = c.data_una;
    if (c.data_una == c.data_nxt) {
        timer.due = kNever;
    } else {
        set_push_timer(c);
    }
}

void Network::set_push_timer(Connection& c) {
    MetaTimer& timer = c.meta_timer;
    const Nanos tick = std::get<LinuxMptcp>(*c.scheduler).tick();
    timer.due = tick > Nanos(0) ? wheel_expiry(now_, timer.patience, tick) : now_ + timer.patience;
    if (timer.due >= timer.looks_at) return;
    timer.looks_at = timer.due;
    events_.schedule(meta_timer_source(static_cast<std::uint32_t>(&c - connections_.data())), timer.due);
}

// Queues all data without DATA_ACK for reinjection, from data_una on, even if the data is still queued or in flight.
// Source: Linux __mptcp_retransmit_pending_data
void Network::send_all_again(Connection& c) {
    read_data_acks(c);
    std::get<LinuxMptcp>(*c.scheduler).end_burst();
    c.reinjections.pop_front(c.reinjections.size());
    for (std::uint32_t seq = c.data_una; seq != c.data_nxt; ++seq) {
        c.sent_on[seq] |= Connection::kReinjected | Connection::kQueued;
        c.reinjections.push_back(seq);
    }
}

// Source: Linux __mptcp_retrans
Nanos Network::on_push_timer(std::uint32_t flow) {
    Connection& c = connections_[flow];
    MetaTimer& timer = c.meta_timer;
    read_data_acks(c);
    if (c.data_una >= c.data_end || c.data_una == c.data_nxt) timer.due = kNever;
    timer.looks_at = timer.due;
    if (timer.due > now_) return timer.due;

    // The timer restarts first, with the same duration.
    timer.una_when_set = c.data_una;
    set_push_timer(c);
    auto& scheduler = std::get<LinuxMptcp>(*c.scheduler);
    const std::optional<std::size_t> choice =
        scheduler.select_retransmission(describe_sockets(c).sockets, [&](std::size_t position) {
            marks_.add(now_, MarkKind::Stale, static_cast<std::uint32_t>(c.first_subflow + position));
            send_all_again(c);
            fill(c);
            describe_sockets(c);
        });
    if (choice && c.data_una != c.data_nxt) {
        ++timer.expiries;
        marks_.add(now_, MarkKind::MetaTimeout, flow, to_seconds(timer.patience));
        // Send the rest of the page fragment that contains data_una. The data of the application fills fragments of
        // equal size from the start of the stream (Linux struct mptcp_data_frag).
        const std::uint32_t count = std::max(LinuxMptcp::kFragmentBytes / c.payload_bytes, 1u);
        const std::uint32_t left = count - c.data_una % count;
        const std::uint32_t end = c.data_nxt - c.data_una > left ? c.data_una + left : c.data_nxt;
        for (std::uint32_t seq = c.data_una; seq != end; ++seq) {
            if (c.decisions) {
                describe_candidates(c, 0);
                c.decisions->draft(Cause::Schedule, now_)
                    .reason.set(kMetaTimeout, {to_seconds(timer.patience), static_cast<double>(timer.expiries)});
                record_choice(c, seq, choice);
            }
            send_again(c, *choice, seq);
        }
    }
    fill(c);
    timer.looks_at = timer.due;
    return timer.due;
}

}  // namespace subflow
