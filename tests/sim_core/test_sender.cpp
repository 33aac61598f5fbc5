// The sender alone: RTT arithmetic, loss detection, recovery, timeouts.
#include <gtest/gtest.h>

#include "cc/controllers.h"
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
    rtt.add_sample(100_ms, 100_ms);
    EXPECT_EQ(rtt.rto(options, 0), 300_ms);
    rtt.add_sample(100_ms, 100_ms);
    EXPECT_EQ(rtt.rto(options, 0), 250_ms);
    rtt.add_sample(300_ms, 300_ms);
    EXPECT_EQ(rtt.rto(options, 0), Nanos(437'500'000));
    EXPECT_EQ(rtt.rto(options, 1), Nanos(875'000'000));
    EXPECT_EQ(rtt.rto(options, 20), options.rto_max);
    EXPECT_EQ(rtt.min_rtt(), 100_ms);
    options.rto_min = 1_s;
    EXPECT_EQ(rtt.rto(options, 0), 1_s);
}

TEST(RttEstimator, TellsTheLeastSampleSinceItWasAskedLast) {
    RttEstimator rtt;
    EXPECT_EQ(rtt.take_least(), kNever);
    rtt.add_sample(100_ms, 100_ms);
    rtt.add_sample(80_ms, 80_ms);
    rtt.add_sample(90_ms, 90_ms);
    EXPECT_EQ(rtt.take_least(), 80_ms);
    EXPECT_EQ(rtt.take_least(), kNever);
    rtt.add_sample(120_ms, 120_ms);
    EXPECT_EQ(rtt.take_least(), 120_ms);
    EXPECT_EQ(rtt.min_rtt(), 80_ms);
}

TEST(RttEstimator, TheLinuxRuleKeepsTheLargestVariationOfTheLastRounds) {
    TransportOptions options;
    options.rto_rule = RtoRule::Linux;
    RttEstimator rtt;
    EXPECT_EQ(rtt.rto(options, 0), 1_s);
    // R = 0.1: srtt 0.1, 4 rttvar = 0.2. R = 0.1: rttvar 0.0375, but the margin stays at rto_min = 0.2.
    rtt.add_sample_linux(100_ms, 100_ms, 1, 10, options);
    EXPECT_EQ(rtt.rto(options, 0), 300_ms);
    rtt.add_sample_linux(100_ms, 100_ms, 2, 10, options);
    EXPECT_EQ(rtt.rto(options, 0), 300_ms);
    // R = 0.3: rttvar 0.078125, srtt 0.125: 4 rttvar = 0.3125 is the new margin at once.
    rtt.add_sample_linux(300_ms, 300_ms, 3, 11, options);
    EXPECT_EQ(rtt.rto(options, 0), Nanos(437'500'000));
    // The round trip that ends with the acknowledgement of packet 10 had this maximum; the next one has only 4 *
    // 0.0439453 < rto_min, so that a quarter of 0.3125 - 0.2 is subtracted: 0.284375.
    rtt.add_sample_linux(125_ms, 125_ms, 11, 20, options);
    EXPECT_EQ(rtt.rto(options, 0), Nanos(437'500'000));
    rtt.add_sample_linux(125_ms, 125_ms, 21, 30, options);
    EXPECT_EQ(rtt.rto(options, 0), Nanos(409'375'000));
    // A falling RTT moves rttvar by 1/32 of |0.1 - 0.0439453125|.
    rtt.add_sample_linux(25_ms, 25_ms, 22, 30, options);
    EXPECT_EQ(rtt.rttvar(), Nanos(45'697'021));  // in whole nanoseconds
}

