#include "program.h"

#include <algorithm>
#include <optional>

namespace subflow {

namespace {

[[noreturn]] void refuse(const ScriptProgram& program, const std::string& what) {
    throw ScriptProgramError("the program of script '" + program.name + "' is damaged: " + what);
}

bool is_jump(ScriptOp op) {
    switch (op) {
        case ScriptOp::Jump:
        case ScriptOp::JumpUnless:
        case ScriptOp::JumpIf:
        case ScriptOp::JumpUnlessLess:
        case ScriptOp::JumpUnlessLessEqual:
        case ScriptOp::JumpUnlessEqual:
        case ScriptOp::JumpIfEqual:
        case ScriptOp::ForEach:
            return true;
        default:
            return false;
    }
}

bool ends(ScriptOp op) {
    return op >= ScriptOp::Return;
}

bool is_of_object(ScriptOp op) {
    return op >= ScriptOp::ReadReal && op <= ScriptOp::ReadField;
}

// Kind of field that an operation reads, if any.
std::optional<ScriptField::Kind> field_of(ScriptOp op) {
    switch (op) {
        case ScriptOp::ReadReal:
        case ScriptOp::ItemReal:
            return ScriptField::Kind::Real;
        case ScriptOp::ReadTime:
        case ScriptOp::ItemTime:
            return ScriptField::Kind::Time;
        case ScriptOp::ReadFlag:
        case ScriptOp::ItemFlag:
            return ScriptField::Kind::Flag;
        case ScriptOp::ReadField:
            return ScriptField::Kind::Computed;
        default:
            return std::nullopt;
    }
}

bool is_of_subflow(ScriptOp op) {
    return op >= ScriptOp::ItemReal && op <= ScriptOp::ItemStore;
}

}  // namespace

// Refuses jumps from outside into the body of a loop, where the loop's subflow would be undefined.
void ScriptProgram::check_body(std::int32_t first, std::int32_t last) const {
    const auto is_inside = [&](std::int32_t at) { return at >= first && at <= last; };
    for (std::int32_t at = 0; at < static_cast<std::int32_t>(code.size()); ++at) {
        const ScriptInstruction& each = code[static_cast<std::size_t>(at)];
        if (is_jump(each.op) && is_inside(each.value) && !is_inside(at)) refuse(*this, "a jump into a loop");
    }
}

void ScriptProgram::check() {
    if (code.size() > kMostInstructions || frame.size() > kMostCells || frame.size() < ScriptCell::kFirstFree)
        refuse(*this, "its size");
    if (lines.size() != code.size() || notes.size() != code.size()) refuse(*this, "lines or notes are missing");
    if (kept.size() > kMostKept) refuse(*this, "too many stored numbers per subflow");
    const auto size = static_cast<std::int32_t>(code.size());
    const auto fields = script_fields();
    const auto known = [&](std::int32_t place, ScriptField::Kind kind) {
        return std::ranges::any_of(fields, [&](const ScriptField& f) { return f.kind == kind && f.place == place; });
    };
    for (std::int32_t at = 0; at < size; ++at) {
        const ScriptInstruction& i = code[static_cast<std::size_t>(at)];
        if (static_cast<std::size_t>(i.op) >= kScriptOpNames.size()) refuse(*this, "an unknown operation");
        if (i.to >= frame.size() || i.a >= frame.size() || i.b >= frame.size())
            refuse(*this, "a cell beyond its frame");
        // Jumps go forward, so that programs end. Only `Next` jumps back, to the body of its loop.
        if (is_jump(i.op) && (i.value <= at || i.value >= size)) refuse(*this, "a jump to an invalid target");
        if (i.op == ScriptOp::ForEach && i.to >= kLoops) refuse(*this, "loops are nested too deep");
        if (i.op == ScriptOp::Next) {
            const bool is_loop = i.value > 0 && i.value <= at && i.to < kLoops &&
                                 code[static_cast<std::size_t>(i.value - 1)].op == ScriptOp::ForEach &&
                                 code[static_cast<std::size_t>(i.value - 1)].to == i.to;
            if (!is_loop) refuse(*this, "a loop without its beginning");
            check_body(i.value, at);
        }
        if (is_of_subflow(i.op) && i.a > kLoops + 1) refuse(*this, "a subflow outside of a loop");
        if (const auto kind = field_of(i.op); kind && !known(i.value, *kind)) refuse(*this, "an unknown field");
        if (is_of_object(i.op) && i.a > 1) refuse(*this, "an unknown object");
        if ((i.op == ScriptOp::ItemLoad || i.op == ScriptOp::ItemStore) &&
            (i.value < 0 || static_cast<std::size_t>(i.value) >= kept.size()))
            refuse(*this, "an unknown stored number");
        if (i.op == ScriptOp::RecentMaximum || i.op == ScriptOp::RecentMinimum) {
            if (i.value < 0 || static_cast<std::size_t>(i.value) >= frame.size())
                refuse(*this, "a cell beyond its frame");
            if (i.to + kFilterCells > frame.size()) refuse(*this, "a filter beyond its frame");
        }
        if (i.op == ScriptOp::Average && i.to + std::size_t{2} > frame.size())
            refuse(*this, "a filter beyond its frame");
    }
    for (const std::int32_t first : entry) {
        if (first == kNone) continue;
        if (first < 0 || first >= size) refuse(*this, "a function without code");
    }
    if (size == 0 || !ends(code.back().op)) refuse(*this, "it does not end");
    for (const Option& option : options)
        if (option.cell >= frame.size()) refuse(*this, "a cell beyond its frame");
    for (const auto& of_hook : begins)
        for (const Begin& each : of_hook)
            if (each.cell >= frame.size()) refuse(*this, "a cell beyond its frame");
    for (const Name& each : names)
        if (each.cell >= frame.size()) refuse(*this, "a cell beyond its frame");
    for (std::size_t hook = 0; hook < kScriptHooks; ++hook) {
        rule_names_[hook] = std::string(kScriptHookNames[hook]);
        rules_[hook] = RuleInfo{
            .name = rule_names_[hook], .formula = "as in the lines of the script", .source = name, .numbers = {}};
    }
}

}  // namespace subflow
