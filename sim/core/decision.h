// Reasons for the decisions of controllers and schedulers: compact records, made only on request.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "check.h"
#include "fate.h"
#include "memory.h"
#include "ring.h"
#include "rule_numbers.h"
#include "units.h"

namespace subflow {

// Event that caused a decision.
enum class Cause : std::uint8_t {
    Start,         // the subflow starts
    Ack,           // an acknowledgement arrived
    Loss,          // a loss was detected by acknowledgements or by time
    Timeout,       // the retransmission timeout expired
    RecoveryExit,  // all packets outstanding at a loss have been acknowledged
    Interval,      // a monitor interval begins, or the fate of all its packets is known
    Idle,          // the sender starts again after a pause
    Schedule,      // a packet needs a subflow
    Action,        // a learning agent has acted
    Mark,          // queues have marked packets
};

inline constexpr std::size_t kMaxDecisionNumbers = 8;

// Rule of a decision, declared once next to the code that applies it. The declaration must outlive all decisions that
// refer to it.
struct RuleInfo {
    std::string_view name;     // "linked_increase"
    std::string_view formula;  // for display: "min(alpha / cwnd_total, 1 / cwnd) per packet"
    // Formula for evaluation, for example "cwnd = cwnd + 1": assigns "cwnd", "rate" or "ssthresh" an expression of the
    // numbers below, the window `before`, and the size `packet_bits` of a packet on the wire. Empty if the result
    // depends on further values.
    std::string_view computed{};
    std::string_view source;                    // "RFC 6356 section 3"
    RuleNumber numbers[kMaxDecisionNumbers]{};  // inputs of the rule

    constexpr std::size_t number_count() const {
        return static_cast<std::size_t>(std::ranges::find(numbers, std::string_view(), &RuleNumber::name) - numbers);
    }
};

// Value that a script read or computed in one step. `note`: number of the description of this step, from 1
// (ScriptProgram::Note).
struct ScriptStep {
    std::uint32_t note = 0;
    double value = 0;
};

// Writes the steps of one decision; steps beyond the limit are omitted.
class StepWriter {
public:
    StepWriter() = default;
    StepWriter(ScriptStep* slots, std::uint32_t mask, std::uint32_t begin, std::uint32_t limit)
        : slots_(slots), mask_(mask), next_(begin), limit_(limit) {}

    void add(std::uint32_t note, double value) {
        if (next_ == limit_) return;
        slots_[next_++ & mask_] = {note, value};
    }
    std::uint32_t next() const { return next_; }

private:
    ScriptStep* slots_ = nullptr;
    std::uint32_t mask_ = 0;
    std::uint32_t next_ = 0;
    std::uint32_t limit_ = 0;
};

// The steps of successive decisions, with positions as in Ring. Space for a whole decision is reserved in advance, so
// that each step is written directly to its final place.
class StepLog {
public:
    static constexpr std::uint32_t kMostSteps = 1024;  // per decision

    // Begins a new draft and discards the steps of the previous one.
    void begin_draft() { is_written_ = false; }
    StepWriter& begin_decision() {
        while (slots_.size() - (end_ - begin_) < kMostSteps) grow();
        writer_ = {slots_.data(), static_cast<std::uint32_t>(slots_.size() - 1), end_, end_ + kMostSteps};
        is_written_ = true;
        return writer_;
    }
    // Turns the draft into a decision. Returns its number of steps.
    std::uint16_t keep_draft() {
        if (!is_written_) [[likely]]
            return 0;
        const std::uint32_t count = writer_.next() - end_;
        end_ = writer_.next();
        is_written_ = false;
        return static_cast<std::uint16_t>(count);
    }
    void pop_front(std::uint32_t count) { begin_ += count; }
    void reset() { begin_ = end_ = 0; }
    std::uint32_t begin_pos() const { return begin_; }
    std::uint32_t size() const { return end_ - begin_; }
    const ScriptStep& operator[](std::uint32_t pos) const { return slots_[pos & (slots_.size() - 1)]; }
    std::size_t heap_bytes() const { return heap_bytes_of(slots_); }

private:
    void grow() {
        std::vector<ScriptStep> larger(std::max<std::size_t>(slots_.size() * 2, 2 * kMostSteps));
        for (std::uint32_t pos = begin_; pos != end_; ++pos) larger[pos & (larger.size() - 1)] = (*this)[pos];
        slots_ = std::move(larger);
    }

    std::vector<ScriptStep> slots_;  // the size is a power of two
    StepWriter writer_;              // writer of the draft
    bool is_written_ = false;
    std::uint32_t begin_ = 0;
    std::uint32_t end_ = 0;
};

// Reason for a decision. On request, the sample or event points to a Reason that the deciding algorithm fills in;
// otherwise the pointer is nullptr.
struct Reason {
    const RuleInfo* rule = nullptr;
    std::array<double, kMaxDecisionNumbers> numbers{};
    // For scripts, which record lines instead of numbers; valid only during the decision.
    StepLog* steps = nullptr;

