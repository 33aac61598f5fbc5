#include "rules.h"

#include <variant>

#include "cc/controllers.h"
#include "listed.h"
#include "sched/schedulers.h"
#include "sender_rules.h"

namespace subflow {

namespace {

template <class>
struct RulesOf;

template <class... Listed>
struct RulesOf<std::variant<Listed...>> {
    static constexpr std::size_t kMost = (std::size_t{0} + ... + Listed::kInfo.rules.size());
    static constexpr void add_to(auto& rules) { (rules.add(Listed::kInfo.rules), ...); }
};

constexpr auto kAllRules = [] {
    RuleList<sender_rules::kAll.size() + kChoiceless.size() + RulesOf<AnyController>::kMost + RulesOf<Scheduler>::kMost>
        rules;
    rules.add(sender_rules::kAll);
    RulesOf<AnyController>::add_to(rules);
    rules.add(kChoiceless);
    RulesOf<Scheduler>::add_to(rules);
    return rules;
}();

}  // namespace

std::span<const RuleInfo* const> all_rules() {
    return kAllRules.distinct();
}

}  // namespace subflow
