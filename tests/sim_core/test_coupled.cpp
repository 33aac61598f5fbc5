// Equations of the coupled controllers: vectors computed by hand, their limiting cases, their bounds.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cc/controllers.h"

namespace subflow {
namespace {

Sibling path(double cwnd_pkts, double srtt_s, double acked_pkts = 0) {
    return {.cwnd_pkts = cwnd_pkts, .srtt_s = srtt_s, .acked_since_loss_pkts = acked_pkts};
}

// w = (10, 30) packets, rtt = (0.05, 0.2) s: rates x = (200, 150), S = 350 packets per second, S^2 = 122500
const std::vector<Sibling> kV1{path(10, 0.05, 500), path(30, 0.2, 3000)};
// w = (20, 20, 5), rtt = 0.1 s: x = (200, 200, 50), S = 450, S^2 = 202500
const std::vector<Sibling> kV2{path(20, 0.1, 400), path(20, 0.1, 900), path(5, 0.1, 900)};
// w = (4, 40), rtt = (0.02, 0.4) s: x = (200, 100), S = 300
const std::vector<Sibling> kV3{path(4, 0.02), path(40, 0.4)};

double lia(const std::vector<Sibling>& all, std::size_t self) {
    return Lia::increase_per_ack(all[self].cwnd_pkts, {all, self});
}
double ewtcp(const std::vector<Sibling>& all, std::size_t self, Ewtcp::Weight weight = Ewtcp::Weight::InverseSquare) {
    return Ewtcp::increase_per_ack(all[self].cwnd_pkts, {all, self}, weight);
}
double olia(const std::vector<Sibling>& all, std::size_t self, Olia::Rank rank = Olia::Rank::Paper) {
    return Olia::increase_per_ack(all[self].cwnd_pkts, {all, self}, rank);
}
double balia(const std::vector<Sibling>& all, std::size_t self) {
    return Balia::increase_per_ack({all, self});
}
double balia_decrease(const std::vector<Sibling>& all, std::size_t self, bool kernel_int = false) {
    return Balia::decrease(all[self].cwnd_pkts, {all, self}, kernel_int);
}

TEST(Lia, MatchesVectors) {
    // V1: max w/rtt^2 = 10 / 0.0025 = 4000; 4000 / 122500 = 0.03265306 on both
    EXPECT_NEAR(lia(kV1, 0), 4000.0 / 122500, 1e-12);
    EXPECT_NEAR(lia(kV1, 1), 0.03265306, 5e-9);
    // V2: max w/rtt^2 = 2000; 2000 / 202500 = 0.009876543 on all
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(lia(kV2, i), 0.009876543, 5e-10);
    // V3: max w/rtt^2 = 10000; 10000 / 90000 = 0.1111111, capped by NewReno at 1/4 and 1/40
    EXPECT_NEAR(lia(kV3, 0), 0.1111111, 5e-8);
    EXPECT_EQ(lia(kV3, 1), 0.025);
}

TEST(Ewtcp, MatchesVectorsAndOffersOtherWeights) {
    // V1: a = 1/4: 0.25 / 10 and 0.25 / 30. V2: a = 1/9: 1/180, 1/180, 1/45
    EXPECT_NEAR(ewtcp(kV1, 0), 0.025, 1e-15);
    EXPECT_NEAR(ewtcp(kV1, 1), 0.008333333, 5e-10);
    EXPECT_NEAR(ewtcp(kV2, 0), 0.005555556, 5e-10);
    EXPECT_NEAR(ewtcp(kV2, 2), 0.02222222, 5e-9);
    // a = 1/2 and 1/sqrt(2) = 0.7071068 on w = 10
    EXPECT_NEAR(ewtcp(kV1, 0, Ewtcp::Weight::Inverse), 0.05, 1e-15);
    EXPECT_NEAR(ewtcp(kV1, 0, Ewtcp::Weight::InverseRoot), 0.07071068, 5e-9);
}

TEST(Olia, MatchesVectors) {
    // V1: first term (w_r/rtt_r^2) / S^2: 4000 / 122500 and 750 / 122500. l/rtt^2 = (500/0.0025, 3000/0.04) =
    // (200000, 75000): the best is the first, the largest window the second: alpha = +1/(2 * 1) and -1/(2 * 1), that is
    // +0.5/10 and -0.5/30.
    EXPECT_NEAR(olia(kV1, 0), 0.08265306, 5e-9);
    EXPECT_NEAR(olia(kV1, 1), -0.01054422, 5e-9);
    // V2: l/rtt^2: B = {2, 3}; M = {1, 2}; B \ M = {3}: alpha = (-1/6, -1/6, 1/3). First term 2000 / 202500 and
    // 500 / 202500; 0.009876543 - 1/120 = 0.001543210, 0.002469136 + 1/15 = 0.06913580.
    EXPECT_NEAR(olia(kV2, 0), 0.001543210, 5e-10);
    EXPECT_NEAR(olia(kV2, 1), 0.001543210, 5e-10);
    EXPECT_NEAR(olia(kV2, 2), 0.06913580, 5e-9);
}

TEST(Olia, RanksPathsAsThePaperOrTheDraftDoes) {
    // l = (500, 3000), rtt = (0.05, 0.2): l^2/rtt = (5e6, 45e6), so the draft's best path is the second, which already
    // has the largest window: alpha = 0. By l/rtt^2 the best is the first (above).
    EXPECT_EQ(Olia::alpha({kV1, 0}, Olia::Rank::Draft), 0);
    EXPECT_EQ(Olia::alpha({kV1, 1}, Olia::Rank::Draft), 0);
    EXPECT_EQ(Olia::alpha({kV1, 0}, Olia::Rank::Paper), 0.5);
}

TEST(Olia, TakesTheLongerOfTheLastTwoLossIntervals) {
    // l = max(l1, l2): the first path's last interval of 2000 counts although only 3 packets followed. Both at rtt 0.1.
    std::vector<Sibling> all{path(10, 0.1, 3), path(30, 0.1, 900)};
    all[0].acked_between_losses_pkts = 2000;
    EXPECT_EQ(Olia::alpha({all, 0}, Olia::Rank::Paper), 0.5);
    EXPECT_EQ(Olia::alpha({all, 1}, Olia::Rank::Paper), -0.5);
}

TEST(Olia, ComparesWindowsAsWholePacketsAndForgivesNearlyEqualRanks) {
    // 20.9 and 20.1 are both 20: each path is best (within a thousandth) and largest, so alpha is 0.
    const std::vector<Sibling> all{path(20.9, 0.1, 10000), path(20.1, 0.1, 10001)};
    EXPECT_EQ(Olia::alpha({all, 0}, Olia::Rank::Paper), 0);
    EXPECT_EQ(Olia::alpha({all, 1}, Olia::Rank::Paper), 0);
    // 21.0 is not 20, and the other rank is as good: it gains as much as the larger window loses
    const std::vector<Sibling> uneven{path(21, 0.1, 10000), path(20.1, 0.1, 9999)};
    EXPECT_EQ(Olia::alpha({uneven, 0}, Olia::Rank::Paper), -0.5);
    EXPECT_EQ(Olia::alpha({uneven, 1}, Olia::Rank::Paper), 0.5);
}

TEST(Olia, NeverLeavesLessThanOnePacket) {
    // alpha = -1/2 at w = 1 would remove half a packet per ACK: the poor path has the largest window.
    const std::vector<Sibling> all{path(1.2, 0.1, 10), path(1.2, 0.1, 10), path(0.9, 0.001, 900)};
    Window window{1.2, 1};
    Olia(Options(Olia::kInfo, {})).on_ack(window, {.acked_pkts = 10}, {all, 0});
    EXPECT_EQ(window.cwnd_pkts, 1);
}

TEST(Balia, MatchesVectors) {
    // V1: alpha = (200/200, 200/150) = (1, 4/3). Increase (x_r/rtt_r) / S^2 (1+a)/2 (4+a)/5: 4000/122500 * 1 * 1;
    // 750/122500 * 7/6 * 16/15 = 0.007619048. Decrease w/2 min(a, 1.5): 5 and 30/2 * 4/3 = 20.
    EXPECT_EQ(Balia::alpha({kV1, 0}), 1);
    EXPECT_NEAR(Balia::alpha({kV1, 1}), 1.3333333, 5e-8);
    EXPECT_NEAR(balia(kV1, 0), 0.03265306, 5e-9);
    EXPECT_NEAR(balia(kV1, 1), 0.007619048, 5e-10);
    EXPECT_NEAR(balia_decrease(kV1, 0), 5, 1e-12);
    EXPECT_NEAR(balia_decrease(kV1, 1), 20, 1e-12);
    // V2: alpha = (1, 1, 4): 2000/202500 on the first two, 500/202500 * 5/2 * 8/5 = the same; decreases 10, 10, 3.75
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(balia(kV2, i), 0.009876543, 5e-10);
    EXPECT_NEAR(balia_decrease(kV2, 1), 10, 1e-12);
    EXPECT_NEAR(balia_decrease(kV2, 2), 3.75, 1e-12);
}

TEST(Balia, DecreasesAsTheKernelsIntegersDoIfAsked) {
    // V1: alpha 4/3 divides to 1: 30/2. V2: alpha 4 stays 4, capped at 1.5: 5/2 * 1.5
    EXPECT_EQ(balia_decrease(kV1, 1, true), 15);
    EXPECT_EQ(balia_decrease(kV2, 2, true), 3.75);
    Balia balia(Options(Balia::kInfo, std::array{OptionValue{"kernel_int", true}}));
    Window window{30, 10};
    balia.on_congestion_event(window, {CongestionKind::FastRetransmit, 30, {}}, {kV1, 1});
    EXPECT_EQ(window.ssthresh_pkts, 15);
}

TEST(Balia, HalvesTheFlightSizeOnATimeout) {
    Balia balia(Options(Balia::kInfo, {}));
    Window window{30, 10};
    balia.on_congestion_event(window, {CongestionKind::Timeout, 12, {}}, {kV1, 1});
    EXPECT_EQ(window.ssthresh_pkts, 6);
}

TEST(Coupled, GrowsHalfAsFastByAcksOfTwoPackets) {
    // An ACK of two packets gives two increases, or one. Slow start counts packets either way.
    const std::vector<Sibling>& all = kV1;
    const auto acknowledge = [&](std::string_view name, std::string_view counting, Window window, Siblings siblings) {
        Controller controller = make_controller({std::string(name), {{"counting", std::string(counting)}}});
        Reason why;
        const double before = window.cwnd_pkts;
        std::visit(
            [&](auto& c) {
                if constexpr (GrowsPerAck<std::decay_t<decltype(c)>>)
                    c.on_ack(window, {.acked_pkts = 2, .why = &why}, siblings);
            },
            controller);
        return std::pair(window.cwnd_pkts - before, why.numbers[0]);
    };
    for (const std::string_view name : {"lia", "olia", "balia"}) {
        for (const Siblings siblings : {Siblings{all, 0}, Siblings{}}) {
            const auto [by_packets, packets] = acknowledge(name, "packets", {10, 5}, siblings);
            const auto [by_acks, acks] = acknowledge(name, "acks", {10, 5}, siblings);
            EXPECT_NEAR(by_acks, by_packets / 2, 1e-12) << name;
            EXPECT_GT(by_acks, 0) << name;
            EXPECT_EQ(packets, 2) << name;
            EXPECT_EQ(acks, 1) << name;
        }
        EXPECT_EQ(acknowledge(name, "acks", {10, 40}, {all, 0}).first, 2) << name;
    }
}

TEST(Coupled, MayFallToOnePacketWhereNewRenoKeepsTwo) {
    const std::vector<Sibling> all{path(1.5, 0.1, 1), path(20, 0.1, 900)};
    for (const std::string_view name : {"olia", "balia"}) {
        Controller controller = make_controller({std::string(name), {}});
        const CongestionEvent event{CongestionKind::FastRetransmit, 1, {}};
        Window window{1.5, 1};
        std::visit([&](auto& c) { c.on_congestion_event(window, event, {all, 0}); }, controller);
        EXPECT_EQ(window.ssthresh_pkts, 1) << name;
        std::visit([&](auto& c) { c.on_congestion_event(window, event, {}); }, controller);
        EXPECT_EQ(window.ssthresh_pkts, 2) << name;
    }
}

// Random connections of 2 to 8 subflows; the generator is the standard's, the distributions are our own.
class RandomConnections : public ::testing::Test {
protected:
    static constexpr int kCount = 2000;
    std::mt19937_64 random{7};

