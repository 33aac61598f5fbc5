// Calls from a sender to its controller. Only the sources of SubflowSender include this file, because it includes all
// controllers.
#pragma once

#include "cc/controllers.h"
#include "sender.h"
#include "sender_rules.h"

namespace subflow {

template <class Call>
void SubflowSender::let_controller_change_window(Cause cause, Nanos now, Call&& call) {
    decide(cause, now, sender_rules::kUnexplained,
           [&](Reason* why) { controller_.visit([&](auto& controller) { call(controller, why); }); });
}

}  // namespace subflow
