// BALIA as the MPTCP kernel computes it. Source: mptcp_balia.c of multipath-tcp.org 0.92.
#pragma once

#include "kernel_arithmetic.h"

namespace subflow {

// The module computes increase and decrease when the window grows, in slow start, at the end of a recovery, and at a
// timeout after the call of ssthresh; both stay unchanged between these events. (Changes of state also request the
// computation, but without effect: they store the request in the subflow, whereas cong_avoid looks for it in the
// connection.) An increase takes one ACK more than specified; alpha of the decrease is an integer.
class KernelBalia {
public:
    static constexpr RuleInfo kStep{
        .name = "kernel_balanced_step",
        .formula =
            "cwnd + 1 after the precomputed number of ACKs and one more: 10 * cwnd * sum(x_i)^2 / ((x_r "
            "+ max(x_i)) * (4 * x_r + max(x_i)))",
        .computed = "cwnd = cwnd + 1",
        .source = "multipath-tcp.org 0.92, mptcp_balia_cong_avoid",
        .numbers = {number::kCwnd, {"acks_per_step", "ACKs to be counted before the cwnd grows by one"}},
    };
    static constexpr RuleInfo kDecrease{
        .name = "kernel_balanced_decrease",
        .formula = "ssthresh = max(cwnd - decrease, 1), decrease = cwnd / 2 * min(max(x_i) // x_r, 1.5) as precomputed",
        .computed = "ssthresh = max(cwnd - decrease, 1)",
        .source = "multipath-tcp.org 0.92, mptcp_balia_ssthresh",
        .numbers = {number::kCwnd, {"decrease_pkts", "reduction of the cwnd by a loss"}, number::kSsthresh},
    };

    struct Plan {
        std::uint64_t acks_per_step = 0;  // ai in the module
        std::uint64_t decrease = 0;       // md in the module
    };

    static Plan plan(const Siblings& siblings, const KernelArithmetic::Path& own) {
        const std::uint64_t cwnd = own.cwnd;
        const Plan alone{cwnd, cwnd / 2};
        if (KernelArithmetic::established(siblings) <= 1 || own.srtt == 0) return alone;
        const auto rate_of = [](const KernelArithmetic::Path& path) -> std::uint64_t {
            return path.srtt != 0 ? kMss * path.cwnd * kTicksPerSecond / path.srtt : 0;
        };
        const std::uint64_t own_rate = rate_of(own);
        if (own_rate == 0) return alone;
        std::uint64_t fastest = 0;
        KernelArithmetic::for_each_path(
            siblings, own, [&](const KernelArithmetic::Path& path) { fastest = std::max(fastest, rate_of(path)); });
        const std::uint64_t alpha = fastest / own_rate;
        int down = 0;
        for (; fastest > kLargestRate; down += kScaleStep) fastest >>= kScaleStep;
        std::uint64_t sum = 0;
        KernelArithmetic::for_each_path(siblings, own,
                                        [&](const KernelArithmetic::Path& path) { sum += rate_of(path) >> down; });
        const std::uint64_t rate = own_rate >> down;
        std::uint64_t acks = sum * sum * 10 / (rate + fastest);
        acks = acks * cwnd / (4 * rate + fastest);
        const std::uint64_t factor = std::min<std::uint64_t>(alpha << kAlphaScale, (3u << kAlphaScale) >> 1);
        return {acks != 0 ? acks : cwnd, (cwnd / 2 * factor) >> kAlphaScale};
    }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
        if (!KernelArithmetic::raises_window(ack) || !ack.is_cwnd_limited) return;
        if (KernelArithmetic::in_slow_start(window)) {
            KernelArithmetic::slow_start(window, ack);
            plan_ = plan(siblings, KernelArithmetic::own_path(window, ack.srtt));
            return;
        }
        const std::uint32_t before = KernelArithmetic::cwnd(window);
        const bool is_alone = KernelArithmetic::established(siblings) <= 1;
        const std::uint32_t per_step = is_alone ? before : static_cast<std::uint32_t>(plan_.acks_per_step);
        if (!tcp_.step_after(per_step, window)) return;
        if (ack.why != nullptr) ack.why->set(kStep, {static_cast<double>(before), static_cast<double>(per_step)});
        plan_ = plan(siblings, KernelArithmetic::own_path(window, ack.srtt));
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings& siblings) {
        const std::uint32_t before = KernelArithmetic::cwnd(window);
        if (KernelArithmetic::established(siblings) <= 1) {
            KernelArithmetic::halve(window, event);
        } else {
            // DEVIATION: if the window has become smaller than the decrease, the difference wraps around in the kernel
            // and ssthresh becomes unlimited; here the window stays.
            const std::uint64_t decrease = plan_.decrease > before ? 0 : plan_.decrease;
            KernelArithmetic::set_ssthresh(window,
                                           static_cast<std::uint32_t>(std::max<std::uint64_t>(before - decrease, 1)));
            if (event.why != nullptr)
                event.why->set(kDecrease,
                               {static_cast<double>(before), static_cast<double>(decrease), window.ssthresh_pkts});
        }
        is_after_timeout_ = event.kind == CongestionKind::Timeout;
        if (is_after_timeout_) plan_ = plan(siblings, KernelArithmetic::own_path(window, siblings));
        tcp_.begin_reduction();
    }

    void on_recovery_exit(const Window& window, const AckSample& ack, const Siblings& siblings) {
        if (!is_after_timeout_) plan_ = plan(siblings, KernelArithmetic::own_path(window, ack.srtt));
    }

private:
    static constexpr std::uint64_t kMss = 1428;  // mss_cache over Ethernet, with timestamps and MPTCP's option
    static constexpr std::uint64_t kTicksPerSecond = 8'000'000;
    static constexpr std::uint64_t kLargestRate = 1 << 25;  // bytes per second
    static constexpr int kScaleStep = 5;
    static constexpr int kAlphaScale = 10;

    KernelArithmetic tcp_;
    Plan plan_;
    bool is_after_timeout_ = false;
};

}  // namespace subflow
