// The loop that carries packets between interfaces over emulated links, in real time.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "delay_histogram.h"
#include "frames.h"
#include "packet_port.h"
#include "scenario.h"
#include "virtual_links.h"

namespace subflow {

// The way of packets that arrive at an interface.
struct Wire {
    std::string arrives_at;
    std::string leaves_at;
    std::vector<std::uint32_t> links;  // to cross, in order, as positions in Scenario::links of the network
    std::uint32_t network = 0;
    std::uint32_t source = 0;       // with `destination`: only packets between these IPv4 addresses
    std::uint32_t destination = 0;  // both 0: any packet
    std::int32_t counter = -1;      // index of the counts of these packets; -1: not counted
};

// Packets of a wire.
struct WireCounts {
    std::int64_t offered = 0;
    std::int64_t lost = 0;
    std::int64_t delivered_bytes = 0;  // of IP packets
};

// Emulated results of a link direction after the warm-up.
struct EmulatedLink {
    std::string name;
    double utilisation = 0;
    std::int64_t drops_queue = 0;
    std::int64_t drops_random = 0;
    std::int64_t drops_down = 0;
    std::int64_t marks = 0;
    double mean_queue_pkts = 0;
    std::int64_t max_queue_pkts = 0;
};

struct EmulatedNetwork {
    std::vector<EmulatedLink> links;
};

// Packets between two ports by UDP, whose sockets, unlike those of TCP, offer no counts.
struct Conversation {
    std::uint32_t wire = 0;
    UdpEnds ends;
    WireCounts counts;
};

// The loop reads packets with the kernel's time stamps, carries them in virtual time (VirtualLinks), and sends each
// when its time has come. A late wake-up therefore delays a packet, but neither the queue nor the departures behind it.
class LinkEmulator {
public:
    // A row of samples: the network, the time since its start in s, and four values for each link direction: packets in
    // the queue, packets lost and marked since the row before, and utilisation.
    struct Row {
        std::uint32_t network = 0;
        double time_s = 0;
        std::vector<double> values;
    };
    struct Results {
        double late_p50_s = 0;
        double late_p99_s = 0;
        double late_max_s = 0;
        double cpu_s = 0;
        std::int64_t packets = 0;
        std::int64_t overruns = 0;  // packets for which the ring or the memory had no room
        std::int64_t unknown_packets = 0;
        std::vector<EmulatedNetwork> networks;
        std::vector<WireCounts> warmup_counts;  // of each counter, by packets sent during the warm-up
        std::vector<WireCounts> counts;         // and after it
    };
    struct Part {
        Scenario scenario;
        std::uint64_t seed = 0;
    };

    // `start`: start of the networks' time, by the monotonic clock. Throws ScenarioError if a link cannot be emulated,
    // std::system_error if the kernel refuses an operation, and std::invalid_argument for wires without sense.
    LinkEmulator(std::vector<Part> networks, const std::vector<Wire>& wires, Nanos start, Nanos sample_interval,
                 std::size_t mtu_bytes);
    ~LinkEmulator();

    // Works until `end` by the monotonic clock, or until stop(). Call it once.
    void run(Nanos end);
    // The remaining functions may be called while another thread is in run().
    void stop();
    // Throws ScenarioError if the values are not usable.
    void change(std::uint32_t network, const EventSpec& change);
    // Rows that no call has returned yet.
    std::vector<Row> take_samples();
    // Conversations by UDP since the start of run(); only the first kConversations are counted.
    std::vector<Conversation> conversations() const;
    // Requires that run() has returned.
    const Results& results() const { return results_; }

    static constexpr std::size_t kConversations = 256;

private:
    struct Way {
        std::uint32_t route = 0;
        int output = 0;
        std::uint32_t network = 0;
        std::int32_t counter = -1;
    };
    struct Arrivals {
        std::optional<std::uint32_t> any;                          // way of all packets
        std::unordered_map<std::uint64_t, std::uint32_t> between;  // way by source and destination
    };
    struct Held {
        std::uint32_t size = 0;
        std::uint32_t way = 0;
        std::int32_t conversation = -1;
        bool is_measured = false;
        Nanos shift{};  // time by which it was offered too late
    };
    // State of a link at a moment.
    struct Baseline {
        LinkStats stats;
        Nanos busy{};
        Nanos queue_time{};
    };
    // A network's samples and measurement so far.
    struct Progress {
        std::uint32_t first_link = 0;
        std::int64_t samples = 0;
        bool is_measured = false;
        bool is_over = false;
        std::vector<Baseline> warmed;    // [link] at the end of the warm-up
        std::vector<Baseline> previous;  // [link] at the latest sample
        Nanos next_sample{};
    };

    void add(const Wire& wire);
    const Way* way_of(int interface, const FrameFields& fields) const;
    std::int32_t conversation_of(std::uint32_t wire, const FrameFields& fields, std::span<const std::uint8_t> frame);
    bool read();
    void deliver();
    Nanos blind_time() const;
    void wait(Nanos until, bool is_blind) const;
    Nanos next_moment() const;
    void pass(Nanos until);
    void sample(std::uint32_t network);
    void publish();
    void begin_measurement(std::uint32_t network);
    void finish(std::uint32_t network);
    void apply_changes();
    std::optional<std::uint32_t> new_frame();
    std::uint8_t* memory_of(std::uint32_t frame) {
        return blocks_[frame / kFramesPerBlock].get() + (frame % kFramesPerBlock) * frame_bytes_;
    }

    static constexpr std::uint32_t kFramesPerBlock = 256;

    std::deque<Part> networks_;  // whose scenarios the links refer to
    Nanos start_;
    Nanos sample_interval_;
    VirtualLinks links_;
    PacketPort port_;
    int wake_ = -1;
    std::vector<Way> ways_;  // by number of the wire
    std::unordered_map<int, Arrivals> arrivals_;
    std::vector<Progress> progress_;
    int read_pkts_ = 0;                  // by the latest read()
    std::vector<WireCounts> counts_[2];  // during the warm-up, and after it

    std::size_t frame_bytes_;
    std::vector<std::unique_ptr<std::uint8_t[]>> blocks_;
    std::vector<Held> held_;
    std::vector<std::uint32_t> free_;

    DelayHistogram late_;
    Nanos latest_{};
    std::int64_t unknown_packets_ = 0;
    std::int64_t no_memory_ = 0;
    std::vector<Conversation> conversations_;
    std::unordered_map<std::uint64_t, std::int32_t> conversation_numbers_;  // by wire and flow

    mutable std::mutex mutex_;  // of the members below
    std::vector<Row> rows_;
    std::vector<Conversation> published_conversations_;
    std::vector<std::pair<std::uint32_t, EventSpec>> changes_;
    std::atomic<bool> is_woken_ = false;
    std::atomic<bool> is_stopped_ = false;
    Results results_;
};

}  // namespace subflow
