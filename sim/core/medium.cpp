#include "medium.h"

#include <algorithm>

#include "rng.h"

namespace subflow {

std::uint32_t Medium::add(std::uint32_t link, const AccessOptions& options, std::uint64_t stream) {
    Station station;
    station.link = link;
    station.options = options;
    station.stream = stream;
    station.window = options.window_min;
    stations_.push_back(station);
    last_turn_ = station_count() - 1;
    return last_turn_;
}

Nanos Medium::access_at(std::uint32_t station) const {
    const Station& s = stations_[station];
    if (!s.wants) return kNever;
    return s.counts_from + kSlot * s.backoff;
}

void Medium::note(std::uint32_t station, bool wants, Nanos now) {
    Station& s = stations_[station];
    if (wants && !s.wants) {
        s.counts_from = std::max(idle_at_, now);
        if (s.options.kind == AccessKind::Contention) {
            // slots begin with the idle time of the medium
            const Nanos first = idle_at_ + kDifs;
            const std::int64_t slots = now > first ? (now - first + kSlot - Nanos(1)) / kSlot : 0;
            s.counts_from = first + kSlot * slots;
            draw_backoff(s);
        }
    }
    s.wants = wants;
}

void Medium::draw_backoff(Station& s) {
    const double draw = to_unit_interval(combine64(s.stream, ++s.draws));
    s.backoff = static_cast<std::uint32_t>(draw * static_cast<double>(s.window + 1));
}

std::vector<std::uint32_t> Medium::senders(Nanos now) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t k = 1; k <= station_count(); ++k) {
        const std::uint32_t station = (last_turn_ + k) % station_count();
        if (access_at(station) > now) continue;
        found.push_back(station);
        if (stations_[station].options.kind == AccessKind::Turns) break;
    }
    return found;
}

// The others stop counting until the medium is idle again.
void Medium::wait_for(Nanos end, Nanos now) {
    idle_at_ = end;
    for (Station& s : stations_) {
        if (!s.wants) continue;
        if (s.options.kind == AccessKind::Contention) {
            if (s.counts_from <= now) {
                const auto elapsed = static_cast<std::uint32_t>((now - s.counts_from) / kSlot) + 1;
                s.backoff -= std::min(s.backoff, elapsed);
            }
            s.counts_from = end + kDifs;
        } else {
            s.counts_from = end;
        }
    }
}

void Medium::on_sent(std::uint32_t station, Nanos now, Nanos end) {
    Station& s = stations_[station];
    ++attempts_;
    last_turn_ = station;
    wait_for(end, now);
    s.retries = 0;
    s.window = s.options.window_min;
    if (s.options.kind == AccessKind::Contention) draw_backoff(s);
}

std::vector<std::uint32_t> Medium::on_collision(const std::vector<std::uint32_t>& stations, Nanos now, Nanos end) {
    std::vector<std::uint32_t> given_up;
    wait_for(end, now);
    for (const std::uint32_t station : stations) {
        Station& s = stations_[station];
        ++attempts_;
        ++collided_attempts_;
        s.window = std::min(2 * s.window + 1, s.options.window_max);
        if (++s.retries > kMostRetries) {
            s.retries = 0;
            s.window = s.options.window_min;
            given_up.push_back(station);
        }
        draw_backoff(s);
    }
    return given_up;
}

}  // namespace subflow
