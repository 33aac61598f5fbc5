// Runs for a web page. Arguments and results are numbers, texts in a shared buffer, and columns of numbers read in
// place. A call that fails returns -1, null instead of an address, or NaN instead of a mean, and stores the reason as
// text.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent_reasons.h"
#include "estimate.h"
#include "instant.h"
#include "json_text.h"
#include "policy/network_policy.h"
#include "rules.h"
#include "scenario_json.h"
#include "script/program.h"
#include "simulation.h"

#ifdef __wasm__
#define SUBFLOW_EXPORT(name) extern "C" __attribute__((export_name(#name), visibility("default")))
#else
#define SUBFLOW_EXPORT(name) extern "C"
#endif

// WORKAROUND(zig 0.17): its C++ library is built without exceptions, so that its own operator new would end the
// program when memory runs out.
void* operator new(std::size_t size) {
    if (void* const place = std::malloc(size == 0 ? 1 : size)) return place;
    throw std::bad_alloc();
}
void operator delete(void* place) noexcept {
    std::free(place);
}
void operator delete(void* place, std::size_t) noexcept {
    std::free(place);
}

namespace subflow::web {
namespace {

// Limits of a page: some seconds of work, and the memory of a phone.
constexpr double kMostCrossings = 3e8;
// limit on the estimated crossings: because of cautious controllers and losses, most runs stay far below their estimate
constexpr double kMostEstimated = 1e9;
constexpr double kMostBytes = 1e9;
constexpr std::size_t kMostValues = 5'000'000;
// Number of states of a run to resume from, evenly spaced over the run, and the limit of their total memory.
constexpr std::int64_t kSnapshots = 32;
constexpr std::size_t kMostSnapshotBytes = std::size_t{256} << 20;
constexpr std::uint32_t kDecisionCapacity = 100'000;
constexpr std::size_t kMostStepBytes = std::size_t{32} << 20;

struct Run {
    std::unique_ptr<Simulation> simulation;
    std::vector<std::shared_ptr<const Simulation::Snapshot>> snapshots;  // shared with forks
    Nanos spacing{};
    // The state at the last change, with the pending change: resuming from an older state would omit the change.
    std::shared_ptr<const Simulation::Snapshot> changed;
    std::vector<Mark> marks;
    AgentStepTable agent_steps;  // about kMostStepBytes at most; later steps are dropped
    Instant instant;
};

// Indexed by the number of the run; the next run gets the number of a closed one.
std::deque<std::optional<Run>> runs;
std::vector<std::shared_ptr<const Policy>> policies;
std::vector<char> input;
std::string output;
std::vector<float> column_output;

Run& run_at(int id) {
    if (id < 0 || static_cast<std::size_t>(id) >= runs.size() || !runs[static_cast<std::size_t>(id)])
        throw ScenarioError("no run " + std::to_string(id));
    return *runs[static_cast<std::size_t>(id)];
}

int keep(Run run) {
    const auto free = std::ranges::find_if(runs, [](const auto& each) { return !each; });
    if (free == runs.end()) {
        runs.emplace_back(std::move(run));
        return static_cast<int>(runs.size() - 1);
    }
    *free = std::move(run);
    return static_cast<int>(free - runs.begin());
}

template <class Do>
int guarded(Do act) {
    try {
        return act();
    } catch (const std::bad_alloc&) {
        output = "not enough memory";
    } catch (const std::exception& error) {
        output = error.what();
    }
    return -1;
}

std::string_view given(int size) {
    return {input.data(), std::min(input.size(), static_cast<std::size_t>(std::max(0, size)))};
}

Nanos nanos(double value) {
    return Nanos(static_cast<std::int64_t>(std::clamp(value, 0.0, 9e15)));
}

// Start of the measured interval, or 0 before it has begun.
Nanos measured_from(const Simulation& simulation) {
    const Nanos warmup = simulation.scenario().warmup;
    return warmup < simulation.now() ? warmup : Nanos(0);
}

void tell_balance(Text& out, const PacketBalance& packets) {
    out.number("packets_sent", packets.sent)
        .number("packets_delivered", packets.delivered)
        .number("packets_dropped", packets.dropped)
        .number("packets_lost", packets.lost)
        .number("packets_acked", packets.acked);
}

// Results named as in Simulation.summary() in Python.
void tell_results(const Simulation& simulation) {
    const Network& network = simulation.network();
    const Scenario& scenario = simulation.scenario();
    Text out(output);
    out.open('{')
        .number("packets", network.packets_delivered())
        .number("measured_from_s", to_seconds(measured_from(simulation)));
    out.key("flows").open('[');
    for (std::size_t i = 0; i < scenario.flows.size(); ++i) {
        const FlowResult r = network.flow_result(i);
        const std::optional<Bytes>& size = scenario.flows[i].size;
        out.open('{')
            .text("name", scenario.flows[i].name)
            .number("size_bytes", size ? static_cast<double>(size->value) : kNaN)
            .number("start_s", r.start_s)
            .number("goodput_bps", r.goodput_bps)
            .number("active_goodput_bps", r.active_goodput_bps)
            .number("active_s", r.active_s)
            .number("completion_s", r.completion_s)
            .number("mean_rtt_s", r.mean_rtt_s)
            .number("p95_rtt_s", r.p95_rtt_s)
            .number("loss_ratio", r.loss_ratio)
            .number("retransmits", r.retransmits)
            .number("reinjections", r.reinjections);
        tell_balance(out, r.packets);
        out.close('}');
    }
    out.close(']').key("subflows").open('[');
    for (std::size_t i = 0; i < network.subflows().size(); ++i) {
        const SubflowResult r = network.subflow_result(i);
        out.open('{')
            .number("throughput_bps", r.throughput_bps)
            .number("goodput_bps", r.goodput_bps)
            .number("mean_cwnd_pkts", r.mean_cwnd_pkts)
            .number("active_mean_cwnd_pkts", r.active_mean_cwnd_pkts)
            .number("mean_rtt_s", r.mean_rtt_s)
            .number("loss_ratio", r.loss_ratio)
            .number("retransmits", r.retransmits)
            .number("timeouts", r.timeouts);
        tell_balance(out, r.packets);
        out.close('}');
    }
    out.close(']').key("links").open('[');
    for (std::size_t i = 0; i < scenario.links.size(); ++i) {
        const LinkResult r = network.link_result(i);
        out.open('{')
            .text("name", scenario.links[i].name)
            .number("utilisation", r.utilisation)
            .number("drops_queue", r.drops_queue)
            .number("drops_random", r.drops_random)
            .number("drops_down", r.drops_down)
            .number("drops_scripted", r.drops_scripted)
            .number("marks", r.marks)
            .number("mean_queue_pkts", r.mean_queue_pkts)
            .number("max_queue_pkts", r.max_queue_pkts)
            .close('}');
    }
    out.close(']').close('}');
}

void tell_columns(const Simulation& simulation) {
    constexpr std::string_view kScopes[]{"flow", "subflow", "link"};
    Text out(output);
    out.open('[');
    for (const TraceColumn& column : simulation.recorder().columns()) {
        out.open('{')
            .text("scope", kScopes[static_cast<std::size_t>(column.scope)])
            .number("owner", std::int64_t{column.owner})
            .text("name", column.name())
            .text("unit", column.unit())
            .close('}');
    }
    out.close(']');
}

void tell_marks(const Run& run) {
    Text out(output);
    out.open('[');
    for (const Mark& mark : run.marks) {
        out.open('[')
            .number(to_seconds(mark.time))
            .number(static_cast<double>(mark.kind))
            .number(mark.owner)
            .number(mark.value)
            .close(']');
    }
    out.close(']');
}

template <class Values>
void tell_list(Text& out, std::string_view name, const Values& values) {
    out.key(name).open('[');
    for (const auto value : values) out.number(static_cast<double>(value));
    out.close(']');
}

void tell_instant(const Instant& now) {
    Text out(output);
    out.open('{').number("now_s", to_seconds(now.now)).number("packets", std::int64_t(now.packets.link.size()));
    tell_list(out, "queue_pkts", now.links.queue_pkts);
    tell_list(out, "is_up", now.links.is_up);
    tell_list(out, "dropped_pkts", now.links.dropped_pkts);
    tell_list(out, "state", now.subflows.state);
    tell_list(out, "cwnd_pkts", now.subflows.cwnd_pkts);
    tell_list(out, "inflight_pkts", now.subflows.inflight_pkts);
    tell_list(out, "srtt_s", now.subflows.srtt_s);
    out.close('}');
}

constexpr std::string_view kCauses[]{"start",    "ack",  "loss",     "rto",    "recovery_exit",
                                     "interval", "idle", "schedule", "action", "mark"};

// True if a decision answers a loss or marks.
bool answers_loss(Cause cause) {
    return cause == Cause::Loss || cause == Cause::Timeout || cause == Cause::RecoveryExit || cause == Cause::Mark;
}

// The losses behind decision `i` of a subflow: those that the sender noticed at the same time, or last before a
// decision that answers a loss, or since the previous decision of an agent or of a monitor interval. Row numbers of
// `losses`.
std::vector<std::size_t> losses_behind(const DecisionTable& table, std::size_t i, const LossTable& losses) {
    const std::uint32_t subflow = table.owner[i];
    const std::int64_t now = table.time_ns[i];
    const auto cause = static_cast<Cause>(table.cause[i]);
    std::int64_t since = now;
    if (cause == Cause::Interval || cause == Cause::Action) {
        since = table.time_ns.empty() ? now : table.time_ns.front();
        for (std::size_t k = i; k-- > 0;) {
            if (table.owner[k] != subflow || table.cause[k] != table.cause[i]) continue;
            since = table.time_ns[k] + 1;
            break;
        }
    } else if (answers_loss(cause)) {
        since = -1;
        for (std::size_t k = 0; k < losses.size(); ++k) {
            const bool is_mark = static_cast<LossSign>(losses.sign[k]) == LossSign::Marks;
            if (losses.subflow[k] != subflow || losses.time_ns[k] > now || (cause == Cause::Mark && !is_mark)) continue;
            since = losses.time_ns[k];
        }
    }
    std::vector<std::size_t> rows;
    for (std::size_t k = 0; k < losses.size(); ++k)
        if (losses.subflow[k] == subflow && losses.time_ns[k] >= since && losses.time_ns[k] <= now) rows.push_back(k);
    return rows;
}

constexpr std::size_t kMostLosses = 200;

void tell_losses(Text& out, const Scenario& scenario, const LossTable& losses, std::span<const std::size_t> rows) {
    out.number("loss_count", static_cast<std::int64_t>(rows.size())).key("losses").open('[');
    for (const std::size_t k : rows.first(std::min(rows.size(), kMostLosses))) {
        const auto link_name = [&](std::uint32_t link) {
            return link == LossTable::kNoLink ? std::string_view() : std::string_view(scenario.links[link].name);
        };
        const auto limit = losses.limit_pkts[k];
        out.open('{')
            .number("time_s", static_cast<double>(losses.time_ns[k]) * 1e-9)
            .number("sent_s", static_cast<double>(losses.sent_ns[k]) * 1e-9)
            .number("fate_s", losses.fate_ns[k] < 0 ? kNaN : static_cast<double>(losses.fate_ns[k]) * 1e-9)
            .number("seq", std::int64_t{losses.seq[k]})
            .number("sign", std::int64_t{losses.sign[k]})
            .number("fate", std::int64_t{losses.fate[k]})
            .text("link", link_name(losses.link[k]))
            .number("queue_pkts", losses.queue_pkts[k])
            .number("limit_pkts", limit == DropTail{}.limit_pkts ? kNaN : static_cast<double>(limit))
            .number("overtaken_s",
                    losses.overtaken_ns[k] < 0 ? kNaN : static_cast<double>(losses.overtaken_ns[k]) * 1e-9)
            .number("lost_acks", std::int64_t{losses.lost_acks[k]})
            .text("ack_link", link_name(losses.ack_link[k]))
            .close('}');
    }
    out.close(']');
}

void tell_decision(Network& network, const DecisionTable& table, std::size_t i, std::uint32_t first_step,
                   const LossTable& losses, std::span<const std::size_t> rows) {
    const std::span<const RuleInfo* const> built_in = all_rules();
    const std::vector<const RuleInfo*> of_scripts = network.script_rules();
    const std::size_t number = table.rule[i];
    const RuleInfo* rule = nullptr;
    if (number < built_in.size()) {
        rule = built_in[number];
    } else if (number - built_in.size() < of_scripts.size()) {
        rule = of_scripts[number - built_in.size()];
    }
    Text out(output);
    out.open('{')
        .number("time_s", static_cast<double>(table.time_ns[i]) * 1e-9)
        .text("cause", kCauses[table.cause[i]])
        .number("cwnd_before_pkts", table.cwnd_before_pkts[i])
        .number("cwnd_after_pkts", table.cwnd_after_pkts[i])
        .number("rate_before_bps", table.rate_before_bps[i])
        .number("rate_after_bps", table.rate_after_bps[i])
        .number("chosen", std::int64_t{table.chosen[i]})
        .number("available", std::int64_t{table.available[i]})
        .number("usable", std::int64_t{table.usable[i]});
    tell_losses(out, network.scenario(), losses, rows);
    if (rule != nullptr) {
        out.text("rule", rule->name).text("formula", rule->formula).text("source", rule->source);
        out.key("numbers").open('[');
        for (std::size_t k = 0; k < rule->number_count(); ++k)
            out.open('{')
                .text("name", rule->numbers[k].name)
                .text("meaning", rule->numbers[k].meaning)
                .number("value", table.numbers[i * kMaxDecisionNumbers + k])
                .close('}');
        out.close(']');
        for (const auto& program : network.scripts()) {
            if (table.step_count[i] == 0 || rule->source != program->name) continue;
            out.key("steps").open('[');
            for (std::uint32_t k = 0; k < table.step_count[i]; ++k) {
                const std::uint32_t note = table.step_notes[first_step + k];
                if (note == 0 || note > program->told.size()) continue;
                const ScriptProgram::Note& told = program->told[note - 1];
                out.open('{')
                    .text("source", told.source)
                    .number("line", std::int64_t{told.line})
                    .number("value", table.step_values[first_step + k])
                    .close('}');
            }
            out.close(']');
            break;
        }
    }
    out.close('}');
}

// The latest snapshot of a run at or before a time, including the state at the last change; nullptr without one.
const Simulation::Snapshot* before(const Run& run, Nanos at) {
    const auto next = std::ranges::upper_bound(run.snapshots, at, {}, [](const auto& s) { return s->network.now(); });
    const Simulation::Snapshot* found = next == run.snapshots.begin() ? nullptr : std::prev(next)->get();
    if (run.changed == nullptr || at < run.changed->network.now()) return found;
    return found == nullptr || found->network.now() <= run.changed->network.now() ? run.changed.get() : found;
}

void thin_out(Run& run) {
    std::size_t bytes = 0;
    for (const auto& each : run.snapshots) bytes += each->bytes();
    if (bytes < kMostSnapshotBytes) return;
    std::size_t position = 0;
    std::erase_if(run.snapshots, [&](const auto&) { return position++ % 2 == 1; });
    run.spacing = run.spacing * 2;
}

void take_snapshot(Run& run) {
    run.snapshots.push_back(std::make_shared<Simulation::Snapshot>(run.simulation->snapshot()));
}

// Appends the first `count` rows of a table to those of a run, unless these already exceed kMostStepBytes.
void add_agent_steps(Run& run, const AgentStepTable& taken, std::size_t count) {
    AgentStepTable& kept = run.agent_steps;
    kept.width = taken.width;
    kept.action_width = taken.action_width;
    const std::size_t numbers = taken.width + taken.action_width;
    if (kept.size() * (sizeof(AgentStep) + numbers * sizeof(float)) > kMostStepBytes) return;
    kept.steps.insert(kept.steps.end(), taken.steps.begin(), taken.steps.begin() + static_cast<std::ptrdiff_t>(count));
    kept.numbers.insert(kept.numbers.end(), taken.numbers.begin(),
                        taken.numbers.begin() + static_cast<std::ptrdiff_t>(count * numbers));
}

// Collects marks and agent steps since the last call.
void take_notes(Run& run) {
    Network& network = run.simulation->network();
    const std::vector<Mark> taken = network.take_marks();
    run.marks.insert(run.marks.end(), taken.begin(), taken.end());
    if (network.agents().empty()) return;
    const AgentStepTable steps = network.take_agent_steps();
    add_agent_steps(run, steps, steps.size());
}

}  // namespace

// ---- exported functions ----

// Provides the buffer for the input of the next call, `size` bytes.
SUBFLOW_EXPORT(buffer) char* buffer(int size) {
    input.resize(static_cast<std::size_t>(std::max(0, size)));
    return input.data();
}
SUBFLOW_EXPORT(text) const char* text() {
    return output.data();
}
SUBFLOW_EXPORT(text_size) int text_size() {
    return static_cast<int>(output.size());
}

// Adds the trained policy whose file is in the buffer; scenarios refer to it by the returned number.
SUBFLOW_EXPORT(add_policy) int add_policy(int size) {
    return guarded([&] {
        policies.push_back(read_policy(std::as_bytes(std::span(given(size)))));
        return static_cast<int>(policies.size() - 1);
    });
}

// Opens a run of the scenario in the buffer, at time 0. Returns its number.
SUBFLOW_EXPORT(open_run) int open_run(int size, std::uint64_t seed, double interval_ns) {
    return guarded([&] {
        Scenario scenario = read_scenario(given(size), {policies}, kMostValues);
        const Nanos interval = nanos(interval_ns);
        const Estimate told = estimate(scenario, interval);
        if (told.link_crossings > kMostEstimated || told.memory_bytes() > kMostBytes) {
            char text[160];
            std::snprintf(text, sizeof text,
                          "too large for a page: about %.0f million packets and %.0f MB; allowed: %.0f and %.0f",
                          told.link_crossings / 1e6, told.memory_bytes() / 1e6, kMostEstimated / 1e6, kMostBytes / 1e6);
            throw ScenarioError(text);
        }
        Run run;
        run.spacing = std::max(Nanos(1), scenario.duration / kSnapshots);
        run.simulation = std::make_unique<Simulation>(std::move(scenario), seed, interval);
        run.simulation->set_limits({static_cast<std::int64_t>(kMostCrossings), static_cast<std::size_t>(kMostBytes)});
        if (!run.simulation->network().agents().empty()) run.simulation->network().record_agent_steps();
        take_snapshot(run);
        return keep(std::move(run));
    });
}

SUBFLOW_EXPORT(close_run) void close_run(int id) {
    if (id >= 0 && static_cast<std::size_t>(id) < runs.size()) runs[static_cast<std::size_t>(id)].reset();
}

// Continues a run to `until_ns`; stops early after `max_events` events without a snapshot. Returns RunEnd as a number.
SUBFLOW_EXPORT(advance) int advance(int id, double until_ns, double max_events) {
    return guarded([&] {
        Run& run = run_at(id);
        Simulation& simulation = *run.simulation;
        const Nanos until = std::min(nanos(until_ns), simulation.duration());
        RunEnd end = RunEnd::Reached;
        while (simulation.now() < until && end == RunEnd::Reached) {
            const Nanos due = run.snapshots.empty() ? until : run.snapshots.back()->network.now() + run.spacing;
            end = simulation.run_until(std::min(until, std::max(due, simulation.now() + Nanos(1))),
                                       static_cast<std::int64_t>(max_events));
            take_notes(run);
            if (run.snapshots.empty() || simulation.now() < due) continue;
            take_snapshot(run);
            thin_out(run);
        }
        if (end == RunEnd::OverEvents || end == RunEnd::OverMemory)
            throw ScenarioError("beyond the limits of a page: stopped after " +
                                std::to_string(simulation.now().value / 1'000'000'000) + " s");
        return static_cast<int>(end);
    });
}

// Forks a run at `at_ns`, or at its present time if that is earlier. A fork for a single look (`is_glance`) takes no
// snapshots. Returns the number of the fork.
SUBFLOW_EXPORT(fork_at) int fork_at(int id, double at_ns, int is_glance) {
    return guarded([&] {
        const Run& run = run_at(id);
        const Nanos at = std::min(nanos(at_ns), run.simulation->now());
        const Simulation::Snapshot* from = before(run, at);
        if (from == nullptr) throw ScenarioError("no state to continue from");
        Run fork;
        fork.simulation = run.simulation->fork(*from);
        fork.spacing = is_glance != 0 ? kNever : run.spacing;
        for (const auto& each : run.snapshots)
            if (each->network.now() <= at) fork.snapshots.push_back(each);
        const Nanos begin = from->network.now();
        std::ranges::copy_if(run.marks, std::back_inserter(fork.marks),
                             [&](const Mark& mark) { return mark.time <= begin; });
        const auto later = std::ranges::upper_bound(run.agent_steps.steps, begin, {}, &AgentStep::at);
        if (is_glance == 0)
            add_agent_steps(fork, run.agent_steps, static_cast<std::size_t>(later - run.agent_steps.steps.begin()));
        fork.simulation->network().take_marks();
        fork.simulation->network().take_agent_steps();
        fork.simulation->run_until(at);
        take_notes(fork);
        return keep(std::move(fork));
    });
}

// Applies the events of the scenario in the buffer to a run, now. Returns their time in nanoseconds.
SUBFLOW_EXPORT(apply_events) double apply_events(int id, int size) {
    double at = -1;
    guarded([&] {
        const Scenario changes = read_scenario(given(size), {policies}, kMostValues);
        Run& run = run_at(id);
        at = static_cast<double>(run.simulation->apply(changes.events).value);
        run.changed = std::make_shared<Simulation::Snapshot>(run.simulation->snapshot());
        return 0;
    });
    return at;
}

SUBFLOW_EXPORT(now_ns) double now_ns(int id) {
    double now = -1;
    guarded([&] {
        now = static_cast<double>(run_at(id).simulation->now().value);
        return 0;
    });
    return now;
}
// Writes the signature of a run as text: 16 hexadecimal digits.
SUBFLOW_EXPORT(signature) int signature(int id) {
    return guarded([&] {
        char digits[17];
        std::snprintf(digits, sizeof digits, "%016" PRIx64, run_at(id).simulation->network().signature());
        output = digits;
        return 0;
    });
}
// The next three functions write a text as JSON: the results, the trace columns and the marks of a run.
SUBFLOW_EXPORT(results) int results(int id) {
    output.clear();
    return guarded([&] {
        tell_results(*run_at(id).simulation);
        return 0;
    });
}
SUBFLOW_EXPORT(columns) int columns(int id) {
    output.clear();
    return guarded([&] {
        tell_columns(*run_at(id).simulation);
        return 0;
    });
}
SUBFLOW_EXPORT(marks) int marks(int id) {
    output.clear();
    return guarded([&] {
        tell_marks(run_at(id));
        return 0;
    });
}
SUBFLOW_EXPORT(sample_count) int sample_count(int id) {
    return guarded([&] { return static_cast<int>(run_at(id).simulation->recorder().count()); });
}
// Address of a column's values: float32 [sample_count], valid until the next call.
SUBFLOW_EXPORT(column_values) const float* column_values(int id, int column) {
    column_output.clear();
    guarded([&] {
        const Recorder& recorder = run_at(id).simulation->recorder();
        if (column < 0 || static_cast<std::size_t>(column) >= recorder.columns().size())
            throw ScenarioError("no such column");
        column_output = recorder.values(static_cast<std::size_t>(column));
        return 0;
    });
    return column_output.data();
}

// Mean of a column over the measured interval so far, or over the whole run before that interval begins. NaN if all
// samples are gaps.
SUBFLOW_EXPORT(column_mean) double column_mean(int id, int column) {
    double mean = kNaN;
    guarded([&] {
        const Simulation& simulation = *run_at(id).simulation;
        if (column < 0 || static_cast<std::size_t>(column) >= simulation.recorder().columns().size())
            throw ScenarioError("no such column");
        mean =
            simulation.recorder().mean(static_cast<std::size_t>(column), measured_from(simulation), simulation.now());
        return 0;
    });
    return mean;
}

// Writes the present state of links and subflows as text, and the position of each packet in columns. Returns the
// number of packets.
SUBFLOW_EXPORT(look) int look(int id) {
    output.clear();
    return guarded([&] {
        Run& run = run_at(id);
        run.instant = inspect(run.simulation->network());
        tell_instant(run.instant);
        return static_cast<int>(run.instant.packets.link.size());
    });
}
// A column of the last look, by number: int32 link, int32 subflow, uint8 kind, float32 progress, int32 queue position.
SUBFLOW_EXPORT(packet_column) const void* packet_column(int id, int column) {
    const void* values = nullptr;
    guarded([&] {
        const PacketsUnderWay& packets = run_at(id).instant.packets;
        const void* const all[]{packets.link.data(), packets.subflow.data(), packets.kind.data(),
                                packets.progress.data(), packets.queue_position.data()};
        values = all[std::clamp(column, 0, 4)];
        return 0;
    });
    return values;
}

// Writes as text the last decision of an owner (DecisionTable::owner) up to `at_ns`. Repeats the simulation from the
// latest snapshot and, if the owner decided nothing since, from up to three earlier ones. Returns 1, or 0 without a
// decision.
SUBFLOW_EXPORT(explain) int explain(int id, double owner, double at_ns) {
    output.clear();
    return guarded([&] {
        const Run& run = run_at(id);
        const Nanos at = std::min(nanos(at_ns), run.simulation->now());
        Nanos begin = at;
        const bool is_subflow = owner < static_cast<double>(run.simulation->network().subflows().size());
        for (int tries = 0; tries < 5; ++tries) {
            const Simulation::Snapshot* from = before(run, begin);
            if (from == nullptr) return 0;
            begin = from->network.now() - Nanos(1);
            const std::unique_ptr<Simulation> fork = run.simulation->fork(*from);
            fork->network().record_decisions({.capacity = kDecisionCapacity});
            if (is_subflow)
                fork->network().record_fates(fork->network().subflows()[static_cast<std::size_t>(owner)].connection,
                                             kDecisionCapacity);
            fork->run_until(at);
            const DecisionTable table = fork->network().take_decisions();
            std::uint32_t steps = static_cast<std::uint32_t>(table.step_notes.size());
            for (std::size_t i = table.size(); i-- > 0;) {
                steps -= table.step_count[i];
                if (static_cast<double>(table.owner[i]) != owner) continue;
                const LossTable losses = fork->network().losses();
                const std::vector<std::size_t> rows =
                    is_subflow ? losses_behind(table, i, losses) : std::vector<std::size_t>();
                // Packets that left before the fork have no record: begin earlier.
                const bool is_cut_short =
                    rows.empty() ? is_subflow && answers_loss(static_cast<Cause>(table.cause[i]))
                                 : std::ranges::any_of(rows, [&](std::size_t k) {
                                       return losses.sent_ns[k] < from->network.now().value && losses.sent_ns[k] > 0;
                                   });
                if (is_cut_short && tries < 4 && from->network.now() > Nanos(0)) break;
                tell_decision(fork->network(), table, i, steps, losses, rows);
                return 1;
            }
        }
        return 0;
    });
}

// Writes as text the last decision up to `at_ns` of the agent that controls the subflow `owner`, and the features that
// influenced it. Returns 1, or 0 without a decision.
SUBFLOW_EXPORT(explain_agent) int explain_agent(int id, double owner, double at_ns) {
    output.clear();
    return guarded([&] {
        const Run& run = run_at(id);
        const std::vector<AgentStep>& steps = run.agent_steps.steps;
        const auto later = std::ranges::upper_bound(steps, nanos(at_ns), {}, &AgentStep::at);
        for (auto row = static_cast<std::size_t>(later - steps.begin()); row-- > 0;) {
            if (!steps[row].is_acting || static_cast<double>(steps[row].subflow) != owner) continue;
            tell_agent(Text(output), run.simulation->network(), run.agent_steps, row);
            return 1;
        }
        return 0;
    });
}

}  // namespace subflow::web
