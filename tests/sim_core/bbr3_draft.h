// Second implementation of BBR version 3, which follows the pseudocode of its draft with packets for bytes.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "rng.h"
#include "windowed_max.h"

namespace subflow::testing {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// draft-ietf-ccwg-bbr-06, section 5. Functions and fields have the draft's names; the transport's part is omitted.
struct Bbr3Draft {
    enum State { Startup, Drain, ProbeBW_DOWN, ProbeBW_CRUISE, ProbeBW_REFILL, ProbeBW_UP, ProbeRTT, None };
    enum Acks { INIT, REFILLING, PROBE_STARTING, PROBE_FEEDBACK, PROBE_STOPPING };
    struct Rs {
        double delivery_rate = 0, delivered = 0, prior_delivered = 0, newly_acked = 0, tx_in_flight = 0, lost = 0;
        double rtt = -1;
        bool is_app_limited = false;
    } RS;
    // The connection
    double now = 0, cwnd = 0, InitialCwnd = 0, inflight = 0, delivered = 0, pacing_rate = 0, send_quantum = 2;
    bool is_cwnd_limited = false, in_fast_recovery = false, in_recovery = false;
    double limited_from = 1, limited_until = 0;
    Draws random;
    // BBR
    State state = Startup, undo_state = None;
    Acks ack_phase = INIT;
    double pacing_gain = 2.77, cwnd_gain = 2, max_bw = 0, bw = 0, bw_shortterm = kInfinity, min_rtt = kInfinity;
    double inflight_shortterm = kInfinity, inflight_longterm = kInfinity, bw_latest = 0, inflight_latest = 0;
    std::map<int, double> max_bw_of_cycle;
    int cycle_count = 0;
    double next_round_delivered = 0, loss_round_delivered = 0;
    int round_count = 0, rounds_since_probe_up = 0, bw_probe_up_rounds = 0, full_bw_count = 0, drain_start_round = 0;
    bool round_start = false, loss_round_start = false, is_loss_in_round = false, full_bw_now = false;
    bool full_bw_reached = false, is_bw_probe_sample = false, prev_probe_too_high = false, idle_restart = false;
    bool prev_probe_precautionary = false, probe_rtt_round_done = false, probe_rtt_expired = false;
    double full_bw = 0, probe_up_acked_per_inc = kInfinity, bw_probe_up_acked = 0, bw_probe_wait = 0, cycle_stamp = 0;
    double probe_rtt_min_delay = kInfinity, probe_rtt_min_stamp = 0, min_rtt_stamp = 0, probe_rtt_done_stamp = 0;
    double prior_cwnd = 0, undo_bw_shortterm = 0, undo_inflight_shortterm = 0, undo_inflight_longterm = 0;
    double extra_acked_interval_start = 0, extra_acked_delivered = 0, extra_acked = 0;
    WindowedMax extra_acked_filter{1};
    int lost_ranges = 0;
    double last_lost = -2;
    bool has_srtt = false;

    bool IsInAProbeBWState() const { return state >= ProbeBW_DOWN && state <= ProbeBW_UP; }
    bool IsProbingBW() const { return state == Startup || state == ProbeBW_REFILL || state == ProbeBW_UP; }
    double BDPMultiple(double rate, double gain) const {
        return min_rtt == kInfinity ? InitialCwnd : gain * rate * min_rtt;
    }
    double QuantizationBudget(double inflight_cap) const {
        inflight_cap = std::max(inflight_cap, 3 * send_quantum);
        inflight_cap = std::max(inflight_cap, 4.0);
        if (state == ProbeBW_UP) inflight_cap += 2;
        return inflight_cap;
    }
    double Inflight(double rate, double gain) const { return QuantizationBudget(BDPMultiple(rate, gain)); }
    double TargetInflight() const { return std::min(BDPMultiple(bw, 1), cwnd); }
    double InflightWithHeadroom() const {
        if (inflight_longterm == kInfinity) return kInfinity;
        return std::max(inflight_longterm - std::max(1.0, 0.15 * inflight_longterm), 4.0);
    }
    double ProbeRTTCwnd() const { return std::max(BDPMultiple(bw, 0.5), 4.0); }
    bool IsInflightTooHigh() const { return RS.lost > RS.tx_in_flight * 0.02; }
    bool HasElapsedInPhase(double interval) const { return now > cycle_stamp + interval; }

