// The part of SubflowSender that serves the agent of its controller.
#include "sender_controller.h"

namespace subflow {

bool SubflowSender::wants_action() const {
    return controller_.visit([]<class C>(const C& controller) {
        if constexpr (ChoosesEpochs<C>) return controller.wants_action();
        return false;
    });
}

std::uint32_t SubflowSender::measured_stage() const {
    return controller_.visit([]<class C>(const C& controller) -> std::uint32_t {
        if constexpr (MeasuresStages<C>) return controller.measured_stage();
        return 0;
    });
}

void SubflowSender::observe(EpochSample& sample, std::span<float> record) {
    controller_.visit([&]<class C>(C& controller) {
        if constexpr (ChoosesEpochs<C>) controller.epoch_sample(sample);
        if constexpr (TakesActions<C>) controller.observe(sample, record);
    });
}

double SubflowSender::reward(std::span<const EpochSample> samples) const {
    return controller_.visit([&]<class C>(const C& controller) -> double {
        if constexpr (TakesActions<C>) return controller.reward(samples);
        return 0;
    });
}

std::optional<std::size_t> SubflowSender::schedule_action() const {
    return controller_.visit([]<class C>(const C&) -> std::optional<std::size_t> {
        if constexpr (requires { C::kScheduleAction; }) return C::kScheduleAction;
        return {};
    });
}

void SubflowSender::act(std::span<const float> action, const EpochSample& sample, Nanos now) {
    account_cwnd(now);
    let_controller_change_window(Cause::Action, now, [&]<class C>(C& controller, Reason* why) {
        if constexpr (TakesActions<C>) {
            ActionMoment moment{describe_moment(now, why), sample.reference_pps, state_ == SenderState::Loss};
            moment.min_rtt = from_seconds(sample.min_rtt_s);
            controller.on_action(window_, action, moment);
        }
    });
}

}  // namespace subflow
