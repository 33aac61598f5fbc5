// Loads one script as a congestion controller of the Linux kernel, and holds it until its input ends.
//
//     subflow-kernel-helper load NAME    input: a struct script (machine.h); the controller lives until the input
//     closes subflow-kernel-helper check        loads the programs without registering them, and reports what the
//     kernel lacks
//
// It needs CAP_BPF and CAP_PERFMON, as file capabilities or as root, and gives them up once the programs are loaded.
// It loads nothing but the image that is linked into it, with a script that it has checked. `load` prints the name of
// the controller, `name sf_lia_x3k9qd`, and then, when one changes, `report FAILURES LINE REASON PASSED_OVER`. The
// kernel removes the controller when this process ends, however it ends. Exit code 1: the kernel or the privileges are
// missing, 2: the script is invalid.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#define repeat(i, most) for ((i) = 0; (i) < (int)(most); (i)++)
#define random_number() 0
#include "machine.h"

#ifndef SYS_bpf
#error "this processor's number of bpf(2) is unknown"
#endif

static void fail(int code, const char* format, ...) __attribute__((noreturn, format(printf, 2, 3)));
static void fail(int code, const char* format, ...) {
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    exit(code);
}

static void* allocated(size_t bytes) {
    void* made = calloc(1, bytes ? bytes : 1);
    if (!made) fail(1, "no memory is left");
    return made;
}

// ---- the image (tools/kernel_image.py) ----

struct image_map {
    char name[16];
    u32 type, key_size, value_size, max_entries, flags, key, value, reserved;
};
struct image_kernel_function {
    char name[32];
};
struct image_function {
    u32 code, codes, relocation, relocations, core, cores, type, reserved;
};
struct image_program {
    char name[16];
    u32 part, parts;
};
struct image_table {
    char name[16];
    u32 member, members;
};
struct image_member {
    char name[24];
    u32 program;
};
struct image_relocation {
    u32 at, kind, index;
};
struct image_core {
    u32 byte, type, text, kind;
};
struct image {
    u32 magic, maps, kernel_functions, functions, programs, parts, tables, members, relocations, cores, codes, types;
    u64 code[];
};
#define IMAGE_MAGIC 0x494b4653u

extern const struct image image;
__asm__(".section .rodata\n.balign 8\n.global image\nimage:\n.incbin \"" KERNEL_IMAGE "\"\n.byte 0\n.previous\n");

static const struct image_map* maps;
static const struct image_kernel_function* kernel_functions;
static const struct image_function* functions;
static const struct image_program* programs;
static const u32* parts;
static const struct image_table* tables;
static const struct image_member* members;
static const struct image_relocation* relocations;
static const struct image_core* cores;
static const unsigned char* types;

static void open_image(void) {
    if (image.magic != IMAGE_MAGIC) fail(1, "this helper was built without its image");
    maps = (const void*)(image.code + image.codes);
    kernel_functions = (const void*)(maps + image.maps);
    functions = (const void*)(kernel_functions + image.kernel_functions);
    programs = (const void*)(functions + image.functions);
    parts = (const void*)(programs + image.programs);
    tables = (const void*)(parts + image.parts);
    members = (const void*)(tables + image.tables);
    relocations = (const void*)(members + image.members);
    cores = (const void*)(relocations + image.relocations);
    types = (const void*)(cores + image.cores);
}

// ---- bpf(2), by its numbers: headers of older systems lack some of them ----

enum { MapCreate = 0, MapLookup = 1, MapUpdate = 2, ProgramLoad = 5, BtfLoad = 18, LinkCreate = 28 };
enum { MapTypeStructOps = 26, ProgramTypeStructOps = 27, AttachStructOps = 44 };
#define FLAG_LINK (1u << 13)

struct map_create {
    u32 type, key_size, value_size, max_entries, flags, inner, numa;
    char name[16];
    u32 interface, btf, key, value, vmlinux_value;
};
struct map_element {
    u32 map, reserved;
    u64 key, value, flags;
};
struct btf_load {
    u64 btf, log;
    u32 size, log_size, log_level;
};
struct program_load {
    u32 type, instructions;
    u64 code, license;
    u32 log_level, log_size;
    u64 log;
    u32 version, flags;
    char name[16];
    u32 interface, attach_type, btf, function_info_size;
    u64 function_info;
    u32 function_infos, line_info_size;
    u64 line_info;
    u32 line_infos, attach_btf_id, attach_btf, cores;
    u64 descriptors, core;
    u32 core_size, log_true_size;
};
struct link_create {
    u32 map, target, attach_type, flags, rest[8];
};

