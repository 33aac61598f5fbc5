#include "controllers.h"

#include <array>

#include "../listed.h"

namespace subflow {

namespace {

// `uncoupled` has no algorithm of its own: each subflow runs the base independently. Possible bases are the single-path
// controllers of the list; `uncoupled` has all of their options, each of which applies only to its base.
template <class>
struct SinglePath;

template <class... Listed>
struct SinglePath<std::variant<Listed...>> {
    static constexpr std::size_t kBases = (std::size_t{0} + ... + !Listed::kInfo.is_coupled);
    static constexpr std::size_t kOptions =
        (std::size_t{0} + ... + (Listed::kInfo.is_coupled ? 0 : Listed::kInfo.options.size()));

    static constexpr auto rules() {
        RuleList<(std::size_t{0} + ... + Listed::kInfo.rules.size())> all;
        (all.add(Listed::kInfo.is_coupled ? std::span<const RuleInfo* const>() : Listed::kInfo.rules), ...);
        return all;
    }

    static constexpr std::array<std::string_view, kBases> bases() {
        std::array<std::string_view, kBases> names;
        std::size_t n = 0;
        const auto add = [&](const AlgorithmInfo& info) {
            if (!info.is_coupled) names[n++] = info.name;
        };
        (add(Listed::kInfo), ...);
        return names;
    }

    static constexpr std::array<OptionInfo, 1 + kOptions> options(const OptionInfo& base) {
        std::array<OptionInfo, 1 + kOptions> all;
        std::size_t n = 0;
        all[n++] = base;
        const auto add = [&](const AlgorithmInfo& info) {
            if (info.is_coupled) return;
            for (OptionInfo option : info.options) {
                option.base = info.name;
                all[n++] = option;
            }
        };
        (add(Listed::kInfo), ...);
        return all;
    }
};

constexpr auto kBases = SinglePath<AnyController>::bases();
constexpr auto kUncoupledOptions = SinglePath<AnyController>::options({
    .key = "base",
    .kind = OptionKind::Choice,
    .help = "The single-path controller that each subflow runs by itself.",
    .default_choice = NewReno::kInfo.name,
    .choices = kBases,
});
constexpr auto kUncoupledRules = SinglePath<AnyController>::rules();
constexpr AlgorithmInfo kUncoupledInfo{
    .name = "uncoupled",
    .summary = "A single-path controller on each subflow, with no coupling between them",
    .source = "Wischik et al., NSDI 2011, section 2",
    .is_coupled = true,
    .options = kUncoupledOptions,
    .rules = kUncoupledRules.distinct(),
};

constexpr bool has_distinct_keys(std::span<const OptionInfo> options) {
    for (std::size_t i = 0; i < options.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            if (options[i].key == options[k].key) return false;
        }
    }
    return true;
}
static_assert(has_distinct_keys(kUncoupledOptions),
              "options of single-path controllers need distinct names, because `uncoupled` has all of them");

}  // namespace

std::vector<const AlgorithmInfo*> controller_infos() {
    std::vector<const AlgorithmInfo*> infos = infos_of<AnyController>();
    infos.push_back(&kUncoupledInfo);
    return infos;
}

Controller make_controller(const AlgorithmChoice& choice) {
    if (choice.program) return AnyController(Scripted(choice));
    if (choice.name != kUncoupledInfo.name) return make_by_name<AnyController>(choice, "controller");
    AlgorithmChoice base{.name = std::string(kUncoupledInfo.options.front().default_choice), .options = {}};
    for (const OptionValue& option : choice.options) {
        if (option.key == kUncoupledInfo.options.front().key) {
            base.name = Options(kUncoupledInfo, std::span(&option, 1)).choice(option.key);
        } else {
            base.options.push_back(option);
        }
    }
    return make_by_name<AnyController>(base, "controller");
}

bool is_coupled(const Controller& controller) {
    return std::visit([](const auto& each) { return set_up::is_coupled(each); }, controller);
}

EcnUse ecn_use_of(const Controller& controller) {
    return std::visit([](const auto& each) { return set_up::ecn_use(each); }, controller);
}

bool monitors_intervals(const Controller& controller) {
    return std::visit([](const auto& each) { return set_up::monitors_intervals(each); }, controller);
}

const AgentInfo* agent_of(const Controller& controller) {
    return std::visit(
        []<class C>([[maybe_unused]] const C& c) -> const AgentInfo* {
            if constexpr (HasFormsOfAgent<C>) return &c.agent();
            if constexpr (TakesActions<C>) return &C::kAgent;
            return nullptr;
        },
        controller);
}

EpochPlan epoch_plan_of(const Controller& controller) {
    return std::visit(
        []<class C>(const C& c) -> EpochPlan {
            if constexpr (TakesActions<C>) return c.epoch_plan();
            return {};
        },
        controller);
}

}  // namespace subflow
