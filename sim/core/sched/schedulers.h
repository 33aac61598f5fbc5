// THE list of packet schedulers. Adding one is a file beside this one and a line here.
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

// Throws ScenarioError for an unknown name or option. A choice with a program is that script.
Scheduler make_scheduler(const AlgorithmChoice& choice);

// Whether it would take the only subflow that is available, whichever that is.
bool is_work_conserving(const Scheduler& scheduler);

// Whether every packet is to go out on every subflow.
Copies copies_of(const Scheduler& scheduler);

// Whether data is bound to subflows ahead of their windows.
bool pushes_ahead(const Scheduler& scheduler);

// What a scheduler does while the receive window is full: see scheduler.h. Nothing, if it does not say.
bool retransmits_when_blocked(const Scheduler& scheduler);
bool penalises(const Scheduler& scheduler);
void tell_blocked_retransmission(Scheduler& scheduler, std::size_t position);

}  // namespace subflow
