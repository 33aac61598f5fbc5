// Controllers and schedulers written as scripts, compiled by subflow_sim.script.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "cc/cube_root.h"
#include "cc/power.h"
#include "document.h"
#include "script/machine.h"
#include "script/program.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace subflow::bindings {

namespace {

using Note = std::tuple<std::string, std::string, std::string, std::uint32_t>;
// Name of the operation, cells to, a and b, value, and line of the text.
using Instruction = std::tuple<std::string_view, std::uint8_t, std::uint8_t, std::uint8_t, std::int32_t, std::uint32_t>;

}  // namespace

void bind_scripts(nb::module_& m) {
    nb::exception<ScriptProgramError>(m, "CoreScriptProgramError", PyExc_ValueError);
    nb::class_<ScriptProgram>(m, "ScriptProgram", "A compiled script; immutable, and shared by all its runs.")
        .def_ro("name", &ScriptProgram::name)
        .def_ro("text", &ScriptProgram::text)
        .def_prop_ro("told",
                     [](const ScriptProgram& p) {
                         std::vector<Note> notes;
                         for (const auto& each : p.told)
                             notes.emplace_back(each.kind, each.text, each.source, each.line);
                         return notes;
                     })
        .def_prop_ro("code",
                     [](const ScriptProgram& p) {
                         std::vector<Instruction> code;
                         for (std::size_t i = 0; i < p.code.size(); ++i)
                             code.emplace_back(word_of(p.code[i].op), p.code[i].to, p.code[i].a, p.code[i].b,
                                               p.code[i].value, p.lines[i]);
                         return code;
                     })
        .def_ro("frame", &ScriptProgram::frame)
        .def_prop_ro("entry", [](const ScriptProgram& p) { return std::vector(p.entry.begin(), p.entry.end()); })
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
    m.def(
        "read_program",
        [](const nb::typed<nb::dict, nb::str, nb::any>& fields) { return read_program(document_of(fields).json); },
        "fields"_a, "The checked program with these fields.");
    m.def(
        "script_frame",
        [](const std::shared_ptr<const ScriptProgram>& program,
           const std::vector<std::pair<std::string, double>>& given) {
            AlgorithmChoice choice{.name = program->name, .options = {}, .program = program};
            for (const auto& [key, value] : given) choice.options.push_back({key, value});
            return script_frame(choice);
        },
        "program"_a, "options"_a, "The initial frame of a program with these options.");
    m.def(
        "script_hooks", [] { return std::vector(kScriptHookNames.begin(), kScriptHookNames.end()); },
        "Names of the hooks, indexed by number.");
    m.def("script_fields", &script_fields);
    // The machine's own functions, so that the compiler computes the same results.
    m.def("exponential", &exponential, "y"_a);
    m.def("natural_log", &natural_log, "x"_a);
    m.def("power", &power, "x"_a, "exponent"_a);
    m.def("cube_root", &cube_root, "x"_a);
    m.attr("SCRIPT_MOST_CELLS") = ScriptProgram::kMostCells;
    m.attr("SCRIPT_MOST_INSTRUCTIONS") = ScriptProgram::kMostInstructions;
    m.attr("SCRIPT_MOST_KEPT") = ScriptProgram::kMostKept;
}

}  // namespace subflow::bindings
