// The state of a simulated network, and the clock that advances it.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "ack_timers.h"
#include "agent/learning_agents.h"
#include "connection.h"
#include "decision_table.h"
#include "event_queue.h"
#include "fate.h"
#include "link.h"
#include "marks.h"
#include "measurement.h"
#include "one_way_delay.h"
#include "packet.h"
#include "scenario.h"
#include "timeline.h"

namespace subflow {

// A finished monitor interval of one subflow.
struct SubflowInterval {
    std::uint32_t subflow = 0;
    IntervalRecord record;
};

// Copyable: a copy is a snapshot, and its run equals that of the original bit for bit. Networks are independent of each
// other; the Scenario must outlive them.
class Network {
public:
    // Throws ScenarioError if the scenario is invalid.
    Network(const Scenario& scenario, std::uint64_t seed);

    // Defined in network.cpp, so that they are compiled once and not in each file that uses a network.
    Network(const Network&);
    Network(Network&&) noexcept;
    Network& operator=(const Network&);
    Network& operator=(Network&&) noexcept;
    ~Network();

    // Processes every event up to and including `until`, and advances the clock to this time. Returns false if the run
    // stops earlier, because agents wait for their actions (is_waiting()).
    bool run_until(Nanos until) {
        std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
        return run_until(until, unlimited);
    }
    // Like the function above, but also stops, and returns false, soon after `max_events` events. Subtracts the
    // processed events from `max_events`. After any stop, all state can be read, and the next call continues from
    // there: the result of the run does not depend on the stops.
    bool run_until(Nanos until, std::int64_t& max_events);

    // Applies these changes one nanosecond from now, after all events of the scenario at that time; their `at` is
    // ignored. From then on, the run equals bit for bit a run in which the changes were the last events of the scenario
    // at that time. Returns that time. Throws ScenarioError, without changing anything, if a change is invalid or
    // agents wait for their actions.
    Nanos apply(std::span<const EventSpec> changes);

    // Changes applied so far, in order.
    const std::vector<EventSpec>& live_changes() const { return timeline_.live_changes(); }

    Nanos now() const { return now_; }
    const Scenario& scenario() const { return *scenario_; }
    std::uint64_t seed() const { return seed_; }

    // Hash over all deliveries, drops and timeouts so far. Equal for equal (scenario, seed, version), whatever the
    // stops of run_until, the threads or the build type.
    std::uint64_t signature() const;
    // Data packets and datagrams that reached their destination host.
    std::int64_t packets_delivered() const { return packets_delivered_; }
    // [subflow] Data packets and datagrams on links now, counted by a scan of the links.
    std::vector<std::int64_t> packets_in_flight() const;
    // Packets offered to links, including ACKs. The work of a run is proportional to this number.
    std::int64_t link_crossings() const;

    SubflowResult subflow_result(std::size_t index) const { return measurement_.subflow_result(*this, index); }
    FlowResult flow_result(std::size_t index) const { return measurement_.flow_result(*this, index); }
    LinkResult link_result(std::size_t index) const { return measurement_.link_result(*this, index); }

    // For observers, which must not change the state.
    std::vector<Link>& links() { return links_; }
    const std::vector<Link>& links() const { return links_; }
    const std::vector<Medium>& media() const { return media_; }
    const std::vector<Subflow>& subflows() const { return subflows_; }
    const std::vector<Connection>& connections() const { return connections_; }
    // One past the last subflow whose delays are measured.
    std::size_t measured_subflows() const { return delays_.size(); }
    // One-way delays of a subflow; nullptr if its flow does not measure them.
    const OneWayDelay* delays_of(std::size_t subflow) const {
        return subflow < delays_.size() && delays_[subflow] ? &*delays_[subflow] : nullptr;
    }

    // Events of the run (marks.h) since the last call, in order of time. The log is bounded; marks_lost() counts the
    // marks beyond its capacity.
    std::vector<Mark> take_marks() { return marks_.take(); }
    std::int64_t marks_lost() const { return marks_.lost(); }

    // The monitor intervals finished since the last call, of all subflows that use them, in the order of their end.
    // Bounded per subflow (IntervalMonitor::kRecordCapacity); intervals_lost() counts the records discarded, the oldest
    // first.
    std::vector<SubflowInterval> take_intervals();
    std::int64_t intervals_lost() const;

