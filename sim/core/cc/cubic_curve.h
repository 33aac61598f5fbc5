// CUBIC's window over time, in real numbers: part of the controllers that use it. Source: RFC 9438.
#pragma once

#include <algorithm>

#include "abe.h"
#include "cube_root.h"

namespace subflow {

namespace cubic_rules {

inline constexpr RuleInfo kDecrease{
    .name = "cubic_decrease",
    .formula =
        "ssthresh = max(beta * cwnd, 2); W_max = cwnd, or cwnd (1 + beta) / 2 if cwnd had not come back to "
        "the W_max before",
    .computed = "ssthresh = max(beta * cwnd, 2)",
    .source = "RFC 9438 sections 4.6 and 4.7",
    .numbers = {number::kCwnd, number::kBeta, number::kWMaxBefore, number::kWMax, number::kSsthresh},
};

}  // namespace cubic_rules

// A share s below 1 gives the curve of a flow with s times the rate of a CUBIC: s^4 C for C and s^2 alpha for alpha.
class CubicCurve {
public:
    static constexpr OptionInfo kFastConvergence{
        .key = "fast_convergence",
        .kind = OptionKind::Flag,
        .help = "Give up more when the last maximum was below the previous one, to make room for newcomers.",
        .default_number = 1,
    };

    static constexpr double kC = 0.4;     // packets per second cubed (section 5)
    static constexpr double kBeta = 0.7;  // section 4.6
    // Section 4.3: with it, Reno-friendly growth has the mean window of Reno.
    static constexpr double kAlpha = 3 * (1 - kBeta) / (1 + kBeta);

    explicit CubicCurve(const Options& options) : fast_convergence_(options.number(kFastConvergence.key) != 0) {}

    // Seconds from the start of an epoch until the window returns to w_max. Section 4.2, figure 2.
    static double k_s(double w_max_pkts, double cwnd_epoch_pkts, double c = kC) {
        return cube_root(std::max(w_max_pkts - cwnd_epoch_pkts, 0.0) / c);
    }
    // W_cubic(t). Section 4.2, figure 1.
    static double window_at(double t_s, double k_s, double w_max_pkts, double c = kC) {
        const double d = t_s - k_s;
        return c * d * d * d + w_max_pkts;
    }

    bool fast_convergence() const { return fast_convergence_; }
    double share() const { return share_; }
    bool has_epoch() const { return has_epoch_; }
    void end_epoch() { has_epoch_ = false; }

    // Called at the first ACK of congestion avoidance.
    void begin_epoch(const Window& window, Nanos now, double share = 1) {
        const double w = window.cwnd_pkts;
        const bool has_lost = w_max_ > 0;
        if (!has_lost) cwnd_prior_ = w;  // slow start ended without a loss
        // Sections 4.8 and 4.10: after a timeout or a slow start without loss, the window is at the inflection point.
        if (!has_lost || is_after_timeout_ || w >= w_max_) w_max_ = w;
        is_after_timeout_ = false;
        share_ = share;
        const double square = share * share;
        k_s_ = k_s(w_max_, w, square * square * kC);
        w_est_ = w;
        epoch_start_ = now;
        has_epoch_ = true;
    }

    // Changes the share within an epoch: the curve continues from the current window, with stretched time.
    void couple(double share, Nanos now) {
        if (!has_epoch_ || share == share_) return;
        const double before = share_ / share;
        const double stretch = before * cube_root(before);
        const double t_s = to_seconds(now - epoch_start_) * stretch;
        k_s_ *= stretch;
        epoch_start_ = now - from_seconds(t_s);
        share_ = share;
    }

    // Windows of the curve and of Reno after the current ACK, and the target.
    struct Place {
        double t_s;
        double k_s;
        double w_max;
        double w_cubic;
        double w_est;
        double target;  // W_cubic one RTT ahead, from 1 to 1.5 times the window; W_est if Reno is ahead
        bool is_reno_ahead;

        bool is_concave(const Window& window) const { return window.cwnd_pkts < w_max; }
        void grow(Window& window, double acked_pkts) const {
            const double w = window.cwnd_pkts;
            if (is_reno_ahead) {
                window.cwnd_pkts = std::max(w, w_est);
            } else {
                window.cwnd_pkts += acked_pkts * (target - w) / w;
            }
        }
    };
    Place advance(const Window& window, const AckSample& ack, double acked_pkts, bool reno_friendly = true) {
        const double w = window.cwnd_pkts;
        // Section 4.3, figure 4: the full rate of Reno once the window before the reduction is reached again
        w_est_ += (w_est_ >= cwnd_prior_ ? 1.0 : kAlpha) * share_ * share_ * acked_pkts / w;
        const double t_s = to_seconds(ack.now - epoch_start_);
        const double w_cubic = window_at(t_s, k_s_, w_max_, c());
        if (reno_friendly && w_cubic < w_est_) return {t_s, k_s_, w_max_, w_cubic, w_est_, w_est_, true};
        const double target = std::clamp(window_at(t_s + to_seconds(ack.srtt), k_s_, w_max_, c()), w, 1.5 * w);
        return {t_s, k_s_, w_max_, w_cubic, w_est_, target, false};
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, double beta) {
        const double w = window.cwnd_pkts;
        cwnd_prior_ = w;
        const double w_max_before = w_max_;
        // Section 4.7, fast convergence
        w_max_ = fast_convergence_ && w < w_max_ ? w * (1 + beta) / 2 : w;
        window.ssthresh_pkts = std::max(beta * w, 2.0);
        if (event.why != nullptr)
            event.why->set(cubic_rules::kDecrease, {w, beta, w_max_before, w_max_, window.ssthresh_pkts});
        has_epoch_ = false;
        is_after_timeout_ = event.kind == CongestionKind::Timeout;
    }

    // Shifts the start of the epoch, so that only time in which the window was the limit counts, and returns the shift.
    // Section 5.8.
    Nanos leave_out_unused_time(const AckSample& ack) {
        Nanos unused{};
        if (was_idle_) {
            // No packet was in flight from the previous ACK until the send time of the oldest packet that the current
            // ACK covers.
            const Nanos sent = ack.now - ack.oldest_rtt;
            if (sent > last_ack_) unused = sent - last_ack_;
        } else if (!ack.is_cwnd_limited) {
            unused = ack.now - last_ack_;
        }
        last_ack_ = ack.now;
        was_idle_ = ack.inflight_pkts == 0;
        epoch_start_ += unused;
        return unused;
    }

private:
    double c() const { return share_ * share_ * share_ * share_ * kC; }

    double share_ = 1;
    double w_max_ = 0;  // 0: no loss so far
    double k_s_ = 0;
    double w_est_ = 0;       // window of Reno
    double cwnd_prior_ = 0;  // window before the last reduction
    Nanos epoch_start_{};
    Nanos last_ack_{};
    bool fast_convergence_;
    bool has_epoch_ = false;
    bool is_after_timeout_ = false;
    bool was_idle_ = false;
};

}  // namespace subflow
