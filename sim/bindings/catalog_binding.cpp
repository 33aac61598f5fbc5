// Descriptions of the core's controllers and schedulers.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "cc/controllers.h"
#include "rules.h"
#include "sched/schedulers.h"

namespace nb = nanobind;

namespace subflow::bindings {

void bind_catalog(nb::module_& m) {
    nb::enum_<OptionKind>(m, "OptionKind")
        .value("NUMBER", OptionKind::Number)
        .value("RATIO", OptionKind::Ratio)
        .value("TIME", OptionKind::Time)
        .value("RATE", OptionKind::Rate)
        .value("FLAG", OptionKind::Flag)
        .value("CHOICE", OptionKind::Choice)
        .value("POLICY", OptionKind::Policy);

    nb::class_<OptionInfo>(m, "OptionInfo")
        .def_ro("key", &OptionInfo::key)
        .def_ro("kind", &OptionInfo::kind)
        .def_ro("help", &OptionInfo::help)
        .def_ro("default_number", &OptionInfo::default_number)
        .def_ro("default_choice", &OptionInfo::default_choice)
        .def_ro("textbook_choice", &OptionInfo::textbook_choice)
        .def_ro("minimum", &OptionInfo::minimum)
        .def_ro("maximum", &OptionInfo::maximum)
        .def_ro("unit", &OptionInfo::unit)
        .def_ro("base", &OptionInfo::base)
        .def_prop_ro("choices", [](const OptionInfo& o) {
            return std::vector<std::string_view>(o.choices.begin(), o.choices.end());
        });

    nb::class_<RuleNumber>(m, "RuleNumber").def_ro("name", &RuleNumber::name).def_ro("meaning", &RuleNumber::meaning);

    nb::class_<RuleInfo>(m, "RuleInfo")
        .def_ro("name", &RuleInfo::name)
        .def_ro("formula", &RuleInfo::formula)
        .def_ro("computed", &RuleInfo::computed)
        .def_ro("source", &RuleInfo::source)
        .def_prop_ro("numbers", [](const RuleInfo& r) {
            return std::vector<RuleNumber>(r.numbers, r.numbers + r.number_count());
        });
    m.def(
        "all_rules", [] { return std::vector<const RuleInfo*>(all_rules().begin(), all_rules().end()); },
        nb::rv_policy::reference, "A rule's position is its number in the column `rule` of decisions.");

    nb::class_<AlgorithmInfo>(m, "AlgorithmInfo")
        .def_ro("name", &AlgorithmInfo::name)
        .def_ro("summary", &AlgorithmInfo::summary)
        .def_ro("source", &AlgorithmInfo::source)
        .def_ro("is_coupled", &AlgorithmInfo::is_coupled)
        .def_ro("scheduler", &AlgorithmInfo::scheduler)
        .def_prop_ro("options",
                     [](const AlgorithmInfo& a) { return std::vector<OptionInfo>(a.options.begin(), a.options.end()); })
        .def_prop_ro("rules", [](const AlgorithmInfo& a) {
            std::vector<RuleInfo> rules;
            for (const RuleInfo* rule : a.rules) rules.push_back(*rule);
            return rules;
        });

    m.def("controller_infos", &controller_infos, nb::rv_policy::reference);
    m.def("scheduler_infos", &scheduler_infos, nb::rv_policy::reference);
}

}  // namespace subflow::bindings
