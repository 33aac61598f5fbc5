// The part of Network that opens subflows by packets: SYN, SYN-ACK and ACK, and an additional ACK for further subflows.
//
// The end that sends the data opens the connection, as in an upload.
// Source: RFC 9293 section 3.5, RFC 8684 sections 3.1 and 3.2; Linux tcp_v4_connect, tcp_rcv_synsent_state_process,
// tcp_retransmit_timer, mptcp_finish_join. Differences from Linux:
// - The SYN-ACK has no timer: in Linux, it expires about when the retransmitted SYN arrives, which is answered anyway.
// - SYN packets have the size of an ACK, instead of 60 to 80 bytes.
#include <algorithm>

#include "network.h"

namespace subflow {

namespace {

// tcp_syn_linear_timeouts, tcp_syn_retries: the first timeout and the next four take a second each, every later one
// twice as long as the previous one. With six retries, a SYN is therefore sent again after 1, 2, 3, 4, 5, 7, 11, 19, 35
// and 67 s, and given up after 131 s. Linux 6.5 and later.
constexpr int kLinearTimeouts = 4;

// True if an opening subflow joins an existing connection.
bool is_join(const Connection& c) {
    return c.is_multipath() && !c.waits_to_join;
}

}  // namespace

void Network::begin_handshake(std::uint32_t index) {
    Subflow& s = subflows_[index];
    s.opening = {};
    s.join_at = now_ + scenario_->transport.rto_initial;
    events_.schedule(timer_source(index), s.join_at);
    send_handshake(index, HandshakeStep::Syn, now_, now_);
}

// A handshake packet reaches the receiver. Each end learns the state of the other end only from packets: the receiver
// answers a late SYN like any other, and an established sender ignores the answer.
void Network::on_handshake_at_receiver(const Packet& packet, Subflow& s, Connection& c, Nanos at) {
    note_packet(c, packet, Station::Receiver, at);
    mix_signature(at, packet.subflow, packet.seq);
    if (!is_current(s, packet)) return;
    if (ack_due(s) < at) [[unlikely]]
        send_due_acks(s, c, packet.subflow, at);
    const auto step = static_cast<HandshakeStep>(packet.seq);
    if (step == HandshakeStep::AddAddrEcho) return;
    if (step == HandshakeStep::Syn && s.is_refused) {
        send_handshake(packet.subflow, HandshakeStep::Reset, packet.sent_time, at);
    } else if (step == HandshakeStep::Syn) {
        if (!s.receiver.has_received()) s.receiver.begin(at);
        send_handshake(packet.subflow, HandshakeStep::SynAck, packet.sent_time, at);
    } else {
        s.receiver.complete_handshake(at);
        s.buffer.begin(at);
        if (is_join(c)) send_handshake(packet.subflow, HandshakeStep::JoinAck, packet.sent_time, at);
    }
}

void Network::on_handshake_at_sender(const Packet& packet, Subflow& s, Connection& c) {
    note_packet(c, packet, Station::Sender, now_);
    mix_signature(now_, packet.subflow, packet.seq);
    if (!is_current(s, packet)) return;
    const auto step = static_cast<HandshakeStep>(packet.seq);
    if (step > HandshakeStep::JoinAck) return on_signal(packet, packet.subflow);
    if (s.join_at == kNever || s.opening.is_announced) return;
    if (step == HandshakeStep::SynAck) {
        if (s.opening.sent == HandshakeStep::Syn) {
            s.opening.rtt = now_ - packet.sent_time;
            s.opening.retransmitted = s.opening.timeouts;
            s.opening.timeouts = 0;
            s.opening.sent = HandshakeStep::Ack;
        }
        send_handshake(packet.subflow, HandshakeStep::Ack, now_, now_);
        if (is_join(c)) {
            // Linux schedule_3rdack_retransmission
            s.join_at = now_ + std::max(s.opening.rtt * 2, Nanos(1'000'000));
            events_.schedule(timer_source(packet.subflow), s.join_at);
            return;
        }
    }
    s.sender.learn_from_handshake(s.opening.rtt, s.opening.retransmitted, scenario_->transport);
    establish(packet.subflow);
}

// The answer of the peer has not arrived in time.
void Network::on_handshake_timeout(std::uint32_t index) {
    Subflow& s = subflows_[index];
    const TransportOptions& options = scenario_->transport;
    mix_signature(now_, index, 0xffffffff);
    if (s.opening.sent == HandshakeStep::Ack) {
        s.join_at = now_ + std::max(s.opening.rtt * 2, Nanos(1'000'000));
        return send_handshake(index, HandshakeStep::Ack, now_, now_);
    }
    if (++s.opening.timeouts > kLinearTimeouts + options.syn_retries) return give_up(index);
    Nanos timeout = options.rto_initial;
    for (int i = kLinearTimeouts; i < s.opening.timeouts; ++i) timeout = timeout * 2;
    s.join_at = now_ + std::min(timeout, options.rto_max);
    send_handshake(index, HandshakeStep::Syn, now_, now_);
}

// All retries failed, or the peer refused the subflow. Without its first subflow, the connection fails like connect():
// no other subflow joins, and the flow ends without data. A further subflow stays closed until an event opens it again.
void Network::give_up(std::uint32_t index) {
    Subflow& s = subflows_[index];
    close_subflow(index);
    marks_.add(now_, MarkKind::Closed, index, s.sender.window().cwnd_pkts);
    if (s.ordinal == 0 && connections_[s.connection].data_nxt == 0) stop_flow(s.connection);
}

// The first data has been acknowledged, which confirms that the peer supports MPTCP.
// Source: RFC 8684 section 3.1, Linux check_fully_established
void Network::begin_joins(Connection& c) {
    c.waits_to_join = false;
    for (std::uint32_t i = c.first_subflow; i < c.first_subflow + c.subflow_count; ++i) {
        if (subflows_[i].opening.waits && may_join(c)) begin_handshake(i);
    }
}

}  // namespace subflow