    // Writer for the steps of a script; nullptr if steps are not recorded.
    StepWriter* begin_steps() { return steps != nullptr ? &steps->begin_decision() : nullptr; }
    // Sets the rule and its numbers, in the order of RuleInfo::numbers; a later call replaces an earlier one.
    void set(const RuleInfo& by, std::initializer_list<double> values) {
        SF_VALIDATE(values.size() == by.number_count());
        rule = &by;
        std::ranges::copy(values, numbers.begin());
    }
};

// One decision of a subflow's controller or sender, or of a connection's scheduler.
struct Decision {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    static constexpr std::uint8_t kNoSubflow = 0xff;

    Nanos at{};
    Reason reason;
    double cwnd_before_pkts = kNone;  // NaN for decisions of schedulers
    double cwnd_after_pkts = kNone;
    double rate_before_pps = 0;  // pacing rate; 0: clocked by ACKs
    double rate_after_pps = 0;
    std::uint32_t available = 0;       // schedulers: bit mask of the subflows with room
    std::uint32_t usable = 0;          // schedulers: bit mask of usable subflows; subflow k (from 0) has bit 1 << k
    std::uint32_t data_seq = 0;        // schedulers: number of the scheduled packet
    std::uint16_t step_count = 0;      // steps of a script
    std::uint8_t chosen = kNoSubflow;  // schedulers: position of the chosen subflow
    Cause cause = Cause::Ack;
};

// The decisions of one subflow or connection, in order of time. Holds at most `capacity` decisions, none of them older
// than `window`; the oldest are discarded first.
class DecisionLog {
public:
    // Limits on the decisions that are kept until they are taken.
    struct Limits {
        std::uint32_t capacity = 50'000;
        Nanos window = kNever;  // age relative to the latest decision
    };

    // Decisions beyond the new limits are discarded with the next decision.
    void set_limits(const Limits& limits) { limits_ = limits; }
    const Limits& limits() const { return limits_; }

    // Returns the next decision, for the caller to fill in. It is made in its final place, because copying it costs
    // more than writing it.
    Decision& draft(Cause cause, Nanos at) {
        Decision& next = ring_.next_slot();
        next.at = at;
        next.reason.rule = nullptr;  // `numbers` keep old values beyond those that the rule names
        next.reason.steps = &steps_;
        steps_.begin_draft();
        next.cwnd_before_pkts = next.cwnd_after_pkts = Decision::kNone;
        next.rate_before_pps = next.rate_after_pps = 0;
        next.available = next.usable = next.data_seq = 0;
        next.chosen = Decision::kNoSubflow;
        next.cause = cause;
        return next;
    }
    Decision& current_draft() { return ring_.next_slot(); }
    // Turns the draft into a decision; without this call, the next draft replaces it.
    void keep_draft() {
        Decision& kept = ring_.push_slot();
        const Nanos at = kept.at;
        kept.step_count = steps_.keep_draft();
        while (ring_.size() > limits_.capacity) {
            forget_first();
            ++dropped_;
        }
        if (limits_.window == kNever) return;
        while (ring_.front().at < at - limits_.window) forget_first();
    }

    // Records up to `capacity` losses that the sender notices.
    void record_losses(std::size_t capacity) { loss_capacity_ = capacity; }
    void note_loss(const LossNotice& notice) {
        if (losses_.size() < loss_capacity_) losses_.push_back(notice);
    }
    const std::vector<LossNotice>& losses() const { return losses_; }
    // A tail loss probe sends a packet again, whose previous copy may be lost.
    void note_probe(Nanos sent, std::uint32_t seq, std::uint32_t number) { probed_ = {{}, sent, seq, number}; }
    void note_probe_repaired(Nanos now) {
        probed_.at = now;
        probed_.sign = LossSign::Probe;
        note_loss(probed_);
    }

    std::uint32_t size() const { return ring_.size(); }
    // Decisions that were discarded because of the capacity.
    std::int64_t dropped() const { return dropped_; }
    const Decision& operator[](std::uint32_t i) const { return ring_[ring_.begin_pos() + i]; }
    // The steps of all decisions, in their order.
    const StepLog& steps() const { return steps_; }
    void clear() {
        ring_.reset();
        steps_.reset();
    }
    std::size_t heap_bytes() const { return heap_bytes_of(ring_, steps_, losses_); }

private:
    void forget_first() {
        steps_.pop_front(ring_.front().step_count);
        ring_.pop_front();
    }

    Limits limits_;
    Ring<Decision> ring_;
    StepLog steps_;
    std::vector<LossNotice> losses_;
    std::size_t loss_capacity_ = 0;
    LossNotice probed_;  // the packet of the latest probe
    std::int64_t dropped_ = 0;
};

}  // namespace subflow