static int bpf(int command, void* attributes, size_t size) {
    return (int)syscall(SYS_bpf, command, attributes, size);
}
#define ADDRESS(p) ((u64)(uintptr_t)(p))

// ---- types of the kernel ----

static unsigned char* vmlinux;
static u32 strings_at;

enum { KindStruct = 4, KindFunction = 12 };
struct btf_type {
    u32 name, info, size;
};
struct btf_member {
    u32 name, type, offset;
};

static void open_vmlinux(void) {
    int file = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(1, "the kernel has no type information (/sys/kernel/btf/vmlinux): CONFIG_DEBUG_INFO_BTF is off");
    size_t size = 0, room = 16u << 20;
    vmlinux = allocated(room);
    for (;;) {
        ssize_t n = read(file, vmlinux + size, room - size);
        if (n < 0) fail(1, "/sys/kernel/btf/vmlinux: %s", strerror(errno));
        if (n == 0) break;
        size += (size_t)n;
        if (size == room) {
            vmlinux = realloc(vmlinux, room *= 2);
            if (!vmlinux) fail(1, "no memory is left");
        }
    }
    close(file);
}

// Finds a type by kind and name; 0 if the kernel has none. `found`: the type itself.
static u32 find_type(u32 kind, const char* name, const struct btf_type** found) {
    const u32* head = (const u32*)vmlinux;  // magic and version, header length, types: offset and size, strings: offset
    const unsigned char* at = vmlinux + head[1] + head[2];
    const unsigned char* end = at + head[3];
    strings_at = head[1] + head[4];
    for (u32 id = 1; at < end; id++) {
        static const unsigned char constant[20] = {[1] = 4, [3] = 12, [14] = 4, [17] = 4};
        static const unsigned char each[20] = {[4] = 12, [5] = 12, [6] = 8, [13] = 8, [15] = 12, [19] = 12};
        const struct btf_type* type = (const void*)at;
        u32 of = type->info >> 24 & 31;
        if (of == kind && !strcmp((const char*)vmlinux + strings_at + type->name, name)) {
            if (found) *found = type;
            return id;
        }
        if (of >= 20) break;
        at += sizeof *type + constant[of] + each[of] * (type->info & 0xffff);
    }
    return 0;
}

// Position of a member; its offset in bytes is stored in `offset`. -1: the structure has no such member.
static int find_member(const struct btf_type* type, const char* name, u32* offset) {
    const struct btf_member* member = (const void*)(type + 1);
    for (u32 i = 0; i < (type->info & 0xffff); i++) {
        if (strcmp((const char*)vmlinux + strings_at + member[i].name, name)) continue;
        *offset = (type->info >> 31 ? member[i].offset & 0xffffff : member[i].offset) / 8;
        return (int)i;
    }
    return -1;
}

// ---- the script ----

static int is_jump(u32 op) {
    return (op >= OpJump && op <= OpJumpIfEqual) || op == OpForEach;
}
static int is_of_subflow(u32 op) {
    return op >= OpItem && op <= OpItemNumber;
}

#define REFUSE(...) fail(2, "the script is invalid: " __VA_ARGS__)

