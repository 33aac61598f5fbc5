// Prague: DCTCP for the Internet, in queues that are shared with everybody (L4S). Source:
// draft-briscoe-iccrg-prague-congestion-control-04; Linux tcp_prague.c of the L4S team.
#pragma once

#include <array>

#include "dctcp.h"

namespace subflow {

class Prague {
public:
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "virtual_rtt",
            .kind = OptionKind::Number,
            .help = "Paths with a shorter round-trip time, in seconds, grow and average as one that has this one; 0: "
                    "each goes by its own.",
            .default_number = 0.025,
            .minimum = 0,
            .maximum = 1,
        },
    };
    static constexpr RuleInfo kIncrease{
        .name = "prague_increase",
        .formula = "cwnd + unmarked * growth / cwnd, growth = min(srtt / virtual_rtt, 1)^2",
        .computed = "cwnd = cwnd + unmarked * growth / cwnd",
        .source = "draft-briscoe-iccrg-prague-congestion-control-04 section 2.4.3",
        .numbers = {{"unmarked_pkts", "packets that this ACK acknowledged as not marked"},
                    number::kCwnd,
                    {"growth", "packets that the window grows by in a round trip"}},
    };
    static constexpr RuleInfo kPacing{
        .name = "prague_pacing",
        .formula = "rate = pace * cwnd / srtt; pace is 2 below half of ssthresh, else 1",
        .computed = "rate = pace * cwnd / srtt",
        .source = "draft-briscoe-iccrg-prague-congestion-control-04 section 2.5",
        .numbers = {{"pace", "times a window per round trip"}, number::kCwnd, number::kSrtt, number::kRatePps},
    };
    static constexpr std::array kRules{&kSlowStart, &kIncrease, &kPacing, &NewReno::kHalving, &Dctcp::kReduction};
    static constexpr AlgorithmInfo kInfo{
        .name = "prague",
        .summary = "Scalable on L4S queues: paced, answers marks in proportion, and short paths as if they were longer",
        .source = "draft-briscoe-iccrg-prague-congestion-control-04; RFC 9331",
        .options = kOptions,
        .rules = kRules,
    };
    static constexpr EcnUse kEcn{.answers = true, .at_once = true, .needs = EcnMode::Accurate, .capable = Ecn::Ect1};

    explicit Prague(const Options& options) : virtual_rtt_(from_seconds(options.number("virtual_rtt"))) {}

    double marked_share() const { return marked_.share(); }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings&) {
        marked_.on_ack(ack, virtual_rtt_);
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
    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) const {
        // Where nobody counts the marks they tell no more than a loss (section 2.2).
        if (event.kind == CongestionKind::Mark && event.is_exact) return Dctcp::reduce(window, event, marked_.share());
        NewReno::halve(window, event);
    }

    // With a packet more per virtual round trip in a virtual window, W * virtual_rtt / srtt, rates of short paths grow
    // as those of longer ones.
    double growth_per_round(Nanos srtt) const {
        if (srtt >= virtual_rtt_) return 1;
        const double ratio = static_cast<double>(srtt.value) / static_cast<double>(virtual_rtt_.value);
        return ratio * ratio;
    }

private:
    MarkedShare marked_{0.0625};  // the weight of DCTCP
    Nanos virtual_rtt_;
};
static_assert(CongestionController<Prague>);

}  // namespace subflow
