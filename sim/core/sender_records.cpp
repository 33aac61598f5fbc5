// The part of SubflowSender that keeps records: monitor intervals, and the reasons of its decisions.
#include <utility>

#include "sender.h"
#include "sender_rules.h"

namespace subflow {

void SubflowSender::monitor_send(Nanos now) {
    if (monitor_->wants_plan(now)) {
        account_cwnd(now);
        IntervalPlan plan;
        std::visit(
            [&]<class C>(C& controller) {
                if constexpr (MonitorsIntervals<C>) {
                    decide(Cause::Interval, now, sender_rules::kUnexplained, [&](Reason* why) {
                        IntervalMoment moment = describe_moment(now);
                        moment.why = why;
                        plan = controller.plan_interval(window_, moment);
                    });
                }
            },
            controller_);
        monitor_->begin(plan, window_.pacing_pps, transmissions_ - 1, now);
    }
    monitor_->on_send();
}

void SubflowSender::tell_intervals(Nanos now, const Siblings& siblings) {
    // Four round trips: what Vivace gives an interval of which nothing is heard.
    const Nanos patience = rtt_.has_sample() ? rtt_.srtt() * 4 : kNever;
    while (monitor_->has_finished(now, patience)) {
        IntervalRecord record = monitor_->take_finished(now);
        std::visit(
            [&]<class C>(C& controller) {
                if constexpr (MonitorsIntervals<C>) {
                    decide(Cause::Interval, now, sender_rules::kUnexplained, [&](Reason* why) {
                        IntervalMoment moment = describe_moment(now);
                        moment.why = why;
                        if (controller.on_interval(window_, record, moment, siblings) == NextInterval::BeginsNow)
                            monitor_->end_now();
                    });
                }
            },
            controller_);
        monitor_->keep(record);
    }
}

void SubflowSender::record_decisions(const DecisionLog::Limits& limits) {
    if (!decisions_) decisions_.emplace();
    decisions_->set_limits(limits);
    wants_every_step_ = true;
}

void SubflowSender::record_start(Nanos now) {
    Decision& decision = decisions_->add(now);
    decision.cause = Cause::Start;
    decision.reason.set(sender_rules::kInitialWindow, {window_.cwnd_pkts});
    decision.cwnd_after_pkts = window_.cwnd_pkts;
    decision.rate_after_pps = window_.pacing_pps;
}

void SubflowSender::record_decision(Cause cause, Nanos now, const RuleInfo& fallback, const Window& before,
                                    Reason why) {
    const bool is_changed = before.cwnd_pkts != window_.cwnd_pkts || before.ssthresh_pkts != window_.ssthresh_pkts ||
                            before.pacing_pps != window_.pacing_pps;  // what siblings are told is no decision
    if (!is_changed && why.rule == nullptr) return;
    if (why.rule == nullptr) why.rule = &fallback;
    Decision& decision = decisions_->add(now);
    decision.reason = why;
    decision.cwnd_before_pkts = before.cwnd_pkts;
    decision.cwnd_after_pkts = window_.cwnd_pkts;
    decision.rate_before_pps = before.pacing_pps;
    decision.rate_after_pps = window_.pacing_pps;
    decision.cause = cause;
}

void SubflowSender::continue_books(SubflowSender&& predecessor) {
    stats_ = predecessor.stats_;
    if (monitor_ && predecessor.monitor_) monitor_->continue_records(std::move(*predecessor.monitor_));
    if (!predecessor.decisions_) return;
    decisions_ = std::move(predecessor.decisions_);
    wants_every_step_ = true;
}

}  // namespace subflow
