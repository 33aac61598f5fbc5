// Lets a scalable sender distinguish a classic ECN queue from an L4S queue, by the variation of the RTT and its excess
// over the minimum. Source: Briscoe and Ahmed, TCP Prague Fall-back on Detection of a Classic ECN AQM (2021); Linux
// tcp_prague.c of the L4S team (prague_classic_ecn_detection, prague_classic_ecn_fallback, prague_rtt_estimator).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../units.h"

namespace subflow {

// A binary logarithm in whole numbers that carries the remainder into the next call: exact on average, and equal on all
// platforms, unlike std::log2.
class CarriedLog2 {
public:
    double take(double x) {
        const double carried = x * rest_ + 0.5;
        const int whole = std::max(std::ilogb(carried), 0);
        rest_ = std::ldexp(carried, -whole);
        return whole;
    }

private:
    double rest_ = 1.4142135623730951;  // half a unit of the logarithm
};

class ClassicQueueDetector {
public:
    static constexpr double kSticky = 8;  // below this score, a queue is certainly an L4S queue
    static constexpr double kMost = 2 * kSticky + 1;
    static constexpr double kLgOfDeviation = 9.550746785;  // log2 of 750 us, the RTT deviation of a classic queue
    static constexpr double kLgOfDepth = 10.965784284;     // log2 of 2 ms, the mean depth of a classic queue

    // These averages are slower than those for the retransmission timeout, in order to smooth the variation within a
    // round trip.
    void on_rtt(Nanos rtt) {
        const double rtt_us = static_cast<double>(rtt.value) / 1e3;
        if (srtt_us_ == 0) srtt_us_ = rtt_us;
        const double error = rtt_us - srtt_us_;
        srtt_us_ += std::ldexp(error, -gain_bits_);
        deviation_us_ += std::ldexp(std::abs(error) - deviation_us_, -gain_bits_ - 1);
    }
    // Call when the window is reduced. `ssthresh_pkts`: the previous threshold; a larger one means more samples per
    // round trip.
    void adapt_gains(double ssthresh_pkts) {
        const int bits =
            std::isfinite(ssthresh_pkts) ? std::max(std::ilogb(std::max(ssthresh_pkts, 1.0)), 0) : kMostBits;
        gain_bits_ = std::min(bits + bits / 2 + 1, kMostBits);
    }
    // Call at the end of each round trip, once the path is known to mark packets.
    void on_round(Nanos min_rtt) { judge(deviation_us_, srtt_us_ - static_cast<double>(min_rtt.value) / 1e3); }
    void judge(double deviation_us, double depth_us) {
        score_ += (deviation_.take(deviation_us) - kLgOfDeviation) / 2;
        // A short queue is no evidence: a classic queue may be short at times.
        if (depth_us > 0) score_ += std::max((depth_.take(depth_us) - kLgOfDepth) / 2, 0.0);
        score_ = std::clamp(score_, 0.0, kMost);
    }
    double score() const { return score_; }
    // 0 for an L4S queue, 1 for a classic queue, and values between for an uncertain decision.
    double likelihood() const { return std::clamp(score_ - kSticky, 0.0, 1.0); }

private:
    static constexpr int kMostBits = 18;

    int gain_bits_ = kMostBits;
    double srtt_us_ = 0;
    double deviation_us_ = 1;
    CarriedLog2 deviation_;
    CarriedLog2 depth_;
    double score_ = 0;
};

}  // namespace subflow
