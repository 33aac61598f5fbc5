// The kernel's events as the functions of a script: one object for all scripts, registered as a congestion controller
// of TCP and of MPTCP subflows (struct_ops). `tools/kernel_image.py` compiles it for `helper.c`.
//
// Structures of the kernel are declared here with the members that are used; the kernel itself finds their places when
// it loads the object (CO-RE), so that the object suits each kernel from Linux 6.4 on, and with a pacing rate or
// on_delivery from 6.10 on.
#include "bpf.h"

#define random_number() bpf_get_prandom_u32()
#include "machine.h"

// ---- what is kept ----

// State of a socket. Windows are real numbers here; the kernel has their whole parts.
struct state {
    f64 cwnd, ssthresh, rate, advertised;
    f64 since_loss, between_losses;         // packets acknowledged since the last loss, and between the last two
    u64 key;                                // the MPTCP connection; 0: not joined, or plain TCP
    u32 slot;                               // own subflow of that connection
    u32 wrote_cwnd, wrote_ssthresh;         // what the kernel has from us, to notice its own changes
    u32 rtt_us, oldest_rtt_us, min_rtt_us;  // of the latest ACK; 0: none so far
    u32 srtt_eighths_us;                    // the kernel's srtt at the ACK before
    u32 round_end, begins_round;
    u32 delivered, delivered_ce, marked;
    u32 has_reduced;    // the present recovery has called on_loss
    u32 prr_delivered;  // PRR (RFC 9937), where this program replaces the kernel's
    struct frame frame;
};
struct {
    BPF_UINT(type, BPF_MAP_TYPE_SK_STORAGE);
    BPF_UINT(map_flags, BPF_F_NO_PREALLOC);
    BPF_TYPE(key, int);
    BPF_TYPE(value, struct state);
} states SECTION(".maps");

struct {
    BPF_UINT(type, BPF_MAP_TYPE_ARRAY);
    BPF_UINT(max_entries, 1);
    BPF_TYPE(key, u32);
    BPF_TYPE(value, struct script);
} scripts SECTION(".maps");

