// Goodput-proportional batches: distributes the free windows in one batch, with a contiguous part per subflow in
// proportion to its recent delivery rate.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "../cc/power.h"
#include "../memory.h"
#include "min_rtt.h"

namespace subflow {

class GoodputBatches {
public:
    static constexpr RuleInfo kBatch{
        .name = "batch",
        .formula =
            "the subflow's part of a batch, all of it before the next one's: min(free window, batch_pkts * "
            "theta / sum of theta); left_pkts of it are yet to be sent",
        .source = "Pokhrel, Walid (DQL-MPTCP), IEEE TMC 2021",
        .numbers = {{"theta_pps", "recent delivery rate of the subflow"},
                    {"theta_sum_pps", "sum of those rates over all subflows"},
                    {"batch_pkts", "packets that are allotted at once"},
                    {"part_pkts", "this subflow's packets of the batch"},
                    {"left_pkts", "packets of its share not yet sent"}},
    };
    static constexpr RuleInfo kWaitForSlot{
        .name = "wait_for_slot",
        .formula = "send nothing: the batch has been handed out, and the next is due at the end of the slot",
        .source = "Pokhrel, Walid (DQL-MPTCP), IEEE TMC 2021",
        .numbers = {{"slot_left_s", "time until the slot ends"}},
    };
    static constexpr std::array<std::string_view, 2> kRests{"fill", "wait"};
    static constexpr std::array kRules{&kBatch, &kWaitForSlot, &MinRtt::kLowestRtt};
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "theta_weight",
            .kind = OptionKind::Ratio,
            .help = "Weight of the latest round trip in a subflow's delivery rate.",
            .default_number = 0.125,
            .minimum = 0.001,
            .maximum = 1,
        },
        OptionInfo{
            .key = "slot",
            .kind = OptionKind::Number,
            .help = "Length of a slot, in which one batch is sent, in round trips of the fastest subflow; 0: the "
                    "next batch begins as soon as a cwnd has room.",
            .default_number = 0.25,
            .minimum = 0,
            .maximum = 100,
        },
        OptionInfo{
            .key = "rest",
            .kind = OptionKind::Choice,
            .help = "Free windows beyond a subflow's share of the batch. fill: the batch fills all of them; wait: the "
                    "batch is only as large as the shares of all subflows allow, as in the paper, and the rest waits.",
            .default_choice = kRests[0],
            .choices = kRests,
        },
    };
    static constexpr AlgorithmInfo kInfo{
        .name = "goodput",
        .summary = "Batches in proportion to the rates at which the subflows deliver, in order of arrival",
        .source = "Pokhrel, Walid (DQL-MPTCP), IEEE TMC 2021",
        .options = kOptions,
        .rules = kRules,
    };

    // A subflow's part of a batch.
    struct Part {
        double theta_pps = 0;  // recent delivery rate
        double free_pkts = 0;  // free window
        double pkts = 0;       // size of the part
        double owed_pkts = 0;  // share of earlier batches that rounding and full windows have left out
    };

    explicit GoodputBatches(const Options& options)
        : weight_(options.number("theta_weight")),
          slot_rtts_(options.number("slot")),
          rest_waits_(options.choice("rest") == kRests[1]) {}

    std::optional<std::size_t> select(std::span<const Candidate> subflows, const SendMoment& moment) {
        follow_rates(subflows, moment.now);
        // Reinjections belong to no batch.
        if (moment.is_reinjection) {
            const std::optional<std::size_t> best = MinRtt::fastest_available(subflows);
            if (moment.why != nullptr && best) MinRtt::explain(*moment.why, subflows, *best);
            return best;
        }
        std::optional<std::size_t> next = next_in_batch(subflows);
        if (!next) {
            // Waiting requires packets in flight: without an ACK, no event would wake the sender at the end of the
            // slot.
            const bool is_under_way = std::ranges::any_of(
                subflows, [](const Candidate& c) { return c.is_usable && c.inflight_pkts + c.queued_pkts > 0; });
            if (moment.now < slot_end_ && is_under_way) {
                if (moment.why != nullptr) moment.why->set(kWaitForSlot, {to_seconds(slot_end_ - moment.now)});
                return std::nullopt;
            }
            begin_batch(subflows, moment);
            next = next_in_batch(subflows);
        }
        if (!next) return std::nullopt;
        Part& part = parts_[*next];
        if (moment.why != nullptr)
            moment.why->set(kBatch, {part.theta_pps, theta_sum(parts_), batch_pkts_, part.pkts, left_[*next]});
        left_[*next] -= 1;
        return next;
    }

    double theta_pps(std::size_t position) const { return rates_[position].theta_pps; }

    // Splits a batch: n = round(N theta / sum of theta + owed), at most the free window, the largest theta first. The
    // remaining packets then fill the free windows in the same order. Subflows without room have theta 0.
    // Source: DQL-MPTCP, batch scheduling
    static void share_out(std::span<Part> parts, double batch_pkts) {
        std::array<std::size_t, kMaxSubflows> positions;
        const std::span order = std::span(positions).first(parts.size());
        sort_positions(order, [&](std::size_t a, std::size_t b) { return parts[a].theta_pps > parts[b].theta_pps; });
        const double sum = theta_sum(parts);
        double left = batch_pkts;
        for (const std::size_t i : order) {
            const double share = sum > 0 ? parts[i].theta_pps / sum : 1 / static_cast<double>(parts.size());
            const double due = std::max(std::round(batch_pkts * share + parts[i].owed_pkts), 0.0);
            parts[i].pkts = std::min({due, parts[i].free_pkts, left});
            left -= parts[i].pkts;
        }
        for (const std::size_t i : order) {
            const double more = std::min(left, parts[i].free_pkts - parts[i].pkts);
            parts[i].pkts += more;
            left -= more;
        }
    }

    // The largest batch in which the part of every subflow fits into its free window; at least one packet, so that the
    // connection always makes progress.
    static double batch_within_shares(std::span<const Part> parts) {
        const double sum = theta_sum(parts);
        double most = std::numeric_limits<double>::infinity();
        for (const Part& part : parts) {
            if (part.theta_pps == 0) continue;
            const double room = part.free_pkts + 0.5 - part.owed_pkts;
            most = std::min(most, std::ceil(room * sum / part.theta_pps) - 1);
        }
        return std::max(most, 1.0);
    }

    // The new average rate after a round trip of `elapsed` that delivered `delivered_pkts`.
    static double averaged(double theta_pps, double delivered_pkts, Nanos elapsed, double weight) {
        return theta_pps + weight * (delivered_pkts / to_seconds(elapsed) - theta_pps);
    }

    std::size_t heap_bytes() const { return heap_bytes_of(rates_, parts_, left_, owed_, order_); }

