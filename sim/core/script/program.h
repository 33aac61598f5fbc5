// A compiled script of a controller or scheduler (subflow_sim/script), executed by the virtual machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../decision.h"
#include "../fields.h"

namespace subflow {

// Functions that a script may define.
enum class ScriptHook : std::uint8_t {
    Start,
    Ack,
    EveryAck,
    Delivery,
    Loss,
    RecoveryExit,
    Idle,
    Plan,
    Interval,
    Select,
};
inline constexpr std::size_t kScriptHooks = 10;
// Indexed by hook, spelled as in scripts.
inline constexpr std::array<std::string_view, kScriptHooks> kScriptHookNames{
    "on_start",         "on_ack",  "on_every_ack", "on_delivery", "on_loss",
    "on_recovery_exit", "on_idle", "plan",         "on_interval", "select"};

// Operations of the machine on cells of a frame: `to` = a op b, with a number `value` per instruction. A new operation
// needs a name here and a case in machine.cpp.
// clang-format off
#define SUBFLOW_SCRIPT_OPS(OP) \
    OP(Move) OP(Add) OP(Subtract) OP(Multiply) OP(Divide) OP(FloorDivide) OP(Remainder) OP(Power) OP(Negate) \
    OP(Difference)       /* of two times, exact to the nanosecond */ \
    OP(Minimum) OP(Maximum) OP(Absolute) OP(SquareRoot) OP(CubeRoot) OP(Exponential) OP(Logarithm) OP(Floor) \
    OP(Ceiling) OP(Known) OP(Random) \
    OP(Less) OP(LessEqual) OP(Equal) OP(NotEqual) \
    OP(Jump)             /* to instruction `value`, like the next ones */ \
    OP(JumpUnless) OP(JumpIf) OP(JumpUnlessLess) OP(JumpUnlessLessEqual) OP(JumpUnlessEqual) OP(JumpIfEqual) \
    OP(ReadReal)         /* object `a` at byte `value` */ \
    OP(ReadTime) OP(ReadFlag) \
    OP(ReadField)        /* object `a` by getter `value` */ \
    OP(WriteUtility) \
    OP(ForEach)          /* begins loop `to`; skips it without subflows */ \
    OP(Next)             /* back to `value` while subflows remain */ \
    OP(Refer)            /* sets loop 3 to the subflow with the number in cell a */ \
    OP(ItemReal)         /* of the subflow of loop `a`, at byte `value` */ \
    OP(ItemTime) OP(ItemFlag) OP(ItemRate) OP(ItemRatePerRtt) OP(ItemIsOwn) OP(ItemNumber) \
    OP(ItemLoad)         /* stored number `value` of that subflow */ \
    OP(ItemStore) OP(Count) \
    OP(TotalRate) OP(LargestRate) OP(LargestRatePerRtt) \
    OP(SlowStart)        /* grows cwnd by the packets in cell a, at most to ssthresh; `to` = the remaining packets */ \
    OP(RecentMaximum)    /* filter from cell `to` on: value a at time b, window in cell `value` */ \
    OP(RecentMinimum) \
    OP(Average)          /* filter from cell `to` on: value a, with weight b */ \
    OP(Return) OP(ReturnNow) OP(ReturnPlan) OP(ReturnSubflow) OP(ReturnWait)
// clang-format on

enum class ScriptOp : std::uint8_t {
#define OP(name) name,
    SUBFLOW_SCRIPT_OPS(OP)
#undef OP
};
inline constexpr std::array kScriptOpNames{
#define OP(name) std::string_view(#name),
    SUBFLOW_SCRIPT_OPS(OP)
#undef OP
};
constexpr std::string_view word_of(ScriptOp value) {
    const auto i = static_cast<std::size_t>(value);
    return i < kScriptOpNames.size() ? kScriptOpNames[i] : std::string_view();
}

struct ScriptInstruction {
    ScriptOp op = ScriptOp::Return;
    std::uint8_t to = 0;
    std::uint8_t a = 0;
    std::uint8_t b = 0;
    std::int32_t value = 0;
};
SUBFLOW_FIELDS(ScriptInstruction, op, to, a, b, value)

// Positions of the window's numbers in a frame, and the first cell after them.
struct ScriptCell {
    static constexpr std::size_t kCwnd = 0, kSsthresh = 1, kRate = 2, kAdvertised = 3, kFirstFree = 4;
};

// A program is invalid: this version's compiler did not produce it.
struct ScriptProgramError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Immutable after check(), and shared by all users.
struct ScriptProgram {
    static constexpr std::int32_t kNone = -1;
    static constexpr std::size_t kMostCells = 250;
    static constexpr std::size_t kMostInstructions = 4096;
    static constexpr std::size_t kMostKept = 8;  // numbers per subflow
    static constexpr std::size_t kFilterCells = 6;
    static constexpr std::size_t kLoops = 2;  // maximum depth of nesting

