// One function per bound concept; module.cpp calls all of them.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <string>
#include <variant>

#include "scenario.h"

namespace subflow::bindings {

using OptionMap = std::map<std::string, std::variant<bool, double, std::string>>;

inline AlgorithmChoice choice(const std::string& name, const OptionMap& options) {
    AlgorithmChoice out{name, {}};
    for (const auto& [key, value] : options) std::visit([&](const auto& v) { out.options.push_back({key, v}); }, value);
    return out;
}

void bind_catalog(nanobind::module_& m);
void bind_policy(nanobind::module_& m);
void bind_scripts(nanobind::module_& m);
void bind_scenario(nanobind::module_& m);
void bind_decisions(nanobind::module_& m);
void bind_capture(nanobind::module_& m);
void bind_fates(nanobind::module_& m);
void bind_driven_controllers(nanobind::module_& m);
void bind_agents(nanobind::module_& m);
void bind_instant(nanobind::module_& m);
void bind_simulation(nanobind::module_& m);
void bind_emulator(nanobind::module_& m);  // only on Linux

}  // namespace subflow::bindings