// The checks of ScriptProgram::check (core/script/program.cpp) for the operations of the kernel. The interpreter stays
// within its maps even without them.
static void check_script(const struct script* s) {
    u32 n = s->instructions, cells = s->cells;
    if (s->magic != SCRIPT_MAGIC) REFUSE("it was made by another version");
    if (!n || n > SCRIPT_MOST_INSTRUCTIONS || cells < CellFirstFree || cells > SCRIPT_MOST_CELLS)
        REFUSE("%u instructions, %u cells", n, cells);
    if (s->governs_rate > 1 || s->reserved) REFUSE("its flags");
    for (u32 hook = 0; hook < ScriptHooks; hook++)
        if (s->entry[hook] < -1 || s->entry[hook] >= (s32)n) REFUSE("a function without code");
    for (u32 at = 0; at < n; at++) {
        const struct instruction in = s->code[at];
        if (in.op >= ScriptOperations) REFUSE("an unknown operation");
        if (in.to >= cells || in.a >= cells || in.b >= cells) REFUSE("a cell beyond its frame");
        if (is_jump(in.op) && (in.value <= (s32)at || in.value >= (s32)n)) REFUSE("a jump to an invalid target");
        if (in.op == OpForEach && in.to >= SCRIPT_LOOPS) REFUSE("loops are nested too deep");
        if (is_of_subflow(in.op) && in.a > SCRIPT_LOOPS + 1) REFUSE("a subflow outside of a loop");
        if (in.op == OpField && ((u32)in.value >= Fields || in.b >= FieldKinds)) REFUSE("an unknown field");
        if (in.op == OpItem && (u32)in.value >= Items) REFUSE("an unknown field");
        if (in.op == OpRecentMaximum || in.op == OpRecentMinimum)
            if ((u32)in.value >= cells || in.to + (u32)SCRIPT_FILTER_CELLS > cells) REFUSE("a filter beyond its frame");
        if (in.op == OpAverage && in.to + 2u > cells) REFUSE("a filter beyond its frame");
        if (in.op != OpNext) continue;
        if (in.value <= 0 || in.value > (s32)at || in.to >= SCRIPT_LOOPS) REFUSE("a loop without its beginning");
        const struct instruction begin = s->code[in.value - 1];
        if (begin.op != OpForEach || begin.to != in.to) REFUSE("a loop without its beginning");
        for (u32 from = 0; from < n; from++)
            if (is_jump(s->code[from].op) && s->code[from].value >= in.value && s->code[from].value <= (s32)at &&
                ((s32)from < in.value || from > at))
                REFUSE("a jump into a loop");
    }
    if (s->code[n - 1].op != OpReturn && s->code[n - 1].op != OpJump) REFUSE("it does not end");
}

static void read_script(struct script* s) {
    size_t size = 0;
    while (size < sizeof *s) {
        ssize_t n = read(STDIN_FILENO, (char*)s + size, sizeof *s - size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) REFUSE("%zu bytes: must be %zu", size, sizeof *s);
        size += (size_t)n;
    }
    check_script(s);
}

// ---- loading ----

static int btf, *map_descriptors;
static u32* kernel_function_ids;

static void refused(const char* what) {
    if (errno == EPERM) fail(1, "loading needs CAP_BPF and CAP_PERFMON");
    fail(1, "the kernel refuses %s: %s", what, strerror(errno));
}

static void make_maps(void) {
    struct btf_load load = {.btf = ADDRESS(types), .size = image.types};
    btf = bpf(BtfLoad, &load, sizeof load);
    if (btf < 0) refused("the types of the programs");
    map_descriptors = allocated(image.maps * sizeof *map_descriptors);
    for (u32 i = 0; i < image.maps; i++) {
        const struct image_map* m = maps + i;
        struct map_create create = {.type = m->type,
                                    .key_size = m->key_size,
                                    .value_size = m->value_size,
                                    .max_entries = m->max_entries,
                                    .flags = m->flags,
                                    .btf = (u32)btf,
                                    .key = m->key,
                                    .value = m->value};
        memcpy(create.name, m->name, sizeof m->name);
        map_descriptors[i] = bpf(MapCreate, &create, sizeof create);
        if (map_descriptors[i] < 0) refused("the map of a program");
    }
    kernel_function_ids = allocated(image.kernel_functions * sizeof(u32));
    for (u32 i = 0; i < image.kernel_functions; i++) {
        kernel_function_ids[i] = find_type(KindFunction, kernel_functions[i].name, NULL);
        if (!kernel_function_ids[i])
            fail(1, "the kernel has no function %s: it takes Linux 6.4 or newer", kernel_functions[i].name);
    }
}

static int map_named(const char* name) {
    for (u32 i = 0; i < image.maps; i++)
        if (!strcmp(maps[i].name, name)) return map_descriptors[i];
    fail(1, "this helper has no map %s", name);
}

