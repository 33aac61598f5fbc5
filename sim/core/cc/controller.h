// What a congestion controller is: a small value that turns acknowledgements and losses into a window.
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

// The decision: real-valued, in packets. The sender keeps floor(cwnd) packets in flight.
struct Window {
    double cwnd_pkts = 0;
    double ssthresh_pkts = kInfiniteSsthresh;
    double pacing_pps = 0;  // packets per second that may leave, evenly spaced; 0: as ACKs clock them out
    double advertised = 0;  // what siblings are told, for controllers that coordinate by a number: a rate in packets
                            // per second, unless they say otherwise

    bool in_slow_start() const { return cwnd_pkts < ssthresh_pkts; }
    bool operator==(const Window&) const = default;
};

// One acknowledgement, outside recovery.
struct AckSample {
    double acked_pkts = 0;  // newly delivered, cumulatively or by SACK
    Nanos rtt{};            // of the packet that triggered it
    Nanos srtt{};
    Nanos min_rtt{};  // of the subflow so far
    Nanos now{};
    double inflight_pkts = 0;         // after it (RFC 6675 pipe)
    bool begins_round = false;        // the first to acknowledge a packet sent after the previous round trip ended
    bool is_cwnd_limited = true;      // the window, not the application or the scheduler, held packets back
    bool in_recovery = false;         // before it, in fast recovery; on_ack never sees that
    std::uint32_t snd_una = 0;        // packet numbers: everything below this one is acknowledged
    std::uint32_t snd_nxt = 0;        // the next one that has not been sent yet
    std::uint32_t advanced_pkts = 0;  // by how much it moved snd_una
    double marked_pkts = 0;           // that the receiver newly reports as marked by queues
    Reason* why = nullptr;            // to be filled in, if anybody asks
};

enum class CongestionKind : std::uint8_t {
    FastRetransmit,
    Timeout,
    Mark,  // queues have marked packets (RFC 3168): answered as a loss of which nothing needs to be sent again
};

// At most one per window of data.
struct CongestionEvent {
    CongestionKind kind = CongestionKind::FastRetransmit;
    double inflight_pkts = 0;
    Nanos now{};
    Nanos srtt{};           // 0 before the first sample
    bool is_exact = false;  // Mark: the receiver says which packets were marked, and not just that some were
    Reason* why = nullptr;  // to be filled in, if anybody asks
};

// What a controller that works by monitor intervals is told of the moment.
struct IntervalMoment {
    Nanos now{};
    Nanos srtt{};              // 0 before the first sample
    Nanos min_rtt{};           // of the subflow so far; 0 before the first sample
    double packet_bits = 0;    // of a full packet on the wire: a rate of r packets/s takes r * packet_bits of a link
    double inflight_pkts = 0;  // RFC 6675 pipe
    Reason* why = nullptr;     // to be filled in, if anybody asks
};

// What a controller is told when its agent has acted.
struct ActionMoment : IntervalMoment {  // min_rtt is EpochSample::min_rtt_s
    double reference_pps = 0;           // EpochSample::reference_pps
    bool is_in_loss = false;            // after a timeout: the window is growing back to ssthresh
};

// What a coupled controller may know of each established subflow of its connection, its own included.
struct Sibling {
    double cwnd_pkts = 0;  // effective: ssthresh while in recovery, where the window itself says little
    double srtt_s = 0;     // > 0
    double advertised = 0;
    double window_pkts = 0;                // the window itself
    double acked_since_loss_pkts = 0;      // since its last congestion event
    double acked_between_losses_pkts = 0;  // between its last two

    double rate_pps() const { return cwnd_pkts / srtt_s; }
    bool operator==(const Sibling&) const = default;
};

// What the controllers of a connection keep in common. Source: Linux MPTCP, which has it in the meta socket.
struct CommonState {
    std::uint64_t lia_alpha = 1;  // KernelLia
    bool lia_is_stale = false;    // lia_alpha is to be computed anew before it is used
};

// What the coupled formulas are made of: the rate cwnd / srtt of a sibling, and the rate over its srtt.
struct PathRate {
    double pps = 0;
    double per_rtt = 0;

