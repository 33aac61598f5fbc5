// Learning agents: their descriptions and their training environments.
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "agent/agent_steps.h"
#include "agent/vec_env.h"
#include "bindings.h"
#include "cc/controllers.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace subflow::bindings {

namespace {

std::vector<NumberInfo> listed(std::span<const NumberInfo> numbers) {
    return {numbers.begin(), numbers.end()};
}

// Description of the agent of a controller with these options; None without an agent.
nb::object agent_info(const std::string& name, const OptionMap& options) {
    const Controller controller = make_controller(choice(name, options));
    const AgentInfo* const info = agent_of(controller);
    if (info == nullptr) return nb::none();
    const EpochPlan plan = epoch_plan_of(controller);
    nb::dict told;
    constexpr std::string_view kScopes[]{"host", "connection", "subflow"};
    constexpr std::string_view kKinds[]{"time", "rtt", "packets", "own"};
    told["scope"] = kScopes[static_cast<std::size_t>(info->scope)];
    told["features"] = listed(info->features);
    told["actions"] = listed(info->actions);
    told["choices"] = std::vector<std::string_view>(info->choices.begin(), info->choices.end());
    told["neutral_choice"] = info->neutral_choice;
    told["reward"] = info->reward;
    told["history"] = plan.history;
    told["epoch"] = kKinds[static_cast<std::size_t>(plan.kind)];
    told["epoch_time_ns"] = plan.time.value;
    told["epoch_packets"] = plan.packets;
    return told;
}

// A numpy view of one array of the environments, which keeps the environments alive.
template <class T, class Stored>
auto view(VecEnv& env, std::vector<Stored>& values, std::initializer_list<std::size_t> shape) {
    static_assert(sizeof(T) == sizeof(Stored));
    return nb::ndarray<nb::numpy, T>(values.data(), shape.size(), shape.begin(), nb::find(&env));
}

template <auto kArray, class T>
auto per_slot(VecEnv& env) {
    return view<T>(env, env.*kArray, {env.shape().envs, env.shape().slots});
}

template <auto kArray, class T>
auto per_env(VecEnv& env) {
    return view<T>(env, env.*kArray, {env.shape().envs});
}

// An array [steps] of one field: a view that keeps the table alive.
template <auto kField>
auto column(const AgentStepTable& table) {
    using T = std::decay_t<decltype(AgentStep{}.*kField)>;
    static_assert(sizeof(AgentStep) % sizeof(T) == 0);
    const T* const first = table.steps.empty() ? nullptr : &(table.steps[0].*kField);
    return nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::device::cpu>(first, {table.size()}, nb::find(&table),
                                                                         {sizeof(AgentStep) / sizeof(T)});
}

auto time_column(const AgentStepTable& table) {
    static_assert(sizeof(Nanos) == sizeof(std::int64_t) && sizeof(AgentStep) % sizeof(std::int64_t) == 0);
    const std::int64_t* const first = table.steps.empty() ? nullptr : &table.steps[0].at.value;
    return nb::ndarray<nb::numpy, const std::int64_t, nb::ndim<1>, nb::device::cpu>(
        first, {table.size()}, nb::find(&table), {sizeof(AgentStep) / sizeof(std::int64_t)});
}

// Like column(), as an array [steps, width] of the numbers of each step from `begin` on.
auto matrix(const AgentStepTable& table, std::uint32_t begin, std::uint32_t width) {
    const float* const first = table.numbers.empty() ? nullptr : table.numbers.data() + begin;
    return nb::ndarray<nb::numpy, const float, nb::ndim<2>, nb::device::cpu>(
        first, {table.size(), width}, nb::find(&table), {table.width + table.action_width, 1});
}

void bind_steps(nb::module_& m) {
    using T = AgentStepTable;
    using S = AgentStep;
    nb::class_<T>(m, "AgentStepTable")
        .def_prop_ro("time_ns", &time_column)
        .def_prop_ro("agent", &column<&S::agent>)
        .def_prop_ro("number", &column<&S::number>)
        .def_prop_ro("subflow", &column<&S::subflow>)
        .def_prop_ro("is_acting", &column<&S::is_acting>)
        .def_prop_ro("value", &column<&S::value>)
        .def_prop_ro("reward", &column<&S::reward>)
        .def_prop_ro("epoch_s", &column<&S::epoch_s>)
        .def_prop_ro("sending_rate_bps", &column<&S::sending_rate_bps>)
        .def_prop_ro("goodput_bps", &column<&S::goodput_bps>)
        .def_prop_ro("loss_ratio", &column<&S::loss_ratio>)
        .def_prop_ro("rtt_s", &column<&S::rtt_s>)
        .def_prop_ro("min_rtt_s", &column<&S::min_rtt_s>)
        .def_prop_ro("schedule_share", &column<&S::schedule_share>)
        .def_prop_ro("cwnd_before_pkts", &column<&S::cwnd_before_pkts>)
        .def_prop_ro("cwnd_after_pkts", &column<&S::cwnd_after_pkts>)
        .def_prop_ro("rate_before_bps", &column<&S::rate_before_bps>)
        .def_prop_ro("rate_after_bps", &column<&S::rate_after_bps>)
        .def_prop_ro("observation", [](const T& t) { return matrix(t, 0, t.width); })
        .def_prop_ro("action", [](const T& t) { return matrix(t, t.width, t.action_width); });
}

}  // namespace

