// The list of packet schedulers. A new one needs a file in this folder and an entry here.
#pragma once

#include <variant>
#include <vector>

#include "blest.h"
#include "ecf.h"
#include "goodput.h"
#include "linux_mptcp.h"
#include "min_rtt.h"
#include "mpcc_rate.h"
#include "redundant.h"
#include "round_robin.h"
#include "scripted_scheduler.h"

namespace subflow {

using Scheduler =
    std::variant<MinRtt, LinuxMptcp, RoundRobin, Redundant, Blest, Ecf, GoodputBatches, MpccRate, ScriptedScheduler>;

std::vector<const AlgorithmInfo*> scheduler_infos();

// Throws ScenarioError for an unknown name or option. A choice with a program yields a scripted scheduler.
Scheduler make_scheduler(const AlgorithmChoice& choice);

// True if the scheduler always uses a subflow that is the only available one.
bool is_work_conserving(const Scheduler& scheduler);

// Copies that the scheduler sends on several subflows; Copies::None for most schedulers.
Copies copies_of(const Scheduler& scheduler);

// True if data is bound to subflows before their windows open.
bool pushes_ahead(const Scheduler& scheduler);

// Optional behaviour while the receive window is full, see scheduler.h: false, or no effect, without such a function.
bool retransmits_when_blocked(const Scheduler& scheduler);
bool penalises(const Scheduler& scheduler);
void tell_blocked_retransmission(Scheduler& scheduler, std::size_t position);

}  // namespace subflow