    // From now on, the controllers and schedulers of all flows record reasons for their decisions (decision.h). Does
    // not change the run. Each subflow and each multipath connection has a log; a copy of the network copies the logs.
    void record_decisions(const DecisionLog::Limits& limits);
    // Takes all recorded decisions and empties the logs. Without record_decisions(), the table is empty.
    DecisionTable take_decisions();
    // Rules of all scripts of the scenario and of later changes: kScriptHooks rules per script. Rule i of this list has
    // the number all_rules().size() + i in a DecisionTable. Scripts of later changes are appended, so that numbers stay
    // valid.
    std::vector<const RuleInfo*> script_rules() const;
    const std::vector<std::shared_ptr<const ScriptProgram>>& scripts() const { return programs_; }
    // Owner of a script: the flow for a scheduler; for a controller also the position of the subflow in its flow.
    struct Owner {
        std::uint32_t flow = 0;
        std::optional<std::uint32_t> subflow;
    };
    std::optional<Owner> owner_of_script(const void* script) const;
    // Fill level of the fullest log of decisions, from 0 to 1.
    double decisions_fill() const;
    // Decisions since the start that were discarded because their log was full.
    std::int64_t decisions_lost() const;

    // From now on, the packets of a flow are recorded when they leave and reach its hosts, up to `capacity` records
    // that have not been taken. Does not change the run; a copy of the network copies the records.
    void capture_packets(std::uint32_t flow, std::size_t capacity);
    // Takes the records until now, of all captured flows, in order of time.
    PacketTable take_packets();
    // Packets that were not recorded because the log was full.
    std::int64_t packets_not_captured() const;

    // From now on, the fates of the packets of a flow and the losses that its senders notice are recorded (fate.h), at
    // most `capacity` of each. Does not change the run; a copy of the network copies the records. Packets sent before
    // this call have incomplete records. A later call replaces the records.
    void record_fates(std::uint32_t flow, std::size_t capacity);
    // The losses noticed so far with the fates of their packets, and all drops and marks so far.
    LossTable losses() const;
    FateTable fates() const;
    // Packets without a record, because the log was full.
    std::int64_t fates_lost() const;

    // True if learning agents with an Outside decider must act. run_until() then stops before its end, at the time at
    // which all of these agents act; each needs a call of act() before the run can continue.
    bool is_waiting() const { return agents_.is_waiting(); }
    const std::vector<Agent>& agents() const { return agents_.all(); }
    // `action`: [acting subflow, action_width], clamped to the bounds of the action.
    void act(std::uint32_t agent, std::span<const float> action);
    // From now on, the observations, actions and rewards of agents are kept until they are taken; their actions also
    // become marks. Does not change the run, and has no effect without agents.
    void record_agent_steps() { agents_.record_steps(); }
    AgentStepTable take_agent_steps() { return agents_.take_steps(); }
    // Decisions that were discarded because the table was full.
    std::int64_t agent_steps_lost() const { return agents_.steps_lost(); }
    // The agent that controls a subflow; nullptr if no agent does.
    const Agent* agent_steering(std::uint32_t subflow) const { return agents_.steering(subflow); }
    // Reward of the agent that controls a subflow for its latest epoch with an action; empty before the second
    // decision.
    std::optional<double> latest_reward(std::uint32_t subflow) const { return agents_.latest_reward(subflow); }
    // Ends the current epoch early, for callers that stop between epochs: the agent gets its observation and reward at
    // the current time. Returns false if no action waits for its reward, if the epoch has lasted less than half the
    // length of the previous one, or if no subflow is visible.
    bool end_epoch(std::uint32_t agent) { return agents_.end_epoch(agents_reach(), agent); }
    // True if the subflow is established and its connection still has data to send, or data without DATA_ACK.
    bool is_under_way(const Subflow& s) const {
        const Connection& c = connections_[s.connection];
        return s.is_established && c.is_started && c.data_una < c.data_end;
    }
    // True if a learning agent can observe a subflow: it is under way and has an RTT sample.
    bool can_be_seen(const Subflow& s) const { return is_under_way(s) && s.sender.rtt().has_sample(); }

    // Prefetches the memory that the next events read. For callers that run many networks in turn for short times, so
    // that each network finds its data evicted from the processor's caches. A level reads pointers that the previous
    // level fetched: calling one level for all networks before the next overlaps their fetches. Does not change the
    // run.
    static constexpr std::uint32_t kFetchLevels = 4;
    void fetch_ahead(std::uint32_t level) const;

