// A receiver without a network: its acknowledgements, their times, and the growth of its window and buffer.
#include <gtest/gtest.h>

#include "receiver.h"

namespace subflow {
namespace {

using namespace literals;

constexpr std::uint32_t kPayload = 1448;

// A receiver with its environment: options, the buffer of its connection, and ACKs that a test sends.
class Receiving : public SubflowReceiver {
public:
    TransportOptions options;
    ReceiveBuffer buffer{kPayload, Bytes(60'000)};  // of a fixed size, which the window has from the start

    Decision on_data(std::uint32_t seq, Nanos sent_time, Nanos now, std::uint32_t acks_heard = 0) {
        return SubflowReceiver::on_data(seq, kPayload, sent_time, acks_heard, now, buffer, options);
    }
    // Sends the pending ACK. Returns the time stamp that it echoes.
    Nanos acknowledge() {
        next_ack();
        return take_echo();
    }
    // True if a packet is acknowledged at once; then sends the ACK.
    bool is_acked_at_once(std::uint32_t seq, Nanos now) {
        const bool at_once = on_data(seq, now, now).ack_now;
        if (at_once) acknowledge();
        return at_once;
    }
};

Receiving linux_receiver() {
    Receiving receiver;
    receiver.options.delayed_ack = DelayedAck::Linux;
    return receiver;
}

TEST(Receiver, ReportsTheMostRecentBlockFirst) {
    Receiving receiver;
    EXPECT_TRUE(receiver.on_data(0, 0_ms, 0_ms).is_new);
    EXPECT_TRUE(receiver.on_data(2, 0_ms, 0_ms).is_new);
    EXPECT_TRUE(receiver.on_data(4, 0_ms, 0_ms).is_new);
    EXPECT_TRUE(receiver.on_data(6, 0_ms, 0_ms).is_new);
    EXPECT_FALSE(receiver.on_data(4, 0_ms, 0_ms).is_new);
    const SackBlocks blocks = receiver.take_sack_blocks();
    ASSERT_EQ(blocks.count, 3u);
    EXPECT_EQ(blocks.blocks[0], (SeqRange{4, 5}));
    EXPECT_EQ(receiver.rcv_nxt(), 1u);
    receiver.on_data(1, 0_ms, 0_ms);
    EXPECT_EQ(receiver.rcv_nxt(), 3u);
    receiver.on_data(3, 0_ms, 0_ms);
    receiver.on_data(5, 0_ms, 0_ms);
    EXPECT_EQ(receiver.rcv_nxt(), 7u);
    EXPECT_FALSE(receiver.has_gaps());
}

TEST(Receiver, DelaysEverySecondAckOnceTheQuickAcksAreUsedUp) {
    Receiving receiver = linux_receiver();
    for (std::uint32_t seq = 0; seq < 16; ++seq) {
        EXPECT_TRUE(receiver.on_data(seq, 1_ms, 2_ms).ack_now);
        receiver.acknowledge();
    }
    EXPECT_FALSE(receiver.on_data(16, 3_ms, 4_ms).ack_now);
    EXPECT_EQ(receiver.ack_deadline(), 44_ms);
    EXPECT_TRUE(receiver.on_data(17, 5_ms, 6_ms).ack_now);
    EXPECT_EQ(receiver.acknowledge(), 3_ms);  // of the oldest packet covered
    EXPECT_EQ(receiver.ack_deadline(), kNever);
    EXPECT_TRUE(receiver.on_data(19, 7_ms, 8_ms).ack_now);  // a gap is reported at once
}

TEST(Receiver, ASmallWindowHasFewerQuickAcks) {
    // Linux tcp_incr_quickack: half of the packets that fit into the window. 14 480 bytes are ten packets.
    Receiving receiver = linux_receiver();
    receiver.buffer = ReceiveBuffer(kPayload, Bytes(14'480));
    for (std::uint32_t seq = 0; seq < 5; ++seq) EXPECT_TRUE(receiver.is_acked_at_once(seq, 0_ms));
    EXPECT_FALSE(receiver.is_acked_at_once(5, 0_ms));
}

TEST(Receiver, AfterADuplicateOrASilenceLinuxAcknowledgesAtOnceAgain) {
    Receiving receiver = linux_receiver();
    receiver.options.quick_acks = 2;
    Nanos now = 0_ms;
    std::uint32_t seq = 0;
    EXPECT_TRUE(receiver.is_acked_at_once(seq++, now));
    EXPECT_TRUE(receiver.is_acked_at_once(seq++, now));
    EXPECT_FALSE(receiver.is_acked_at_once(seq++, now));
    EXPECT_TRUE(receiver.is_acked_at_once(seq++, now));
    EXPECT_TRUE(receiver.is_acked_at_once(0, now));  // a duplicate, and the first of two quick ACKs
    EXPECT_TRUE(receiver.is_acked_at_once(seq++, now));
    EXPECT_FALSE(receiver.is_acked_at_once(seq++, now));
    EXPECT_TRUE(receiver.is_acked_at_once(seq++, now));
    now += 1001_ms;  // longer than the initial retransmission timeout
    EXPECT_TRUE(receiver.is_acked_at_once(seq++, now));
    EXPECT_TRUE(receiver.is_acked_at_once(seq++, now));
    EXPECT_FALSE(receiver.is_acked_at_once(seq++, now));
}

TEST(Receiver, TheLinuxTimeoutOfDelayedAcksFollowsTheSpacingOfThePackets) {
    Receiving receiver = linux_receiver();
    receiver.options.quick_acks = 0;
    // Linux tcp_event_data_recv: 40 ms; after a gap of 30 ms 40 / 2 + 30 = 50; after one of 10 ms 50 / 2 + 20 = 45.
    receiver.on_data(0, 0_ms, 0_ms);
    EXPECT_EQ(receiver.ack_deadline(), 40_ms);
    receiver.acknowledge();
    receiver.on_data(1, 30_ms, 30_ms);
    EXPECT_EQ(receiver.ack_deadline(), 80_ms);
    receiver.acknowledge();
    receiver.on_data(2, 40_ms, 40_ms);
    EXPECT_EQ(receiver.ack_deadline(), 85_ms);
}

TEST(Receiver, OnlyTheSpacingOfPacketsInOrderCounts) {
    Receiving receiver = linux_receiver();
    receiver.options.quick_acks = 0;
    receiver.on_data(0, 0_ms, 0_ms);
    receiver.acknowledge();
    // Linux calls tcp_event_data_recv for packets in order: packet 2 leaves the estimate and its clock as they were.
    EXPECT_TRUE(receiver.is_acked_at_once(2, 30_ms));
    EXPECT_TRUE(receiver.is_acked_at_once(1, 35_ms));  // 35 ms after packet 0: 40 / 2 + 35 = 55
    receiver.on_data(3, 40_ms, 40_ms);                 // 5 ms later: 55 / 2 + 20 = 47.5
    EXPECT_EQ(receiver.ack_deadline(), 40_ms + Nanos(47'500'000));
}

TEST(Receiver, OnlyADuplicateOfADeliveredPacketBeginsQuickAcks) {
    Receiving receiver = linux_receiver();
    receiver.options.quick_acks = 4;
    for (std::uint32_t seq = 0; seq < 4; ++seq) EXPECT_TRUE(receiver.is_acked_at_once(seq, 0_ms));
    EXPECT_FALSE(receiver.is_acked_at_once(4, 0_ms));
    EXPECT_TRUE(receiver.is_acked_at_once(5, 0_ms));
    // tcp_data_queue_ofo drops a packet that it already holds; the ACK is immediate only because of the gap.
    EXPECT_TRUE(receiver.is_acked_at_once(7, 0_ms));
    EXPECT_TRUE(receiver.is_acked_at_once(7, 0_ms));
    EXPECT_TRUE(receiver.is_acked_at_once(6, 0_ms));
    EXPECT_FALSE(receiver.is_acked_at_once(8, 0_ms));
    // tcp_data_queue enters quick-ACK mode for a packet below rcv_nxt: four ACKs, the first for the duplicate.
    for (const std::uint32_t seq : {0u, 9u, 10u, 11u}) EXPECT_TRUE(receiver.is_acked_at_once(seq, 0_ms));
    EXPECT_FALSE(receiver.is_acked_at_once(12, 0_ms));
}

TEST(Receiver, TheRoundTripOfTheHandshakeBoundsTheDelayOnASlowLink) {
    // Packets take 120 ms on the link, those of the handshake hardly any time.
    Receiving receiver = linux_receiver();
    receiver.options.quick_acks = 0;
    receiver.begin(0_ms);
    receiver.complete_handshake(60_ms);
    receiver.on_data(0, 60_ms, 180_ms);
    EXPECT_EQ(receiver.rtt(), 180_ms);  // the sample that sizes the buffer
    EXPECT_EQ(receiver.ack_deadline(), 220_ms);
    for (int i = 0; i < 3; ++i) receiver.on_delay_over(receiver.options);  // 80, 160, at most 60 + 200 ms
    receiver.acknowledge();
    // tcp_event_data_recv: 260 / 2 + 120 = 250 ms; tcp_send_delayed_ack: srtt_us is that of the handshake.
    receiver.on_data(1, 180_ms, 300_ms);
    EXPECT_EQ(receiver.ack_deadline(), 360_ms);
}

TEST(Receiver, ADelayThatPassesDoublesTheNextAndARoundTripBoundsIt) {
    Receiving receiver = linux_receiver();
    receiver.options.quick_acks = 0;
    receiver.on_data(0, 0_ms, 0_ms);
    for (int i = 0; i < 4; ++i) receiver.on_delay_over(receiver.options);  // 80, 160, 320, 640 ms
    receiver.acknowledge();
    receiver.on_data(1, 700_ms, 700_ms);
    EXPECT_EQ(receiver.ack_deadline(), 899_ms);  // tcp_delack_max: a tick of 1 ms less than rto_min

    Receiving near = linux_receiver();
    near.options.quick_acks = 0;
    near.begin(0_ms);
    near.on_data(0, 30_ms, 60_ms);  // 60 ms after the answer to the SYN
    EXPECT_EQ(near.rtt(), 60_ms);
    // tcp_send_delayed_ack: at most a round trip; and the doubling ends at its timeout, 60 + 200 ms.
    for (int i = 0; i < 4; ++i) near.on_delay_over(near.options);
    near.acknowledge();
    near.on_data(1, 200_ms, 200_ms);
    EXPECT_EQ(near.ack_deadline(), 260_ms);
}

TEST(Receiver, LinuxCompressesTheSacksAfterTheFirstThree) {
    Receiving receiver = linux_receiver();
    receiver.options.quick_acks = 0;
    receiver.begin(0_ms);
    receiver.on_data(0, 5_ms, 10_ms);  // a round trip of 10 ms
    receiver.acknowledge();
    // Packet 1 is missing. The fourth SACK waits for a twentieth of the round trip and 0.1 ms; two more join it.
    for (std::uint32_t seq = 2; seq <= 4; ++seq) EXPECT_TRUE(receiver.is_acked_at_once(seq, 11_ms));
    EXPECT_FALSE(receiver.on_data(5, 6_ms, 11_ms).ack_now);
    EXPECT_FALSE(receiver.on_data(6, 7_ms, 11'200_us).ack_now);
    EXPECT_FALSE(receiver.on_data(7, 8_ms, 11'400_us).ack_now);
    EXPECT_EQ(receiver.ack_deadline(), 11'600_us);
    receiver.on_delay_over(receiver.options);
    EXPECT_EQ(receiver.acknowledge(), 6_ms);
    EXPECT_EQ(receiver.take_sack_blocks().blocks[0], (SeqRange{2, 8}));
    EXPECT_EQ(receiver.ack_deadline(), kNever);
    // The next waits again, but the packet that fills the gap is acknowledged at once, and the waiting SACK with it.
    EXPECT_FALSE(receiver.on_data(8, 9_ms, 12_ms).ack_now);
    EXPECT_TRUE(receiver.on_data(1, 11'500_us, 12'100_us).ack_now);
    EXPECT_EQ(receiver.acknowledge(), 11'500_us);
    EXPECT_EQ(receiver.ack_deadline(), kNever);
    EXPECT_EQ(receiver.rcv_nxt(), 9u);
    // A later gap has three immediate SACKs of its own; the wait of the first did not lengthen that of a single packet.
    for (std::uint32_t seq = 10; seq <= 12; ++seq) EXPECT_TRUE(receiver.is_acked_at_once(seq, 13_ms));
    EXPECT_FALSE(receiver.is_acked_at_once(13, 13_ms));
}

TEST(Receiver, ACompressedSackWaitsForAtMostAMillisecondAnd44Packets) {
    Receiving receiver = linux_receiver();
    receiver.options.quick_acks = 0;
    receiver.begin(0_ms);
    receiver.on_data(0, 50_ms, 100_ms);
    receiver.acknowledge();
    for (std::uint32_t seq = 2; seq <= 4; ++seq) EXPECT_TRUE(receiver.is_acked_at_once(seq, 100_ms));
    for (std::uint32_t seq = 5; seq < 5 + 44; ++seq) EXPECT_FALSE(receiver.is_acked_at_once(seq, 100_ms)) << seq;
    EXPECT_EQ(receiver.ack_deadline(), 101'100_us);
    EXPECT_TRUE(receiver.is_acked_at_once(49, 100_ms));
    // RFC 5681 section 4.2 without compression
    receiver.options.delayed_ack = DelayedAck::Rfc;
    EXPECT_TRUE(receiver.is_acked_at_once(50, 100_ms));
}

TEST(Receiver, TheRfcDelaysEverySecondAckFromTheFirst) {
    Receiving receiver;
    receiver.options.delayed_ack = DelayedAck::Rfc;
    receiver.options.delayed_ack_timeout = 200_ms;
    EXPECT_FALSE(receiver.on_data(0, 0_ms, 0_ms).ack_now);
    EXPECT_EQ(receiver.ack_deadline(), 200_ms);
    EXPECT_TRUE(receiver.on_data(1, 1_ms, 1_ms).ack_now);
    receiver.acknowledge();
    EXPECT_TRUE(receiver.on_data(3, 2_ms, 2_ms).ack_now);  // out of order
    receiver.acknowledge();
    EXPECT_TRUE(receiver.on_data(2, 3_ms, 3_ms).ack_now);  // fills the gap
}

TEST(Receiver, AcknowledgesAtOnceWhileItsWindowOpens) {
    Receiving receiver = linux_receiver();
    receiver.options.quick_acks = 0;
    receiver.buffer = ReceiveBuffer(kPayload, {});
    // tcp_rmem[1] is 131 072: initially whole packets in half of it, at most 160/256 of it, two packets at a time: (81
    // 920 - 65 160) / 2896 = 5.8.
    EXPECT_EQ(receiver.buffer.initial_window(), 65'160);
    EXPECT_EQ(receiver.buffer.clamp(), 81'920);
    std::uint32_t seq = 0;
    while (seq < 6) EXPECT_TRUE(receiver.is_acked_at_once(seq++, 0_ms)) << seq;
    EXPECT_FALSE(receiver.is_acked_at_once(seq++, 0_ms));
    EXPECT_TRUE(receiver.is_acked_at_once(seq++, 0_ms));
    // Room for out-of-order data opens it further: ten packets beyond the first window, plus 2 * 10.
    receiver.buffer.make_room_for(40 * kPayload);
    EXPECT_EQ(receiver.buffer.clamp(), 60 * kPayload);
    EXPECT_TRUE(receiver.is_acked_at_once(seq++, 0_ms));
}

TEST(Receiver, MeasuresRoundTripsByWhatItsSenderHasHeardOf) {
    Receiving receiver = linux_receiver();
    receiver.begin(10_ms);
    EXPECT_TRUE(receiver.on_data(0, 60_ms, 110_ms, 0).has_rtt);
    EXPECT_EQ(receiver.rtt(), 100_ms);
    receiver.acknowledge();
    // Packets sent before the arrival of that ACK give no measurement.
    EXPECT_FALSE(receiver.on_data(1, 61_ms, 111_ms, 0).has_rtt);
    receiver.acknowledge();
    EXPECT_TRUE(receiver.on_data(2, 190_ms, 240_ms, 1).has_rtt);
    EXPECT_EQ(receiver.rtt(), 130_ms);
    receiver.acknowledge();
    // A pause does not count as a round trip.
    EXPECT_TRUE(receiver.on_data(3, 9'000_ms, 9'050_ms, 3).has_rtt);
    EXPECT_EQ(receiver.rtt(), 260_ms);
}

TEST(ReceiveBuffer, GrowsByWhatIsTakenInARoundTrip) {
    ReceiveBuffer buffer(kPayload, {});
    buffer.begin(0_ms);
    buffer.note_rtt(100_ms, 99_ms, 200 * kPayload);  // not complete yet
    EXPECT_EQ(buffer.clamp(), 81'920);
    buffer.note_rtt(100_ms, 100_ms, 10 * kPayload);  // at most an initial window
    EXPECT_EQ(buffer.clamp(), 81'920);
    // Twenty packets, twice as many: 2 * 20 and, since they have doubled, 2 * 40 on top.
    buffer.note_rtt(100_ms, 200_ms, 30 * kPayload);
    EXPECT_EQ(buffer.clamp(), 120 * kPayload);
    buffer.note_rtt(100_ms, 300_ms, 40 * kPayload);
    EXPECT_EQ(buffer.clamp(), 120 * kPayload);
    // 160/256 of tcp_rmem[2], 32 MiB.
    buffer.note_rtt(100_ms, 400_ms, std::int64_t{1} << 40);
    EXPECT_EQ(buffer.clamp(), 20'971'520);
}

TEST(ReceiveBuffer, IsLeftAsTheApplicationHasSetIt) {
    ReceiveBuffer buffer(kPayload, Bytes(200'000));
    buffer.begin(0_ms);
    buffer.note_rtt(100_ms, 1_s, 1'000'000);
    buffer.make_room_for(1'000'000);
    EXPECT_EQ(buffer.clamp(), 200'000);
    EXPECT_EQ(buffer.initial_window(), 65'160);
}

}  // namespace
}  // namespace subflow
