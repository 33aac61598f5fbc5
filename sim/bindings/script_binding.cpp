// Controllers and schedulers that were written as text, compiled by subflow_sim.script.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "bindings.h"
#include "cc/cube_root.h"
#include "cc/power.h"
#include "script/program.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace subflow::bindings {

namespace {

using Instruction = std::tuple<std::uint8_t, std::uint8_t, std::uint8_t, std::uint8_t, std::int32_t>;
using Option = std::pair<std::string, std::uint8_t>;
using Note = std::tuple<std::string, std::string, std::string, std::uint32_t>;
using Begin = std::tuple<std::size_t, std::uint32_t, std::uint8_t>;
using Name = std::tuple<std::string, std::uint8_t, std::size_t>;

std::shared_ptr<ScriptProgram> make_program(std::string name, std::string text, const std::vector<Note>& told,
                                            bool is_coupled, const std::vector<Instruction>& code,
                                            std::vector<std::uint32_t> lines, std::vector<std::uint32_t> notes,
                                            std::vector<double> frame, const std::vector<Option>& options,
                                            const std::vector<Name>& names, std::vector<double> kept,
                                            const std::vector<std::int32_t>& entry, const std::vector<Begin>& begins,
                                            bool is_work_conserving, bool retransmits_when_blocked, bool penalises) {
    auto program = std::make_shared<ScriptProgram>();
    program->name = std::move(name);
    program->text = std::move(text);
    for (const auto& [kind, what, source, line] : told) program->told.push_back({kind, what, source, line});
    program->is_coupled = is_coupled;
    for (const auto& [op, to, a, b, value] : code)
        program->code.push_back({static_cast<ScriptOp>(op), to, a, b, value});
    program->lines = std::move(lines);
    program->notes = std::move(notes);
    program->frame = std::move(frame);
    for (const auto& [key, cell] : options) program->options.push_back({key, cell});
    for (const auto& [text, cell, hook] : names) program->names.push_back({text, cell, hook});
    program->kept = std::move(kept);
    if (entry.size() != kScriptHooks) throw ScriptProgramError("a program has an entry for each hook");
    std::ranges::copy(entry, program->entry.begin());
    for (const auto& [hook, note, cell] : begins) {
        if (hook >= kScriptHooks) throw ScriptProgramError("a hook that there is not");
        program->begins[hook].push_back({note, cell});
    }
    program->is_work_conserving = is_work_conserving;
    program->retransmits_when_blocked = retransmits_when_blocked;
    program->penalises = penalises;
    program->check();
    return program;
}

template <std::size_t kSize>
std::vector<std::string_view> listed(const std::array<std::string_view, kSize>& names) {
    return {names.begin(), names.end()};
}

}  // namespace

void bind_scripts(nb::module_& m) {
    nb::exception<ScriptProgramError>(m, "CoreScriptProgramError", PyExc_ValueError);
    nb::class_<ScriptProgram>(m, "ScriptProgram", "Compiled; immutable, and shared by all runs that have it.")
        .def(nb::new_(&make_program), "name"_a, "text"_a, "told"_a, "is_coupled"_a, "code"_a, "lines"_a, "notes"_a,
             "frame"_a, "options"_a, "names"_a, "kept"_a, "entry"_a, "begins"_a, "is_work_conserving"_a,
             "retransmits_when_blocked"_a, "penalises"_a,
             "`told` has (kind, text, source, line) of note 1 on, `code` has (operation, to, a, b, value); `names` "
             "(name, cell, hook or their count), `entry` the first "
             "instruction of each hook or -1, `begins` (hook, note, cell).")
        .def_ro("name", &ScriptProgram::name)
        .def_ro("text", &ScriptProgram::text)
        .def_prop_ro("told",
                     [](const ScriptProgram& p) {
                         std::vector<Note> notes;
                         for (const auto& each : p.told)
                             notes.emplace_back(each.kind, each.text, each.source, each.line);
                         return notes;
                     })
        .def_prop_ro("cell_count", [](const ScriptProgram& p) { return p.frame.size(); })
        .def_prop_ro("instruction_count", [](const ScriptProgram& p) { return p.code.size(); });
    nb::enum_<ScriptField::Kind>(m, "ScriptFieldKind")
        .value("REAL", ScriptField::Kind::Real)
        .value("TIME", ScriptField::Kind::Time)
        .value("FLAG", ScriptField::Kind::Flag)
        .value("COMPUTED", ScriptField::Kind::Computed);
    nb::class_<ScriptField>(m, "ScriptField")
        .def_ro("object", &ScriptField::object)
        .def_ro("name", &ScriptField::name)
        .def_ro("kind", &ScriptField::kind)
        .def_ro("place", &ScriptField::place);
    m.def("script_operations", [] { return listed(kScriptOpNames); }, "By number.");
    m.def("script_hooks", [] { return listed(kScriptHookNames); }, "By number.");
    m.def("script_fields", &script_fields);
    // What the machine computes by functions of its own, so that a compiler gets the same.
    m.def("exponential", &exponential, "y"_a);
    m.def("natural_log", &natural_log, "x"_a);
    m.def("power", &power, "x"_a, "exponent"_a);
    m.def("cube_root", &cube_root, "x"_a);
    m.attr("SCRIPT_MOST_CELLS") = ScriptProgram::kMostCells;
    m.attr("SCRIPT_MOST_INSTRUCTIONS") = ScriptProgram::kMostInstructions;
    m.attr("SCRIPT_MOST_KEPT") = ScriptProgram::kMostKept;
}

}  // namespace subflow::bindings
