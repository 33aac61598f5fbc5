// Common parts of the congestion controllers of the MPTCP kernel: whole packets, slow start and Reno as in Linux, and
// the times of the calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "newreno.h"

namespace subflow {

// The modules are mptcp_coupled.c (LIA), mptcp_olia.c, mptcp_balia.c and mptcp_wvegas.c of multipath-tcp.org, release
// 0.92, based on Linux 4.4. Its tcp_ack() calls cong_avoid for each ACK that moves snd_una outside recovery, before
// loss detection processes the same ACK; a loss calls ssthresh, then reports the new state. Not modelled: the state
// Disorder between a first duplicate ACK and the recovery, the upper limit of the window (snd_cwnd_clamp), and the
// reset of LIA's alpha to its first value for one round trip when a subflow joins.
class KernelArithmetic {
public:
    static constexpr std::array<std::string_view, 2> kChoices{"specification", "kernel"};
    static constexpr OptionInfo kOption{
        .key = "arithmetic",
        .kind = OptionKind::Choice,
        .help =
            "Real numbers as specified, or integers as in the module of MPTCP kernel 0.92, including its rounding, "
            "lower bounds and times of update; it counts ACKs, and other options except drain have no effect.",
        .default_choice = "specification",
        .choices = kChoices,
    };
    static bool is_chosen(const Options& options) { return options.choice(kOption.key) == kChoices[1]; }

    static constexpr RuleInfo kReno{
        .name = "kernel_reno",
        .formula = "cwnd + 1 per cwnd packets acknowledged, the rest is carried over: whole packets",
        .source = "Linux tcp_reno_cong_avoid, tcp_cong_avoid_ai",
        .numbers = {number::kAcked, {"credit_pkts", "acknowledged packets not yet counted"}, number::kCwnd},
    };
    static constexpr RuleInfo kHalving{
        .name = "kernel_halving",
        .formula = "ssthresh = max(cwnd / 2, 2) for whole packets, also after a timeout",
        .computed = "ssthresh = max(whole(cwnd / 2), 2)",
        .source = "Linux tcp_reno_ssthresh",
        .numbers = {number::kCwnd, number::kSsthresh},
    };

    // srtt in the kernel's unit, an eighth of a microsecond (tcp_sock.srtt_us). At least 1, because 0 means no sample.
    static std::uint32_t srtt_ticks(Nanos srtt) {
        return static_cast<std::uint32_t>(std::max<std::int64_t>(srtt.value * 8 / 1000, 1));
    }
    static std::uint32_t microseconds(Nanos time) { return static_cast<std::uint32_t>(time.value / 1000); }

    // The window in whole packets (tcp_sock.snd_cwnd, snd_ssthresh).
    static std::uint32_t cwnd(const Window& window) { return static_cast<std::uint32_t>(window.cwnd_pkts); }
    static std::uint32_t ssthresh(const Window& window) {
        return static_cast<std::uint32_t>(std::min(window.ssthresh_pkts, double{kInfinite}));
    }
    static void set_ssthresh(Window& window, std::uint32_t pkts) {
        window.ssthresh_pkts = pkts < kInfinite ? pkts : kInfiniteSsthresh;
    }
    static bool in_slow_start(const Window& window) { return cwnd(window) < ssthresh(window); }

    // True for an ACK for which the kernel calls cong_avoid.
    static bool raises_window(const AckSample& ack) { return ack.advanced_pkts != 0 && !ack.in_recovery; }

    // Like tcp_slow_start: returns the acknowledged packets beyond the slow start threshold.
    static std::uint32_t slow_start(Window& window, const AckSample& ack) {
        const std::uint32_t before = cwnd(window);
        const std::uint32_t after = std::min(before + ack.advanced_pkts, ssthresh(window));
        if (ack.why != nullptr)
            ack.why->set(kSlowStart, {static_cast<double>(ack.advanced_pkts), window.ssthresh_pkts});
        window.cwnd_pkts = after;
        return ack.advanced_pkts - (after - before);
    }

