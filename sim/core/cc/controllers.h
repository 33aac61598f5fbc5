// The list of congestion controllers. A new controller needs a file in this folder and an entry here.
#pragma once

#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "balia.h"
#include "bbr.h"
#include "bbr3.h"
#include "clean_slate.h"
#include "confluence.h"
#include "copa.h"
#include "coupled_cubic.h"
#include "cubic.h"
#include "dctcp.h"
#include "ddpg_mpcc.h"
#include "dql_mptcp.h"
#include "drl_cc.h"
#include "ewtcp.h"
#include "lia.h"
#include "mpcc.h"
#include "mplibra.h"
#include "newreno.h"
#include "olia.h"
#include "prague.h"
#include "rl_explore.h"
#include "scripted.h"
#include "vegas.h"
#include "vivace.h"
#include "wvegas.h"

namespace subflow {

using AnyController = std::variant<NewReno, Cubic, Vegas, Bbr, Bbr3, Copa, Dctcp, Prague, Vivace, Ewtcp, Lia, Olia,
                                   Balia, CoupledCubic, WVegas, MpccLoss, MpccLatency, DrlCc, DqlMptcp, CleanSlate,
                                   DdpgMpcc, MpLibra, RlExplore, Confluence, Scripted>;

// Any of the controllers. A class, so that a forward declaration does not need the headers of all controllers.
class Controller : public AnyController {
public:
    using Variant = AnyController;
    using AnyController::AnyController;
    Controller(AnyController one) : AnyController(std::move(one)) {}
};

// One entry per name in scenario files, including `uncoupled`, in the order of the list.
std::vector<const AlgorithmInfo*> controller_infos();

// Throws ScenarioError for an unknown name or option. A choice with a program yields a scripted controller. `uncoupled`
// yields its base, with the other options.
Controller make_controller(const AlgorithmChoice& choice);

// True if the controller couples the subflows of a connection.
bool is_coupled(const Controller& controller);
// Response of the controller to marks.
EcnUse ecn_use_of(const Controller& controller);
// True if the controller uses monitor intervals.
bool monitors_intervals(const Controller& controller);

// Description of the controller's agent; null without an agent.
const AgentInfo* agent_of(const Controller& controller);
// Epochs of the controller's agent; a default plan without an agent.
EpochPlan epoch_plan_of(const Controller& controller);

}  // namespace subflow
