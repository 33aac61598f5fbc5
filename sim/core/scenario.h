// Description of a simulation: immutable, in SI units, independent of files and their naming rules.
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
#include "fields.h"
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

// Thrown by the core for an invalid scenario or change. Files are checked earlier with better messages; this check is
// the last line of defence.
struct ScenarioError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// One direction of a link: random loss, a queue, a transmitter of `rate`, then a wire of `delay`.
struct LinkSpec {
    std::string name;  // "wifi/forward"
    BitsPerSec rate = kUnlimitedRate;
    Nanos delay{};
    std::optional<std::int64_t> queue_limit_pkts;  // including the packet in service
    std::optional<Bytes> queue_limit_bytes;        // including the whole packet in service until it has left
    double loss = 0;                               // Bernoulli, per packet, before the queue
    std::optional<GilbertOptions> loss_model;      // replaces `loss`
    Discipline discipline;
    std::vector<std::uint32_t> opportunities_ms;          // a delivery trace; `rate` is then its mean
    std::optional<TokenBucketOptions> bucket;             // fills at `rate`
    std::vector<std::uint32_t> delays_us;                 // a recorded delay trace; `delay` is then its mean
    Nanos delay_interval{};                               // duration of each entry of delays_us
    std::optional<JitterOptions> jitter;                  // in addition to `delay`
    std::optional<RetransmissionOptions> retransmission;  // adds delay by link-layer retransmissions
    std::vector<Pause> pauses;            // intervals in which the transmitter sends nothing; sorted and disjoint
    std::optional<GrantOptions> grants;   // the transmitter sends only with grants
    std::optional<AccessOptions> access;  // the link shares a medium with others
    bool reorder = false;                 // packets may overtake earlier ones if their delay is shorter
    std::vector<ScriptedDrop> drops;      // dropped unconditionally, before the random loss
};
SUBFLOW_FIELDS(LinkSpec, name, rate, delay, queue_limit_pkts, queue_limit_bytes, loss, loss_model, discipline,
               opportunities_ms, bucket, delays_us, delay_interval, jitter, retransmission, pauses, grants, access,
               reorder, drops)

enum class FlowKind : std::uint8_t { Tcp, Mptcp, Cbr, OnOff };
SUBFLOW_WORDS(FlowKind, "tcp", "mptcp", "cbr", "onoff")

// True for flows without feedback: no window, no ACKs, no retransmissions.
constexpr bool sends_datagrams(FlowKind kind) {
    return kind == FlowKind::Cbr || kind == FlowKind::OnOff;
}

enum class Spacing : std::uint8_t {
    Constant,  // equal intervals between packets
    Poisson,   // exponential intervals with the same mean
};
SUBFLOW_WORDS(Spacing, "constant", "poisson")

// Sending pattern of a Cbr or OnOff flow.
struct DatagramSpec {
    BitsPerSec rate{};   // wire bits per second, while on
    Bytes packet{1500};  // wire size
    Spacing spacing = Spacing::Constant;
    Nanos mean_on{};   // OnOff only: mean of the exponential on-times
    Nanos mean_off{};  // OnOff only: mean of the exponential off-times
};
SUBFLOW_FIELDS(DatagramSpec, rate, packet, spacing, mean_on, mean_off)

// An algorithm's option by name, e.g. {"base", "newreno"}.
struct OptionValue {
    std::string key;
    std::variant<double, bool, std::string> value;

    std::size_t heap_bytes() const { return heap_bytes_of(key) + subflow::heap_bytes(value); }
    friend bool operator==(const OptionValue&, const OptionValue&) = default;
};
SUBFLOW_FIELDS(OptionValue, key, value)

struct ScriptProgram;  // script/program.h

struct AlgorithmChoice {
    std::string name;
    std::vector<OptionValue> options;
    // Compiled script; null for algorithms of the core. Immutable, and therefore shared by all users.
    std::shared_ptr<const ScriptProgram> program = nullptr;

    std::size_t heap_bytes() const { return heap_bytes_of(name, options); }
    friend bool operator==(const AlgorithmChoice&, const AlgorithmChoice&) = default;
};
SUBFLOW_FIELDS(AlgorithmChoice, name, options, program)

// Route of a subflow's packets: indices into Scenario::links, in order, and the reverse route of its ACKs.
struct PathSpec {
    std::vector<std::uint32_t> forward;
    std::vector<std::uint32_t> reverse;
    bool is_backup = false;  // carries data only while no regular subflow is usable (RFC 8684 section 3.3.8)
    bool is_late = false;    // absent at the start: an event opens the subflow
};
SUBFLOW_FIELDS(PathSpec, forward, reverse, is_backup, is_late)

