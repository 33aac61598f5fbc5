// The register machine of core/script/machine.cpp on doubles in software: the program as it lies in a map of the
// kernel, and its interpreter. Compiles for BPF and for the processor.
#pragma once

#include "float64.h"

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;

#define SCRIPT_MAGIC 0x31666253u  // "Sbf1"; changes with the layout or the operations
#define SCRIPT_CELLS 256
#define SCRIPT_MOST_CELLS 250
#define SCRIPT_MOST_INSTRUCTIONS 4096
// Bound of a call: a program whose longest way with eight subflows is longer is refused, because it would keep the
// processor from other work.
#define SCRIPT_MOST_STEPS 8192
#define SCRIPT_LOOPS 2
#define SCRIPT_FILTER_CELLS 6
#define MOST_SUBFLOWS 8

// Functions of a script that the kernel calls, in the order of the core; `script.py` has the same list.
#define SCRIPT_HOOKS(HOOK) HOOK(Start) HOOK(Ack) HOOK(EveryAck) HOOK(Delivery) HOOK(Loss) HOOK(RecoveryExit) HOOK(Idle)
enum script_hook {
#define HOOK(name) Hook##name,
    SCRIPT_HOOKS(HOOK)
#undef HOOK
        ScriptHooks
};

// The operations of core/script/program.h that controllers need. `Field` reads number `value` of the hook's arguments,
// with its kind in b; `Item` reads number `value` of the subflow of loop a.
// clang-format off
#define SCRIPT_OPERATIONS(OP) \
    OP(Move) OP(Add) OP(Subtract) OP(Multiply) OP(Divide) OP(FloorDivide) OP(Remainder) OP(Power) OP(Negate) \
    OP(Difference) OP(Minimum) OP(Maximum) OP(Absolute) OP(SquareRoot) OP(CubeRoot) OP(Exponential) OP(Logarithm) \
    OP(Floor) OP(Ceiling) OP(Known) OP(Random) OP(Less) OP(LessEqual) OP(Equal) OP(NotEqual) \
    OP(Jump) OP(JumpUnless) OP(JumpIf) OP(JumpUnlessLess) OP(JumpUnlessLessEqual) OP(JumpUnlessEqual) OP(JumpIfEqual) \
    OP(Field) OP(ForEach) OP(Next) OP(Refer) OP(Item) OP(ItemRate) OP(ItemRatePerRtt) OP(ItemIsOwn) OP(ItemNumber) \
    OP(Count) OP(TotalRate) OP(LargestRate) OP(LargestRatePerRtt) OP(SlowStart) \
    OP(RecentMaximum) OP(RecentMinimum) OP(Average) OP(Return)
// clang-format on
enum script_operation {
#define OP(name) Op##name,
    SCRIPT_OPERATIONS(OP)
#undef OP
        ScriptOperations
};

enum field_kind { FieldWhole, FieldTime, FieldReal, FieldKinds };  // an integer, nanoseconds, or a double
enum field {
    FieldAcked,
    FieldRtt,
    FieldOldestRtt,
    FieldSrtt,
    FieldMinRtt,
    FieldNow,
    FieldInflight,
    FieldBeginsRound,
    FieldIsCwndLimited,
    FieldInRecovery,
    FieldMarked,
    FieldLost,
    FieldPriorInflight,
    FieldInterval,
    FieldIsAppLimited,
    FieldInLoss,
    FieldRate,
    FieldDelivered,
    FieldPriorDelivered,
    FieldIsTimeout,
    FieldIsMark,
    Fields
};
enum item { ItemCwnd, ItemWindow, ItemSrtt, ItemAdvertised, ItemSinceLoss, ItemBetweenLosses, Items };

// Reasons for which a call of a script fails.
enum failure {
    FailsNot,
    FailsByZero,
    FailsPower,
    FailsRoot,
    FailsExponent,
    FailsLogarithm,
    FailsSubflow,
    FailsSteps,
    FailsWindow,
    FailsThreshold,
    FailsRate,
    FailsAdvertised,
    FailsInfinite
};

struct instruction {
    u8 op, to, a, b;
    s32 value;
};

