#include "machine.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "../cc/controller.h"
#include "../cc/cube_root.h"
#include "../cc/power.h"
#include "../sched/scheduler.h"
#include "filters.h"

namespace subflow {

namespace {

// ---- fields of scripts ----

struct Getter {
    std::string_view object;
    std::string_view name;
    double (*get)(const void*);
};

template <class T>
const T& as(const void* object) {
    return *static_cast<const T*>(object);
}

constexpr Getter kGetters[]{
    {"loss", "is_mark", [](const void* o) { return as<CongestionEvent>(o).kind == CongestionKind::Mark ? 1.0 : 0.0; }},
    {"loss", "is_timeout",
     [](const void* o) { return as<CongestionEvent>(o).kind == CongestionKind::Timeout ? 1.0 : 0.0; }},
    // 0: the interval was too short for a rate
    {"sample", "rate",
     [](const void* o) { return as<DeliverySample>(o).has_rate() ? as<DeliverySample>(o).rate_pps() : 0.0; }},
    {"sample", "delivered", [](const void* o) { return static_cast<double>(as<DeliverySample>(o).delivered_pkts); }},
    {"sample", "prior_delivered",
     [](const void* o) { return static_cast<double>(as<DeliverySample>(o).prior_delivered_pkts); }},
    {"record", "number", [](const void* o) { return static_cast<double>(as<IntervalRecord>(o).number); }},
    {"record", "tag", [](const void* o) { return static_cast<double>(as<IntervalRecord>(o).tag); }},
    {"record", "sent", [](const void* o) { return static_cast<double>(as<IntervalRecord>(o).sent_pkts); }},
    {"record", "delivered", [](const void* o) { return static_cast<double>(as<IntervalRecord>(o).delivered_pkts); }},
    {"record", "lost", [](const void* o) { return static_cast<double>(as<IntervalRecord>(o).lost_pkts); }},
    {"record", "length", [](const void* o) { return as<IntervalRecord>(o).length_s(); }},
    {"record", "send_rate", [](const void* o) { return as<IntervalRecord>(o).send_rate_pps(); }},
    {"record", "throughput", [](const void* o) { return as<IntervalRecord>(o).throughput_pps(); }},
    {"record", "loss_ratio", [](const void* o) { return as<IntervalRecord>(o).loss_ratio(); }},
};

std::string number_text(double value) {
    // std::to_chars would add 100 kB of tables to a web page for this precision.
    char text[32];
    std::string written(text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "%.6g", value)));
    std::ranges::replace(written, ',', '.');  // decimal comma in some locales
    return written;
}

// ---- arithmetic ----

double raised(double x, double exponent) {
    if (exponent == 0) return 1;
    if (x == 0) return exponent > 0 ? 0.0 : std::numeric_limits<double>::quiet_NaN();
    if (x > 0) return power(x, exponent);
    // Negative bases are defined only for whole exponents, which determine the sign.
    if (exponent != std::floor(exponent)) return std::numeric_limits<double>::quiet_NaN();
    const double size = power(-x, exponent);
    return exponent - 2 * std::floor(exponent / 2) == 0 ? size : -size;
}

constexpr double kLargestExponent = 700;  // e^700 is within the range of a double

struct Run {
    const ScriptProgram& program;
    ScriptHook hook;
    double* f;
    const ScriptInput& in;
    const void* owner;

    [[noreturn, gnu::cold, gnu::noinline]] void fail(const ScriptInstruction* at, const std::string& what) const {
        fail_script(program, hook, f, owner, at, what);
    }
    const char* item(std::uint32_t index) const { return static_cast<const char*>(in.items) + index * in.stride; }
    const Sibling& sibling(std::uint32_t index) const { return *reinterpret_cast<const Sibling*>(item(index)); }
    PathRate rate(std::uint32_t index) const {
        return in.rates != nullptr ? in.rates[index] : PathRate(sibling(index));
    }

    double& kept(std::uint32_t index, std::int32_t number) const {
        return in.kept[index * program.kept.size() + static_cast<std::size_t>(number)];
    }
    void note(const ScriptInstruction* at, double value) const {
        if (const std::uint32_t about = program.notes[static_cast<std::size_t>(at - program.code.data())])
            in.steps->add(about, value);
    }
    ScriptOutcome end(const ScriptInstruction* at, ScriptEnd how, bool records) const {
        if (records) note(at, f[at->a]);
        return {.end = how, .at = at};
    }

