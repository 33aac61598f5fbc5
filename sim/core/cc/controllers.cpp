#include "controllers.h"

#include <array>

#include "../listed.h"

namespace subflow {

namespace {

// Not a controller of its own: every subflow runs the base as if it were alone.
constexpr std::array kUncoupledBases{NewReno::kInfo.name, Bbr::kInfo.name};
constexpr std::array kUncoupledOptions{OptionInfo{
    .key = "base",
    .kind = OptionKind::Choice,
    .help = "the single-path controller that each subflow runs by itself",
    .default_choice = NewReno::kInfo.name,
    .choices = kUncoupledBases,
}};
constexpr AlgorithmInfo kUncoupledInfo{
    .name = "uncoupled",
    .summary = "A single-path controller on each subflow, with no coupling between them",
    .source = "Wischik et al., NSDI 2011, section 2",
    .is_coupled = true,
    .options = kUncoupledOptions,
};

}  // namespace

std::vector<const AlgorithmInfo*> controller_infos() {
    std::vector<const AlgorithmInfo*> infos = infos_of<Controller>();
    infos.push_back(&kUncoupledInfo);
    return infos;
}

Controller make_controller(const AlgorithmChoice& choice) {
    if (choice.name != kUncoupledInfo.name) return make_by_name<Controller>(choice, "controller");
    const Options options(kUncoupledInfo, choice.options);
    return make_by_name<Controller>({.name = std::string(options.choice("base")), .options = {}}, "controller");
}

}  // namespace subflow