    void StartRound() { next_round_delivered = delivered; }
    void ResetFullBW() { full_bw = full_bw_count = 0, full_bw_now = false; }
    void ResetShortTermModel() { bw_shortterm = inflight_shortterm = kInfinity; }
    void ResetCongestionSignals() { is_loss_in_round = false, bw_latest = inflight_latest = 0; }
    void Enter(State next, double pacing, double window) { state = next, pacing_gain = pacing, cwnd_gain = window; }
    void EnterStartup() { Enter(Startup, 2.77, 2); }
    void SaveCwnd() {
        if (!in_recovery && state != ProbeRTT)
            prior_cwnd = cwnd;
        else
            prior_cwnd = std::max(prior_cwnd, cwnd);
    }
    void RestoreCwnd() { cwnd = std::max(cwnd, prior_cwnd); }
    void SetPacingRateWithGain(double gain) {
        const double rate = gain * bw * 99 / 100;
        if (rate > 0 && (full_bw_reached || rate > pacing_rate)) pacing_rate = rate;
    }

    void UpdateLatestDeliverySignals() {
        loss_round_start = false;
        bw_latest = std::max(bw_latest, RS.delivery_rate);
        inflight_latest = std::max(inflight_latest, RS.delivered);
        if (RS.prior_delivered >= loss_round_delivered) {
            loss_round_delivered = delivered;
            loss_round_start = true;
        }
    }
    void UpdateMaxBw() {
        round_start = RS.prior_delivered >= next_round_delivered;
        if (round_start) {
            StartRound();
            round_count++;
            rounds_since_probe_up++;
        }
        if (RS.delivery_rate > 0 && (RS.delivery_rate >= max_bw || !RS.is_app_limited)) {
            double& of_cycle = max_bw_of_cycle[cycle_count];
            of_cycle = std::max(of_cycle, RS.delivery_rate);
            max_bw = std::max(of_cycle, max_bw_of_cycle[cycle_count - 1]);
        }
    }
    void UpdateCongestionSignals() {
        UpdateMaxBw();
        if (!loss_round_start) return;
        if (!IsProbingBW() && is_loss_in_round) {
            if (bw_shortterm == kInfinity) bw_shortterm = max_bw;
            if (inflight_shortterm == kInfinity) inflight_shortterm = cwnd;
            bw_shortterm = std::max(bw_latest, 0.7 * bw_shortterm);
            inflight_shortterm = std::max(inflight_latest, 0.7 * inflight_shortterm);
        }
        is_loss_in_round = false;
    }
    void UpdateACKAggregation() {
        double expected_delivered = bw * (now - extra_acked_interval_start);
        if (extra_acked_delivered <= expected_delivered) {
            extra_acked_delivered = 0;
            extra_acked_interval_start = now;
            expected_delivered = 0;
        }
        extra_acked_delivered += RS.newly_acked;
        const double extra = std::min(extra_acked_delivered - expected_delivered, cwnd);
        extra_acked_filter.set_window(full_bw_reached ? 10 : 1);
        extra_acked_filter.add(static_cast<std::uint32_t>(round_count), extra);
        extra_acked = extra_acked_filter.value();
    }
    void CheckFullBWReached() {
        if (full_bw_now || !round_start || RS.is_app_limited) return;
        if (RS.delivery_rate >= full_bw * 1.25) {
            ResetFullBW();
            full_bw = RS.delivery_rate;
            return;
        }
        full_bw_count++;
        full_bw_now = full_bw_count >= 3;
        if (full_bw_now) full_bw_reached = true;
    }
    void CheckStartupDone() {
        const bool has_high_loss = loss_round_start && in_fast_recovery && lost_ranges >= 6 && IsInflightTooHigh();
        if (state == Startup && !full_bw_reached && has_high_loss) {
            undo_state = Startup;
            full_bw_now = full_bw_reached = true;
            inflight_longterm = std::max(BDPMultiple(bw, 1), inflight_latest);
        }
        if (loss_round_start) lost_ranges = 0;
        if (state == Startup && full_bw_reached) {
            Enter(Drain, 0.5, 2);
            drain_start_round = round_count;
        }
    }
    void CheckDrainDone() {
        if (state == Drain && (inflight <= Inflight(bw, 1) || round_count > drain_start_round + 3)) StartProbeBW_DOWN();
    }
    void StartProbeBW_DOWN() {
        ResetCongestionSignals();
        probe_up_acked_per_inc = kInfinity;
        rounds_since_probe_up = static_cast<int>(random.below(2));
        bw_probe_wait = 2 + random.uniform();
        cycle_stamp = now;
        ack_phase = PROBE_STOPPING;
        StartRound();
        Enter(ProbeBW_DOWN, 0.9, 2);
    }
    void StartProbeBW_CRUISE() { Enter(ProbeBW_CRUISE, 1, 2); }
    void StartProbeBW_REFILL() {
        ResetShortTermModel();
        bw_probe_up_rounds = 0;
        bw_probe_up_acked = 0;
        prev_probe_precautionary = false;
        ack_phase = REFILLING;
        StartRound();
        Enter(ProbeBW_REFILL, 1, 2);
    }
    void StartProbeBW_UP() {
        ack_phase = PROBE_STARTING;
        StartRound();
        ResetFullBW();
        full_bw = RS.delivery_rate;
        Enter(ProbeBW_UP, 1.25, 2.25);
        RaiseInflightLongtermSlope();
    }
    void RaiseInflightLongtermSlope() {
        const double growth_this_round = std::pow(2, bw_probe_up_rounds);
        bw_probe_up_rounds = std::min(bw_probe_up_rounds + 1, 30);
        probe_up_acked_per_inc = std::max(cwnd / growth_this_round, 1.0);
    }
    void ProbeInflightLongtermUpward() {
        if (!is_cwnd_limited || cwnd < inflight_longterm) return;
        bw_probe_up_acked += RS.newly_acked;
        if (bw_probe_up_acked >= probe_up_acked_per_inc) {
            const double delta = std::floor(bw_probe_up_acked / probe_up_acked_per_inc);
            bw_probe_up_acked -= delta * probe_up_acked_per_inc;
            inflight_longterm += delta;
        }
        if (round_start) RaiseInflightLongtermSlope();
    }
    bool AdaptLongTermModel() {
        if (ack_phase == PROBE_STARTING && round_start) ack_phase = PROBE_FEEDBACK;
        if (ack_phase == PROBE_STOPPING && round_start) {
            is_bw_probe_sample = false;
            ack_phase = INIT;
            // Linux bbr_advance_max_bw_filter: a cycle without a sample does not count.
            if (IsInAProbeBWState() && !RS.is_app_limited && max_bw_of_cycle[cycle_count] > 0) cycle_count++;
            if (IsInAProbeBWState() && prev_probe_precautionary && !prev_probe_too_high) {
                StartProbeBW_REFILL();
                return true;
            }
        }
        if (!IsInflightTooHigh()) {
            if (inflight_longterm == kInfinity) return false;
            if (RS.tx_in_flight > inflight_longterm) inflight_longterm = RS.tx_in_flight;
            if (state == ProbeBW_UP) ProbeInflightLongtermUpward();
        }
        return false;
    }
    bool IsTimeToProbeBW() {
        const double rounds = std::min(TargetInflight(), 63.0);
        if (!HasElapsedInPhase(bw_probe_wait) && rounds_since_probe_up < rounds) return false;
        StartProbeBW_REFILL();
        return true;
    }
    bool IsTimeToCruise() const { return inflight <= InflightWithHeadroom() && inflight <= Inflight(max_bw, 1); }
    bool IsTimeToGoDown() {
        if (prev_probe_too_high && inflight >= inflight_longterm) {
            prev_probe_precautionary = true;
            return true;
        }
        if (is_cwnd_limited && cwnd >= inflight_longterm) {
            ResetFullBW();
            full_bw = RS.delivery_rate;
        } else if (full_bw_now) {
            return true;
        }
        return false;
    }
    void UpdateProbeBWCyclePhase() {
        if (!full_bw_reached || AdaptLongTermModel() || !IsInAProbeBWState()) return;
        if (state == ProbeBW_DOWN) {
            if (!IsTimeToProbeBW() && IsTimeToCruise()) StartProbeBW_CRUISE();
        } else if (state == ProbeBW_CRUISE) {
            IsTimeToProbeBW();
        } else if (state == ProbeBW_REFILL) {
            if (round_start) {
                is_bw_probe_sample = true;
                StartProbeBW_UP();
            }
        } else if (IsTimeToGoDown()) {
            prev_probe_too_high = false;
            StartProbeBW_DOWN();
        }
    }
    void UpdateMinRTT() {
        probe_rtt_expired = probe_rtt_min_delay < kInfinity && now > probe_rtt_min_stamp + 5;
        if (RS.rtt >= 0 && (RS.rtt < probe_rtt_min_delay || probe_rtt_expired)) {
            probe_rtt_min_delay = RS.rtt;
            probe_rtt_min_stamp = now;
        }
        const bool min_rtt_expired = min_rtt < kInfinity && now > min_rtt_stamp + 10;
        if (probe_rtt_min_delay < min_rtt || min_rtt_expired) {
            min_rtt = probe_rtt_min_delay;
            min_rtt_stamp = probe_rtt_min_stamp;
        }
    }
    void CheckProbeRTT() {
        if (state != ProbeRTT && probe_rtt_expired && !idle_restart) {
            Enter(ProbeRTT, 1, 0.5);
            SaveCwnd();
            probe_rtt_done_stamp = 0;
            ack_phase = PROBE_STOPPING;
            StartRound();
            limited_from = delivered;
        }
        if (state == ProbeRTT) {
            limited_until = delivered + inflight;  // MarkConnectionAppLimited
            if (probe_rtt_done_stamp == 0 && inflight <= ProbeRTTCwnd()) {
                probe_rtt_done_stamp = now + 0.2;
                probe_rtt_round_done = false;
                StartRound();
            } else if (probe_rtt_done_stamp != 0) {
                if (round_start) probe_rtt_round_done = true;
                if (probe_rtt_round_done) CheckProbeRTTDone();
            }
        }
        idle_restart = false;
    }
    void CheckProbeRTTDone() {
        if (probe_rtt_done_stamp == 0 || now <= probe_rtt_done_stamp) return;
        probe_rtt_min_stamp = now;
        RestoreCwnd();
        ResetShortTermModel();
        if (full_bw_reached) {
            StartProbeBW_DOWN();
            StartProbeBW_CRUISE();
        } else {
            EnterStartup();
        }
    }
    void SetCwnd() {
        const double max_inflight = QuantizationBudget(BDPMultiple(bw, cwnd_gain) + extra_acked);
        if (full_bw_reached)
            cwnd = std::min(cwnd + RS.newly_acked, max_inflight);
        else if (cwnd < max_inflight || delivered < InitialCwnd)
            cwnd = cwnd + RS.newly_acked;
        cwnd = std::max(cwnd, 4.0);
        if (state == ProbeRTT) cwnd = std::min(cwnd, ProbeRTTCwnd());
        double cap = kInfinity;
        if (IsInAProbeBWState() && state != ProbeBW_CRUISE)
            cap = inflight_longterm;
        else if (state == ProbeRTT || state == ProbeBW_CRUISE)
            cap = InflightWithHeadroom();
        cap = std::max(std::min(cap, inflight_shortterm), 4.0);
        cwnd = std::min(cwnd, cap);
    }

