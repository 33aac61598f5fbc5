// OLIA as the MPTCP kernel computes it. Source: mptcp_olia.c of multipath-tcp.org 0.92.
#pragma once

#include "kernel_arithmetic.h"

namespace subflow {

// The increase per ACK, in 1024ths of a packet, is rounded towards 0: two subflows of equal RTT with more than 256
// packets each do not grow at all. The increases add up in a counter that a loss does not reset; at 1023 the window
// grows by one packet, and the excess is discarded. Ranks are compared exactly: of two similar paths, only one is the
// best.
class KernelOlia {
public:
    static constexpr RuleInfo kStep{
        .name = "kernel_opportunistic_step",
        .formula =
            "cwnd + 1 or - 1, at least 1, when the sum of increases passes 1023 or -1023; increase = (epsilon * rate + "
            "(cwnd * 2^10)^2) * 2^10 // (cwnd * rate), rate = (1 + sum(cwnd_i * 2^10 * rtt // rtt_i))^2",
        .computed = "cwnd = max(cwnd + step, 1)",
        .source = "multipath-tcp.org 0.92, mptcp_olia_cong_avoid",
        .numbers = {number::kCwnd,
                    {"epsilon", "share that moves from the largest windows to the best paths"},
                    {"increase_1024", "increment by the last ACK, in 1024ths of a packet"},
                    {"step", "by how much the cwnd changes, in packets"}},
    };

    // Second term of the increase per ACK: epsilon = num / den.
    struct Epsilon {
        int num = 0;
        std::uint32_t den = 1;
    };

    // l of a path in packets, from three packet numbers: snd_una at the last ACK and at the two losses before it
    // (mptcp_loss3, mptcp_loss2, mptcp_loss1).
    std::uint32_t interval_pkts() const { return std::max(una_ - last_loss_, last_loss_ - loss_before_); }

    static Epsilon epsilon(const Siblings& siblings, const KernelArithmetic::Path& own) {
        using Path = KernelArithmetic::Path;
        std::uint32_t largest = 0;
        std::uint64_t best_interval = 0;
        std::uint64_t best_rtt2 = 1;
        const auto interval = [](const Path& path) { return static_cast<std::uint64_t>(path.told); };
        const auto rtt2 = [](const Path& path) { return std::uint64_t{path.srtt} * path.srtt; };
        KernelArithmetic::for_each_path(siblings, own, [&](const Path& path) {
            if (path.srtt == 0) return;
            largest = std::max(largest, path.effective_cwnd);
            if (interval(path) * kBytes * best_rtt2 < best_interval * kBytes * rtt2(path)) return;
            best_interval = interval(path);
            best_rtt2 = rtt2(path);
        });
        const auto is_best = [&](const Path& path) {
            return interval(path) * kBytes * best_rtt2 == best_interval * kBytes * rtt2(path);
        };
        std::uint32_t largest_count = 0;
        std::uint32_t collected_count = 0;
        KernelArithmetic::for_each_path(siblings, own, [&](const Path& path) {
            if (path.srtt == 0) return;
            if (path.effective_cwnd == largest) {
                ++largest_count;
            } else if (is_best(path)) {
                ++collected_count;
            }
        });
        if (collected_count == 0) return {};
        const std::uint32_t n = KernelArithmetic::established(siblings);
        if (own.effective_cwnd < largest && is_best(own)) return {1, n * collected_count};
        if (own.effective_cwnd == largest) return {-1, n * largest_count};
        return {};
    }

    static std::uint64_t rate(const Siblings& siblings, const KernelArithmetic::Path& own) {
        std::uint64_t sum = 1;
        KernelArithmetic::for_each_path(siblings, own, [&](const KernelArithmetic::Path& path) {
            if (path.srtt != 0) sum += (std::uint64_t{path.effective_cwnd} << kScale) * own.srtt / path.srtt;
        });
        return sum * sum;
    }

    // Increase in 1024ths of a packet.
    static std::int32_t increase(std::uint32_t cwnd, Epsilon epsilon, std::uint64_t rate) {
        const std::uint64_t scaled = std::uint64_t{cwnd} << kScale;
        const std::uint64_t coupled = epsilon.den * scaled * scaled;
        const std::uint64_t divisor = std::max<std::uint64_t>(std::uint64_t{epsilon.den} * cwnd * rate, 1);
        if (epsilon.num >= 0) return signed_of(((epsilon.num != 0 ? rate : 0) + coupled) << kScale, divisor);
        if (coupled < rate) return -signed_of((rate - coupled) << kScale, divisor);
        return signed_of((coupled - rate) << kScale, divisor);
    }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
        if (!is_begun_) begin(ack);
        if (!KernelArithmetic::raises_window(ack)) return;
        una_ = ack.snd_una;
        window.advertised = interval_pkts();
        if (!ack.is_cwnd_limited) return;
        if (KernelArithmetic::in_slow_start(window)) {
            KernelArithmetic::slow_start(window, ack);
            return;
        }
        const KernelArithmetic::Path own = KernelArithmetic::own_path(window, ack.srtt, interval_pkts());
        const Epsilon moved = epsilon(siblings, own);
        const std::int32_t added = increase(own.cwnd, moved, rate(siblings, own));
        sum_ += added;
        const int step = sum_ >= kStepAt ? 1 : sum_ <= -kStepAt ? -1 : 0;
        if (step == 0) return;
        if (ack.why != nullptr)
            ack.why->set(kStep, {static_cast<double>(own.cwnd), static_cast<double>(moved.num) / moved.den,
                                 static_cast<double>(added), static_cast<double>(step)});
        window.cwnd_pkts = std::max(static_cast<int>(own.cwnd) + step, 1);
        sum_ = 0;
    }

    void on_congestion_event(Window& window, const CongestionEvent& event) {
        KernelArithmetic::halve(window, event);
        if (una_ == last_loss_) return;
        loss_before_ = last_loss_;
        last_loss_ = una_;
        window.advertised = interval_pkts();
    }

private:
    static constexpr int kScale = 10;
    static constexpr std::int32_t kStepAt = (1 << kScale) - 1;
    static constexpr std::uint64_t kBytes = 1428;  // per packet: the kernel counts bytes, whose products may overflow

    static std::int32_t signed_of(std::uint64_t dividend, std::uint64_t divisor) {
        return static_cast<std::int32_t>(dividend / divisor);
    }
    void begin(const AckSample& ack) {
        is_begun_ = true;
        una_ = last_loss_ = loss_before_ = ack.snd_una - ack.advanced_pkts;
    }

    std::int32_t sum_ = 0;  // mptcp_snd_cwnd_cnt in the module
    std::uint32_t una_ = 0;
    std::uint32_t last_loss_ = 0;
    std::uint32_t loss_before_ = 0;
    bool is_begun_ = false;
};

}  // namespace subflow