// The program and its first cells, as the loader passes them to the helper, and the helper to the kernel.
struct script {
    u32 magic;
    u32 instructions;
    u32 cells;
    u32 governs_rate;  // 1: it writes the pacing rate or reads deliveries, so it replaces the kernel's cong_control
    s32 entry[ScriptHooks];  // first instruction of each function; -1: the script does not define it
    u32 reserved;
    f64 frame[SCRIPT_CELLS];  // initial cells; the first four are cwnd, ssthresh, rate and advertised
    struct instruction code[SCRIPT_MOST_INSTRUCTIONS];
    u16 line[SCRIPT_MOST_INSTRUCTIONS];  // line of the text, per instruction
};

enum { CellCwnd, CellSsthresh, CellRate, CellAdvertised, CellFirstFree };

// State of a script for one subflow.
struct frame {
    f64 cell[SCRIPT_CELLS];
    u64 field[Fields];         // arguments of the call
    u32 loop[4];               // position of each loop in `slot`; 2: the own subflow, 3: set by Refer
    u32 slot[MOST_SUBFLOWS];   // subflows that take part, as indices of struct connection
    u32 count, self;           // their number, and the own position
    u32 failed_line, failure;  // of this call
};

// A subflow as its siblings see it; srtt_s 0: it takes no part.
struct subflow {
    u64 is_used;
    f64 cwnd, window, srtt_s, advertised, since_loss, between_losses;
};
struct connection {
    struct subflow subflow[MOST_SUBFLOWS];
    u64 users;
};

#define slot_of(f, position) ((f)->slot[(position) & (MOST_SUBFLOWS - 1)] & (MOST_SUBFLOWS - 1))

F64_INLINE f64 rate_of(const struct subflow* s) {
    return f64_divide(s->cwnd, s->srtt_s);
}

F64_FUNCTION f64 total_rate(struct frame* f, struct connection* c) {
    f64 sum = 0;
    int k;
    if (!f || !c) return 0;
    repeat(k, MOST_SUBFLOWS) {
        if ((u32)k < f->count) sum = f64_add(sum, rate_of(&c->subflow[slot_of(f, k)]));
    }
    return sum;
}
F64_FUNCTION f64 largest_rate(struct frame* f, struct connection* c, u32 is_per_rtt) {
    f64 largest = 0;
    int k;
    if (!f || !c) return 0;
    repeat(k, MOST_SUBFLOWS) {
        if ((u32)k >= f->count) continue;
        struct subflow* s = &c->subflow[slot_of(f, k)];
        f64 rate = rate_of(s);
        largest = f64_maximum(largest, is_per_rtt ? f64_divide(rate, s->srtt_s) : rate);
    }
    return largest;
}

// Numbers the subflows with a round-trip time, and the own subflow.
F64_FUNCTION int number_subflows(struct frame* f, struct connection* c, u32 own) {
    int i;
    if (!f || !c) return 0;
    f->count = 0;
    f->self = 0;
    repeat(i, MOST_SUBFLOWS) {
        if (f64_is_zero(c->subflow[i & (MOST_SUBFLOWS - 1)].srtt_s) && (u32)i != own) continue;
        if ((u32)i == own) f->self = f->count;
        f->slot[f->count & (MOST_SUBFLOWS - 1)] = (u32)i;
        f->count++;
    }
    return 0;
}

F64_INLINE f64 item_of(const struct subflow* s, u32 item) {
    switch (item) {
        case ItemCwnd:
            return s->cwnd;
        case ItemWindow:
            return s->window;
        case ItemSrtt:
            return s->srtt_s;
        case ItemAdvertised:
            return s->advertised;
        case ItemSinceLoss:
            return s->since_loss;
        case ItemBetweenLosses:
            return s->between_losses;
    }
    return F64_NAN;
}

#define cell_at(f, to, k) ((f)->cell[((to) + (k)) & (SCRIPT_CELLS - 1)])