// Joins the functions of a program, connects them with each other, with the maps and with the kernel, and loads them.
static int load_program(const struct image_program* program, u32 table_type, u32 member) {
    u32 codes = 0, relocated = 0, *begins = allocated(image.functions * sizeof *begins);
    for (u32 i = 0; i < program->parts; i++) {
        const struct image_function* f = functions + parts[program->part + i];
        begins[f - functions] = codes;
        codes += f->codes;
        relocated += f->cores;
    }
    u64* code = allocated(codes * sizeof *code);
    struct {
        u32 at, type;
    }* infos = allocated(program->parts * sizeof *infos);
    struct image_core* core = allocated(relocated * sizeof *core);
    relocated = 0;
    for (u32 i = 0; i < program->parts; i++) {
        const struct image_function* f = functions + parts[program->part + i];
        u32 begin = begins[f - functions];
        memcpy(code + begin, image.code + f->code, f->codes * sizeof *code);
        infos[i].at = begin;
        infos[i].type = f->type;
        for (u32 k = 0; k < f->cores; k++) {
            core[relocated] = cores[f->core + k];
            core[relocated++].byte += begin * (u32)sizeof *code;
        }
        for (u32 k = 0; k < f->relocations; k++) {
            const struct image_relocation* r = relocations + f->relocation + k;
            u32 at = begin + r->at, value = 0, source = 0;  // the instruction's number, and its source register
            switch (r->kind) {
                case 0:
                    source = 1, value = (u32)map_descriptors[r->index];
                    break;
                case 1:
                    source = 2, value = kernel_function_ids[r->index];
                    break;
                case 2:
                    source = 1, value = begins[r->index] - at - 1;
                    break;
            }
            u64 keep = r->kind == 1 ? 0x0fff : 0xffff0fff;  // a function of the kernel has no offset
            code[at] = (code[at] & keep) | source << 12 | (u64)value << 32;
        }
    }
    static char log[1 << 16];
    struct program_load load = {.type = ProgramTypeStructOps,
                                .instructions = codes,
                                .code = ADDRESS(code),
                                .license = ADDRESS("Dual MIT/GPL"),
                                .attach_type = member,
                                .btf = (u32)btf,
                                .function_info_size = 8,
                                .function_info = ADDRESS(infos),
                                .function_infos = program->parts,
                                .attach_btf_id = table_type,
                                .cores = relocated,
                                .core = ADDRESS(core),
                                .core_size = sizeof *core};
    memcpy(load.name, program->name, sizeof program->name);
    int made = bpf(ProgramLoad, &load, sizeof load);
    if (made < 0 && errno != EPERM) {
        load.log_level = 1, load.log_size = sizeof log, load.log = ADDRESS(log);
        made = bpf(ProgramLoad, &load, sizeof load);
        size_t end = strlen(log), lines = 0;
        while (made < 0 && end && lines < 4) lines += log[--end] == '\n';
        if (made < 0 && *log) fail(1, "the kernel refuses the program %s: %s", program->name, log + end);
    }
    if (made < 0) refused("a program");
    free(begins), free(code), free(infos), free(core);
    return made;
}