    struct Option {
        std::string key;
        std::uint8_t cell = 0;
    };
    struct Name {  // name of a cell, for messages; `hook`: the function with this name, or kScriptHooks for all
        std::string name;
        std::uint8_t cell = 0;
        std::size_t hook = kScriptHooks;
    };

    // Description of a step, for readers of decisions. Notes are numbered from 1.
    struct Note {
        std::string kind;    // "begin", "read", "set", "if", "call" or "return"
        std::string text;    // "w.cwnd"
        std::string source;  // the expression in the text of the script
        std::uint32_t line = 0;
    };

    std::string name;  // name in the scenario
    std::string text;  // source text of the script
    std::vector<Note> told;
    bool is_coupled = false;
    std::vector<ScriptInstruction> code;
    std::vector<std::uint32_t> lines;  // line in the source text, per instruction
    std::vector<std::uint32_t> notes;  // number of the note, per instruction; 0: not recorded
    std::vector<double> frame;         // initial frame: constants, defaults of options, state
    std::vector<Option> options;
    std::vector<Name> names;
    std::vector<double> kept;  // initial values of the stored numbers, per subflow
    std::array<std::int32_t, kScriptHooks> entry;
    struct Begin {
        std::uint32_t note = 0;
        std::uint8_t cell = 0;
    };
    std::array<std::vector<Begin>, kScriptHooks> begins;  // cells recorded at the start of a function
    bool is_work_conserving = false;
    bool retransmits_when_blocked = false;
    bool penalises = false;

    ScriptProgram() { entry.fill(kNone); }
    bool has(ScriptHook hook) const { return entry[static_cast<std::size_t>(hook)] != kNone; }

    // Computes the derived members. Throws ScriptProgramError for a program that the compiler cannot produce: a checked
    // program ends after a bounded number of steps and stays within its frame.
    void check();
    const RuleInfo& rule(ScriptHook hook) const { return rules_[static_cast<std::size_t>(hook)]; }

private:
    void check_body(std::int32_t first, std::int32_t last) const;

    std::array<std::string, kScriptHooks> rule_names_;
    std::array<RuleInfo, kScriptHooks> rules_;
};
SUBFLOW_FIELDS(ScriptProgram::Option, key, cell)
SUBFLOW_FIELDS(ScriptProgram::Name, name, cell, hook)
SUBFLOW_FIELDS(ScriptProgram::Note, kind, text, source, line)
SUBFLOW_FIELDS(ScriptProgram::Begin, note, cell)

// Written without SUBFLOW_FIELDS, whose structured binding does not work for a class with private members. The private
// members need no names: check() computes them from these fields.
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

// A field of a hook's arguments that scripts can read.
struct ScriptField {
    enum class Kind : std::uint8_t { Real, Time, Flag, Computed };

    std::string_view object;  // "ack"
    std::string_view name;    // "acked"
    Kind kind = Kind::Real;
    std::int32_t place = 0;  // byte offset, or number of the getter
};
std::vector<ScriptField> script_fields();

}  // namespace subflow