    // Like tcp_reno_cong_avoid.
    void reno(Window& window, const AckSample& ack) {
        if (!ack.is_cwnd_limited) return;
        std::uint32_t acked = ack.advanced_pkts;
        if (in_slow_start(window)) {
            acked = slow_start(window, ack);
            if (acked == 0) return;
        }
        const std::uint32_t before = cwnd(window);
        const std::uint32_t credit = count_;
        std::uint32_t after = before;
        if (count_ >= before) {
            count_ = 0;
            ++after;
        }
        count_ += acked;
        if (count_ >= before) {
            after += count_ / before;
            count_ %= before;
        }
        if (after == before) return;
        if (ack.why != nullptr)
            ack.why->set(kReno, {static_cast<double>(acked), static_cast<double>(credit), static_cast<double>(before)});
        window.cwnd_pkts = after;
    }

    // Increases the window by one packet after `per_packet` ACKs plus one, as in LIA and BALIA. Returns true after an
    // increase.
    bool step_after(std::uint32_t per_packet, Window& window) {
        if (count_ < per_packet) {
            ++count_;
            return false;
        }
        window.cwnd_pkts = cwnd(window) + 1;
        count_ = 0;
        return true;
    }
    std::uint32_t counted() const { return count_; }

    // Like tcp_reno_ssthresh.
    static void halve(Window& window, const CongestionEvent& event) {
        const std::uint32_t pkts = cwnd(window);
        set_ssthresh(window, std::max(pkts / 2, 2u));
        if (event.why != nullptr) event.why->set(kHalving, {static_cast<double>(pkts), window.ssthresh_pkts});
    }
    // Call at a loss: tcp_init_cwnd_reduction and tcp_enter_loss reset the count.
    void begin_reduction() { count_ = 0; }

    // A subflow as seen by a module. The controller's own subflow has its current window, because `siblings` dates from
    // before the current ACK.
    struct Path {
        std::uint32_t cwnd = 0;
        std::uint32_t effective_cwnd = 0;  // ssthresh in recovery
        std::uint32_t srtt = 0;            // srtt in ticks; 0: unknown, so the path is left out
        double told = 0;                   // Sibling::advertised
        bool is_own = false;
    };
    static Path own_path(const Window& window, Nanos srtt, double told = 0) {
        return {cwnd(window), cwnd(window), srtt == Nanos(0) ? 0 : srtt_ticks(srtt), told, true};
    }
    // The controller's own subflow, after an event without an RTT sample.
    static Path own_path(const Window& window, const Siblings& siblings) {
        const bool is_known = siblings.self < siblings.all.size();
        return own_path(window, is_known ? from_seconds(siblings.own().srtt_s) : Nanos(0));
    }
    // Visits the paths in the order of the kernel's list: the latest subflow comes first (mptcp_add_sock).
    template <class Visit>
    static void for_each_path(const Siblings& siblings, const Path& own, Visit&& visit) {
        if (siblings.self >= siblings.all.size() && own.srtt != 0) visit(own);
        for (std::size_t i = siblings.all.size(); i-- > 0;) {
            const Sibling& s = siblings.all[i];
            if (i == siblings.self) {
                visit(own);
            } else {
                visit(Path{static_cast<std::uint32_t>(s.window_pkts), static_cast<std::uint32_t>(s.cwnd_pkts),
                           srtt_ticks(from_seconds(s.srtt_s)), s.advertised, false});
            }
        }
    }
    // Number of established subflows, including this one (mptcp_cb.cnt_established).
    static std::uint32_t established(const Siblings& siblings) {
        return static_cast<std::uint32_t>(siblings.all.size() + (siblings.self >= siblings.all.size() ? 1 : 0));
    }

private:
    static constexpr std::uint32_t kInfinite = 0x7fffffff;  // TCP_INFINITE_SSTHRESH

    std::uint32_t count_ = 0;  // tcp_sock.snd_cwnd_cnt
};

}  // namespace subflow
