// Monitor intervals: their packets, outcomes and round-trip times; tested alone, in a sender, and in networks.
#include "monitor_interval.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_scenario.h"
#include "scenarios.h"
#include "sender.h"

namespace subflow {
namespace {

using namespace literals;

// --- the monitor alone ----------------------------------------------------------------------------------------------

class IntervalMonitorTest : public ::testing::Test {
protected:
    IntervalMonitor monitor;
    std::uint32_t next_number = 0;

    void begin(Nanos now, const IntervalPlan& plan = {.length = 10_ms}, double rate_pps = 1000) {
        monitor.begin(plan, rate_pps, next_number, now);
    }
    void send(int packets) {
        for (int i = 0; i < packets; ++i, ++next_number) monitor.on_send();
    }
    void deliver(std::uint32_t from, std::uint32_t to, Nanos now) {
        for (std::uint32_t number = from; number < to; ++number) monitor.on_delivered(number, now);
    }
};

TEST_F(IntervalMonitorTest, AFateBelongsToTheIntervalOfTheTransmission) {
    begin(0_ms);
    send(3);  // 0, 1, 2
    begin(10_ms);
    send(4);  // 3 to 6
    begin(20_ms);
    send(1);
    monitor.on_lost(1);
    monitor.on_delivered(3, 30_ms);
    monitor.on_lost(6);
    deliver(4, 6, 40_ms);
    EXPECT_FALSE(monitor.has_finished(40_ms, kNever));  // the second is complete, the first is not
    monitor.on_delivered(0, 41_ms);
    monitor.on_delivered(2, 42_ms);
    ASSERT_TRUE(monitor.has_finished(42_ms, kNever));
    const IntervalRecord first = monitor.take_finished(42_ms);
    EXPECT_EQ(first.number, 0u);
    EXPECT_EQ(first.sent_pkts, 3u);
    EXPECT_EQ(first.delivered_pkts, 2u);
    EXPECT_EQ(first.lost_pkts, 1u);
    EXPECT_DOUBLE_EQ(first.loss_ratio(), 1.0 / 3);
    EXPECT_EQ(first.begin, 0_ms);
    EXPECT_EQ(first.end, 10_ms);
    EXPECT_EQ(first.finished_at, 42_ms);
    EXPECT_DOUBLE_EQ(first.send_rate_pps(), 300);
    ASSERT_TRUE(monitor.has_finished(42_ms, kNever));
    const IntervalRecord second = monitor.take_finished(42_ms);
    EXPECT_EQ(second.number, 1u);
    EXPECT_EQ(second.delivered_pkts, 3u);
    EXPECT_EQ(second.lost_pkts, 1u);
    EXPECT_EQ(second.last_ack_at, 40_ms);
    EXPECT_FALSE(monitor.has_finished(1_s, kNever));  // the current one has no end yet
}

TEST_F(IntervalMonitorTest, EndsWithThePacketThatLeavesALengthAfterItsBegin) {
    EXPECT_TRUE(monitor.wants_plan(0_ms));
    begin(0_ms, {.length = 10_ms, .min_packets = 3, .tag = 7});
    send(2);
    EXPECT_FALSE(monitor.wants_plan(Nanos(9'999'999)));
    EXPECT_FALSE(monitor.wants_plan(10_ms));  // too few
    send(1);
    EXPECT_TRUE(monitor.wants_plan(10_ms));
    begin(12_ms);
    send(1);
    deliver(0, 3, 20_ms);
    const IntervalRecord record = monitor.take_finished(20_ms);
    EXPECT_EQ(record.tag, 7);
    EXPECT_EQ(record.end, 12_ms);
}

TEST_F(IntervalMonitorTest, CanBeEndedEarly) {
    begin(0_ms, {.length = 1_s, .min_packets = 100});
    send(1);
    monitor.end_now();
    EXPECT_TRUE(monitor.wants_plan(Nanos(1)));
    begin(1_ms);
    EXPECT_FALSE(monitor.wants_plan(2_ms));
}

TEST_F(IntervalMonitorTest, FitsTheGradientByLeastSquares) {
    // t = 0, 10, 20, 30 ms and RTT = 100, 102, 101, 105 ms, means 15 and 102. Sums of products of the deviations: tt =
    // 500, tr = 30 + 0 - 5 + 45 = 70, rr = 4 + 0 + 1 + 9 = 14 ms^2. The slope is 70 / 500 = 0.14 and the residual sum
    // 14 - 0.14 * 70 = 4.2, so that the error is sqrt(4.2 / (4 - 2) / 500) = 0.0648.
    begin(5_ms);
    send(4);
    const Nanos rtts[] = {100_ms, 102_ms, 101_ms, 105_ms};
    for (int i = 0; i < 4; ++i) {
        const Nanos sent = 5_ms + 10_ms * i;
        monitor.on_delivered(static_cast<std::uint32_t>(i), sent + rtts[i]);
        monitor.on_rtt(sent, rtts[i], sent + rtts[i], 100_ms);
    }
    begin(45_ms);
    send(1);
    const IntervalRecord record = monitor.take_finished(140_ms);
    EXPECT_NEAR(record.rtt_gradient, 0.14, 1e-12);
    EXPECT_NEAR(record.rtt_gradient_error, std::sqrt(4.2 / 2 / 500), 1e-12);
    EXPECT_NEAR(record.rtt_mean_s, 0.102, 1e-12);
    EXPECT_DOUBLE_EQ(record.rtt_min_s, 0.1);
    EXPECT_EQ(record.rtt_samples, 4u);
}

TEST_F(IntervalMonitorTest, TwoSamplesHaveNoGradientAndNoneHasNoMean) {
    begin(0_ms);
    send(2);
    monitor.on_rtt(0_ms, 100_ms, 100_ms, 100_ms);
    monitor.on_rtt(1_ms, 110_ms, 111_ms, 100_ms);
    deliver(0, 2, 111_ms);
    begin(2_ms);
    send(1);
    begin(3_ms);
    const IntervalRecord two = monitor.take_finished(111_ms);
    EXPECT_TRUE(std::isnan(two.rtt_gradient));
    EXPECT_DOUBLE_EQ(two.rtt_mean_s, 0.105);
    monitor.on_lost(2);
    const IntervalRecord none = monitor.take_finished(111_ms);
    EXPECT_TRUE(std::isnan(none.rtt_mean_s));
    EXPECT_TRUE(std::isnan(none.rtt_min_s));
    EXPECT_EQ(none.loss_ratio(), 1);
}

TEST_F(IntervalMonitorTest, AnAcknowledgementMayBeOfTwoIntervals) {
    // The delayed ACK of packets 2 and 3 repeats the time stamp of 2: a delivery for each interval, the sample for the
    // first.
    begin(0_ms);
    send(3);
    begin(10_ms);
    send(2);
    deliver(0, 2, 50_ms);
    monitor.on_rtt(1_ms, 49_ms, 50_ms, 49_ms);
    deliver(2, 4, 60_ms);
    monitor.on_rtt(2_ms, 58_ms, 60_ms, 51_ms);
    begin(20_ms);
    const IntervalRecord first = monitor.take_finished(60_ms);
    EXPECT_EQ(first.delivered_pkts, 3u);
    EXPECT_EQ(first.rtt_samples, 2u);
    EXPECT_EQ(first.first_srtt, 49_ms);
    EXPECT_EQ(first.last_srtt, 51_ms);
    EXPECT_EQ(first.first_ack_pkts, 2u);
    // One packet in the 10 ms between the first and the last acknowledgement
    EXPECT_DOUBLE_EQ(first.throughput_pps(), 100);
    deliver(4, 5, 61_ms);
    const IntervalRecord second = monitor.take_finished(61_ms);
    EXPECT_EQ(second.delivered_pkts, 2u);
    EXPECT_EQ(second.rtt_samples, 0u);
    EXPECT_EQ(second.first_srtt, 51_ms);
}

TEST_F(IntervalMonitorTest, OneAcknowledgementForAllIsThroughputOverTheTimeOfSending) {
    begin(0_ms);
    send(5);
    begin(10_ms);
    deliver(0, 5, 50_ms);
    EXPECT_DOUBLE_EQ(monitor.take_finished(50_ms).throughput_pps(), 500);
}

TEST_F(IntervalMonitorTest, SilenceIsLossOnceThePatienceIsOver) {
    begin(0_ms);
    send(5);
    EXPECT_EQ(monitor.wait_ends(40_ms), kNever);  // the interval is still open
    begin(10_ms);
    send(5);
    EXPECT_EQ(monitor.wait_ends(40_ms), 50_ms);
    EXPECT_FALSE(monitor.has_finished(Nanos(49'999'999), 40_ms));
    ASSERT_TRUE(monitor.has_finished(50_ms, 40_ms));
    const IntervalRecord silent = monitor.take_finished(50_ms);
    EXPECT_EQ(silent.loss_ratio(), 1);
    EXPECT_EQ(silent.throughput_pps(), 0);
    // Later acknowledgements belong to no interval.
    deliver(0, 5, 60_ms);
    monitor.on_rtt(1_ms, 59_ms, 60_ms, 59_ms);
    // A single delivery; the monitor waits for the rest.
    begin(20_ms);
    monitor.on_delivered(5, 60_ms);
    EXPECT_EQ(monitor.wait_ends(40_ms), kNever);
    EXPECT_FALSE(monitor.has_finished(10_s, 40_ms));
    monitor.check_invariants(4);
}

TEST_F(IntervalMonitorTest, WhatWasFoundOrReplacedIsNotCounted) {
    begin(0_ms);
    send(4);
    monitor.on_lost(0);
    monitor.on_lost(1);
    monitor.on_found(0);     // marked lost in error
    monitor.on_replaced(3);  // its probe is transmission 4
    begin(10_ms);
    send(1);
    monitor.check_invariants(3);
    deliver(0, 1, 50_ms);
    deliver(2, 3, 50_ms);
    const IntervalRecord record = monitor.take_finished(50_ms);
    EXPECT_EQ(record.sent_pkts, 3u);
    EXPECT_EQ(record.delivered_pkts, 2u);
    EXPECT_EQ(record.lost_pkts, 1u);
}

TEST_F(IntervalMonitorTest, KeepsTheLatestRecordsAndCountsTheOthers) {
    EXPECT_FALSE(monitor.has_latest());
    constexpr std::uint32_t kCount = IntervalMonitor::kRecordCapacity + 100;
    for (std::uint32_t i = 0; i < kCount; ++i) {
        IntervalRecord record;
        record.number = i;
        monitor.keep(record);
    }
    EXPECT_EQ(monitor.records_lost(), 100);
    EXPECT_EQ(monitor.latest().number, kCount - 1);
    const std::vector<IntervalRecord> taken = monitor.take_records();
    ASSERT_EQ(taken.size(), IntervalMonitor::kRecordCapacity);
    EXPECT_EQ(taken.front().number, 100u);
    EXPECT_EQ(taken.back().number, kCount - 1);
    EXPECT_TRUE(monitor.take_records().empty());
    EXPECT_TRUE(monitor.has_latest());
}

TEST_F(IntervalMonitorTest, ASuccessorGoesOnWithTheNumbersAndTheRecords) {
    begin(0_ms);
    send(1);
    begin(10_ms);
    monitor.on_delivered(0, 50_ms);
    monitor.keep(monitor.take_finished(50_ms));
    IntervalMonitor successor;
    successor.continue_records(std::move(monitor));
    successor.begin({.length = 10_ms}, 1000, 0, 1_s);
    successor.on_send();
    successor.begin({.length = 10_ms}, 1000, 1, Nanos(1'010'000'000));
    successor.on_delivered(0, 2_s);
    successor.keep(successor.take_finished(2_s));
    const std::vector<IntervalRecord> taken = successor.take_records();
    ASSERT_EQ(taken.size(), 2u);
    EXPECT_EQ(taken[0].number, 0u);
    EXPECT_EQ(taken[1].number, 2u);  // number 1 was open when its sender ended
}

// --- a sender -------------------------------------------------------------------------------------------------------

// Vivace at its initial 100 packets/s: a packet every 10 ms, intervals of 100 ms before the first RTT, then of an RTT.
class MonitoredSenderTest : public ::testing::Test {
protected:
    TransportOptions options = patient();
    SubflowSender sender = make();
    Nanos now{};

    static TransportOptions patient() {
        TransportOptions options;
        options.rto_min = 1_s;
        return options;
    }
    SubflowSender make() { return SubflowSender(make_controller({"vivace", {}}), options, 1); }

    // Sends until `until` at the pacing rate, retransmissions first, without acknowledgements.
    void send_until(Nanos until, int most = 1000) {
        for (int sent = 0; sent < most; ++sent) {
            const Nanos next = std::max(now, sender.timer_deadline(now, options));
            if (!sender.may_send(now) && !sender.may_retransmit(now)) {
                if (next >= until || sender.may_send(next) == sender.may_send(now)) break;
                now = next;
            }
            if (sender.may_retransmit(now)) {
                sender.retransmit(now, options);
            } else if (sender.may_send(now)) {
                sender.send_new(sender.snd_nxt(), now, options);
            }
        }
        now = std::max(now, until);
    }
    AckOutcome ack(std::uint32_t cumulative, Nanos echo, std::vector<SeqRange> blocks = {}) {
        const AckOutcome outcome = sender.on_ack(cumulative, blocks, echo, now, {}, options);
        sender.check_invariants();
        return outcome;
    }
};

TEST_F(MonitoredSenderTest, AnIntervalIsWhatLeftDuringItsLength) {
    send_until(105_ms);  // the eleventh packet, at 100 ms, begins the second interval: 10 are the initial window
    EXPECT_EQ(sender.snd_nxt(), 10u);
    ack(10, 90_ms);
    send_until(106_ms, 1);
    EXPECT_EQ(sender.snd_nxt(), 11u);
    now = 150_ms;
    ack(11, 105_ms);
    const std::vector<IntervalRecord> taken = sender.take_intervals();
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].sent_pkts, 10u);
    EXPECT_EQ(taken[0].delivered_pkts, 10u);
    EXPECT_EQ(taken[0].rate_pps, 100);
    EXPECT_EQ(taken[0].first_srtt, 15_ms);
    EXPECT_EQ(taken[0].finished_at, 150_ms);
}

TEST_F(MonitoredSenderTest, ARetransmissionIsOfTheIntervalInWhichItLeaves) {
    send_until(50_ms);  // packets 0 to 4
    ack(2, 10_ms);      // so that the window has room
    send_until(101_ms);
    ack(2, 50_ms, {{3, 6}});  // 2 is lost
    EXPECT_TRUE(sender.has_lost());
    send_until(111_ms);  // its retransmission begins the second interval
    ASSERT_FALSE(sender.has_lost());
    const auto in_first = static_cast<std::uint32_t>(sender.monitor()->first_open());
    EXPECT_EQ(in_first, 0u);
    now = 160_ms;
    ack(sender.snd_nxt(), 100_ms);
    const std::vector<IntervalRecord> taken = sender.take_intervals();
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].lost_pkts, 1u);
    EXPECT_EQ(taken[0].delivered_pkts, taken[0].sent_pkts - 1);
    EXPECT_EQ(taken[0].sent_pkts, 10u);
}

