// Declarations of clang and of the kernel for BPF programs, in place of libbpf's headers and of a generated vmlinux.h.
#pragma once

#define SECTION(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))

// ---- maps and helper functions (linux/bpf.h) ----

#define BPF_UINT(name, value) int (*name)[value]
#define BPF_TYPE(name, type) type* name
#define BPF_MAP_TYPE_HASH 1
#define BPF_MAP_TYPE_ARRAY 2
#define BPF_MAP_TYPE_PERCPU_ARRAY 6
#define BPF_MAP_TYPE_SK_STORAGE 24
#define BPF_F_NO_PREALLOC 1
#define BPF_NOEXIST 1
#define BPF_SK_STORAGE_GET_F_CREATE 1

static void* (*const bpf_map_lookup_elem)(void* map, const void* key) = (void*)1;
static long (*const bpf_map_update_elem)(void* map, const void* key, const void* value, unsigned long long) = (void*)2;
static long (*const bpf_map_delete_elem)(void* map, const void* key) = (void*)3;
static unsigned (*const bpf_get_prandom_u32)(void) = (void*)7;
static void* (*const bpf_sk_storage_get)(void* map, void* sk, void* value, unsigned long long flags) = (void*)107;

// ---- functions of the kernel ----

#define KERNEL_SYMBOL SECTION(".ksyms")
struct bpf_iter_num {
    unsigned long long opaque[1];
} __attribute__((aligned(8)));
extern void* bpf_rdonly_cast(const void* object, unsigned btf_id) KERNEL_SYMBOL;
extern int bpf_iter_num_new(struct bpf_iter_num* it, int start, int end) KERNEL_SYMBOL;
extern int* bpf_iter_num_next(struct bpf_iter_num* it) KERNEL_SYMBOL;
extern void bpf_iter_num_destroy(struct bpf_iter_num* it) KERNEL_SYMBOL;

// A loop over 0 ... most - 1. The verifier follows an open-coded iterator only until its state repeats, where it would
// follow each round of an ordinary loop.
#define repeat(i, most)                                                                                          \
    for (struct bpf_iter_num it_##i __attribute__((aligned(8), cleanup(bpf_iter_num_destroy))),                  \
         *made_##i                                                                                               \
         __attribute__((unused)) = (bpf_iter_num_new(&it_##i, 0, (most)), (void)bpf_iter_num_destroy, (void*)0); \
         ({                                                                                                      \
             int* at = bpf_iter_num_next(&it_##i);                                                               \
             (at && ((i) = *at, (i) >= 0 && (i) < (most)));                                                      \
         });)

// ---- relocations (CO-RE) ----

#define bpf_field_exists(s, field) __builtin_preserve_field_info((s)->field, 2)
#define bpf_type_exists(type) __builtin_preserve_type_info(*(type*)0, 0)
#define KERNEL_CAST(p, type) ((type*)bpf_rdonly_cast((p), (unsigned)__builtin_btf_type_id(*(type*)0, 1)))
// A bit-field, whose place the kernel fills in.
#define BITS_OF(s, field)                                                                                     \
    ({                                                                                                        \
        const void* place = (const void*)(s) + __builtin_preserve_field_info((s)->field, 0);                  \
        unsigned long long bits = 0;                                                                          \
        __asm__ volatile("" : "+r"(place));                                                                   \
        switch (__builtin_preserve_field_info((s)->field, 1)) {                                               \
            case 1:                                                                                           \
                bits = *(const unsigned char*)place;                                                          \
                break;                                                                                        \
            case 2:                                                                                           \
                bits = *(const unsigned short*)place;                                                         \
                break;                                                                                        \
            case 4:                                                                                           \
                bits = *(const unsigned*)place;                                                               \
                break;                                                                                        \
            case 8:                                                                                           \
                bits = *(const unsigned long long*)place;                                                     \
                break;                                                                                        \
        }                                                                                                     \
        bits << __builtin_preserve_field_info((s)->field, 4) >> __builtin_preserve_field_info((s)->field, 5); \
    })

// ---- structures of the kernel: only the members that are used, whose places the kernel fills in ----

#define KERNEL_TYPE __attribute__((preserve_access_index))
#define TCP(sk) ((struct tcp_sock*)(sk))
#define SK_PACING_NEEDED 1
#define CA_EVENT_TX_START 0
#define FLAG_DATA_ACKED 0x04
#define FLAG_SND_UNA_ADVANCED 0x400

struct sock {
    unsigned int sk_pacing_status;
    unsigned long sk_pacing_rate;
    unsigned long sk_max_pacing_rate;
} KERNEL_TYPE;
struct inet_connection_sock {
    void* icsk_ulp_data;
    unsigned char icsk_ca_state : 5;
} KERNEL_TYPE;
struct tcp_sock {
    struct inet_connection_sock inet_conn;
    unsigned long long tcp_mstamp;
    unsigned int snd_una, snd_nxt, snd_cwnd, snd_ssthresh, snd_cwnd_clamp, srtt_us, mss_cache;
    unsigned int packets_out, sacked_out, lost_out, retrans_out, max_packets_out;
    unsigned int delivered, delivered_ce, app_limited;
    unsigned int prior_cwnd, prr_out, undo_marker;
    unsigned char is_cwnd_limited : 1;
    _Bool is_mptcp;
} KERNEL_TYPE;
struct mptcp_subflow_context {
    struct sock* conn;
} KERNEL_TYPE;
struct ack_sample {
    int rtt_us;
} KERNEL_TYPE;
struct rate_sample {
    unsigned int prior_delivered;
    int delivered;
    long interval_us;
    int losses;
    unsigned int acked_sacked, prior_in_flight;
    _Bool is_app_limited;
} KERNEL_TYPE;
struct tcp_congestion_ops {
    void (*init)(unsigned long long*);
    void (*release)(unsigned long long*);
    void (*pkts_acked)(unsigned long long*);
    void (*cong_avoid)(unsigned long long*);
    void (*cong_control)(unsigned long long*);
    void (*set_state)(unsigned long long*);
    void (*cwnd_event)(unsigned long long*);
    unsigned int (*ssthresh)(unsigned long long*);
    unsigned int (*undo_cwnd)(unsigned long long*);
};