    PathRate() = default;
    explicit PathRate(const Sibling& s) : pps(s.rate_pps()), per_rtt(pps / s.srtt_s) {}
};

// `self` is the own position in the span, which holds only subflows that are established and have an RTT sample.
struct Siblings {
    std::span<const Sibling> all;
    std::size_t self = std::numeric_limits<std::size_t>::max();  // beyond the span: not in it yet
    std::uint32_t absent = 0;                                    // subflows of the connection not in it, a bit each
    CommonState* common = nullptr;                               // of the connection
    std::span<const PathRate> known_rates = {};                  // of all, where somebody keeps them; else empty

    // There is another subflow to be coupled with, and enough is known to do so. Without, a coupled controller does
    // what its single-path ancestor does, to the last bit: its own formulas would only do so up to rounding.
    bool has_others() const { return all.size() > 1 && self < all.size(); }
    const Sibling& own() const { return all[self]; }
    // Of the subflows' rates, cwnd / srtt, what the coupled formulas are made of.
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
    // The own cwnd / srtt^2 over the square of the total rate: what OLIA and BALIA grow by per packet acknowledged,
    // but for their corrections.
    double coupled_increase(double total_pps) const {
        return own().cwnd_pkts / (own().srtt_s * own().srtt_s) / (total_pps * total_pps);
    }
    // What the others advertise, in all.
    double others_pps() const {
        double sum = 0;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (i != self) sum += all[i].advertised;
        return sum;
    }
    // The subflows for which is_member(sibling) holds, a bit each: that of the connection's first is 1.
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

// The hooks that a controller may have. The sender calls those it finds.

// on_ack(window, ack, siblings): outside fast recovery, an acknowledgement advanced while the window was the limit.
template <class T>
concept GrowsPerAck = requires(T controller, Window& window, const AckSample& ack, const Siblings& siblings) {
    controller.on_ack(window, ack, siblings);
};

// on_delivery(window, sample, siblings): as on_every_ack, but after the sender has judged what is lost, and with the
// rate at which the network delivers. Senders keep the books behind the samples only for controllers with this hook.
template <class T>
concept SamplesDelivery = requires(T controller, Window& window, const DeliverySample& sample,
                                   const Siblings& siblings) { controller.on_delivery(window, sample, siblings); };

// on_lost(window, packet): a packet has just been marked lost, before on_congestion_event or on_delivery tell what
// comes of it. Only for controllers that sample deliveries.
template <class T>
concept FollowsLosses =
    requires(T controller, const Window& window, const LostPacket& packet) { controller.on_lost(window, packet); };

// on_undo(window): nothing of what the congestion event was about had been lost; on_recovery_exit follows. A controller
// that governs recovery takes back what it did itself.
template <class T>
concept FollowsUndo = requires(T controller, Window& window) { controller.on_undo(window); };

// on_start(window, seed): once, before the first packet, with the initial window in place. `seed` is the subflow's own,
// the same in each run with the scenario's; draws come from it by way of Draws (rng.h).
template <class T>
concept FollowsStart =
    requires(T controller, Window& window, std::uint64_t seed) { controller.on_start(window, seed); };

// on_every_ack(window, ack, siblings): before the others, on each ACK that tells of a delivery, in any state and
// whether or not the window was the limit: to measure, or to leave slow start.
template <class T>
concept SeesEveryAck = requires(T controller, Window& window, const AckSample& ack, const Siblings& siblings) {
    controller.on_every_ack(window, ack, siblings);
};

// on_recovery_exit(window, ack, siblings): the sender is back in the Open state, with cwnd at ssthresh after a fast
// recovery.
template <class T>
concept FollowsRecovery = requires(T controller, Window& window, const AckSample& ack, const Siblings& siblings) {
    controller.on_recovery_exit(window, ack, siblings);
};

// on_idle_restart(window, now, why): a packet is about to leave after the application had nothing to send and
// everything was acknowledged. Only for controllers that sample deliveries.
template <class T>
concept FollowsIdle =
    requires(T controller, Window& window, Nanos now, Reason* why) { controller.on_idle_restart(window, now, why); };

// plan_interval(window, moment) and on_interval(window, record, moment, siblings): the controller sends by monitor
// intervals (monitor_interval.h). The first is asked when an interval begins, with the packet about to leave; the
// controller sets the rate of that interval in the window and says how long it lasts. The second tells of each interval
// once the fate of all its packets is known, in order; the controller may change the window, put the utility it
// computed into the record, and answer NextInterval::BeginsNow if what was learned is not to wait for the current
// interval to end.
enum class NextInterval : std::uint8_t { InTurn, BeginsNow };
template <class T>
concept MonitorsIntervals = requires(T controller, Window& window, IntervalRecord& record, const IntervalMoment& moment,
                                     const Siblings& siblings) {
    { controller.plan_interval(window, moment) } -> std::same_as<IntervalPlan>;
    { controller.on_interval(window, record, moment, siblings) } -> std::same_as<NextInterval>;
};

// kGovernsRecovery: cwnd in fast recovery is the controller's own affair, from the congestion event to the exit; the
// sender applies neither ssthresh nor proportional rate reduction. A timeout still leaves one packet.
template <class T>
concept GovernsRecovery = T::kGovernsRecovery;

// The controller does what a learning agent says (agent/agent_info.h). kAgent describes the agent; the rest:
// epoch_plan(): when epochs end, by the options given.
// observe(sample, record): once per epoch and subflow, in order: what the agent is to see of it, kAgent.features.size()
//   numbers within their bounds. Also asked of this controller for subflows that the agent sees and does not steer.
// reward(samples): of the epoch, after observe(), from the samples of all that the agent sees.
// on_action(window, action, moment): the agent has decided; `action` has kAgent.action_width() numbers.
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

// wants_action(): asked after each acknowledgement and timer; once it holds, on_action() follows at the same time,
// before any packet leaves, and ends it. epoch_sample(sample): puts what the controller has measured of the epoch
// itself in place of what the sender counted.
template <class T>
concept ChoosesEpochs = TakesActions<T> && requires(const T& controller, EpochSample& sample) {
    { controller.wants_action() } -> std::same_as<bool>;
    controller.epoch_sample(sample);
};

// kEcn: what a controller has to do with marks, where it is not what follows from its hooks: those that keep a window,
// and neither govern recoveries nor follow an agent, answer them as they answer a loss.
template <class T>
concept SaysEcnUse = requires {
    { T::kEcn } -> std::convertible_to<EcnUse>;
};

// on_congestion_event sets ssthresh, to which the sender lowers cwnd (fast retransmit) or from below which it
// slow-starts (timeout). What grows the window or the rate is on_ack, on_delivery, on_interval, or several of them.
template <class T>
concept CongestionController =
    std::copyable<T> && std::constructible_from<T, const Options&> &&
    requires(T controller, Window& window, const CongestionEvent& event, const Siblings& siblings) {
        { T::kInfo } -> std::convertible_to<const AlgorithmInfo&>;
        controller.on_congestion_event(window, event, siblings);
    } && (GrowsPerAck<T> || SamplesDelivery<T> || MonitorsIntervals<T> || TakesActions<T>);

// What a controller does as it is set up. One that has hooks which it wants only sometimes, by its options or its text,
// says so by a function of the same name: senders take a longer way for each ACK with some of them.
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
    if constexpr (SaysEcnUse<T>) {
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

// Slow start shared by the window-based controllers: one packet per packet acknowledged, up to ssthresh.
// Returns what is left of the acknowledgement for congestion avoidance, whose rule then is the one to name.
inline double slow_start(Window& window, double acked_pkts, Reason* why) {
    const double grown = std::min(acked_pkts, std::max(0.0, window.ssthresh_pkts - window.cwnd_pkts));
    if (why != nullptr) why->set(kSlowStart, {acked_pkts, window.ssthresh_pkts});
    window.cwnd_pkts += grown;
    return acked_pkts - grown;
}

// Slow start, where the window is in it. Returns what is left for congestion avoidance.
inline double beyond_slow_start(Window& window, const AckSample& ack) {
    return window.in_slow_start() ? slow_start(window, ack.acked_pkts, ack.why) : ack.acked_pkts;
}

}  // namespace subflow