    double divisor(const ScriptInstruction* at, double b) const {
        if (b == 0) [[unlikely]]
            fail(at, "division by zero");
        return b;
    }
    double power_of(const ScriptInstruction* at, double a, double b) const {
        const double result = raised(a, b);
        if (std::isnan(result) && !std::isnan(a) && !std::isnan(b)) [[unlikely]]
            fail(at, number_text(a) + " cannot be raised to the power of " + number_text(b));
        return result;
    }
    double square_root(const ScriptInstruction* at, double a) const {
        if (a < 0) [[unlikely]]
            fail(at, "no square root of " + number_text(a));
        return std::sqrt(a);
    }
    double exponential_of(const ScriptInstruction* at, double a) const {
        if (a > kLargestExponent) [[unlikely]]
            fail(at, "e to the power of " + number_text(a) + " is too large");
        return a < -kLargestExponent ? 0 : exponential(a);
    }
    double logarithm_of(const ScriptInstruction* at, double a) const {
        if (!(a > 0)) [[unlikely]]
            fail(at, "no logarithm of " + number_text(a));
        return std::isinf(a) ? a : natural_log(a);
    }

    template <bool kRecords>
    ScriptOutcome operator()() const;
};

template <class T>
T at_byte(const void* object, std::int32_t byte) {
    return *reinterpret_cast<const T*>(static_cast<const char*>(object) + byte);
}

// With GCC and Clang, each operation jumps directly to the next one: branch prediction then uses the previous
// operation.
#if defined(__GNUC__)
#define SUBFLOW_OPERATION(name) of_##name:
#define SUBFLOW_GO_ON()                                    \
    do {                                                   \
        i = *p;                                            \
        goto* kOperations[static_cast<std::size_t>(i.op)]; \
    } while (false)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#else
#define SUBFLOW_OPERATION(name) case ScriptOp::name:
#define SUBFLOW_GO_ON() goto go_on
#endif
// Ends of operations: the first stores a value, the second jumps if the condition equals `jumps`.
#define SUBFLOW_VALUE(expression)                \
    do {                                         \
        const double result = (expression);      \
        f[i.to] = result;                        \
        if constexpr (kRecords) note(p, result); \
        ++p;                                     \
        SUBFLOW_GO_ON();                         \
    } while (false)
#define SUBFLOW_CONDITION(condition, jumps)                          \
    do {                                                             \
        const bool holds = (condition);                              \
        if constexpr (kRecords) note(p, static_cast<double>(holds)); \
        p = holds == (jumps) ? code + i.value : p + 1;               \
        SUBFLOW_GO_ON();                                             \
    } while (false)

