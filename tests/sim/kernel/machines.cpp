// Runs the machine of the kernel (sim/kernel/machine.h) beside that of the core, and prints the first difference.
//
//     machines arithmetic COUNT ROWS FILE   each operation on COUNT pairs of numbers; writes the first ROWS to FILE
//     machines scripts COUNT FILE...        COUNT events for each script that Python has written to a file
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cc/controller.h"
#include "script/machine.h"

namespace kernel {
#define repeat(i, most) for ((i) = 0; (i) < (most); (i)++)
#define random_number() 0
#include "machine.h"

constexpr const char* kOperations[]{
#define OP(name) #name,
    SCRIPT_OPERATIONS(OP)
#undef OP
};
}  // namespace kernel

namespace {

using namespace subflow;

std::mt19937_64 random_bits(1);

std::uint64_t bits_of(double x) {
    return std::bit_cast<std::uint64_t>(x);
}
bool is_subnormal(double x) {
    return std::fpclassify(x) == FP_SUBNORMAL;
}
bool are_equal(double core, std::uint64_t kernel) {
    if (std::isnan(core)) return f64_is_nan(kernel);
    return bits_of(core) == kernel || (is_subnormal(core) && !(kernel << 1));
}

double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(random_bits() >> 11) * 0x1p-53;
}

// A number of the kinds that scripts meet, and of all others. `range`: its exponent is within +-range.
double number(int range) {
    static const double special[]{0.0, -0.0, 1, -1, 0.5, 2, 3, 1e6, INFINITY, -INFINITY, NAN, 9e6, 700, -700};
    switch (random_bits() % 8) {
        case 0:
            return special[random_bits() % std::size(special)];
        case 1:
            return std::floor(uniform(-1000, 1000));
        case 2:
            return uniform(0, 1);
        case 3:
            return uniform(0, 1e4);
        case 4:
            return uniform(-800, 800);
        default: {
            const double fraction = uniform(1, 2);
            const int exponent = static_cast<int>(random_bits() % (2 * static_cast<unsigned>(range) + 1)) - range;
            return (random_bits() & 1 ? -1 : 1) * std::ldexp(fraction, exponent);
        }
    }
}

constexpr auto kHook = ScriptHook::Ack;
constexpr std::uint8_t kA = 4, kB = 5, kResult = 6;

ScriptProgram program_of(ScriptOp op) {
    ScriptProgram program;
    program.name = "operation";
    program.code = {{op, kResult, kA, kB, 0}, {ScriptOp::Return, 0, 0, 0, 0}};
    program.lines = {1, 2};
    program.notes = {0, 0};
    program.frame.assign(16, 0.0);
    program.entry[static_cast<std::size_t>(kHook)] = 0;
    program.check();
    return program;
}