void bind_agents(nb::module_& m) {
    bind_steps(m);
    nb::class_<NumberInfo>(m, "NumberInfo")
        .def_ro("name", &NumberInfo::name)
        .def_ro("unit", &NumberInfo::unit)
        .def_ro("help", &NumberInfo::help)
        .def_ro("minimum", &NumberInfo::minimum)
        .def_ro("maximum", &NumberInfo::maximum);
    m.def("agent_info", &agent_info, "controller"_a, "options"_a,
          nb::sig("def agent_info(controller: str, options: collections.abc.Mapping[str, bool | float | str]) -> "
                  "dict[str, typing.Any] | None"),
          "Description of the agent of that controller with these options; None without an agent.");

    nb::class_<EpisodeSummary>(m, "EpisodeSummary")
        .def_ro("goodput_bps", &EpisodeSummary::goodput_bps)
        .def_ro("flow_goodput_bps", &EpisodeSummary::flow_goodput_bps)
        .def_ro("rtt_inflation", &EpisodeSummary::rtt_inflation)
        .def_ro("rtt_s", &EpisodeSummary::rtt_s)
        .def_ro("loss_ratio", &EpisodeSummary::loss_ratio)
        .def_ro("jain", &EpisodeSummary::jain)
        .def_ro("duration_s", &EpisodeSummary::duration_s)
        .def_ro("decisions", &EpisodeSummary::decisions);

    nb::class_<VecEnv>(m, "VecEnv")
        .def(
            "__init__",
            [](VecEnv* self, std::string controller, std::uint32_t envs, std::uint32_t slots, std::uint32_t width,
               std::uint32_t action_width, unsigned threads) {
                new (self) VecEnv(std::move(controller), {envs, slots, width, action_width}, threads);
            },
            "controller"_a, "envs"_a, "slots"_a, "width"_a, "action_width"_a, "threads"_a)
        .def(
            "load",
            [](VecEnv& v, std::uint32_t env, const Scenario& scenario, std::uint64_t seed, std::int64_t end_ns,
               const std::vector<std::uint32_t>& groups) { v.load(env, scenario, seed, Nanos(end_ns), groups); },
            "env"_a, "scenario"_a, "seed"_a, "end_ns"_a, "groups"_a = std::vector<std::uint32_t>())
        .def(
            "send", [](VecEnv& v, const std::vector<std::uint32_t>& envs) { v.send(envs); }, "envs"_a)
        .def("recv", &VecEnv::recv, "least"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("summary", &VecEnv::summary, "env"_a, nb::rv_policy::copy)
        .def("observation",
             [](VecEnv& v) {
                 const VecEnvShape& s = v.shape();
                 return view<float>(v, v.observation, {s.envs, s.slots, s.width});
             })
        .def("mask", &per_slot<&VecEnv::mask, bool>)
        .def("finished", &per_slot<&VecEnv::finished, bool>)
        .def("acting", &per_slot<&VecEnv::acting, bool>)
        .def("agent", &per_slot<&VecEnv::agent, std::int32_t>)
        .def("flow", &per_slot<&VecEnv::flow, std::int32_t>)
        .def("action",
             [](VecEnv& v) {
                 const VecEnvShape& s = v.shape();
                 return view<float>(v, v.action, {s.envs, s.slots, s.action_width});
             })
        .def("reward", &per_slot<&VecEnv::reward, float>)
        .def("truth",
             [](VecEnv& v) {
                 const VecEnvShape& s = v.shape();
                 const std::initializer_list<std::size_t> shape{s.envs, s.slots, EpochTruth::kWidth};
                 return nb::ndarray<nb::numpy, float>(v.truth.data(), shape.size(), shape.begin(), nb::find(&v));
             })
        .def("team_reward", &per_env<&VecEnv::team_reward, float>)
        .def("terminated", &per_env<&VecEnv::terminated, bool>)
        .def("truncated", &per_env<&VecEnv::truncated, bool>)
        .def("time_s", &per_env<&VecEnv::time_s, double>);
    m.def("agent_slots", &VecEnv::slots_of, "scenario"_a, "controller"_a,
          "Number of subflows that the agents of that controller observe in a scenario.");
}

}  // namespace subflow::bindings
