// Concept of a congestion controller: a small value type that turns ACKs and losses into a window.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>

#include "../agent/agent_info.h"
#include "../algorithm.h"
#include "../decision.h"
#include "../ecn.h"
#include "../monitor_interval.h"
#include "../rate_sample.h"
#include "../units.h"

namespace subflow {

inline constexpr double kInfiniteSsthresh = std::numeric_limits<double>::infinity();

// The controller's decision: real-valued, in packets. The sender keeps at most floor(cwnd) packets in flight.
struct Window {
    double cwnd_pkts = 0;
    double ssthresh_pkts = kInfiniteSsthresh;
    double pacing_pps = 0;  // pacing rate in packets per second; 0: ACK-clocked
    // A number that the controllers of the other subflows can read (Sibling::advertised): a rate in packets per second
    // unless the controller defines another meaning
    double advertised = 0;

    bool in_slow_start() const { return cwnd_pkts < ssthresh_pkts; }
    bool operator==(const Window&) const = default;
};

// An ACK as reported to a controller; on_ack receives only ACKs outside fast recovery.
struct AckSample {
    double acked_pkts = 0;  // newly delivered, cumulatively or by SACK
    Nanos rtt{};            // of the newest packet: Linux tcp_clean_rtx_queue (ca_rtt_us)
    Nanos oldest_rtt{};     // of the oldest packet, which waited for the newest if the ACK was delayed
    Nanos srtt{};           // smoothed oldest_rtt
    Nanos min_rtt{};        // minimum RTT of the subflow so far
    Nanos now{};
    double inflight_pkts = 0;         // packets in flight after the ACK (RFC 6675 pipe)
    bool begins_round = false;        // the first ACK of a packet sent after the previous round trip ended
    bool is_cwnd_limited = true;      // the window held packets back, or cwnd validation is off
    bool in_recovery = false;         // the ACK arrived in fast recovery; always false in on_ack
    std::uint32_t snd_una = 0;        // all packets with lower numbers are acknowledged
    std::uint32_t snd_nxt = 0;        // number of the next packet to be sent
    std::uint32_t advanced_pkts = 0;  // advance of snd_una by this ACK
    double marked_pkts = 0;           // packets newly reported by the receiver as marked by queues
    Reason* why = nullptr;            // output: reason of the decision; null if decisions are not recorded
};

enum class CongestionKind : std::uint8_t {
    FastRetransmit,
    Timeout,
    Mark,  // queues have marked packets (RFC 3168): answered like a loss, without a retransmission
};

// At most one event per window of data, apart from timeouts.
struct CongestionEvent {
    CongestionKind kind = CongestionKind::FastRetransmit;
    double inflight_pkts = 0;
    Nanos now{};
    Nanos srtt{};           // 0 before the first sample
    bool is_exact = false;  // Mark: the receiver reports which packets were marked, not just that some were
    Reason* why = nullptr;  // output: reason of the decision; null if decisions are not recorded
};

// State of the sender, as passed to controllers with monitor intervals.
struct IntervalMoment {
    Nanos now{};
    Nanos srtt{};              // 0 before the first sample
    Nanos min_rtt{};           // minimum RTT of the subflow so far; 0 before the first sample
    double packet_bits = 0;    // size of a full packet on the wire
    double inflight_pkts = 0;  // RFC 6675 pipe
    Reason* why = nullptr;     // output: reason of the decision; null if decisions are not recorded
};

// State of the sender for on_action().
struct ActionMoment : IntervalMoment {  // min_rtt is EpochSample::min_rtt_s
    double reference_pps = 0;           // EpochSample::reference_pps
    bool is_in_loss = false;            // after a timeout: the window is growing back to ssthresh
};

// State of an established subflow of the connection, for coupled controllers; includes the controller's own subflow.
struct Sibling {
    double cwnd_pkts = 0;  // effective: ssthresh during recovery, when the window itself is not meaningful
    double srtt_s = 0;     // > 0
    double advertised = 0;
    double window_pkts = 0;                // cwnd even during recovery
    double acked_since_loss_pkts = 0;      // since the last congestion event
    double acked_between_losses_pkts = 0;  // between the last two congestion events