    void OnInit(double initial, std::uint64_t seed) {
        cwnd = InitialCwnd = initial;
        random = Draws(seed);
        pacing_rate = 2.77 * InitialCwnd / 1e-3;
    }
    void UpdateOnACK(double srtt) {
        UpdateLatestDeliverySignals();
        UpdateCongestionSignals();
        UpdateACKAggregation();
        CheckFullBWReached();
        CheckStartupDone();
        CheckDrainDone();
        UpdateProbeBWCyclePhase();
        UpdateMinRTT();
        CheckProbeRTT();
        if (loss_round_start) {
            bw_latest = RS.delivery_rate;
            inflight_latest = RS.delivered;
        }
        bw = std::min(max_bw, bw_shortterm);
        if (!has_srtt) pacing_rate = 2.77 * InitialCwnd / srtt;
        has_srtt = true;
        SetPacingRateWithGain(pacing_gain);
        send_quantum = std::max(std::min(pacing_rate * 1e-3, 65536.0 / 1448), 2.0);
        SetCwnd();
    }
    void SaveStateUponLoss() {
        SaveCwnd();
        undo_state = None;
        undo_bw_shortterm = bw_shortterm;
        undo_inflight_shortterm = inflight_shortterm;
        undo_inflight_longterm = inflight_longterm;
    }
    void HandleLostPacket(double seq, double tx_in_flight, double lost, bool is_app_limited) {
        if (lost_ranges == 0 || seq != last_lost + 1) ++lost_ranges;
        last_lost = seq;
        if (!is_loss_in_round) {
            loss_round_delivered = delivered;
            SaveStateUponLoss();
        }
        is_loss_in_round = true;
        if (!is_bw_probe_sample) return;
        RS.tx_in_flight = tx_in_flight;
        RS.lost = lost;
        RS.is_app_limited = is_app_limited;
        if (!IsInflightTooHigh()) return;
        const double inflight_prev = tx_in_flight - 1;
        const double lost_prev = lost - 1;
        RS.tx_in_flight = inflight_prev + (0.02 * inflight_prev - lost_prev) / (1 - 0.02);
        prev_probe_too_high = true;
        is_bw_probe_sample = false;
        if (!RS.is_app_limited) inflight_longterm = std::max(RS.tx_in_flight, TargetInflight() * 0.7);
        if (state == ProbeBW_UP) {
            undo_state = ProbeBW_UP;
            StartProbeBW_DOWN();
        }
    }
    void HandleSpuriousLossDetection() {
        RestoreCwnd();
        is_loss_in_round = false;
        ResetFullBW();
        bw_shortterm = std::max(bw_shortterm, undo_bw_shortterm);
        inflight_shortterm = std::max(inflight_shortterm, undo_inflight_shortterm);
        inflight_longterm = std::max(inflight_longterm, undo_inflight_longterm);
        if (undo_state == Startup && state != Startup) {
            full_bw_reached = false;
            if (state != ProbeRTT) EnterStartup();
        } else if (undo_state == ProbeBW_UP && state != ProbeBW_UP) {
            if (state != ProbeRTT) StartProbeBW_REFILL();
        }
        undo_state = None;
    }
    void HandleRestartFromIdle() {
        idle_restart = true;
        extra_acked_interval_start = now;
        if (IsInAProbeBWState())
            SetPacingRateWithGain(1);
        else if (state == ProbeRTT)
            CheckProbeRTTDone();
    }
};

}  // namespace subflow::testing