template <bool kRecords>
ScriptOutcome Run::operator()() const {
    const ScriptInstruction* const code = program.code.data();
    const ScriptInstruction* p = code + program.entry[static_cast<std::size_t>(hook)];
    // Positions of the loops: the two that a script may nest, the controller's own subflow, and the subflow of a
    // reference.
    struct {
        const char* item;
        std::uint32_t index;
    } loop[4]{{nullptr, 0}, {nullptr, 0}, {item(in.self), in.self}, {nullptr, 0}};
    if constexpr (kRecords) {
        for (const ScriptProgram::Begin& each : program.begins[static_cast<std::size_t>(hook)])
            in.steps->add(each.note, f[each.cell]);
    }
    ScriptInstruction i;
#if defined(__GNUC__)
    static constexpr const void* kOperations[]{
#define OP(name) &&of_##name,
        SUBFLOW_SCRIPT_OPS(OP)
#undef OP
    };
    SUBFLOW_GO_ON();
#else
go_on:
    i = *p;
    switch (i.op) {
#endif
    SUBFLOW_OPERATION(Move) SUBFLOW_VALUE(f[i.a]);
    SUBFLOW_OPERATION(Add) SUBFLOW_VALUE(f[i.a] + f[i.b]);
    SUBFLOW_OPERATION(Subtract) SUBFLOW_VALUE(f[i.a] - f[i.b]);
    SUBFLOW_OPERATION(Multiply) SUBFLOW_VALUE(f[i.a] * f[i.b]);
    SUBFLOW_OPERATION(Divide) SUBFLOW_VALUE(f[i.a] / divisor(p, f[i.b]));
    SUBFLOW_OPERATION(FloorDivide) SUBFLOW_VALUE(std::floor(f[i.a] / divisor(p, f[i.b])));
    SUBFLOW_OPERATION(Remainder) SUBFLOW_VALUE(f[i.a] - std::floor(f[i.a] / divisor(p, f[i.b])) * f[i.b]);
    SUBFLOW_OPERATION(Power) SUBFLOW_VALUE(power_of(p, f[i.a], f[i.b]));
    SUBFLOW_OPERATION(Negate) SUBFLOW_VALUE(-f[i.a]);
    SUBFLOW_OPERATION(Difference) SUBFLOW_VALUE(time_difference(f[i.a], f[i.b]));
    SUBFLOW_OPERATION(Minimum) SUBFLOW_VALUE(std::min(f[i.a], f[i.b]));
    SUBFLOW_OPERATION(Maximum) SUBFLOW_VALUE(std::max(f[i.a], f[i.b]));
    SUBFLOW_OPERATION(Absolute) SUBFLOW_VALUE(std::abs(f[i.a]));
    SUBFLOW_OPERATION(SquareRoot) SUBFLOW_VALUE(square_root(p, f[i.a]));
    SUBFLOW_OPERATION(CubeRoot) SUBFLOW_VALUE(f[i.a] < 0 ? -cube_root(-f[i.a]) : cube_root(f[i.a]));
    SUBFLOW_OPERATION(Exponential) SUBFLOW_VALUE(exponential_of(p, f[i.a]));
    SUBFLOW_OPERATION(Logarithm) SUBFLOW_VALUE(logarithm_of(p, f[i.a]));
    SUBFLOW_OPERATION(Floor) SUBFLOW_VALUE(std::floor(f[i.a]));
    SUBFLOW_OPERATION(Ceiling) SUBFLOW_VALUE(std::ceil(f[i.a]));
    SUBFLOW_OPERATION(Known) SUBFLOW_VALUE(std::isnan(f[i.a]) ? 0.0 : 1.0);
    SUBFLOW_OPERATION(Random) SUBFLOW_VALUE(in.draws->uniform());
    SUBFLOW_OPERATION(Less) SUBFLOW_VALUE(f[i.a] < f[i.b] ? 1.0 : 0.0);
    SUBFLOW_OPERATION(LessEqual) SUBFLOW_VALUE(f[i.a] <= f[i.b] ? 1.0 : 0.0);
    SUBFLOW_OPERATION(Equal) SUBFLOW_VALUE(f[i.a] == f[i.b] ? 1.0 : 0.0);
    SUBFLOW_OPERATION(NotEqual) SUBFLOW_VALUE(f[i.a] != f[i.b] ? 1.0 : 0.0);
    SUBFLOW_OPERATION(Jump) {
        p = code + i.value;
        SUBFLOW_GO_ON();
    }
    SUBFLOW_OPERATION(JumpUnless) SUBFLOW_CONDITION(f[i.a] != 0, false);
    SUBFLOW_OPERATION(JumpIf) SUBFLOW_CONDITION(f[i.a] != 0, true);
    SUBFLOW_OPERATION(JumpUnlessLess) SUBFLOW_CONDITION(f[i.a] < f[i.b], false);
    SUBFLOW_OPERATION(JumpUnlessLessEqual) SUBFLOW_CONDITION(f[i.a] <= f[i.b], false);
    SUBFLOW_OPERATION(JumpUnlessEqual) SUBFLOW_CONDITION(f[i.a] == f[i.b], false);
    SUBFLOW_OPERATION(JumpIfEqual) SUBFLOW_CONDITION(f[i.a] != f[i.b], false);
    SUBFLOW_OPERATION(ReadReal) SUBFLOW_VALUE(at_byte<double>(in.objects[i.a], i.value));
    SUBFLOW_OPERATION(ReadTime) SUBFLOW_VALUE(to_seconds(at_byte<Nanos>(in.objects[i.a], i.value)));
    SUBFLOW_OPERATION(ReadFlag) SUBFLOW_VALUE(at_byte<bool>(in.objects[i.a], i.value) ? 1.0 : 0.0);
    SUBFLOW_OPERATION(ReadField) SUBFLOW_VALUE(kGetters[i.value].get(in.objects[i.a]));
    SUBFLOW_OPERATION(WriteUtility) {
        in.record->utility = f[i.a];
        if constexpr (kRecords) note(p, f[i.a]);
        ++p;
        SUBFLOW_GO_ON();
    }
    SUBFLOW_OPERATION(ForEach) {
        loop[i.to] = {item(0), 0};
        p = in.count == 0 ? code + i.value : p + 1;
        SUBFLOW_GO_ON();
    }
    SUBFLOW_OPERATION(Next) {
        auto& here = loop[i.to];
        here.item += in.stride;
        p = ++here.index < in.count ? code + i.value : p + 1;
        SUBFLOW_GO_ON();
    }
    SUBFLOW_OPERATION(Refer) {
        if (!(f[i.a] >= 0 && f[i.a] < static_cast<double>(in.count))) [[unlikely]]
            fail(p, "no such subflow");
        loop[3].index = static_cast<std::uint32_t>(f[i.a]);
        loop[3].item = item(loop[3].index);
        ++p;
        SUBFLOW_GO_ON();
    }
    SUBFLOW_OPERATION(ItemReal) SUBFLOW_VALUE(at_byte<double>(loop[i.a].item, i.value));
    SUBFLOW_OPERATION(ItemTime) SUBFLOW_VALUE(to_seconds(at_byte<Nanos>(loop[i.a].item, i.value)));
    SUBFLOW_OPERATION(ItemFlag) SUBFLOW_VALUE(at_byte<bool>(loop[i.a].item, i.value) ? 1.0 : 0.0);
    SUBFLOW_OPERATION(ItemRate) SUBFLOW_VALUE(rate(loop[i.a].index).pps);
    SUBFLOW_OPERATION(ItemRatePerRtt) SUBFLOW_VALUE(rate(loop[i.a].index).per_rtt);
    SUBFLOW_OPERATION(ItemIsOwn) SUBFLOW_VALUE(loop[i.a].index == in.self ? 1.0 : 0.0);
    SUBFLOW_OPERATION(ItemNumber) SUBFLOW_VALUE(static_cast<double>(loop[i.a].index));
    SUBFLOW_OPERATION(ItemLoad) SUBFLOW_VALUE(kept(loop[i.a].index, i.value));
    SUBFLOW_OPERATION(ItemStore) {
        kept(loop[i.a].index, i.value) = f[i.b];
        if constexpr (kRecords) note(p, f[i.b]);
        ++p;
        SUBFLOW_GO_ON();
    }
    SUBFLOW_OPERATION(Count) SUBFLOW_VALUE(static_cast<double>(in.count));
    SUBFLOW_OPERATION(TotalRate) {
        double sum = 0;
        for (std::uint32_t k = 0; k < in.count; ++k) sum += rate(k).pps;
        SUBFLOW_VALUE(sum);
    }
    SUBFLOW_OPERATION(LargestRate) {
        double largest = 0;
        for (std::uint32_t k = 0; k < in.count; ++k) largest = std::max(largest, rate(k).pps);
        SUBFLOW_VALUE(largest);
    }
    SUBFLOW_OPERATION(LargestRatePerRtt) {
        double largest = 0;
        for (std::uint32_t k = 0; k < in.count; ++k) largest = std::max(largest, rate(k).per_rtt);
        SUBFLOW_VALUE(largest);
    }
    SUBFLOW_OPERATION(SlowStart) {
        const double acked = f[i.a];
        const double grown = std::min(acked, std::max(0.0, f[ScriptCell::kSsthresh] - f[ScriptCell::kCwnd]));
        f[ScriptCell::kCwnd] += grown;
        f[i.to] = acked - grown;
        if constexpr (kRecords) {
            note(p, acked - grown);
            // The next note records the new window.
            in.steps->add(program.notes[static_cast<std::size_t>(p - code)] + 1, f[ScriptCell::kCwnd]);
        }
        ++p;
        SUBFLOW_GO_ON();
    }
    SUBFLOW_OPERATION(RecentMaximum) {
        RecentMaximum::add_to(&f[i.to], f[i.a], f[i.b], f[i.value]);
        SUBFLOW_VALUE(f[i.to]);
    }
    SUBFLOW_OPERATION(RecentMinimum) {
        RecentMinimum::add_to(&f[i.to], f[i.a], f[i.b], f[i.value]);
        SUBFLOW_VALUE(f[i.to]);
    }
    SUBFLOW_OPERATION(Average) {
        MovingAverage::add_to(&f[i.to], f[i.a], f[i.b]);
        SUBFLOW_VALUE(f[i.to]);
    }
    SUBFLOW_OPERATION(Return) return end(p, ScriptEnd::Done, kRecords);
    SUBFLOW_OPERATION(ReturnNow) return end(p, ScriptEnd::Now, kRecords);
    SUBFLOW_OPERATION(ReturnPlan) return end(p, ScriptEnd::Plan, kRecords);
    SUBFLOW_OPERATION(ReturnSubflow) return end(p, ScriptEnd::Subflow, kRecords);
    SUBFLOW_OPERATION(ReturnWait) return end(p, ScriptEnd::Wait, kRecords);
#if !defined(__GNUC__)
}
SF_UNREACHABLE();
#endif
}
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#undef SUBFLOW_OPERATION
#undef SUBFLOW_GO_ON
#undef SUBFLOW_VALUE
#undef SUBFLOW_CONDITION

