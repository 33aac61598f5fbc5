// The state of a simulated network and the clock that moves it.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "agent/learning_agents.h"
#include "connection.h"
#include "decision_table.h"
#include "event_queue.h"
#include "link.h"
#include "marks.h"
#include "measurement.h"
#include "packet.h"
#include "scenario.h"
#include "timeline.h"

namespace subflow {

// A finished monitor interval of one subflow.
struct SubflowInterval {
    std::uint32_t subflow = 0;
    IntervalRecord record;
};

// Copyable: a copy is a snapshot, and running the copy gives bit for bit what the original would. Any number of
// networks live side by side; the Scenario must outlive them.
class Network {
public:
    // Throws ScenarioError if the scenario is not usable.
    Network(const Scenario& scenario, std::uint64_t seed);

    // Compiled once, in network.cpp, and not by each file that has a network.
    Network(const Network&);
    Network(Network&&) noexcept;
    Network& operator=(const Network&);
    Network& operator=(Network&&) noexcept;
    ~Network();

    // Processes every event up to and including `until`; the clock then stands there. Returns whether it does: agents
    // that wait for their actions (is_waiting()) stop it before.
    bool run_until(Nanos until) {
        std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
        return run_until(until, unlimited);
    }
    // The same, but also stops soon after `max_events` events, which are subtracted from it. Wherever it stops,
    // everything can be read, and the next call goes on from there: the run is the same, however it is cut.
    bool run_until(Nanos until, std::int64_t& max_events);

    // Makes these changes, whose `at` does not matter, one nanosecond from now, behind whatever the scenario has for
    // that time. From then on everything is bit for bit as if they had been the last events of the scenario at that
    // time. Returns that time. Throws ScenarioError, and changes nothing, if one is not usable or agents wait for their
    // actions.
    Nanos apply(std::span<const EventSpec> changes);

    // Those made by now, in order.
    const std::vector<EventSpec>& live_changes() const { return timeline_.live_changes(); }

    Nanos now() const { return now_; }
    const Scenario& scenario() const { return *scenario_; }
    std::uint64_t seed() const { return seed_; }

    // Hash over every delivery, drop and timeout so far: equal for equal (scenario, seed, version), whatever the chunks
    // of run_until, the threads or the build type.
    std::uint64_t signature() const;
    // Data packets and datagrams that reached their destination host.
    std::int64_t packets_delivered() const { return packets_delivered_; }
    // [subflow] Data packets and datagrams that are on links now, each counted where it is.
    std::vector<std::int64_t> packets_in_flight() const;
    // Packets offered to links, ACKs included: what the work of a run is proportional to.
    std::int64_t link_crossings() const;

    SubflowResult subflow_result(std::size_t index) const { return measurement_.subflow_result(*this, index); }
    FlowResult flow_result(std::size_t index) const { return measurement_.flow_result(*this, index); }
    LinkResult link_result(std::size_t index) const { return measurement_.link_result(*this, index); }

    // For observers; nothing here may be changed.
    std::vector<Link>& links() { return links_; }
    const std::vector<Link>& links() const { return links_; }
    const std::vector<Medium>& media() const { return media_; }
    const std::vector<Subflow>& subflows() const { return subflows_; }
    const std::vector<Connection>& connections() const { return connections_; }

    // Marks since the last call; the log is bounded, and what did not fit is counted by marks_lost().
    std::vector<Mark> take_marks() { return marks_.take(); }
    std::int64_t marks_lost() const { return marks_.lost(); }

    // The monitor intervals that were finished since the last call, of all subflows that send by them, in the order in
    // which they were. Bounded per subflow (IntervalMonitor::kRecordCapacity); what did not fit, from the oldest on, is
    // counted by intervals_lost().
    std::vector<SubflowInterval> take_intervals();
    std::int64_t intervals_lost() const;

    // From now on the controllers and schedulers of all flows say why they do what they do: see decision.h. Changes
    // nothing of what happens. Each subflow and each connection of several has a log of its own; a copy of the network
    // has copies of them.
    void record_decisions(const DecisionLog::Limits& limits);
    // Empties the logs. Without record_decisions() there is nothing in them.
    DecisionTable take_decisions();
    // The rules of the scripts that run here or have run, which decisions name besides those of all_rules(): a number
    // of kScriptHooks for each. What is there stays where it is.
    std::vector<const RuleInfo*> script_rules() const;
    const std::vector<std::shared_ptr<const ScriptProgram>>& scripts() const { return programs_; }
    // Whose a controller or scheduler written as text is: a flow's, and one of its subflows' by position.
    struct Owner {
        std::uint32_t flow = 0;
        std::optional<std::uint32_t> subflow;
    };
    std::optional<Owner> owner_of_script(const void* script) const;
    // How full the fullest log is: 1 is its capacity.
    double decisions_fill() const;
    // Decisions since the start that their log had no room for.
    std::int64_t decisions_lost() const;