    // Heap memory, without the scenario and policies.
    std::size_t heap_bytes() const;
    // The link direction or flow, including its subflows, with the most heap memory.
    struct Fullest {
        bool is_link = false;
        std::uint32_t index = 0;
        std::size_t bytes = 0;
    };
    Fullest fullest() const;

    // Throws InternalError unless packets are conserved on every link and for every subflow, windows and sequence
    // numbers are consistent, every byte was delivered once, and no event remains in the past. Builds with
    // SUBFLOW_VALIDATE also check senders and the order of events during the run.
    void check_invariants() const;

private:
    // Next step of a subflow's packets after a link.
    enum class Leads : std::uint8_t {
        ToEvent,     // other events may come first: packets wait on the link until the clock reaches their arrival
        ToNextHop,   // a link to which packets can be offered ahead of the clock
        ToReceiver,  // a receiver that can process packets ahead of the clock
    };
    struct Hop {
        std::uint32_t link = 0;
        Leads leads = Leads::ToEvent;
    };

    // Sources of events, in the order that decides ties: links, subflow timers, ACK timers, connections' timers,
    // agents.
    std::uint32_t link_source(std::uint32_t link) const { return link; }
    std::uint32_t timer_source(std::uint32_t subflow) const { return first_timer_ + subflow; }
    std::uint32_t ack_timer_source(std::uint32_t subflow) const { return first_ack_timer_ + subflow; }
    std::uint32_t meta_timer_source(std::uint32_t flow) const { return first_meta_timer_ + flow; }
    std::uint32_t agent_source(std::uint32_t agent) const { return first_agent_ + agent; }

    bool process_events(Nanos until, std::int64_t& max_events);
    std::int64_t process_stretch();
    Nanos on_event(std::uint32_t source);
    void fetch_next();
    void on_timeline();
    void plan_lookahead();
    void replan_lookahead();
    void order_held_links();
    void group_ack_timers(const std::vector<bool>& is_order_free, const std::vector<std::uint32_t>& answering);
    bool may_defer_data(const Connection& connection) const;
    void stop_deferring(Connection& connection);
    void hear(Connection& connection, Subflow& s, std::uint32_t position);
    // Updates data_una from all acknowledgements so far.
    void read_data_acks(Connection& connection) {
        if (connection.heard_acks != 0) settle_acked(connection);
    }
    SF_INLINE bool has_new_data(Connection& connection) {
        if (connection.has_new_data()) [[likely]]
            return true;
        read_data_acks(connection);
        return connection.has_new_data();
    }
    void settle_acked(Connection& connection);
    void settle(Connection& connection, std::uint32_t ordinal, DataLane::Arrival& arrival);
    void settle_all();
    void settle_before(Connection& connection, Nanos end);
    void note_end(Subflow& s);
    std::uint32_t hop_of(const Packet& p) const {
        const Subflow& s = subflows_[p.subflow];
        return (p.goes_back() ? s.ack_route : s.route) + p.hop;
    }
    std::int64_t carry_held_packets();
    void carry_served(Link& link);
    Nanos on_link_event(std::uint32_t link);
    Nanos on_subflow_timer(std::uint32_t subflow);
    void on_timed_out(std::uint32_t subflow);
    Nanos on_ack_timer(std::uint32_t subflow);
    Nanos on_meta_timer(std::uint32_t flow);

    void begin_measurement();
    void start_flow(std::uint32_t flow);
    void stop_flow(std::uint32_t flow);
    void apply_change(const EventSpec& change);
    void change_link(const EventSpec& change);
    void change_controller(const EventSpec& change);
    void change_priority(const EventSpec& change);
    void note_backups(Connection& connection);
    void open_subflow(std::uint32_t subflow);
    void close_subflow(std::uint32_t subflow);
    void establish(std::uint32_t subflow);
    Nanos base_rtt(const Subflow& s) const;

    // network_handshake.cpp: the packets that open a subflow
    void begin_handshake(std::uint32_t subflow);
    void send_handshake(std::uint32_t subflow, HandshakeStep step, Nanos echo, Nanos at, std::uint32_t address = 0);
    void on_handshake_at_receiver(const Packet& packet, Subflow& s, Connection& c, Nanos at);
    void on_handshake_at_sender(const Packet& packet, Subflow& s, Connection& c);
    void on_handshake_timeout(std::uint32_t subflow);
    void give_up(std::uint32_t subflow);
    void begin_joins(Connection& connection);