    double between(double low, double high) {
        return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
    }
    std::vector<Sibling> connection() {
        std::vector<Sibling> all(2 + random() % 7);
        // Windows repeat often, so that OLIA's sets have several members.
        for (Sibling& s : all) {
            s = path(std::floor(between(1, 12)) + 0.25, between(0.001, 1), std::floor(between(0, 1000)));
            s.acked_between_losses_pkts = std::floor(between(0, 1000));
        }
        return all;
    }
};

TEST_F(RandomConnections, OliasAlphasSumToNothing) {
    for (int i = 0; i < kCount; ++i) {
        const std::vector<Sibling> all = connection();
        double sum = 0;
        for (std::size_t k = 0; k < all.size(); ++k) sum += Olia::alpha({all, k}, Olia::Rank::Paper);
        ASSERT_NEAR(sum, 0, 1e-9);
    }
}

TEST_F(RandomConnections, NoIncreaseExceedsNewRenos) {
    for (int i = 0; i < kCount; ++i) {
        const std::vector<Sibling> all = connection();
        for (std::size_t k = 0; k < all.size(); ++k) {
            const double reno = 1 / all[k].cwnd_pkts;
            ASSERT_LE(lia(all, k), reno);
            ASSERT_LE(balia(all, k), reno * (1 + 1e-9));
            ASSERT_LE(Olia::coupled_increase({all, k}), reno * (1 + 1e-9));
            ASSERT_LE(ewtcp(all, k), reno);
        }
    }
}

TEST_F(RandomConnections, IncreasesDoNotDependOnTheUnitOfTheRtts) {
    for (int i = 0; i < kCount; ++i) {
        const std::vector<Sibling> all = connection();
        std::vector<Sibling> scaled = all;
        for (Sibling& s : scaled) s.srtt_s *= 3.7;
        for (std::size_t k = 0; k < all.size(); ++k) {
            ASSERT_NEAR(lia(scaled, k), lia(all, k), 1e-9);
            ASSERT_NEAR(balia(scaled, k), balia(all, k), 1e-9);
            ASSERT_NEAR(olia(scaled, k), olia(all, k), 1e-9);
            ASSERT_NEAR(olia(scaled, k, Olia::Rank::Draft), olia(all, k, Olia::Rank::Draft), 1e-9);
        }
    }
}

TEST_F(RandomConnections, PermutedSubflowsHavePermutedIncreases) {
    for (int i = 0; i < kCount; ++i) {
        const std::vector<Sibling> all = connection();
        std::vector<Sibling> rotated = all;
        std::rotate(rotated.begin(), rotated.begin() + 1, rotated.end());
        for (std::size_t k = 0; k < all.size(); ++k) {
            const std::size_t there = (k + all.size() - 1) % all.size();
            ASSERT_NEAR(lia(rotated, there), lia(all, k), 1e-9);
            ASSERT_NEAR(ewtcp(rotated, there), ewtcp(all, k), 1e-9);
            ASSERT_NEAR(olia(rotated, there), olia(all, k), 1e-9);
            ASSERT_NEAR(balia(rotated, there), balia(all, k), 1e-9);
            ASSERT_NEAR(balia_decrease(rotated, there), balia_decrease(all, k), 1e-9);
        }
    }
}

TEST_F(RandomConnections, BaliasDecreaseIsFromAHalfToThreeQuarters) {
    for (int i = 0; i < kCount; ++i) {
        const std::vector<Sibling> all = connection();
        for (std::size_t k = 0; k < all.size(); ++k) {
            for (const bool kernel_int : {false, true}) {
                const double share = balia_decrease(all, k, kernel_int) / all[k].cwnd_pkts;
                ASSERT_GE(share, 0.5);
                ASSERT_LE(share, 0.75);
            }
        }
    }
}

TEST_F(RandomConnections, BaliaIsTheKernelsStepOfOnePacketPerAiAcks) {
    // ai = 10 w_r S^2 / ((x_r + x_max) (4 x_r + x_max)): one packet more every ai packets acknowledged
    for (int i = 0; i < kCount; ++i) {
        const std::vector<Sibling> all = connection();
        double total = 0;
        double fastest = 0;
        for (const Sibling& s : all) {
            total += s.cwnd_pkts / s.srtt_s;
            fastest = std::max(fastest, s.cwnd_pkts / s.srtt_s);
        }
        for (std::size_t k = 0; k < all.size(); ++k) {
            const double own = all[k].cwnd_pkts / all[k].srtt_s;
            const double ai = 10 * all[k].cwnd_pkts * total * total / ((own + fastest) * (4 * own + fastest));
            ASSERT_NEAR(balia(all, k) * ai, 1, 1e-9);
        }
    }
}

TEST_F(RandomConnections, EqualSubflowsEachGrowByAnNSquaredth) {
    // n equal subflows: LIA, OLIA and BALIA all give 1 / (n^2 w), EWTCP's a / w
    for (std::size_t n = 2; n <= 32; ++n) {
        const std::vector<Sibling> all(n, path(17, 0.08, 100));
        const double expected = 1 / (17.0 * static_cast<double>(n * n));
        EXPECT_NEAR(lia(all, n - 1), expected, 1e-9);
        EXPECT_NEAR(olia(all, n - 1), expected, 1e-9);
        EXPECT_NEAR(balia(all, n - 1), expected, 1e-9);
        EXPECT_NEAR(ewtcp(all, n - 1), expected, 1e-9);
    }
}

// One subflow: the same windows as NewReno to the last bit, over a script of ACKs, losses and timeouts.
TEST(Coupled, WithOneSubflowIsNewRenoToTheLastBit) {
    for (const std::string_view name : {"lia", "olia", "balia", "ewtcp", "uncoupled"}) {
        Controller controller = make_controller({std::string(name), {}});
        NewReno reno(Options(NewReno::kInfo, {}));
        Window window{10, kInfiniteSsthresh};
        Window expected = window;
        std::mt19937_64 random{11};
        for (int i = 0; i < 20000; ++i) {
            // Only the own entry, or not even that before the first RTT sample
            const std::array<Sibling, 1> own{path(window.cwnd_pkts, 0.1, i)};
            const Siblings siblings = i % 3 == 0 ? Siblings{} : Siblings{own, 0};
            const std::uint64_t luck = random() % 500;
            if (luck == 0) {
                const bool is_timeout = random() % 4 == 0;
                const CongestionEvent event{is_timeout ? CongestionKind::Timeout : CongestionKind::FastRetransmit,
                                            std::floor(window.cwnd_pkts * 0.75),
                                            {}};
                std::visit([&](auto& c) { c.on_congestion_event(window, event, siblings); }, controller);
                reno.on_congestion_event(expected, event, {});
                window.cwnd_pkts = is_timeout ? 1 : window.ssthresh_pkts;
                expected.cwnd_pkts = is_timeout ? 1 : expected.ssthresh_pkts;
            } else {
                const AckSample ack{.acked_pkts = static_cast<double>(1 + luck % 3)};
                std::visit(
                    [&]<class C>(C& c) {
                        if constexpr (GrowsPerAck<C>) c.on_ack(window, ack, siblings);
                    },
                    controller);
                reno.on_ack(expected, ack, {});
            }
            ASSERT_EQ(window.cwnd_pkts, expected.cwnd_pkts) << name << " after step " << i;
            ASSERT_EQ(window.ssthresh_pkts, expected.ssthresh_pkts) << name << " after step " << i;
        }
    }
}

}  // namespace
}  // namespace subflow