F64_FUNCTION int beats(f64 a, f64 b, u32 is_maximum) {
    int order = f64_compare(a, b);
    return order == 0 || order == (is_maximum ? 1 : -1);
}
// RecentExtreme::add_to of core/script/filters.h. `place`: the first cell, plus 256 for a maximum.
F64_FUNCTION int recent_extreme(struct frame* f, u32 place, f64 value, f64 time, f64 window) {
    if (!f) return 0;
    u32 to = place & 0xff, is_maximum = place >> 8;
    f64 v0 = cell_at(f, to, 0), t0 = cell_at(f, to, 1), v1 = cell_at(f, to, 2), t1 = cell_at(f, to, 3);
    f64 v2 = cell_at(f, to, 4), t2 = cell_at(f, to, 5);
    f64 age = f64_subtract(time, t0), none = is_maximum ? 0 : F64_INFINITE;
    if (f64_equal(v0, none) || beats(value, v0, is_maximum) || f64_less(window, f64_subtract(time, t2))) {
        v0 = v1 = v2 = value;
        t0 = t1 = t2 = time;
    } else {
        if (beats(value, v1, is_maximum)) {
            v1 = v2 = value;
            t1 = t2 = time;
        } else if (beats(value, v2, is_maximum)) {
            v2 = value;
            t2 = time;
        }
        if (f64_less(window, age)) {
            v0 = v1, t0 = t1, v1 = v2, t1 = t2, v2 = value, t2 = time;
            if (f64_less(window, f64_subtract(time, t0))) v0 = v1, t0 = t1, v1 = v2, t1 = t2, v2 = value, t2 = time;
        } else if (f64_equal(t1, t0) && f64_less(f64_divide(window, 0x4010000000000000ULL), age)) {
            v1 = v2 = value;
            t1 = t2 = time;
        } else if (f64_equal(t2, t1) && f64_less(f64_divide(window, F64_TWO), age)) {
            v2 = value;
            t2 = time;
        }
    }
    cell_at(f, to, 0) = v0, cell_at(f, to, 1) = t0, cell_at(f, to, 2) = v1, cell_at(f, to, 3) = t1;
    cell_at(f, to, 4) = v2, cell_at(f, to, 5) = t2;
    return 0;
}

#define FLAG(condition) ((condition) ? F64_ONE : 0)
#define FAIL(reason)           \
    {                          \
        f->failed_line = line; \
        f->failure = (reason); \
        return 0;              \
    }