    // From now on the packets of a flow are noted as they leave and reach its hosts, up to `capacity` that have not
    // been taken. Changes nothing of what happens; a copy of the network has a copy of what is noted.
    void capture_packets(std::uint32_t flow, std::size_t capacity);
    // Those until now, of all flows that are captured, in order of time.
    PacketTable take_packets();
    // Packets that there was no room for between two calls.
    std::int64_t packets_not_captured() const;

    // Learning agents whose decider is Outside: run_until() stops, not having reached its end, when some of them have
    // to act, all at that instant; each then needs act() before it can go on.
    bool is_waiting() const { return agents_.is_waiting(); }
    const std::vector<Agent>& agents() const { return agents_.all(); }
    // `action`: [acting, action_width], brought within its bounds.
    void act(std::uint32_t agent, std::span<const float> action);
    // From now on what agents see, do and earn is kept until it is taken; their actions are marks as well. Changes
    // nothing of what happens, and does nothing without agents.
    void record_agent_steps() { agents_.record_steps(); }
    AgentStepTable take_agent_steps() { return agents_.take_steps(); }
    // Decisions that there was no room for between two calls.
    std::int64_t agent_steps_lost() const { return agents_.steps_lost(); }
    // The agent that steers a subflow; nullptr: none does.
    const Agent* agent_steering(std::uint32_t subflow) const { return agents_.steering(subflow); }
    // What the agent that steers a subflow earned in its latest epoch with an action; none before the second decision.
    std::optional<double> latest_reward(std::uint32_t subflow) const { return agents_.latest_reward(subflow); }
    // For whoever stops between epochs: ends the one under way, for an observation and a reward of now. Returns whether
    // there is any: an action without its reward, half as old as the one before got, and a subflow to see.
    bool end_epoch(std::uint32_t agent) { return agents_.end_epoch(agents_reach(), agent); }
    // Whether a subflow has something to send or to repair.
    bool is_under_way(const Subflow& s) const {
        const Connection& c = connections_[s.connection];
        return s.is_established && c.is_started && c.data_una < c.data_end;
    }
    // Whether it is there for a learning agent: that, and it has measured an RTT.
    bool can_be_seen(const Subflow& s) const { return is_under_way(s) && s.sender.rtt().has_sample(); }

    // For whoever runs many networks by turns, each a little, so that none finds in the processor's caches what it left
    // there: has it fetch what the next events read. Changes nothing. What one level names has to be there before the
    // next is asked for, so that the fetching of several networks overlaps.
    static constexpr std::uint32_t kFetchLevels = 4;
    void fetch_ahead(std::uint32_t level) const;

    // What it keeps on the heap, the scenario and policies aside.
    std::size_t heap_bytes() const;
    // The link direction, or else the flow with its subflows, that keeps most of it.
    struct Fullest {
        bool is_link = false;
        std::uint32_t index = 0;
        std::size_t bytes = 0;
    };
    Fullest fullest() const;

    // Throws InternalError unless packets are conserved on every link and for every subflow, windows and sequence
    // numbers make sense, every byte was delivered once, and no event was left behind. Builds with SUBFLOW_VALIDATE
    // check senders and event order as they go, too.
    void check_invariants() const;

private:
    // What lies at the end of a link for the packets of one subflow.
    enum class Leads : std::uint8_t {
        ToTheClock,  // something whose next step depends on what else happens by then: packets wait on the link
        ToNextHop,   // a link that may be offered them ahead of the clock
        ToReceiver,  // a receiving end that may take them ahead of the clock
    };
    struct Hop {
        std::uint32_t link = 0;
        Leads leads = Leads::ToTheClock;
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
    void fetch_next() const;
    void on_timeline();
    void plan_lookahead();
    void replan_lookahead();
    void order_held_links();
    bool may_defer_data(const Connection& connection) const;
    void stop_deferring(Connection& connection);
    void hear(Connection& connection, Subflow& s, std::uint32_t position);
    // Makes sure that data_una is what the acknowledgements so far say.
    void learn_data_acks(Connection& connection) {
        if (connection.heard_acks != 0) settle_heard(connection);
    }
    void settle_heard(Connection& connection);
    void settle(Connection& connection, std::uint32_t ordinal, DataLane::Arrival& arrival);
    void settle_all();
    void settle_before(Connection& connection, Nanos end);
    void note_end(Subflow& s);
    std::uint32_t hop_of(const Packet& p) const {
        const Subflow& s = subflows_[p.subflow];
        return (p.goes_back() ? s.ack_route : s.route) + p.hop;
    }
    std::int64_t carry_held_packets();
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