// MPTCP connections by the address of their struct mptcp_sock.
struct {
    BPF_UINT(type, BPF_MAP_TYPE_HASH);
    BPF_UINT(max_entries, 1024);
    BPF_TYPE(key, u64);
    BPF_TYPE(value, struct connection);
} connections SECTION(".maps");
struct {
    BPF_UINT(type, BPF_MAP_TYPE_ARRAY);
    BPF_UINT(max_entries, 1);
    BPF_TYPE(key, u32);
    BPF_TYPE(value, struct connection);
} no_connection SECTION(".maps");
// For a subflow without siblings; one for each processor, because it is filled at each call.
struct {
    BPF_UINT(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    BPF_UINT(max_entries, 1);
    BPF_TYPE(key, u32);
    BPF_TYPE(value, struct connection);
} alone SECTION(".maps");

// Failed calls: their number, the latest reason with its line, and calls that the kernel passed over.
struct report {
    u64 failures;
    u32 line, reason;
    u64 passed_over;
};
struct {
    BPF_UINT(type, BPF_MAP_TYPE_ARRAY);
    BPF_UINT(max_entries, 1);
    BPF_TYPE(key, u32);
    BPF_TYPE(value, struct report);
} reports SECTION(".maps");

// ---- the kernel's socket ----

#define TCP_CA_CWR 2
#define TCP_CA_RECOVERY 3
#define TCP_INFINITE 0x7fffffffu
#define MOST_WINDOW 0x412e848000000000ULL  // 1e6 packets, as Scripted::kLargestWindow
#define MILLION 0x412e848000000000ULL

struct call {
    struct tcp_sock* tp;
    struct state* state;
    struct connection* connection;
    u32 own;
};

INLINE u32 ca_state(struct tcp_sock* tp) {
    return (u32)BITS_OF(&tp->inet_conn, icsk_ca_state);
}
INLINE u32 inflight(struct tcp_sock* tp) {
    return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}
INLINE u64 now_ns(struct tcp_sock* tp) {
    return tp->tcp_mstamp * 1000;
}
INLINE u64 srtt_ns(struct tcp_sock* tp) {
    return (u64)tp->srtt_us * 125;
}
// Like tcp_is_cwnd_limited.
INLINE int is_cwnd_limited(struct tcp_sock* tp) {
    if (BITS_OF(tp, is_cwnd_limited)) return 1;
    return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}
INLINE struct script* the_script(void) {
    u32 zero = 0;
    return bpf_map_lookup_elem(&scripts, &zero);
}
INLINE int defines(u32 hook) {
    struct script* s = the_script();
    return s && hook < ScriptHooks && s->entry[hook] >= 0;
}

// Finds the MPTCP connection of the socket, and takes a place in it.
INLINE void join(struct call* c) {
    struct state* s = c->state;
    if (s->key) {
        u64 key = s->key;
        c->connection = bpf_map_lookup_elem(&connections, &key);
        c->own = s->slot & (MOST_SUBFLOWS - 1);
        if (c->connection) return;
    } else if (bpf_field_exists(c->tp, is_mptcp) && c->tp->is_mptcp && bpf_type_exists(struct mptcp_subflow_context)) {
        void* ulp = c->tp->inet_conn.icsk_ulp_data;
        u64 key = ulp ? (u64)KERNEL_CAST(ulp, struct mptcp_subflow_context)->conn : 0;
        if (key) {
            struct connection* found = bpf_map_lookup_elem(&connections, &key);
            if (!found) {
                u32 zero = 0;
                struct connection* empty = bpf_map_lookup_elem(&no_connection, &zero);
                if (empty) bpf_map_update_elem(&connections, &key, empty, BPF_NOEXIST);
                found = bpf_map_lookup_elem(&connections, &key);
            }
            for (u32 i = 0; found && i < MOST_SUBFLOWS; i++) {
                if (__sync_val_compare_and_swap(&found->subflow[i].is_used, 0, 1)) continue;
                __sync_fetch_and_add(&found->users, 1);
                s->slot = i;
                s->key = key;
                c->connection = found;
                c->own = i;
                return;
            }
        }
    }
    u32 zero = 0;
    c->connection = bpf_map_lookup_elem(&alone, &zero);
    c->own = 0;
}
INLINE void leave(struct state* s) {
    u64 key = s->key;
    u32 i = s->slot;
    if (!key || i >= MOST_SUBFLOWS) return;
    struct connection* c = bpf_map_lookup_elem(&connections, &key);
    if (!c) return;
    c->subflow[i].srtt_s = 0;
    c->subflow[i].is_used = 0;
    if (__sync_fetch_and_add(&c->users, -1) == 1) bpf_map_delete_elem(&connections, &key);
    s->key = 0;
}

// Shows the own subflow to its siblings.
INLINE void publish(struct call* c) {
    struct state* s = c->state;
    if (!c->connection || c->own >= MOST_SUBFLOWS) return;
    struct subflow* own = &c->connection->subflow[c->own];
    own->cwnd = ca_state(c->tp) >= TCP_CA_RECOVERY ? s->ssthresh : s->cwnd;
    own->window = s->cwnd;
    own->advertised = s->advertised;
    own->since_loss = s->since_loss;
    own->between_losses = s->between_losses;
    u64 srtt = srtt_ns(c->tp);
    own->srtt_s = f64_seconds(srtt ? srtt : 1);
}

INLINE f64 threshold_of(u32 pkts) {
    return pkts >= TCP_INFINITE ? F64_INFINITE : f64_of(pkts);
}

// Prepares a call: takes over what the kernel has changed (recovery, timeout, undo, idleness).
INLINE int begin(struct sock* sk, struct call* c) {
    struct state* s = bpf_sk_storage_get(&states, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
    if (!s) return 0;
    c->tp = TCP(sk);
    c->state = s;
    u32 cwnd = c->tp->snd_cwnd, ssthresh = c->tp->snd_ssthresh;
    if (ssthresh != s->wrote_ssthresh) {
        s->ssthresh = threshold_of(ssthresh);
        s->wrote_ssthresh = ssthresh;
    }
    if (cwnd != s->wrote_cwnd) {
        // A recovery ends with the threshold as the window: with its fraction.
        s->cwnd = cwnd == f64_to(s->ssthresh) ? s->ssthresh : f64_of(cwnd);
        s->wrote_cwnd = cwnd;
    }
    join(c);
    publish(c);
    return c->connection != 0;
}

INLINE void fill(struct call* c) {
    struct tcp_sock* tp = c->tp;
    struct state* s = c->state;
    u64* f = s->frame.field;
    f[FieldRtt] = (u64)s->rtt_us * 1000;
    f[FieldOldestRtt] = (u64)s->oldest_rtt_us * 1000;
    f[FieldSrtt] = srtt_ns(tp);
    f[FieldMinRtt] = (u64)s->min_rtt_us * 1000;
    f[FieldNow] = now_ns(tp);
    f[FieldInflight] = inflight(tp);
    f[FieldBeginsRound] = s->begins_round;
    f[FieldIsCwndLimited] = (u64)is_cwnd_limited(tp);
    f[FieldInRecovery] = ca_state(tp) == TCP_CA_RECOVERY;
    f[FieldInLoss] = ca_state(tp) > TCP_CA_RECOVERY;
    f[FieldMarked] = s->marked;
}

INLINE int is_finite(f64 x) {
    return f64_exponent(x) != 0x7ff;
}

// Runs a function of the script. Its window is taken over within the bounds of the simulator; a failed call changes
// nothing but the script's own state, and is reported. Returns 1 if the call succeeded.
INLINE int run(struct sock* sk, struct call* c, u32 hook) {
    struct script* script = the_script();
    struct state* s = c->state;
    struct frame* f = &s->frame;
    if (!script || !c->connection) return 0;
    number_subflows(f, c->connection, c->own);
    f->cell[CellCwnd] = s->cwnd;
    f->cell[CellSsthresh] = s->ssthresh;
    f->cell[CellRate] = s->rate;
    f->cell[CellAdvertised] = s->advertised;
    run_machine(script, f, c->connection, hook);
    f64 cwnd = f->cell[CellCwnd], ssthresh = f->cell[CellSsthresh], rate = f->cell[CellRate];
    f64 advertised = f->cell[CellAdvertised];
    if (!f->failure) {
        if (f64_is_nan(cwnd)) f->failure = FailsWindow;
        if (f64_is_nan(ssthresh)) f->failure = FailsThreshold;
        if (!is_finite(rate) || (rate & F64_SIGN && !f64_is_zero(rate))) f->failure = FailsRate;
        if (!is_finite(advertised)) f->failure = FailsAdvertised;
        if (hook == HookLoss && ssthresh == F64_INFINITE) f->failure = FailsInfinite;
    }
    if (f->failure) {
        u32 zero = 0;
        struct report* told = bpf_map_lookup_elem(&reports, &zero);
        if (told) {
            told->line = f->failed_line;
            told->reason = f->failure;
            __sync_fetch_and_add(&told->failures, 1);
        }
        return 0;
    }
    s->ssthresh = ssthresh == F64_INFINITE ? ssthresh : f64_minimum(f64_maximum(ssthresh, F64_ONE), MOST_WINDOW);
    s->rate = rate;
    s->advertised = advertised;
    struct tcp_sock* tp = c->tp;
    u32 whole = s->ssthresh == F64_INFINITE ? TCP_INFINITE : (u32)f64_to(s->ssthresh);
    if (hook == HookLoss) {
        s->wrote_ssthresh = whole;  // the kernel sets it to what ssthresh() returns, and reduces the window itself
        return 1;
    }
    s->cwnd = f64_minimum(f64_maximum(cwnd, F64_ONE), MOST_WINDOW);
    u32 pkts = (u32)f64_to(s->cwnd);
    if (pkts > tp->snd_cwnd_clamp) pkts = tp->snd_cwnd_clamp;
    if (!pkts) pkts = 1;  // the kernel accepts 0, which would stop the connection for good
    if (pkts != s->wrote_cwnd) tp->snd_cwnd = pkts;
    s->wrote_cwnd = pkts;
    if (whole != s->wrote_ssthresh) tp->snd_ssthresh = whole;
    s->wrote_ssthresh = whole;
    if (script->governs_rate && !f64_is_zero(rate)) {
        u64 bytes = f64_to(f64_multiply(rate, f64_of(tp->mss_cache)));
        u64 most = sk->sk_max_pacing_rate;
        sk->sk_pacing_rate = bytes > most ? most : bytes ? bytes : 1;
        if (!sk->sk_pacing_status) sk->sk_pacing_status = SK_PACING_NEEDED;
    } else if (script->governs_rate) {
        sk->sk_pacing_rate = sk->sk_max_pacing_rate;
    }
    publish(c);
    return 1;
}

// ---- the kernel's events ----

SECTION("struct_ops/begins")
void begins(u64* ctx) {
    struct sock* sk = (struct sock*)ctx[0];
    struct tcp_sock* tp = TCP(sk);
    struct state* s = bpf_sk_storage_get(&states, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
    struct script* script = the_script();
    if (!s || !script) return;
    int i;
    s->key = 0;
    s->wrote_cwnd = tp->snd_cwnd;
    s->cwnd = f64_of(s->wrote_cwnd);
    s->wrote_ssthresh = tp->snd_ssthresh;
    s->ssthresh = threshold_of(s->wrote_ssthresh);
    s->rate = s->advertised = s->since_loss = s->between_losses = 0;
    s->rtt_us = s->oldest_rtt_us = s->min_rtt_us = s->begins_round = s->marked = s->has_reduced = 0;
    s->srtt_eighths_us = tp->srtt_us;
    s->delivered = tp->delivered;
    s->delivered_ce = tp->delivered_ce;
    s->round_end = tp->snd_nxt;
    repeat(i, SCRIPT_CELLS) s->frame.cell[i & (SCRIPT_CELLS - 1)] = script->frame[i & (SCRIPT_CELLS - 1)];
    struct call c = {};
    if (defines(HookStart) && begin(sk, &c)) run(sk, &c, HookStart);
}

SECTION("struct_ops/ends")
void ends(u64* ctx) {
    struct state* s = bpf_sk_storage_get(&states, (struct sock*)ctx[0], 0, 0);
    if (s) leave(s);
}

// Calls on_loss; returns the window to continue with, in packets.
INLINE u32 lose(struct sock* sk) {
    struct call c = {};
    u32 half = TCP(sk)->snd_cwnd >> 1;
    if (half < 2) half = 2;
    if (!begin(sk, &c)) return half;
    struct state* s = c.state;
    struct tcp_sock* tp = c.tp;
    // Inferred: the kernel marks all packets as lost before it asks after a timeout, and none before ECN's reduction.
    u32 is_timeout = tp->packets_out == tp->lost_out + tp->sacked_out;
    s->has_reduced = 1;
    s->prr_delivered = 0;
    fill(&c);
    s->frame.field[FieldIsTimeout] = is_timeout;
    s->frame.field[FieldIsMark] = tp->lost_out == 0;
    s->frame.field[FieldInflight] = is_timeout ? tp->packets_out - tp->sacked_out : inflight(tp);
    if (!defines(HookLoss) || !run(sk, &c, HookLoss)) {
        s->ssthresh = f64_maximum(f64_multiply(s->cwnd, F64_HALF), F64_TWO);
        s->wrote_ssthresh = (u32)f64_to(s->ssthresh);
    }
    // Without a delivery since the loss before, the packets between both would be 0: the earlier numbers stay.
    if (!f64_is_zero(s->since_loss)) {
        s->between_losses = s->since_loss;
        s->since_loss = 0;
    }
    publish(&c);
    return s->wrote_ssthresh ? s->wrote_ssthresh : 1;
}

SECTION("struct_ops/reduces")
u32 reduces(u64* ctx) {
    return lose((struct sock*)ctx[0]);
}

SECTION("struct_ops/measures")
void measures(u64* ctx) {
    struct sock* sk = (struct sock*)ctx[0];
    const struct ack_sample* sample = (const struct ack_sample*)ctx[1];
    struct tcp_sock* tp = TCP(sk);
    struct state* s = bpf_sk_storage_get(&states, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
    if (!s) return;
    if (ca_state(tp) < TCP_CA_CWR) {
        s->has_reduced = 0;
    } else if (!s->has_reduced) {
        // A kernel may pass a program over, for example while it has interrupted a certain task. What ssthresh() then
        // returned is undefined, so the script is asked now.
        u32 zero = 0;
        struct report* told = bpf_map_lookup_elem(&reports, &zero);
        if (told) __sync_fetch_and_add(&told->passed_over, 1);
        s->wrote_ssthresh = tp->snd_ssthresh;
        tp->snd_ssthresh = lose(sk);
    }
    u32 acked = tp->delivered - s->delivered;
    s->delivered = tp->delivered;
    s->marked = tp->delivered_ce - s->delivered_ce;
    s->delivered_ce = tp->delivered_ce;
    if (sample->rtt_us > 0) {
        s->rtt_us = (u32)sample->rtt_us;
        if (!s->min_rtt_us || s->rtt_us < s->min_rtt_us) s->min_rtt_us = s->rtt_us;
        // The kernel has just added the RTT of the oldest packet to its srtt: srtt += rtt - srtt / 8, in eighths.
        u32 before = s->srtt_eighths_us, after = tp->srtt_us;
        u32 oldest = before ? after - before + (before >> 3) : after >> 3;
        s->oldest_rtt_us = after == before || oldest < s->rtt_us || oldest > 60000000 ? s->rtt_us : oldest;
    }
    s->srtt_eighths_us = tp->srtt_us;
    s->begins_round = (s32)(tp->snd_una - s->round_end) > 0;
    if (s->begins_round) s->round_end = tp->snd_nxt;
    if (!acked) return;
    s->since_loss = f64_add(s->since_loss, f64_of(acked));
    struct call c = {};
    if (!defines(HookEveryAck) || !begin(sk, &c)) return;
    fill(&c);
    s->frame.field[FieldAcked] = acked;
    run(sk, &c, HookEveryAck);
}

INLINE void grow(struct sock* sk, struct call* c, u32 acked) {
    if (!defines(HookAck) || !is_cwnd_limited(c->tp)) return;
    fill(c);
    c->state->frame.field[FieldAcked] = acked;
    run(sk, c, HookAck);
}

SECTION("struct_ops/grows")
void grows(u64* ctx) {
    struct sock* sk = (struct sock*)ctx[0];
    struct call c = {};
    if (begin(sk, &c)) grow(sk, &c, (u32)ctx[2]);
}

SECTION("struct_ops/enters")
void enters(u64* ctx) {
    struct sock* sk = (struct sock*)ctx[0];
    struct tcp_sock* tp = TCP(sk);
    struct script* script = the_script();
    u32 before = ca_state(tp);
    if ((u8)ctx[1] != 0 || before < TCP_CA_CWR || !script) return;
    // Where this program replaces cong_control, the kernel leaves the window at the end of a reduction to it
    // (tcp_end_cwnd_reduction).
    if (script->governs_rate && before <= TCP_CA_RECOVERY && (before == TCP_CA_CWR || tp->undo_marker) &&
        tp->snd_ssthresh < TCP_INFINITE)
        tp->snd_cwnd = tp->snd_ssthresh;
    struct call c = {};
    if (!defines(HookRecoveryExit) || !begin(sk, &c)) return;
    fill(&c);
    c.state->frame.field[FieldAcked] = 0;
    c.state->frame.field[FieldInRecovery] = 0;
    run(sk, &c, HookRecoveryExit);
}

SECTION("struct_ops/happens")
void happens(u64* ctx) {
    struct sock* sk = (struct sock*)ctx[0];
    struct call c = {};
    if ((u32)ctx[1] != CA_EVENT_TX_START || !TCP(sk)->app_limited) return;
    if (!defines(HookIdle) || !begin(sk, &c)) return;
    fill(&c);
    run(sk, &c, HookIdle);
}

SECTION("struct_ops/undoes")
u32 undoes(u64* ctx) {
    struct tcp_sock* tp = TCP((struct sock*)ctx[0]);
    u32 cwnd = tp->snd_cwnd, prior = tp->prior_cwnd;
    return cwnd > prior ? cwnd : prior;
}

// Proportional rate reduction (RFC 9937), as in tcp_cwnd_reduction.
INLINE void reduce_in_proportion(struct call* c, const struct rate_sample* rs, u32 flag) {
    struct tcp_sock* tp = c->tp;
    struct state* s = c->state;
    u32 delivered = rs->acked_sacked;
    int lost = rs->losses, pipe = (int)inflight(tp), gap = (int)tp->snd_ssthresh - pipe, send;
    u32 prior = tp->prior_cwnd;
    if (!delivered || !prior) return;
    s->prr_delivered += delivered;
    if (gap < 0) {
        send = (int)(((u64)tp->snd_ssthresh * s->prr_delivered + prior - 1) / prior) - (int)tp->prr_out;
    } else {
        send = (int)(s->prr_delivered - tp->prr_out);
        if (send < (int)delivered) send = (int)delivered;
        if (flag & FLAG_SND_UNA_ADVANCED && !lost) send++;
        if (send > gap) send = gap;
    }
    int least = tp->prr_out ? 0 : 1;
    if (send < least) send = least;
    int cwnd = pipe + send;
    tp->snd_cwnd = cwnd < 1 ? 1 : (u32)cwnd;
}

SECTION("struct_ops/controls")
void controls(u64* ctx) {
    struct sock* sk = (struct sock*)ctx[0];
    struct tcp_sock* tp = TCP(sk);
    u32 flag = (u32)ctx[2];
    const struct rate_sample* rs = (const struct rate_sample*)ctx[3];
    struct call c = {};
    if (!begin(sk, &c)) return;
    struct state* s = c.state;
    if (defines(HookDelivery) && rs->acked_sacked) {
        fill(&c);
        u64* f = s->frame.field;
        long long interval_us = rs->interval_us;
        int delivered = rs->delivered;
        f[FieldAcked] = rs->acked_sacked;
        f[FieldLost] = rs->losses > 0 ? (u64)rs->losses : 0;
        f[FieldPriorInflight] = rs->prior_in_flight;
        f[FieldIsAppLimited] = rs->is_app_limited;
        f[FieldDelivered] = tp->delivered;
        f[FieldPriorDelivered] = rs->prior_delivered;
        int has_rate = delivered > 0 && interval_us > 0;
        f[FieldInterval] = interval_us > 0 ? (u64)interval_us * 1000 : 0;
        f[FieldRate] =
            has_rate ? f64_divide(f64_multiply(f64_of((u64)delivered), MILLION), f64_of((u64)interval_us)) : 0;
        run(sk, &c, HookDelivery);
    }
    u32 state = ca_state(tp);
    if (state == TCP_CA_CWR || state == TCP_CA_RECOVERY)
        reduce_in_proportion(&c, rs, flag);
    else if (flag & FLAG_DATA_ACKED)
        grow(sk, &c, rs->acked_sacked);
}

SECTION(".struct_ops")
struct tcp_congestion_ops by_window = {
    .init = begins,
    .release = ends,
    .pkts_acked = measures,
    .cong_avoid = grows,
    .ssthresh = reduces,
    .undo_cwnd = undoes,
    .set_state = enters,
    .cwnd_event = happens,
};
SECTION(".struct_ops")
struct tcp_congestion_ops by_rate = {
    .init = begins,
    .release = ends,
    .pkts_acked = measures,
    .cong_control = controls,
    .ssthresh = reduces,
    .undo_cwnd = undoes,
    .set_state = enters,
    .cwnd_event = happens,
};
