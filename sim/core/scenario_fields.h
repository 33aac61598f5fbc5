// Fields of a scenario's structures, and the words for their choices. Only for scenario_json.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "fields.h"
#include "scenario.h"
#include "script/program.h"

namespace subflow::fields {

SUBFLOW_FIELDS(GilbertOptions, p, r, good, bad)
SUBFLOW_FIELDS(TokenBucketOptions, burst, peak)
SUBFLOW_FIELDS(JitterOptions, kind, spread)
SUBFLOW_FIELDS(RetransmissionOptions, loss, delay, attempts)
SUBFLOW_FIELDS(Pause, from, to)
SUBFLOW_FIELDS(GrantOptions, period, jitter)
SUBFLOW_FIELDS(AccessOptions, medium, kind, aggregation, airtime, overhead, window_min, window_max, group)
SUBFLOW_FIELDS(ScriptedDrop, subflow, number, after)
SUBFLOW_FIELDS(LinkSpec, name, rate, delay, queue_limit_pkts, queue_limit_bytes, loss, loss_model, discipline,
               opportunities_ms, bucket, delays_us, delay_interval, jitter, retransmission, pauses, grants, access,
               reorder, drops)
SUBFLOW_FIELDS(DatagramSpec, rate, packet, spacing, mean_on, mean_off)
SUBFLOW_FIELDS(OptionValue, key, value)
SUBFLOW_FIELDS(AlgorithmChoice, name, options, program)
SUBFLOW_FIELDS(PathSpec, forward, reverse, is_backup, is_late)
SUBFLOW_FIELDS(Decider, kind, policy)
SUBFLOW_FIELDS(FlowSpec, name, host, kind, controller, decider, scheduler, paths, start, stop, lifetime, size,
               recv_buffer, send_buffer, ecn, subflow_limit, address_limit, datagrams)
SUBFLOW_FIELDS(EventSpec, at, link, flow, subflow, rate, delay, loss, loss_model, sets_queue, queue_limit_pkts,
               queue_limit_bytes, up, open, backup, announce, refuse, controller)
SUBFLOW_FIELDS(TransportOptions, initial_window_pkts, handshake, syn_retries, loss_detection, dsack, rto_rule, rto_min,
               rto_max, rto_initial, delayed_ack, delayed_ack_timeout, quick_acks, prr, undo, cwnd_validation,
               idle_restart, ecn, dss_option, tso)
SUBFLOW_FIELDS(Scenario, duration, warmup, seed, mss, start_jitter, transport, links, flows, events)
SUBFLOW_FIELDS(ScriptInstruction, op, to, a, b, value)
SUBFLOW_FIELDS(ScriptProgram::Option, key, cell)
SUBFLOW_FIELDS(ScriptProgram::Name, name, cell, hook)
SUBFLOW_FIELDS(ScriptProgram::Note, kind, text, source, line)
SUBFLOW_FIELDS(ScriptProgram::Begin, note, cell)
#undef SUBFLOW_FIELDS

// The structured binding does not work for a class with private members; check() computes those from these fields.
constexpr std::string_view field_names(std::type_identity<ScriptProgram>) {
    // english: keep
    return "name, text, told, is_coupled, code, lines, notes, frame, options, names, kept, entry, begins, "
           "is_work_conserving, retransmits_when_blocked, penalises";
}
template <class T>
    requires std::is_same_v<std::remove_const_t<T>, ScriptProgram>
auto fields_of(T& p) {
    return std::tie(p.name, p.text, p.told, p.is_coupled, p.code, p.lines, p.notes, p.frame, p.options, p.names, p.kept,
                    p.entry, p.begins, p.is_work_conserving, p.retransmits_when_blocked, p.penalises);
}

template <class T>
concept Structure = requires(T& structure) { fields_of(structure); };

template <class T>
constexpr std::size_t kFieldCount = std::tuple_size_v<decltype(fields_of(std::declval<T&>()))>;

template <class T>
constexpr std::array<std::string_view, kFieldCount<T>> names_of() {
    std::array<std::string_view, kFieldCount<T>> names;
    std::string_view rest = field_names(std::type_identity<T>());
    for (std::string_view& name : names) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        name = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    return names;
}

// Words for the values of an enumeration, as in scenario files; empty for an invalid value.

#define SUBFLOW_WORD(value, word) \
    case value:                   \
        return word;

constexpr std::string_view word_of(FlowKind value) {
    switch (value) {
        SUBFLOW_WORD(FlowKind::Tcp, "tcp")
        SUBFLOW_WORD(FlowKind::Mptcp, "mptcp")
        SUBFLOW_WORD(FlowKind::Cbr, "cbr")
        SUBFLOW_WORD(FlowKind::OnOff, "onoff")
    }
    return {};
}
constexpr std::string_view word_of(Spacing value) {
    switch (value) {
        SUBFLOW_WORD(Spacing::Constant, "constant")
        SUBFLOW_WORD(Spacing::Poisson, "poisson")
    }
    return {};
}
constexpr std::string_view word_of(LossDetection value) {
    switch (value) {
        SUBFLOW_WORD(LossDetection::DupAck, "dupack")
        SUBFLOW_WORD(LossDetection::Rack, "rack")
    }
    return {};
}
constexpr std::string_view word_of(DelayedAck value) {
    switch (value) {
        SUBFLOW_WORD(DelayedAck::Off, "off")
        SUBFLOW_WORD(DelayedAck::Rfc, "rfc")
        SUBFLOW_WORD(DelayedAck::Linux, "linux")
    }
    return {};
}
constexpr std::string_view word_of(RtoRule value) {
    switch (value) {
        SUBFLOW_WORD(RtoRule::Rfc6298, "rfc6298")
        SUBFLOW_WORD(RtoRule::Linux, "linux")
    }
    return {};
}
constexpr std::string_view word_of(Prr value) {
    switch (value) {
        SUBFLOW_WORD(Prr::Off, "off")
        SUBFLOW_WORD(Prr::Rfc6937, "rfc6937")
        SUBFLOW_WORD(Prr::Linux, "linux")
    }
    return {};
}
constexpr std::string_view word_of(CwndValidation value) {
    switch (value) {
        SUBFLOW_WORD(CwndValidation::Off, "off")
        SUBFLOW_WORD(CwndValidation::Hold, "hold")
        SUBFLOW_WORD(CwndValidation::Decay, "decay")
    }
    return {};
}
constexpr std::string_view word_of(IdleRestart value) {
    switch (value) {
        SUBFLOW_WORD(IdleRestart::Off, "off")
        SUBFLOW_WORD(IdleRestart::Rfc5681, "rfc5681")
        SUBFLOW_WORD(IdleRestart::Linux, "linux")
    }
    return {};
}
constexpr std::string_view word_of(EcnMode value) {
    switch (value) {
        SUBFLOW_WORD(EcnMode::Off, "off")
        SUBFLOW_WORD(EcnMode::Classic, "rfc3168")
        SUBFLOW_WORD(EcnMode::Dctcp, "dctcp")
        SUBFLOW_WORD(EcnMode::Accurate, "accecn")
    }
    return {};
}
constexpr std::string_view word_of(JitterKind value) {
    switch (value) {
        SUBFLOW_WORD(JitterKind::Uniform, "uniform")
        SUBFLOW_WORD(JitterKind::Normal, "normal")
        SUBFLOW_WORD(JitterKind::Exponential, "exponential")
        SUBFLOW_WORD(JitterKind::Pareto, "pareto")
    }
    return {};
}
constexpr std::string_view word_of(AccessKind value) {
    switch (value) {
        SUBFLOW_WORD(AccessKind::Contention, "wifi")
        SUBFLOW_WORD(AccessKind::Turns, "cell")
    }
    return {};
}
constexpr std::string_view word_of(DeciderKind value) {
    switch (value) {
        SUBFLOW_WORD(DeciderKind::Neutral, "neutral")
        SUBFLOW_WORD(DeciderKind::Random, "random")
        SUBFLOW_WORD(DeciderKind::Trained, "trained")
        SUBFLOW_WORD(DeciderKind::Outside, "outside")
    }
    return {};
}
#undef SUBFLOW_WORD
constexpr std::string_view word_of(ScriptOp value) {
    const auto i = static_cast<std::size_t>(value);
    return i < kScriptOpNames.size() ? kScriptOpNames[i] : std::string_view();
}

}  // namespace subflow::fields