    // network_paths.cpp: addresses that are announced and taken back
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
    [[gnu::noinline]] void carry_marked(std::uint32_t hop, Packet packet, Subflow& s, Connection& c);
    void carry_on(Packet& packet, Nanos at);
    template <PacketKind kKind>
    void receive(const Packet& packet, Subflow& s, Connection& c, Nanos at);
    template <PacketKind kKind>
    void on_dropped(std::uint32_t seq, std::uint32_t extension, std::uint32_t subflow, Nanos sent, Nanos at);
    void on_dropped(const Packet& packet, Nanos at);
    void attend(std::uint32_t link);
    void join_media();
    void attend_medium(std::uint32_t link);
    void access_medium(std::uint32_t link);
    void end_hidden(Medium& medium);
    void on_data(const Packet& packet, Subflow& s, Connection& c, Nanos at);
    // Not inlined: what it keeps in registers would have those of carry_on() on the stack.
    [[gnu::noinline]] void on_ack(const Packet& packet, Subflow& s, Connection& c);
    void take_data(Connection& c, std::uint32_t ordinal, std::uint32_t data_seq, Nanos at);
    void send_ack(Subflow& s, Connection& c, std::uint32_t index, Nanos at);
    void send_delayed_ack(Subflow& s, Connection& c, std::uint32_t index, Nanos at);
    void fetch_extensions(std::uint32_t first) const;
    std::uint32_t make_extension(const AckExtension& content);
    void start_datagrams(std::uint32_t subflow);
    void send_datagrams(std::uint32_t subflow);

    // Hands packets to subflows for as long as windows, data and scheduler allow.
    void fill(Connection& connection);
    void fill_single_path(Connection& connection);
    void fill_one(Connection& connection, Subflow& s, std::uint32_t index);
    void retransmit_lost(Connection& c, Subflow& s, std::uint32_t index);
    void hand_over(Connection& connection, std::size_t position, std::uint32_t data_seq);
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
    // Whether a subflow may be handed a packet now. Where there are several, data is bound to one ahead of its pacing
    // and waits there, as in Linux, so that a scheduler sees what each already has to do; alone, it waits in the
    // connection.
    bool has_room(const Connection& c, const Subflow& s) const {
        return s.sender.has_room() && (c.is_multipath() || s.sender.pacing_allows(now_));
    }
    std::size_t choose_subflow(Connection& connection, std::uint32_t data_seq, std::uint64_t sent_on);
    std::size_t ask_scheduler(Connection& connection, std::uint32_t data_seq, std::uint64_t sent_on);
    std::optional<std::size_t> consult_scheduler(Connection& connection, std::uint32_t data_seq, std::uint64_t sent_on,
                                                 Reason* why);
    void describe_candidates(const Connection& c, std::uint64_t sent_on);
    Candidate describe_candidate(const Connection& c, const Subflow& s) const;
    bool has_active(const Connection& connection) const;  // a usable subflow that is no backup
    void bar_backups(const Connection& connection);
    SendMoment describe_send(const Connection& connection, bool is_reinjection) const;
    std::vector<OwnedLog> decision_logs() const;
    void note_script(const AlgorithmChoice& choice);
    void record_choice(Connection& connection, std::uint32_t data_seq, std::optional<std::size_t> choice);
    void record_only_choice(Connection& connection, std::uint32_t data_seq, std::size_t choice);
    void record_copy(Connection& connection, std::uint32_t data_seq, std::size_t position);
    // Not inlined: nearly always there is no capture, and its callers are the path of every packet.
    [[gnu::noinline]] void note_packet(Connection& connection, const Packet& packet, Station station, Nanos at);

