// The part of Network that assigns data to subflows: scheduling, reinjection, the connection-level window.
#include <algorithm>
#include <limits>

#include "network.h"
#include "sender_rules.h"

namespace subflow {

Candidate Network::describe_candidate(const Connection& c, const Subflow& s) const {
    const SubflowSender& sender = s.sender;
    const RttEstimator& rtt = sender.rtt();
    return {.is_usable = is_usable(s),
            .is_available = is_usable(s) && has_room(c, s),
            .has_sent_this = false,
            .in_slow_start = sender.window().in_slow_start(),
            .incarnation = s.incarnation,
            .srtt = rtt.has_estimate() ? rtt.srtt() : Nanos(0),
            .rttvar = rtt.has_estimate() ? rtt.rttvar() : Nanos(0),
            .cwnd_pkts = sender.window().cwnd_pkts,
            .ssthresh_pkts = sender.window().ssthresh_pkts,
            .inflight_pkts = static_cast<double>(sender.pipe()),
            .queued_pkts = static_cast<double>(sender.queued_pkts()),
            .pacing_pps = sender.window().pacing_pps,
            .delivered_pkts = static_cast<double>(sender.delivered_pkts()),
            .logit = s.schedule_logit};
}

SendMoment Network::describe_send(const Connection& c, bool is_reinjection) const {
    constexpr double kEndless = std::numeric_limits<double>::infinity();
    const bool is_limited = c.right_edge != Reassembly::kUnlimited;
    // End of the data that the application has written, as limited by the send buffer.
    const std::uint64_t written = std::min(std::uint64_t{c.data_end}, std::uint64_t{c.data_una} + c.send_buffer_pkts);
    const bool is_endless = c.data_end == Reassembly::kUnlimited && c.send_buffer_pkts == Reassembly::kUnlimited;
    return {.now = now_,
            .window_pkts = is_limited ? static_cast<double>(c.right_edge - c.data_una) : kEndless,
            .outstanding_pkts = static_cast<double>(c.data_nxt - c.data_una),
            .unsent_pkts = is_endless ? kEndless : static_cast<double>(written - c.data_nxt),
            .is_reinjection = is_reinjection};
}

bool Network::has_active(const Connection& c) const {
    const std::span all = std::span(subflows_).subspan(c.first_subflow, c.subflow_count);
    return std::ranges::any_of(all, [](const Subflow& s) { return !s.is_backup && is_usable(s); });
}

// Backups carry no data while another subflow is usable.
// Source: RFC 8684 section 3.3.8.
void Network::disable_backups(const Connection& c) {
    if (!has_active(c)) return;
    for (std::uint32_t i = 0; i < c.subflow_count; ++i) {
        if (subflows_[c.first_subflow + i].is_backup) candidates_[i].is_usable = candidates_[i].is_available = false;
    }
}

// Describes the subflows for a packet that was already sent on the subflows in `sent_on`.
void Network::describe_candidates(const Connection& c, std::uint64_t sent_on) {
    for (std::uint32_t i = 0; i < c.subflow_count; ++i) {
        candidates_[i] = describe_candidate(c, subflows_[c.first_subflow + i]);
        candidates_[i].has_sent_this = (sent_on >> i & 1) != 0;
    }
    if (c.has_backups) disable_backups(c);
    bool has_fresh = false;
    for (std::uint32_t i = 0; i < c.subflow_count; ++i)
        has_fresh |= candidates_[i].is_usable && !candidates_[i].has_sent_this;
    // A packet is sent again on the same subflow only if no other subflow is usable (Linux MPTCP's path mask).
    if (!has_fresh) return;
    for (std::uint32_t i = 0; i < c.subflow_count; ++i) candidates_[i].is_available &= !candidates_[i].has_sent_this;
}

// The scheduler's choice for a packet that was already sent on the subflows in `sent_on`; empty if it chooses no
// subflow. `why` as in SendMoment.
std::optional<std::size_t> Network::consult_scheduler(Connection& c, std::uint32_t data_seq, std::uint64_t sent_on,
                                                      Reason* why) {
    // The limit of the send buffer and the records need the current amount of outstanding data.
    if (c.decisions || c.send_buffer_pkts != Reassembly::kUnlimited) read_data_acks(c);
    describe_candidates(c, sent_on);
    const std::span all = std::span(candidates_).first(c.subflow_count);
    SendMoment moment = describe_send(c, data_seq < c.data_nxt);
    moment.why = why;
    return std::visit([&](auto& scheduler) { return scheduler.select(all, moment); }, *c.scheduler);
}

std::size_t Network::ask_scheduler(Connection& c, std::uint32_t data_seq, std::uint64_t sent_on) {
    Reason* const why = c.decisions ? &c.decisions->draft(Cause::Schedule, now_).reason : nullptr;
    const std::optional<std::size_t> choice = consult_scheduler(c, data_seq, sent_on, why);
    if (c.decisions) record_choice(c, data_seq, choice);
    return choice.value_or(c.subflow_count);
}

void Network::record_copy(Connection& c, std::uint32_t data_seq, std::size_t position) {
    describe_candidates(c, c.sent_on[data_seq]);
    const auto behind = static_cast<double>(c.data_nxt - 1 - data_seq);
    c.decisions->draft(Cause::Schedule, now_).reason.set(kSendCopy, {behind});
    record_choice(c, data_seq, position);
}

// Adds the scheduler's choice to the current draft, whose reason the scheduler has filled in, and keeps the draft.
void Network::record_choice(Connection& c, std::uint32_t data_seq, std::optional<std::size_t> choice) {
    Decision& decision = c.decisions->current_draft();
    decision.data_seq = data_seq;
    if (choice) decision.chosen = static_cast<std::uint8_t>(*choice);
    for (std::uint32_t i = 0; i < c.subflow_count; ++i) {
        decision.available |= static_cast<std::uint32_t>(candidates_[i].is_available) << i;
        decision.usable |= static_cast<std::uint32_t>(candidates_[i].is_usable) << i;
    }
    if (decision.reason.rule == nullptr) {
        const bool had_no_choice = choice && decision.available == 1u << *choice;
        decision.reason.rule = decision.available == 0 ? &kNoneAvailable
                               : had_no_choice         ? &kOnlyAvailable
                                                       : &sender_rules::kUnexplained;
    }
    c.decisions->keep_draft();
}

// Records a choice without a query of the scheduler, which would have chosen the only subflow with room.
void Network::record_only_choice(Connection& c, std::uint32_t data_seq, std::size_t choice) {
    Decision& decision = c.decisions->draft(Cause::Schedule, now_);
    decision.reason.rule = &kOnlyAvailable;
    decision.data_seq = data_seq;
    decision.chosen = static_cast<std::uint8_t>(choice);
    decision.available = 1u << choice;
    for (std::uint32_t i = 0; i < c.subflow_count; ++i)
        decision.usable |= static_cast<std::uint32_t>(is_usable(subflows_[c.first_subflow + i])) << i;
    c.decisions->keep_draft();
}

// Sends a packet again on the subflow at `position`.
void Network::send_again(Connection& c, std::size_t position, std::uint32_t data_seq) {
    ++c.reinjected_pkts;
    c.changed = Connection::kAll;
    if (c.is_multipath()) {
        const std::uint64_t here = std::uint64_t{1} << position;
        std::uint64_t& sent_on = c.sent_on[data_seq];
        // If the packet returns to a subflow, its mask restarts (Linux MPTCP's path_mask).
        if (sent_on & here) sent_on &= Connection::kReinjected | Connection::kQueued;
        sent_on |= here;
    }
    hand_over_in_turn(c, position, data_seq);
    const auto index = static_cast<std::uint32_t>(c.first_subflow + position);
    events_.schedule(timer_source(index), subflows_[index].sender.timer_deadline(now_, scenario_->transport));
}

void Network::reinject(Connection& c, const Subflow& from, bool is_closed) {
    read_data_acks(c);
    // With Copies::Queued, all other subflows send the data anyway.
    // DEVIATION: Linux also reinjects in this case, so that its best path repeats data that this path has already
    // carried.
    if (c.pushes_ahead) {
        send_all_again(c);
    } else if (c.copies != Copies::Queued) {
        from.sender.for_each_undelivered([&](std::uint32_t data_seq) {
            if (data_seq < c.data_una) return;
            if (c.is_multipath()) {
                std::uint64_t& sent_on = c.sent_on[data_seq];
                // After a timeout, one reinjection is enough. After a close, the closed subflow no longer repeats the
                // packet.
                if ((sent_on & Connection::kReinjected) && !is_closed) return;
                sent_on |= Connection::kReinjected;
                if (sent_on & Connection::kQueued) return;
                sent_on |= Connection::kQueued;
            }
            c.reinjections.push_back(data_seq);
        });
    }
    if (!is_closed || !c.is_multipath()) return;
    // The successor of the closed subflow has sent none of this data.
    for (std::uint32_t seq = c.sent_on.begin_pos(); seq != c.sent_on.end_pos(); ++seq)
        c.sent_on[seq] &= ~(std::uint64_t{1} << from.ordinal);
}

}  // namespace subflow