int arithmetic(std::size_t count, std::size_t written, const char* path) {
    const std::vector<std::string> names{
        "Move",      "Add",         "Subtract",   "Multiply",  "Divide",  "FloorDivide", "Remainder",
        "Power",     "Negate",      "Difference", "Minimum",   "Maximum", "Absolute",    "SquareRoot",
        "CubeRoot",  "Exponential", "Logarithm",  "Floor",     "Ceiling", "Known",       "Less",
        "LessEqual", "Equal",       "NotEqual",   "SlowStart", "Average"};
    std::ofstream out(path, std::ios::binary);
    for (const std::string& name : names) {
        std::size_t core_op = 0, kernel_op = 0;
        while (kScriptOpNames[core_op] != name) ++core_op;
        while (kernel::kOperations[kernel_op] != name) ++kernel_op;
        const ScriptProgram program = program_of(static_cast<ScriptOp>(core_op));
        auto script = std::make_unique<kernel::script>();
        std::memset(script.get(), 0, sizeof *script);
        script->code[0] = {static_cast<kernel::u8>(kernel_op), kResult, kA, kB, 0};
        script->code[1] = {kernel::OpReturn, 0, 0, 0, 0};
        auto frame = std::make_unique<kernel::frame>();
        kernel::connection connection{};
        std::vector<std::uint64_t> table;
        std::size_t done = 0, failed = 0;
        while (done < count) {
            // Products and quotients of these are normal numbers; the quotients of others may be subnormal, which
            // FloorDivide and Remainder would round differently.
            const bool is_wide = name == "Add" || name == "Subtract" || name == "Multiply" || name == "Divide";
            double a = number(is_wide ? 1000 : 300), b = number(is_wide ? 1000 : 300);
            if (name == "Power" && std::abs(b) > 1e6) b = uniform(-20, 20);
            std::vector<double> cells(16, 0.0);
            cells[0] = uniform(1, 100);
            cells[1] = uniform(1, 200);
            cells[kA] = a;
            cells[kB] = b;
            cells[kResult] = uniform(-1, 1);
            cells[kResult + 1] = static_cast<double>(random_bits() & 1);
            std::memset(frame->cell, 0, sizeof frame->cell);
            for (std::size_t i = 0; i < cells.size(); ++i) frame->cell[i] = bits_of(cells[i]);
            const std::uint64_t before[]{frame->cell[0], frame->cell[1], frame->cell[kResult],
                                         frame->cell[kResult + 1]};
            bool has_failed = false;
            try {
                run_script(program, kHook, cells.data(), ScriptInput{}, nullptr);
            } catch (const ScriptFailure&) {
                has_failed = true;
            }
            kernel::run_machine(script.get(), frame.get(), &connection, kernel::HookAck);
            const bool kernel_failed = frame->failure != 0;
            bool is_same = has_failed == kernel_failed;
            for (std::size_t i = 0; i < cells.size() && is_same && !has_failed; ++i)
                is_same = are_equal(cells[i], frame->cell[i]);
            if (!is_same) {
                std::printf("%s(%a, %a): core %s %a, kernel %s %a\n", name.c_str(), a, b, has_failed ? "fails" : "",
                            cells[kResult], kernel_failed ? "fails" : "",
                            std::bit_cast<double>(static_cast<std::uint64_t>(frame->cell[kResult])));
                return 1;
            }
            if (done < written) {
                const double result = is_subnormal(cells[kResult]) ? 0.0 * cells[kResult] : cells[kResult];
                table.insert(table.end(), {bits_of(a), bits_of(b), before[0], before[1], before[2], before[3],
                                           bits_of(result), has_failed});
            }
            failed += has_failed;
            ++done;
        }
        char title[16] = {};
        std::memcpy(title, name.data(), name.size());
        out.write(title, sizeof title);
        out.write(reinterpret_cast<const char*>(table.data()), static_cast<std::streamsize>(table.size() * 8));
        std::printf("%s %zu %zu\n", name.c_str(), done, failed);
    }
    return 0;
}

// A script as Python writes it: the kernel's blob, then the core's program as text.
struct Both {
    std::unique_ptr<kernel::script> script = std::make_unique<kernel::script>();
    ScriptProgram program;
};

Both read_both(const char* path) {
    Both both;
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(both.script.get()), sizeof *both.script);
    std::size_t cells = 0, rows = 0;
    in >> both.program.name >> cells >> rows;
    for (std::size_t i = 0; i < cells; ++i) {
        std::uint64_t bits = 0;
        in >> bits;
        both.program.frame.push_back(std::bit_cast<double>(bits));
    }
    for (auto& entry : both.program.entry) in >> entry;
    for (std::size_t i = 0; i < rows; ++i) {
        std::string name;
        int to = 0, a = 0, b = 0;
        ScriptInstruction one;
        std::uint32_t line = 0;
        in >> name >> to >> a >> b >> one.value >> line;
        std::size_t op = 0;
        while (kScriptOpNames[op] != name) ++op;
        one.op = static_cast<ScriptOp>(op);
        one.to = static_cast<std::uint8_t>(to);
        one.a = static_cast<std::uint8_t>(a);
        one.b = static_cast<std::uint8_t>(b);
        both.program.code.push_back(one);
        both.program.lines.push_back(line);
        both.program.notes.push_back(0);
    }
    both.program.check();
    return both;
}