TEST_F(MonitoredSenderTest, ATimerEndsThePatienceWithAnIntervalOfWhichNothingIsHeard) {
    send_until(45_ms);
    ack(5, 0_ms);  // srtt 45 ms
    send_until(155_ms);
    ASSERT_EQ(sender.snd_nxt(), 16u);
    // Intervals: [0, 100), half of it acknowledged, then [100, 150) of five packets, then an open one.
    now = 160_ms;
    ack(10, 90_ms);  // the rest of the first interval, no packet of the second
    EXPECT_EQ(sender.take_intervals().size(), 1u);
    const Nanos wait_ends = 150_ms + sender.rtt().srtt() * 4;
    ASSERT_LT(wait_ends, sender.rto_deadline());
    EXPECT_EQ(sender.reordering_deadline(), wait_ends);
    sender.on_timer(wait_ends - Nanos(1), {}, options);
    EXPECT_TRUE(sender.take_intervals().empty());
    now = wait_ends;
    sender.on_timer(now, {}, options);
    sender.check_invariants();
    const std::vector<IntervalRecord> taken = sender.take_intervals();
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].sent_pkts, 5u);
    EXPECT_EQ(taken[0].loss_ratio(), 1);
    EXPECT_EQ(sender.stats().timeouts, 0);
    // A late acknowledgement changes no record and no balance.
    now += 1_ms;
    ack(sender.snd_nxt(), now - 2_ms);
}

