// DCTCP: reduces the window by half the share of marked packets. Source: RFC 8257.
#pragma once

#include <array>

#include "newreno.h"

namespace subflow {

// Moving average of the share of marked packets. Source: RFC 8257 section 3.3; Linux tcp_dctcp.c
class MarkedShare {
public:
    static constexpr RuleNumber kNumber{"marked_share", "moving average of the share of packets that were marked"};

    explicit MarkedShare(double gain) : gain_(gain) {}

    // `period`: minimum length of a sample. Returns true if a sample is complete.
    bool on_ack(const AckSample& ack, Nanos period = Nanos(0)) {
        acked_ += ack.acked_pkts;
        marked_ += std::min(ack.marked_pkts, ack.acked_pkts);
        if (ack.snd_una < window_end_ || ack.now < period_end_) return false;
        if (acked_ > 0) share_ += gain_ * (marked_ / acked_ - share_);
        acked_ = marked_ = 0;
        window_end_ = ack.snd_nxt;
        period_end_ = ack.now + period;
        return true;
    }
    double share() const { return share_; }

private:
    double gain_;
    double share_ = 1;  // before the first sample, a mark counts like a loss
    double acked_ = 0;
    double marked_ = 0;
    std::uint32_t window_end_ = 0;
    Nanos period_end_{};
};

class Dctcp {
public:
    static constexpr std::array kOptions{OptionInfo{
        .key = "gain",
        .kind = OptionKind::Number,
        .help = "Weight of a round trip in the average of the share of marked packets.",
        .default_number = 0.0625,
        .minimum = 0.001,
        .maximum = 1,
    }};
    static constexpr RuleInfo kReduction{
        .name = "proportional_reduction",
        .formula = "ssthresh = max(cwnd * (1 - marked_share / 2), 2)",
        .computed = "ssthresh = max(cwnd * (1 - marked_share / 2), 2)",
        .source = "RFC 8257 section 3.3",
        .numbers = {number::kCwnd, MarkedShare::kNumber, number::kSsthresh},
    };
    static constexpr std::array kRules{&kSlowStart, &NewReno::kAdditiveIncrease, &NewReno::kHalving, &kReduction};
    static constexpr AlgorithmInfo kInfo{
        .name = "dctcp",
        .summary = "Gives up cwnd in proportion to the share of packets that queues have marked",
        .source = "RFC 8257; Alizadeh et al., SIGCOMM 2010; Linux tcp_dctcp.c",
        .options = kOptions,
        .rules = kRules,
    };
    static constexpr EcnUse kEcn{.answers = true, .needs = EcnMode::Dctcp};

    explicit Dctcp(const Options& options) : marked_(options.number("gain")) {}

    // alpha of RFC 8257.
    double marked_share() const { return marked_.share(); }

    void on_every_ack(Window&, const AckSample& ack, const Siblings&) { marked_.on_ack(ack); }
    void on_ack(Window& window, const AckSample& ack, const Siblings&) const { NewReno::grow(window, ack); }
    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) const {
        if (event.kind != CongestionKind::Mark) return NewReno::halve(window, event);
        reduce(window, event, marked_.share());
    }

    static void reduce(Window& window, const CongestionEvent& event, double marked_share) {
        const double cwnd = window.cwnd_pkts;
        window.ssthresh_pkts = std::max(cwnd * (1 - marked_share / 2), 2.0);
        if (event.why != nullptr) event.why->set(kReduction, {cwnd, marked_share, window.ssthresh_pkts});
    }

private:
    MarkedShare marked_;
};
static_assert(CongestionController<Dctcp>);

}  // namespace subflow