// Loads the programs of a table; returns the kernel's map of the table, ready to be linked.
static int load_table(const struct image_table* table, const char* name) {
    const struct btf_type *type, *value_type;
    u32 table_type = find_type(KindStruct, "tcp_congestion_ops", &type);
    u32 value = find_type(KindStruct, "bpf_struct_ops_tcp_congestion_ops", &value_type), data, at;
    if (!table_type || !value || find_member(value_type, "data", &data) < 0)
        fail(1, "the kernel takes no congestion controllers from outside: CONFIG_BPF_JIT or CONFIG_INET is off");
    unsigned char* content = allocated(value_type->size);
    for (u32 i = 0; i < table->members; i++) {
        const struct image_member* m = members + table->member + i;
        int position = find_member(type, m->name, &at);
        if (position < 0) fail(1, "the kernel's congestion controllers have no %s", m->name);
        u64 program = (u64)load_program(programs + m->program, table_type, (u32)position);
        memcpy(content + data + at, &program, sizeof program);
    }
    u32 for_everyone = 1;  // TCP_CONG_NON_RESTRICTED: also for users without privileges
    if (find_member(type, "flags", &at) >= 0) memcpy(content + data + at, &for_everyone, sizeof for_everyone);
    if (find_member(type, "name", &at) >= 0) strcpy((char*)content + data + at, name);
    struct map_create create = {.type = MapTypeStructOps,
                                .key_size = 4,
                                .value_size = value_type->size,
                                .max_entries = 1,
                                .flags = FLAG_LINK,
                                .name = "subflow",
                                .btf = (u32)btf,
                                .vmlinux_value = value};
    int made = bpf(MapCreate, &create, sizeof create);
    if (made < 0) refused("a congestion controller that ends with its process (Linux 6.4 or newer)");
    u32 zero = 0;
    struct map_element element = {.map = (u32)made, .key = ADDRESS(&zero), .value = ADDRESS(content)};
    if (bpf(MapUpdate, &element, sizeof element)) refused("the congestion controller");
    free(content);
    return made;
}

// sf_WORD_RANDOM: no two processes choose the same name, and no program expects it.
static void choose_name(char name[16], const char* word) {
    static const char letters[] = "0123456789abcdefghijklmnopqrstuv";
    unsigned char random[6];
    if (!*word || strlen(word) > 5 || strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789") != strlen(word))
        fail(2, "the name \"%.20s\" must have 1 to 5 of the characters a-z and 0-9", word);
    if (getrandom(random, sizeof random, 0) != sizeof random) fail(1, "no random numbers: %s", strerror(errno));
    int length = sprintf(name, "sf_%s_", word);
    for (unsigned i = 0; i < sizeof random; i++) name[length++] = letters[random[i] & 31];
    name[length] = 0;
}

static void give_up_privileges(void) {
    struct {
        u32 version;
        int process;
    } head = {0x20080522, 0};  // _LINUX_CAPABILITY_VERSION_3
    struct {
        u32 effective, permitted, inheritable;
    } none[2] = {{0, 0, 0}, {0, 0, 0}};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_capset, &head, none))
        fail(1, "capset: %s", strerror(errno));
}

// As in controller.bpf.c.
struct report {
    u64 failures;
    u32 line, reason;
    u64 passed_over;
};

static void hold(void) {
    struct report before = {0}, now;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    u32 zero = 0;
    int reports = map_named("reports");
    for (;;) {
        char ignored[256];
        if (poll(&input, 1, 500) > 0 && read(STDIN_FILENO, ignored, sizeof ignored) <= 0) return;
        struct map_element element = {.map = (u32)reports, .key = ADDRESS(&zero), .value = ADDRESS(&now)};
        if (bpf(MapLookup, &element, sizeof element) || !memcmp(&now, &before, sizeof now)) continue;
        printf("report %llu %u %u %llu\n", now.failures, now.line, now.reason, now.passed_over);
        fflush(stdout);
        before = now;
    }
}

int main(int count, char** words) {
    int loads = count == 3 && !strcmp(words[1], "load");
    if (!loads && !(count == 2 && !strcmp(words[1], "check")))
        fail(2, "usage: subflow-kernel-helper load NAME | check");
    static struct script script;
    char name[16] = "sf_check";
    open_image();
    if (loads) {
        choose_name(name, words[2]);
        read_script(&script);
    }
    open_vmlinux();
    make_maps();
    if (!loads) {
        for (u32 i = 0; i < image.tables; i++) load_table(tables + i, name);
        return 0;
    }
    u32 zero = 0;
    struct map_element element = {.map = (u32)map_named("scripts"), .key = ADDRESS(&zero), .value = ADDRESS(&script)};
    if (bpf(MapUpdate, &element, sizeof element)) refused("the script");
    int table = load_table(tables + (script.governs_rate ? 1 : 0), name);
    struct link_create link = {.map = (u32)table, .attach_type = AttachStructOps};
    if (bpf(LinkCreate, &link, sizeof link) < 0) refused("to register the congestion controller");
    give_up_privileges();
    printf("name %s\n", name);
    fflush(stdout);
    hold();
    return 0;
}
