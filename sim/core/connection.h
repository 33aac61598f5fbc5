// A flow's connection: its data stream over one or more subflows, both ends of it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "boxed.h"
#include "capture.h"
#include "data_lane.h"
#include "decision.h"
#include "fetch.h"
#include "memory.h"
#include "receiver.h"
#include "ring.h"
#include "scenario.h"
#include "sched/schedulers.h"
#include "sender.h"
#include "traffic.h"
#include "units.h"

namespace subflow {

// The retransmission timer of the connection as a whole. It is not touched by acknowledgements: when it fires, it finds
// out how long it is since the last progress.
struct MetaTimer {
    Nanos backed_off{};               // the timeout since the last expiry; nil: none since the last progress
    Nanos expired_at{};               // when that was
    std::uint32_t una_at_expiry = 0;  // and what was DATA_ACKed then
    std::int64_t expiries = 0;
    // Where data is pushed ahead: when it goes off, what was DATA_ACKed when it was set, how long it takes when it is
    // set next, and when the event comes that looks.
    Nanos due = kNever;
    std::uint32_t una_when_set = 0;
    Nanos patience{};
    Nanos looks_at = kNever;
};

struct Connection {
    FlowKind kind = FlowKind::Tcp;
    std::uint32_t first_subflow = 0;
    std::uint32_t subflow_count = 0;
    bool is_coupled = false;        // the controllers want to see their siblings
    CommonState common;             // theirs
    std::vector<Sibling> siblings;  // as they were when one of them last wanted to see them
    std::vector<PathRate> rates;    // of the siblings
    std::uint32_t changed = kAll;   // the subflows that may be other than that since, a bit each
    Scheduler scheduler = MinRtt(Options(MinRtt::kInfo, {}));
    bool is_work_conserving = false;  // the only subflow that is available is taken, whichever it is
    bool is_plain = false;            // one subflow and no send buffer: nothing to schedule, nothing to wait for
    bool has_backups = false;
    // No subflow has room, nor anything to repair or to send that its pacing holds back: until something happens to
    // one, none can send. Known to be so: where it is false, it may be so all the same.
    bool is_full = false;
    bool calls_agent = false;                   // the agent of its subflows acts when they have news, not by the clock
    bool pushes_ahead = false;                  // data is bound to subflows ahead of their windows
    bool hands_otherwise = false;               // that, or the scheduler wants copies
    Copies copies = Copies::None;               // whether the scheduler wants every packet on every subflow
    Boxed<AlgorithmChoice> changed_controller;  // that an event has put in place of the flow's
    Boxed<DecisionLog> decisions;               // of the scheduler, if they are recorded; only over several subflows
    Boxed<PacketLog> captured;                  // of its packets, if somebody wants to see them

    // Sending end: data numbers [data_una, data_nxt) are handed out and not yet DATA_ACKed.
    bool is_started = false;
    Nanos started_at = kNever;
    std::uint32_t data_una = 0;
    std::uint32_t data_nxt = 0;
    std::uint32_t data_end = Reassembly::kUnlimited;  // one past the last; the stop time lowers it to data_nxt
    std::uint32_t right_edge = Reassembly::kUnlimited;
    std::uint32_t send_buffer_pkts = Reassembly::kUnlimited;  // handed out and not DATA_ACKed, at most
    std::uint32_t payload_bytes = 0;                          // of a full packet
    std::uint32_t header_bytes = 0;                           // of a data packet
    std::uint32_t last_payload_bytes = 0;                     // of packet data_end - 1 of a finite transfer
    std::uint32_t last_data_seq = Reassembly::kUnlimited;
    std::uint32_t final_data_seq = Reassembly::kUnlimited;  // last_data_seq, or what the stop time left it at
    bool is_stopped = false;                                // was told to send nothing new any more
    Ring<std::uint64_t> sent_on;       // [data_una, data_nxt): mask of subflows, kReinjected, kQueued; multipath only
    Ring<std::uint32_t> reinjections;  // data numbers to send again on another subflow
    std::int64_t reinjected_pkts = 0;  // handed to a subflow although they had been sent before
    Nanos data_acked_at{};             // when the DATA_ACK moved last, or the flow started; multipath only
    MetaTimer meta_timer;
    std::int64_t copied_pkts = 0;  // handed to a subflow because the scheduler wants everything on all of them

    bool signals_addresses = false;     // events have its receiving end announce or withdraw some
    std::uint32_t taken_addresses = 0;  // of those announced
    bool waits_to_join = false;         // further subflows do, until the first one is acknowledged data

    // What arrives is put into order afterwards: data_lane.h. `data_una` is then what the sender made sure of last.
    bool defers_data = false;
    std::uint32_t heard_acks = 0;  // acknowledgements since then
    std::uint32_t arrival_turn = 0;

    // Receiving end
    Reassembly reassembly;
    std::int64_t delivered_bytes = 0;  // payload handed to the application, in order
    Nanos completed_at = kNever;
    Nanos ended_at = kNever;  // completed, or everything arrived that was sent before the stop

    DatagramSource datagrams;  // of a flow that sends them