    double rate_pps() const { return cwnd_pkts / srtt_s; }
    bool operator==(const Sibling&) const = default;
};

// Common state of the controllers of a connection. Source: Linux MPTCP, which stores it in the meta socket.
struct CommonState {
    std::uint64_t lia_alpha = 1;  // alpha of KernelLia, times 4096
    bool lia_is_stale = false;    // lia_alpha has to be recomputed before use
};

// Terms of the coupled formulas: the rate cwnd / srtt of a sibling, and that rate divided by its srtt.
struct PathRate {
    double pps = 0;
    double per_rtt = 0;

    PathRate() = default;
    explicit PathRate(const Sibling& s) : pps(s.rate_pps()), per_rtt(pps / s.srtt_s) {}
};

// `self` is the position of the controller's own subflow in `all`, which contains only established subflows with an RTT
// sample.
struct Siblings {
    std::span<const Sibling> all;
    std::size_t self = std::numeric_limits<std::size_t>::max();  // beyond the span: not in `all` yet
    std::uint32_t absent = 0;       // subflows of the connection missing from `all`, one bit each
    CommonState* common = nullptr;  // state shared by the controllers of the connection; null without a connection
    std::span<const PathRate> known_rates = {};  // rates of the subflows in `all`; empty: not maintained

    // True if coupling is possible: another subflow exists, and this subflow has an RTT. Otherwise a coupled controller
    // runs the code of its single-path ancestor, because its coupled formulas would agree only up to rounding.
    bool has_others() const { return all.size() > 1 && self < all.size(); }
    const Sibling& own() const { return all[self]; }
    // Sums and maxima of the subflows' rates cwnd / srtt, used by the coupled formulas.
    struct Rates {
        double total_pps = 0;
        double fastest_pps = 0;
        double best_pkts_per_s2 = 0;  // the largest cwnd / srtt^2
    };
    Rates rates() const {
        Rates r;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const PathRate rate = known_rates.empty() ? PathRate(all[i]) : known_rates[i];
            r.total_pps += rate.pps;
            r.fastest_pps = std::max(r.fastest_pps, rate.pps);
            r.best_pkts_per_s2 = std::max(r.best_pkts_per_s2, rate.per_rtt);
        }
        return r;
    }
    // cwnd / srtt^2 of this subflow, divided by the square of the total rate: the increase of OLIA and BALIA per ACKed
    // packet, without their corrections.
    double coupled_increase(double total_pps) const {
        return own().cwnd_pkts / (own().srtt_s * own().srtt_s) / (total_pps * total_pps);
    }
    // Sum of the siblings' advertised rates.
    double others_pps() const {
        double sum = 0;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (i != self) sum += all[i].advertised;
        return sum;
    }
    // Bit mask of the subflows for which is_member(sibling) holds, as a number for a rule; the connection's first
    // subflow has the lowest bit.
    template <class IsMember>
    double mask_of(IsMember&& is_member) const {
        std::uint32_t mask = 0;
        std::uint32_t bit = 1;
        for (const Sibling& sibling : all) {
            while (absent & bit) bit <<= 1;
            if (is_member(sibling)) mask |= bit;
            bit <<= 1;
        }
        return mask;
    }
};

// Optional hooks of a controller. The sender calls the hooks that exist.

// on_ack(window, ack, siblings): outside fast recovery, an ACK advanced snd_una while the window was the limit.
template <class T>
concept GrowsPerAck = requires(T controller, Window& window, const AckSample& ack, const Siblings& siblings) {
    controller.on_ack(window, ack, siblings);
};

// on_delivery(window, sample, siblings): like on_every_ack, but after loss detection, and with a sample of the delivery
// rate. Senders maintain delivery samples only for controllers with this hook.
template <class T>
concept SamplesDelivery = requires(T controller, Window& window, const DeliverySample& sample,
                                   const Siblings& siblings) { controller.on_delivery(window, sample, siblings); };

// on_lost(window, packet): a packet has just been marked lost, before on_congestion_event or on_delivery. Only for
// controllers that sample deliveries.
template <class T>
concept FollowsLosses =
    requires(T controller, const Window& window, const LostPacket& packet) { controller.on_lost(window, packet); };

// on_undo(window): the congestion event was spurious; on_recovery_exit follows. A controller that governs recovery
// undoes its own changes.
template <class T>
concept FollowsUndo = requires(T controller, Window& window) { controller.on_undo(window); };

