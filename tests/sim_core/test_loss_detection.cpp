// Loss detection by time: RACK, its reordering window, tail loss probes (RFC 8985).
#include <gtest/gtest.h>

#include <vector>

#include "receiver.h"
#include "scenarios.h"
#include "sender.h"
#include "simulation.h"

namespace subflow {
namespace {

using namespace literals;

class RackTest : public ::testing::Test {
protected:
    RackTest() {
        options.loss_detection = LossDetection::Rack;
        options.dsack = true;
        sender = SubflowSender(make_controller({"newreno", {}}), options);
    }

    TransportOptions options;
    SubflowSender sender;
    Nanos now = 0_ms;

    void send(int packets) {
        for (int i = 0; i < packets; ++i) sender.send_new(sender.snd_nxt(), now, options);
    }
    // An acknowledgement triggered by a packet that was sent at `echo`.
    AckOutcome ack(Nanos echo, std::uint32_t cumulative, std::vector<SeqRange> blocks = {}) {
        return sender.on_ack(cumulative, blocks, echo, now, {}, options);
    }
    // As the network does after sending.
    Nanos probe_deadline() {
        sender.timer_deadline(now, options);
        return sender.probe_deadline();
    }
    TimerOutcome expire(Nanos at) {
        sender.timer_deadline(now, options);
        now = at;
        return sender.on_timer(now, {}, options);
    }
    // The first packet is alone: min_rtt = srtt = 100 ms from then on.
    void measure_rtt() {
        send(1);
        now += 100_ms;
        ack(now - 100_ms, 1);
    }
};

TEST_F(RackTest, AnOvertakenPacketIsLostAfterTheReorderingWindow) {
    measure_rtt();
    const Nanos sent = now;
    send(3);  // 1, 2, 3 at 100 ms
    now += 100_ms;
    // One SACKed packet, no reordering seen: min_rtt / 4 = 25 ms more may pass (step 4). Sent at 100 ms, RTT 100 ms:
    // lost at 225 ms.
    EXPECT_FALSE(ack(sent, 1, {{2, 3}}).began_recovery);
    EXPECT_EQ(sender.reordering_deadline(), 225_ms);
    EXPECT_EQ(sender.timer_deadline(now, options), 225_ms);
    EXPECT_FALSE(expire(224_ms).began_recovery);
    EXPECT_EQ(sender.stats().marked_lost, 0);
    EXPECT_TRUE(expire(225_ms).began_recovery);
    EXPECT_EQ(sender.stats().marked_lost, 1);
    EXPECT_EQ(sender.state(), SenderState::Recovery);
    EXPECT_EQ(sender.retransmit(now, options).seq, 1u);
}

TEST_F(RackTest, ReorderingWithinTheWindowLosesNothingAndIsRemembered) {
    measure_rtt();
    const Nanos sent = now;
    send(10);  // 1 to 10
    now += 100_ms;
    EXPECT_FALSE(ack(sent, 1, {{2, 3}}).began_recovery);
    now += 10_ms;
    EXPECT_FALSE(ack(sent, 3).began_recovery);  // packet 1 arrived 10 ms later
    EXPECT_EQ(sender.stats().marked_lost, 0);
    EXPECT_EQ(sender.reordering_deadline(), kNever);
    // From now on three SACKed packets do not suffice: reordering has been seen.
    EXPECT_FALSE(ack(sent, 3, {{4, 8}}).began_recovery);
    EXPECT_EQ(sender.reordering_window(), 25_ms);
    EXPECT_GT(sender.reordering_deadline(), now);
}

TEST_F(RackTest, ThreeSackedPacketsProveALossAtOnce) {
    measure_rtt();
    const Nanos sent = now;
    send(10);
    now += 100_ms;
    EXPECT_FALSE(ack(sent, 1, {{2, 4}}).began_recovery);
    EXPECT_TRUE(ack(sent, 1, {{2, 5}}).began_recovery);  // DupThresh reached: no window
    EXPECT_EQ(sender.stats().marked_lost, 1);
}

TEST_F(RackTest, ALostRetransmissionIsFoundByWhatWasSentAfterIt) {
    measure_rtt();
    const Nanos sent = now;
    send(10);  // 1 to 10
    now += 100_ms;
    ack(sent, 1, {{2, 5}});
    EXPECT_EQ(sender.retransmit(now, options).seq, 1u);
    const Nanos retransmitted = now;
    ack(sent, 1, {{2, 11}});
    EXPECT_FALSE(sender.has_lost());
    now += 1_ms;
    send(1);  // 11, after the retransmission
    now += 100_ms;
    // One later packet is enough during a recovery: RACK.rtt = 100 ms has passed since 200 ms.
    ack(retransmitted + 1_ms, 1, {{11, 12}, {2, 11}});
    EXPECT_TRUE(sender.has_lost());
    EXPECT_EQ(sender.retransmit(now, options).seq, 1u);
    EXPECT_EQ(sender.stats().fast_retransmits, 1);
}

TEST_F(RackTest, TheOriginalThatArrivesAfterItsRetransmissionProvesNothingLost) {
    measure_rtt();
    const Nanos sent = now;
    send(10);  // 1 to 10
    now += 100_ms;
    ack(sent, 1, {{2, 5}});
    sender.retransmit(now, options);
    now += 10_ms;
    // Packet 1 was late: its echo is older than its retransmission, which would be newer than 5 to 10 (step 2).
    ack(sent, 5);
    EXPECT_EQ(sender.stats().marked_lost, 1);
}

TEST_F(RackTest, DuplicatesWidenTheWindowOncePerRoundAndSixteenRecoveriesNarrowIt) {
    measure_rtt();
    const Nanos sent = now;
    send(10);  // 1 to 10
    now += 100_ms;
    ack(sent, 1, {{2, 3}});
    ack(sent, 3);  // reordering
    EXPECT_EQ(sender.reordering_window(), 25_ms);
    ack(sent, 4, {{1, 2}});  // received twice: 2 * min_rtt / 4
    EXPECT_EQ(sender.reordering_window(), 50_ms);
    ack(sent, 5, {{2, 3}});  // the same round trip
    EXPECT_EQ(sender.reordering_window(), 50_ms);
    ack(sent, 11);
    for (int round = 0; round < 4; ++round) {
        const Nanos at = now;
        send(2);
        now += 100_ms;
        ack(at, sender.snd_nxt(), {{sender.snd_una(), sender.snd_una() + 1}});
    }
    // mult = 6 gives 150 ms, limited to srtt.
    EXPECT_EQ(sender.reordering_window(), sender.rtt().srtt());
    for (int recovery = 0; recovery < 16; ++recovery) {
        EXPECT_GT(sender.reordering_window(), 25_ms);
        const Nanos at = now;
        send(2);
        now += 100_ms;
        ack(at, sender.snd_una(), {{sender.snd_nxt() - 1, sender.snd_nxt()}});
        EXPECT_TRUE(expire(sender.reordering_deadline()).began_recovery);
        sender.retransmit(now, options);
        now += 100_ms;
        EXPECT_TRUE(ack(now - 100_ms, sender.snd_nxt()).ended_recovery);
    }
    EXPECT_EQ(sender.reordering_window(), 25_ms);
}

TEST_F(RackTest, AProbeFindsTheLossOfATailWithoutATimeout) {
    measure_rtt();
    const Nanos sent = now;
    send(4);  // 1 to 4
    // 2 srtt + 2 ms after the last packet, earlier than the timeout (100 + 4 * 50 = 300 ms after it).
    EXPECT_EQ(probe_deadline(), sent + 202_ms);
    now += 100_ms;
    ack(sent, 2);  // 2, 3 and 4 are lost
    EXPECT_EQ(probe_deadline(), now + 202_ms);
    const TimerOutcome outcome = expire(now + 202_ms);
    EXPECT_TRUE(outcome.wants_probe);
    EXPECT_FALSE(outcome.timed_out);
    EXPECT_EQ(sender.probe_with_last(now, options).seq, 4u);
    EXPECT_EQ(probe_deadline(), kNever);  // one per flight
    EXPECT_EQ(sender.pipe(), 3u);
    const Nanos probed = now;
    now += 100_ms;
    // 2 and 3 were sent 402 ms ago, long before 4 was repeated: RTT 100 ms + window 25 ms have passed.
    EXPECT_TRUE(ack(probed, 2, {{4, 5}}).began_recovery);
    EXPECT_EQ(sender.stats().marked_lost, 2);
    EXPECT_EQ(sender.stats().timeouts, 0);
}

TEST_F(RackTest, ALonePacketMayHaveItsAckDelayed) {
    measure_rtt();
    options.rto_min = 1_s;
    send(1);
    EXPECT_EQ(probe_deadline(), now + 400_ms);  // 2 srtt + 200 ms
}

TEST_F(RackTest, AProbeIsNoLaterThanTheTimeoutAndReplacesIt) {
    measure_rtt();
    send(1);
    // RTO: srtt 100 ms + 4 * 50 ms
    EXPECT_EQ(sender.rto_deadline(), now + 300_ms);
    EXPECT_EQ(probe_deadline(), now + 300_ms);
    const TimerOutcome outcome = expire(now + 300_ms);
    EXPECT_TRUE(outcome.wants_probe);
    EXPECT_FALSE(outcome.timed_out);
    sender.probe_with_last(now, options);
    EXPECT_EQ(sender.rto_deadline(), now + 300_ms);
    EXPECT_TRUE(expire(now + 300_ms).timed_out);
}

TEST_F(RackTest, NewDataIsTheBetterProbe) {
    measure_rtt();
    send(2);
    expire(probe_deadline());
    EXPECT_EQ(sender.probe_with_new(3, now, options).seq, 3u);
    const Nanos probed = now;
    now += 100_ms;
    EXPECT_FALSE(ack(probed, 4).began_recovery);  // all had arrived: only ACKs were lost
    EXPECT_EQ(sender.window().ssthresh_pkts, kInfiniteSsthresh);
    EXPECT_EQ(sender.stats().tail_probes, 1);
}

TEST_F(RackTest, ALossThatTheProbeRepairedIsACongestionEvent) {
    measure_rtt();
    send(2);  // 1, 2; packet 2 is lost
    const double window = sender.window().cwnd_pkts;
    now += 100_ms;
    ack(now - 100_ms, 2);
    expire(probe_deadline());
    sender.probe_with_last(now, options);
    const Nanos probed = now;
    now += 100_ms;
    EXPECT_FALSE(ack(probed, 3).began_recovery);  // original or probe? The next packet decides
    send(1);
    now += 100_ms;
    EXPECT_TRUE(ack(now - 100_ms, 4).began_recovery);
    EXPECT_EQ(sender.window().cwnd_pkts, window / 2);
    EXPECT_EQ(sender.state(), SenderState::Open);
}

TEST_F(RackTest, ALossThatTheProbeRepairedIsOverForTheControllerAtOnce) {
    options.cwnd_validation = CwndValidation::Off;
    sender = SubflowSender(make_controller({"wvegas", {}}), options);
    measure_rtt();
    send(2);  // 1, 2; packet 2 is lost
    now += 100_ms;
    ack(now - 100_ms, 2);
    expire(probe_deadline());
    sender.probe_with_last(now, options);
    now += 100_ms;
    ack(now - 100_ms, 3);
    send(1);
    now += 100_ms;
    ASSERT_TRUE(ack(now - 100_ms, 4).began_recovery);
    send(4);
    now += 100_ms;
    ack(now - 100_ms, 5);  // ends a round trip with too few samples for a decision
    const double window = sender.window().cwnd_pkts;
    ack(now - 100_ms, 6);  // within a round trip wVegas does nothing; without wVegas, each ACK acts as for NewReno
    ack(now - 100_ms, 7);
    EXPECT_EQ(sender.window().cwnd_pkts, window);
}

TEST_F(RackTest, ANeedlessProbeIsReportedAsADuplicate) {
    measure_rtt();
    send(2);
    expire(probe_deadline());
    sender.probe_with_last(now, options);
    const Nanos probed = now;
    now += 50_ms;
    ack(100_ms, 3);  // the delayed ACK of the original
    now += 50_ms;
    ack(probed, 3, {{2, 3}});  // the probe arrived as a duplicate
    const Nanos at = now;
    send(1);
    now += 100_ms;
    EXPECT_FALSE(ack(at, 4).began_recovery);
    EXPECT_EQ(sender.window().ssthresh_pkts, kInfiniteSsthresh);
    // It is no evidence of reordering either: the window stays at a quarter of min_rtt.
    EXPECT_EQ(sender.reordering_window(), 25_ms);
}

TEST_F(RackTest, ATimeoutMarksTheFirstPacketAndWhatIsOverdue) {
    measure_rtt();
    send(2);  // 1 and 2 at 100 ms
    expire(probe_deadline());
    sender.probe_with_last(now, options);  // 2 again at 302 ms; its timeout at 602 ms
    now = 600_ms;
    send(2);  // 3 and 4
    EXPECT_TRUE(expire(602_ms).timed_out);
    // 2 was lost at 302 + 100 + 25 ms; 3 and 4 are not lost yet (RFC 8985 section 6.3).
    EXPECT_EQ(sender.stats().marked_lost, 2);
    EXPECT_EQ(sender.pipe(), 2u);
    EXPECT_EQ(sender.window().cwnd_pkts, 3);  // the packets in flight do not delay the retransmission
    EXPECT_EQ(sender.retransmit(now, options).seq, 1u);
    EXPECT_FALSE(sender.may_retransmit(now));
    EXPECT_EQ(probe_deadline(), kNever);  // no probes while repairing
    sender.check_invariants();
}

TEST(Receiver, ReportsADuplicateOnceBeforeWhatItHolds) {
    SubflowReceiver receiver;
    TransportOptions options;
    options.dsack = true;
    ReceiveBuffer buffer(1448, std::nullopt);
    const auto receive = [&](std::uint32_t seq) { receiver.on_data(seq, 1448, 0_ms, 0, 0_ms, buffer, options); };
    receive(0);
    receive(2);
    receiver.take_sack_blocks();
    receive(2);
    // RFC 2883 section 4.2: the duplicate first, then the block that contains it.
    SackBlocks blocks = receiver.take_sack_blocks();
    ASSERT_EQ(blocks.count, 2u);
    EXPECT_EQ(blocks.blocks[0], (SeqRange{2, 3}));
    EXPECT_EQ(blocks.blocks[1], (SeqRange{2, 3}));
    EXPECT_EQ(receiver.take_sack_blocks().count, 1u);
    receive(1);
    EXPECT_FALSE(receiver.has_sack_blocks());
    receive(0);
    EXPECT_TRUE(receiver.has_sack_blocks());
    blocks = receiver.take_sack_blocks();
    ASSERT_EQ(blocks.count, 1u);
    EXPECT_EQ(blocks.blocks[0], (SeqRange{0, 1}));
}

// A transfer of four packets with the last one lost: a probe 2 RTT after the last ACK repairs it before the timeout.
// The link loses exactly this packet because it is down at its arrival.
TEST(RackNetwork, ALostTailCostsTwoRoundTripsInsteadOfATimeout) {
    for (const LossDetection detection : {LossDetection::DupAck, LossDetection::Rack}) {
        Scenario scenario = testing::linux_profile(10_s);
        scenario.transport.loss_detection = detection;
        testing::add_tcp(scenario, testing::add_path(scenario, {.one_way = 10_ms}));
        scenario.flows[0].size = Bytes(4 * 1448);
        // 10 Mbit/s: after a handshake of 20.04 ms, packets end their transmission 1.2, 2.4, 3.6 and 4.8 ms after an
        // ACK, which takes 0.04 ms; the outage cuts off the last.
        testing::fail_link(scenario, 0, 24_ms, 25_ms);
        Network network(scenario, 1);
        network.run_until(10_s);
        const SubflowResult result = network.subflow_result(0);
        const double completion_s = network.flow_result(0).completion_s;
        EXPECT_EQ(result.retransmits, 1);
        if (detection == LossDetection::Rack) {
            EXPECT_EQ(result.timeouts, 0);
            // The third ACK arrives at 43.7 ms. A single packet is outstanding: 2 * srtt + 200 ms, but the timeout,
            // srtt + 200 ms, is earlier, and the probe replaces it. srtt is 20.9 ms: RTTs of 20.0 ms, of the handshake,
            // and 21.2, 22.4 and 23.6 ms.
            EXPECT_NEAR(completion_s, 0.0437 + 0.2209 + 0.0112, 1e-4);
        } else {
            EXPECT_EQ(result.timeouts, 1);
        }
    }
}

}  // namespace
}  // namespace subflow
