// One function per bound concept; module.cpp calls them all.
#pragma once

#include <nanobind/nanobind.h>

namespace subflow::bindings {

void bind_catalog(nanobind::module_& m);
void bind_scenario(nanobind::module_& m);
void bind_decisions(nanobind::module_& m);
void bind_simulation(nanobind::module_& m);

}  // namespace subflow::bindings
