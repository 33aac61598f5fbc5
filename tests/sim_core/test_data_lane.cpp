// Arrivals of several lanes are settled in one order.
#include <gtest/gtest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "data_lane.h"
#include "random_scenario.h"

namespace subflow {
namespace {

using testing::Draws;

// An arrival in the order of settlement: time, data before timers, last link, place on the link.
using Place = std::tuple<std::int64_t, bool, std::uint32_t, std::uint32_t>;

struct Waiting {
    Place place;
    std::uint32_t data_seq;
};

// Lanes that share links or have their own, with many arrivals at the same time.
class RandomLanes {
public:
    RandomLanes(std::uint32_t count, std::uint64_t seed) : draw_(seed), waiting_(count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto link = static_cast<std::uint32_t>(draw_.between(0, count));
            const bool is_order_free = link % 2 == 0;
            links_.emplace_back(link, is_order_free);
            lanes_.emplace_back(i, link, is_order_free);
        }
    }

    void add_some() {
        for (std::uint32_t turn = 0; turn < 200; ++turn) {
            const auto i = static_cast<std::uint32_t>(draw_.between(0, std::ssize(lanes_) - 1));
            now_ += draw_.between(0, 1);
            const bool is_timer = draw_.chance(0.1);
            const auto [link, is_order_free] = links_[i];
            const std::uint32_t order = is_timer || is_order_free ? i : turns_;
            const std::uint32_t data_seq = is_timer ? DataLane::kTimer : turns_;
            lanes_[i].add(Nanos(now_), data_seq, turns_++);
            waiting_[i].push_back({{now_, is_timer, is_timer ? 0 : link, order}, data_seq});
        }
    }

    // Expects `data_seq` of the next arrival of all lanes, on the lane `i`.
    void expect_next(std::uint32_t i, std::uint32_t data_seq) {
        for (const std::vector<Waiting>& other : waiting_) {
            if (other.empty()) continue;
            EXPECT_LE(waiting_[i].front().place, other.front().place);
        }
        EXPECT_EQ(data_seq, waiting_[i].front().data_seq);
        waiting_[i].erase(waiting_[i].begin());
    }
    auto settling() {
        return DataLanes(static_cast<std::uint32_t>(lanes_.size()),
                         [&](std::uint32_t i) -> DataLane& { return lanes_[i]; });
    }
    std::size_t waiting() const {
        std::size_t sum = 0;
        for (const std::vector<Waiting>& lane : waiting_) sum += lane.size();
        return sum;
    }
    Nanos now() const { return Nanos(now_); }

private:
    Draws draw_;
    std::vector<DataLane> lanes_;
    std::vector<std::pair<std::uint32_t, bool>> links_;
    std::vector<std::vector<Waiting>> waiting_;
    std::int64_t now_ = 1;
    std::uint32_t turns_ = 0;
};

TEST(DataLanes, SettleAnyNumberOfLanesInOrder) {
    for (std::uint32_t count = 2; count <= kMaxSubflows; ++count) {
        RandomLanes lanes(count, count);
        const auto take = [&](std::uint32_t i, const DataLane::Arrival& arrival) {
            lanes.expect_next(i, arrival.data_seq);
        };
        for (int round = 0; round < 5; ++round) {
            lanes.add_some();
            lanes.settling().settle_until(lanes.now() - Nanos(20), take);
            EXPECT_GT(lanes.waiting(), 0u);
            lanes.settling().settle_until(kNever, take);
            EXPECT_EQ(lanes.waiting(), 0u);
        }
    }
}

// An acknowledgement settles its arrival and all that precede it, but none that follows at the same time.
TEST(DataLanes, SettleOnlyUpToTheLatestAcknowledgedArrival) {
    for (const std::uint32_t count : {2u, 3u, 16u}) {
        std::vector<DataLane> lanes;
        for (std::uint32_t i = 0; i < count; ++i) {
            lanes.emplace_back(i, i, false);
            lanes[i].add(Nanos(10), i, i);
        }
        lanes[1].hear(lanes[1].latest(), Nanos(20));
        std::vector<std::uint32_t> settled;
        DataLanes all(count, [&](std::uint32_t i) -> DataLane& { return lanes[i]; });
        all.settle_acked([&](std::uint32_t i, const DataLane::Arrival&) { settled.push_back(i); });
        EXPECT_EQ(settled, (std::vector<std::uint32_t>{0, 1}));
    }
}

}  // namespace
}  // namespace subflow
