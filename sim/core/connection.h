// Both ends of a flow's connection: one data stream over one or more subflows.
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

// Retransmission timer of the connection as a whole. Acknowledgements do not reschedule the timer, unless the scheduler
// pushes data ahead: when the timer expires, its handler computes the time since the last progress.
struct MetaTimer {
    Nanos backed_off{};               // timeout after the last expiry, until data_una advances; 0: no expiry yet
    Nanos expired_at{};               // time of the last expiry
    std::uint32_t una_at_expiry = 0;  // data_una at the last expiry
    std::int64_t expiries = 0;
    // For schedulers that push data ahead: time of expiry, data_una when the timer was set, duration of the next
    // setting, and time of the event that checks for expiry.
    Nanos due = kNever;
    std::uint32_t una_when_set = 0;
    Nanos patience{};
    Nanos looks_at = kNever;
};

struct Connection {
    FlowKind kind = FlowKind::Tcp;
    bool is_observed = false;  // packets are captured, or their delays are measured
    std::uint32_t first_subflow = 0;
    std::uint32_t subflow_count = 0;
    bool is_coupled = false;          // the controllers read the state of their siblings
    CommonState common;               // state shared by the controllers
    std::vector<Sibling> siblings;    // state of the subflows at the latest query by a controller
    std::vector<PathRate> rates;      // rates of the siblings
    std::uint32_t changed = kAll;     // bit mask of subflows that may have changed since that query
    Boxed<Scheduler> scheduler;       // empty for TCP and datagrams
    bool is_work_conserving = false;  // if only one subflow is available, the scheduler chooses it
    bool is_plain = false;            // one subflow and no send buffer limit: needs no scheduler
    bool has_backups = false;
    // True if no established subflow has room, lost packets or queued packets: no subflow can send until an event frees
    // room or marks a packet lost. False also if this is unknown, or if the scheduler may not be skipped.
    bool is_full = false;
    bool calls_agent = false;                   // the agent acts on events of its subflows, not by the clock
    bool pushes_ahead = false;                  // data is assigned to subflows before their windows have room
    bool has_special_fill = false;              // pushes_ahead, or the scheduler sends copies
    Copies copies = Copies::None;               // how the scheduler sends copies on several subflows
    Boxed<AlgorithmChoice> changed_controller;  // set by an event in place of the flow's controller
    Boxed<DecisionLog> decisions;               // decisions of the scheduler, if recorded; multipath only
    Boxed<PacketLog> captured;                  // packets of the connection, if they are captured

    // Sending end: data numbers [data_una, data_nxt) are handed out and not yet DATA_ACKed.
    bool is_started = false;
    Nanos started_at = kNever;
    std::uint32_t data_una = 0;
    std::uint32_t data_nxt = 0;
    std::uint32_t data_end = Reassembly::kUnlimited;  // one past the last packet; the stop time lowers it to data_nxt
    std::uint32_t right_edge = Reassembly::kUnlimited;
    std::uint32_t send_buffer_pkts = Reassembly::kUnlimited;  // limit on packets handed out and not DATA_ACKed
    std::uint32_t payload_bytes = 0;                          // payload of a full packet
    std::uint32_t header_bytes = 0;                           // headers of a data packet
    std::uint32_t last_payload_bytes = 0;                     // payload of packet data_end - 1 of a finite transfer
    std::uint32_t last_data_seq = Reassembly::kUnlimited;
    std::uint32_t final_data_seq = Reassembly::kUnlimited;  // last_data_seq, or the last packet before the stop time
    bool is_stopped = false;                                // sends no new data after its stop time
    Ring<std::uint64_t> sent_on;       // [data_una, data_nxt): mask of subflows, kReinjected, kQueued; multipath only
    Ring<std::uint32_t> reinjections;  // data numbers to send again, on another subflow if one is usable
    std::int64_t reinjected_pkts = 0;  // packets that were handed to a subflow again
    Nanos data_acked_at{};             // time of the latest DATA_ACK progress, or of the start; multipath only
    MetaTimer meta_timer;
    std::int64_t copied_pkts = 0;  // copies handed out for schedulers that send copies

    bool signals_addresses = false;     // events announce or withdraw addresses of the receiving end
    std::uint32_t taken_addresses = 0;  // announced addresses that were accepted
    bool waits_to_join = false;         // further subflows wait until data on the first is acknowledged

    // True if arrivals are put into order later (data_lane.h). `data_una` is then the value at the last settlement.
    bool defers_data = false;
    std::uint32_t heard_acks = 0;  // acknowledgements received since the last settlement
    std::uint32_t arrival_turn = 0;

    // Receiving end
    Reassembly reassembly;
    std::int64_t delivered_bytes = 0;  // payload handed to the application, in order; datagrams: arrived payload
    Nanos completed_at = kNever;
    Nanos ended_at = kNever;  // completed, or stopped with all sent data arrived; datagrams: stopped

    Boxed<DatagramSource> datagrams;  // empty unless the flow sends datagrams

    static constexpr std::uint32_t kAll = ~std::uint32_t{0};
    static constexpr std::uint64_t kReinjected = std::uint64_t{1} << 63;  // sent again after a timeout
    static constexpr std::uint64_t kQueued = std::uint64_t{1} << 62;      // listed in `reinjections`

