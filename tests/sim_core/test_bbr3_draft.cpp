// BBR version 3 against the pseudocode of its draft: with the same input, both have the same state, window and rate
// after each step.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "bbr3_draft.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace literals;

using Draft = testing::Bbr3Draft;
using testing::kInfinity;

// Both implementations, and a random path that gives them acknowledgements, losses and pauses.
class Pair {
public:
    explicit Pair(std::uint64_t seed) : random_(seed * 7919 + 1) {
        draft_.OnInit(10, seed);
        bbr_.on_start(window_, seed);
        // Some paths lose too much before the sender finds the rate.
        is_app_limited_ = seed % 2 == 0;
        if (is_app_limited_) loss_ = 0.4;
    }

    void run(int steps) {
        for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) step();
    }
    std::map<Draft::State, int> visits;
    int loss_exits = 0, cuts = 0, early_ends = 0, undone = 0, idle = 0;

private:
    void step() {
        if (random_.below(400) == 0) change_path();
        draft_.in_recovery = draft_.in_fast_recovery = recovering_ > 0 && !is_timeout_;
        draft_.in_recovery |= recovering_ > 0;
        const double now_before = to_seconds(now_);
        // Never at the boundary of an interval, where nanoseconds and the draft's seconds may differ.
        now_ += from_seconds(std::max(1.0, acked_) / rate_) + Nanos(1 + random_.below(1000));
        if (random_.below(3000) == 0) pause();
        draft_.now = to_seconds(now_);
        acked_ = 1 + random_.below(3);
        delivered_ += static_cast<std::uint64_t>(acked_);
        draft_.delivered = static_cast<double>(delivered_);

        const double in_flight = std::max(std::floor(std::min(window_.cwnd_pkts, aimed_)), acked_);
        int lost = 0;
        if (random_.uniform() < loss_) lost = 1 + static_cast<int>(random_.below(3));
        const bool is_limited = is_app_limited_ || random_.below(200) == 0;
        for (int k = 0; k < lost; ++k) lose(in_flight, is_limited);
        if (lost > 0 && recovering_ == 0) {
            // The transport's part: the controller learns of a recovery after the losses.
            is_timeout_ = random_.below(6) == 0;
            recovering_ = is_timeout_ ? 20 : 120;
            const CongestionKind kind = is_timeout_ ? CongestionKind::Timeout : CongestionKind::FastRetransmit;
            bbr_.on_congestion_event(window_, {kind, in_flight, now_}, {});
            draft_.SaveCwnd();
            if (is_timeout_) {
                draft_.SaveStateUponLoss();
                window_.cwnd_pkts = draft_.cwnd = 1;
            }
        } else if (recovering_ > 0 && --recovering_ == 0) {
            if (random_.below(3) == 0) {
                ++undone;
                const Draft::State before = draft_.state;
                bbr_.on_undo(window_);
                // The draft's C.delivered is that of the previous acknowledgement: it declares the losses spurious
                // first.
                draft_.delivered = static_cast<double>(told_);
                draft_.HandleSpuriousLossDetection();
                draft_.delivered = static_cast<double>(delivered_);
                if (before != draft_.state) ++visits[draft_.state];
            }
        }
        const bool is_recovering = recovering_ > 0;
        if (draft_.in_recovery && !is_recovering) draft_.RestoreCwnd();
        draft_.in_recovery = is_recovering;
        draft_.in_fast_recovery = is_recovering && !is_timeout_;

        DeliverySample sample;
        sample.now = now_;
        sample.rtt = Nanos(static_cast<std::int64_t>(rtt_s_ * (1 + 0.5 * random_.uniform()) * 1e9));
        sample.srtt = sample.rtt;
        sample.newly_delivered_pkts = acked_;
        sample.newly_lost_pkts = lost;
        sample.inflight_pkts = std::max(0.0, in_flight - acked_ - lost);
        sample.prior_inflight_pkts = in_flight;
        sample.delivered_pkts = delivered_;
        const auto back = static_cast<std::uint64_t>(in_flight);
        sample.prior_delivered_pkts = delivered_ > back ? delivered_ - back : 0;
        sample.inflight_at_send_pkts = in_flight;
        recent_lost_ = 0.98 * recent_lost_ + lost;
        sample.lost_since_send_pkts = std::floor(recent_lost_);
        const double count = static_cast<double>(sample.delivered_pkts - sample.prior_delivered_pkts);
        if (random_.below(50) != 0) sample.interval = from_seconds(count / (rate_ * (0.7 + 0.3 * random_.uniform())));
        sample.is_app_limited = is_limited;
        sample.is_cwnd_limited = !is_limited && aimed_ >= window_.cwnd_pkts;
        sample.in_recovery = is_recovering && !is_timeout_;
        sample.in_loss = is_recovering && is_timeout_;
        tell(sample);
        told_ = delivered_;
        ASSERT_GT(draft_.now, now_before);
    }

    void lose(double in_flight, bool is_limited) {
        seq_ += 1 + random_.below(2);
        const double lost = std::floor(recent_lost_) + 1;
        const bool was_up = draft_.state == Draft::ProbeBW_UP;
        const std::uint64_t prior = delivered_ - std::min(delivered_, static_cast<std::uint64_t>(in_flight));
        bbr_.on_lost(window_, {.now = now_,
                               .seq = seq_,
                               .delivered_pkts = delivered_,
                               .prior_delivered_pkts = prior,
                               .inflight_at_send_pkts = in_flight,
                               .lost_since_send_pkts = lost,
                               .is_app_limited = is_limited});
        draft_.HandleLostPacket(seq_, in_flight, lost, is_limited || was_cut(static_cast<double>(prior)));
        cuts += was_up && draft_.state == Draft::ProbeBW_DOWN;
    }

    bool was_cut(double prior) const { return prior >= draft_.limited_from && prior <= draft_.limited_until; }

    void tell(const DeliverySample& sample) {
        const bool had_filled = draft_.full_bw_reached;
        const bool had_stopped = draft_.prev_probe_precautionary;
        const Draft::State before = draft_.state;
        const double prior = static_cast<double>(sample.prior_delivered_pkts);
        draft_.inflight = sample.inflight_pkts;
        draft_.is_cwnd_limited = sample.is_cwnd_limited;
        draft_.RS = {.delivery_rate = sample.has_rate() ? sample.rate_pps() : 0,
                     .delivered = static_cast<double>(sample.delivered_pkts) - prior,
                     .prior_delivered = prior,
                     .newly_acked = sample.newly_delivered_pkts,
                     .tx_in_flight = sample.inflight_at_send_pkts,
                     .lost = sample.lost_since_send_pkts,
                     .rtt = to_seconds(sample.rtt),
                     .is_app_limited = sample.is_app_limited || was_cut(prior)};
        draft_.UpdateOnACK(to_seconds(sample.srtt));
        bbr_.on_delivery(window_, sample, {});
        if (before != draft_.state) ++visits[draft_.state];
        loss_exits += !had_filled && draft_.full_bw_reached && draft_.undo_state == Draft::Startup;
        early_ends += !had_stopped && draft_.prev_probe_precautionary;
        compare();
    }

    void compare() const {
        ASSERT_EQ(static_cast<int>(bbr_.state()), static_cast<int>(draft_.state)) << draft_.now;
        ASSERT_NEAR(window_.cwnd_pkts, draft_.cwnd, 1e-6 * draft_.cwnd) << draft_.now;
        ASSERT_NEAR(window_.pacing_pps, draft_.pacing_rate, 1e-6 * draft_.pacing_rate) << draft_.now;
        ASSERT_NEAR(bbr_.rate_pps(), draft_.max_bw, 1e-6 * draft_.max_bw) << draft_.now;
        ASSERT_NEAR(bbr_.bw_pps(), draft_.bw, 1e-6 * draft_.bw) << draft_.now;
        ASSERT_NEAR(bbr_.extra_acked_pkts(), draft_.extra_acked, 1e-3) << draft_.now;
        ASSERT_EQ(bbr_.inflight_longterm_pkts() == kInfinity, draft_.inflight_longterm == kInfinity) << draft_.now;
        if (draft_.inflight_longterm < kInfinity) {
            ASSERT_NEAR(bbr_.inflight_longterm_pkts(), draft_.inflight_longterm, 1e-3) << draft_.now;
        }
        ASSERT_EQ(bbr_.inflight_shortterm_pkts() == kInfinity, draft_.inflight_shortterm == kInfinity) << draft_.now;
        if (draft_.inflight_shortterm < kInfinity) {
            ASSERT_NEAR(bbr_.inflight_shortterm_pkts(), draft_.inflight_shortterm, 1e-3) << draft_.now;
        }
    }

    void pause() {
        now_ += from_seconds(6 * random_.uniform());
        draft_.now = to_seconds(now_);
        ++idle;
        draft_.HandleRestartFromIdle();
        bbr_.on_idle_restart(window_, now_, nullptr);
        compare();
    }
    void change_path() {
        constexpr std::array losses{0.0, 0.0, 0.002, 0.05, 0.4};
        constexpr std::array rates{200.0, 1000.0, 1500.0, 20'000.0};
        loss_ = losses[random_.below(losses.size())];
        if (random_.below(4) == 0) rate_ = rates[random_.below(rates.size())];
        if (random_.below(8) == 0) rtt_s_ = 0.01 + 0.1 * random_.uniform();
        is_app_limited_ = random_.below(8) == 0;
        aimed_ = rate_ * rtt_s_ * (0.5 + 2.5 * random_.uniform());
    }

    Draws random_;
    Draft draft_;
    Bbr3 bbr_{Options(Bbr3::kInfo, {})};
    Window window_{.cwnd_pkts = 10};
    Nanos now_ = 7_s;  // subflows begin at any time
    std::uint64_t delivered_ = 0;
    std::uint64_t told_ = 0;
    std::uint32_t seq_ = 0;
    double acked_ = 1;
    double rate_ = 1000;
    double rtt_s_ = 0.05;
    double loss_ = 0;
    double aimed_ = 200;
    double recent_lost_ = 0;
    int recovering_ = 0;
    bool is_timeout_ = false;
    bool is_app_limited_ = false;
};

TEST(Bbr3Draft, EachStepIsThatOfThePseudocode) {
    std::map<Draft::State, int> visits;
    int loss_exits = 0, cuts = 0, early_ends = 0, undone = 0, idle = 0;
    for (std::uint64_t seed = 1; seed <= 150 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Pair pair(seed);
        pair.run(4'000);
        for (const auto& [state, count] : pair.visits) visits[state] += count;
        loss_exits += pair.loss_exits;
        cuts += pair.cuts;
        early_ends += pair.early_ends;
        undone += pair.undone;
        idle += pair.idle;
    }
    // The test has visited every state often.
    for (int state = Draft::Startup; state <= Draft::ProbeRTT; ++state)
        EXPECT_GE(visits[static_cast<Draft::State>(state)], state == Draft::Startup ? 2 : 50) << state;
    EXPECT_GE(loss_exits, 5);
    EXPECT_GE(cuts, 50);
    EXPECT_GE(early_ends, 20);
    EXPECT_GE(undone, 50);
    EXPECT_GE(idle, 50);
}

}  // namespace
}  // namespace subflow
