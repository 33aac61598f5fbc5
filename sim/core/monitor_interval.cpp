#include "monitor_interval.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "check.h"

namespace subflow {

double IntervalRecord::throughput_pps() const {
    const double acks_s = to_seconds(last_ack_at - first_ack_at);
    // The packets of the first acknowledgement arrived before this period.
    if (first_ack_at < last_ack_at) return (delivered_pkts - first_ack_pkts) / acks_s;
    return delivered_pkts / length_s();
}

void IntervalMonitor::begin(const IntervalPlan& plan, double rate_pps, std::uint32_t number, Nanos now) {
    if (!open_.empty()) open_.back().record.end = std::max(now, open_.back().record.begin + Nanos(1));
    Open& interval = open_.push_slot();
    interval = Open();
    interval.first = number;
    interval.record.number = begun_++;
    interval.record.tag = plan.tag;
    interval.record.begin = now;
    interval.record.rate_pps = rate_pps;
    due_ = now + plan.length;
    min_packets_ = plan.min_packets;
    is_cut_ = false;
}

IntervalMonitor::Open* IntervalMonitor::interval_of(std::uint32_t number) {
    // Few intervals are open at a time, and most reports concern the oldest.
    for (std::uint32_t pos = open_.begin_pos(); pos != open_.end_pos(); ++pos) {
        Open& interval = open_[pos];
        if (number < interval.first) return nullptr;
        const bool is_last = pos + 1 == open_.end_pos();
        if (is_last || number < open_[pos + 1].first) return &interval;
    }
    return nullptr;
}

void IntervalMonitor::on_delivered(std::uint32_t number, Nanos now) {
    Open* const interval = interval_of(number);
    if (interval == nullptr) return;
    IntervalRecord& record = interval->record;
    ++record.delivered_pkts;
    if (record.first_ack_at == kNever) record.first_ack_at = now;
    if (record.first_ack_at == now) ++record.first_ack_pkts;
    record.last_ack_at = now;
}

void IntervalMonitor::on_lost(std::uint32_t number) {
    if (Open* const interval = interval_of(number)) ++interval->record.lost_pkts;
}

void IntervalMonitor::on_found(std::uint32_t number) {
    if (Open* const interval = interval_of(number)) --interval->record.lost_pkts;
}

void IntervalMonitor::on_replaced(std::uint32_t number) {
    if (Open* const interval = interval_of(number)) --interval->record.sent_pkts;
}

void IntervalMonitor::on_rtt(Nanos sent, Nanos rtt, Nanos now, Nanos srtt) {
    bool is_placed = false;
    for (std::uint32_t pos = open_.end_pos(); pos != open_.begin_pos(); --pos) {
        Open& interval = open_[pos - 1];
        if (interval.record.last_ack_at == now && interval.record.delivered_pkts != 0) {
            if (interval.record.first_ack_at == now) interval.record.first_srtt = srtt;
            interval.record.last_srtt = srtt;
        }
        if (is_placed || sent < interval.record.begin) continue;
        is_placed = true;
        if (interval.record.rtt_samples++ == 0) {
            interval.origin = sent;
            interval.first_rtt = rtt;
            interval.record.rtt_min_s = to_seconds(rtt);
        }
        interval.record.rtt_min_s = std::min(interval.record.rtt_min_s, to_seconds(rtt));
        const double t = to_seconds(sent - interval.origin);
        const double r = to_seconds(rtt - interval.first_rtt);
        interval.sum_t += t;
        interval.sum_r += r;
        interval.sum_tt += t * t;
        interval.sum_tr += t * r;
        interval.sum_rr += r * r;
    }
}

void IntervalMonitor::settle(Open& interval) {
    IntervalRecord& record = interval.record;
    if (record.rtt_samples == 0) return;
    const auto n = static_cast<double>(record.rtt_samples);
    record.rtt_mean_s = to_seconds(interval.first_rtt) + interval.sum_r / n;
    const double spread_tt = interval.sum_tt - interval.sum_t * interval.sum_t / n;
    if (record.rtt_samples < 3 || spread_tt <= 0) return;
    const double spread_tr = interval.sum_tr - interval.sum_t * interval.sum_r / n;
    const double spread_rr = interval.sum_rr - interval.sum_r * interval.sum_r / n;
    record.rtt_gradient = spread_tr / spread_tt;
    const double residual = std::max(0.0, spread_rr - record.rtt_gradient * spread_tr);
    record.rtt_gradient_error = std::sqrt(residual / (n - 2) / spread_tt);
}

bool IntervalMonitor::has_finished(Nanos now, Nanos patience) const {
    if (open_.empty() || open_.front().record.end == kNever) return false;
    return open_.front().is_decided() || wait_ends(patience) <= now;
}

Nanos IntervalMonitor::wait_ends(Nanos patience) const {
    if (open_.empty() || patience == kNever) return kNever;
    const IntervalRecord& oldest = open_.front().record;
    return oldest.end == kNever || oldest.delivered_pkts != 0 ? kNever : oldest.end + patience;
}

IntervalRecord IntervalMonitor::take_finished(Nanos now) {
    Open& oldest = open_.front();
    settle(oldest);
    IntervalRecord record = oldest.record;
    record.finished_at = now;
    if (record.delivered_pkts == 0) record.lost_pkts = record.sent_pkts;
    open_.pop_front();
    return record;
}

void IntervalMonitor::keep(const IntervalRecord& record) {
    latest_ = record;
    ++kept_count_;
    if (records_.size() == kRecordCapacity) {
        records_.pop_front();
        ++records_lost_;
    }
    records_.push_back(record);
}

void IntervalMonitor::continue_records(IntervalMonitor&& predecessor) {
    begun_ = predecessor.begun_;
    latest_ = predecessor.latest_;
    kept_count_ = predecessor.kept_count_;
    records_lost_ = predecessor.records_lost_;
    records_ = std::move(predecessor.records_);
}

void IntervalMonitor::check_invariants(std::uint32_t in_pipe) const {
    std::uint32_t undecided = 0;
    for (std::uint32_t pos = open_.begin_pos(); pos != open_.end_pos(); ++pos) {
        const Open& interval = open_[pos];
        const IntervalRecord& record = interval.record;
        SF_ASSERT(record.delivered_pkts + record.lost_pkts <= record.sent_pkts);
        SF_ASSERT(record.first_ack_pkts <= record.delivered_pkts);
        // Each interval begins at the end of the previous one, in time and in numbers; only the last one is open-ended.
        const bool is_last = pos + 1 == open_.end_pos();
        SF_ASSERT((record.end == kNever) == is_last);
        SF_ASSERT(is_last || (record.end >= open_[pos + 1].record.begin && interval.first < open_[pos + 1].first));
        SF_ASSERT(is_last || record.sent_pkts <= open_[pos + 1].first - interval.first);
        undecided += record.sent_pkts - record.delivered_pkts - record.lost_pkts;
    }
    SF_ASSERT(undecided == in_pipe);
    SF_ASSERT(records_.size() <= kRecordCapacity);
}

std::vector<IntervalRecord> IntervalMonitor::take_records() {
    std::vector<IntervalRecord> taken;
    taken.reserve(records_.size());
    for (; !records_.empty(); records_.pop_front()) taken.push_back(records_.front());
    return taken;
}

}  // namespace subflow
