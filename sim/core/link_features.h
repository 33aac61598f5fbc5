// Link features that most links lack: everything beyond a drop-tail queue, a constant rate and independent loss.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "delay_trace.h"
#include "delivery_trace.h"
#include "gilbert.h"
#include "grants.h"
#include "jitter.h"
#include "medium.h"
#include "memory.h"
#include "packet.h"
#include "pauses.h"
#include "queue_disc/disciplines.h"
#include "retransmission.h"
#include "scripted_loss.h"
#include "token_bucket.h"
#include "units.h"

namespace subflow {

enum class Verdict : std::uint8_t {
    Accepted,
    Marked,        // accepted; the caller must mark the packet (Packet::mark)
    Kept,          // accepted by an unpredictable link, which may have dropped other packets instead
    DroppedQueue,  // the queue has no room
    DroppedEarly,  // by the control law of a queue that has room
    DroppedRandom,
    DroppedCollision,  // after too many collisions on a shared medium
    DroppedDown,
    DroppedScripted,
};

// Place of a link in its shared medium, which determines when the link sends.
struct MediumPlace {
    AccessOptions options;
    std::uint32_t number = 0;
    Nanos access_at = kNever;
    Nanos exceeded{};               // AccessKind::Turns: time by which the turns so far were longer than their airtime
    Nanos began{};                  // start of the access, with hidden stations
    std::uint32_t announced = 0;    // packets of this access, as announced at its start
    std::vector<Waiting> together;  // packets of the current access, kept to reuse the memory

    std::size_t heap_bytes() const { return heap_bytes_of(together); }
};

// A packet that a link dropped after accepting it.
struct Refused {
    Packet packet;
    Verdict verdict = Verdict::DroppedQueue;
};

struct LinkFeatures {
    std::optional<Red> red;
    std::optional<GilbertChain> loss_chain;
    std::optional<ScriptedLoss> script;
    std::optional<DeliveryTrace> trace;
    std::optional<TokenBucket> bucket;
    std::optional<DelayTrace> delays;
    std::optional<JitterOptions> jitter;
    std::optional<RetransmissionOptions> retransmission;
    std::optional<Pauses> pauses;
    std::optional<Grants> grants;
    std::optional<MediumPlace> station;
    ManagedQueue queue;
    bool may_overtake = false;
    Nanos queue_counted_to{};      // time up to which LinkStats::queue_time includes the managed queue
    std::vector<Refused> dropped;  // packets that the managed queue dropped, not yet taken
    std::vector<Packet> marked;    // packets that the managed queue marked, not yet taken; only if they are kept
    bool keeps_marked = false;
    std::uint32_t served_pkts = 0;  // packets that began service since the latest take_served()

    std::size_t heap_bytes() const {
        return heap_bytes_of(red, loss_chain, script, pauses, station, queue, dropped, marked);
    }

    bool varies_delay() const { return delays || jitter || retransmission; }
    bool has_managed_queue() const { return queue.index() != 0; }
    // True if a managed queue is the only feature.
    bool is_only_queue() const {
        return has_managed_queue() && !red && !loss_chain && !script && !trace && !bucket && !varies_delay() &&
               !pauses && !grants && !station && !may_overtake;
    }
    std::int64_t waiting_pkts() const {
        return visit_queue(queue, [](const auto& managed) { return managed.pkts(); });
    }
    Bytes waiting_bytes() const {
        return visit_queue(queue, [](const auto& managed) { return managed.bytes(); });
    }
};

}  // namespace subflow
