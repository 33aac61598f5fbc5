// The sending end alone: RTT arithmetic, loss detection, recovery, timeouts.
#include <gtest/gtest.h>

#include "receiver.h"
#include "sender.h"

namespace subflow {
namespace {

using namespace literals;

class SenderTest : public ::testing::Test {
protected:
    TransportOptions options;
    SubflowSender sender{make_controller({"newreno", {}}), options};
    Nanos now = 0_ms;

    void send(int packets) {
        for (int i = 0; i < packets; ++i) sender.send_new(sender.snd_nxt(), now, options);
    }
    AckOutcome ack(std::uint32_t cumulative, std::vector<SeqRange> blocks = {}) {
        return sender.on_ack(cumulative, blocks, now - 100_ms, now, {}, options);
    }
};

TEST(RttEstimator, FollowsRfc6298) {
    // R = 0.1: srtt 0.1, rttvar 0.05, RTO 0.3. R = 0.1: rttvar 0.0375, RTO 0.25.
    // R = 0.3: rttvar = 3/4 0.0375 + 1/4 0.2 = 0.078125, srtt = 0.1 + 0.2/8 = 0.125, RTO 0.4375.
    TransportOptions options;
    options.rto_min = Nanos(0);
    RttEstimator rtt;
    EXPECT_EQ(rtt.rto(options, 0), 1_s);
    rtt.add_sample(100_ms);
    EXPECT_EQ(rtt.rto(options, 0), 300_ms);
    rtt.add_sample(100_ms);
    EXPECT_EQ(rtt.rto(options, 0), 250_ms);
    rtt.add_sample(300_ms);
    EXPECT_EQ(rtt.rto(options, 0), Nanos(437'500'000));
    EXPECT_EQ(rtt.rto(options, 1), Nanos(875'000'000));
    EXPECT_EQ(rtt.rto(options, 20), options.rto_max);
    EXPECT_EQ(rtt.min_rtt(), 100_ms);
    options.rto_min = 1_s;
    EXPECT_EQ(rtt.rto(options, 0), 1_s);
}

TEST_F(SenderTest, SlowStartDoublesTheWindowPerRound) {
    for (double expected : {10.0, 20.0, 40.0, 80.0}) {
        EXPECT_EQ(sender.window().cwnd_pkts, expected);
        while (sender.has_window()) send(1);
        now += 100_ms;
        const std::uint32_t round_end = sender.snd_nxt();
        for (std::uint32_t seq = sender.snd_una() + 1; seq <= round_end; ++seq) ack(seq);
    }
}

TEST_F(SenderTest, AWindowThatIsNotUsedDoesNotGrow) {
    // Two packets at a time: slow start may reach twice what was ever in flight, and no more.
    for (int round = 0; round < 20; ++round) {
        send(2);
        now += 100_ms;
        ack(sender.snd_nxt());
    }
    EXPECT_LE(sender.window().cwnd_pkts, 10);
}

TEST_F(SenderTest, ThreeLaterDeliveriesProveALoss) {
    send(10);
    now += 100_ms;
    EXPECT_FALSE(ack(0, {{1, 2}}).began_recovery);
    EXPECT_FALSE(ack(0, {{1, 3}}).began_recovery);
    EXPECT_TRUE(ack(0, {{1, 4}}).began_recovery);
    EXPECT_EQ(sender.state(), SenderState::Recovery);
    EXPECT_EQ(sender.stats().marked_lost, 1);
    // The duplicate ACKs before it did not grow the window: 10 / 2.
    EXPECT_EQ(sender.window().ssthresh_pkts, 5);
    EXPECT_EQ(sender.window().cwnd_pkts, 5);
    EXPECT_EQ(sender.retransmit(now, options).seq, 0u);
}

TEST_F(SenderTest, TheFirstRetransmissionDoesNotWaitForThePipeToDrain) {
    send(10);
    now += 100_ms;
    ack(0, {{1, 4}});
    EXPECT_EQ(sender.pipe(), 6u);
    EXPECT_EQ(sender.window().cwnd_pkts, 5);  // 10 / 2: no room
    EXPECT_FALSE(sender.has_window());
    EXPECT_TRUE(sender.may_retransmit(now));
    sender.retransmit(now, options);
    EXPECT_FALSE(sender.may_retransmit(now));
}

TEST_F(SenderTest, SeveralLossesInOneWindowCutItOnce) {
    send(10);
    now += 100_ms;
    ack(0, {{3, 6}});
    const double ssthresh = sender.window().ssthresh_pkts;
    EXPECT_EQ(sender.stats().marked_lost, 3);
    ack(0, {{7, 10}, {3, 6}});  // packet 6 is lost, too
    EXPECT_EQ(sender.stats().marked_lost, 4);
    EXPECT_EQ(sender.window().ssthresh_pkts, ssthresh);
    EXPECT_EQ(sender.stats().fast_retransmits, 1);
    // The first retransmission does not wait for room in the pipe (two packets of a window of six); the others find it.
    while (sender.may_retransmit(now)) sender.retransmit(now, options);
    EXPECT_FALSE(sender.has_lost());
    now += 100_ms;
    EXPECT_TRUE(ack(10).ended_recovery);
    EXPECT_EQ(sender.state(), SenderState::Open);
    EXPECT_EQ(sender.window().cwnd_pkts, ssthresh);
}

TEST_F(SenderTest, ALostRetransmissionIsFoundWithoutATimeout) {
    send(10);
    now += 100_ms;
    ack(0, {{1, 8}});
    EXPECT_EQ(sender.retransmit(now, options).seq, 0u);
    EXPECT_FALSE(sender.has_lost());
    send(3);  // 10, 11, 12: sent after the retransmission
    now += 100_ms;
    ack(0, {{1, 12}});
    EXPECT_FALSE(sender.has_lost());
    ack(0, {{1, 13}});
    EXPECT_TRUE(sender.has_lost());
    EXPECT_EQ(sender.retransmit(now, options).seq, 0u);
    EXPECT_EQ(sender.stats().fast_retransmits, 1);
}

TEST_F(SenderTest, ATimeoutMarksEverythingLostAndStartsFromOnePacket) {
    send(10);
    EXPECT_EQ(sender.rto_deadline(), 1_s);  // no sample yet
    now = 1_s;
    EXPECT_TRUE(sender.on_timer(now, {}, options).timed_out);
    EXPECT_EQ(sender.window().cwnd_pkts, 1);
    EXPECT_EQ(sender.window().ssthresh_pkts, 5);
    EXPECT_EQ(sender.pipe(), 0u);
    EXPECT_EQ(sender.stats().marked_lost, 10);
    EXPECT_EQ(sender.rto_deadline(), 3_s);  // backed off: 1 s + 2 s
    EXPECT_EQ(sender.retransmit(now, options).seq, 0u);
    EXPECT_FALSE(sender.has_window());
    // The second expiry for the same packet does not cut ssthresh again (RFC 5681 section 3.1).
    now = 3_s;
    EXPECT_TRUE(sender.on_timer(now, {}, options).timed_out);
    EXPECT_EQ(sender.window().ssthresh_pkts, 5);
}

TEST_F(SenderTest, BackOffEndsWithTheNextAcknowledgement) {
    send(2);
    now = 1_s;
    EXPECT_TRUE(sender.on_timer(now, {}, options).timed_out);
    sender.retransmit(now, options);
    now += 100_ms;
    ack(1);
    // srtt 0.1, rttvar 0.05: RTO 0.3, no longer doubled
    EXPECT_EQ(sender.rto_deadline(), now + 300_ms);
}

TEST_F(SenderTest, NothingOutstandingMeansNoTimer) {
    send(1);
    EXPECT_LT(sender.rto_deadline(), kNever);
    now += 100_ms;
    ack(1);
    EXPECT_EQ(sender.rto_deadline(), kNever);
}

TEST_F(SenderTest, ProportionalRateReductionSpreadsTheCutOverTheRound) {
    options.proportional_rate_reduction = true;
    options.initial_window_pkts = 20;
    sender = SubflowSender(make_controller({"newreno", {}}), options);
    send(20);
    now += 100_ms;
    for (std::uint32_t high = 2; high <= 4; ++high) ack(0, {{1, high}});
    EXPECT_EQ(sender.window().ssthresh_pkts, 10);
    std::uint32_t sent = 0;
    const auto send_all = [&] {
        for (; sender.may_retransmit(now) || sender.has_window(); ++sent) {
            if (sender.has_lost()) {
                sender.retransmit(now, options);
            } else {
                send(1);
            }
        }
    };
    send_all();
    EXPECT_EQ(sent, 1u);  // the first retransmission goes out at once
    for (std::uint32_t high = 5; high <= 10; ++high) {
        ack(0, {{1, high}});
        send_all();
    }
    // RFC 6937 section 3.1: seven packets delivered in recovery of a flight of 20: ceil(7 * 10 / 20) = 4 sent.
    EXPECT_EQ(sent, 4u);
    for (std::uint32_t high = 11; high <= 20; ++high) {
        ack(0, {{1, high}});
        send_all();
    }
    EXPECT_EQ(sender.pipe(), 10u);  // the cut is complete, no deeper
    now += 100_ms;
    ack(sender.snd_nxt());
    EXPECT_EQ(sender.window().cwnd_pkts, 10);
}

TEST(Receiver, ReportsTheMostRecentBlockFirst) {
    SubflowReceiver receiver;
    const TransportOptions options;
    EXPECT_TRUE(receiver.on_data(0, 0_ms, 0_ms, options).is_new);
    EXPECT_TRUE(receiver.on_data(2, 0_ms, 0_ms, options).is_new);
    EXPECT_TRUE(receiver.on_data(4, 0_ms, 0_ms, options).is_new);
    EXPECT_TRUE(receiver.on_data(6, 0_ms, 0_ms, options).is_new);
    EXPECT_FALSE(receiver.on_data(4, 0_ms, 0_ms, options).is_new);
    const SackBlocks blocks = receiver.sack_blocks();
    ASSERT_EQ(blocks.count, 3u);
    EXPECT_EQ(blocks.blocks[0], (SeqRange{4, 5}));
    EXPECT_EQ(receiver.rcv_nxt(), 1u);
    receiver.on_data(1, 0_ms, 0_ms, options);
    EXPECT_EQ(receiver.rcv_nxt(), 3u);
    receiver.on_data(3, 0_ms, 0_ms, options);
    receiver.on_data(5, 0_ms, 0_ms, options);
    EXPECT_EQ(receiver.rcv_nxt(), 7u);
    EXPECT_FALSE(receiver.has_gaps());
}

TEST(Receiver, DelaysEverySecondAckOnceTheQuickAcksAreUsedUp) {
    SubflowReceiver receiver;
    TransportOptions options;
    options.delayed_ack = DelayedAck::Linux;
    for (std::uint32_t seq = 0; seq < 16; ++seq) {
        EXPECT_TRUE(receiver.on_data(seq, 1_ms, 2_ms, options).ack_now);
        receiver.take_echo();
    }
    EXPECT_FALSE(receiver.on_data(16, 3_ms, 4_ms, options).ack_now);
    EXPECT_EQ(receiver.ack_deadline(), 44_ms);
    EXPECT_TRUE(receiver.on_data(17, 5_ms, 6_ms, options).ack_now);
    EXPECT_EQ(receiver.take_echo(), 3_ms);  // of the oldest packet covered
    EXPECT_EQ(receiver.ack_deadline(), kNever);
    EXPECT_TRUE(receiver.on_data(19, 7_ms, 8_ms, options).ack_now);  // a gap is told at once
}

TEST(Reassembly, DeliversInOrderOnceAndRemembersWhoBroughtWhat) {
    Reassembly reassembly;
    std::vector<std::pair<std::uint32_t, int>> delivered;
    const auto take = [&](std::uint32_t data_seq, std::uint8_t origin) { delivered.emplace_back(data_seq, origin); };
    EXPECT_TRUE(reassembly.on_data(1, 0, take));
    EXPECT_TRUE(reassembly.on_data(3, 1, take));
    EXPECT_FALSE(reassembly.on_data(1, 1, take));
    EXPECT_EQ(reassembly.held_pkts(), 2u);
    EXPECT_TRUE(reassembly.on_data(0, 1, take));
    EXPECT_EQ(delivered, (std::vector<std::pair<std::uint32_t, int>>{{0, 1}, {1, 0}}));
    EXPECT_FALSE(reassembly.on_data(0, 0, take));
    EXPECT_TRUE(reassembly.on_data(2, 0, take));
    EXPECT_EQ(delivered.back(), (std::pair<std::uint32_t, int>{3, 1}));
    EXPECT_EQ(reassembly.next(), 4u);
    EXPECT_EQ(reassembly.held_pkts(), 0u);
}

TEST(Reassembly, TheAdvertisedEdgeCountsWhatWaitsAndNeverShrinks) {
    Reassembly reassembly(10);
    const auto ignore = [](std::uint32_t, std::uint8_t) {};
    EXPECT_EQ(reassembly.advertise(), 10u);
    for (std::uint32_t seq = 1; seq < 10; ++seq) reassembly.on_data(seq, 0, ignore);
    EXPECT_EQ(reassembly.advertise(), 10u);  // 0 + 10 - 9 would be a retreat
    reassembly.on_data(0, 0, ignore);
    EXPECT_EQ(reassembly.advertise(), 20u);
}

}  // namespace
}  // namespace subflow