    // network_ecn.cpp: marks, and what the ends tell each other of them
    void agree_on_ecn(Subflow& s, const Connection& c, const Controller& controller);
    void attend_to_packets(Subflow& s, const Connection& c);
    // Whether what a packet says has to be looked at, where packets of its kind are.
    static bool is_unusual_data(const Packet& packet, const Subflow& s, const Connection& c) {
        return packet.transmission >= Packet::bits_of(Ecn::Marked) || s.marks.echoes || c.captured;
    }
    static bool is_unusual_answer(const Packet& ack, const Subflow& s, const Connection& c) {
        return s.sender.is_news(ack.transmission >> Packet::kNumberBits, ack.seq) || ack.extension != kNoExtension ||
               c.captured;
    }
    [[gnu::cold, gnu::noinline]] std::uint32_t looked_at_data(Packet packet, Sent which, Subflow& s, Connection& c);
    [[gnu::noinline]] void look_at_arrival(const Packet& packet, Subflow& s, Connection& c, Nanos at);
    [[gnu::noinline]] std::uint32_t looked_at_ack(Packet ack, Subflow& s, Connection& c, Nanos at);
    [[gnu::noinline]] void look_at_answer(const Packet& ack, Subflow& s, Connection& c);
    void on_reduced(MarkKind why, std::uint32_t subflow, double cwnd_pkts);
    void ack_before_change(Subflow& s, Connection& c, std::uint32_t index, Nanos at);
    EcnHeader ecn_header(const Packet& packet, const Subflow& s) const;
    void reinject(Connection& connection, const Subflow& from, bool is_closed);
    void send_again(Connection& connection, std::size_t position, std::uint32_t data_seq);

    // network_meta.cpp: what the connection as a whole does when its window or a subflow stalls
    void act_when_blocked(Connection& connection);
    void penalise_holders(Connection& connection, std::size_t fast);
    bool is_held_up_elsewhere(const Connection& connection, std::size_t fast) const;
    bool has_room(const Connection& connection) const;
    void start_meta_timer(std::uint32_t flow);
    Nanos shortest_meta_timeout() const;
    Nanos meta_timeout(const Connection& connection) const;

    // network_push.cpp: what is bound to subflows ahead of their windows
    Socket describe_socket(const Subflow& s) const;
    SocketsView describe_sockets(const Connection& connection);
    void push_pending(Connection& connection);
    void set_push_timer(Connection& connection);
    bool push_next(Connection& connection);
    std::optional<std::size_t> choose_to_push(Connection& connection, std::uint32_t data_seq);
    void send_all_again(Connection& connection);
    Nanos on_push_timer(std::uint32_t flow);

    // What agents ask of the network, and what they are told.
    LearningAgents::Reach agents_reach() { return {*this, subflows_, marks_}; }
    void schedule_agent(std::uint32_t agent) { events_.schedule(agent_source(agent), agents_[agent].due); }
    bool calls_agent(std::uint32_t subflow);
    Nanos on_epoch(std::uint32_t agent);

    void on_data_ack(Connection& connection, std::uint32_t data_ack, Nanos at);
    bool has_new_data(Connection& connection);
    void end_if_delivered(Connection& connection, Nanos at);
    Sibling describe_sibling(const Subflow& s) const;
    Siblings gather_siblings(Connection& connection, std::uint32_t self);

    // A sum, so that it does not depend on how far ahead of the clock which packet was carried.
    void mix_signature(Nanos at, std::uint32_t subflow, std::uint32_t seq) {
        signature_ += mix64(static_cast<std::uint64_t>(at.value) ^ static_cast<std::uint64_t>(seq) << 32 ^
                            static_cast<std::uint64_t>(subflow) << 20);
    }
    bool is_current(const Subflow& s, const Packet& p) const { return s.incarnation == p.incarnation(); }

    const Scenario* scenario_;
    std::uint64_t seed_;
    Nanos now_{};
    std::uint64_t signature_ = 0;
    Nanos stride_{1'000'000};  // from one horizon to the next
    Nanos horizon_{};          // nothing is carried further ahead of the clock than this
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
    std::vector<Hop> hops_;                  // of all paths, one after the other
    std::vector<std::uint32_t> held_ahead_;  // links that may hold packets for the next segment, downstream ones first

    std::vector<std::uint32_t> deferring_;  // flows that defer_data, or did

    std::vector<AckExtension> ack_extensions_;
    std::vector<EcnOption> ecn_options_;   // of ACKs with extensions, by their slots; only where receivers count marks
    Ring<std::uint32_t> free_extensions_;  // the one that was freed first is used first: ACKs then read slots in order

    std::vector<std::shared_ptr<const ScriptProgram>> programs_;  // each once, in the order of the scenario

    Timeline timeline_;
    bool is_warming_up_ = false;
    Measurement measurement_;
    MarkLog marks_;
    LearningAgents agents_;

    // Scratch space of one call, kept here because clearing an array of 32 for two subflows costs more than using it
    std::array<Candidate, kMaxSubflows> candidates_;
    std::array<Socket, kMaxSubflows> sockets_;
};

}  // namespace subflow
