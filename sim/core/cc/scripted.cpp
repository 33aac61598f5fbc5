#include "scripted.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "../script/machine.h"
#include "siblings_or_own.h"

namespace subflow {

// One call of a script function: copies the window into the frame, and back within its bounds.
struct Scripted::Call {
    Scripted& script;
    Window& window;
    ScriptHook hook;
    ScriptInput input{};

    Call(Scripted& of, Window& of_window, ScriptHook called, const void* object)
        : script(of), window(of_window), hook(called) {
        input.objects[0] = object;
    }

    SF_INLINE void offer(const SiblingsWithSelf& siblings) {
        const std::span all = siblings.siblings();
        input.items = all.data();
        input.count = static_cast<std::uint32_t>(all.size());
        input.self = static_cast<std::uint32_t>(siblings.self());
        input.rates = siblings.known_rates();
        input.stride = sizeof(Sibling);
    }

    SF_INLINE ScriptOutcome operator()(Reason* why) {
        double* const frame = script.frame_.data();
        frame[ScriptCell::kCwnd] = window.cwnd_pkts;
        frame[ScriptCell::kSsthresh] = window.ssthresh_pkts;
        frame[ScriptCell::kRate] = window.pacing_pps;
        frame[ScriptCell::kAdvertised] = window.advertised;
        input.draws = &script.draws_;
        if (why != nullptr) [[unlikely]] {
            why->rule = &script.program_->rule(hook);
            input.steps = why->begin_steps();
        }
        const ScriptOutcome outcome = run_script(*script.program_, hook, frame, input, &script);
        take_window(frame, outcome.at);
        return outcome;
    }

    SF_INLINE void take_window(const double* frame, const ScriptInstruction* at) const {
        constexpr double kMost = std::numeric_limits<double>::max();
        window.cwnd_pkts = frame[ScriptCell::kCwnd];
        window.ssthresh_pkts = frame[ScriptCell::kSsthresh];
        window.pacing_pps = frame[ScriptCell::kRate];
        window.advertised = frame[ScriptCell::kAdvertised];
        const bool is_usual = window.cwnd_pkts >= kLeastWindow && window.cwnd_pkts <= kLargestWindow &&
                              window.ssthresh_pkts >= kLeastWindow &&
                              (window.ssthresh_pkts <= kLargestWindow || window.ssthresh_pkts == kInfiniteSsthresh) &&
                              window.pacing_pps >= 0 && window.pacing_pps <= kMost && window.advertised >= -kMost &&
                              window.advertised <= kMost;
        if (!is_usual) [[unlikely]]
            bound_window(frame, at);
    }

    [[gnu::cold, gnu::noinline]] void bound_window(const double* frame, const ScriptInstruction* at) const {
        if (std::isnan(window.cwnd_pkts) || std::isnan(window.ssthresh_pkts) || !(window.pacing_pps >= 0) ||
            std::isinf(window.pacing_pps) || !std::isfinite(window.advertised))
            refuse_window(frame, at);
        window.cwnd_pkts = std::clamp(window.cwnd_pkts, kLeastWindow, kLargestWindow);
        // An infinite ssthresh means that no loss has occurred; later values are windows.
        if (window.ssthresh_pkts != kInfiniteSsthresh)
            window.ssthresh_pkts = std::clamp(window.ssthresh_pkts, kLeastWindow, kLargestWindow);
    }