// on_start(window, seed): once, before the first packet, or when the controller replaces another one during the run;
// the window already has its initial values. `seed` derives from the seed of the run and is specific to the subflow.
// Controllers draw random numbers from Draws(seed), rng.h.
template <class T>
concept FollowsStart =
    requires(T controller, Window& window, std::uint64_t seed) { controller.on_start(window, seed); };

// on_every_ack(window, ack, siblings): before the other hooks, for each ACK with a delivery, in any state, even if the
// window was not the limit: for measurements, or for the exit from slow start.
template <class T>
concept SeesEveryAck = requires(T controller, Window& window, const AckSample& ack, const Siblings& siblings) {
    controller.on_every_ack(window, ack, siblings);
};

// on_recovery_exit(window, ack, siblings): the sender has returned to the Open state, with cwnd at ssthresh after a
// fast recovery.
template <class T>
concept FollowsRecovery = requires(T controller, Window& window, const AckSample& ack, const Siblings& siblings) {
    controller.on_recovery_exit(window, ack, siblings);
};

// on_idle_restart(window, now, why): a packet is about to leave after the application was idle and all data was
// acknowledged. Only for controllers that sample deliveries.
template <class T>
concept FollowsIdle =
    requires(T controller, Window& window, Nanos now, Reason* why) { controller.on_idle_restart(window, now, why); };

// plan_interval(window, moment) and on_interval(window, record, moment, siblings): the controller uses monitor
// intervals (monitor_interval.h). plan_interval() is called at the start of an interval, before its first packet; the
// controller sets the rate in the window and returns the plan. on_interval() is called for each interval in order, once
// all of its packets are delivered or lost, or if no packet is acknowledged within a time limit. The controller may
// change the window, add its utility to the record, and return NextInterval::BeginsNow to end the current interval
// early.
enum class NextInterval : std::uint8_t { InTurn, BeginsNow };
template <class T>
concept MonitorsIntervals = requires(T controller, Window& window, IntervalRecord& record, const IntervalMoment& moment,
                                     const Siblings& siblings) {
    { controller.plan_interval(window, moment) } -> std::same_as<IntervalPlan>;
    { controller.on_interval(window, record, moment, siblings) } -> std::same_as<NextInterval>;
};

// kGovernsRecovery: the controller sets cwnd in fast recovery, from the congestion event to the exit; the sender
// applies neither ssthresh nor proportional rate reduction. A timeout still reduces the window to one packet.
template <class T>
concept GovernsRecovery = T::kGovernsRecovery;

// kPacesByMss: as in Linux, the pacing rate is that of packets with the full MSS (tcp_sock.mss_cache), while the
// interval after a packet follows from its payload (tcp_update_skb_after_send). Packets whose options take room for
// payload, such as MPTCP's DSS option, therefore leave faster than at that rate.
template <class T>
concept PacesByMss = T::kPacesByMss;

// The controller executes the actions of a learning agent (agent/agent_info.h), described by kAgent. The functions are:
// - epoch_plan(): rule for the end of epochs, from the options.
// - observe(sample, record): once per epoch and subflow, in order: writes kAgent.features.size() numbers within their
//   bounds. Also called for subflows that the agent observes but does not control.
// - reward(samples): reward of the epoch, called after observe() with the samples of all observed subflows.
// - on_action(window, action, moment): executes the agent's action of kAgent.action_width() numbers.
template <class T>
concept TakesActions = requires(T controller, const T& same, Window& window, const EpochSample& sample,
                                std::span<const EpochSample> samples, std::span<float> record,
                                std::span<const float> action, const ActionMoment& moment) {
    { T::kAgent } -> std::convertible_to<const AgentInfo&>;
    { same.epoch_plan() } -> std::same_as<EpochPlan>;
    controller.observe(sample, record);
    { same.reward(samples) } -> std::same_as<double>;
    controller.on_action(window, action, moment);
};
// The descriptions of some numbers depend on the options. Names, bounds and choices are those of kAgent.
template <class T>
concept HasFormsOfAgent = TakesActions<T> && requires(const T& same) {
    { same.agent() } -> std::same_as<const AgentInfo&>;
};

