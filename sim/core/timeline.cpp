#include "timeline.h"

#include <algorithm>

#include "rng.h"

namespace subflow {

Timeline::Timeline(const Scenario& scenario, std::uint64_t seed) {
    for (std::uint32_t i = 0; i < scenario.flows.size(); ++i) {
        const FlowSpec& flow = scenario.flows[i];
        const double draw = to_unit_interval(combine64(combine64(seed, hash_name("start")), hash_name(flow.name)));
        const Nanos jitter(static_cast<std::int64_t>(draw * static_cast<double>(scenario.start_jitter.value)));
        const Nanos start = flow.start + jitter;
        const Nanos stop = flow.lifetime < kNever ? std::min(flow.stop, start + flow.lifetime) : flow.stop;
        entries_.push_back({start, i, Kind::FlowStart});
        if (stop < kNever) entries_.push_back({stop, i, Kind::FlowStop});
    }
    for (std::uint32_t i = 0; i < scenario.events.size(); ++i)
        entries_.push_back({scenario.events[i].at, i, Kind::Change});
    std::ranges::stable_sort(entries_, {}, &Entry::at);
}

void Timeline::add(std::span<const EventSpec> changes, Nanos at) {
    const auto place = std::ranges::upper_bound(entries_, at, {}, &Entry::at);
    std::vector<Entry> added;
    for (const EventSpec& change : changes) {
        added.push_back({at, static_cast<std::uint32_t>(live_changes_.size()), Kind::LiveChange});
        live_changes_.push_back(change);
        live_changes_.back().at = at;
    }
    entries_.insert(place, added.begin(), added.end());
}

}  // namespace subflow
