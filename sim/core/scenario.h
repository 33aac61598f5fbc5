// What is to be simulated: immutable once built, in SI units, free of names' spelling rules and of files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "agent/decider.h"
#include "ecn.h"
#include "gilbert.h"
#include "grants.h"
#include "jitter.h"
#include "medium.h"
#include "memory.h"
#include "pauses.h"
#include "queue_disc/disciplines.h"
#include "retransmission.h"
#include "scripted_loss.h"
#include "token_bucket.h"
#include "units.h"

namespace subflow {

// Raised by the constructors of the core for a scenario that makes no sense. Files are checked with better words before
// they get here; this is the last line of defence.
struct ScenarioError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// One direction of a link: random loss, a queue, a transmitter of `rate`, then a wire of `delay`.
struct LinkSpec {
    std::string name;  // "wifi/forward"
    BitsPerSec rate = kUnlimitedRate;
    Nanos delay{};
    std::optional<std::int64_t> queue_limit_pkts;  // the packet in service counts
    std::optional<Bytes> queue_limit_bytes;        // the packet in service counts whole until it has left
    double loss = 0;                               // Bernoulli, per packet, before the queue
    std::optional<GilbertOptions> loss_model;      // instead of it
    Discipline discipline;
    std::vector<std::uint32_t> opportunities_ms;          // a delivery trace to follow; `rate` is then its mean
    std::optional<TokenBucketOptions> bucket;             // that fills at `rate`
    std::vector<std::uint32_t> delays_us;                 // a recording to follow; `delay` is then its mean
    Nanos delay_interval{};                               // that each of them holds for
    std::optional<JitterOptions> jitter;                  // what comes on top of the delay
    std::optional<RetransmissionOptions> retransmission;  // and what repetitions below the transport add to it
    std::vector<Pause> pauses;                            // of the transmitter, in order and apart from each other
    std::optional<GrantOptions> grants;                   // it sends when it is granted something only
    std::optional<AccessOptions> access;                  // it shares a medium with others
    bool reorder = false;             // packets may overtake earlier ones where their delay is shorter
    std::vector<ScriptedDrop> drops;  // lost whatever else there is, before the random loss
};

enum class FlowKind : std::uint8_t { Tcp, Mptcp, Cbr, OnOff };

// Whether such a flow sends without asking anybody: no window, no ACKs, no retransmissions.
constexpr bool sends_datagrams(FlowKind kind) {
    return kind == FlowKind::Cbr || kind == FlowKind::OnOff;
}

enum class Spacing : std::uint8_t {
    Constant,  // every packet one interval after the one before
    Poisson,   // the intervals are exponential with that mean
};

// How a flow of kind Cbr or OnOff sends.
struct DatagramSpec {
    BitsPerSec rate{};   // wire bits per second, while on
    Bytes packet{1500};  // wire size
    Spacing spacing = Spacing::Constant;
    Nanos mean_on{};   // OnOff only: mean of the exponential times for which it sends
    Nanos mean_off{};  // and for which it is silent
};

// An algorithm's option by name, e.g. {"base", "newreno"}.
struct OptionValue {
    std::string key;
    std::variant<double, bool, std::string> value;

    std::size_t heap_bytes() const { return heap_bytes_of(key) + subflow::heap_bytes(value); }
    friend bool operator==(const OptionValue&, const OptionValue&) = default;
};

struct ScriptProgram;  // script/program.h

struct AlgorithmChoice {
    std::string name;
    std::vector<OptionValue> options;
    // Of one that was written as text; nothing: it is one of the core's. Shared by all that run it: it never changes.
    std::shared_ptr<const ScriptProgram> program = nullptr;