// wants_action(): called after each ACK and timer; once true, on_action() follows at the same time, before any packet
// leaves, and resets it. epoch_sample(sample): overwrites measurements of the sender with those of the controller.
template <class T>
concept ChoosesEpochs = TakesActions<T> && requires(const T& controller, EpochSample& sample) {
    { controller.wants_action() } -> std::same_as<bool>;
    controller.epoch_sample(sample);
};

// measured_stage(): number of the stage of the controller that the agent observes. With EpochPlan::measures_stage, a
// new number discards the measurements from before.
template <class T>
concept MeasuresStages = ChoosesEpochs<T> && requires(const T& controller) {
    { controller.measured_stage() } -> std::same_as<std::uint32_t>;
};

// kEcn: response to marks, where the default does not fit. By default, controllers that keep a window, and neither
// govern recovery nor follow an agent, answer marks like losses.
template <class T>
concept DeclaresEcnUse = requires {
    { T::kEcn } -> std::convertible_to<EcnUse>;
};

// on_congestion_event sets ssthresh. The sender lowers cwnd to ssthresh (fast retransmit) or slow-starts up to it
// (timeout). The window or rate grows in on_ack, on_delivery, on_interval, or several of them.
template <class T>
concept CongestionController =
    std::copyable<T> && std::constructible_from<T, const Options&> &&
    requires(T controller, Window& window, const CongestionEvent& event, const Siblings& siblings) {
        { T::kInfo } -> std::convertible_to<const AlgorithmInfo&>;
        controller.on_congestion_event(window, event, siblings);
    } && (GrowsPerAck<T> || SamplesDelivery<T> || MonitorsIntervals<T> || TakesActions<T>);

// Hooks and properties of a controller as configured. If a property depends on the options or the script, the
// controller defines a member function of the same name as here. The sender then skips hooks that are not in use, some
// of which slow down the processing of each ACK.
namespace set_up {

template <class T>
bool sees_every_ack(const T& controller) {
    if constexpr (requires { controller.sees_every_ack(); }) return controller.sees_every_ack();
    return SeesEveryAck<T>;
}
template <class T>
bool samples_delivery(const T& controller) {
    if constexpr (requires { controller.samples_delivery(); }) return controller.samples_delivery();
    return SamplesDelivery<T>;
}
template <class T>
bool monitors_intervals(const T& controller) {
    if constexpr (requires { controller.monitors_intervals(); }) return controller.monitors_intervals();
    return MonitorsIntervals<T>;
}
template <class T>
bool governs_recovery(const T& controller) {
    if constexpr (requires { controller.governs_recovery(); }) return controller.governs_recovery();
    return GovernsRecovery<T>;
}
template <class T>
EcnUse ecn_use(const T& controller) {
    if constexpr (DeclaresEcnUse<T>) {
        return T::kEcn;
    } else {
        return {.answers = GrowsPerAck<T> && !governs_recovery(controller) && !monitors_intervals(controller) &&
                           !TakesActions<T>};
    }
}
template <class T>
bool is_coupled(const T& controller) {
    if constexpr (requires { controller.is_coupled(); }) return controller.is_coupled();
    return T::kInfo.is_coupled;
}

}  // namespace set_up

inline constexpr RuleInfo kSlowStart{
    .name = "slow_start",
    .formula = "cwnd + acked, up to ssthresh",
    .computed = "cwnd = min(before + acked, max(before, ssthresh))",
    .source = "RFC 5681 section 3.1",
    .numbers = {number::kAcked, number::kSsthresh},
};

// Slow start shared by the window-based controllers: one packet per ACKed packet, up to ssthresh. Returns the remaining
// ACKed packets for congestion avoidance, whose rule then replaces the recorded one.
inline double slow_start(Window& window, double acked_pkts, Reason* why) {
    const double grown = std::min(acked_pkts, std::max(0.0, window.ssthresh_pkts - window.cwnd_pkts));
    if (why != nullptr) why->set(kSlowStart, {acked_pkts, window.ssthresh_pkts});
    window.cwnd_pkts += grown;
    return acked_pkts - grown;
}

// Applies slow start below the threshold. Returns the packets left for congestion avoidance.
inline double beyond_slow_start(Window& window, const AckSample& ack) {
    return window.in_slow_start() ? slow_start(window, ack.acked_pkts, ack.why) : ack.acked_pkts;
}

}  // namespace subflow