private:
    struct Rate {
        double theta_pps = 0;  // 0: unknown so far
        double initial_pkts = 0;
        double delivered_pkts = 0;  // packets delivered by the time `since`
        Nanos since{};
        std::uint8_t incarnation = 0;
        bool is_followed = false;
    };

    // Sorts positions by `before`, and ties by position. Unlike stable_sort, it does not allocate.
    template <class Before>
    static void sort_positions(std::span<std::size_t> positions, Before&& before) {
        std::iota(positions.begin(), positions.end(), std::size_t{0});
        std::ranges::sort(positions,
                          [&](std::size_t a, std::size_t b) { return before(a, b) || (!before(b, a) && a < b); });
    }

    static double theta_sum(std::span<const Part> parts) {
        double sum = 0;
        for (const Part& part : parts) sum += part.theta_pps;
        return sum;
    }

    // theta: packets delivered per round trip, divided by that time; at first the initial window over the first RTT.
    void follow_rates(std::span<const Candidate> subflows, Nanos now) {
        rates_.resize(subflows.size());
        for (std::size_t i = 0; i < subflows.size(); ++i) {
            const Candidate& c = subflows[i];
            Rate& rate = rates_[i];
            if (!rate.is_followed || rate.incarnation != c.incarnation)
                rate = {.initial_pkts = c.cwnd_pkts, .since = now, .incarnation = c.incarnation, .is_followed = true};
            if (c.srtt <= Nanos(0)) continue;
            if (rate.theta_pps == 0) {
                rate.theta_pps = rate.initial_pkts / to_seconds(c.srtt);
                rate.since = now;
                rate.delivered_pkts = c.delivered_pkts;
            }
            if (now - rate.since < c.srtt) continue;
            // An idle period contains no information about the rate of the path.
            const double delivered = c.delivered_pkts - rate.delivered_pkts;
            if (delivered > 0 || c.inflight_pkts > 0)
                rate.theta_pps = averaged(rate.theta_pps, delivered, now - rate.since, weight_);
            rate.since = now;
            rate.delivered_pkts = c.delivered_pkts;
        }
    }

    void begin_batch(std::span<const Candidate> subflows, const SendMoment& moment) {
        parts_.assign(subflows.size(), {});
        owed_.resize(subflows.size());
        double free_pkts = 0;
        Nanos shortest = kNever;
        for (std::size_t i = 0; i < subflows.size(); ++i) {
            const Candidate& c = subflows[i];
            if (c.is_usable && c.srtt > Nanos(0)) shortest = std::min(shortest, c.srtt);
            if (c.is_available)
                parts_[i].free_pkts = std::max(1.0, std::floor(c.cwnd_pkts) - c.inflight_pkts - c.queued_pkts);
            // If the rest waits, a subflow whose window is full holds back the others.
            if (!c.is_available && !(rest_waits_ && c.is_usable)) continue;
            // softmax(z + ln theta), with an agent's logits z: shares in proportion to e^z theta. Source: DQL-MPTCP
            parts_[i].theta_pps = rates_[i].theta_pps * (c.logit == 0 ? 1 : exponential(c.logit));
            free_pkts += parts_[i].free_pkts;
        }
        assume_unknown_rates();
        if (rest_waits_) {
            for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i].owed_pkts = owed_[i];
            free_pkts = std::min(free_pkts, batch_within_shares(parts_));
        }
        batch_pkts_ = std::min({free_pkts, moment.unsent_pkts, moment.window_pkts - moment.outstanding_pkts});
        share_out(parts_, batch_pkts_);
        if (rest_waits_) note_owed();
        left_.resize(parts_.size());
        for (std::size_t i = 0; i < parts_.size(); ++i) left_[i] = parts_[i].pkts;
        order_by_arrival(subflows);
        slot_end_ = moment.now;
        if (shortest < kNever)
            slot_end_ += Nanos(static_cast<std::int64_t>(slot_rtts_ * static_cast<double>(shortest.value)));
    }

    // Without this, small batches would round small shares to nothing each time. A subflow is owed at most a packet: a
    // window that was full for long does not make up for it.
    void note_owed() {
        const double sum = theta_sum(parts_);
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            const Part& part = parts_[i];
            const double share = sum > 0 ? part.theta_pps / sum : 0;
            owed_[i] = std::clamp(part.owed_pkts + batch_pkts_ * share - part.pkts, -1.0, 1.0);
        }
    }

    // A subflow without an RTT gets the average rate of the others, or 1 if no rate is known.
    void assume_unknown_rates() {
        double sum = 0;
        int known = 0;
        for (const Part& part : parts_) {
            sum += part.theta_pps;
            known += part.theta_pps > 0;
        }
        const double assumed = known > 0 ? sum / known : 1;
        for (Part& part : parts_) {
            if (part.theta_pps == 0 && part.free_pkts > 0) part.theta_pps = assumed;
        }
    }

    // Sorts the parts by arrival of their last packet: half an RTT plus the sending time.
    void order_by_arrival(std::span<const Candidate> subflows) {
        order_.resize(parts_.size());
        const auto arrival_s = [&](std::size_t i) {
            const Part& part = parts_[i];
            return to_seconds(subflows[i].srtt) / 2 + (part.pkts > 0 ? part.pkts / part.theta_pps : 0);
        };
        sort_positions(order_, [&](std::size_t a, std::size_t b) { return arrival_s(a) < arrival_s(b); });
        turn_ = 0;
    }

    // The subflow whose part is being sent; the next one if its part is complete or its window has no room. Empty at
    // the end of the batch.
    std::optional<std::size_t> next_in_batch(std::span<const Candidate> subflows) {
        for (; turn_ < order_.size(); ++turn_) {
            const std::size_t i = order_[turn_];
            if (left_[i] > 0 && subflows[i].is_available) return i;
        }
        return std::nullopt;
    }

    double weight_;
    double slot_rtts_;
    bool rest_waits_;
    double batch_pkts_ = 0;
    Nanos slot_end_{};
    std::size_t turn_ = 0;            // index in order_
    std::vector<Rate> rates_;         // rates by position, like the next three vectors
    std::vector<Part> parts_;         // parts of the current batch
    std::vector<double> left_;        // remaining packets of each part
    std::vector<double> owed_;        // Part::owed_pkts after the current batch
    std::vector<std::size_t> order_;  // sending order of the parts
};
static_assert(PacketScheduler<GoodputBatches>);

}  // namespace subflow
