// The sending end of a subflow: outstanding packets, losses and the congestion window.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "boxed.h"
#include "boxed_one.h"
#include "cc/controller.h"
#include "decision.h"
#include "ecn.h"
#include "monitor_interval.h"
#include "pacer.h"
#include "range_set.h"
#include "rate_sample.h"
#include "ring.h"
#include "rtt_estimator.h"
#include "scenario.h"
#include "sender_stats.h"
#include "sent_packet.h"
#include "units.h"

namespace subflow {

class Controller;  // cc/controllers.h, included only by sources that call a controller

enum class SenderState : std::uint8_t {
    Open,
    Reduced,  // reduces the window over one round trip because of marks (Linux TCP_CA_CWR)
    Recovery,
    Loss,
};

// A state machine without a network: its caller passes ACKs and timer expiries and requests packets. Sequence numbers
// count packets.
//
// Loss detection is one of
// - DupAck: a packet is lost once three packets that were sent later have been delivered. For first transmissions this
//   is the rule of RFC 6675 (three SACKed packets above). Counting in order of transmission extends the rule to
//   retransmissions, which RFC 6675 leaves to the timeout.
// - Rack: a packet is lost once a packet that was sent later has been delivered and a reordering window has passed
//   since the expected ACK; a probe finds losses at the end of a flight (RFC 8985).
//
// First transmissions have the same order by sequence number and by time, and retransmissions have a separate ring.
// Both rules therefore examine each transmission once, for any size of the window.
class SubflowSender {
public:
    SubflowSender();
    // `seed`: for a controller with random draws; `packet_bits`: size of a full packet on the wire.
    SubflowSender(const Controller& controller, const TransportOptions& options, std::uint64_t seed = 0,
                  double packet_bits = 12'000);
    SubflowSender(const SubflowSender&);
    SubflowSender(SubflowSender&&) noexcept;
    SubflowSender& operator=(const SubflowSender&);
    SubflowSender& operator=(SubflowSender&&) noexcept;
    ~SubflowSender();

    bool has_window() const { return static_cast<double>(pipe_ + 1) <= window_.cwnd_pkts; }
    // The window has room for more data beyond the queued packets.
    bool has_room() const { return static_cast<double>(pipe_ + queued_pkts_ + 1) <= window_.cwnd_pkts; }
    bool pacing_allows(Nanos now) const { return pacer_.allows(now); }
    // Window and pacing both allow a packet.
    bool may_send(Nanos now) const { return has_window() && pacer_.allows(now); }
    bool has_lost() const { return lost_pending_ != 0; }
    // RFC 6675 section 5, step (4.3): the first retransmission of a recovery does not wait for the pipe to drain.
    bool may_retransmit(Nanos now) const {
        return has_lost() && (has_window() || owes_first_retransmission_) && pacer_.allows(now);
    }
    bool has_outstanding() const { return snd_una_ != snd_nxt_; }

    // Sends the next new packet, with connection-level number `data_seq`.
    SF_INLINE Transmission send_new(std::uint32_t data_seq, Nanos now, const TransportOptions& options) {
        if (samples_delivery_) [[unlikely]]
            stamp(snd_nxt_, now);
        if (!has_outstanding()) [[unlikely]]
            restart_after_idle(now, options);
        const Transmission sent{snd_nxt_, data_seq, transmissions_++};
        SentPacket& packet = packets_.push_slot();
        packet.set(now, kInPipe);
        packet.data_seq = data_seq;
        packet.transmission = sent.number;
        ++snd_nxt_;
        if (rto_deadline_ == kNever) restart_rto(now, options);
        count_sent(now);
        probe_starts_ = now;
        return sent;
    }

    // Data handed to this subflow and held back by pacing, in sending order.
    bool has_queued() const { return queued_pkts_ != 0; }
    bool has_lost_or_queued() const { return (lost_pending_ | queued_pkts_) != 0; }
    std::uint32_t queued_pkts() const { return queued_pkts_; }
    std::uint32_t next_queued() const { return queue_.front(); }
    void queue(std::uint32_t data_seq) {
        queue_.push_back(data_seq);
        ++queued_pkts_;
    }
    std::uint32_t take_queued() {
        const std::uint32_t data_seq = queue_.front();
        queue_.pop_front();
        --queued_pkts_;
        return data_seq;
    }

    // True if note_out_of_data() has an effect.
    bool follows_supply() const { return samples_delivery_ || has_monitor_; }
    // The connection has no data for this subflow: while the window has room, deliveries do not measure the path.
    void note_out_of_data() {
        if (!has_window() || has_lost() || has_queued()) return;
        if (samples_delivery_) sampler_->mark_app_limited(pipe_);
        if (!has_monitor_) return;
        monitor_->mark_app_limited();
        // An idle subflow advertises no rate to its siblings until its next delivery.
        if (!has_outstanding()) window_.advertised = 0;
    }

    // Tail loss probes, when on_timer() requests one: the next new packet regardless of the window, or the last packet
    // again.
    Transmission probe_with_new(std::uint32_t data_seq, Nanos now, const TransportOptions& options);
    Transmission probe_with_last(Nanos now, const TransportOptions& options);

    // Retransmits the first lost packet. Only while may_retransmit(now).
    Transmission retransmit(Nanos now, const TransportOptions& options);

    // Processes an ACK for all packets below `cumulative` and in `sack_blocks`; `echo`: the send time that the ACK
    // echoes. The controller grows or reduces the window here.
    AckOutcome on_ack(std::uint32_t cumulative, std::span<const SeqRange> sack_blocks, Nanos echo, Nanos now,
                      const Siblings& siblings, const TransportOptions& options);

    // Sets the payload of a full packet, which is smaller than the MSS if TCP options such as DSS take room.
    void set_payload(double bytes) { pkts_per_mss_ = mss_bytes() / bytes; }

    // Sets the mode in which the receiver reports marks.
    void agree_on_ecn(EcnMode mode) {
        marks_.mode = mode;
        marks_.told = first_echo(mode);
    }
    // True if an ACK with these flags, without further ECN fields, may contain new information about marks.
    bool is_news(std::uint32_t flags, std::uint32_t cumulative) const {
        return ((flags - marks_.told) & kAceMask) != 0 || cumulative - snd_una_ > kAceMask;
    }
    // Stores the ECN fields of the next ACK to process, if they may report new marks.
    void process_echo(const EcnEcho& echo, std::uint32_t cumulative, bool is_long, std::uint32_t payload) {
        if (marks_.hear(echo, is_long || cumulative - snd_una_ > kAceMask, payload)) needs_every_step_ |= kForMarks;
    }
    // True if the next new packet has to carry CWR, because the window was reduced (RFC 3168 section 6.1.2).
    bool owes_cwr() const { return marks_.owes_cwr; }
    void forget_cwr() { marks_.owes_cwr = false; }

    // Next time for on_timer(): the earliest of the retransmission timeout, the tail loss probe, the end of the
    // reordering window and, while only pacing holds a packet back, the departure time of that packet.
    Nanos timer_deadline(Nanos now, const TransportOptions& options) {
        if (probe_starts_ != kNever) start_probe_timer(options);
        const Nanos deadline = next_expiry();
        const bool is_held_back = !pacer_.allows(now) && (has_window() || owes_first_retransmission_);
        return is_held_back ? std::min(pacer_.next(), deadline) : deadline;
    }
    // True if a timer has expired, apart from pacing.
    bool has_expired(Nanos now) const { return next_expiry() <= now; }
    // Handles all timers that have expired by `now`; early calls are harmless.
    TimerOutcome on_timer(Nanos now, const Siblings& siblings, const TransportOptions& options);

    // Calls visit(data_seq) for all data handed to this subflow and not known to have arrived.
    template <class Visit>
    void for_each_undelivered(Visit&& visit) const {
        for (std::uint32_t seq = snd_una_; seq != snd_nxt_; ++seq) {
            if (!(packets_[seq].flags() & kSacked)) visit(packets_[seq].data_seq);
        }
        for (std::uint32_t pos = queue_.begin_pos(); pos != queue_.end_pos(); ++pos) visit(queue_[pos]);
    }

    // Halves the window of a subflow that delays a faster one. Source: Raiciu et al., NSDI 2012, section 4.2; Linux
    // mptcp_rcv_buf_optimization.
    void penalise(Nanos now);

    SenderState state() const { return state_; }
    // True outside recovery and loss states.
    bool is_open() const { return state_ <= SenderState::Reduced; }
    const Window& window() const { return window_; }
    // The window for the coupled controllers of siblings: ssthresh during a recovery or a reduction for marks, as in
    // Linux MPTCP, unless the controller governs recovery.
    double effective_cwnd_pkts() const {
        const bool is_reducing = state_ == SenderState::Recovery || state_ == SenderState::Reduced;
        return is_reducing && !governs_recovery_ ? window_.ssthresh_pkts : window_.cwnd_pkts;
    }
    const RttEstimator& rtt() const { return rtt_; }
    void set_tick(Nanos tick) { rtt_.set_tick(tick); }
    Controller controller() const;  // a copy
    // True if the controller is this script.
    bool runs(const void* script) const { return controller_.address() == script; }
    // Packets acknowledged since the last congestion event, and between the last two (OLIA's l2 and l1).
    double acked_since_loss_pkts() const { return acked_since_loss_; }
    double acked_between_losses_pkts() const { return acked_between_losses_; }
    bool is_unheard(Nanos now, const TransportOptions& options) const;  // no ACK for longer than a timeout
    Nanos rto(const TransportOptions& options) const { return rtt_.rto(options, 0); }  // without back-off
    Nanos rto_deadline() const { return rto_deadline_; }
    Nanos probe_deadline() const { return probe_deadline_; }
    Nanos reordering_deadline() const { return reordering_deadline_; }
    // The earliest of these deadlines. Packets and ACKs since the last call of timer_deadline() have not yet restarted
    // the probe timer.
    Nanos next_expiry() const { return std::min(rto_deadline_, std::min(probe_deadline_, reordering_deadline_)); }
    // RACK's waiting time for an overtaken packet (RFC 8985 section 6.2, step 4).
    Nanos reordering_window() const {
        const bool is_certain = !is_open() || sacked_count_ >= 3;
        if (!reordering_seen_ && is_certain) return Nanos(0);
        return std::min(rtt_.min_rtt() / 4 * reordering_steps_, rtt_.srtt());
    }
    std::uint32_t pipe() const { return pipe_; }
    // Packets acknowledged since the subflow opened, cumulatively or by SACK.
    std::uint32_t delivered_pkts() const { return snd_una_ + sacked_count_; }
    std::uint32_t snd_una() const { return snd_una_; }
    std::uint32_t snd_nxt() const { return snd_nxt_; }
    // Includes earlier incarnations of the subflow.
    std::int64_t acked_pkts() const { return stats_.acked_before + delivered_pkts(); }
    const SenderStats& stats() const { return stats_; }
    // Extends the integral of cwnd to `now`.
    void account_cwnd(Nanos now) {
        const double elapsed_s = to_seconds(now - cwnd_since_);
        stats_.cwnd_seconds += window_.cwnd_pkts * elapsed_s;
        stats_.clock_seconds += elapsed_s;
        cwnd_since_ = now;
    }
    // The counters with the integral of cwnd extended to `now`. Only while established.
    SenderStats stats_at(Nanos now) const {
        SenderStats stats = stats_;
        const double elapsed_s = to_seconds(now - cwnd_since_);
        stats.cwnd_seconds += window_.cwnd_pkts * elapsed_s;
        stats.clock_seconds += elapsed_s;
        return stats;
    }
    SenderStats stats_at_end(Nanos ended_at) const;
    // A handshake with this RTT and number of retransmissions has established the subflow.
    void learn_from_handshake(Nanos rtt, int retransmissions, const TransportOptions& options) {
        rtt_.add_handshake(std::max(rtt, Nanos(1)), options);
        // RFC 5681 section 3.1; Linux tcp_init_transfer tolerates one loss, because its handshake timer is short. A
        // controller that sends by rate has no window to reduce.
        if (retransmissions > 1 && window_.pacing_pps == 0) window_.cwnd_pkts = 1;
    }
    // The subflow is established.
    void start(Nanos now) {
        cwnd_since_ = now;
        if (decisions_) record_start(now);
    }
    // Replaces the controller by a fresh one. Window, ssthresh, RTT estimates and the packets in flight stay. A
    // recovery continues, but reductions can no longer be undone. Source: Linux tcp_reinit_congestion_control. Beyond
    // Linux:
    // - The pacing rate and the rate advertised to siblings belong to the controller: both are reset, unless the new
    //   controller sets them at its start. A controller that sends by rate starts from the window (bbr), or is bounded
    //   by it until the first interval (vivace, mpcc); afterwards it uses its initial rate, as on a new path.
    // - If only the old controller governed recovery, ssthresh does not belong to the current recovery, which then ends
    //   with the current window.
    // - Packets in flight belong to no monitor interval. A new delivery sampler counts from zero. (Linux samples under
    //   all controllers; only the first round trip differs.)
    void change_controller(const Controller& controller, std::uint64_t seed, Nanos now);
    // Continues the counters and records of a predecessor on the same path.
    void continue_books(SubflowSender&& predecessor);

    // The next functions serve controllers that execute the actions of an agent (agent/agent_info.h).

    // True if the controller requests an action now.
    bool wants_action() const;
    // Writes the agent's observation of the epoch to `record`: [features]. The controller may add its own measurements
    // to the sample.
    // Number of the controller's stage to which the agent's sample is limited (EpochPlan::measures_stage).
    std::uint32_t measured_stage() const;
    void observe(EpochSample& sample, std::span<float> record);
    double reward(std::span<const EpochSample> samples) const;
    // Index of the action that is the subflow's logit in the scheduler; empty without such an action.
    std::optional<std::size_t> schedule_action() const;
    void act(std::span<const float> action, const EpochSample& sample, Nanos now);
    // Minimum RTT since the last call, kNever without a sample. Only one agent may call it.
    Nanos take_least_rtt() { return rtt_.take_least(); }

    // Records of monitor intervals; empty if no controller so far has used them.
    const Boxed<IntervalMonitor>& monitor() const { return monitor_; }
    // The latest interval; null unless the controller sends by monitor intervals.
    const IntervalRecord* latest_interval() const {
        return has_monitor_ && monitor_->has_latest() ? &monitor_->latest() : nullptr;
    }
    std::vector<IntervalRecord> take_intervals() {
        return monitor_ ? monitor_->take_records() : std::vector<IntervalRecord>();
    }
    // Records all further changes of window and rate with their reasons. Recording does not change the behaviour.
    void record_decisions(const DecisionLog::Limits& limits);
    // Also records the losses that the sender notices, at most `capacity`.
    void record_losses(std::size_t capacity);
    // The recorded decisions; empty unless record_decisions() was called.
    const Boxed<DecisionLog>& decisions() const { return decisions_; }
    void clear_decisions() {
        if (decisions_) decisions_->clear();
    }

    std::size_t heap_bytes() const;
    // Prefetches the memory for the next ACKs and transmissions (Network::fetch_ahead).
    void fetch_ahead() const;
    // Throws InternalError unless the counters are consistent: for builds with SUBFLOW_VALIDATE and for tests.
    void check_invariants() const;

private:
    void adopt_controller(std::uint64_t seed);
    void check_monitor() const;
    enum class Probe : std::uint8_t { None, New, Last };
    enum Flags : std::uint8_t { kInPipe = 1, kSacked = 2, kLost = 4, kRetransmitted = 8 };

    // Reasons to process ACKs step by step: a controller or observer that needs every ACK; marks in the next ACK.
    enum EveryStep : std::uint8_t { kAlways = 1, kForMarks = 2 };
    // The current ACK: the arguments of on_ack().
    struct Ack {
        std::uint32_t cumulative;
        std::span<const SeqRange> sack_blocks;
        Nanos echo;
        Nanos now;
        const Siblings& siblings;
        const TransportOptions& options;

        Nanos rtt() const { return now - echo; }
    };
    // Losses found by an ACK.
    struct LossVerdict {
        bool found = false;           // at least one packet is lost
        bool probe_repaired = false;  // one packet was lost, and a tail loss probe repaired the loss
    };

    SF_INLINE void count_sent(Nanos now) {
        last_sent_ = now;
        if (has_monitor_) [[unlikely]]
            monitor_send(now);
        if (window_.pacing_pps > 0) [[unlikely]]
            pace(now);
        ++pipe_;
        ++prr_out_;
        ++stats_.packets_sent;
        if (pipe_ > round_max_pipe_) round_max_pipe_ = pipe_;
        if (!has_window()) round_was_limited_ = true;
    }

    double mss_bytes() const { return packet_bits_ / 8 - static_cast<double>(kHeaderBytes.value); }

    // Paces the current packet, which is not yet in the pipe, individually or in a burst. A full window ends the burst.
    void pace(Nanos now) {
        const double rate_pps = paces_by_mss_ ? window_.pacing_pps * pkts_per_mss_ : window_.pacing_pps;
        if (!paces_in_bursts_) [[likely]]
            return pacer_.on_send(now, rate_pps);
        const std::uint32_t most = burst_pkts(window_.pacing_pps, rtt_.min_rtt(), mss_bytes());
        // At most half of the window per burst (Linux tcp_cwnd_test).
        const double half_pkts = std::max(std::floor(window_.cwnd_pkts / 2), 1.0);
        pacer_.on_send_in_burst(now, rate_pps, half_pkts < most ? static_cast<std::uint32_t>(half_pkts) : most);
        if (static_cast<double>(pipe_ + 2) > window_.cwnd_pkts) pacer_.end_burst();
    }

    // Records a packet as delivered. Call it once per packet. `echo` identifies the delivered transmission.
    void deliver(SentPacket& packet, Nanos echo, const TransportOptions& options) {
        if (packet.flags() & kInPipe) --pipe_;
        if (packet.flags() & kLost) --lost_pending_;
        if (has_monitor_) [[unlikely]]
            monitor_delivery(packet);
        // The original arrived after all: its delivery proves no loss of packets sent before the retransmission (RFC
        // 8985 section 6.2, step 2).
        if ((packet.flags() & kRetransmitted) && echo < packet.sent_time() &&
            options.loss_detection == LossDetection::Rack) [[unlikely]]
            return;
        // Inserts the number into the three highest. The first test nearly always holds, because packets are nearly
        // always delivered in the order of transmission.
        const std::uint32_t t = packet.transmission + 1;
        if (t > latest_delivered_[0]) {
            latest_delivered_[2] = latest_delivered_[1];
            latest_delivered_[1] = latest_delivered_[0];
            latest_delivered_[0] = t;
            latest_sent_time_ = packet.sent_time();
            latest_sent_once_ = !(packet.flags() & kRetransmitted);
        } else if (t > latest_delivered_[1]) {
            latest_delivered_[2] = latest_delivered_[1];
            latest_delivered_[1] = t;
        } else if (t > latest_delivered_[2]) {
            latest_delivered_[2] = t;
        }
    }

    void restart_rto(Nanos now, const TransportOptions& options) {
        rto_deadline_ = rtt_.expiry(now, options, backoffs_);
    }

    // True if the use of the window permits growth: more than half of it in slow start, all of it otherwise. Source:
    // Linux tcp_is_cwnd_limited; rationale in RFC 7661.
    bool is_cwnd_limited() const {
        if (window_.in_slow_start()) return window_.cwnd_pkts < 2.0 * std::max(round_max_pipe_, last_round_max_pipe_);
        return round_was_limited_ || last_round_was_limited_;
    }
    void advance_round(Nanos now, const TransportOptions& options) {
        if (snd_una_ < round_end_) return;
        if (options.cwnd_validation == CwndValidation::Decay) decay_unused_window(now, options);
        last_round_max_pipe_ = round_max_pipe_;
        last_round_was_limited_ = round_was_limited_;
        round_max_pipe_ = pipe_;
        round_was_limited_ = false;
        round_end_ = snd_nxt_ + 1;
    }

    // The retransmission timer expired while packets were outstanding. Source: RFC 6298 section 5, RFC 5681 section
    // 3.1.
    void on_timeout(Nanos now, const Siblings& siblings, const TransportOptions& options);
    void stamp(std::uint32_t seq, Nanos now);
    void sample_cumulative(std::uint32_t cumulative);
    void notify_delivery(DeliverySample sample, const Siblings& siblings);
    // Once per round trip: a window unused for a retransmission timeout moves half-way to the used size. Source: RFC
    // 2861, Linux tcp_cwnd_application_limited.
    void decay_unused_window(Nanos now, const TransportOptions& options);
    // Called before the first packet after all data was acknowledged: reduces the window after a long idle time.
    // Source: RFC 5681 section 4.1, Linux tcp_cwnd_restart.
    void restart_after_idle(Nanos now, const TransportOptions& options);
    // Stores the window before a reduction that may prove spurious.
    void prepare_undo(const TransportOptions& options) {
        undo_cwnd_ = options.undo ? window_.cwnd_pkts : 0;
        undo_ssthresh_ = window_.ssthresh_pkts;
        first_retransmission_ = kNever;
        unproven_retransmissions_ = 0;
    }
    // True if all retransmissions were spurious: an original was acknowledged after its retransmission had left (RFC
    // 3522, by the echo), or the receiver reported each retransmission as a duplicate (RFC 3708).
    bool is_recovery_groundless(const AckOutcome& ack, Nanos echo, SeqRange duplicate);
    void undo_reduction();
    void notify_controller(CongestionEvent event, const Siblings& siblings);
    // Acknowledges all packets below `cumulative`, some of which may be SACKed. Returns the number of newly delivered
    // packets.
    std::uint32_t advance_past_sacked(std::uint32_t cumulative, Nanos echo, const TransportOptions& options);
    std::uint32_t apply_sack(std::span<const SeqRange> sack_blocks, Nanos echo, const TransportOptions& options);
    // Marks packets lost by the rule of three later deliveries. Returns true if any was marked.
    bool detect_losses(Nanos now);
    // Marks packets lost by RACK and sets the deadline for overtaken packets. Returns true if any was marked.
    bool detect_losses_by_time(Nanos now);
    // Under RACK, a timeout marks the first packet and all overdue packets lost (RFC 8985 section 6.3).
    void mark_overdue_lost(Nanos now);
    // The range that an ACK reports as received twice; may be empty. Source: RFC 2883 section 4.
    static SeqRange reported_duplicate(std::uint32_t cumulative, std::span<const SeqRange> sack_blocks);
    // Each round trip with a duplicate widens the reordering window; 16 recoveries without a duplicate narrow it again:
    // RFC 8985 section 6.2, step 4.
    void adapt_reordering_window(SeqRange duplicate);
    void forget_duplicates_in_time() {
        if (reordering_persist_ != 0 && --reordering_persist_ == 0) reordering_steps_ = 1;
    }
    // True if all outstanding packets were sent once and are in the pipe, this ACK covers some of them, and nothing
    // requires the processing step by step. After a recovery, a delivered retransmission may have been sent later than
    // outstanding packets, which can prove losses.
    bool is_ordinary(std::uint32_t cumulative, std::span<const SeqRange> sack_blocks) const {
        return state_ == SenderState::Open && cumulative > snd_una_ && sack_blocks.empty() && sacked_count_ == 0 &&
               lost_pending_ == 0 && retransmissions_.empty() && probe_ == Probe::None && !needs_every_step_ &&
               packets_[cumulative - 1].transmission >= latest_delivered_[0];
    }
    // The current packet leaves and joins the current monitor interval or begins one.
    void monitor_send(Nanos now);
    void monitor_delivery(const SentPacket& packet) {
        if (packet.flags() & kLost) monitor_->on_found(packet.transmission);
        monitor_->on_delivered(packet.transmission, delivered_at_);
    }
    // Passes the finished intervals to the controller.
    void report_intervals(Nanos now, const Siblings& siblings);
    Nanos interval_timeout() const;
    // Sets the timer to the time limit of the oldest interval. The limit shares a deadline with the reordering window,
    // so that other senders have one deadline less to check.
    void watch_intervals() {
        reordering_deadline_ = std::min(reordering_deadline_, monitor_->wait_ends(interval_timeout()));
    }
    IntervalMoment describe_moment(Nanos now, Reason* why) const {
        return {.now = now,
                .srtt = rtt_.has_sample() ? rtt_.srtt() : Nanos(0),
                .min_rtt = rtt_.has_sample() ? rtt_.min_rtt() : Nanos(0),
                .packet_bits = packet_bits_,
                .inflight_pkts = static_cast<double>(pipe_),
                .why = why};
    }
    // Changes the window by change(why) and records the change where decisions are recorded. A change without an
    // explicit reason is recorded under `fallback`.
    template <class Change>
    SF_INLINE void decide(Cause cause, Nanos now, const RuleInfo& fallback, Change&& change) {
        if (!decisions_) [[likely]] {
            change(nullptr);
            return;
        }
        Decision& draft = decisions_->draft(cause, now);
        const Window before = window_;
        change(&draft.reason);
        finish_decision(draft, fallback, before);
    }
    // Like decide(), for a decision of the controller in call(controller, why). Defined in sender_controller.h.
    template <class Call>
    void let_controller_change_window(Cause cause, Nanos now, Call&& call);
    void record_start(Nanos now);
    void finish_decision(Decision& draft, const RuleInfo& fallback, const Window& before);
    void add_rtt_sample(Nanos rtt, Nanos newest_rtt, const TransportOptions& options);
    void restart_rto_after_advance(Nanos now, const TransportOptions& options);
    AckSample describe_ack(std::uint32_t newly_delivered, std::uint32_t advanced, Nanos newest_rtt,
                           const Ack& ack) const;
    template <bool kAsksWhy>
    void grow_window(const AckSample& sample, const Siblings& siblings);
    AckOutcome on_ordinary_ack(const Ack& ack);
    AckOutcome on_ack_step_by_step(const Ack& ack);
    SeqRange deliver_acknowledged(const Ack& ack, AckOutcome& outcome);
    void measure_round_trip(const Ack& ack, Nanos newest_rtt, const AckOutcome& outcome);
    LossVerdict judge_losses(const Ack& ack, const AckOutcome& outcome, SeqRange duplicate);
    void notify_every_ack(AckSample& sample, const Siblings& siblings);
    void leave_recovery(const Ack& ack, SeqRange duplicate, AckSample& sample, LossVerdict& losses,
                        AckOutcome& outcome);
    void notify_recovered(AckSample& sample, const Siblings& siblings);
    std::uint32_t take_marks(const AckOutcome& outcome);
    // True if this window has been reduced because of marks: a loss in it causes no second reduction.
    bool has_answered_marks() const { return snd_una_ < marks_.reduced_until; }
    void answer_marks(const Ack& ack, AckSample& sample, AckOutcome& outcome);
    bool answers(const AckSample& sample) const { return sample.marked_pkts > 0 && marks_.has_answer; }
    void end_reduction(AckSample& sample, const Siblings& siblings);
    void begin_rate_reduction(const TransportOptions& options);
    void give_memory_back();
    void reduce_after_loss(const Ack& ack, const LossVerdict& losses, AckSample& sample, AckOutcome& outcome);
    // (Re)starts the probe timer if a probe could detect a loss: RFC 8985 section 7.2.
    void start_probe_timer(const TransportOptions& options) {
        if (options.loss_detection == LossDetection::Rack) {
            const bool may_probe =
                is_open() && sacked_count_ == 0 && lost_pending_ == 0 && probe_ == Probe::None && has_outstanding();
            probe_deadline_ = may_probe ? std::min(probe_starts_ + probe_timeout(), rto_deadline_) : kNever;
        }
        probe_starts_ = kNever;
    }
    Nanos probe_timeout() const {
        if (!rtt_.has_estimate()) return Nanos(1'000'000'000);
        // Linux TCP_TIMEOUT_MIN: two ticks of 1 ms; TCP_RTO_MIN: the ACK of a single packet may be delayed.
        return rtt_.srtt() * 2 + Nanos(snd_nxt_ - snd_una_ == 1 ? 200'000'000 : 2'000'000);
    }
    void begin_probe(Probe probe, Nanos now, const TransportOptions& options);
    // Evaluates an ACK with respect to an outstanding probe. Returns true if the probe repaired a loss.
    bool judge_probe(const AckOutcome& ack, SeqRange duplicate);
    void mark_lost(std::uint32_t seq, LossSign sign, Nanos now);
    void report_lost(std::uint32_t seq);
    std::uint32_t take_first_lost();
    void enter_recovery(Nanos now, const Siblings& siblings, const TransportOptions& options);
    void update_recovery_window(const AckOutcome& ack, bool found_losses, Nanos now, const TransportOptions& options);

    // Used for each packet or ACK
    Window window_;
    std::uint32_t snd_una_ = 0;
    std::uint32_t snd_nxt_ = 0;
    std::uint32_t pipe_ = 0;          // RFC 6675: packets believed to be in the network
    std::uint32_t lost_pending_ = 0;  // marked lost and not yet retransmitted
    std::uint32_t queued_pkts_ = 0;   // length of queue_
    std::uint32_t sacked_count_ = 0;  // packets in sacked_
    std::uint32_t transmissions_ = 0;
    std::uint32_t latest_delivered_[3] = {0, 0, 0};  // highest transmission numbers delivered, plus one
    SenderState state_ = SenderState::Open;
    Probe probe_ = Probe::None;  // the outstanding probe
    std::uint8_t backoffs_ = 0;
    bool owes_first_retransmission_ = false;
    std::uint8_t needs_every_step_ = 0;  // bits of EveryStep; 0: is_ordinary() may hold
    bool sees_every_ack_ = false;        // the controller has on_every_ack
    bool samples_delivery_ = false;      // the controller has on_delivery
    bool has_monitor_ = false;           // the controller monitors intervals
    bool governs_recovery_ = false;      // the controller has kGovernsRecovery
    bool paces_in_bursts_ = false;       // TransportOptions::tso
    bool latest_sent_once_ = false;      // the packet of transmission latest_delivered_[0] was never retransmitted
    bool paces_by_mss_ = false;          // the controller has kPacesByMss
    double pkts_per_mss_ = 1;            // MSS divided by the payload of a full packet
    // Use of the window in this round trip and the previous one
    bool round_was_limited_ = false;
    bool last_round_was_limited_ = false;
    std::uint32_t round_end_ = 1;
    std::uint32_t round_max_pipe_ = 0;
    std::uint32_t last_round_max_pipe_ = 0;
    std::uint32_t prr_out_ = 0;  // RFC 6937 section 3: sent since recovery began
    Nanos rto_deadline_ = kNever;
    Nanos probe_deadline_ = kNever;
    Nanos probe_starts_ = kNever;         // time from which to restart the probe timer; kNever: no restart is due
    Nanos reordering_deadline_ = kNever;  // end of the reordering window, or time limit of a monitor interval
    Pacer pacer_;
    double acked_since_loss_ = 0;
    RttEstimator rtt_;
    Nanos latest_sent_time_{};  // send time of the transmission latest_delivered_[0]: RACK.xmit_ts of RFC 8985
    Nanos latest_rtt_{};        // RTT of that transmission: RACK.rtt
    Nanos last_sent_{};
    Nanos cwnd_since_{};
    SenderStats stats_;
    BoxedOne<Controller> controller_;
    Ring<SentPacket> packets_;              // [snd_una, snd_nxt)
    Ring<Retransmission> retransmissions_;  // retransmissions in flight, in order of transmission

    // The remaining members serve losses, reordering, idle times, pacing and particular controllers.
    Ring<std::uint32_t> queue_;  // data numbers handed over but not yet sent
    RangeSet sacked_;
    std::uint32_t loss_scan_ = 0;        // first transmissions below it have been checked
    std::uint32_t retransmit_hint_ = 0;  // below it, only packets in lost_again_ await retransmission
    // A min-heap of packets marked lost below the hint, mostly lost retransmissions: in a flight of thousands of
    // packets, lowering the hint for each would repeat the search. Some packets may have been delivered.
    std::vector<std::uint32_t> lost_again_;
    double acked_between_losses_ = 0;
    std::uint32_t recovery_point_ = 0;

    // RFC 8985
    bool reordering_seen_ = false;
    bool is_duplicate_round_ = false;      // a duplicate was counted since `duplicate_round_end_` was sent
    std::uint8_t reordering_persist_ = 0;  // recoveries until the reordering window narrows
    std::int32_t reordering_steps_ = 1;    // RACK.reo_wnd_mult
    std::uint32_t duplicate_round_end_ = 0;

    // State for undoing a reduction
    double undo_cwnd_ = 0;  // cwnd before the reduction; 0: not undoable
    double undo_ssthresh_ = 0;
    Nanos first_retransmission_ = kNever;         // time of the first retransmission since the reduction
    std::uint32_t unproven_retransmissions_ = 0;  // since the reduction, not yet reported as duplicates

    std::uint32_t used_max_pipe_ = 0;  // largest pipe since last_limited_
    Nanos last_limited_{};             // end of the last round trip that used the window

    double prr_divisor_ = 1;  // RFC 6937 section 3: divisor; prior cwnd for Prr::Linux, else all outstanding packets
    double prr_flight_size_ = 1;  // in flight when recovery began, including lost packets
    double prr_prior_cwnd_ = 1;   // cwnd when recovery began
    double prr_delivered_ = 0;

    EcnEchoState marks_;
    std::uint32_t probe_end_ = 0;     // snd_nxt after the current probe
    Boxed<DeliverySampler> sampler_;  // empty unless samples_delivery_
    Boxed<IntervalMonitor> monitor_;  // empty before the first controller that monitors intervals
    Nanos delivered_at_{};            // arrival of the latest non-ordinary ACK
    double packet_bits_ = 12'000;
    Boxed<DecisionLog> decisions_;  // empty unless decisions are recorded
};

}  // namespace subflow