struct FlowSpec {
    std::string name;        // "download.1"
    std::uint32_t host = 0;  // number of the sending host: its agent observes all flows with this number
    FlowKind kind = FlowKind::Tcp;
    AlgorithmChoice controller;
    DecisionSource decider;  // source of actions, for a controller that takes actions
    AlgorithmChoice scheduler;
    std::vector<PathSpec> paths;  // paths of the subflows, one each
    Nanos start{};
    Nanos stop = kNever;        // no new data afterwards; data already sent is still delivered
    Nanos lifetime = kNever;    // ends the flow this long after its start and start jitter, if that is before `stop`
    std::optional<Bytes> size;  // payload; empty: endless
    std::optional<Bytes> recv_buffer;  // connection level; empty: unlimited
    std::optional<Bytes> send_buffer;  // holds data until it is DATA_ACKed; empty: unlimited
    std::optional<EcnMode> ecn;        // mode of both ends; empty: TransportOptions::ecn
    // Maximum numbers of additional subflows and of accepted address announcements; empty: unlimited
    std::optional<std::uint32_t> subflow_limit;
    std::optional<std::uint32_t> address_limit;
    DatagramSpec datagrams;      // Cbr and OnOff only
    bool one_way_delay = false;  // measures one-way delay, jitter and reordering of the packets
};
SUBFLOW_FIELDS(FlowSpec, name, host, kind, controller, decider, scheduler, paths, start, stop, lifetime, size,
               recv_buffer, send_buffer, ecn, subflow_limit, address_limit, datagrams, one_way_delay)

// A change of one link direction or of one flow's subflows at a given time. Absent fields do not change.
struct EventSpec {
    Nanos at{};
    std::optional<std::uint32_t> link;     // index into Scenario::links
    std::optional<std::uint32_t> flow;     // index into Scenario::flows
    std::optional<std::uint32_t> subflow;  // position in the flow's paths; empty: all subflows
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
    std::optional<bool> announce;  // true: ADD_ADDR; false: REMOVE_ADDR (RFC 8684 section 3.4)
    std::optional<bool> refuse;    // true: SYNs are answered with a reset

    // New controller of all subflows of the flow, like setsockopt(TCP_CONGESTION): SubflowSender::change_controller().
    std::optional<AlgorithmChoice> controller;

    std::size_t heap_bytes() const { return heap_bytes_of(controller); }
    friend bool operator==(const EventSpec&, const EventSpec&) = default;
};
SUBFLOW_FIELDS(EventSpec, at, link, flow, subflow, rate, delay, loss, loss_model, sets_queue, queue_limit_pkts,
               queue_limit_bytes, up, open, backup, announce, refuse, controller)

enum class LossDetection : std::uint8_t {
    DupAck,  // three later transmissions were delivered (RFC 6675)
    Rack,    // a later transmission was delivered and a reordering window has passed; tail loss probes (RFC 8985)
};
SUBFLOW_WORDS(LossDetection, "dupack", "rack")

enum class DelayedAck : std::uint8_t {
    Off,    // an ACK per packet, as closed-form models assume
    Rfc,    // every second packet or after a timeout (RFC 1122 section 4.2.3.2, RFC 5681 section 4.2)
    Linux,  // immediately while a connection begins and its receive window opens, then every second packet or after
            // a timeout
};
SUBFLOW_WORDS(DelayedAck, "off", "rfc", "linux")

enum class RtoRule : std::uint8_t {
    Rfc6298,  // srtt + 4 rttvar, at least rto_min
    Linux,    // srtt + max(rto_min, the largest 4 rttvar of the last round trips)
};
SUBFLOW_WORDS(RtoRule, "rfc6298", "linux")

// Proportional rate reduction: evolution of the window during fast recovery.
enum class Prr : std::uint8_t {
    Off,      // ssthresh at once (RFC 6675)
    Rfc6937,  // over the round trip, with the slow-start reduction bound
    Linux,    // like Rfc6937, but conserves packets while losses continue (RFC 9937)
};
SUBFLOW_WORDS(Prr, "off", "rfc6937", "linux")

// Treatment of a window that the application, the scheduler or the receiver leaves unused.
enum class CwndValidation : std::uint8_t {
    Off,    // the window still grows
    Hold,   // the window does not grow (Linux tcp_is_cwnd_limited)
    Decay,  // like Hold; unused for a timeout, it moves half-way to the used size (RFC 2861, Linux
            // tcp_cwnd_application_limited)
};
SUBFLOW_WORDS(CwndValidation, "off", "hold", "decay")

