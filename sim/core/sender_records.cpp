// The part of SubflowSender that records monitor intervals and the reasons of decisions.
#include <algorithm>
#include <utility>

#include "sender_controller.h"

namespace subflow {

void SubflowSender::monitor_send(Nanos now) {
    if (monitor_->wants_plan(now)) {
        account_cwnd(now);
        IntervalPlan plan;
        let_controller_change_window(Cause::Interval, now, [&]<class C>(C& controller, Reason* why) {
            if constexpr (MonitorsIntervals<C>) plan = controller.plan_interval(window_, describe_moment(now, why));
        });
        monitor_->begin(plan, window_.pacing_pps, transmissions_ - 1, now);
        watch_intervals();
    }
    monitor_->on_send();
}

void SubflowSender::report_intervals(Nanos now, const Siblings& siblings) {
    while (monitor_->has_finished(now, interval_timeout())) {
        IntervalRecord record = monitor_->take_finished(now);
        let_controller_change_window(Cause::Interval, now, [&]<class C>(C& controller, Reason* why) {
            if constexpr (MonitorsIntervals<C>) {
                const NextInterval next = controller.on_interval(window_, record, describe_moment(now, why), siblings);
                if (next == NextInterval::BeginsNow) monitor_->end_now();
            }
        });
        monitor_->keep(record);
    }
    watch_intervals();
}

Nanos SubflowSender::interval_timeout() const {
    // Four round trips: Vivace's time limit for an interval without feedback.
    return rtt_.has_sample() ? std::max(rtt_.srtt() * 4, Nanos(1)) : kNever;
}

void SubflowSender::check_monitor() const {
    if (monitor_->open_count() == 0) return;
    std::uint32_t in_pipe = 0;
    for (std::uint32_t seq = snd_una_; seq != snd_nxt_; ++seq)
        in_pipe += (packets_[seq].flags() & kInPipe) != 0 && packets_[seq].transmission >= monitor_->first_open();
    monitor_->check_invariants(in_pipe);
}

void SubflowSender::record_decisions(const DecisionLog::Limits& limits) {
    if (!decisions_) decisions_.emplace();
    decisions_->set_limits(limits);
    needs_every_step_ |= kAlways;
}

void SubflowSender::record_losses(std::size_t capacity) {
    if (!decisions_) record_decisions({});
    decisions_->record_losses(capacity);
}

void SubflowSender::record_start(Nanos now) {
    Decision& decision = decisions_->draft(Cause::Start, now);
    decision.reason.set(sender_rules::kInitialWindow, {window_.cwnd_pkts});
    decision.cwnd_after_pkts = window_.cwnd_pkts;
    decision.rate_after_pps = window_.pacing_pps;
    decisions_->keep_draft();
}

void SubflowSender::finish_decision(Decision& draft, const RuleInfo& fallback, const Window& before) {
    if (draft.reason.rule == nullptr) {
        const bool is_changed = before.cwnd_pkts != window_.cwnd_pkts ||
                                before.ssthresh_pkts != window_.ssthresh_pkts ||
                                // the rate advertised to siblings is no decision
                                before.pacing_pps != window_.pacing_pps;
        if (!is_changed) return;
        draft.reason.rule = &fallback;
    }
    draft.cwnd_before_pkts = before.cwnd_pkts;
    draft.cwnd_after_pkts = window_.cwnd_pkts;
    draft.rate_before_pps = before.pacing_pps;
    draft.rate_after_pps = window_.pacing_pps;
    decisions_->keep_draft();
}

// Includes ACKs after the end of the flow: the integral of cwnd then ends at the last of them.
SenderStats SubflowSender::stats_at_end(Nanos ended_at) const {
    return ended_at > cwnd_since_ ? stats_at(ended_at) : stats_;
}

bool SubflowSender::is_unheard(Nanos now, const TransportOptions& options) const {
    return backoffs_ != 0 || now - cwnd_since_ > rto(options);
}

void SubflowSender::continue_books(SubflowSender&& predecessor) {
    stats_ = predecessor.stats_;
    stats_.acked_before += predecessor.delivered_pkts();
    if (monitor_ && predecessor.monitor_) monitor_->continue_records(std::move(*predecessor.monitor_));
    if (!predecessor.decisions_) return;
    decisions_ = std::move(predecessor.decisions_);
    needs_every_step_ |= kAlways;
}

}  // namespace subflow
