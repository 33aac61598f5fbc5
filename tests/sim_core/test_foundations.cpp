// Units, random numbers, rings, ranges, the event queue.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "event_queue.h"
#include "range_set.h"
#include "ring.h"
#include "rng.h"
#include "units.h"

namespace subflow {
namespace {

using namespace literals;

TEST(Units, SecondsRoundToTheNearestNanosecond) {
    EXPECT_EQ(from_seconds(0.1), 100_ms);
    EXPECT_EQ(from_seconds(1e-9 * 1.6), 2_ns);
    EXPECT_DOUBLE_EQ(to_seconds(1500_us), 0.0015);
}

TEST(Rng, DrawsDependOnNothingButTheirKey) {
    EXPECT_EQ(combine64(1, 2), combine64(1, 2));
    EXPECT_NE(combine64(1, 2), combine64(2, 1));
    EXPECT_NE(hash_name("wifi/forward"), hash_name("wifi/reverse"));
}

TEST(Rng, UnitDrawsAreUniform) {
    // Mean of n uniform draws: 1/2 with standard deviation 1/sqrt(12 n); n = 1e5: 0.00091. Five of them: 0.0046.
    double sum = 0;
    for (std::uint64_t i = 0; i < 100'000; ++i) sum += to_unit_interval(combine64(7, i));
    EXPECT_NEAR(sum / 100'000, 0.5, 0.0046);
}

TEST(Ring, PositionsKeepNamingTheSameElementWhileItGrows) {
    Ring<int> ring(4);
    for (int i = 0; i < 3; ++i) ring.push_back(i);
    ring.pop_front();
    for (int i = 3; i < 100; ++i) ring.push_back(i);
    for (std::uint32_t pos = ring.begin_pos(); pos != ring.end_pos(); ++pos)
        EXPECT_EQ(ring[pos], static_cast<int>(pos));
    ring.truncate(50);
    EXPECT_EQ(ring.back(), 49);
    EXPECT_EQ(ring.size(), 49u);
}

TEST(Ring, ShrinksToWhatIsThereOrWanted) {
    Ring<int> ring(4);
    for (int i = 0; i < 100; ++i) ring.push_back(i);
    ring.pop_front(90);
    ring.shrink(20);
    EXPECT_EQ(ring.heap_bytes(), 32 * sizeof(int));
    ring.shrink();
    EXPECT_EQ(ring.heap_bytes(), 16 * sizeof(int));
    ring.shrink(1000);  // no more than the ring holds
    EXPECT_EQ(ring.heap_bytes(), 16 * sizeof(int));
    for (int i = 100; i < 130; ++i) ring.push_back(i);
    for (std::uint32_t pos = 90; pos != 130; ++pos) EXPECT_EQ(ring[pos], static_cast<int>(pos));
    Ring<int> empty(4);
    empty.shrink();
    EXPECT_EQ(empty.heap_bytes(), 0u);
}

TEST(Ring, ACopyHasItsOwnElements) {
    Ring<int> ring(4);
    for (int i = 0; i < 6; ++i) ring.push_back(i);
    Ring<int> copy = ring;
    copy[5] = 50;
    copy.push_back(60);
    EXPECT_EQ(ring[5], 5);
    EXPECT_EQ(ring.end_pos(), 6u);
    EXPECT_EQ(copy.back(), 60);
    EXPECT_EQ(copy[3], 3);
}

TEST(RangeSet, ShrinksToTheRangesThatAreThere) {
    RangeSet ranges;
    for (std::uint32_t i = 0; i < 50; ++i) ranges.add({10 * i, 10 * i + 5});
    ranges.erase_below(470);
    ranges.shrink();
    EXPECT_EQ(ranges.heap_bytes(), 3 * sizeof(SeqRange));
    EXPECT_EQ(ranges.front(), (SeqRange{470, 475}));
    EXPECT_EQ(ranges.back(), (SeqRange{490, 495}));
    EXPECT_EQ(ranges.add({475, 480}), (SeqRange{470, 485}));
}

// Against the simplest model: a std::set of numbers.
TEST(RangeSet, AgreesWithASetOfNumbers) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        RangeSet ranges;
        std::set<std::uint32_t> model;
        for (std::uint64_t step = 0; step < 60; ++step) {
            const std::uint64_t draw = combine64(seed, step);
            if (draw % 8 == 0) {
                const auto below = static_cast<std::uint32_t>(draw >> 32) % 120;
                ranges.erase_below(below);
                model.erase(model.begin(), model.lower_bound(below));
            } else {
                const auto begin = static_cast<std::uint32_t>(draw >> 16) % 100;
                const SeqRange added{begin, begin + 1 + static_cast<std::uint32_t>(draw >> 40) % 9};
                std::vector<std::uint32_t> expected_new;
                for (std::uint32_t s = added.begin; s != added.end; ++s)
                    if (model.insert(s).second) expected_new.push_back(s);
                std::vector<std::uint32_t> reported;
                const SeqRange merged = ranges.add(added, [&](std::uint32_t b, std::uint32_t e) {
                    for (; b != e; ++b) reported.push_back(b);
                });
                EXPECT_EQ(reported, expected_new);
                EXPECT_LE(merged.begin, added.begin);
                EXPECT_GE(merged.end, added.end);
            }
            for (std::uint32_t s = 0; s < 125; ++s) ASSERT_EQ(ranges.contains(s), model.count(s) == 1) << s;
            for (std::size_t i = 1; i < ranges.size(); ++i) ASSERT_LT(ranges[i - 1].end, ranges[i].begin);
        }
    }
}

TEST(EventQueue, FiresInOrderOfTimeThenSource) {
    EventQueue queue(5);
    queue.schedule(3, 20_ns);
    queue.schedule(1, 20_ns);
    queue.schedule(4, 10_ns);
    queue.schedule(2, 30_ns);
    std::vector<std::uint32_t> fired;
    while (!queue.empty()) {
        queue.dispatch([&](std::uint32_t source, Nanos) {
            fired.push_back(source);
            return kNever;
        });
    }
    EXPECT_EQ(fired, (std::vector<std::uint32_t>{4, 1, 3, 2}));
}

TEST(EventQueue, AnEarlierDeadlineReplacesALaterOne) {
    EventQueue queue(1);
    queue.schedule(0, 50_ns);
    queue.schedule(0, 20_ns);
    queue.schedule(0, 40_ns);  // later than the pending one: the handler of the early wake-up decides
    std::vector<std::int64_t> times;
    while (!queue.empty()) {
        queue.dispatch([&](std::uint32_t, Nanos now) {
            times.push_back(now.value);
            return kNever;
        });
    }
    EXPECT_EQ(times, (std::vector<std::int64_t>{20}));
}

TEST(EventQueue, EarlierDeadlinesTakeNoMemory) {
    EventQueue queue(3);
    const std::size_t bytes = queue.heap_bytes();
    queue.schedule(0, 3000_ns);
    queue.schedule(1, 10_ns);
    for (std::int64_t at = 2000; at > 0; --at) queue.schedule(2, Nanos(at));
    EXPECT_EQ(queue.heap_bytes(), bytes);
    EXPECT_NO_THROW(queue.check_invariants());
}

// Random schedules from within handlers, against a sorted list. Parameters: number of sources, and unit of time in ns.
// In units of 2^48 ns, the times exceed the range of the queue's keys several times.
class EventQueues : public ::testing::TestWithParam<std::tuple<std::uint32_t, std::int64_t>> {};
INSTANTIATE_TEST_SUITE_P(FewAndMany, EventQueues,
                         ::testing::Combine(::testing::Values(37, 700), ::testing::Values(1, std::int64_t{1} << 48)));

TEST_P(EventQueues, AgreeWithASortedList) {
    const std::uint32_t sources = std::get<0>(GetParam());
    const std::int64_t unit = std::get<1>(GetParam());
    EventQueue queue(sources);
    std::vector<std::int64_t> due(sources, -1);
    for (std::uint32_t s = 0; s < sources; ++s) {
        due[s] = unit * static_cast<std::int64_t>(mix64(s) % 100);
        queue.schedule(s, Nanos(due[s]));
    }
    std::uint64_t step = 0;
    while (step < 5000) {
        std::tuple<std::int64_t, std::uint32_t> expected{-1, 0};
        for (std::uint32_t s = 0; s < sources; ++s)
            if (due[s] >= 0 && (std::get<0>(expected) < 0 || std::tuple{due[s], s} < expected)) expected = {due[s], s};
        bool handled = false;
        queue.dispatch([&](std::uint32_t source, Nanos now) {
            handled = true;
            EXPECT_EQ((std::tuple{now.value, source}), expected);
            const std::uint64_t draw = mix64(++step);
            const auto other = static_cast<std::uint32_t>(draw % sources);
            const std::int64_t at = now.value + unit * static_cast<std::int64_t>((draw >> 8) % 50);
            if (other != source && (due[other] < 0 || at < due[other])) {
                due[other] = at;
                queue.schedule(other, Nanos(at));
            }
            due[source] = now.value + unit * static_cast<std::int64_t>((draw >> 32) % 90);
            return Nanos(due[source]);
        });
        if (!handled) queue.check_invariants();  // a superseded entry was skipped, or the range of the keys moved
    }
}

}  // namespace
}  // namespace subflow
