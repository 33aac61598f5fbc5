#include "machine.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "../cc/controller.h"
#include "../cc/cube_root.h"
#include "../cc/power.h"
#include "../sched/scheduler.h"

namespace subflow {

namespace {

// ---- what scripts read ----

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
    {"loss", "is_timeout",
     [](const void* o) { return as<CongestionEvent>(o).kind == CongestionKind::Timeout ? 1.0 : 0.0; }},
    // 0: the interval was too short to tell a rate
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
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr;
    return {text, end};
}

// ---- filters ----

// Three candidates, as WindowedExtreme has them, in cells: value, time, value, time, value, time.
template <class Beats>
void add_to_window(double* cells, double value, double time, double window, double none) {
    constexpr Beats beats;
    struct Candidate {
        double value, time;
    };
    Candidate c[3]{{cells[0], cells[1]}, {cells[2], cells[3]}, {cells[4], cells[5]}};
    const Candidate now{value, time};
    const auto store = [&] {
        for (int i = 0; i < 3; ++i) {
            cells[2 * i] = c[i].value;
            cells[2 * i + 1] = c[i].time;
        }
    };
    if (c[0].value == none || beats(value, c[0].value) || time - c[2].time > window) {
        c[0] = c[1] = c[2] = now;
        return store();
    }
    if (beats(value, c[1].value)) {
        c[1] = c[2] = now;
    } else if (beats(value, c[2].value)) {
        c[2] = now;
    }
    const auto promote = [&] {
        c[0] = c[1];
        c[1] = c[2];
        c[2] = now;
    };
    const double age = time - c[0].time;
    if (age > window) {
        promote();
        if (time - c[0].time > window) promote();
    } else if (c[1].time == c[0].time && age > window / 4) {
        c[1] = c[2] = now;
    } else if (c[2].time == c[1].time && age > window / 2) {
        c[2] = now;
    }
    store();
}

// ---- arithmetic ----

// Times are whole nanoseconds: the difference of two in seconds is that of the nanoseconds.
double time_difference(double a, double b) {
    constexpr double kExact = 9e6;  // s, within which a nanosecond can be told from a double
    if (!(std::abs(a) < kExact) || !(std::abs(b) < kExact)) return a - b;
    return to_seconds(from_seconds(a) - from_seconds(b));
}

double raised(double x, double exponent) {
    if (exponent == 0) return 1;
    if (x == 0) return exponent > 0 ? 0.0 : std::numeric_limits<double>::quiet_NaN();
    if (x > 0) return power(x, exponent);
    // The sign of a negative base is that of whole exponents; there is no other.
    if (exponent != std::floor(exponent)) return std::numeric_limits<double>::quiet_NaN();
    const double size = power(-x, exponent);
    return exponent - 2 * std::floor(exponent / 2) == 0 ? size : -size;
}

constexpr double kLargestExponent = 700;  // e to that is a double

struct Run {
    const ScriptProgram& program;
    ScriptHook hook;
    double* f;
    const ScriptInput& in;
    const void* owner;

    [[noreturn]] void fail(const ScriptInstruction* at, const std::string& what) const {
        fail_script(program, hook, f, owner, program.lines[static_cast<std::size_t>(at - program.code.data())], what);
    }
    const char* item(std::uint32_t index) const { return static_cast<const char*>(in.items) + index * in.stride; }
    const Sibling& sibling(std::uint32_t index) const { return *reinterpret_cast<const Sibling*>(item(index)); }
    PathRate rate(std::uint32_t index) const {
        return in.rates != nullptr ? in.rates[index] : PathRate(sibling(index));
    }

