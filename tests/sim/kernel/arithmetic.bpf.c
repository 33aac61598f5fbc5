// Runs one operation of the machine on many inputs in the kernel, for `test_machines.py`.
#include "bpf.h"

#define random_number() bpf_get_prandom_u32()
#include "machine.h"

#define MOST_ROWS 500

// Inputs: cells a, b, 0, 1, and the two cells of the result. Outputs: the first cell of the result, and the failure.
struct row {
    f64 a, b, cwnd, ssthresh, result, more;
};
struct table {
    u32 operation, rows;
    struct row row[MOST_ROWS];
};
struct {
    BPF_UINT(type, BPF_MAP_TYPE_ARRAY);
    BPF_UINT(max_entries, 1);
    BPF_TYPE(key, u32);
    BPF_TYPE(value, struct table);
} tables SECTION(".maps");
struct {
    BPF_UINT(type, BPF_MAP_TYPE_ARRAY);
    BPF_UINT(max_entries, 1);
    BPF_TYPE(key, u32);
    BPF_TYPE(value, struct script);
} scripts SECTION(".maps");
struct {
    BPF_UINT(type, BPF_MAP_TYPE_ARRAY);
    BPF_UINT(max_entries, 1);
    BPF_TYPE(key, u32);
    BPF_TYPE(value, struct frame);
} frames SECTION(".maps");
struct {
    BPF_UINT(type, BPF_MAP_TYPE_ARRAY);
    BPF_UINT(max_entries, 1);
    BPF_TYPE(key, u32);
    BPF_TYPE(value, struct connection);
} connections SECTION(".maps");

SECTION("syscall/compute")
int compute(void* context) {
    (void)context;
    u32 zero = 0;
    struct table* table = bpf_map_lookup_elem(&tables, &zero);
    struct script* script = bpf_map_lookup_elem(&scripts, &zero);
    struct frame* frame = bpf_map_lookup_elem(&frames, &zero);
    struct connection* connection = bpf_map_lookup_elem(&connections, &zero);
    int i;
    if (!table || !script || !frame || !connection) return 1;
    script->code[0].op = (u8)table->operation;
    script->code[0].to = 6;
    script->code[0].a = 4;
    script->code[0].b = 5;
    script->code[1].op = OpReturn;
    repeat(i, MOST_ROWS) {
        if ((u32)i >= table->rows || i < 0 || i >= MOST_ROWS) break;
        struct row* row = &table->row[i];
        frame->cell[0] = row->cwnd;
        frame->cell[1] = row->ssthresh;
        frame->cell[4] = row->a;
        frame->cell[5] = row->b;
        frame->cell[6] = row->result;
        frame->cell[7] = row->more;
        run_machine(script, frame, connection, HookAck);
        row->result = frame->cell[6];
        row->more = frame->failure;
    }
    return 0;
}