TEST_F(MonitoredSenderTest, ATimeoutIsTheFateOfEverythingUnderWay) {
    send_until(45_ms);
    ack(5, 0_ms);
    send_until(105_ms);
    now = sender.rto_deadline();
    ASSERT_TRUE(sender.on_timer(now, {}, options).timed_out);
    sender.check_invariants();
    ASSERT_TRUE(sender.may_retransmit(now));
    send_until(now, 1);
    const std::vector<IntervalRecord> taken = sender.take_intervals();
    ASSERT_GE(taken.size(), 1u);
    EXPECT_EQ(taken[0].delivered_pkts, 5u);
    EXPECT_EQ(taken[0].lost_pkts, taken[0].sent_pkts - 5);
}

TEST_F(MonitoredSenderTest, WhatIsFoundNotToBeLostIsNot) {
    options.loss_detection = LossDetection::Rack;
    options.undo = true;
    sender = make();
    send_until(91_ms);
    ASSERT_EQ(sender.snd_nxt(), 10u);
    ack(0, 90_ms, {{5, 10}});  // 0 to 4 appear lost
    ASSERT_EQ(sender.stats().marked_lost, 5);
    send_until(102_ms, 1);
    ASSERT_EQ(sender.stats().retransmits, 1);
    // The original of 0 arrives: all of them were late, not lost, and the other four have not been retransmitted.
    now = 110_ms;
    ack(1, 0_ms);
    EXPECT_EQ(sender.stats().undone, 1);
    now = 111_ms;
    ack(10, 40_ms);
    send_until(300_ms);
    now += 50_ms;
    ack(sender.snd_nxt(), now - 50_ms);
    const std::vector<IntervalRecord> taken = sender.take_intervals();
    ASSERT_GE(taken.size(), 1u);
    // Only packet 0 counts as lost, because its retransmission is a separate packet.
    std::uint32_t lost = 0;
    for (const IntervalRecord& record : taken) lost += record.lost_pkts;
    EXPECT_EQ(lost, 1u);
}

