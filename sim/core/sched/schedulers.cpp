#include "schedulers.h"

#include "../listed.h"

namespace subflow {

std::vector<const AlgorithmInfo*> scheduler_infos() {
    return infos_of<Scheduler>();
}

Scheduler make_scheduler(const AlgorithmChoice& choice) {
    if (choice.program) return ScriptedScheduler(choice);
    return make_by_name<Scheduler>(choice, "scheduler");
}

bool is_work_conserving(const Scheduler& scheduler) {
    return std::visit(
        []<class S>(const S& s) {
            if constexpr (requires { s.is_work_conserving(); }) return s.is_work_conserving();
            return WorkConserving<S>;
        },
        scheduler);
}

Copies copies_of(const Scheduler& scheduler) {
    return std::visit(
        []<class S>(const S& s) {
            if constexpr (SendsCopies<S>) return s.copies();
            return Copies::None;
        },
        scheduler);
}

bool pushes_ahead(const Scheduler& scheduler) {
    return std::visit([]<class S>(const S&) { return PushesAhead<S>; }, scheduler);
}

bool retransmits_when_blocked(const Scheduler& scheduler) {
    return std::visit(
        []<class S>(const S& s) {
            if constexpr (RetransmitsWhenBlocked<S>) return s.retransmits_when_blocked();
            return false;
        },
        scheduler);
}

bool penalises(const Scheduler& scheduler) {
    return std::visit(
        []<class S>(const S& s) {
            if constexpr (Penalises<S>) return s.penalises();
            return false;
        },
        scheduler);
}

void tell_blocked_retransmission(Scheduler& scheduler, std::size_t position) {
    std::visit(
        [position]<class S>(S& s) {
            if constexpr (FollowsBlockedRetransmissions<S>) s.on_blocked_retransmission(position);
        },
        scheduler);
}

}  // namespace subflow