// Linux tcp_clean_rtx_queue: seq_rtt_us counts from the first packet that the ACK covers, ca_rtt_us from the last.
TEST(Sender, ADelayedAckMeasuresTheTimeoutByItsOldestPacketAndThePathByItsNewest) {
    // An ACK for Vegas takes the general path, an ACK for NewReno the path of ordinary ACKs.
    for (const char* name : {"newreno", "vegas"}) {
        TransportOptions options;
        SubflowSender sender(make_controller({name, {}}), options);
        sender.send_new(0, 0_ms, options);
        sender.send_new(1, 10_ms, options);
        sender.on_ack(2, {}, 0_ms, 110_ms, {}, options);  // the receiver echoes the older time stamp
        EXPECT_EQ(sender.rtt().srtt(), 110_ms);
        EXPECT_EQ(sender.rtt().min_rtt(), 100_ms);
        EXPECT_EQ(sender.take_least_rtt(), 100_ms);
        // A retransmission is measured by its echo: without it, the ACK may be for either transmission.
        sender.send_new(2, 200_ms, options);
        sender.probe_with_last(250_ms, options);
        sender.on_ack(3, {}, 250_ms, 340_ms, {}, options);
        EXPECT_EQ(sender.rtt().min_rtt(), 90_ms);
    }
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
    // Two packets at a time: slow start may reach at most twice the largest flight.
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
    // The first retransmission does not wait for room in the pipe (two packets of a window of six); the others have
    // room.
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

TEST_F(SenderTest, RetransmissionsThatWereDeliveredCountAfterTheRecovery) {
    send(10);
    now += 100_ms;
    EXPECT_TRUE(ack(0, {{3, 10}}).began_recovery);  // 0, 1 and 2 are lost
    sender.retransmit(now, options);
    send(2);  // 10 and 11, before the other retransmissions
    sender.retransmit(now, options);
    sender.retransmit(now, options);
    send(1);  // 12
    now += 100_ms;
    EXPECT_TRUE(ack(10).ended_recovery);
    EXPECT_FALSE(ack(11).began_recovery);
    // Sent after packet 11 and delivered: the retransmissions of 1 and 2, and 12.
    EXPECT_TRUE(ack(11, {{12, 13}}).began_recovery);
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
    // The second expiry for the same packet does not reduce ssthresh again (RFC 5681 section 3.1).
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
    options.prr = Prr::Rfc6937;
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
    EXPECT_EQ(sent, 1u);  // the first retransmission leaves at once
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
    EXPECT_EQ(sender.pipe(), 10u);  // the reduction is complete, and not larger
    now += 100_ms;
    ack(sender.snd_nxt());
    EXPECT_EQ(sender.window().cwnd_pkts, 10);
}

TEST_F(SenderTest, WhileLossesGoOnLinuxSendsAPacketForAPacket) {
    // RFC 9937 section 6.2: with the pipe below ssthresh, an ACK that reports further losses, or that does not advance
    // the cumulative acknowledgement, permits as many packets as were delivered; RFC 6937's slow-start reduction bound
    // adds one packet.
    for (const Prr prr : {Prr::Rfc6937, Prr::Linux}) {
        options.prr = prr;
        options.initial_window_pkts = 20;
        sender = SubflowSender(make_controller({"newreno", {}}), options);
        now = 0_ms;
        send(20);
        now += 100_ms;
        ack(0, {{14, 17}});  // packets 0 to 13 are lost: the pipe holds 17, 18 and 19
        EXPECT_EQ(sender.pipe(), 3u);
        EXPECT_EQ(sender.window().ssthresh_pkts, 10);
        // Three delivered: 3 or, with the bound's extra packet, 4 may follow.
        EXPECT_EQ(sender.window().cwnd_pkts, prr == Prr::Linux ? 6 : 7);
        while (sender.may_retransmit(now)) sender.retransmit(now, options);
        now += 100_ms;
        ack(1);  // advances without new losses: the extra packet for both
        EXPECT_EQ(sender.window().cwnd_pkts - sender.pipe(), 2);
    }
}

TEST_F(SenderTest, ControllersWithTheKernelsArithmeticCountWhatMovesOnOutsideRecovery) {
    options.prr = Prr::Off;
    sender = SubflowSender(make_controller({"lia", {{"arithmetic", std::string("kernel")}}}), options);
    send(10);
    now += 100_ms;
    ack(2);  // slow start: two packets
    EXPECT_EQ(sender.window().cwnd_pkts, 12);
    send(4);
    now += 100_ms;
    for (std::uint32_t sacked = 4; sacked <= 6; ++sacked) ack(2, {{3, sacked}});  // packet 2 is lost: 12 / 2
    EXPECT_EQ(sender.state(), SenderState::Recovery);
    EXPECT_EQ(sender.window().cwnd_pkts, 6);
    sender.retransmit(now, options);
    now += 100_ms;
    ack(14);  // ends the recovery, and does not count
    EXPECT_EQ(sender.state(), SenderState::Open);
    send(6);
    for (int i = 0; i < 7; ++i) {
        EXPECT_EQ(sender.window().cwnd_pkts, 6);
        now += 100_ms;
        ack(sender.snd_una() + 2);  // of two packets, and counted once: the window and one more make a step
        send(2);
    }
    EXPECT_EQ(sender.window().cwnd_pkts, 7);
}
TEST(Reassembly, DeliversInOrderOnceAndRemembersWhoBroughtWhat) {
    Reassembly reassembly;
    std::vector<std::pair<std::uint32_t, int>> delivered;
    const auto take = [&](std::uint32_t data_seq, std::uint8_t origin) {
        delivered.emplace_back(data_seq, origin);
        return 100u;
    };
    EXPECT_TRUE(reassembly.on_data(1, 100, 0, 0_ms, take));
    EXPECT_TRUE(reassembly.on_data(3, 100, 1, 0_ms, take));
    EXPECT_FALSE(reassembly.on_data(1, 100, 1, 0_ms, take));
    EXPECT_EQ(reassembly.held_pkts(), 2u);
    EXPECT_TRUE(reassembly.on_data(0, 100, 1, 0_ms, take));
    EXPECT_EQ(delivered, (std::vector<std::pair<std::uint32_t, int>>{{0, 1}, {1, 0}}));
    EXPECT_FALSE(reassembly.on_data(0, 100, 0, 0_ms, take));
    EXPECT_TRUE(reassembly.on_data(2, 100, 0, 0_ms, take));
    EXPECT_EQ(delivered.back(), (std::pair<std::uint32_t, int>{3, 1}));
    EXPECT_EQ(reassembly.next(), 4u);
    EXPECT_EQ(reassembly.held_pkts(), 0u);
}

TEST(Reassembly, TheAdvertisedEdgeCountsWhatWaitsAndNeverShrinks) {
    Reassembly reassembly(10);
    const auto ignore = [](std::uint32_t, std::uint8_t) { return 100u; };
    EXPECT_EQ(reassembly.advertise(), 10u);
    for (std::uint32_t seq = 1; seq < 10; ++seq) reassembly.on_data(seq, 100, 0, 0_ms, ignore);
    EXPECT_EQ(reassembly.advertise(), 10u);  // 0 + 10 - 9 would be a retreat
    reassembly.on_data(0, 100, 0, 0_ms, ignore);
    EXPECT_EQ(reassembly.advertise(), 20u);
}

}  // namespace
}  // namespace subflow