TEST_F(MonitoredSenderTest, ATailProbeTakesThePlaceOfThePacketItRepeats) {
    options.loss_detection = LossDetection::Rack;
    sender = make();
    send_until(25_ms);  // three packets
    ASSERT_EQ(sender.snd_nxt(), 3u);
    ack(2, 10_ms);
    const Nanos deadline = sender.timer_deadline(25_ms, options);
    now = std::max(deadline, sender.probe_deadline());
    ASSERT_LT(now, kNever);
    ASSERT_TRUE(sender.on_timer(now, {}, options).wants_probe);
    sender.probe_with_last(now, options);
    sender.check_invariants();
    const Nanos probe_sent = now;
    now += 15_ms;
    ack(3, probe_sent);
    send_until(now + 200_ms);
    now += 50_ms;
    ack(sender.snd_nxt(), now - 60_ms);
    const std::vector<IntervalRecord> taken = sender.take_intervals();
    ASSERT_GE(taken.size(), 1u);
    std::uint32_t sent = 0;
    for (const IntervalRecord& record : taken) {
        sent += record.sent_pkts;
        EXPECT_EQ(record.delivered_pkts, record.sent_pkts);
    }
    // All transmissions of these intervals, without the one that the probe replaced
    EXPECT_EQ(sent + 1, sender.monitor()->first_open());
}