    std::size_t heap_bytes() const { return heap_bytes_of(name, options); }
    friend bool operator==(const AlgorithmChoice&, const AlgorithmChoice&) = default;
};

// A route as the packets of a subflow take it: indices into Scenario::links, in order, and the way back for its ACKs.
struct PathSpec {
    std::vector<std::uint32_t> forward;
    std::vector<std::uint32_t> reverse;
    bool is_backup = false;  // of a subflow that carries data only while no other is usable (RFC 8684 section 3.3.8)
    bool is_late = false;    // not there at the start: its subflow waits for an event
};

struct FlowSpec {
    std::string name;        // "download.1"
    std::uint32_t host = 0;  // that sends it, by any number: an agent of a host sees all its flows
    FlowKind kind = FlowKind::Tcp;
    AlgorithmChoice controller;
    Decider decider;  // of a controller that takes actions
    AlgorithmChoice scheduler;
    std::vector<PathSpec> paths;  // one subflow each
    Nanos start{};
    Nanos stop = kNever;               // no new data after it; what was sent is still delivered
    Nanos lifetime = kNever;           // stops this long after it started, start jitter included, if that is earlier
    std::optional<Bytes> size;         // payload; none: endless
    std::optional<Bytes> recv_buffer;  // connection level; none: unlimited
    std::optional<Bytes> send_buffer;  // holds data until it is DATA_ACKed; none: unlimited
    std::optional<EcnMode> ecn;        // what its two ends agree on; none: what the transport says
    // How many further subflows there may be, and how many announced addresses are taken up; none: any number
    std::optional<std::uint32_t> subflow_limit;
    std::optional<std::uint32_t> address_limit;
    DatagramSpec datagrams;  // Cbr and OnOff only
};

// A change of one link direction or of one flow's subflows at a given time. Absent fields stay as they are.
struct EventSpec {
    Nanos at{};
    std::optional<std::uint32_t> link;     // index into Scenario::links
    std::optional<std::uint32_t> flow;     // index into Scenario::flows
    std::optional<std::uint32_t> subflow;  // position in the flow's paths; none: all of them
    std::optional<BitsPerSec> rate;
    std::optional<Nanos> delay;
    std::optional<double> loss;
    std::optional<GilbertOptions> loss_model;
    bool sets_queue = false;  // replaces both limits below
    std::optional<std::int64_t> queue_limit_pkts;
    std::optional<Bytes> queue_limit_bytes;
    std::optional<bool> up;
    std::optional<bool> open;
    std::optional<bool> backup;    // MP_PRIO (RFC 8684 section 3.3.8)
    std::optional<bool> announce;  // ADD_ADDR, or REMOVE_ADDR (RFC 8684 section 3.4)
    std::optional<bool> refuse;    // SYNs are answered by a reset

    // Of all subflows of the flow, as setsockopt(TCP_CONGESTION) does: SubflowSender::change_controller().
    std::optional<AlgorithmChoice> controller;