int scripts(std::size_t count, const std::vector<const char*>& paths) {
    for (const char* path : paths) {
        const Both both = read_both(path);
        std::vector<double> cells = both.program.frame;
        auto frame = std::make_unique<kernel::frame>();
        std::memset(frame.get(), 0, sizeof *frame);
        std::memcpy(frame->cell, both.script->frame, sizeof frame->cell);
        kernel::connection connection{};
        std::vector<Sibling> siblings;
        Nanos now(1'000'000);
        std::size_t ran = 0, failed = 0;
        cells[0] = 10;
        cells[1] = INFINITY;
        for (std::size_t event = 0; event < count; ++event) {
            now.value += static_cast<std::int64_t>(random_bits() % 40'000) * 1000;
            if (event % 50 == 0) siblings.resize(1 + random_bits() % 4);
            const auto self = static_cast<std::uint32_t>(random_bits() % siblings.size());
            for (std::size_t i = 0; i < siblings.size(); ++i) {
                Sibling& s = siblings[i];
                s.cwnd_pkts = uniform(1, 100);
                s.srtt_s = to_seconds(Nanos(static_cast<std::int64_t>(random_bits() % 200'000 + 1000) * 125));
                s.advertised = uniform(-5, 5);
                s.window_pkts = uniform(1, 100);
                s.acked_since_loss_pkts = std::floor(uniform(0, 500));
                s.acked_between_losses_pkts = std::floor(uniform(0, 500));
                connection.subflow[i] = {1,
                                         bits_of(s.cwnd_pkts),
                                         bits_of(s.window_pkts),
                                         bits_of(s.srtt_s),
                                         bits_of(s.advertised),
                                         bits_of(s.acked_since_loss_pkts),
                                         bits_of(s.acked_between_losses_pkts)};
            }
            for (std::size_t i = siblings.size(); i < MOST_SUBFLOWS; ++i) connection.subflow[i].srtt_s = 0;
            kernel::number_subflows(frame.get(), &connection, self);

            const auto whole = [&](kernel::field field, std::uint64_t most) {
                frame->field[field] = random_bits() % most;
                return static_cast<double>(frame->field[field]);
            };
            const auto time = [&](kernel::field field) {
                frame->field[field] = (random_bits() % 300'000 + 1) * 1000;
                return Nanos(static_cast<std::int64_t>(frame->field[field]));
            };
            const double acked = whole(kernel::FieldAcked, 4) + 1;
            frame->field[kernel::FieldAcked] += 1;
            const Nanos rtt = time(kernel::FieldRtt), oldest = time(kernel::FieldOldestRtt);
            const Nanos srtt = time(kernel::FieldSrtt), low = time(kernel::FieldMinRtt);
            const double inflight = whole(kernel::FieldInflight, 100), marked = whole(kernel::FieldMarked, 3);
            frame->field[kernel::FieldNow] = static_cast<kernel::u64>(now.value);
            const bool begins = whole(kernel::FieldBeginsRound, 2) != 0;
            const bool limited = whole(kernel::FieldIsCwndLimited, 2) != 0;
            const bool repairs = whole(kernel::FieldInRecovery, 2) != 0;
            AckSample ack;
            ack.acked_pkts = acked, ack.rtt = rtt, ack.oldest_rtt = oldest, ack.srtt = srtt, ack.min_rtt = low;
            ack.now = now, ack.inflight_pkts = inflight, ack.marked_pkts = marked, ack.begins_round = begins;
            ack.is_cwnd_limited = limited, ack.in_recovery = repairs;
            CongestionEvent loss;
            loss.inflight_pkts = inflight, loss.now = now, loss.srtt = srtt;
            const auto kind = random_bits() % 3;
            loss.kind = kind == 0   ? CongestionKind::FastRetransmit
                        : kind == 1 ? CongestionKind::Timeout
                                    : CongestionKind::Mark;
            frame->field[kernel::FieldIsTimeout] = kind == 1;
            frame->field[kernel::FieldIsMark] = kind == 2;
            DeliverySample sample;
            sample.now = now, sample.rtt = rtt, sample.srtt = srtt, sample.newly_delivered_pkts = acked;
            sample.inflight_pkts = inflight, sample.newly_marked_pkts = marked, sample.in_recovery = repairs;
            sample.newly_lost_pkts = whole(kernel::FieldLost, 5);
            sample.prior_inflight_pkts = whole(kernel::FieldPriorInflight, 100);
            sample.interval = time(kernel::FieldInterval);
            sample.is_app_limited = whole(kernel::FieldIsAppLimited, 2) != 0;
            sample.in_loss = whole(kernel::FieldInLoss, 2) != 0;
            sample.delivered_pkts = static_cast<std::uint64_t>(whole(kernel::FieldDelivered, 1000)) + 1000;
            sample.prior_delivered_pkts = static_cast<std::uint64_t>(whole(kernel::FieldPriorDelivered, 1000));
            frame->field[kernel::FieldDelivered] += 1000;
            frame->field[kernel::FieldRate] = bits_of(sample.has_rate() ? sample.rate_pps() : 0.0);

            static const kernel::script_hook kernel_hooks[]{kernel::HookAck, kernel::HookEveryAck, kernel::HookDelivery,
                                                            kernel::HookLoss, kernel::HookRecoveryExit};
            static const ScriptHook hooks[]{ScriptHook::Ack, ScriptHook::EveryAck, ScriptHook::Delivery,
                                            ScriptHook::Loss, ScriptHook::RecoveryExit};
            const std::size_t which = random_bits() % 8 < 4 ? random_bits() % 3 : random_bits() % std::size(hooks);
            if (!both.program.has(hooks[which])) continue;
            ScriptInput input;
            input.objects[0] = hooks[which] == ScriptHook::Delivery ? static_cast<const void*>(&sample)
                               : hooks[which] == ScriptHook::Loss   ? static_cast<const void*>(&loss)
                                                                    : static_cast<const void*>(&ack);
            input.items = siblings.data();
            input.stride = sizeof(Sibling);
            input.count = static_cast<std::uint32_t>(siblings.size());
            input.self = self;
            for (int i = 0; i < 4; ++i) frame->cell[i] = bits_of(cells[static_cast<std::size_t>(i)]);
            bool has_failed = false;
            try {
                run_script(both.program, hooks[which], cells.data(), input, nullptr);
            } catch (const ScriptFailure&) {
                has_failed = true;
            }
            kernel::run_machine(both.script.get(), frame.get(), &connection, kernel_hooks[which]);
            bool is_same = has_failed == (frame->failure != 0);
            for (std::size_t i = 0; i < cells.size() && is_same; ++i) is_same = are_equal(cells[i], frame->cell[i]);
            if (!is_same) {
                std::printf("%s, event %zu, function %zu: the machines differ\n", both.program.name.c_str(), event,
                            which);
                return 1;
            }
            ++ran;
            failed += has_failed;
            cells[0] = cells[0] >= 1 && cells[0] <= 1e4 ? cells[0] : 10;
            cells[1] = cells[1] >= 1 ? cells[1] : 10;
            if (event % 1000 == 999) cells[1] = INFINITY;
        }
        std::printf("%s %zu %zu\n", both.program.name.c_str(), ran, failed);
    }
    return 0;
}

}  // namespace

int main(int count, char** words) {
    if (count < 4) return 2;
    const std::size_t times = std::strtoull(words[2], nullptr, 10);
    if (std::string(words[1]) == "arithmetic" && count == 5)
        return arithmetic(times, std::strtoull(words[3], nullptr, 10), words[4]);
    return scripts(times, {words + 3, words + count});
}
