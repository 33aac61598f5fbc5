// The sending end of a subflow: what is outstanding, what was lost, how large the window is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "boxed.h"
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

class Controller;  // cc/controllers.h, which is left to the sources that speak to one

enum class SenderState : std::uint8_t {
    Open,
    Reduced,  // the window goes down because of marks, over a round trip (Linux TCP_CA_CWR)
    Recovery,
    Loss,
};

// A state machine without a network: it is told of ACKs and expiries and asked for packets. Sequence numbers count
// packets.
//
// Loss detection, either of
// - DupAck: a packet is lost once three packets that were sent later have been delivered. For first transmissions this
//   is RFC 6675's rule (three SACKed packets above); counting in order of transmission extends it to retransmissions,
//   which that RFC leaves to the timeout.
// - Rack: a packet is lost once one packet that was sent later has been delivered and a reordering window has passed
//   since it was due itself; what is lost at the end of a flight is found by a probe (RFC 8985).
// First transmissions are in order of transmission when taken in order of sequence, and retransmissions have a ring of
// their own, so that both rules look at each transmission once, whatever the size of the window.
class SubflowSender {
public:
    SubflowSender();
    // `seed` is handed to a controller that draws; `packet_bits` is what a full packet weighs on the wire.
    SubflowSender(const Controller& controller, const TransportOptions& options, std::uint64_t seed = 0,
                  double packet_bits = 12'000);
    SubflowSender(const SubflowSender&);
    SubflowSender(SubflowSender&&) noexcept;
    SubflowSender& operator=(const SubflowSender&);
    SubflowSender& operator=(SubflowSender&&) noexcept;
    ~SubflowSender();

    bool has_window() const { return static_cast<double>(pipe_ + 1) <= window_.cwnd_pkts; }
    // Window left for data that is yet to be handed to it.
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

    // Sends the next new packet, which carries connection-level number `data_seq`.
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

    // Data that was handed to it and that its pacing holds back, in the order in which it is to leave.
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

    // Whether note_out_of_data() makes a difference.
    bool follows_supply() const { return samples_delivery_ || has_monitor_; }
    // There is no data to hand to this subflow: while its window has room, what it delivers says nothing of the path.
    void note_out_of_data() {
        if (!has_window() || has_lost() || has_queued()) return;
        if (samples_delivery_) sampler_.mark_app_limited(pipe_);
        if (!has_monitor_) return;
        monitor_->mark_app_limited();
        // An idle subflow has no rate that its siblings should reckon with, until it is heard of again.
        if (!has_outstanding()) window_.advertised = 0;
    }

    // Tail loss probes, when on_timer() asks for one: the next new packet, whatever the window says, or the last one
    // again.
    Transmission probe_with_new(std::uint32_t data_seq, Nanos now, const TransportOptions& options);
    Transmission probe_with_last(Nanos now, const TransportOptions& options);

    // Retransmits the first lost packet. Only while may_retransmit(now).
    Transmission retransmit(Nanos now, const TransportOptions& options);

    // Processes an acknowledgement of everything below `cumulative` and of `sack_blocks`; `echo` is when the packet
    // that triggered it was sent. Window growth and reduction happen here, through the controller.
    AckOutcome on_ack(std::uint32_t cumulative, std::span<const SeqRange> sack_blocks, Nanos echo, Nanos now,
                      const Siblings& siblings, const TransportOptions& options);

    // How the receiver reports marks.
    void agree_on_ecn(EcnMode mode) {
        marks_.mode = mode;
        marks_.told = first_echo(mode);
    }
    // Whether an acknowledgement with these flags, and no more to say of marks, says anything new of them.
    bool is_news(std::uint32_t flags, std::uint32_t cumulative) const {
        return ((flags - marks_.told) & kAceMask) != 0 || cumulative - snd_una_ > kAceMask;
    }
    // What the acknowledgement says of marks that is processed next, where that may be news.
    void hear_marks(const EcnEcho& echo, std::uint32_t cumulative, bool is_long, std::uint32_t payload) {
        if (marks_.hear(echo, is_long || cumulative - snd_una_ > kAceMask, payload)) wants_every_step_ |= kForMarks;
    }
    // Whether the next new packet is to tell the receiver that the window was reduced (RFC 3168 section 6.1.2).
    bool owes_cwr() const { return marks_.owes_cwr; }
    void forget_cwr() { marks_.owes_cwr = false; }

    // When on_timer() wants to be called: the earliest of the retransmission timeout, the tail loss probe, the end of
    // the reordering window and, while pacing alone holds a packet back, the time it may leave.
    Nanos timer_deadline(Nanos now, const TransportOptions& options) {
        if (probe_starts_ != kNever) start_probe_timer(options);
        const Nanos deadline = next_expiry();
        const bool is_held_back = !pacer_.allows(now) && (has_window() || owes_first_retransmission_);
        return is_held_back ? std::min(pacer_.next(), deadline) : deadline;
    }
    // Whether on_timer() has anything to do: it may have been the pacing alone that waited for the time.
    bool has_expired(Nanos now) const { return next_expiry() <= now; }
    // Does what is due at `now`; early calls are harmless.
    TimerOutcome on_timer(Nanos now, const Siblings& siblings, const TransportOptions& options);

    // Calls visit(data_seq) for everything that was handed to it and is not known to have arrived.
    template <class Visit>
    void for_each_undelivered(Visit&& visit) const {
        for (std::uint32_t seq = snd_una_; seq != snd_nxt_; ++seq) {
            if (!(packets_[seq].flags() & kSacked)) visit(packets_[seq].data_seq);
        }
        for (std::uint32_t pos = queue_.begin_pos(); pos != queue_.end_pos(); ++pos) visit(queue_[pos]);
    }

    // Half the window for a subflow that holds up a faster one. Source: Raiciu et al., NSDI 2012, section 4.2; Linux
    // mptcp_rcv_buf_optimization.
    void penalise(Nanos now);

    SenderState state() const { return state_; }
    // Nothing is being repaired.
    bool is_open() const { return state_ <= SenderState::Reduced; }
    const Window& window() const { return window_; }
    // The window as siblings should see it: ssthresh in recovery, as in Linux MPTCP's coupled controllers.
    double effective_cwnd_pkts() const {
        const bool is_reducing = state_ == SenderState::Recovery || state_ == SenderState::Reduced;
        return is_reducing && !governs_recovery_ ? window_.ssthresh_pkts : window_.cwnd_pkts;
    }
    const RttEstimator& rtt() const { return rtt_; }
    void set_tick(Nanos tick) { rtt_.set_tick(tick); }
    const Controller& controller() const { return *controller_; }
    // Packets acknowledged since the last congestion event, and between the last two (OLIA's l2 and l1).
    double acked_since_loss_pkts() const { return acked_since_loss_; }
    double acked_between_losses_pkts() const { return acked_between_losses_; }
    bool is_unheard(Nanos now, const TransportOptions& options) const;  // for longer than a timeout takes
    Nanos rto(const TransportOptions& options) const { return rtt_.rto(options, 0); }  // not backed off
    Nanos rto_deadline() const { return rto_deadline_; }
    Nanos probe_deadline() const { return probe_deadline_; }
    Nanos reordering_deadline() const { return reordering_deadline_; }
    // The earliest of them; what was sent or acknowledged since timer_deadline() was asked last is not in it.
    Nanos next_expiry() const { return std::min(rto_deadline_, std::min(probe_deadline_, reordering_deadline_)); }
    // How long RACK waits for a packet that others have overtaken (RFC 8985 section 6.2, step 4).
    Nanos reordering_window() const {
        const bool is_certain = !is_open() || sacked_count_ >= 3;
        if (!reordering_seen_ && is_certain) return Nanos(0);
        return std::min(rtt_.min_rtt() / 4 * reordering_steps_, rtt_.srtt());
    }
    std::uint32_t pipe() const { return pipe_; }
    // Acknowledged since it was opened, cumulatively or by SACK.
    std::uint32_t delivered_pkts() const { return snd_una_ + sacked_count_; }
    std::uint32_t snd_una() const { return snd_una_; }
    std::uint32_t snd_nxt() const { return snd_nxt_; }
    std::int64_t acked_pkts() const { return stats_.acked_before + delivered_pkts(); }  // in all times it was open
    const SenderStats& stats() const { return stats_; }
    // Brings the integral of cwnd up to `now`.
    void account_cwnd(Nanos now) {
        const double elapsed_s = to_seconds(now - cwnd_since_);
        stats_.cwnd_seconds += window_.cwnd_pkts * elapsed_s;
        stats_.clock_seconds += elapsed_s;
        cwnd_since_ = now;
    }
    // The counters with that integral as it stands at `now`, and when its flow ended. Only while established.
    SenderStats stats_at(Nanos now) const {
        SenderStats stats = stats_;
        const double elapsed_s = to_seconds(now - cwnd_since_);
        stats.cwnd_seconds += window_.cwnd_pkts * elapsed_s;
        stats.clock_seconds += elapsed_s;
        return stats;
    }
    SenderStats stats_at_end(Nanos ended_at) const;
    // A handshake has established it, of which so many packets were sent again.
    void learn_from_handshake(Nanos rtt, int retransmissions, const TransportOptions& options) {
        rtt_.add_handshake(std::max(rtt, Nanos(1)), options);
        // RFC 5681 section 3.1; Linux tcp_init_transfer forgives the first loss, its timer being short. A rate has no
        // window to cut.
        if (retransmissions > 1 && window_.pacing_pps == 0) window_.cwnd_pkts = 1;
    }
    // The subflow is established.
    void start(Nanos now) {
        cwnd_since_ = now;
        if (decisions_) record_start(now);
    }
    // Another controller takes over, fresh, with the window, ssthresh, RTT estimates and everything in flight as they
    // are; a recovery goes on, but nothing is undone any more. Source: Linux tcp_reinit_congestion_control. What Linux
    // does not say:
    // - Pacing and the rate that siblings are told are the controller's own: they end, unless the new one begins with
    //   some. To a controller that sends by rate the window is what it starts from (bbr), or bounds it until its first
    //   interval (vivace, mpcc); then it has its initial rate, as on a new path.
    // - Where the old one governed recovery and the new one does not, ssthresh says nothing of the recovery under way:
    //   it ends at the window that there is.
    // - What is in flight belongs to no monitor interval, and to a new delivery sample as if nothing had been delivered
    //   before. (Linux samples whatever the controller; the first round trip is all that differs.)
    void change_controller(const Controller& controller, std::uint64_t seed, Nanos now);
    // The counters and records of a predecessor on the same path go on.
    void continue_books(SubflowSender&& predecessor);

    // For controllers that do what an agent says (agent/agent_info.h).
    // Whether the controller wants its agent to act now.
    bool wants_action() const;
    // What the agent is to see of the epoch: [features]. The controller may put its own measurements into the sample.
    void observe(EpochSample& sample, std::span<float> record);
    double reward(std::span<const EpochSample> samples) const;
    void act(std::span<const float> action, const EpochSample& sample, Nanos now);
    // The least RTT since this was asked last, by the one agent that may: kNever if there was none.
    Nanos take_least_rtt() { return rtt_.take_least(); }

    // Records of monitor intervals; nothing if no controller so far has sent by them.
    const Boxed<IntervalMonitor>& monitor() const { return monitor_; }
    // The latest interval; none while the controller does not send by them.
    const IntervalRecord* latest_interval() const {
        return has_monitor_ && monitor_->has_latest() ? &monitor_->latest() : nullptr;
    }
    std::vector<IntervalRecord> take_intervals() {
        return monitor_ ? monitor_->take_records() : std::vector<IntervalRecord>();
    }
    // From now on every change of the window or the rate is recorded with its reason. It makes no difference to what
    // the sender does.
    void record_decisions(const DecisionLog::Limits& limits);
    // What is recorded; nothing unless it was asked for.
    const Boxed<DecisionLog>& decisions() const { return decisions_; }
    void clear_decisions() {
        if (decisions_) decisions_->clear();
    }

    std::size_t heap_bytes() const;
    // Has the processor fetch what the next acknowledgements and transmissions touch (Network::fetch_ahead).
    void fetch_ahead() const;
    // Throws InternalError unless the books balance: used by builds with SUBFLOW_VALIDATE and by tests.
    void check_invariants() const;

private:
    void adopt_controller(std::uint64_t seed);
    void check_monitor() const;
    enum class Probe : std::uint8_t { None, New, Last };
    enum Flags : std::uint8_t { kInPipe = 1, kSacked = 2, kLost = 4, kRetransmitted = 8 };

    enum EveryStep : std::uint8_t { kAlways = 1, kForMarks = 2 };  // controller or observer; the next acknowledgement
    // An acknowledgement in hand: the arguments of on_ack().
    struct Ack {
        std::uint32_t cumulative;
        std::span<const SeqRange> sack_blocks;
        Nanos echo;
        Nanos now;
        const Siblings& siblings;
        const TransportOptions& options;

        Nanos rtt() const { return now - echo; }
    };
    // What it shows of losses.
    struct LossVerdict {
        bool found = false;           // some packet is lost
        bool probe_repaired = false;  // one was lost, and a tail loss probe has repaired it
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

    // The current packet, which is not in the pipe yet, leaves by pacing: alone, or in a burst, which ends where the
    // window is full.
    void pace(Nanos now) {
        if (!paces_in_bursts_) [[likely]]
            return pacer_.on_send(now, window_.pacing_pps);
        const std::uint32_t most =
            burst_pkts(window_.pacing_pps, rtt_.min_rtt(), packet_bits_ / 8 - static_cast<double>(kHeaderBytes.value));
        // Two of them at least make up a window (Linux tcp_cwnd_test).
        const double half_pkts = std::max(std::floor(window_.cwnd_pkts / 2), 1.0);
        pacer_.on_send_in_burst(now, window_.pacing_pps,
                                half_pkts < most ? static_cast<std::uint32_t>(half_pkts) : most);
        if (static_cast<double>(pipe_ + 2) > window_.cwnd_pkts) pacer_.end_burst();
    }

    // Books one packet as delivered, once. `echo` tells which of its transmissions that was.
    void deliver(SentPacket& packet, Nanos echo, const TransportOptions& options) {
        if (packet.flags() & kInPipe) --pipe_;
        if (packet.flags() & kLost) --lost_pending_;
        if (has_monitor_) [[unlikely]]
            monitor_delivery(packet);
        // The original arrived after all: it says nothing of what was sent before the retransmission (RFC 8985 section
        // 6.2, step 2).
        if ((packet.flags() & kRetransmitted) && echo < packet.sent_time() &&
            options.loss_detection == LossDetection::Rack) [[unlikely]]
            return;
        // Deliveries come nearly always in order of transmission: an insertion into three places.
        const std::uint32_t t = packet.transmission + 1;
        if (t > latest_delivered_[0]) {
            latest_delivered_[2] = latest_delivered_[1];
            latest_delivered_[1] = latest_delivered_[0];
            latest_delivered_[0] = t;
            latest_sent_time_ = packet.sent_time();
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

    // Whether the window is used. Source: Linux tcp_is_cwnd_limited; RFC 7661 gives the reason.
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

    // The retransmission timer expired. Only while something is outstanding. Source: RFC 6298 section 5, RFC 5681
    // section 3.1.
    void on_timeout(Nanos now, const Siblings& siblings, const TransportOptions& options);
    void stamp(std::uint32_t seq, Nanos now);
    void sample_cumulative(std::uint32_t cumulative);
    void tell_delivery(DeliverySample sample, const Siblings& siblings);
    // Once per round trip: a window that was not used for as long as a retransmission timeout moves half-way to what
    // was. Source: RFC 2861, Linux tcp_cwnd_application_limited.
    void decay_unused_window(Nanos now, const TransportOptions& options);
    // The first packet after everything was acknowledged. Source: RFC 5681 section 4.1, Linux tcp_cwnd_restart.
    void restart_after_idle(Nanos now, const TransportOptions& options);
    // Remembers the window before a reduction that may turn out to be groundless.
    void prepare_undo(const TransportOptions& options) {
        undo_cwnd_ = options.undo ? window_.cwnd_pkts : 0;
        undo_ssthresh_ = window_.ssthresh_pkts;
        first_retransmission_ = kNever;
        unproven_retransmissions_ = 0;
    }
    // Whether nothing of what was retransmitted had been lost: an original was acknowledged after its retransmission
    // had left (RFC 3522, by the echo), or every retransmission has been reported as a duplicate (RFC 3708).
    bool is_recovery_groundless(const AckOutcome& ack, Nanos echo, SeqRange duplicate);
    void undo_reduction();
    void tell_controller(CongestionEvent event, const Siblings& siblings);
    // Acknowledges everything below `cumulative` where something of it may have been SACKed before. Returns how many
    // packets were not.
    std::uint32_t advance_past_sacked(std::uint32_t cumulative, Nanos echo, const TransportOptions& options);
    std::uint32_t apply_sack(std::span<const SeqRange> sack_blocks, Nanos echo, const TransportOptions& options);
    // Marks what the three-later-deliveries rule proves lost. Returns true if anything was.
    bool detect_losses();
    // Marks what RACK proves lost and sets the deadline for what it waits for. Returns true if anything was.
    bool detect_losses_by_time(Nanos now);
    // Marks lost what a timeout makes lost under RACK: the first packet, and what is overdue (RFC 8985 section 6.3).
    void mark_overdue_lost(Nanos now);
    // The range that an ACK reports as received twice; empty: none. Source: RFC 2883 section 4.
    static SeqRange reported_duplicate(std::uint32_t cumulative, std::span<const SeqRange> sack_blocks);
    // The reordering window widens with each round trip that had a duplicate, and narrows after 16 recoveries without
    // one: RFC 8985 section 6.2, step 4.
    void adapt_reordering_window(SeqRange duplicate);
    void forget_duplicates_in_time() {
        if (reordering_persist_ != 0 && --reordering_persist_ == 0) reordering_steps_ = 1;
    }
    // Everything outstanding was sent once and is in the pipe, and this acknowledges some of it. After a recovery a
    // retransmission may have been delivered that was sent later than what is outstanding: that can prove losses.
    bool is_ordinary(std::uint32_t cumulative, std::span<const SeqRange> sack_blocks) const {
        return state_ == SenderState::Open && cumulative > snd_una_ && sack_blocks.empty() && sacked_count_ == 0 &&
               lost_pending_ == 0 && retransmissions_.empty() && probe_ == Probe::None && !wants_every_step_ &&
               packets_[cumulative - 1].transmission >= latest_delivered_[0];
    }
    // The current packet leaves: it belongs to the current monitor interval, or begins one.
    void monitor_send(Nanos now);
    void monitor_delivery(const SentPacket& packet) {
        if (packet.flags() & kLost) monitor_->on_found(packet.transmission);
        monitor_->on_delivered(packet.transmission, delivered_at_);
    }
    // Tells the controller of the intervals that are finished.
    void tell_intervals(Nanos now, const Siblings& siblings);
    Nanos interval_patience() const;
    // The timer is to go off when the patience with the oldest interval is over. It shares a deadline with the
    // reordering window, which spares every other sender one more to look at.
    void watch_intervals() {
        reordering_deadline_ = std::min(reordering_deadline_, monitor_->patience_ends(interval_patience()));
    }
    IntervalMoment describe_moment(Nanos now, Reason* why) const {
        return {.now = now,
                .srtt = rtt_.has_sample() ? rtt_.srtt() : Nanos(0),
                .min_rtt = rtt_.has_sample() ? rtt_.min_rtt() : Nanos(0),
                .packet_bits = packet_bits_,
                .inflight_pkts = static_cast<double>(pipe_),
                .why = why};
    }
    // Changes the window by way of change(why), with a record of it if one is wanted. What sets no reason of its own is
    // recorded under `fallback`, if it changed anything.
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
    // The same for what the controller decides, by way of call(controller, why): sender_controller.h.
    template <class Call>
    void let_controller_decide(Cause cause, Nanos now, Call&& call);
    void record_start(Nanos now);
    void finish_decision(Decision& draft, const RuleInfo& fallback, const Window& before);
    void add_rtt_sample(Nanos rtt, const TransportOptions& options);
    void restart_rto_after_advance(Nanos now, const TransportOptions& options);
    AckSample describe_ack(std::uint32_t newly_delivered, std::uint32_t advanced, const Ack& ack) const;
    template <bool kAsksWhy>
    void grow_window(const AckSample& sample, const Siblings& siblings);
    AckOutcome on_ordinary_ack(const Ack& ack);
    AckOutcome on_ack_step_by_step(const Ack& ack);
    SeqRange deliver_acknowledged(const Ack& ack, AckOutcome& outcome);
    void measure_round_trip(const Ack& ack, const AckOutcome& outcome);
    LossVerdict judge_losses(const Ack& ack, const AckOutcome& outcome, SeqRange duplicate);
    void tell_every_ack(AckSample& sample, const Siblings& siblings);
    void leave_recovery(const Ack& ack, SeqRange duplicate, AckSample& sample, LossVerdict& losses,
                        AckOutcome& outcome);
    void tell_recovered(AckSample& sample, const Siblings& siblings);
    std::uint32_t take_marks(const AckOutcome& outcome);
    // This window has been reduced because of marks: a loss in it is answered already.
    bool has_answered_marks() const { return snd_una_ < marks_.reduced_until; }
    void answer_marks(const Ack& ack, AckSample& sample, AckOutcome& outcome);
    bool answers(const AckSample& sample) const { return sample.marked_pkts > 0 && marks_.has_answer; }
    void end_reduction(AckSample& sample, const Siblings& siblings);
    void begin_rate_reduction(const TransportOptions& options);
    void give_memory_back();
    void reduce_after_loss(const Ack& ack, const LossVerdict& losses, AckSample& sample, AckOutcome& outcome);
    // (Re)starts the probe timer if a probe could tell anything: RFC 8985 section 7.2.
    void start_probe_timer(const TransportOptions& options) {
        if (options.loss_detection == LossDetection::Rack) {
            const bool may_probe =
                is_open() && sacked_count_ == 0 && lost_pending_ == 0 && probe_ == Probe::None && has_outstanding();
            probe_deadline_ = may_probe ? std::min(probe_starts_ + probe_timeout(), rto_deadline_) : kNever;
        }
        probe_starts_ = kNever;
    }
    Nanos probe_timeout() const {
        // Linux TCP_TIMEOUT_MIN: two ticks, here of 1 ms each; TCP_RTO_MIN: a lone packet's ACK may be delayed.
        if (!rtt_.has_estimate()) return Nanos(1'000'000'000);
        return rtt_.srtt() * 2 + Nanos(snd_nxt_ - snd_una_ == 1 ? 200'000'000 : 2'000'000);
    }
    void begin_probe(Probe probe, Nanos now, const TransportOptions& options);
    // What an acknowledgement says of a probe under way. Returns true if the probe repaired a loss.
    bool judge_probe(const AckOutcome& ack, SeqRange duplicate);
    void mark_lost(std::uint32_t seq);
    void tell_lost(std::uint32_t seq);
    std::uint32_t take_first_lost();
    void enter_recovery(Nanos now, const Siblings& siblings, const TransportOptions& options);
    void update_recovery_window(const AckOutcome& ack, bool found_losses, Nanos now, const TransportOptions& options);

    // What every packet or acknowledgement touches
    Window window_;
    std::uint32_t snd_una_ = 0;
    std::uint32_t snd_nxt_ = 0;
    std::uint32_t pipe_ = 0;          // RFC 6675: packets believed to be in the network
    std::uint32_t lost_pending_ = 0;  // marked lost and not yet retransmitted
    std::uint32_t queued_pkts_ = 0;   // in queue_
    std::uint32_t sacked_count_ = 0;  // packets in sacked_
    std::uint32_t transmissions_ = 0;
    std::uint32_t latest_delivered_[3] = {0, 0, 0};  // highest transmission numbers delivered, plus one
    SenderState state_ = SenderState::Open;
    Probe probe_ = Probe::None;  // under way
    std::uint8_t backoffs_ = 0;
    bool owes_first_retransmission_ = false;
    std::uint8_t wants_every_step_ = 0;  // else is_ordinary() may hold
    bool sees_every_ack_ = false;        // the controller has on_every_ack
    bool samples_delivery_ = false;      // the controller has on_delivery
    bool has_monitor_ = false;           // the controller monitors intervals
    bool governs_recovery_ = false;      // the controller has kGovernsRecovery
    bool paces_in_bursts_ = false;       // TransportOptions::tso
    // Use of the window in this round trip and the one before
    bool round_was_limited_ = false;
    bool last_round_was_limited_ = false;
    std::uint32_t round_end_ = 1;
    std::uint32_t round_max_pipe_ = 0;
    std::uint32_t last_round_max_pipe_ = 0;
    std::uint32_t prr_out_ = 0;  // RFC 6937 section 3: sent since recovery began
    Nanos rto_deadline_ = kNever;
    Nanos probe_deadline_ = kNever;
    Nanos probe_starts_ = kNever;         // when something was sent or acknowledged and the probe timer started anew
    Nanos reordering_deadline_ = kNever;  // or the end of the patience with a monitor interval
    Pacer pacer_;
    double acked_since_loss_ = 0;
    RttEstimator rtt_;
    Nanos latest_sent_time_{};  // of the transmission latest_delivered_[0]: RACK.xmit_ts of RFC 8985
    Nanos latest_rtt_{};        // and how long it took: RACK.rtt
    Nanos last_sent_{};
    Nanos cwnd_since_{};
    SenderStats stats_;
    Boxed<Controller> controller_;
    Ring<SentPacket> packets_;              // [snd_una, snd_nxt)
    Ring<Retransmission> retransmissions_;  // in flight, in order of transmission

    // The rest is for losses, reordering, pauses, pacing and particular controllers.
    Ring<std::uint32_t> queue_;  // data numbers handed over and not yet sent
    RangeSet sacked_;
    std::uint32_t loss_scan_ = 0;        // first transmissions below it have been judged
    std::uint32_t retransmit_hint_ = 0;  // below it only what is in lost_again_ awaits retransmission
    // A heap, the lowest first, of what was marked lost below the hint: mostly retransmissions that were lost, too. In
    // a flight of thousands of packets each of them would have the search begin anew. Some may have been delivered.
    std::vector<std::uint32_t> lost_again_;
    std::uint32_t recovery_point_ = 0;
    double acked_between_losses_ = 0;

    // RFC 8985
    bool reordering_seen_ = false;
    bool is_duplicate_round_ = false;      // a duplicate counted since `duplicate_round_end_` was sent
    std::uint8_t reordering_persist_ = 0;  // recoveries until the window is narrow again
    std::int64_t reordering_steps_ = 1;    // RACK.reo_wnd_mult
    std::uint32_t duplicate_round_end_ = 0;
    std::uint32_t probe_end_ = 0;  // snd_nxt after the probe under way

    // What a reduction can be undone with
    double undo_cwnd_ = 0;  // before it; 0: there is nothing to undo
    double undo_ssthresh_ = 0;
    Nanos first_retransmission_ = kNever;         // since it
    std::uint32_t unproven_retransmissions_ = 0;  // since it, less those reported as duplicates

    std::uint32_t used_max_pipe_ = 0;  // since last_limited_
    Nanos last_limited_{};             // end of the last round trip in which the window was used

    double prr_divisor_ = 1;      // RFC 6937 section 3; of Linux the cwnd before, else the flight size
    double prr_flight_size_ = 1;  // outstanding when recovery began, lost packets included
    double prr_prior_cwnd_ = 1;   // then
    double prr_delivered_ = 0;

    EcnHeard marks_;
    DeliverySampler sampler_;         // in use if samples_delivery_
    Boxed<IntervalMonitor> monitor_;  // if the controller monitors intervals
    Nanos delivered_at_{};            // when the latest acknowledgement came that was not ordinary
    double packet_bits_ = 12'000;
    Boxed<DecisionLog> decisions_;  // if they are recorded
};

}  // namespace subflow
