// The part of Network that acts when a connection as a whole stalls: data on one subflow fills the receive window or
// the send buffer of the connection, or no DATA_ACK arrives for too long.
#include <algorithm>
#include <span>

#include "network.h"

namespace subflow {

namespace {

// Shortest interval between checks: a shorter interval would cost more than the delay it avoids.
constexpr Nanos kLeastWatch{10'000'000};

}  // namespace

bool Network::has_room(const Connection& c) const {
    const std::span all = std::span(subflows_).subspan(c.first_subflow, c.subflow_count);
    return std::ranges::any_of(all, [&](const Subflow& s) { return is_usable(s) && has_room(c, s); });
}

// Called while new data is blocked. If the scheduler can choose a subflow with room, slower subflows are penalised, and
// this subflow repeats the data that blocks the connection. The scheduler decides which of these reactions it uses.
// Source: Raiciu et al., NSDI 2012, section 4.2; Linux mptcp_rcv_buf_optimization.
void Network::act_when_blocked(Connection& c) {
    read_data_acks(c);
    const bool retransmits = retransmits_when_blocked(*c.scheduler);
    // Only a full receive window justifies a penalty: while the send buffer is full, the application has to wait.
    const bool may_penalise = penalises(*c.scheduler) && c.data_nxt >= c.right_edge;
    if ((!retransmits && !may_penalise) || c.data_una == c.data_nxt) return;
    if (!has_room(c)) return;
    const std::optional<std::size_t> fast = consult_scheduler(c, c.data_nxt, 0, nullptr);
    if (!fast) return;
    if (may_penalise) penalise_holders(c, *fast);
    if (!retransmits || (c.sent_on[c.data_una] >> *fast & 1) != 0 || !is_held_up_elsewhere(c, *fast)) return;
    if (c.decisions) {
        const SendMoment moment = describe_send(c, true);
        Reason& why = c.decisions->draft(Cause::Schedule, now_).reason;
        why.set(kOpportunisticRetransmission, {moment.window_pkts, moment.outstanding_pkts});
        record_choice(c, c.data_una, fast);
    }
    send_again(c, *fast, c.data_una);
    tell_blocked_retransmission(*c.scheduler, *fast);
}

// Halves the windows of slower subflows that hold the first packet without DATA_ACK, once per round trip of the fast
// subflow.
void Network::penalise_holders(Connection& c, std::size_t fast) {
    Subflow& f = subflows_[c.first_subflow + fast];
    // DEVIATION: Linux uses an RTT of 0 for a subflow without a sample, and halves the windows of all other subflows
    // with each packet until it has a sample.
    if (!f.sender.rtt().has_estimate()) return;
    const Nanos srtt = f.sender.rtt().srtt();
    if (now_ - f.penalised_others_at < srtt) return;
    for (std::uint32_t i = 0; i < c.subflow_count; ++i) {
        Subflow& s = subflows_[c.first_subflow + i];
        if (i == fast || (c.sent_on[c.data_una] >> i & 1) == 0) continue;
        if (srtt >= s.sender.rtt().srtt() || s.sender.state() != SenderState::Open) continue;
        s.sender.penalise(now_);
        f.penalised_others_at = now_;
        marks_.add(now_, MarkKind::Penalised, c.first_subflow + i, s.sender.window().cwnd_pkts);
    }
}

// True if the first packet without DATA_ACK is worth a second copy: its subflows are much slower, or their windows are
// too small to repair it. The first subflow that has a small window or is nearly as fast decides.
bool Network::is_held_up_elsewhere(const Connection& c, std::size_t fast) const {
    const Nanos srtt = subflows_[c.first_subflow + fast].sender.rtt().srtt();
    bool is_slow = false;
    for (std::uint32_t i = 0; i < c.subflow_count; ++i) {
        if (i == fast || (c.sent_on[c.data_una] >> i & 1) == 0) continue;
        const SubflowSender& s = subflows_[c.first_subflow + i].sender;
        if (s.window().cwnd_pkts <= 4) return true;
        if (s.rtt().srtt() <= srtt * 4) return false;
        is_slow = true;
    }
    return is_slow;
}

void Network::start_meta_timer(std::uint32_t flow) {
    Connection& c = connections_[flow];
    c.data_acked_at = now_;
    events_.schedule(meta_timer_source(flow), now_ + shortest_meta_timeout());
}

Nanos Network::shortest_meta_timeout() const {
    return std::max(scenario_->transport.rto_min * 2, kLeastWatch);
}

// Source: Linux mptcp_set_rto.
// DEVIATION: Linux includes the back-off of each timeout at the last acknowledgement, so that a subflow that has been
// dead for a minute delays repairs by other subflows. Here, back-off affects only the subflow itself.
Nanos Network::meta_timeout(const Connection& c) const {
    const TransportOptions& options = scenario_->transport;
    Nanos longest{};
    for (std::uint32_t i = c.first_subflow; i < c.first_subflow + c.subflow_count; ++i) {
        const Subflow& s = subflows_[i];
        if (s.is_established) longest = std::max(longest, s.sender.rto(options));
    }
    return longest > Nanos(0) ? longest * 2 : options.rto_initial * 2;
}

// Acknowledgements only record their time. The timer therefore checks at least as often as the shortest possible
// timeout: an acknowledgement may have shortened the timeout since the timer was set.
Nanos Network::on_meta_timer(std::uint32_t flow) {
    Connection& c = connections_[flow];
    if (c.pushes_ahead) return on_push_timer(flow);
    MetaTimer& timer = c.meta_timer;
    read_data_acks(c);
    if (c.data_una >= c.data_end) return kNever;
    const Nanos watch = shortest_meta_timeout();
    if (c.data_una == c.data_nxt) return now_ + watch;
    const bool is_backed_off = timer.backed_off > Nanos(0) && c.data_una == timer.una_at_expiry;
    const Nanos timeout = is_backed_off ? timer.backed_off : meta_timeout(c);
    const Nanos due = (is_backed_off ? timer.expired_at : c.data_acked_at) + timeout;
    if (due > now_) return std::min(due, now_ + watch);

    ++timer.expiries;
    timer.expired_at = now_;
    timer.una_at_expiry = c.data_una;
    timer.backed_off = std::min(timeout * 2, std::max(scenario_->transport.rto_max, timeout));
    marks_.add(now_, MarkKind::MetaTimeout, flow, to_seconds(timeout));
    const std::uint64_t sent_on = c.sent_on[c.data_una];
    // A packet among the reinjections is sent anyway as soon as possible.
    if ((sent_on & Connection::kQueued) == 0 && has_room(c)) {
        if (const std::optional<std::size_t> choice = consult_scheduler(c, c.data_una, sent_on, nullptr)) {
            if (c.decisions) {
                Reason& why = c.decisions->draft(Cause::Schedule, now_).reason;
                why.set(kMetaTimeout, {to_seconds(timeout), static_cast<double>(timer.expiries)});
                record_choice(c, c.data_una, choice);
            }
            send_again(c, *choice, c.data_una);
        }
    }
    return now_ + std::min(timer.backed_off, watch);
}

void Network::end_if_delivered(Connection& c, Nanos at) {
    if (c.reassembly.next() <= c.final_data_seq || c.ended_at < kNever) return;
    c.ended_at = at;
    if (c.final_data_seq != c.last_data_seq) return;  // stopped before all data was sent
    c.completed_at = at;
    marks_.add(at, MarkKind::Completed, static_cast<std::uint32_t>(&c - connections_.data()),
               to_seconds(at - c.started_at));
}

// Settles all arrivals in the lanes. None of them is later than now: packets beyond the horizon wait on their links.
void Network::settle_all() {
    for (const std::uint32_t flow : deferring_) {
        Connection& c = connections_[flow];
        if (!c.defers_data) continue;
        settle_before(c, kNever);
        read_data_acks(c);
    }
}

// Like Subflow::note_end(), but first settles the arrivals until now. Does nothing for flows without an end.
void Network::note_end(Subflow& s) {
    Connection& c = connections_[s.connection];
    if (s.at_end || c.final_data_seq == Reassembly::kUnlimited) return;
    if (c.defers_data) settle_before(c, now_);
    s.note_end(c, now_);
}

}  // namespace subflow
