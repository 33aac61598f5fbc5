#include "bindings.h"

#include "check.h"
#include "policy/policy_error.h"
#include "scenario.h"
#include "simulation.h"

namespace nb = nanobind;

NB_MODULE(_core, m) {
    // At exit, nanobind would warn of all objects that a program has not released, which its users cannot change. Tests
    // check for leaks themselves.
    nb::set_leak_warnings(false);
    m.doc() = "The packet simulator. Times are integer nanoseconds, sizes bytes, rates bit/s. Use subflow_sim instead.";
    m.attr("build") = SUBFLOW_BUILD;
    const nb::exception<subflow::ScenarioError> scenario_error(m, "CoreScenarioError", PyExc_ValueError);
    nb::exception<subflow::PolicyError>(m, "CorePolicyError", scenario_error.ptr());
    nb::exception<subflow::ScriptRunError>(m, "CoreScriptRunError", PyExc_RuntimeError);
    nb::exception<subflow::InternalError>(m, "CoreInternalError", PyExc_RuntimeError);
    // Any call of a simulation may raise BusyError: the translation is here instead of in each caller.
    nb::register_exception_translator([](const std::exception_ptr& raised, void*) {
        try {
            std::rethrow_exception(raised);
        } catch (const subflow::BusyError& error) {
            PyErr_SetString(nb::module_::import_("subflow_sim.errors").attr("BusyError").ptr(), error.what());
        }
    });
    subflow::bindings::bind_catalog(m);
    subflow::bindings::bind_policy(m);
    subflow::bindings::bind_scripts(m);
    subflow::bindings::bind_scenario(m);
    subflow::bindings::bind_decisions(m);
    subflow::bindings::bind_capture(m);
    subflow::bindings::bind_fates(m);
    subflow::bindings::bind_driven_controllers(m);
    subflow::bindings::bind_agents(m);
    subflow::bindings::bind_instant(m);
    subflow::bindings::bind_simulation(m);
#ifdef __linux__
    subflow::bindings::bind_emulator(m);
#endif
}