    std::size_t heap_bytes() const {
        return heap_bytes_of(scheduler, datagrams, changed_controller, decisions, captured, sent_on, reinjections,
                             reassembly, siblings, rates);
    }
    bool is_multipath() const { return subflow_count > 1; }
    // True if the flow has started and is neither complete nor stopped with all sent data arrived.
    bool is_active(Nanos now) const { return is_started && ended_at > now; }
    // True if the only subflow with room always gets the new data, without a query of scheduler or agent.
    bool may_skip_scheduler() const {
        return is_multipath() && is_work_conserving && copies == Copies::None && reinjections.empty() && !decisions &&
               !calls_agent;
    }
    bool send_buffer_is_full() const { return data_nxt - data_una >= send_buffer_pkts; }
    // True if new data exists and neither the receive window nor the send buffer blocks it.
    bool has_new_data() const { return data_nxt < data_end && data_nxt < right_edge && !send_buffer_is_full(); }
    std::uint32_t payload_of(std::uint32_t data_seq) const {
        return data_seq == last_data_seq ? last_payload_bytes : payload_bytes;
    }
};

// A handshake in progress, at the end that initiated it.
struct Opening {
    HandshakeStep sent = HandshakeStep::Syn;
    std::uint8_t timeouts = 0;       // timeouts of the SYN; is_announced: announcements sent
    std::uint8_t retransmitted = 0;  // SYNs retransmitted before the SYN-ACK
    bool is_announced = false;       // not begun: the address announcement is still under way
    bool waits = false;              // not begun: a further subflow that must wait to join
    Nanos rtt{};                     // RTT of the SYN
};

// Packets of a subflow that need the slow path, because they are observed or may carry ECN information; or the arrivals
// of data before which timers of other receivers may expire.
enum Looks : std::uint8_t {
    kNoLooks = 0,
    kDepartures = 1,
    kArrivals = 2,
    kAcks = 4,
    kAnswers = 8,
    kAllLooks = 15,
    kSharedTimers = 16
};

// Subflow::ack_group if a timer of the subflow's own in EventQueue is in use.
inline constexpr std::uint16_t kNoAckGroup = 0xffff;

// Use of one path by a connection. Sender and receiver are in one record because the simulator owns both hosts; they
// communicate through packets only.
struct alignas(kCacheLine) Subflow {
    // Fields that the processing of every packet reads, in one cache line
    std::uint32_t connection = 0;
    std::uint8_t ordinal = 0;  // position in the connection
    std::uint8_t hops = 0;
    std::uint8_t ack_hops = 0;
    std::uint8_t incarnation = 0;  // number of times the subflow was closed, modulo 64
    bool is_established = false;
    bool is_potentially_failed = false;     // no acknowledgement since a timeout (Linux MPTCP's pf)
    bool is_backup = false;                 // carries data only while no non-backup subflow is usable
    EcnMode ecn = EcnMode::Off;             // negotiated when the subflow opened
    bool is_refused = false;                // the receiving end answers SYNs with a reset
    std::uint8_t looks = kNoLooks;          // bit mask of Looks
    std::uint16_t ack_group = kNoAckGroup;  // index of the AckTimers in use
    std::uint32_t route = 0;                // index into Network's table of hops
    std::uint32_t ack_route = 0;
    std::uint64_t random_stream = 0;  // seed of the subflow's random draws
    std::uint32_t acks_heard = 0;     // number of the latest ACK that reached the sender, plus 1
    std::uint32_t ecn_field = 0;      // ECN field of new data packets, as in Packet::transmission
    std::int64_t received_bytes = 0;  // payload that arrived on this subflow for the first time
    std::int64_t arrived_pkts = 0;    // data packets and datagrams that reached the receiver, with duplicates
    std::int64_t goodput_bytes = 0;   // payload of this subflow that was delivered to the application in order

    SubflowSender sender;
    SubflowReceiver receiver;
    ReceiveBuffer buffer;
    DataLane lane;

    std::array<std::uint32_t, 2> handshake_pkts{};  // handshake packets sent by the sender and by the receiver
    Nanos join_at = kNever;                         // while opening: time of establishment, or of the next timeout
    Opening opening;
    Nanos penalised_others_at = Nanos(-kNever.value);  // when slower subflows were last penalised for this one

    double schedule_logit = 0;       // preference of a learning agent for this subflow (Candidate::logit)
    std::uint32_t copied_below = 0;  // schedulers that send copies: packets below were sent here or skipped

    EcnReceived marks;              // marks seen by the receiver
    std::int64_t marked_pkts = 0;   // marked packets at the receiver, of all incarnations
    std::int64_t dropped_pkts = 0;  // data packets and datagrams dropped in the network
    std::int64_t lost_pkts = 0;     // dropped packets that were sent within the measured interval
    Boxed<SenderStats> at_end;      // sender's statistics at the end of the flow; empty until they change after it

    // Saves the sender's statistics if the flow has ended. Call it before a timer, an event or an agent changes the
    // window.
    void note_end(const Connection& of, Nanos now) {
        if (!at_end && of.ended_at < now) at_end.emplace(sender.stats_at_end(of.ended_at));
    }

    // Prefetches the memory that an acknowledgement touches.
    void fetch() const { fetch_some(this, 1, kFetchedBytes); }
    static constexpr std::size_t kFetchedBytes = 448;
    // Prefetches the memory that a timer of a delayed ACK touches if it wakes early.
    void fetch_ack_timer() const {
        fetch_some(this, 1, kCacheLine);
        receiver.fetch_ack_timer();
    }

    std::size_t heap_bytes() const { return heap_bytes_of(sender, receiver, lane, at_end); }
};

}  // namespace subflow