    template <bool kRecords>
    ScriptOutcome operator()() const;
};

template <class T>
T at_byte(const void* object, std::int32_t byte) {
    return *reinterpret_cast<const T*>(static_cast<const char*>(object) + byte);
}

template <bool kRecords>
ScriptOutcome Run::operator()() const {
    const ScriptInstruction* const code = program.code.data();
    const ScriptInstruction* p = code + program.entry[static_cast<std::size_t>(hook)];
    std::uint32_t loop[4]{0, 0, in.self, 0};
    if constexpr (kRecords) {
        for (const ScriptProgram::Begin& each : program.begins[static_cast<std::size_t>(hook)])
            in.steps->push_back({each.note, f[each.cell]});
    }
    for (;;) {
        const ScriptInstruction i = *p;
        double& to = f[i.to];
        const double a = f[i.a];
        const double b = f[i.b];
        bool holds = false;  // of a condition
        const ScriptInstruction* next = p + 1;
        const auto jump_if = [&](bool jumps) {
            if (jumps) next = code + i.value;
        };
        switch (i.op) {
            case ScriptOp::Move:
                to = a;
                break;
            case ScriptOp::Add:
                to = a + b;
                break;
            case ScriptOp::Subtract:
                to = a - b;
                break;
            case ScriptOp::Multiply:
                to = a * b;
                break;
            case ScriptOp::Divide:
                if (b == 0) [[unlikely]]
                    fail(p, "division by zero");
                to = a / b;
                break;
            case ScriptOp::FloorDivide:
                if (b == 0) [[unlikely]]
                    fail(p, "division by zero");
                to = std::floor(a / b);
                break;
            case ScriptOp::Remainder:
                if (b == 0) [[unlikely]]
                    fail(p, "division by zero");
                to = a - std::floor(a / b) * b;
                break;
            case ScriptOp::Power:
                to = raised(a, b);
                if (std::isnan(to) && !std::isnan(a) && !std::isnan(b)) [[unlikely]]
                    fail(p, number_text(a) + " cannot be raised to the power of " + number_text(b));
                break;
            case ScriptOp::Negate:
                to = -a;
                break;
            case ScriptOp::Difference:
                to = time_difference(a, b);
                break;
            case ScriptOp::Minimum:
                to = std::min(a, b);
                break;
            case ScriptOp::Maximum:
                to = std::max(a, b);
                break;
            case ScriptOp::Absolute:
                to = std::abs(a);
                break;
            case ScriptOp::SquareRoot:
                if (a < 0) [[unlikely]]
                    fail(p, "there is no square root of " + number_text(a));
                to = std::sqrt(a);
                break;
            case ScriptOp::CubeRoot:
                to = a < 0 ? -cube_root(-a) : cube_root(a);
                break;
            case ScriptOp::Exponential:
                if (a > kLargestExponent) [[unlikely]]
                    fail(p, "e to the power of " + number_text(a) + " is too large");
                to = a < -kLargestExponent ? 0 : exponential(a);
                break;
            case ScriptOp::Logarithm:
                if (!(a > 0)) [[unlikely]]
                    fail(p, "there is no logarithm of " + number_text(a));
                to = std::isinf(a) ? a : natural_log(a);
                break;
            case ScriptOp::Floor:
                to = std::floor(a);
                break;
            case ScriptOp::Ceiling:
                to = std::ceil(a);
                break;
            case ScriptOp::Known:
                to = std::isnan(a) ? 0 : 1;
                break;
            case ScriptOp::Random:
                to = in.draws->uniform();
                break;
            case ScriptOp::Less:
                to = a < b;
                break;
            case ScriptOp::LessEqual:
                to = a <= b;
                break;
            case ScriptOp::Equal:
                to = a == b;
                break;
            case ScriptOp::NotEqual:
                to = a != b;
                break;
            case ScriptOp::Not:
                to = a == 0;
                break;
            case ScriptOp::Jump:
                next = code + i.value;
                break;
            case ScriptOp::JumpUnless:
                holds = a != 0;
                jump_if(!holds);
                break;
            case ScriptOp::JumpIf:
                holds = a != 0;
                jump_if(holds);
                break;
            case ScriptOp::JumpUnlessLess:
                holds = a < b;
                jump_if(!holds);
                break;
            case ScriptOp::JumpUnlessLessEqual:
                holds = a <= b;
                jump_if(!holds);
                break;
            case ScriptOp::JumpUnlessEqual:
                holds = a == b;
                jump_if(!holds);
                break;
            case ScriptOp::JumpIfEqual:
                holds = a != b;
                jump_if(!holds);
                break;
            case ScriptOp::ReadReal:
                to = at_byte<double>(in.objects[i.a], i.value);
                break;
            case ScriptOp::ReadTime:
                to = to_seconds(at_byte<Nanos>(in.objects[i.a], i.value));
                break;
            case ScriptOp::ReadFlag:
                to = at_byte<bool>(in.objects[i.a], i.value);
                break;
            case ScriptOp::ReadField:
                to = kGetters[i.value].get(in.objects[i.a]);
                break;
            case ScriptOp::WriteUtility:
                in.record->utility = a;
                break;
            case ScriptOp::ForEach:
                loop[i.to] = 0;
                jump_if(in.count == 0);
                break;
            case ScriptOp::Next:
                jump_if(++loop[i.to] < in.count);
                break;
            case ScriptOp::Refer:
                if (!(a >= 0 && a < static_cast<double>(in.count))) [[unlikely]]
                    fail(p, "there is no such subflow");
                loop[3] = static_cast<std::uint32_t>(a);
                break;
            case ScriptOp::ItemReal:
                to = at_byte<double>(item(loop[i.a]), i.value);
                break;
            case ScriptOp::ItemTime:
                to = to_seconds(at_byte<Nanos>(item(loop[i.a]), i.value));
                break;
            case ScriptOp::ItemFlag:
                to = at_byte<bool>(item(loop[i.a]), i.value);
                break;
            case ScriptOp::ItemRate:
                to = rate(loop[i.a]).pps;
                break;
            case ScriptOp::ItemRatePerRtt:
                to = rate(loop[i.a]).per_rtt;
                break;
            case ScriptOp::ItemIsOwn:
                to = loop[i.a] == in.self;
                break;
            case ScriptOp::ItemNumber:
                to = loop[i.a];
                break;
            case ScriptOp::ItemLoad:
                to = in.kept[loop[i.a] * program.kept.size() + static_cast<std::size_t>(i.value)];
                break;
            case ScriptOp::ItemStore:
                in.kept[loop[i.a] * program.kept.size() + static_cast<std::size_t>(i.value)] = b;
                break;
            case ScriptOp::Count:
                to = in.count;
                break;
            case ScriptOp::TotalRate: {
                double sum = 0;
                for (std::uint32_t k = 0; k < in.count; ++k) sum += rate(k).pps;
                to = sum;
                break;
            }
            case ScriptOp::LargestRate: {
                double largest = 0;
                for (std::uint32_t k = 0; k < in.count; ++k) largest = std::max(largest, rate(k).pps);
                to = largest;
                break;
            }
            case ScriptOp::LargestRatePerRtt: {
                double largest = 0;
                for (std::uint32_t k = 0; k < in.count; ++k) largest = std::max(largest, rate(k).per_rtt);
                to = largest;
                break;
            }
            case ScriptOp::SlowStart: {
                double& cwnd = f[ScriptCell::kCwnd];
                const double grown = std::min(a, std::max(0.0, f[ScriptCell::kSsthresh] - cwnd));
                cwnd += grown;
                to = a - grown;
                break;
            }
            case ScriptOp::RecentMaximum:
                add_to_window<std::greater_equal<>>(&to, a, b, f[i.value], 0);
                break;
            case ScriptOp::RecentMinimum:
                add_to_window<std::less_equal<>>(&to, a, b, f[i.value], std::numeric_limits<double>::infinity());
                break;
            case ScriptOp::Average: {
                double& has_begun = f[i.to + 1];
                to = has_begun != 0 ? to + b * (a - to) : a;
                has_begun = 1;
                break;
            }
            case ScriptOp::Return:
            case ScriptOp::ReturnNow:
            case ScriptOp::ReturnPlan:
            case ScriptOp::ReturnSubflow:
            case ScriptOp::ReturnWait: {
                if constexpr (kRecords) {
                    if (const std::uint32_t note = program.notes[static_cast<std::size_t>(p - code)])
                        in.steps->push_back({note, a});
                }
                constexpr ScriptEnd kEnds[]{ScriptEnd::Done, ScriptEnd::Now, ScriptEnd::Plan, ScriptEnd::Subflow,
                                            ScriptEnd::Wait};
                return {.end = kEnds[static_cast<std::size_t>(i.op) - static_cast<std::size_t>(ScriptOp::Return)],
                        .value = a,
                        .min_packets = b,
                        .tag = to,
                        .line = program.lines[static_cast<std::size_t>(p - code)]};
            }
        }
        if constexpr (kRecords) {
            if (const std::uint32_t note = program.notes[static_cast<std::size_t>(p - code)]) {
                const bool is_condition = i.op >= ScriptOp::JumpUnless && i.op <= ScriptOp::JumpIfEqual;
                const bool is_store = i.op == ScriptOp::ItemStore;
                in.steps->push_back({note, is_condition ? static_cast<double>(holds) : is_store ? b : f[i.to]});
                // Slow start changes the window as well.
                if (i.op == ScriptOp::SlowStart) in.steps->push_back({note + 1, f[ScriptCell::kCwnd]});
            }
        }
        p = next;
    }
}

// ---- the table of fields ----

template <class Object, class T>
std::int32_t offset(T Object::* member) {
    // Through a real object: members of classes with initialisers are no matter for offsetof.
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

std::vector<ScriptField> script_fields() {
    std::vector<ScriptField> all{
        field<AckSample>("ack", "acked", &AckSample::acked_pkts),
        field<AckSample>("ack", "rtt", &AckSample::rtt),
        field<AckSample>("ack", "srtt", &AckSample::srtt),
        field<AckSample>("ack", "min_rtt", &AckSample::min_rtt),
        field<AckSample>("ack", "now", &AckSample::now),
        field<AckSample>("ack", "inflight", &AckSample::inflight_pkts),
        field<AckSample>("ack", "begins_round", &AckSample::begins_round),
        field<AckSample>("ack", "is_cwnd_limited", &AckSample::is_cwnd_limited),
        field<AckSample>("ack", "in_recovery", &AckSample::in_recovery),
        field<DeliverySample>("sample", "now", &DeliverySample::now),
        field<DeliverySample>("sample", "rtt", &DeliverySample::rtt),
        field<DeliverySample>("sample", "srtt", &DeliverySample::srtt),
        field<DeliverySample>("sample", "acked", &DeliverySample::newly_delivered_pkts),
        field<DeliverySample>("sample", "lost", &DeliverySample::newly_lost_pkts),
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
