// Expiry times of Linux timers.
#include <gtest/gtest.h>

#include "rtt_estimator.h"
#include "timer_wheel.h"

namespace subflow {
namespace {

using namespace literals;

// Recorded from Linux 6.18 with 250 ticks per second (trace event timer_start, retransmission timers of an MPTCP
// connection): the tick, the requested delay in ticks, and the tick of the expiry.
TEST(TimerWheel, GoesOffWhenLinuxDoes) {
    struct Row {
        std::int64_t now, ticks, fires;
    };
    constexpr std::int64_t kBase = 4'310'000'000;
    for (const Row& row :
         {Row{521230, 59, 521290}, Row{521285, 61, 521347}, Row{521369, 62, 521432}, Row{517896, 63, 517960},
          Row{521397, 64, 521464}, Row{521398, 65, 521464}, Row{520927, 68, 521000}, Row{518162, 69, 518232},
          Row{518162, 70, 518240}, Row{521403, 74, 521480}, Row{521000, 136, 521144}, Row{523364, 144, 523512},
          Row{517883, 250, 518136}, Row{521144, 272, 521424}, Row{523277, 444, 523728}, Row{521424, 544, 521984}}) {
        const Nanos now = 4_ms * (kBase + row.now);
        const Nanos ends = wheel_expiry(now + 3_ms, 4_ms * row.ticks, 4_ms);
        EXPECT_EQ(ends.value, (4_ms * (kBase + row.fires)).value) << row.now << " " << row.ticks;
    }
}

TEST(TimerWheel, IsNeverEarlyAndLateByAnEighthAtMost) {
    for (const Nanos tick : {1_ms, 4_ms, 10_ms}) {
        for (std::int64_t ms = 1; ms < 200'000; ms += 1 + ms / 7) {
            for (const Nanos now : {0_ms, 1_ms, 12'345_ms}) {
                const Nanos timeout = 1_ms * ms;
                const Nanos late = wheel_expiry(now, timeout, tick) - (now + timeout);
                ASSERT_GE(late.value, 0) << ms;
                ASSERT_LE(late.value, (tick * 2).value + timeout.value / 7) << ms;
            }
        }
    }
}

TEST(TimerWheel, RetransmissionTimeoutsAreExactWithoutATick) {
    TransportOptions options;
    options.rto_rule = RtoRule::Linux;
    RttEstimator rtt;
    rtt.add_sample_linux(72_ms, 72_ms, 1, 2, options);
    const Nanos timeout = rtt.rto(options, 2);
    EXPECT_EQ(rtt.expiry(5_s, options, 2), 5_s + timeout);
    rtt.set_tick(4_ms);
    EXPECT_EQ(rtt.expiry(5_s, options, 2), wheel_expiry(5_s, timeout, 4_ms));
    EXPECT_GT(rtt.expiry(5_s, options, 2), 5_s + timeout);
}

}  // namespace
}  // namespace subflow
