#include "link_emulator.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace subflow {

namespace {

// Packets read before deliveries are checked again.
constexpr int kReadAtOnce = 64;
// Memory of the packets under way. More packets than that are dropped, and count as overruns.
constexpr std::size_t kMostMemory = std::size_t{512} << 20;
// The links work on after the end of the run, while the endpoints read their sockets once more.
constexpr Nanos kLastLook(20'000'000);
constexpr Nanos kLongestWait(50'000'000);
// A wake-up costs more than the packet for which it happens. The loop therefore sends all packets together that are due
// within this time, and while packets flow, it reads them as late as their links allow.
constexpr Nanos kGathered(36'000);
constexpr Nanos kLongestBlind(500'000);

Nanos clock_time(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return Nanos(static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec);
}

Nanos later_of(Nanos a, Nanos b) {
    return a < b ? b : a;
}

double seconds(Nanos time) {
    return static_cast<double>(time.value) * 1e-9;
}

std::int64_t drops_of(const LinkStats& stats) {
    return stats.drops_queue + stats.drops_random + stats.drops_down;
}

}  // namespace

LinkEmulator::LinkEmulator(std::vector<Part> networks, const std::vector<Wire>& wires, Nanos start,
                           Nanos sample_interval, std::size_t mtu_bytes)
    : start_(start),
      sample_interval_(sample_interval),
      port_(mtu_bytes, std::ranges::any_of(wires, [](const Wire& wire) { return wire.source == 0; })),
      frame_bytes_((mtu_bytes + kEthernetBytes + 63) / 64 * 64) {
    if (sample_interval <= Nanos(0)) throw std::invalid_argument("the sampling interval must be positive");
    for (Part& part : networks) {
        const Part& kept = networks_.emplace_back(std::move(part));
        Progress& progress = progress_.emplace_back();
        progress.first_link = links_.add_network(kept.scenario, kept.seed);
        progress.next_sample = sample_interval;
        progress.previous.resize(kept.scenario.links.size());
        progress.warmed.resize(kept.scenario.links.size());
        progress.is_measured = kept.scenario.warmup == Nanos(0);
    }
    for (const Wire& wire : wires) add(wire);
    wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

LinkEmulator::~LinkEmulator() {
    if (wake_ >= 0) close(wake_);
}

void LinkEmulator::add(const Wire& wire) {
    if (wire.network >= networks_.size()) throw std::invalid_argument("a wire names no network");
    if (wire.counter < -1 || wire.counter > 1'000'000) throw std::invalid_argument("a wire has no such counter");
    const std::size_t count = networks_[wire.network].scenario.links.size();
    std::vector<std::uint32_t> links;
    for (const std::uint32_t link : wire.links) {
        if (link >= count) throw std::invalid_argument("a wire names no link");
        links.push_back(progress_[wire.network].first_link + link);
    }
    const auto way = static_cast<std::uint32_t>(ways_.size());
    ways_.push_back({links_.add_route(links), PacketPort::interface_of(wire.leaves_at), wire.network, wire.counter});
    Arrivals& arrivals = arrivals_[PacketPort::interface_of(wire.arrives_at)];
    if (wire.source == 0 && wire.destination == 0) {
        arrivals.any = way;
    } else {
        arrivals.between[static_cast<std::uint64_t>(wire.source) << 32 | wire.destination] = way;
    }
    for (std::vector<WireCounts>& counts : counts_)
        counts.resize(std::max(counts.size(), static_cast<std::size_t>(wire.counter + 1)));
}

// --- the loop --------------------------------------------------------------------------------------------------------

void LinkEmulator::run(Nanos end) {
    const Nanos end_of_run = end < kNever ? end - start_ : kNever;
    const Nanos last = end_of_run < kNever ? end_of_run + kLastLook : kNever;
    const Nanos cpu_before = clock_time(CLOCK_THREAD_CPUTIME_ID);
    while (!is_stopped_) {
        const bool is_all_read = read();
        const Nanos now = later_of(clock_time(CLOCK_MONOTONIC) - start_, links_.now());
        pass(now);
        if (is_woken_) apply_changes();
        deliver();
        if (now >= last) break;
        if (!is_all_read) continue;
        // A packet that arrives during the wait must be read before it can be due.
        const Nanos blind = read_pkts_ != 0 ? blind_time() : Nanos(0);
        const Nanos next = std::min({links_.next_event() + kGathered, next_moment(), last, now + kLongestWait});
        wait(blind > Nanos(0) ? std::min(next, now + blind) : next, blind > Nanos(0));
    }
    for (std::uint32_t network = 0; network < networks_.size(); ++network) finish(network);
    publish();
    results_.cpu_s = seconds(clock_time(CLOCK_THREAD_CPUTIME_ID) - cpu_before);
    results_.late_p50_s = late_.quantile_s(0.5);
    results_.late_p99_s = late_.quantile_s(0.99);
    results_.late_max_s = seconds(latest_);
    const PacketPort::Counts counts = port_.counts();
    results_.packets = counts.received;
    results_.overruns = counts.overruns + no_memory_;
    results_.unknown_packets = unknown_packets_;
    results_.warmup_counts = counts_[0];
    results_.counts = counts_[1];
}

// Offers the packets that have arrived to the links; returns false if more are waiting.
bool LinkEmulator::read() {
    PacketPort::Arrived arrived;
    read_pkts_ = 0;
    const Nanos offset = clock_time(CLOCK_REALTIME) - clock_time(CLOCK_MONOTONIC) + start_;
    for (int count = 0; count < kReadAtOnce; ++count) {
        if (!port_.receive(arrived)) return true;
        ++read_pkts_;
        const FrameFields fields = fields_of(arrived.frame);
        const Way* const way = way_of(arrived.interface, fields);
        const std::optional<std::uint32_t> frame =
            way != nullptr && arrived.frame.size() <= frame_bytes_ ? new_frame() : std::nullopt;
        if (!frame) {
            ++(way == nullptr ? unknown_packets_ : no_memory_);
            port_.release();
            continue;
        }
        const Nanos came = later_of(arrived.at - offset, Nanos(0));
        pass(later_of(came, links_.now()));
        Held& held = held_[*frame];
        held.size = static_cast<std::uint32_t>(arrived.frame.size());
        held.way = static_cast<std::uint32_t>(way - ways_.data());
        held.shift = links_.now() - came;
        held.is_measured = progress_[way->network].is_measured;
        held.conversation = conversation_of(held.way, fields, arrived.frame);
        std::memcpy(memory_of(*frame), arrived.frame.data(), arrived.frame.size());
        port_.release();
        const bool is_counted = !progress_[way->network].is_over;
        if (is_counted && way->counter >= 0)
            ++counts_[held.is_measured][static_cast<std::size_t>(way->counter)].offered;
        if (is_counted && held.conversation >= 0)
            ++conversations_[static_cast<std::size_t>(held.conversation)].counts.offered;
        links_.offer(way->route, *frame, static_cast<std::uint16_t>(held.size - kEthernetBytes), fields.flow,
                     fields.ecn);
    }
    return false;
}

const LinkEmulator::Way* LinkEmulator::way_of(int interface, const FrameFields& fields) const {
    const auto arrivals = arrivals_.find(interface);
    if (arrivals == arrivals_.end()) return nullptr;
    if (!arrivals->second.between.empty()) {
        const std::uint64_t ends = static_cast<std::uint64_t>(fields.source) << 32 | fields.destination;
        const auto found = arrivals->second.between.find(ends);
        if (found != arrivals->second.between.end()) return &ways_[found->second];
    }
    return arrivals->second.any ? &ways_[*arrivals->second.any] : nullptr;
}

// Number of the conversation of a packet by UDP; -1 for others.
std::int32_t LinkEmulator::conversation_of(std::uint32_t wire, const FrameFields& fields,
                                           std::span<const std::uint8_t> frame) {
    if (!fields.is_udp) return -1;
    const std::uint64_t key = static_cast<std::uint64_t>(wire) << 32 | fields.flow;
    const auto found = conversation_numbers_.find(key);
    if (found != conversation_numbers_.end()) return found->second;
    if (conversations_.size() == kConversations) return -1;
    const auto number = static_cast<std::int32_t>(conversations_.size());
    conversations_.push_back({wire, *udp_ends_of(frame), {}});
    conversation_numbers_.emplace(key, number);
    return number;
}

// Sends the packets whose time has come, and forgets lost ones.
void LinkEmulator::deliver() {
    for (const VirtualLinks::Leaving& leaving : links_.leaving()) {
        const Held& held = held_[leaving.frame];
        const Way& way = ways_[held.way];
        const auto note = [&](WireCounts& counts) {
            if (progress_[way.network].is_over) return;
            counts.lost += leaving.is_lost;
            if (!leaving.is_lost) counts.delivered_bytes += held.size - static_cast<std::uint32_t>(kEthernetBytes);
        };
        if (way.counter >= 0) note(counts_[held.is_measured][static_cast<std::size_t>(way.counter)]);
        if (held.conversation >= 0) note(conversations_[static_cast<std::size_t>(held.conversation)].counts);
        if (leaving.is_lost) {
            free_.push_back(leaving.frame);
            continue;
        }
        std::uint8_t* const memory = memory_of(leaving.frame);
        if (leaving.is_marked) mark_frame({memory, held.size});
        // One call for each packet: the kernel carries it up to the program within the call, which takes longer than
        // the call itself, and the lateness of the next packet includes that time.
        const Nanos late = later_of(clock_time(CLOCK_MONOTONIC) - start_ - leaving.at + held.shift, Nanos(0));
        late_.add(late);
        latest_ = later_of(latest_, late);
        port_.send({memory, held.size}, way.output);
        free_.push_back(leaving.frame);
    }
    links_.leaving().clear();
}

// Time for which arriving packets may wait unread, because none can cross a link sooner; 0 if some can.
Nanos LinkEmulator::blind_time() const {
    Nanos shortest = kLongestBlind * 2;
    for (const Link& link : links_.links()) {
        if (link.may_take_no_time()) return Nanos(0);
        shortest = std::min(shortest, link.delay());
    }
    const Nanos blind(shortest.value / 2);
    return blind < kGathered ? Nanos(0) : blind;
}

// Sleeps until `until`, a change, or unless `is_blind`, the arrival of a packet.
void LinkEmulator::wait(Nanos until, bool is_blind) const {
    const Nanos left = until - (clock_time(CLOCK_MONOTONIC) - start_);
    if (left <= Nanos(0)) return;
    pollfd ready[] = {{wake_, POLLIN, 0}, {port_.descriptor(), POLLIN, 0}};
    const timespec timeout{static_cast<time_t>(left.value / 1'000'000'000),
                           static_cast<long>(left.value % 1'000'000'000)};
    ppoll(ready, is_blind ? 1 : 2, &timeout, nullptr);
}

std::optional<std::uint32_t> LinkEmulator::new_frame() {
    if (free_.empty()) {
        if ((blocks_.size() + 1) * kFramesPerBlock * frame_bytes_ > kMostMemory) return std::nullopt;
        const auto first = static_cast<std::uint32_t>(held_.size());
        blocks_.push_back(std::make_unique<std::uint8_t[]>(kFramesPerBlock * frame_bytes_));
        held_.resize(held_.size() + kFramesPerBlock);
        for (std::uint32_t frame = first; frame < held_.size(); ++frame) free_.push_back(frame);
    }
    const std::uint32_t frame = free_.back();
    free_.pop_back();
    return frame;
}

// --- changes ---------------------------------------------------------------------------------------------------------

void LinkEmulator::stop() {
    is_stopped_ = true;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
}

void LinkEmulator::change(std::uint32_t network, const EventSpec& change) {
    if (network >= networks_.size()) throw ScenarioError("change: names no network");
    if (!change.link) throw ScenarioError("change: needs a link");
    check_event(networks_[network].scenario, change);
    {
        const std::lock_guard lock(mutex_);
        changes_.emplace_back(network, change);
    }
    is_woken_ = true;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
}

void LinkEmulator::apply_changes() {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t size = ::read(wake_, &count, sizeof count);
    is_woken_ = false;
    std::vector<std::pair<std::uint32_t, EventSpec>> changes;
    {
        const std::lock_guard lock(mutex_);
        changes.swap(changes_);
    }
    for (const auto& [network, change] : changes) links_.change(network, change);
}

// --- measurement -----------------------------------------------------------------------------------------------------

Nanos LinkEmulator::next_moment() const {
    Nanos next = kNever;
    for (std::uint32_t network = 0; network < networks_.size(); ++network) {
        const Progress& progress = progress_[network];
        if (progress.is_over) continue;
        const Scenario& scenario = networks_[network].scenario;
        next = std::min({next, progress.next_sample, scenario.duration});
        if (!progress.is_measured) next = std::min(next, scenario.warmup);
    }
    return next;
}

// Advances the links to `until`, and takes all samples on the way.
void LinkEmulator::pass(Nanos until) {
    for (Nanos next = next_moment(); next <= until; next = next_moment()) {
        links_.advance(next);
        for (std::uint32_t network = 0; network < networks_.size(); ++network) {
            Progress& progress = progress_[network];
            if (progress.is_over) continue;
            if (!progress.is_measured && next >= networks_[network].scenario.warmup) begin_measurement(network);
            if (next >= progress.next_sample) sample(network);
            if (next >= networks_[network].scenario.duration) finish(network);
        }
    }
    links_.advance(until);
}

void LinkEmulator::begin_measurement(std::uint32_t network) {
    Progress& progress = progress_[network];
    progress.is_measured = true;
    for (std::uint32_t i = 0; i < progress.warmed.size(); ++i) {
        Link& link = links_.links()[progress.first_link + i];
        progress.warmed[i] = {link.stats(), link.busy_until(links_.now()), link.queue_time_until(links_.now())};
        link.restart_max_queue(links_.now());
    }
}

void LinkEmulator::sample(std::uint32_t network) {
    Progress& progress = progress_[network];
    Row row{network, seconds(progress.next_sample), {}};
    for (std::uint32_t i = 0; i < progress.previous.size(); ++i) {
        const Link& link = links_.links()[progress.first_link + i];
        Baseline& before = progress.previous[i];
        const Baseline now{link.stats(), link.busy_until(links_.now()), Nanos(0)};
        row.values.push_back(static_cast<double>(link.queue_pkts(links_.now())));
        row.values.push_back(static_cast<double>(drops_of(now.stats) - drops_of(before.stats)));
        row.values.push_back(static_cast<double>(now.stats.marks - before.stats.marks));
        row.values.push_back(seconds(now.busy - before.busy) / seconds(sample_interval_));
        before = now;
    }
    ++progress.samples;
    progress.next_sample = sample_interval_ * (progress.samples + 1);
    {
        const std::lock_guard lock(mutex_);
        rows_.push_back(std::move(row));
    }
    publish();
}

void LinkEmulator::publish() {
    const std::lock_guard lock(mutex_);
    published_conversations_ = conversations_;
}

// Ends the measurement of a network, unless it has ended before.
void LinkEmulator::finish(std::uint32_t network) {
    Progress& progress = progress_[network];
    if (progress.is_over) return;
    progress.is_over = true;
    const Scenario& scenario = networks_[network].scenario;
    const Nanos now = links_.now();
    const double measured_s = std::max(1e-9, seconds(now - scenario.warmup));
    results_.networks.resize(networks_.size());
    for (std::uint32_t i = 0; i < progress.warmed.size(); ++i) {
        const Link& link = links_.links()[progress.first_link + i];
        const LinkStats& stats = link.stats();
        const Baseline& base = progress.warmed[i];
        results_.networks[network].links.push_back({
            scenario.links[i].name,
            seconds(link.busy_until(now) - base.busy) / measured_s,
            stats.drops_queue - base.stats.drops_queue,
            stats.drops_random - base.stats.drops_random,
            stats.drops_down - base.stats.drops_down,
            stats.marks - base.stats.marks,
            seconds(link.queue_time_until(now) - base.queue_time) / measured_s,
            link.max_queue_pkts(),
        });
    }
}

std::vector<LinkEmulator::Row> LinkEmulator::take_samples() {
    const std::lock_guard lock(mutex_);
    return std::exchange(rows_, {});
}

std::vector<Conversation> LinkEmulator::conversations() const {
    const std::lock_guard lock(mutex_);
    return published_conversations_;
}

}  // namespace subflow