TEST_F(MonitoredSenderTest, AnIntervalWithoutDataIsMarked) {
    send_until(45_ms);
    sender.note_out_of_data();
    now = 60_ms;
    ack(5, 40_ms);
    now = 500_ms;
    send_until(501_ms, 1);
    now = 520_ms;
    ack(6, 500_ms);
    const std::vector<IntervalRecord> taken = sender.take_intervals();
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_TRUE(taken[0].is_app_limited);
    EXPECT_EQ(taken[0].end, 500_ms);
}

// --- networks -------------------------------------------------------------------------------------------------------

// Every flow uses monitor intervals, from its start to its end.
Scenario monitored(Scenario scenario) {
    std::erase_if(scenario.events, [](const EventSpec& event) { return event.controller.has_value(); });
    for (FlowSpec& flow : scenario.flows) {
        if (sends_datagrams(flow.kind)) continue;
        flow.controller.name = flow.kind == FlowKind::Mptcp ? "uncoupled" : "vivace";
        flow.controller.options.clear();
        if (flow.kind == FlowKind::Mptcp) flow.controller.options.push_back({"base", std::string("vivace")});
    }
    return scenario;
}

TEST(MonitorIntervals, TheirBooksBalanceWhateverTheNetwork) {
    std::size_t seen = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        testing::Draws draw(combine64(seed, 77));
        Scenario scenario = monitored(testing::random_network(draw));
        testing::slow_down(scenario, 10'000);
        Network network(scenario, seed);
        network.run_until(scenario.duration / 2);
        network.check_invariants();
        std::vector<SubflowInterval> taken = network.take_intervals();
        network.run_until(scenario.duration);
        network.check_invariants();
        for (const SubflowInterval& each : network.take_intervals()) taken.push_back(each);
        seen += taken.size();

        std::vector<std::int64_t> sent(network.subflows().size(), 0);
        std::vector<const IntervalRecord*> last(network.subflows().size(), nullptr);
        Nanos finished{};
        for (const auto& [subflow, record] : taken) {
            ASSERT_EQ(record.delivered_pkts + record.lost_pkts, record.sent_pkts) << seed;
            ASSERT_GE(record.finished_at, finished) << seed;  // in order over all subflows
            ASSERT_LT(record.begin, record.end) << seed;
            ASSERT_GE(record.finished_at, record.end) << seed;
            finished = record.finished_at;
            sent[subflow] += record.sent_pkts;
            if (const IntervalRecord* previous = std::exchange(last[subflow], &record)) {
                ASSERT_LT(previous->number, record.number) << seed;
                ASSERT_LE(previous->end, record.begin) << seed;
                if (previous->number + 1 == record.number) {
                    ASSERT_EQ(previous->end, record.begin) << seed;
                }
            }
        }
        if (network.intervals_lost() != 0) continue;
        for (std::size_t i = 0; i < sent.size(); ++i) {
            const Subflow& s = network.subflows()[i];
            if (!s.sender.monitor() || s.incarnation != 0 || s.sender.monitor()->open_count() == 0) continue;
            // Transmissions before the open intervals: all are in a record, except those replaced by a probe.
            const std::int64_t before = s.sender.monitor()->first_open();
            ASSERT_LE(sent[i], before) << seed;
            ASSERT_GE(sent[i] + s.sender.stats().tail_probes, before) << seed;
        }
    }
    EXPECT_GT(seen, 1000u);
}

TEST(MonitorIntervals, ASnapshotCarriesThem) {
    Scenario scenario = testing::linux_profile(6_s);
    testing::add_tcp(scenario, testing::add_path(scenario, {.loss = 0.01})).controller.name = "vivace";
    Network network(scenario, 1);
    network.run_until(3_s);
    Network copy = network;
    network.run_until(6_s);
    copy.run_until(6_s);
    const std::vector<SubflowInterval> one = network.take_intervals();
    const std::vector<SubflowInterval> other = copy.take_intervals();
    ASSERT_EQ(one.size(), other.size());
    ASSERT_GT(one.size(), 20u);
    for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_EQ(one[i].record.begin, other[i].record.begin);
        EXPECT_EQ(one[i].record.utility, other[i].record.utility);
    }
}

}  // namespace
}  // namespace subflow
