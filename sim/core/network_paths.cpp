// The path manager of Network: addresses that the peer announces later, so that further subflows join, or withdraws.
//
// The end with the data opens subflows, as in network_handshake.cpp; the other end announces addresses.
// Source: RFC 8684 section 3.4; Linux net/mptcp/pm.c (mptcp_pm_add_timer, mptcp_pm_add_addr_received,
// mptcp_pm_rm_addr_received), pm_kernel.c (mptcp_pm_create_subflow_or_signal_addr).
// DEVIATION: an announcement that has arrived is not repeated, even if its echo is lost: a repetition would be echoed
// and change nothing.
#include <algorithm>

#include "network.h"

namespace subflow {

namespace {

// net.mptcp.add_addr_timeout, and the number of repetitions of an announcement (ADD_ADDR_RETRANS_MAX)
constexpr Nanos kLongestAnnouncement{120'000'000'000};
constexpr int kMostRepetitions = 3;

}  // namespace

void Network::change_address(const EventSpec& change) {
    Connection& c = connections_[*change.flow];
    for (std::uint32_t i = 0; i < c.subflow_count; ++i) {
        if (change.subflow && *change.subflow != i) continue;
        const std::uint32_t index = c.first_subflow + i;
        if (change.refuse) subflows_[index].is_refused = *change.refuse;
        if (!change.announce || !c.is_started) continue;
        if (*change.announce) {
            announce(index);
        } else {
            withdraw(index);
        }
    }
}

// The subflow that carries signals between the ends: the first established subflow, and `other_than` only if no other
// is established. Empty without an established subflow.
std::optional<std::uint32_t> Network::carrier(const Connection& c, std::uint32_t other_than) const {
    for (std::uint32_t i = c.first_subflow; i < c.first_subflow + c.subflow_count; ++i)
        if (subflows_[i].is_established && i != other_than) return i;
    if (subflows_[other_than].is_established) return other_than;
    return std::nullopt;
}

void Network::announce(std::uint32_t index) {
    Subflow& s = subflows_[index];
    if (s.ordinal == 0 || s.is_established || s.join_at < kNever) return;
    s.opening = {};
    s.opening.is_announced = true;
    send_announcement(index);
}

// Announces the address, then waits for the longest retransmission timeout of the subflows, doubled with each
// repetition. Before the connection is established, only waits for the next attempt.
void Network::send_announcement(std::uint32_t index) {
    Subflow& s = subflows_[index];
    const Connection& c = connections_[s.connection];
    const std::optional<std::uint32_t> by = carrier(c, index);
    Nanos patience = scenario_->transport.rto_initial;
    if (by && !c.waits_to_join) {
        patience = Nanos(0);
        for (std::uint32_t i = c.first_subflow; i < c.first_subflow + c.subflow_count; ++i)
            if (subflows_[i].is_established)
                patience = std::max(patience, subflows_[i].sender.rto(scenario_->transport));
        patience = std::min(patience, kLongestAnnouncement) * (std::int64_t{1} << s.opening.timeouts);
        marks_.add(now_, MarkKind::Announced, index, s.opening.timeouts);
        ++s.opening.timeouts;
        send_handshake(*by, HandshakeStep::AddAddr, now_, now_, s.ordinal);
    }
    s.join_at = now_ + patience;
    events_.schedule(timer_source(index), s.join_at);
}

void Network::on_announcement_timeout(std::uint32_t index) {
    Subflow& s = subflows_[index];
    mix_signature(now_, index, 0xffffffff);
    if (s.opening.timeouts <= kMostRepetitions) return send_announcement(index);
    s.opening = {};
    s.join_at = kNever;
}

// The peer withdraws an address and resets its subflow. Sends no packets if the subflow is closed or only announced.
void Network::withdraw(std::uint32_t index) {
    Subflow& s = subflows_[index];
    Connection& c = connections_[s.connection];
    const bool was_announced = s.opening.is_announced;
    if (was_announced) {
        s.opening = {};
        s.join_at = kNever;
    }
    s.opening.waits = false;
    if (!s.is_established && s.join_at == kNever) return;
    if (const std::optional<std::uint32_t> by = carrier(c, index))
        send_handshake(*by, HandshakeStep::RemoveAddr, now_, now_, s.ordinal);
    send_handshake(index, HandshakeStep::Reset, now_, now_);
}

// Processes a signal of the peer about its addresses, which has arrived on the subflow `by`.
void Network::on_signal(const Packet& packet, std::uint32_t by) {
    const auto step = static_cast<HandshakeStep>(packet.seq);
    const Connection& c = connections_[subflows_[by].connection];
    const std::uint32_t index = step == HandshakeStep::Reset ? by : c.first_subflow + packet.data_seq;
    if (step == HandshakeStep::AddAddr) {
        send_handshake(by, HandshakeStep::AddAddrEcho, now_, now_, packet.data_seq);
        take_address(index);
        return;
    }
    const bool was_opening = subflows_[index].join_at < kNever && !subflows_[index].opening.is_announced;
    if (!was_opening) return close_subflow(index);
    marks_.add(now_, MarkKind::Refused, index);
    give_up(index);
}

void Network::take_address(std::uint32_t index) {
    Subflow& s = subflows_[index];
    if (!s.opening.is_announced) return;
    Connection& c = connections_[s.connection];
    s.opening = {};
    s.join_at = kNever;
    const FlowSpec& flow = scenario_->flows[s.connection];
    if (flow.address_limit && c.taken_addresses >= *flow.address_limit) return;
    ++c.taken_addresses;
    open_subflow(index);
}

// True if the connection may have another subflow.
// Source: Linux mptcp_pm_get_limit_extra_subflows
bool Network::may_join(const Connection& c) const {
    const std::optional<std::uint32_t>& limit = scenario_->flows[subflows_[c.first_subflow].connection].subflow_limit;
    if (!limit) return true;
    std::uint32_t further = 0;
    for (std::uint32_t i = c.first_subflow + 1; i < c.first_subflow + c.subflow_count; ++i) {
        const Subflow& s = subflows_[i];
        further += s.is_established || (s.join_at < kNever && !s.opening.is_announced);
    }
    return further < *limit;
}

}  // namespace subflow