    // network_paths.cpp: addresses that are announced and withdrawn
    void change_address(const EventSpec& change);
    std::optional<std::uint32_t> carrier(const Connection& connection, std::uint32_t other_than) const;
    void announce(std::uint32_t subflow);
    void send_announcement(std::uint32_t subflow);
    void on_announcement_timeout(std::uint32_t subflow);
    void withdraw(std::uint32_t subflow);
    void on_signal(const Packet& packet, std::uint32_t by);
    void take_address(std::uint32_t subflow);
    bool may_join(const Connection& connection) const;

    SubflowSender make_sender(const Controller& controller, const Connection& c, const Subflow& s) const;

    template <PacketKind kKind>
    void carry(std::uint32_t hop, Packet& packet, Subflow& s, Connection& c, Nanos at);
    template <PacketKind kKind>
    bool has_left(Hop here, const Packet& packet, Subflow& s, Connection& c, Nanos at);
    template <PacketKind kKind>
    [[gnu::noinline]] void carry_marked(std::uint32_t hop, Packet packet, Subflow& s, Connection& c, Nanos offered_at);
    void carry_on(Packet& packet, Nanos at);
    template <PacketKind kKind>
    void receive(const Packet& packet, Subflow& s, Connection& c, Nanos at);
    template <PacketKind kKind>
    void on_dropped(std::uint32_t seq, std::uint32_t extension, std::uint32_t subflow, Nanos sent, Nanos at);
    void on_dropped(std::uint32_t link, const Packet& packet, Verdict verdict, Nanos at);
    // Removes the packets that a link has dropped after accepting them, and records those that it has marked.
    void take_refused(std::uint32_t link);
    [[gnu::cold, gnu::noinline]] void note_fate(std::uint32_t link, const Packet& packet, Verdict verdict, Nanos at);
    void note_arrival(const Packet& packet, Nanos at);
    void attend(std::uint32_t link);
    void join_media();
    void update_medium(std::uint32_t link);
    void access_medium(std::uint32_t link);
    void end_hidden(Medium& medium);
    void on_data(const Packet& packet, Subflow& s, Connection& c, Nanos at);
    // Not inlined: it needs so many registers that carry_on() would have to spill its own to the stack.
    [[gnu::noinline]] void on_ack(const Packet& packet, Subflow& s, Connection& c);
    void take_data(Connection& c, std::uint32_t ordinal, std::uint32_t data_seq, Nanos at);
    void send_ack(Subflow& s, Connection& c, std::uint32_t index, Nanos at);
    void send_delayed_ack(Subflow& s, Connection& c, std::uint32_t index, Nanos at);
    // Earliest time at which a delayed ACK may have to leave before a packet of this subflow that arrives later.
    Nanos ack_due(const Subflow& s) const {
        return s.ack_group == kNoAckGroup ? s.receiver.ack_deadline() : ack_timers_[s.ack_group].due();
    }
    void send_due_acks(Subflow& s, Connection& c, std::uint32_t index, Nanos at);
    void expire_first(AckTimers& timers);
    // Sets the timer of a delayed ACK, unless an earlier one wakes the receiver anyway.
    void set_ack_timer(Subflow& s, std::uint32_t index) {
        if (s.receiver.ack_deadline() < s.receiver.ack_timer()) [[unlikely]]
            add_ack_timer(s, index);
    }
    [[gnu::noinline]] void add_ack_timer(Subflow& s, std::uint32_t index);
    void fetch_extensions(std::uint32_t first) const;
    std::uint32_t make_extension(const AckExtension& content);
    void start_datagrams(std::uint32_t subflow);
    void send_datagrams(std::uint32_t subflow);

