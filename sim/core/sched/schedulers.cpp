#include "schedulers.h"

#include "../listed.h"

namespace subflow {

std::vector<const AlgorithmInfo*> scheduler_infos() {
    return infos_of<Scheduler>();
}

Scheduler make_scheduler(const AlgorithmChoice& choice) {
    return make_by_name<Scheduler>(choice, "scheduler");
}

Copies copies_of(const Scheduler& scheduler) {
    return std::visit(
        []<class S>(const S& s) {
            if constexpr (SendsCopies<S>) return s.copies();
            return Copies::None;
        },
        scheduler);
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
