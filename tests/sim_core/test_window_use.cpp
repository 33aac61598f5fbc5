// Unused windows, pauses, and reductions that prove unnecessary.
#include <gtest/gtest.h>

#include <vector>

#include "cc/controllers.h"
#include "sender.h"

namespace subflow {
namespace {

using namespace literals;

class WindowUseTest : public ::testing::Test {
protected:
    TransportOptions options;
    SubflowSender sender{make_controller({"newreno", {}}), options};
    Nanos now = 0_ms;

    // A window of `window` packets, and an initial window of 4 afterwards.
    void start_with_window(double window) {
        options.initial_window_pkts = window;
        sender = SubflowSender(make_controller({"newreno", {}}), options);
        options.initial_window_pkts = 4;
    }
    void start_with_undo(LossDetection detection = LossDetection::Rack) {
        options.loss_detection = detection;
        options.dsack = true;
        options.undo = true;
        sender = SubflowSender(make_controller({"newreno", {}}), options);
    }
    void send(int packets) {
        for (int i = 0; i < packets; ++i) sender.send_new(sender.snd_nxt(), now, options);
    }
    AckOutcome ack(Nanos echo, std::uint32_t cumulative, std::vector<SeqRange> blocks = {}) {
        return sender.on_ack(cumulative, blocks, echo, now, {}, options);
    }
};

TEST_F(WindowUseTest, AnUnusedWindowMovesHalfWayToItsUsePerTimeout) {
    options.cwnd_validation = CwndValidation::Decay;
    start_with_window(40);
    const auto round = [&] {  // two packets per round trip of 100 ms
        send(2);
        now += 100_ms;
        ack(now - 100_ms, sender.snd_nxt());
    };
    round();
    round();
    EXPECT_EQ(sender.window().cwnd_pkts, 40);
    // RTO after three samples: srtt 100 + 4 * 50 (3/4)^2 = 212.5 ms, and 300 have passed: (40 + max(2, IW)) / 2.
    round();
    EXPECT_EQ(sender.window().cwnd_pkts, 22);
    round();
    EXPECT_EQ(sender.window().cwnd_pkts, 22);
    round();  // the RTO is rto_min = 200 ms now
    EXPECT_EQ(sender.window().cwnd_pkts, 13);
}

TEST_F(WindowUseTest, HoldingKeepsAnUnusedWindowAndOffLetsItGrow) {
    for (const CwndValidation validation : {CwndValidation::Hold, CwndValidation::Off}) {
        options.cwnd_validation = validation;
        start_with_window(40);
        for (int round = 0; round < 10; ++round) {
            send(2);
            now += 100_ms;
            ack(now - 100_ms, sender.snd_nxt());
        }
        // Slow start adds a packet for each of 20 acknowledged ones.
        EXPECT_EQ(sender.window().cwnd_pkts, validation == CwndValidation::Hold ? 40 : 60);
    }
}

TEST_F(WindowUseTest, APauseRestartsTheWindow) {
    // RTO = 100 + 4 * 50 = 300 ms, a pause of 1 s: Linux halves once per complete 300 ms if a further one has begun, 40
    // -> 20 -> 10 -> 5; RFC 5681 resets to the initial window of 4.
    const struct {
        IdleRestart restart;
        double cwnd;
    } cases[] = {{IdleRestart::Off, 40}, {IdleRestart::Rfc5681, 4}, {IdleRestart::Linux, 5}};
    for (const auto& expected : cases) {
        options.idle_restart = expected.restart;
        start_with_window(40);
        now = 0_ms;
        send(1);
        now += 100_ms;
        ack(0_ms, 1);
        now = 1_s;
        send(1);
        EXPECT_EQ(sender.window().cwnd_pkts, expected.cwnd);
        now += 100_ms;
        ack(1_s, 2);
        now += 150_ms;  // shorter than the timeout: no pause
        send(1);
        EXPECT_EQ(sender.window().cwnd_pkts, expected.cwnd);
    }
}

TEST_F(WindowUseTest, ATimeoutThatWasTooEarlyIsTakenBack) {
    start_with_undo(LossDetection::DupAck);
    send(10);
    now = 1_s;
    EXPECT_TRUE(sender.on_timer(now, {}, options).timed_out);
    sender.retransmit(now, options);
    now += 10_ms;
    // The acknowledgement echoes the original transmission: the path has only become slower.
    EXPECT_TRUE(ack(0_ms, 1).ended_recovery);
    EXPECT_EQ(sender.state(), SenderState::Open);
    EXPECT_EQ(sender.window().cwnd_pkts, 11);  // 10 again, and slow start continues
    EXPECT_EQ(sender.window().ssthresh_pkts, kInfiniteSsthresh);
    EXPECT_EQ(sender.pipe(), 9u);
    EXPECT_FALSE(sender.has_lost());
    EXPECT_EQ(sender.stats().undone, 1);
    sender.check_invariants();
}

TEST_F(WindowUseTest, ATimeoutWithGroundStays) {
    start_with_undo(LossDetection::DupAck);
    send(10);
    now = 1_s;
    EXPECT_TRUE(sender.on_timer(now, {}, options).timed_out);
    sender.retransmit(now, options);
    now += 100_ms;
    EXPECT_FALSE(ack(1_s, 1).ended_recovery);  // the echo of the retransmission
    EXPECT_EQ(sender.state(), SenderState::Loss);
    EXPECT_EQ(sender.window().ssthresh_pkts, 5);
}

TEST_F(WindowUseTest, AFastRetransmitOfALatePacketIsTakenBack) {
    for (const bool by_duplicate : {false, true}) {
        now = 0_ms;
        start_with_undo();
        send(10);
        now = 100_ms;
        EXPECT_TRUE(ack(0_ms, 0, {{1, 4}}).began_recovery);
        sender.retransmit(now, options);
        now = 200_ms;
        // Either the original's acknowledgement arrives, or it was lost and the report of the duplicate arrives.
        EXPECT_TRUE((by_duplicate ? ack(100_ms, 10, {{0, 1}}) : ack(0_ms, 10)).ended_recovery);
        EXPECT_EQ(sender.window().cwnd_pkts, 10);
        EXPECT_EQ(sender.stats().undone, 1);
        // It was reordering: four SACKed packets above the next gap do not end the wait for it.
        send(5);
        now = 300_ms;
        ack(200_ms, 10, {{11, 15}});
        EXPECT_EQ(sender.state(), SenderState::Open);
        EXPECT_EQ(sender.reordering_deadline(), 325_ms + (by_duplicate ? 25_ms : 0_ms));  // min_rtt / 4, twice that
    }
}

TEST_F(WindowUseTest, AnotherLossThatMayBeRealKeepsTheReduction) {
    start_with_undo();
    send(10);
    now = 100_ms;
    ack(0_ms, 0, {{2, 6}});  // 0 and 1
    sender.retransmit(now, options);
    ack(0_ms, 0, {{2, 9}});
    sender.retransmit(now, options);
    now = 150_ms;
    EXPECT_FALSE(ack(0_ms, 1).ended_recovery);  // 0 was only late, 1 is undecided
    now = 200_ms;
    EXPECT_TRUE(ack(100_ms, 10).ended_recovery);
    EXPECT_EQ(sender.window().cwnd_pkts, 5);
    EXPECT_EQ(sender.stats().undone, 0);
}

TEST_F(WindowUseTest, ATimeoutWithinARecoveryCutsAgainByTheRfcOnly) {
    for (const RtoRule rule : {RtoRule::Rfc6298, RtoRule::Linux}) {
        now = 0_ms;
        options.rto_rule = rule;
        sender = SubflowSender(make_controller({"newreno", {}}), options);
        send(10);
        now = 100_ms;
        ack(0_ms, 0, {{1, 4}});
        EXPECT_EQ(sender.window().ssthresh_pkts, 5);
        now = sender.rto_deadline();
        EXPECT_TRUE(sender.on_timer(now, {}, options).timed_out);
        // Six of the ten packets were in the pipe: max(6 / 2, 2) by RFC 5681, equation (4).
        EXPECT_EQ(sender.window().ssthresh_pkts, rule == RtoRule::Linux ? 5 : 3);
        EXPECT_EQ(sender.window().cwnd_pkts, 1);
    }
}

}  // namespace
}  // namespace subflow