    static constexpr std::uint32_t kAll = ~std::uint32_t{0};
    static constexpr std::uint64_t kReinjected = std::uint64_t{1} << 63;  // once after a timeout
    static constexpr std::uint64_t kQueued = std::uint64_t{1} << 62;      // waits among the reinjections

    std::size_t heap_bytes() const {
        return heap_bytes_of(scheduler, changed_controller, decisions, captured, sent_on, reinjections, reassembly,
                             siblings, rates);
    }
    bool is_multipath() const { return subflow_count > 1; }
    // Started, and neither complete nor stopped with everything arrived.
    bool is_active(Nanos now) const { return is_started && ended_at > now; }
    // Whether the only subflow that has room is given what there is, as soon as it is heard of.
    bool may_rest() const {
        return is_multipath() && is_work_conserving && copies == Copies::None && reinjections.empty() && !decisions &&
               !calls_agent;
    }
    bool send_buffer_is_full() const { return data_nxt - data_una >= send_buffer_pkts; }
    // There is new data, and neither the receiver nor the send buffer keeps it from being sent.
    bool has_new_data() const { return data_nxt < data_end && data_nxt < right_edge && !send_buffer_is_full(); }
    std::uint32_t payload_of(std::uint32_t data_seq) const {
        return data_seq == last_data_seq ? last_payload_bytes : payload_bytes;
    }
};

// A handshake under way, at the end that began it.
struct Opening {
    HandshakeStep sent = HandshakeStep::Syn;
    std::uint8_t timeouts = 0;       // of the packet sent last
    std::uint8_t retransmitted = 0;  // SYNs
    bool is_announced = false;       // has not begun: the address is being announced to the end that is to begin
    bool waits = false;              // has not begun: a further subflow, before the connection is there
    Nanos rtt{};                     // that its SYN took
};

// Which packets of a subflow are looked at: they are captured, or may have something to say of marks.
enum Looks : std::uint8_t { kNoLooks = 0, kDepartures = 1, kArrivals = 2, kAcks = 4, kAnswers = 8, kAllLooks = 15 };

// One path's worth of a connection. Sender and receiver stand in one record because the simulator owns both hosts; they
// communicate through packets only.
struct alignas(kCacheLine) Subflow {
    // What each packet looks at on its way, in one line of the cache
    std::uint32_t connection = 0;
    std::uint8_t ordinal = 0;  // position in the connection
    std::uint8_t hops = 0;
    std::uint8_t ack_hops = 0;
    std::uint8_t incarnation = 0;  // counts re-openings
    bool is_established = false;
    bool is_potentially_failed = false;  // timed out and not heard of since (Linux MPTCP's pf)
    bool is_backup = false;              // carries data only while no other subflow is usable
    EcnMode ecn = EcnMode::Off;          // agreed on when it opened
    bool is_refused = false;             // by the receiving end, which answers SYNs with a reset
    std::uint8_t looks = kNoLooks;       // Looks
    std::uint32_t route = 0;             // into Network's table of hops
    std::uint32_t ack_route = 0;
    std::uint64_t random_stream = 0;  // what its draws are made from
    std::uint32_t acks_heard = 0;     // of its receiver, as far as its sender knows
    std::uint32_t ecn_field = 0;      // of new data packets, as it stands beside their numbers
    std::int64_t received_bytes = 0;  // payload, first arrivals on this subflow
    std::int64_t arrived_pkts = 0;    // data packets that got to the far end
    std::int64_t goodput_bytes = 0;   // payload delivered in order to the application that came by this subflow

    SubflowSender sender;
    SubflowReceiver receiver;
    ReceiveBuffer buffer;
    DataLane lane;

    std::array<std::uint32_t, 2> handshake_pkts{};  // that the sender and the receiver have sent
    Nanos join_at = kNever;  // establishment under way: when it is there, or what its handshake waits for is overdue
    Opening opening;
    Nanos penalised_others_at = Nanos(-kNever.value);  // last time it had slower subflows penalised

    double schedule_logit = 0;       // what an agent wants it to have of what is handed out (Candidate::logit)
    std::uint32_t copied_below = 0;  // where each packet goes out on every subflow: what this one is through with

    EcnReceived marks;              // that its receiver has seen
    std::int64_t marked_pkts = 0;   // the same, its predecessors' included
    std::int64_t dropped_pkts = 0;  // data packets lost in the network
    std::int64_t lost_pkts = 0;     // those of them that were sent within the measured interval
    Boxed<SenderStats> at_end;      // as its sender's stood when the flow ended, if they went on after that

    // Before a timer, an event or an agent changes the window of a flow that may have ended.
    void note_end(const Connection& of, Nanos now) {
        if (!at_end && of.ended_at < now) at_end.emplace(sender.stats_at_end(of.ended_at));
    }

    // Has the processor fetch what an acknowledgement touches.
    void fetch() const { fetch_some(this, 1, kFetchedBytes); }
    static constexpr std::size_t kFetchedBytes = 448;

    std::size_t heap_bytes() const { return heap_bytes_of(sender, receiver, lane, at_end); }
};

}  // namespace subflow
