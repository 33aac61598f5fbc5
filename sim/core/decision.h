// Why a controller or a scheduler did what it did: compact records, made only where they are asked for.
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
#include "memory.h"
#include "ring.h"
#include "rule_numbers.h"
#include "units.h"

namespace subflow {

// What happened that something had to be decided.
enum class Cause : std::uint8_t {
    Start,         // of the subflow
    Ack,           // an acknowledgement
    Loss,          // found by acknowledgements or by time
    Timeout,       // the retransmission timeout
    RecoveryExit,  // everything that was outstanding at a loss has been acknowledged
    Interval,      // a monitor interval begins, or the fate of all its packets is known
    Idle,          // the sender starts again after a pause
    Schedule,      // a packet wants a subflow
    Action,        // a learning agent has acted
    Mark,          // queues have marked packets
};

inline constexpr std::size_t kMaxDecisionNumbers = 8;

// A rule by which something is decided, declared once beside the code that follows it. Lives for as long as the
// program.
struct RuleInfo {
    std::string_view name;     // "linked_increase"
    std::string_view formula;  // for people: "min(alpha / cwnd_total, 1 / cwnd) per packet"
    // What of it can be computed: the result, "cwnd", "rate" or "ssthresh", and how it comes of the numbers below, the
    // window `before` and the size of a packet on the wire, `packet_bits`. Empty: it depends on more than that.
    std::string_view computed{};
    std::string_view source;                    // "RFC 6356 section 3"
    RuleNumber numbers[kMaxDecisionNumbers]{};  // what goes into it

    constexpr std::size_t number_count() const {
        return static_cast<std::size_t>(std::ranges::find(numbers, std::string_view(), &RuleNumber::name) - numbers);
    }
};

// A line of a script that was executed, or a number that was read: note `note` of its program (script/program.h) had
// that value.
struct ScriptStep {
    std::uint32_t note = 0;
    double value = 0;
};

// Where the steps of one decision go: what does not fit is left out.
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

// The steps of decisions, one decision's after the other's. Positions as in Ring; room for a whole decision is made
// before it, so that a step is written where it stays without a look at what is left.
class StepLog {
public:
    static constexpr std::uint32_t kMostSteps = 1024;  // of a decision

    // Another draft: what the one before has written is not there.
    void begin_draft() { is_written_ = false; }
    StepWriter& begin_decision() {
        while (slots_.size() - (end_ - begin_) < kMostSteps) grow();
        writer_ = {slots_.data(), static_cast<std::uint32_t>(slots_.size() - 1), end_, end_ + kMostSteps};
        is_written_ = true;
        return writer_;
    }
    // The draft becomes a decision. Returns how many steps are its.
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

    std::vector<ScriptStep> slots_;  // a power of two of them
    StepWriter writer_;              // of the draft
    bool is_written_ = false;
    std::uint32_t begin_ = 0;
    std::uint32_t end_ = 0;
};

// Filled in by whoever decides, if asked: a sample or event then carries a pointer to it, else nullptr.
struct Reason {
    const RuleInfo* rule = nullptr;
    std::array<double, kMaxDecisionNumbers> numbers{};
    // For scripts, which have lines instead of numbers: asked for where one decides, and only while it does.
    StepLog* steps = nullptr;

    // Where a script puts its steps; nullptr: nobody keeps them.
    StepWriter* begin_steps() { return steps != nullptr ? &steps->begin_decision() : nullptr; }
    // The numbers in the order of the rule's names; a later call replaces an earlier one.
    void set(const RuleInfo& by, std::initializer_list<double> values) {
        SF_VALIDATE(values.size() == by.number_count());
        rule = &by;
        std::ranges::copy(values, numbers.begin());
    }
};

// One decision of a subflow's controller or sender, or of a connection's scheduler.
struct Decision {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    static constexpr std::uint8_t kNobody = 0xff;

    Nanos at{};
    Reason reason;
    double cwnd_before_pkts = kNone;  // of controllers
    double cwnd_after_pkts = kNone;
    double rate_before_pps = 0;  // pacing; 0: clocked by ACKs
    double rate_after_pps = 0;
    std::uint32_t available = 0;    // of schedulers: subflows that had room, a bit each, and those that were usable
    std::uint32_t usable = 0;       // the bit of subflow k (from 0) is 1 << k
    std::uint32_t data_seq = 0;     // the packet in question
    std::uint16_t step_count = 0;   // of scripts
    std::uint8_t chosen = kNobody;  // position of the subflow it went to
    Cause cause = Cause::Ack;
};

// The decisions of one subflow or connection, in order of time. Holds no more than `capacity`, and none that is older
// than `window`; what does not fit is forgotten from the oldest on.
class DecisionLog {
public:
    // What is to be kept until it is taken.
    struct Limits {
        std::uint32_t capacity = 50'000;
        Nanos window = kNever;  // before the latest decision
    };

    // What is beyond them is forgotten with the next decision.
    void set_limits(const Limits& limits) { limits_ = limits; }
    const Limits& limits() const { return limits_; }

    // The next decision, for the caller to fill in. It is made where it will stay: copying what has just been written
    // costs more than writing it.
    Decision& draft(Cause cause, Nanos at) {
        Decision& next = ring_.next_slot();
        next.at = at;
        next.reason.rule = nullptr;  // of the numbers, those that a rule names will be written
        next.reason.steps = &steps_;
        steps_.begin_draft();
        next.cwnd_before_pkts = next.cwnd_after_pkts = Decision::kNone;
        next.rate_before_pps = next.rate_after_pps = 0;
        next.available = next.usable = next.data_seq = 0;
        next.chosen = Decision::kNobody;
        next.cause = cause;
        return next;
    }
    Decision& current_draft() { return ring_.next_slot(); }
    // The draft becomes a decision; without, the next one replaces it.
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

    std::uint32_t size() const { return ring_.size(); }
    // Decisions that the capacity did not leave room for.
    std::int64_t dropped() const { return dropped_; }
    const Decision& operator[](std::uint32_t i) const { return ring_[ring_.begin_pos() + i]; }
    // The steps of all of them, one decision's after the other's.
    const StepLog& steps() const { return steps_; }
    void clear() {
        ring_.reset();
        steps_.reset();
    }
    std::size_t heap_bytes() const { return heap_bytes_of(ring_, steps_); }

private:
    void forget_first() {
        steps_.pop_front(ring_.front().step_count);
        ring_.pop_front();
    }

    Limits limits_;
    Ring<Decision> ring_;
    StepLog steps_;
    std::int64_t dropped_ = 0;
};

}  // namespace subflow
