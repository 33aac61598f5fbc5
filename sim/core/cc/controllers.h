// THE list of congestion controllers. Adding one is a file beside this one and a line here.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "bbr.h"
#include "lia.h"
#include "newreno.h"

namespace subflow {

using Controller = std::variant<NewReno, Lia, Bbr>;

// One entry per name a scenario file may use, `uncoupled` included, in the order of the list.
std::vector<const AlgorithmInfo*> controller_infos();

// Throws ScenarioError for an unknown name or option. `uncoupled` yields one instance of its base per subflow.
Controller make_controller(const AlgorithmChoice& choice);

}  // namespace subflow
