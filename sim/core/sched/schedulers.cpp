#include "schedulers.h"

#include "../listed.h"

namespace subflow {

std::vector<const AlgorithmInfo*> scheduler_infos() {
    return infos_of<Scheduler>();
}

Scheduler make_scheduler(const AlgorithmChoice& choice) {
    return make_by_name<Scheduler>(choice, "scheduler");
}

}  // namespace subflow