// Runs a function of the script; 1 after a return. A failed call returns 0, with the line and the reason in the frame.
F64_FUNCTION int run_machine(struct script* s, struct frame* f, struct connection* c, u32 hook) {
    if (!s || !f || !c || hook >= ScriptHooks) return 0;
    u32 pc = (u32)s->entry[hook], line = 0;
    int step;
    f->loop[2] = f->self;
    f->failure = FailsNot;
    repeat(step, SCRIPT_MOST_STEPS) {
        if (pc >= SCRIPT_MOST_INSTRUCTIONS) FAIL(FailsSteps)
        struct instruction in = s->code[pc];
        line = s->line[pc];
        f64 a = f->cell[in.a], b = f->cell[in.b], r = 0;
        u32 target = (u32)in.value & (SCRIPT_MOST_INSTRUCTIONS - 1), next;
        struct subflow* item = &c->subflow[slot_of(f, f->loop[in.a & 3])];
        pc++;
        switch (in.op) {
            case OpMove:
                r = a;
                break;
            case OpAdd:
                r = f64_add(a, b);
                break;
            case OpSubtract:
                r = f64_subtract(a, b);
                break;
            case OpMultiply:
                r = f64_multiply(a, b);
                break;
            case OpDivide:
                if (f64_equal(b, 0)) FAIL(FailsByZero)
                r = f64_divide(a, b);
                break;
            case OpFloorDivide:
                if (f64_equal(b, 0)) FAIL(FailsByZero)
                r = f64_floor(f64_divide(a, b));
                break;
            case OpRemainder:
                if (f64_equal(b, 0)) FAIL(FailsByZero)
                r = f64_subtract(a, f64_multiply(f64_floor(f64_divide(a, b)), b));
                break;
            case OpPower:
                r = f64_power(a, b);
                if (f64_is_nan(r) && !f64_is_nan(a) && !f64_is_nan(b)) FAIL(FailsPower)
                break;
            case OpNegate:
                r = f64_negate(a);
                break;
            case OpDifference:
                r = f64_time_difference(a, b);
                break;
            case OpMinimum:
                r = f64_minimum(a, b);
                break;
            case OpMaximum:
                r = f64_maximum(a, b);
                break;
            case OpAbsolute:
                r = f64_absolute(a);
                break;
            case OpSquareRoot:
                if (f64_less(a, 0)) FAIL(FailsRoot)
                r = f64_square_root(a);
                break;
            case OpCubeRoot:
                r = f64_cube_root(a);
                break;
            case OpExponential:
                if (f64_less(0x4085e00000000000ULL, a)) FAIL(FailsExponent)  // 700
                r = f64_less(a, 0xc085e00000000000ULL) ? 0 : f64_exponential(a);
                break;
            case OpLogarithm:
                if (!f64_less(0, a)) FAIL(FailsLogarithm)
                r = a == F64_INFINITE ? a : f64_natural_log(a);
                break;
            case OpFloor:
                r = f64_floor(a);
                break;
            case OpCeiling:
                r = f64_ceiling(a);
                break;
            case OpKnown:
                r = FLAG(!f64_is_nan(a));
                break;
            case OpRandom:
                r = f64_multiply(f64_of(random_number()), 0x3df0000000000000ULL);
                break;  // times 2^-32
            case OpLess:
                r = FLAG(f64_less(a, b));
                break;
            case OpLessEqual:
                r = FLAG(f64_less_equal(a, b));
                break;
            case OpEqual:
                r = FLAG(f64_equal(a, b));
                break;
            case OpNotEqual:
                r = FLAG(!f64_equal(a, b));
                break;
            case OpJump:
                pc = target;
                continue;
            case OpJumpUnless:
                if (f64_equal(a, 0)) pc = target;
                continue;
            case OpJumpIf:
                if (!f64_equal(a, 0)) pc = target;
                continue;
            case OpJumpUnlessLess:
                if (!f64_less(a, b)) pc = target;
                continue;
            case OpJumpUnlessLessEqual:
                if (!f64_less_equal(a, b)) pc = target;
                continue;
            case OpJumpUnlessEqual:
                if (!f64_equal(a, b)) pc = target;
                continue;
            case OpJumpIfEqual:
                if (f64_equal(a, b)) pc = target;
                continue;
            case OpField: {
                u32 number = (u32)in.value;
                u64 raw = number < Fields ? f->field[number] : 0;
                r = in.b == FieldTime ? f64_seconds(raw) : in.b == FieldReal ? raw : f64_of(raw);
                break;
            }
            case OpForEach:
                f->loop[in.to & 3] = 0;
                if (!f->count) pc = target;
                continue;
            case OpNext:
                next = f->loop[in.to & 3] + 1;
                f->loop[in.to & 3] = next;
                if (next < f->count) pc = target;
                continue;
            case OpRefer:
                if (f64_less(a, 0) || !f64_less(a, f64_of(f->count))) FAIL(FailsSubflow)
                f->loop[3] = (u32)f64_to(a);
                continue;
            case OpItem:
                r = item_of(item, (u32)in.value);
                break;
            case OpItemRate:
                r = rate_of(item);
                break;
            case OpItemRatePerRtt:
                r = f64_divide(rate_of(item), item->srtt_s);
                break;
            case OpItemIsOwn:
                r = FLAG(f->loop[in.a & 3] == f->self);
                break;
            case OpItemNumber:
                r = f64_of(f->loop[in.a & 3]);
                break;
            case OpCount:
                r = f64_of(f->count);
                break;
            case OpTotalRate:
                r = total_rate(f, c);
                break;
            case OpLargestRate:
                r = largest_rate(f, c, 0);
                break;
            case OpLargestRatePerRtt:
                r = largest_rate(f, c, 1);
                break;
            case OpSlowStart: {
                f64 room = f64_maximum(0, f64_subtract(f->cell[CellSsthresh], f->cell[CellCwnd]));
                f64 grown = f64_minimum(a, room);
                f->cell[CellCwnd] = f64_add(f->cell[CellCwnd], grown);
                r = f64_subtract(a, grown);
                break;
            }
            case OpRecentMaximum:
            case OpRecentMinimum:
                recent_extreme(f, in.to | (in.op == OpRecentMaximum ? 256 : 0), a, b, f->cell[in.value & 0xff]);
                continue;
            case OpAverage: {
                f64 mean = f->cell[in.to];
                r = f64_equal(cell_at(f, in.to, 1), 0) ? a : f64_add(mean, f64_multiply(b, f64_subtract(a, mean)));
                cell_at(f, in.to, 1) = F64_ONE;
                break;
            }
            case OpReturn:
                f->failed_line = line;  // for a window that the caller refuses
                return 1;
            default:
                FAIL(FailsSteps)
        }
        f->cell[in.to] = r;
    }
    FAIL(FailsSteps)
}