    // Hands packets to subflows while windows, data and scheduler permit.
    void fill(Connection& connection);
    void fill_single_path(Connection& connection);
    void fill_one(Connection& connection, Subflow& s, std::uint32_t index);
    void retransmit_lost(Connection& c, Subflow& s, std::uint32_t index);
    void hand_over(Connection& c, Subflow& s, std::uint32_t index, std::uint32_t data_seq);
    void hand_over_in_turn(Connection& connection, std::size_t position, std::uint32_t data_seq);
    void send_everywhere(Connection& connection);
    void send_copies(Connection& connection, std::uint32_t position);
    bool has_queued(Connection& c, Subflow& s);
    void send_queued(Connection& c, Subflow& s, std::uint32_t index);
    void send_probe(std::uint32_t subflow);
    enum class Sent : bool { First, Again };
    void transmit(Connection& c, Subflow& s, std::uint32_t index, const Transmission& sent, Sent which = Sent::First);
    void transmit_again(Connection& c, Subflow& s, std::uint32_t index, const Transmission& sent);
    bool send_next(Connection& connection);
    static bool is_usable(const Subflow& s) {
        return s.is_established && !s.is_potentially_failed && s.sender.state() != SenderState::Loss;
    }
    // True if the sender of a subflow accepts a packet now, even if the subflow is not usable. With several subflows,
    // data is assigned to a subflow before pacing permits sending it and waits there, as in Linux, so that a scheduler
    // sees each backlog. With one subflow, data waits in the connection.
    bool has_room(const Connection& c, const Subflow& s) const {
        return s.sender.has_room() && (c.is_multipath() || s.sender.pacing_allows(now_));
    }
    std::size_t choose_subflow(Connection& connection, std::uint32_t data_seq, std::uint64_t sent_on);
    std::size_t ask_scheduler(Connection& connection, std::uint32_t data_seq, std::uint64_t sent_on);
    std::optional<std::size_t> consult_scheduler(Connection& connection, std::uint32_t data_seq, std::uint64_t sent_on,
                                                 Reason* why);
    void describe_candidates(const Connection& c, std::uint64_t sent_on);
    Candidate describe_candidate(const Connection& c, const Subflow& s) const;
    bool has_active(const Connection& connection) const;  // true if a usable subflow is not a backup
    void disable_backups(const Connection& connection);
    SendMoment describe_send(const Connection& connection, bool is_reinjection) const;
    std::vector<OwnedLog> decision_logs() const;
    void note_script(const AlgorithmChoice& choice);
    void record_choice(Connection& connection, std::uint32_t data_seq, std::optional<std::size_t> choice);
    void record_only_choice(Connection& connection, std::uint32_t data_seq, std::size_t choice);
    void record_copy(Connection& connection, std::uint32_t data_seq, std::size_t position);
    // Not inlined: captures and measured delays are rare, and the callers are on the path of every packet.
    [[gnu::noinline]] void note_packet(Connection& connection, const Packet& packet, Station station, Nanos at);
    void measure_delay(OneWayDelay& delays, const Packet& packet, Station station, Nanos at);
    OneWayDelay* delays_at(std::size_t subflow) {
        return subflow < delays_.size() && delays_[subflow] ? &*delays_[subflow] : nullptr;
    }

    // network_ecn.cpp: marks, and their reports between the ends
    void agree_on_ecn(Subflow& s, const Connection& c, const Controller& controller);
    void update_packet_checks(Subflow& s, const Connection& c);
    // True if a packet needs the slow path, for subflows whose `looks` include its kind.
    static bool is_unusual_data(const Packet& packet, const Subflow& s, const Connection& c) {
        return packet.transmission >= Packet::bits_of(Ecn::Marked) || s.marks.echoes || c.is_observed;
    }
    static bool is_unusual_answer(const Packet& ack, const Subflow& s, const Connection& c) {
        return s.sender.is_news(ack.transmission >> Packet::kNumberBits, ack.seq) || ack.extension != kNoExtension ||
               c.is_observed;
    }
    [[gnu::cold, gnu::noinline]] std::uint32_t with_ecn_mark(Packet packet, Sent which, Subflow& s, Connection& c);
    [[gnu::noinline]] void on_ecn_arrival(const Packet& packet, Subflow& s, Connection& c, Nanos at);
    [[gnu::noinline]] void note_ecn_echo(Packet ack, Subflow& s, Connection& c, Nanos at);
    const EcnOption* ecn_option(const Packet& ack, const Subflow& s) const;
    [[gnu::noinline]] void on_ecn_answer(const Packet& ack, Subflow& s, Connection& c);
    void on_reduced(MarkKind why, std::uint32_t subflow, double cwnd_pkts);
    void ack_before_change(Subflow& s, Connection& c, std::uint32_t index, Nanos at);
    EcnHeader ecn_header(const Packet& packet, const Subflow& s) const;
    void reinject(Connection& connection, const Subflow& from, bool is_closed);
    void send_again(Connection& connection, std::size_t position, std::uint32_t data_seq);

