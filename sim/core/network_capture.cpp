// The part of Network that notes packets for whoever wants to see them as a capture on a real host would.
#include <algorithm>

#include "network.h"

namespace subflow {

void PacketLog::take(Nanos until, std::vector<PacketRecord>& out) {
    const auto later = std::ranges::stable_partition(records_, [&](const PacketRecord& r) { return r.at <= until; });
    out.insert(out.end(), records_.begin(), later.begin());
    records_.erase(records_.begin(), later.begin());
}

PacketTable::PacketTable(const std::vector<PacketRecord>& records) {
    const auto fill = [&](auto& column, auto field) {
        column.reserve(records.size());
        for (const PacketRecord& r : records)
            column.push_back(static_cast<typename std::decay_t<decltype(column)>::value_type>(field(r)));
    };
    fill(time_ns, [](const PacketRecord& r) { return r.at.value; });
    fill(echo_ns, [](const PacketRecord& r) { return r.echo.value; });
    fill(seq, [](const PacketRecord& r) { return r.seq; });
    fill(data_seq, [](const PacketRecord& r) { return r.data_seq; });
    fill(transmission, [](const PacketRecord& r) { return r.transmission; });
    fill(right_edge, [](const PacketRecord& r) { return r.right_edge; });
    fill(subflow, [](const PacketRecord& r) { return r.subflow; });
    fill(size_bytes, [](const PacketRecord& r) { return r.size_bytes; });
    fill(payload_bytes, [](const PacketRecord& r) { return r.payload_bytes; });
    fill(kind, [](const PacketRecord& r) { return r.kind; });
    fill(station, [](const PacketRecord& r) { return r.station; });
    fill(incarnation, [](const PacketRecord& r) { return r.incarnation; });
    fill(sack_count, [](const PacketRecord& r) { return r.sack_count; });
    sack.reserve(records.size() * 6);
    for (const PacketRecord& r : records) {
        for (const SeqRange& range : r.sack) {
            sack.push_back(range.begin);
            sack.push_back(range.end);
        }
    }
}

void Network::capture_packets(std::uint32_t flow, std::size_t capacity) {
    Connection& c = connections_[flow];
    if (!c.captured) c.captured.emplace();
    c.captured->set_capacity(capacity);
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

// Not inlined: nearly always there is no capture, and its callers are the path of every packet.
void Network::note_packet(Connection& c, const Packet& p, Station station, Nanos at) {
    PacketRecord record{.at = at,
                        .echo = p.sent_time,
                        .seq = p.seq,
                        .data_seq = p.data_seq,
                        .transmission = p.transmission,
                        .subflow = p.subflow,
                        .size_bytes = p.size,
                        .kind = p.kind,
                        .station = station,
                        .incarnation = p.incarnation};
    switch (p.kind) {
        case PacketKind::Data:
            record.payload_bytes = static_cast<std::uint16_t>(c.payload_of(p.data_seq));
            break;
        case PacketKind::Datagram:
            record.payload_bytes = static_cast<std::uint16_t>(p.size - kDatagramHeaderBytes.value);
            break;
        case PacketKind::Ack:
            record.right_edge = Reassembly::kUnlimited;
            if (p.extension == kNoExtension) break;
            const AckExtension& extension = ack_extensions_[p.extension];
            record.right_edge = extension.right_edge;
            record.sack = extension.sack.blocks;
            record.sack_count = static_cast<std::uint8_t>(extension.sack.count);
            break;
    }
    c.captured->add(record);
}

}  // namespace subflow
