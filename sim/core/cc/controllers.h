// THE list of congestion controllers. Adding one is a file beside this one and a line here.
#pragma once

#include <optional>
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

// One of them. A class, so that whoever only carries one can declare it without including them all.
class Controller : public AnyController {
public:
    using AnyController::AnyController;
    Controller(AnyController one) : AnyController(std::move(one)) {}

    std::size_t heap_bytes() const { return subflow::heap_bytes<>(static_cast<const AnyController&>(*this)); }
};

// One entry per name a scenario file may use, `uncoupled` included, in the order of the list.
std::vector<const AlgorithmInfo*> controller_infos();

// Throws ScenarioError for an unknown name or option. A choice with a program is that script. `uncoupled` yields one
// instance of its base per subflow, to which every other option given goes.
Controller make_controller(const AlgorithmChoice& choice);

// Whether it runs over the subflows of one connection together.
bool is_coupled(const Controller& controller);
// What it has to do with marks.
EcnUse ecn_use_of(const Controller& controller);
// Whether it sends by monitor intervals.
bool monitors_intervals(const Controller& controller);

// What its agent is; nullptr: it has none.
const AgentInfo* agent_of(const Controller& controller);
// When that agent decides. Only if there is one.
EpochPlan epoch_plan_of(const Controller& controller);
// Which of its actions is a subflow's logit in the scheduler; nothing: none of them.
std::optional<std::size_t> schedule_action_of(const Controller& controller);

}  // namespace subflow