    // network_meta.cpp: reactions of the connection when its window or a subflow stalls
    void act_when_blocked(Connection& connection);
    void penalise_holders(Connection& connection, std::size_t fast);
    bool is_held_up_elsewhere(const Connection& connection, std::size_t fast) const;
    bool has_room(const Connection& connection) const;
    void start_meta_timer(std::uint32_t flow);
    Nanos shortest_meta_timeout() const;
    Nanos meta_timeout(const Connection& connection) const;

    // network_push.cpp: data that is assigned to subflows before their windows have room
    Socket describe_socket(const Subflow& s) const;
    SocketsView describe_sockets(const Connection& connection);
    void size_send_buffer(Connection& connection);
    void push_pending(Connection& connection);
    void set_push_timer(Connection& connection);
    bool push_next(Connection& connection);
    std::optional<std::size_t> choose_to_push(Connection& connection, std::uint32_t data_seq);
    void send_all_again(Connection& connection);
    Nanos on_push_timer(std::uint32_t flow);

    LearningAgents::Reach agents_reach() { return {*this, subflows_, marks_}; }
    void schedule_agent(std::uint32_t agent) { events_.schedule(agent_source(agent), agents_[agent].due); }
    bool calls_agent(std::uint32_t subflow);
    Nanos on_epoch(std::uint32_t agent);

    void on_data_ack(Connection& connection, std::uint32_t data_ack, Nanos at);
    void end_if_delivered(Connection& connection, Nanos at);
    Sibling describe_sibling(const Subflow& s) const;
    Siblings gather_siblings(Connection& connection, std::uint32_t self);

    // A sum, so that the signature does not depend on the order in which packets are carried ahead of the clock.
    void mix_signature(Nanos at, std::uint32_t subflow, std::uint32_t seq) {
        signature_ += mix64(static_cast<std::uint64_t>(at.value) ^ static_cast<std::uint64_t>(seq) << 32 ^
                            static_cast<std::uint64_t>(subflow) << 20);
    }
    bool is_current(const Subflow& s, const Packet& p) const { return s.incarnation == p.incarnation(); }

    const Scenario* scenario_;
    std::uint64_t seed_;
    Nanos now_{};
    std::uint64_t signature_ = 0;
    Nanos stride_{1'000'000};  // length of the next stretch, from one horizon to the next
    Nanos horizon_{};          // packets are carried ahead of the clock up to this time
    std::int64_t packets_delivered_ = 0;

    EventQueue events_;
    std::uint32_t first_timer_ = 0;
    std::uint32_t first_ack_timer_ = 0;
    std::uint32_t first_meta_timer_ = 0;
    std::uint32_t first_agent_ = 0;
    std::vector<Link> links_;
    std::vector<Medium> media_;
    std::vector<Subflow> subflows_;
    std::vector<Connection> connections_;
    std::vector<Hop> hops_;  // hops of all paths, one path after the other
    std::vector<AckTimers> ack_timers_;
    std::vector<std::uint32_t> held_ahead_;  // links that may hold packets for the next stretch, downstream ones first

    std::vector<std::uint32_t> deferring_;  // flows whose arrivals are put into order later, or were until a change

    std::vector<AckExtension> ack_extensions_;
    // [subflow] AccECN options in the order of their first ACKs, without equal neighbours; only if receivers count
    // marks
    std::vector<Ring<EcnOption>> ecn_options_;
    Ring<std::uint32_t> free_extensions_;  // in order of release, so that ACKs then read slots in order

    std::vector<std::shared_ptr<const ScriptProgram>> programs_;  // without duplicates, in the order of the scenario

    Timeline timeline_;
    bool is_warming_up_ = false;
    Measurement measurement_;
    MarkLog marks_;
    LearningAgents agents_;
    // [subflow] beside the subflows, whose size would otherwise cost instructions at every look-up; empty after the
    // last flow that measures delays
    std::vector<Boxed<OneWayDelay>> delays_;
    Boxed<FateLog> fates_;  // empty unless fates are recorded

    // Scratch space for single calls. Members, so that a call for two subflows need not initialise arrays of 32.
    std::array<Candidate, kMaxSubflows> candidates_;
    std::array<Socket, kMaxSubflows> sockets_;
};

}  // namespace subflow
