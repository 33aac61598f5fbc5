// How a scalable sender tells a classic queue that marks from an L4S queue: by how much its RTT varies, and by how far
// it is above its minimum. Source: Briscoe and Ahmed, TCP Prague Fall-back on Detection of a Classic ECN AQM (2021);
// Linux tcp_prague.c of the L4S team (prague_classic_ecn_detection, prague_classic_ecn_fallback, prague_rtt_estimator).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../units.h"

namespace subflow {

// A logarithm to the base of two in whole numbers whose rests are carried into the next one: on average it is exact,
// and the same on every platform, as std::log2 is not.
class CarriedLog2 {
public:
    double take(double x) {
        const double carried = x * rest_ + 0.5;
        const int whole = std::max(std::ilogb(carried), 0);
        rest_ = std::ldexp(carried, -whole);
        return whole;
    }

private:
    double rest_ = 1.4142135623730951;  // half of one
};

class ClassicQueueDetector {
public:
    static constexpr double kSticky = 8;  // the score below which a queue is an L4S queue for certain
    static constexpr double kMost = 2 * kSticky + 1;
    static constexpr double kLgOfDeviation =
        9.550746785;                                    // of 750 us, from which on an RTT varies as in a classic queue
    static constexpr double kLgOfDepth = 10.965784284;  // and of 2 ms, likewise of the queue's mean depth

    // Averages slower than those of the retransmission timeout see past the variation within a round trip.
    void on_rtt(Nanos rtt) {
        const double rtt_us = static_cast<double>(rtt.value) / 1e3;
        if (srtt_us_ == 0) srtt_us_ = rtt_us;
        const double error = rtt_us - srtt_us_;
        srtt_us_ += std::ldexp(error, -gain_bits_);
        deviation_us_ += std::ldexp(std::abs(error) - deviation_us_, -gain_bits_ - 1);
    }
    // The window is reduced, with the threshold that there has been so far: the larger it is, the more samples there
    // are in a round trip.
    void adapt_gains(double ssthresh_pkts) {
        const int bits =
            std::isfinite(ssthresh_pkts) ? std::max(std::ilogb(std::max(ssthresh_pkts, 1.0)), 0) : kMostBits;
        gain_bits_ = std::min(bits + bits / 2 + 1, kMostBits);
    }
    // A round trip is over in which queues are known to mark.
    void on_round(Nanos min_rtt) { judge(deviation_us_, srtt_us_ - static_cast<double>(min_rtt.value) / 1e3); }
    void judge(double deviation_us, double depth_us) {
        score_ += (deviation_.take(deviation_us) - kLgOfDeviation) / 2;
        // A queue that is short says nothing: it may be that of a classic one, now and then.
        if (depth_us > 0) score_ += std::max((depth_.take(depth_us) - kLgOfDepth) / 2, 0.0);
        score_ = std::clamp(score_, 0.0, kMost);
    }
    double score() const { return score_; }
    // From an L4S queue, 0, to a classic one, 1.
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
