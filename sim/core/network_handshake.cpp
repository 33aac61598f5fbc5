// The part of Network that opens subflows by packets: SYN, SYN-ACK and ACK, and one ACK more for a further subflow.
//
// The end that has the data opens, as an upload does. Source: RFC 9293 section 3.5, RFC 8684 sections 3.1 and 3.2;
// Linux tcp_v4_connect, tcp_rcv_synsent_state_process, tcp_retransmit_timer, mptcp_finish_join. What Linux does
// besides:
// - The SYN-ACK has a timer of its own. It goes off when the SYN that is sent again arrives, which is answered in any
//   case, and is left out.
// - SYN packets weigh 60 to 80 bytes there, here what an ACK weighs.
#include <algorithm>

#include "network.h"

namespace subflow {

namespace {

// tcp_syn_linear_timeouts, tcp_syn_retries: the first timeout and the four after it take a second each, every later one
// twice as long as the one before. Thus a SYN is sent again after 1, 2, 3, 4, 5, 7, 11, 19, 35 and 67 s with six
// retries, and given up after 131 s. Linux 6.5 and later.
constexpr int kLinearTimeouts = 4;

// Whether what is opened is a further subflow of a connection that is there.
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

// A packet of the sender's is there. Both ends are told of a handshake by its packets only, so that a SYN that comes
// late is answered like any other; the answer opens nothing.
void Network::on_handshake_at_receiver(const Packet& packet, Subflow& s, Connection& c, Nanos at) {
    note_packet(c, packet, Station::Receiver, at);
    mix_signature(at, packet.subflow, packet.seq);
    if (!is_current(s, packet)) return;
    if (s.receiver.ack_deadline() < at) [[unlikely]]
        send_delayed_ack(s, c, packet.subflow, s.receiver.ack_deadline());
    const auto step = static_cast<HandshakeStep>(packet.seq);
    if (step == HandshakeStep::AddAddrEcho) return;
    if (step == HandshakeStep::Syn && s.is_refused) {
        send_handshake(packet.subflow, HandshakeStep::Reset, packet.sent_time, at);
    } else if (step == HandshakeStep::Syn) {
        if (!s.receiver.has_received()) s.receiver.begin(at);
        send_handshake(packet.subflow, HandshakeStep::SynAck, packet.sent_time, at);
    } else {
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

// The answer is overdue.
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

// Nobody answers. Without its first subflow there is no connection: connect() has failed, nothing else joins, and the
// flow is over with nothing sent. A further subflow is missing from then on, unless an event opens it again.
void Network::give_up(std::uint32_t index) {
    Subflow& s = subflows_[index];
    close_subflow(index);
    marks_.add(now_, MarkKind::Closed, index, s.sender.window().cwnd_pkts);
    if (s.ordinal == 0 && connections_[s.connection].data_nxt == 0) stop_flow(s.connection);
}

// The first data has been acknowledged: the peer is known to speak MPTCP. Source: RFC 8684 section 3.1, Linux
// check_fully_established
void Network::begin_joins(Connection& c) {
    c.waits_to_join = false;
    for (std::uint32_t i = c.first_subflow; i < c.first_subflow + c.subflow_count; ++i) {
        if (subflows_[i].opening.waits && may_join(c)) begin_handshake(i);
    }
}

}  // namespace subflow