    std::size_t heap_bytes() const { return heap_bytes_of(controller); }
    friend bool operator==(const EventSpec&, const EventSpec&) = default;
};

enum class LossDetection : std::uint8_t {
    DupAck,  // three later transmissions were delivered (RFC 6675)
    Rack,    // a later transmission was delivered and a reordering window has passed; tail loss probes (RFC 8985)
};

enum class DelayedAck : std::uint8_t {
    Off,    // an ACK per packet: what the closed forms assume
    Rfc,    // every second packet or after a timeout (RFC 1122 section 4.2.3.2, RFC 5681 section 4.2)
    Linux,  // at once while a connection begins and its receive window opens, then every second packet or after a
            // timeout
};

enum class RtoRule : std::uint8_t {
    Rfc6298,  // srtt + 4 rttvar, at least rto_min
    Linux,    // srtt + max(rto_min, the largest 4 rttvar of the last round trips)
};

// Proportional rate reduction: what the window does during a fast recovery.
enum class Prr : std::uint8_t {
    Off,      // ssthresh at once (RFC 6675)
    Rfc6937,  // over the round trip, with the slow-start reduction bound
    Linux,    // as Rfc6937, but conserving packets while losses go on (RFC 9937)
};

// What becomes of a window that the application, the scheduler or the receiver leaves unused.
enum class CwndValidation : std::uint8_t {
    Off,    // it grows all the same
    Hold,   // it does not grow (Linux tcp_is_cwnd_limited)
    Decay,  // and after a timeout's length it moves half-way to what is used (RFC 2861, Linux
            // tcp_cwnd_application_limited)
};

// What the window is after nothing was outstanding and nothing was sent for longer than the retransmission timeout.
enum class IdleRestart : std::uint8_t {
    Off,      // the same
    Rfc5681,  // at most the initial window
    Linux,    // halved per timeout that passed, but not below the initial window
};

// How TCP behaves where the RFCs leave a choice. Recorded with every run.
struct TransportOptions {
    double initial_window_pkts = 10;  // RFC 6928
    // Packets open each subflow: network_handshake.cpp. Otherwise the first one is there when its flow starts, and a
    // further one a round trip later.
    bool handshake = false;
    int syn_retries = 6;  // after those that follow each other by a second
    LossDetection loss_detection = LossDetection::DupAck;
    bool dsack = false;  // the receiver reports duplicates (RFC 2883)
    RtoRule rto_rule = RtoRule::Rfc6298;
    Nanos rto_min{200'000'000};  // Linux TCP_RTO_MIN; RFC 6298 says 1 s
    Nanos rto_max{60'000'000'000};
    Nanos rto_initial{1'000'000'000};
    DelayedAck delayed_ack = DelayedAck::Off;
    Nanos delayed_ack_timeout{40'000'000};
    std::uint32_t quick_acks = 16;  // Linux TCP_MAX_QUICKACKS
    Prr prr = Prr::Off;
    bool undo = false;  // take a reduction back when the loss behind it turns out to be none (RFC 3522, RFC 3708)
    CwndValidation cwnd_validation = CwndValidation::Hold;
    IdleRestart idle_restart = IdleRestart::Off;
    // What the ends of flows agree on: Off, Classic or Accurate. A controller that needs more brings it with it.
    EcnMode ecn = EcnMode::Off;
    // What MPTCP's DSS option takes from the payload of each data packet of an Mptcp flow (RFC 8684 section 3.3).
    Bytes dss_option{0};
    // Packets that are paced leave in bursts, as Linux makes them for segmentation offload: pacer.h.
    bool tso = false;
};

// IPv4 20 B + TCP 20 B + timestamps 12 B: what a packet weighs on the wire beyond its payload, and what an ACK weighs.
inline constexpr Bytes kHeaderBytes{52};
// IPv4 20 B + UDP 8 B: what a datagram weighs beyond its payload.
inline constexpr Bytes kDatagramHeaderBytes{28};

struct Scenario {
    Nanos duration{};
    Nanos warmup{};  // left out of the summary figures
    std::uint64_t seed = 1;
    Bytes mss{1448};       // payload of a full packet
    Nanos start_jitter{};  // each flow's start is delayed by a seeded uniform draw up to this
    TransportOptions transport;
    std::vector<LinkSpec> links;
    std::vector<FlowSpec> flows;
    std::vector<EventSpec> events;  // in time order

    // Of a full packet on the wire: a rate of r packets/s takes r * packet_bits() of a link.
    double packet_bits() const { return static_cast<double>((mss + kHeaderBytes).value * 8); }
};

// A sender's set of subflows a packet was already sent on is a 32-bit mask.
inline constexpr std::size_t kMaxSubflows = 32;

// What the two ends of a flow agree on, with a controller that uses marks so.
EcnMode ecn_mode(const Scenario& scenario, const FlowSpec& flow, const EcnUse& use);

// Throws ScenarioError unless every index, size and rate is usable.
void check_scenario(const Scenario& scenario);
// The same for one more event of it.
void check_event(const Scenario& scenario, const EventSpec& event);
// Throws ScenarioError if a flow could send more packets than can be numbered, with these events behind its own. Part
// of check_scenario().
void check_packet_numbers(const Scenario& scenario, std::span<const EventSpec> more = {});

}  // namespace subflow
