// The part of Network that records the fates of packets, and matches them with the losses that senders noticed.
#include <algorithm>
#include <tuple>

#include "cc/controllers.h"
#include "network.h"

namespace subflow {

namespace {

Fate fate_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::Accepted:
        case Verdict::Kept:
            return Fate::UnderWay;
        case Verdict::Marked:
            return Fate::Marked;
        case Verdict::DroppedQueue:
            return Fate::QueueFull;
        case Verdict::DroppedEarly:
            return Fate::QueueLaw;
        case Verdict::DroppedRandom:
            return Fate::Random;
        case Verdict::DroppedCollision:
            return Fate::Collision;
        case Verdict::DroppedDown:
            return Fate::Down;
        case Verdict::DroppedScripted:
            return Fate::Scripted;
    }
    SF_UNREACHABLE();
}

Nanos at_of(const FateRecord* record) {
    return record->at;
}

// Identity of a transmission; the departure distinguishes the incarnations of a subflow.
std::tuple<std::uint32_t, std::uint32_t, Nanos> transmission_key(const FateRecord* record) {
    return {record->subflow, record->number, record->sent};
}

}  // namespace

void Network::record_fates(std::uint32_t flow, std::size_t capacity) {
    fates_.emplace(flow, capacity);
    Connection& c = connections_[flow];
    c.is_observed = true;
    for (std::uint32_t i = c.first_subflow; i < c.first_subflow + c.subflow_count; ++i) {
        subflows_[i].sender.record_losses(capacity);
        update_packet_checks(subflows_[i], c);
    }
    for (Link& link : links_) link.keep_marked();
    if (c.defers_data) replan_lookahead();
}

void Network::note_fate(std::uint32_t link_index, const Packet& p, Verdict verdict, Nanos at) {
    const Subflow& s = subflows_[p.subflow];
    if (s.connection != fates_->flow() || p.kind() == PacketKind::Handshake) return;
    const Link& link = links_[link_index];
    // Without ECN, the number has all bits.
    const std::uint32_t number = s.ecn == EcnMode::Off ? p.transmission : p.number();
    fates_->note({.at = at,
                  .sent = p.sent_time,
                  .subflow = p.subflow,
                  .seq = p.seq,
                  .number = number,
                  .link = link_index,
                  .queue_pkts = link.queue_pkts(at),
                  .queue_bytes = link.queue_bytes(at).value,
                  .limit_pkts = link.limits().limit_pkts,
                  .limit_bytes = link.limits().limit_bytes.value,
                  .what = fate_of(verdict),
                  .kind = p.kind()});
}

void Network::note_arrival(const Packet& p, Nanos at) {
    const Subflow& s = subflows_[p.subflow];
    if (s.connection != fates_->flow()) return;
    const std::uint32_t number = s.ecn == EcnMode::Off ? p.transmission : p.number();
    fates_->note({.at = at, .sent = p.sent_time, .subflow = p.subflow, .seq = p.seq, .number = number});
}

std::int64_t Network::fates_lost() const {
    return fates_ ? fates_->discarded() : 0;
}

FateTable Network::fates() const {
    FateTable table;
    if (!fates_) return table;
    std::vector<const FateRecord*> records;
    for (const FateRecord& each : fates_->records())
        if (each.what != Fate::Arrived && each.at <= now_) records.push_back(&each);
    std::ranges::stable_sort(records, {}, [](const FateRecord* r) { return std::tuple(r->at, r->subflow, r->number); });
    for (const FateRecord* const r : records) {
        table.time_ns.push_back(r->at.value);
        table.sent_ns.push_back(r->sent.value);
        table.subflow.push_back(r->subflow);
        table.seq.push_back(r->seq);
        table.number.push_back(r->number);
        table.kind.push_back(static_cast<std::uint8_t>(r->kind));
        table.fate.push_back(static_cast<std::uint8_t>(r->what));
        table.link.push_back(r->link);
        table.queue_pkts.push_back(r->queue_pkts);
        table.queue_bytes.push_back(r->queue_bytes);
        table.limit_pkts.push_back(r->limit_pkts);
        table.limit_bytes.push_back(r->limit_bytes);
    }
    return table;
}