// ---- the table of fields ----

template <class Object, class T>
std::int32_t offset(T Object::* member) {
    // Computed on an actual object: offsetof takes the name of a member, not a pointer to a member.
    static const Object object{};
    return static_cast<std::int32_t>(reinterpret_cast<const char*>(&(object.*member)) -
                                     reinterpret_cast<const char*>(&object));
}

template <class Object, class Base, class T>
ScriptField field(std::string_view object, std::string_view name, T Base::* member) {
    using Kind = ScriptField::Kind;
    constexpr Kind kKind = std::is_same_v<T, double> ? Kind::Real : std::is_same_v<T, bool> ? Kind::Flag : Kind::Time;
    static_assert(kKind != Kind::Time || std::is_same_v<T, Nanos>);
    return {object, name, kKind, offset<Object, T>(member)};
}

}  // namespace

std::vector<double> script_frame(const AlgorithmChoice& choice) {
    const ScriptProgram& program = *choice.program;
    std::vector<double> frame = program.frame;
    const auto refuse = [&](const std::string& key, const char* why) {
        throw ScenarioError("option '" + key + "' of '" + program.name + "' " + why);
    };
    for (const OptionValue& option : choice.options) {
        const auto slot = std::ranges::find(program.options, option.key, &ScriptProgram::Option::key);
        if (slot == program.options.end()) refuse(option.key, "does not exist");
        const auto* number = std::get_if<double>(&option.value);
        const auto* flag = std::get_if<bool>(&option.value);
        if (number == nullptr && flag == nullptr) refuse(option.key, "must be a number");
        frame[slot->cell] = number != nullptr ? *number : static_cast<double>(*flag);
    }
    return frame;
}

