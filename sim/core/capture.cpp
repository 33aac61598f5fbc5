#include "capture.h"

#include <algorithm>

namespace subflow {

void PacketLog::note(const Packet& p, Station station, Nanos at, std::uint16_t payload_bytes,
                     const AckExtension* extension, const EcnHeader& ecn) {
    if (records_.size() >= capacity_) {
        ++dropped_;
        return;
    }
    PacketRecord record{.at = at,
                        .echo = p.sent_time,
                        .seq = p.seq,
                        .data_seq = p.data_seq,
                        .transmission = p.number(),
                        .subflow = p.subflow,
                        .size_bytes = p.size,
                        .payload_bytes = payload_bytes,
                        .kind = p.kind(),
                        .station = station,
                        .incarnation = p.incarnation(),
                        .sack_count = 0,
                        .ecn = ecn};
    if (p.kind() == PacketKind::Ack) record.right_edge = Reassembly::kUnlimited;
    if (extension != nullptr) {
        record.right_edge = extension->right_edge;
        record.sack = extension->sack.blocks;
        record.sack_count = static_cast<std::uint8_t>(extension->sack.count);
    }
    records_.push_back(record);
}

void PacketLog::take(Nanos until, std::vector<PacketRecord>& out) {
    // WORKAROUND(clang 15): it cannot compile std::ranges::subrange of libstdc++, which the range algorithm returns.
    const auto later =
        std::stable_partition(records_.begin(), records_.end(), [&](const PacketRecord& r) { return r.at <= until; });
    out.insert(out.end(), records_.begin(), later);
    records_.erase(records_.begin(), later);
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
    fill(ecn, [](const PacketRecord& r) { return r.ecn.ecn; });
    fill(ecn_flags, [](const PacketRecord& r) { return r.ecn.flags; });
    fill(has_ecn_option, [](const PacketRecord& r) { return r.ecn.has_option; });
    ecn_bytes.reserve(records.size() * 3);
    for (const PacketRecord& r : records) ecn_bytes.insert(ecn_bytes.end(), r.ecn.bytes.begin(), r.ecn.bytes.end());
    sack.reserve(records.size() * 6);
    for (const PacketRecord& r : records) {
        for (const SeqRange& range : r.sack) {
            sack.push_back(range.begin);
            sack.push_back(range.end);
        }
    }
}

}  // namespace subflow