    [[noreturn]] void refuse_window(const double* frame, const ScriptInstruction* at) const {
        const char* what = std::isnan(frame[ScriptCell::kCwnd])       ? "w.cwnd is not a number"
                           : std::isnan(frame[ScriptCell::kSsthresh]) ? "w.ssthresh is not a number"
                           : !(frame[ScriptCell::kRate] >= 0)         ? "w.rate is negative or not a number"
                           : std::isinf(frame[ScriptCell::kRate])     ? "w.rate is infinite"
                                                                      : "w.advertised is not finite";
        fail_script(*script.program_, hook, frame, &script, at, what);
    }
};

Scripted::Scripted(const AlgorithmChoice& choice) : program_(choice.program), frame_(script_frame(choice)) {}

void Scripted::on_start(Window& window, std::uint64_t seed) {
    draws_ = Draws(seed);
    if (program_->has(ScriptHook::Start)) Call(*this, window, ScriptHook::Start, nullptr)(nullptr);
}

void Scripted::follow_ack(ScriptHook hook, Window& window, const AckSample& ack, const Siblings& siblings) {
    Call call(*this, window, hook, &ack);
    const SiblingsWithSelf all(siblings, window, ack.srtt);
    call.offer(all);
    call(ack.why);
}

void Scripted::on_delivery(Window& window, const DeliverySample& sample, const Siblings& siblings) {
    if (!program_->has(ScriptHook::Delivery)) return;
    Call call(*this, window, ScriptHook::Delivery, &sample);
    const SiblingsWithSelf all(siblings, window, sample.srtt);
    call.offer(all);
    call(sample.why);
}

void Scripted::on_congestion_event(Window& window, const CongestionEvent& event, const Siblings& siblings) {
    if (!program_->has(ScriptHook::Loss)) {
        // A script with monitor intervals sends by rate and needs no threshold: after a timeout, its window may grow
        // from one packet without a limit.
        if (!governs_recovery()) window.ssthresh_pkts = std::max(window.cwnd_pkts / 2, 2.0);
        return;
    }
    Call call(*this, window, ScriptHook::Loss, &event);
    const SiblingsWithSelf all(siblings, window, event.srtt);
    call.offer(all);
    const ScriptOutcome outcome = call(event.why);
    if (std::isinf(window.ssthresh_pkts) && !governs_recovery())
        fail_script(*program_, ScriptHook::Loss, frame_.data(), this, outcome.at,
                    "w.ssthresh is still infinite after a loss: set it, as the window to continue with");
}

void Scripted::on_idle_restart(Window& window, Nanos now, Reason* why) {
    if (!program_->has(ScriptHook::Idle)) return;
    Call call(*this, window, ScriptHook::Idle, &now);
    call(why);
}

IntervalPlan Scripted::plan_interval(Window& window, const IntervalMoment& moment) {
    IntervalPlan plan;
    if (!program_->has(ScriptHook::Plan)) return plan;
    Call call(*this, window, ScriptHook::Plan, &moment);
    const ScriptOutcome outcome = call(moment.why);
    constexpr double kLongest = 3600;  // s
    if (outcome.end != ScriptEnd::Plan) return plan;
    const double length_s = frame_[outcome.at->a];
    const double min_packets = frame_[outcome.at->b];
    const double tag = frame_[outcome.at->to];
    if (!(length_s > 0 && length_s <= kLongest) || !(min_packets >= 1 && min_packets <= 1e6) || !(std::abs(tag) <= 1e9))
        fail_script(*program_, ScriptHook::Plan, frame_.data(), this, outcome.at,
                    "an interval lasts more than 0 and at most 3600 s, with 1 to 1e6 packets and a tag within 1e9");
    plan.length = std::max(from_seconds(length_s), Nanos(1));
    plan.min_packets = static_cast<std::uint32_t>(min_packets);
    plan.tag = static_cast<std::int32_t>(tag);
    return plan;
}

NextInterval Scripted::on_interval(Window& window, IntervalRecord& record, const IntervalMoment& moment,
                                   const Siblings& siblings) {
    if (!program_->has(ScriptHook::Interval)) return NextInterval::InTurn;
    Call call(*this, window, ScriptHook::Interval, &record);
    call.input.objects[1] = &moment;
    call.input.record = &record;
    const SiblingsWithSelf all(siblings, window, moment.srtt);
    call.offer(all);
    return call(moment.why).end == ScriptEnd::Now ? NextInterval::BeginsNow : NextInterval::InTurn;
}

static_assert(CongestionController<Scripted>);

}  // namespace subflow