ScriptOutcome run_script(const ScriptProgram& program, ScriptHook hook, double* frame, const ScriptInput& input,
                         const void* owner) {
    const Run run{program, hook, frame, input, owner};
    return input.steps != nullptr ? run.operator()<true>() : run.operator()<false>();
}

void fail_script(const ScriptProgram& program, ScriptHook hook, const double* frame, const void* owner,
                 std::uint32_t line, const std::string& what) {
    std::string text = what;
    std::string values;
    for (const ScriptProgram::Name& each : program.names) {
        if (each.hook != kScriptHooks && each.hook != static_cast<std::size_t>(hook)) continue;
        values += (values.empty() ? "" : ", ") + each.name + " = " + number_text(frame[each.cell]);
    }
    if (!values.empty()) text += " (" + values + ")";
    throw ScriptFailure(owner, program.name, line, text);
}

void fail_script(const ScriptProgram& program, ScriptHook hook, const double* frame, const void* owner,
                 const ScriptInstruction* at, const std::string& what) {
    fail_script(program, hook, frame, owner, program.lines[static_cast<std::size_t>(at - program.code.data())], what);
}

std::vector<ScriptField> script_fields() {
    std::vector<ScriptField> all{
        field<AckSample>("ack", "acked", &AckSample::acked_pkts),
        field<AckSample>("ack", "rtt", &AckSample::rtt),
        field<AckSample>("ack", "oldest_rtt", &AckSample::oldest_rtt),
        field<AckSample>("ack", "srtt", &AckSample::srtt),
        field<AckSample>("ack", "min_rtt", &AckSample::min_rtt),
        field<AckSample>("ack", "now", &AckSample::now),
        field<AckSample>("ack", "inflight", &AckSample::inflight_pkts),
        field<AckSample>("ack", "begins_round", &AckSample::begins_round),
        field<AckSample>("ack", "is_cwnd_limited", &AckSample::is_cwnd_limited),
        field<AckSample>("ack", "in_recovery", &AckSample::in_recovery),
        field<AckSample>("ack", "marked", &AckSample::marked_pkts),
        field<DeliverySample>("sample", "now", &DeliverySample::now),
        field<DeliverySample>("sample", "rtt", &DeliverySample::rtt),
        field<DeliverySample>("sample", "srtt", &DeliverySample::srtt),
        field<DeliverySample>("sample", "acked", &DeliverySample::newly_delivered_pkts),
        field<DeliverySample>("sample", "lost", &DeliverySample::newly_lost_pkts),
        field<DeliverySample>("sample", "marked", &DeliverySample::newly_marked_pkts),
        field<DeliverySample>("sample", "inflight", &DeliverySample::inflight_pkts),
        field<DeliverySample>("sample", "prior_inflight", &DeliverySample::prior_inflight_pkts),
        field<DeliverySample>("sample", "interval", &DeliverySample::interval),
        field<DeliverySample>("sample", "is_app_limited", &DeliverySample::is_app_limited),
        field<DeliverySample>("sample", "in_recovery", &DeliverySample::in_recovery),
        field<DeliverySample>("sample", "in_loss", &DeliverySample::in_loss),
        field<CongestionEvent>("loss", "inflight", &CongestionEvent::inflight_pkts),
        field<CongestionEvent>("loss", "now", &CongestionEvent::now),
        field<CongestionEvent>("loss", "srtt", &CongestionEvent::srtt),
        field<IntervalMoment>("moment", "now", &IntervalMoment::now),
        field<IntervalMoment>("moment", "srtt", &IntervalMoment::srtt),
        field<IntervalMoment>("moment", "min_rtt", &IntervalMoment::min_rtt),
        field<IntervalMoment>("moment", "packet_bits", &IntervalMoment::packet_bits),
        field<IntervalMoment>("moment", "inflight", &IntervalMoment::inflight_pkts),
        field<IntervalRecord>("record", "begin", &IntervalRecord::begin),
        field<IntervalRecord>("record", "end", &IntervalRecord::end),
        field<IntervalRecord>("record", "finished", &IntervalRecord::finished_at),
        field<IntervalRecord>("record", "rate", &IntervalRecord::rate_pps),
        field<IntervalRecord>("record", "is_app_limited", &IntervalRecord::is_app_limited),
        field<IntervalRecord>("record", "rtt", &IntervalRecord::rtt_mean_s),
        field<IntervalRecord>("record", "min_rtt", &IntervalRecord::rtt_min_s),
        field<IntervalRecord>("record", "rtt_gradient", &IntervalRecord::rtt_gradient),
        field<IntervalRecord>("record", "rtt_gradient_error", &IntervalRecord::rtt_gradient_error),
        field<IntervalRecord>("record", "utility", &IntervalRecord::utility),
        field<Sibling>("sibling", "cwnd", &Sibling::cwnd_pkts),
        field<Sibling>("sibling", "srtt", &Sibling::srtt_s),
        field<Sibling>("sibling", "advertised", &Sibling::advertised),
        field<Sibling>("sibling", "window", &Sibling::window_pkts),
        field<Sibling>("sibling", "acked_since_loss", &Sibling::acked_since_loss_pkts),
        field<Sibling>("sibling", "acked_between_losses", &Sibling::acked_between_losses_pkts),
        field<Candidate>("subflow", "is_usable", &Candidate::is_usable),
        field<Candidate>("subflow", "is_available", &Candidate::is_available),
        field<Candidate>("subflow", "has_sent_this", &Candidate::has_sent_this),
        field<Candidate>("subflow", "in_slow_start", &Candidate::in_slow_start),
        field<Candidate>("subflow", "srtt", &Candidate::srtt),
        field<Candidate>("subflow", "rttvar", &Candidate::rttvar),
        field<Candidate>("subflow", "cwnd", &Candidate::cwnd_pkts),
        field<Candidate>("subflow", "ssthresh", &Candidate::ssthresh_pkts),
        field<Candidate>("subflow", "inflight", &Candidate::inflight_pkts),
        field<Candidate>("subflow", "queued", &Candidate::queued_pkts),
        field<Candidate>("subflow", "rate", &Candidate::pacing_pps),
        field<Candidate>("subflow", "delivered", &Candidate::delivered_pkts),
        field<SendMoment>("packet", "now", &SendMoment::now),
        field<SendMoment>("packet", "window", &SendMoment::window_pkts),
        field<SendMoment>("packet", "outstanding", &SendMoment::outstanding_pkts),
        field<SendMoment>("packet", "unsent", &SendMoment::unsent_pkts),
        field<SendMoment>("packet", "is_reinjection", &SendMoment::is_reinjection),
        {"pause", "now", ScriptField::Kind::Time, 0},
    };
    for (std::size_t i = 0; i < std::size(kGetters); ++i)
        all.push_back(
            {kGetters[i].object, kGetters[i].name, ScriptField::Kind::Computed, static_cast<std::int32_t>(i)});
    return all;
}

}  // namespace subflow
