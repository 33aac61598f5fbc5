// LIA as the MPTCP kernel computes it. Source: mptcp_coupled.c of multipath-tcp.org 0.92.
#pragma once

#include "kernel_arithmetic.h"

namespace subflow {

// One alpha for the connection, times 2^12, updated when a window grows, in slow start, after a change of state and at
// a timeout. An increase takes one ACK more than specified. The search for the best path divides cwnd * 2^32 by the
// square of srtt in eighths of a microsecond. If each cwnd is below srtt^2 / (8.2 ms)^2, which is 149 packets at 100
// ms, all quotients are 0, and the connection's first path counts as the best.
class KernelLia {
public:
    static constexpr RuleInfo kStep{
        .name = "kernel_linked_step",
        .formula =
            "cwnd + 1 when max(4096 // alpha, cwnd) ACKs and one more have come; alpha = best_cwnd * 2^32 // "
            "(sum(cwnd_i * 2^10 * best_rtt // rtt_i))^2, best: largest cwnd_i * 2^32 // rtt_i^2",
        .computed = "cwnd = cwnd + 1",
        .source = "multipath-tcp.org 0.92, mptcp_ccc_cong_avoid",
        .numbers = {number::kCwnd,
                    {"alpha_4096", "how aggressive the connection may be, times 4096"},
                    {"acks_per_step", "ACKs to be counted before the cwnd grows by one"}},
    };

    static std::uint64_t alpha(const Siblings& siblings, const KernelArithmetic::Path& own) {
        if (KernelArithmetic::established(siblings) <= 1) return 1;
        std::uint64_t best = 0;
        std::uint64_t best_cwnd = 0;
        std::uint64_t best_rtt = 0;
        KernelArithmetic::for_each_path(siblings, own, [&](const KernelArithmetic::Path& path) {
            if (path.srtt == 0) return;
            const std::uint64_t rank =
                (std::uint64_t{path.cwnd} << kNumeratorScale) / (std::uint64_t{path.srtt} * path.srtt);
            if (rank < best) return;
            best = rank;
            best_cwnd = path.cwnd;
            best_rtt = path.srtt;
        });
        std::uint64_t sum = 0;
        KernelArithmetic::for_each_path(siblings, own, [&](const KernelArithmetic::Path& path) {
            if (path.srtt != 0) sum += (std::uint64_t{path.cwnd} << kDenominatorScale) * best_rtt / path.srtt;
        });
        sum *= sum;
        if (sum == 0) return 1;  // no path has an RTT; the kernel would divide by 0
        return std::max<std::uint64_t>((best_cwnd << kNumeratorScale) / sum, 1);
    }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
        if (!KernelArithmetic::raises_window(ack) || !ack.is_cwnd_limited) return;
        if (KernelArithmetic::in_slow_start(window)) {
            KernelArithmetic::slow_start(window, ack);
            renew(window, ack, siblings);
            return;
        }
        CommonState& common = common_of(siblings);
        if (common.lia_is_stale) {
            renew(window, ack, siblings);
            common.lia_is_stale = false;
        }
        const std::uint32_t before = KernelArithmetic::cwnd(window);
        std::uint32_t per_step = before;
        if (KernelArithmetic::established(siblings) > 1)
            per_step = std::max(static_cast<std::uint32_t>(kOne / common.lia_alpha), before);
        if (!tcp_.step_after(per_step, window)) return;
        if (ack.why != nullptr)
            ack.why->set(kStep, {static_cast<double>(before), static_cast<double>(common.lia_alpha),
                                 static_cast<double>(per_step)});
        renew(window, ack, siblings);
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings& siblings) {
        KernelArithmetic::halve(window, event);
        if (event.kind == CongestionKind::Timeout)
            common_of(siblings).lia_alpha = alpha(siblings, KernelArithmetic::own_path(window, siblings));
        tcp_.begin_reduction();
        common_of(siblings).lia_is_stale = true;
    }

    void on_recovery_exit(const Siblings& siblings) { common_of(siblings).lia_is_stale = true; }

private:
    static constexpr int kNumeratorScale = 32;
    static constexpr int kDenominatorScale = 10;
    static constexpr std::uint64_t kOne = 1 << 12;  // 2^32 / (2^10)^2

    void renew(const Window& window, const AckSample& ack, const Siblings& siblings) {
        common_of(siblings).lia_alpha = alpha(siblings, KernelArithmetic::own_path(window, ack.srtt));
    }
    CommonState& common_of(const Siblings& siblings) { return siblings.common != nullptr ? *siblings.common : alone_; }

    KernelArithmetic tcp_;
    CommonState alone_;  // used without a connection
};

}  // namespace subflow
