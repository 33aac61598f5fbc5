#include "traffic.h"

#include <algorithm>
#include <utility>

#include "rng.h"

namespace subflow {

namespace {

std::uint64_t stream_of(std::uint64_t seed, std::string_view purpose, std::string_view name) {
    return combine64(combine64(seed, hash_name(purpose)), hash_name(name));
}

// Exponential draw with mean `mean_ns`, rounded to the nearest nanosecond.
Nanos exponential(std::uint64_t stream, std::uint64_t purpose, std::uint64_t ordinal, double mean_ns) {
    const double drawn = mean_ns * unit_exponential(combine64(combine64(stream, purpose), ordinal));
    return Nanos(static_cast<std::int64_t>(drawn + 0.5));
}

}  // namespace

DatagramSource::DatagramSource(FlowKind kind, const DatagramSpec& spec, std::uint64_t seed, std::string_view name)
    : stream_(stream_of(seed, "datagrams", name)),
      interval_ns_(static_cast<double>(spec.packet.value) * 8e9 / spec.rate.value),
      mean_on_(spec.mean_on),
      mean_off_(spec.mean_off),
      is_bursty_(kind == FlowKind::OnOff),
      is_poisson_(spec.spacing == Spacing::Poisson) {}

Nanos DatagramSource::draw(Draw what, std::uint64_t ordinal, double mean_ns) const {
    return exponential(stream_, static_cast<std::uint64_t>(what), ordinal, mean_ns);
}

void DatagramSource::start(Nanos now) {
    burst_start_ = now;
    burst_end_ = is_bursty_ ? now + draw(Draw::On, bursts_++, static_cast<double>(mean_on_.value)) : kNever;
    on_before_burst_ = Nanos(0);
    sent_since_start_ = 0;
    // A Poisson process does not start with a packet: the first packet follows after a gap like all others.
    due_ = is_poisson_ ? draw(Draw::Gap, gaps_++, interval_ns_) : Nanos(0);
    plan();
}

bool DatagramSource::wake() {
    const bool sends = sends_at_wake_;
    if (sends) {
        ++sent_;
        ++sent_since_start_;
        if (is_poisson_) {
            due_ += draw(Draw::Gap, gaps_++, interval_ns_);
        } else {
            // Computed from the packet number, so that the rate is exact.
            due_ = Nanos(static_cast<std::int64_t>(static_cast<double>(sent_since_start_) * interval_ns_));
        }
    }
    plan();
    return sends;
}

// Plans the next packet if the burst lasts until then, else a wake-up at the start of the next burst: one step per
// burst, however many bursts are empty.
void DatagramSource::plan() {
    const Nanos departure = burst_start_ + (due_ - on_before_burst_);
    sends_at_wake_ = departure < burst_end_;
    if (sends_at_wake_) {
        wake_at_ = departure;
        return;
    }
    on_before_burst_ += burst_end_ - burst_start_;
    burst_start_ = burst_end_ + draw(Draw::Off, bursts_, static_cast<double>(mean_off_.value));
    burst_end_ = burst_start_ + draw(Draw::On, bursts_++, static_cast<double>(mean_on_.value));
    wake_at_ = burst_start_;
}

std::vector<Arrival> poisson_arrivals(const ArrivalSpec& spec, std::uint64_t seed, std::string_view name) {
    constexpr Nanos kMaxGap = from_seconds(1e6);
    if (spec.mean_gap <= Nanos(0) || spec.mean_gap > kMaxGap)
        throw ScenarioError("arrivals: the mean gap must be in (0, 1e6] s");
    if (spec.until >= kNever && spec.limit <= 0) throw ScenarioError("arrivals: need an end or a limit");
    constexpr std::uint64_t kGap = 0;
    constexpr std::uint64_t kLifetime = 1;
    const std::uint64_t stream = stream_of(seed, "arrivals", name);
    std::vector<Arrival> arrivals;
    Nanos at = spec.from;
    for (std::uint64_t k = 0; spec.limit <= 0 || std::cmp_less(k, spec.limit); ++k) {
        at += exponential(stream, kGap, k, static_cast<double>(spec.mean_gap.value));
        if (at >= spec.until) break;
        Nanos lifetime = spec.lifetime;
        // A lifetime of at least one nanosecond, so that even the shortest flow exists.
        if (spec.is_lifetime_exponential && lifetime < kNever)
            lifetime = std::max(Nanos(1), exponential(stream, kLifetime, k, static_cast<double>(lifetime.value)));
        arrivals.push_back({at, lifetime});
    }
    return arrivals;
}

std::vector<Pause> random_outages(std::string_view name, std::uint64_t seed, Nanos mean_up, Nanos mean_down,
                                  Nanos until) {
    if (mean_up <= Nanos(0) || mean_down <= Nanos(0)) throw ScenarioError("outages: mean times must be greater than 0");
    constexpr std::uint64_t kUp = 0;
    constexpr std::uint64_t kDown = 1;
    const std::uint64_t stream = stream_of(seed, "outages", name);
    std::vector<Pause> outages;
    for (Nanos at{};;) {
        const std::uint64_t k = outages.size();
        const Nanos from = at + std::max(Nanos(1), exponential(stream, kUp, k, static_cast<double>(mean_up.value)));
        if (from >= until) return outages;
        at = from + std::max(Nanos(1), exponential(stream, kDown, k, static_cast<double>(mean_down.value)));
        outages.push_back({from, at});
    }
}

}  // namespace subflow
