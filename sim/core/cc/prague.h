// Prague: DCTCP for the Internet, in queues shared by many users (L4S). Source:
// draft-briscoe-iccrg-prague-congestion-control-04; Linux tcp_prague.c of the L4S team.
#pragma once

#include <array>
#include <optional>

#include "classic_queue.h"
#include "dctcp.h"

namespace subflow {

class Prague {
public:
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "virtual_rtt",
            .kind = OptionKind::Number,
            .help = "Paths with a shorter round-trip time, in seconds, grow and average as if they had this one; 0: "
                    "each uses its own.",
            .default_number = 0.025,
            .minimum = 0,
            .maximum = 1,
        },
        OptionInfo{
            .key = "classic_fallback",
            .kind = OptionKind::Flag,
            .help =
                "Answer a mark almost like a loss where the RTT varies as in a classic queue, so that classic flows "
                "get their share. Off by default in Linux, too.",
            .default_number = 0,
        },
    };
    static constexpr RuleInfo kIncrease{
        .name = "prague_increase",
        .formula = "cwnd + unmarked * growth / cwnd, growth = min(srtt / virtual_rtt, 1)^2",
        .computed = "cwnd = cwnd + unmarked * growth / cwnd",
        .source = "draft-briscoe-iccrg-prague-congestion-control-04 section 2.4.3",
        .numbers = {{"unmarked_pkts", "packets that this ACK acknowledged as not marked"},
                    number::kCwnd,
                    {"growth", "packets by which the cwnd grows in a round trip"}},
    };
    static constexpr RuleInfo kPacing{
        .name = "prague_pacing",
        .formula = "rate = pace * cwnd / srtt; pace is 2 below half of ssthresh, else 1",
        .computed = "rate = pace * cwnd / srtt",
        .source = "draft-briscoe-iccrg-prague-congestion-control-04 section 2.5",
        .numbers = {{"pace", "times one cwnd per round trip"}, number::kCwnd, number::kSrtt, number::kRatePps},
    };
    static constexpr RuleInfo kFallback{
        .name = "prague_classic_fallback",
        .formula =
            "ssthresh = max(cwnd * (1 - answered / 2), 2), answered = max(marked_share, 0.625 * classic): the RTT "
            "varies as in a classic queue",
        .computed = "ssthresh = max(cwnd * (1 - answered / 2), 2)",
        .source = "Linux tcp_prague.c (prague_classic_ecn_fallback)",
        .numbers = {number::kCwnd,
                    MarkedShare::kNumber,
                    {"classic", "how surely the queue is a classic one, from 0 to 1"},
                    {"answered", "share of marked packets to respond to"},
                    number::kSsthresh},
    };
    static constexpr std::array kRules{&kSlowStart,        &kIncrease,         &kPacing,
                                       &NewReno::kHalving, &Dctcp::kReduction, &kFallback};
    static constexpr AlgorithmInfo kInfo{
        .name = "prague",
        .summary =
            "Scalable on L4S queues: paced, responds to marks in proportion, and treats short paths as if "
            "they were longer",
        .source = "draft-briscoe-iccrg-prague-congestion-control-04; RFC 9331",
        .options = kOptions,
        .rules = kRules,
    };
    static constexpr EcnUse kEcn{.answers = true, .at_once = true, .needs = EcnMode::Accurate, .capable = Ecn::Ect1};

    explicit Prague(const Options& options) : virtual_rtt_(from_seconds(options.number("virtual_rtt"))) {
        if (options.number("classic_fallback") != 0) detector_.emplace();
    }

    double marked_share() const { return marked_.share(); }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings&) {
        const bool is_over = marked_.on_ack(ack, virtual_rtt_);
        if (detector_) watch_queue(ack, is_over);
        // Linux tcp_update_pacing_rate: twice as fast while slow start is far from its end.
        const double factor = window.cwnd_pkts < window.ssthresh_pkts / 2 ? 2 : 1;
        if (ack.srtt <= Nanos(0)) return;
        const double srtt_s = to_seconds(ack.srtt);
        window.pacing_pps = factor * window.cwnd_pkts / srtt_s;
        if (ack.why != nullptr) ack.why->set(kPacing, {factor, window.cwnd_pkts, srtt_s, window.pacing_pps});
    }
    void on_ack(Window& window, const AckSample& ack, const Siblings&) const {
        const double unmarked = std::max(ack.acked_pkts - ack.marked_pkts, 0.0);
        const double counted = window.in_slow_start() ? slow_start(window, unmarked, ack.why) : unmarked;
        if (counted > 0) {
            const double growth = growth_per_round(ack.srtt);
            if (ack.why != nullptr) ack.why->set(kIncrease, {counted, window.cwnd_pkts, growth});
            window.cwnd_pkts += counted * growth / window.cwnd_pkts;
        }
    }
    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) {
        const double likelihood = detector_ ? detector_->likelihood() : 0;
        if (detector_) detector_->adapt_gains(window.ssthresh_pkts);
        // Without a count of marks, a mark is answered like a loss (section 2.2).
        if (event.kind != CongestionKind::Mark || !event.is_exact) return NewReno::halve(window, event);
        if (likelihood == 0) return Dctcp::reduce(window, event, marked_.share());
        const double cwnd = window.cwnd_pkts;
        const double answered = std::max(marked_.share(), 0.625 * likelihood);
        window.ssthresh_pkts = std::max(cwnd * (1 - answered / 2), 2.0);
        if (event.why != nullptr)
            event.why->set(kFallback, {cwnd, marked_.share(), likelihood, answered, window.ssthresh_pkts});
    }

    // Growth of the window per round trip, in packets. The virtual window W * virtual_rtt / srtt grows by one packet
    // per virtual round trip, so that short paths grow their rates like longer ones.
    double growth_per_round(Nanos srtt) const {
        if (srtt >= virtual_rtt_) return 1;
        const double ratio = static_cast<double>(srtt.value) / static_cast<double>(virtual_rtt_.value);
        return ratio * ratio;
    }

private:
    void watch_queue(const AckSample& ack, bool is_over) {
        detector_->on_rtt(ack.rtt);
        has_seen_mark_ |= ack.marked_pkts > 0;
        if (is_over && has_seen_mark_) detector_->on_round(ack.min_rtt);
    }

    MarkedShare marked_{0.0625};  // the weight of DCTCP
    Nanos virtual_rtt_;
    std::optional<ClassicQueueDetector> detector_;
    bool has_seen_mark_ = false;
};
static_assert(CongestionController<Prague>);

}  // namespace subflow