// Window after an idle time longer than the retransmission timeout.
enum class IdleRestart : std::uint8_t {
    Off,      // unchanged
    Rfc5681,  // at most the initial window
    Linux,    // halved per elapsed timeout, but not below the initial window
};
SUBFLOW_WORDS(IdleRestart, "off", "rfc5681", "linux")

// Behaviour of TCP where the RFCs leave a choice. Recorded with every run.
struct TransportOptions {
    double initial_window_pkts = 10;  // RFC 6928
    // True: packets open each subflow (network_handshake.cpp). False: the first subflow exists at the start of its
    // flow, and each further subflow an RTT later.
    bool handshake = false;
    int syn_retries = 6;  // retries with doubled timeouts, after five timeouts of one second
    LossDetection loss_detection = LossDetection::DupAck;
    bool dsack = false;  // the receiver reports duplicates (RFC 2883)
    RtoRule rto_rule = RtoRule::Rfc6298;
    Nanos rto_min{200'000'000};  // Linux TCP_RTO_MIN; RFC 6298 requires 1 s
    Nanos rto_max{60'000'000'000};
    Nanos rto_initial{1'000'000'000};
    DelayedAck delayed_ack = DelayedAck::Off;
    Nanos delayed_ack_timeout{40'000'000};
    std::uint32_t quick_acks = 16;  // Linux TCP_MAX_QUICKACKS
    Prr prr = Prr::Off;
    bool undo = false;  // undoes a reduction after a spurious loss (RFC 3522, RFC 3708)
    CwndValidation cwnd_validation = CwndValidation::Hold;
    IdleRestart idle_restart = IdleRestart::Off;
    // ECN mode of flows: Off, Classic or Accurate. A controller may require a stronger mode for its flow.
    EcnMode ecn = EcnMode::Off;
    // Size of MPTCP's DSS option, which reduces the payload of each data packet of an Mptcp flow (RFC 8684 section
    // 3.3).
    Bytes dss_option{0};
    // Paced packets leave in bursts, as with Linux's segmentation offload: pacer.h.
    bool tso = false;
};
SUBFLOW_FIELDS(TransportOptions, initial_window_pkts, handshake, syn_retries, loss_detection, dsack, rto_rule, rto_min,
               rto_max, rto_initial, delayed_ack, delayed_ack_timeout, quick_acks, prr, undo, cwnd_validation,
               idle_restart, ecn, dss_option, tso)

// IPv4 20 B + TCP 20 B + timestamps 12 B: overhead of a packet on the wire, and size of an ACK.
inline constexpr Bytes kHeaderBytes{52};
// IPv4 20 B + UDP 8 B: overhead of a datagram.
inline constexpr Bytes kDatagramHeaderBytes{28};

struct Scenario {
    Nanos duration{};
    Nanos warmup{};  // start of the run that the summary excludes
    std::uint64_t seed = 1;
    Bytes mss{1448};       // payload of a full packet
    Nanos start_jitter{};  // maximum of each flow's seeded, uniform start delay
    TransportOptions transport;
    std::vector<LinkSpec> links;
    std::vector<FlowSpec> flows;
    std::vector<EventSpec> events;  // in time order

    // Size of a full packet on the wire: r packets/s use r * packet_bits() bit/s of a link.
    double packet_bits() const { return static_cast<double>((mss + kHeaderBytes).value * 8); }
};
SUBFLOW_FIELDS(Scenario, duration, warmup, seed, mss, start_jitter, transport, links, flows, events)

// Limited by the 32-bit masks of subflows, for example in Decision and Connection::changed.
inline constexpr std::size_t kMaxSubflows = 32;

// ECN mode of a flow whose controller uses marks as described by `use`.
EcnMode ecn_mode(const Scenario& scenario, const FlowSpec& flow, const EcnUse& use);

// Throws ScenarioError unless all indices, sizes and rates are usable.
void check_scenario(const Scenario& scenario);
// Throws ScenarioError unless the event is usable in this scenario.
void check_event(const Scenario& scenario, const EventSpec& event);
// Throws ScenarioError if a flow could send more packets than its numbers allow, with `more` applied after the events
// of the scenario. Part of check_scenario().
void check_packet_numbers(const Scenario& scenario, std::span<const EventSpec> more = {});

}  // namespace subflow
