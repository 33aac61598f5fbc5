// The part of Network that collects records of subflows and connections: intervals, decisions, packets, delays.
#include <algorithm>

#include "cc/controllers.h"
#include "network.h"

namespace subflow {

std::vector<SubflowInterval> Network::take_intervals() {
    std::vector<SubflowInterval> taken;
    for (std::uint32_t i = 0; i < subflows_.size(); ++i) {
        for (const IntervalRecord& record : subflows_[i].sender.take_intervals()) taken.push_back({i, record});
    }
    std::ranges::stable_sort(taken, {}, [](const SubflowInterval& each) { return each.record.finished_at; });
    return taken;
}

std::int64_t Network::intervals_lost() const {
    std::int64_t lost = 0;
    for (const Subflow& s : subflows_) {
        if (s.sender.monitor()) lost += s.sender.monitor()->records_lost();
    }
    return lost;
}

void Network::record_decisions(const DecisionLog::Limits& limits) {
    SF_ASSERT(limits.capacity > 0 && limits.window > Nanos(0));
    for (Subflow& s : subflows_) s.sender.record_decisions(limits);
    for (Connection& c : connections_) {
        if (!c.is_multipath()) continue;
        if (!c.decisions) c.decisions.emplace();
        c.decisions->set_limits(limits);
        c.is_full = false;  // while this is true, choices of the scheduler are not recorded
    }
}

// Logs of the subflows, then logs of the connections.
std::vector<OwnedLog> Network::decision_logs() const {
    std::vector<OwnedLog> logs;
    std::uint32_t owner = 0;
    for (const Subflow& s : subflows_) {
        if (s.sender.decisions()) logs.push_back({&*s.sender.decisions(), owner});
        ++owner;
    }
    for (const Connection& c : connections_) {
        if (c.decisions) logs.push_back({&*c.decisions, owner});
        ++owner;
    }
    return logs;
}

std::int64_t Network::decisions_lost() const {
    std::int64_t lost = 0;
    for (const OwnedLog& each : decision_logs()) lost += each.log->dropped();
    return lost;
}

double Network::decisions_fill() const {
    double fill = 0;
    for (const auto& [log, owner] : decision_logs())
        fill = std::max(fill, static_cast<double>(log->size()) / static_cast<double>(log->limits().capacity));
    return fill;
}

void Network::note_script(const AlgorithmChoice& choice) {
    if (choice.program && std::ranges::find(programs_, choice.program) == programs_.end())
        programs_.push_back(choice.program);
}

std::vector<const RuleInfo*> Network::script_rules() const {
    std::vector<const RuleInfo*> rules;
    for (const auto& program : programs_) {
        for (std::size_t hook = 0; hook < kScriptHooks; ++hook)
            rules.push_back(&program->rule(static_cast<ScriptHook>(hook)));
    }
    return rules;
}

std::optional<Network::Owner> Network::owner_of_script(const void* script) const {
    for (std::uint32_t i = 0; i < subflows_.size(); ++i) {
        if (subflows_[i].sender.runs(script)) return Owner{subflows_[i].connection, subflows_[i].ordinal};
    }
    for (std::uint32_t i = 0; i < connections_.size(); ++i) {
        const Boxed<Scheduler>& scheduler = connections_[i].scheduler;
        if (scheduler && std::get_if<ScriptedScheduler>(&*scheduler) == script) return Owner{i, std::nullopt};
    }
    return std::nullopt;
}

DecisionTable Network::take_decisions() {
    const std::vector<const RuleInfo*> of_scripts = script_rules();
    DecisionTable table = merge_decisions(decision_logs(), scenario_->packet_bits(), of_scripts);
    for (Subflow& s : subflows_) s.sender.clear_decisions();
    for (Connection& c : connections_) {
        if (c.decisions) c.decisions->clear();
    }
    return table;
}

void Network::capture_packets(std::uint32_t flow, std::size_t capacity) {
    Connection& c = connections_[flow];
    if (!c.captured) c.captured.emplace();
    c.captured->set_capacity(capacity);
    c.is_observed = true;
    for (std::uint32_t i = 0; i < c.subflow_count; ++i) update_packet_checks(subflows_[c.first_subflow + i], c);
    if (c.defers_data) replan_lookahead();
}

PacketTable Network::take_packets() {
    std::vector<PacketRecord> taken;
    for (Connection& c : connections_) {
        if (c.captured) c.captured->take(now_, taken);
    }
    std::ranges::stable_sort(taken, {}, &PacketRecord::at);
    return PacketTable(taken);
}

std::int64_t Network::packets_not_captured() const {
    std::int64_t lost = 0;
    for (const Connection& c : connections_) lost += c.captured ? c.captured->dropped() : 0;
    return lost;
}

// Prefetches the extensions from slot `first` on, because ACKs use slots in order.
void Network::fetch_extensions(std::uint32_t first) const {
    fetch_some(&ack_extensions_[first], ack_extensions_.size() - first, 1024);
}

// Packets of a closed subflow do not count.
void Network::measure_delay(OneWayDelay& delays, const Packet& p, Station station, Nanos at) {
    const Subflow& s = subflows_[p.subflow];
    if (!is_current(s, p)) return;
    // Without ECN, the number has all bits.
    const std::uint32_t number = s.ecn == EcnMode::Off ? p.transmission : p.number();
    const bool is_receiver = station == Station::Receiver;
    if (p.kind() == PacketKind::Ack) {
        is_receiver ? delays.on_ack_sent(at) : delays.on_ack(number, at);
    } else if (p.kind() != PacketKind::Handshake && is_receiver) {
        delays.on_arrival(number, p.sent_time, at);
    }
}

void Network::note_packet(Connection& c, const Packet& p, Station station, Nanos at) {
    if (OneWayDelay* const delays = delays_at(p.subflow)) measure_delay(*delays, p, station, at);
    if (fates_ && station == Station::Receiver && p.kind() == PacketKind::Data) note_arrival(p, at);
    if (!c.captured) return;
    const bool is_ack = p.kind() == PacketKind::Ack || p.kind() == PacketKind::Handshake;
    const std::int64_t header_bytes = p.kind() == PacketKind::Data ? c.header_bytes : kDatagramHeaderBytes.value;
    const auto payload_bytes = static_cast<std::uint16_t>(is_ack ? 0 : p.size - header_bytes);
    const bool is_extended = p.kind() == PacketKind::Ack && p.extension != kNoExtension;
    c.captured->note(p, station, at, payload_bytes, is_extended ? &ack_extensions_[p.extension] : nullptr,
                     ecn_header(p, subflows_[p.subflow]));
}

void Network::fetch_ahead(std::uint32_t level) const {
    switch (level) {
        case 0:
            fetch_some(this, 1,
                       static_cast<std::size_t>(reinterpret_cast<const char*>(&candidates_) -
                                                reinterpret_cast<const char*>(this)));
            break;
        case 1:
            events_.fetch_ahead();
            fetch_some(subflows_.data(), subflows_.size());
            fetch_some(connections_.data(), connections_.size());
            fetch_some(links_.data(), links_.size());
            fetch_some(hops_.data(), hops_.size());
            fetch_some(agents_.all().data(), agents_.all().size());
            break;
        case 2:
            for (const Link& link : links_) link.fetch_ahead();
            for (const Subflow& s : subflows_) s.sender.fetch_ahead();
            for (const Agent& agent : agents_.all()) fetch_some(agent.members().data(), agent.members().size());
            free_extensions_.fetch_from(free_extensions_.begin_pos());
            break;
        default:
            if (!free_extensions_.empty()) fetch_extensions(free_extensions_.front());
            for (const Link& link : links_) {
                const Packet* const first = link.first_held();
                if (first != nullptr && first->kind() == PacketKind::Ack && first->extension != kNoExtension)
                    fetch_extensions(first->extension);
            }
    }
}

}  // namespace subflow