LossTable Network::losses() const {
    LossTable table;
    if (!fates_) return table;
    // The end of each transmission: dropped, or arrived
    std::vector<const FateRecord*> ends;
    // [subflow of the flow] arrivals, marks and drops of ACKs
    const Connection& c = connections_[fates_->flow()];
    std::vector<std::vector<const FateRecord*>> arrivals(c.subflow_count);
    std::vector<std::vector<const FateRecord*>> marks(c.subflow_count);
    std::vector<std::vector<const FateRecord*>> lost_acks(c.subflow_count);
    for (const FateRecord& each : fates_->records()) {
        if (each.at > now_) continue;
        const std::uint32_t own = each.subflow - c.first_subflow;
        if (each.kind == PacketKind::Ack) {
            lost_acks[own].push_back(&each);
        } else if (each.what == Fate::Marked) {
            marks[own].push_back(&each);
        } else {
            ends.push_back(&each);
            if (each.what == Fate::Arrived) arrivals[own].push_back(&each);
        }
    }
    for (std::uint32_t own = 0; own < c.subflow_count; ++own) {
        for (auto* const records : {&arrivals[own], &marks[own], &lost_acks[own]})
            std::ranges::stable_sort(*records, {}, at_of);
    }
    std::ranges::sort(ends, {}, transmission_key);
    struct Noticed {
        LossNotice notice;
        std::uint32_t subflow;
    };
    std::vector<Noticed> notices;
    for (std::uint32_t i = c.first_subflow; i < c.first_subflow + c.subflow_count; ++i) {
        if (!subflows_[i].sender.decisions()) continue;
        for (const LossNotice& each : subflows_[i].sender.decisions()->losses()) notices.push_back({each, i});
    }
    std::ranges::stable_sort(notices, {}, [](const Noticed& n) { return n.notice.at; });
    for (const auto& [notice, subflow] : notices) {
        const std::uint32_t own = subflow - c.first_subflow;
        const FateRecord* end = nullptr;
        if (notice.sign == LossSign::Marks) {
            // The last mark that this ACK can report
            auto it = std::ranges::lower_bound(marks[own], notice.at, {}, at_of);
            while (it != marks[own].begin() && (*std::prev(it))->seq >= notice.seq) --it;
            if (it != marks[own].begin()) end = *std::prev(it);
        } else {
            const auto place =
                std::ranges::lower_bound(ends, std::tuple(subflow, notice.number, notice.sent), {}, transmission_key);
            if (place != ends.end() && transmission_key(*place) == std::tuple(subflow, notice.number, notice.sent))
                end = *place;
        }
        std::int64_t overtaken_ns = -1;
        if (end == nullptr || end->what == Fate::Arrived) {
            // A packet that was sent later also arrives later than this packet left.
            auto it = std::ranges::upper_bound(arrivals[own], notice.sent, {}, at_of);
            for (; it != arrivals[own].end(); ++it) {
                const FateRecord* const r = *it;
                if (r->at > notice.at || (end != nullptr && r->at >= end->at)) break;
                if (r->sent <= notice.sent || notice.sign == LossSign::Marks) continue;
                overtaken_ns = r->at.value;
                break;
            }
        }
        std::uint32_t lost_ack_count = 0;
        std::uint32_t ack_link = LossTable::kNoLink;
        auto ack = std::ranges::lower_bound(lost_acks[own], notice.sent, {}, at_of);
        for (; ack != lost_acks[own].end() && (*ack)->at <= notice.at; ++ack) {
            if ((*ack)->what == Fate::Marked) continue;
            ++lost_ack_count;
            ack_link = (*ack)->link;
        }
        const bool has_link = end != nullptr && end->what != Fate::Arrived;
        table.time_ns.push_back(notice.at.value);
        table.sent_ns.push_back(notice.sign == LossSign::Marks && end != nullptr ? end->sent.value : notice.sent.value);
        table.subflow.push_back(subflow);
        table.seq.push_back(notice.seq);
        table.number.push_back(notice.number);
        table.sign.push_back(static_cast<std::uint8_t>(notice.sign));
        table.fate.push_back(static_cast<std::uint8_t>(end == nullptr ? Fate::UnderWay : end->what));
        table.fate_ns.push_back(end == nullptr ? -1 : end->at.value);
        table.link.push_back(has_link ? end->link : LossTable::kNoLink);
        table.queue_pkts.push_back(has_link ? end->queue_pkts : 0);
        table.queue_bytes.push_back(has_link ? end->queue_bytes : 0);
        table.limit_pkts.push_back(has_link ? end->limit_pkts : 0);
        table.limit_bytes.push_back(has_link ? end->limit_bytes : 0);
        table.overtaken_ns.push_back(overtaken_ns);
        table.lost_acks.push_back(lost_ack_count);
        table.ack_link.push_back(ack_link);
    }
    return table;
}

}  // namespace subflow
