#include "medium.h"

#include <algorithm>

#include "rng.h"

namespace subflow {

namespace {

bool hear(const AccessOptions& one, const AccessOptions& other) {
    return one.group == 0 || other.group == 0 || one.group == other.group;
}

}  // namespace

std::uint32_t Medium::add(std::uint32_t link, const AccessOptions& options, std::uint64_t stream) {
    Station station;
    station.link = link;
    station.options = options;
    station.stream = stream;
    station.window = options.window_min;
    for (const Station& other : stations_) has_hidden_ = has_hidden_ || !hear(other.options, options);
    stations_.push_back(station);
    last_turn_ = station_count() - 1;
    return last_turn_;
}

Nanos Medium::access_at(std::uint32_t station) const {
    const Station& s = stations_[station];
    if (s.is_sending) return s.ends_at;
    if (!s.wants) return kNever;
    return s.counts_from + kSlot * s.backoff;
}

void Medium::note(std::uint32_t station, bool wants, Nanos now) {
    Station& s = stations_[station];
    if (wants && !s.wants && !s.is_sending) {
        s.counts_from = std::max(s.idle_at, now);
        if (s.options.kind == AccessKind::Contention) {
            // Slots begin one DIFS after the end of the latest access.
            const Nanos first = s.idle_at + kDifs;
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
        if (stations_[station].is_sending || access_at(station) > now) continue;
        found.push_back(station);
        if (stations_[station].options.kind == AccessKind::Turns) break;
    }
    return found;
}

void Medium::pause_until(Station& s, Nanos end, Nanos now) {
    s.idle_at = std::max(s.idle_at, end);
    if (!s.wants) return;
    if (s.options.kind == AccessKind::Turns) {
        s.counts_from = end;
        return;
    }
    if (s.counts_from <= now) {
        const auto elapsed = static_cast<std::uint32_t>((now - s.counts_from) / kSlot) + 1;
        s.backoff -= std::min(s.backoff, elapsed);
    }
    s.counts_from = s.idle_at + kDifs;
}

void Medium::on_sent(std::uint32_t station, Nanos now, Nanos end) {
    Station& s = stations_[station];
    attempts_ += end > now;
    last_turn_ = station;
    for (Station& each : stations_) pause_until(each, end, now);
    s.retries = 0;
    s.window = s.options.window_min;
    if (s.options.kind == AccessKind::Contention) draw_backoff(s);
}

std::vector<std::uint32_t> Medium::on_collision(const std::vector<std::uint32_t>& stations, Nanos now, Nanos end) {
    std::vector<std::uint32_t> given_up;
    for (Station& each : stations_) pause_until(each, end, now);
    for (const std::uint32_t station : stations) {
        ++attempts_;
        if (gives_up_after_collision(stations_[station])) given_up.push_back(station);
    }
    return given_up;
}

bool Medium::gives_up_after_collision(Station& s) {
    ++collided_attempts_;
    s.window = std::min(2 * s.window + 1, s.options.window_max);
    const bool gives_up = ++s.retries > kMostRetries;
    if (gives_up) {
        s.retries = 0;
        s.window = s.options.window_min;
    }
    draw_backoff(s);
    return gives_up;
}

void Medium::begin(std::uint32_t station, Nanos now, Nanos end) {
    Station& s = stations_[station];
    ++attempts_;
    last_turn_ = station;
    s.is_sending = true;
    s.is_hit = false;
    s.ends_at = end;
    for (Station& other : stations_) {
        if (&other == &s) continue;
        if (other.is_sending) {
            other.is_hit = true;
            s.is_hit = true;
        }
        if (!hear(other.options, s.options)) continue;
        if (other.is_sending)
            other.idle_at = std::max(other.idle_at, end);  // resumes counting then, after its own access
        else
            pause_until(other, end, now);
    }
}

Medium::Outcome Medium::end(std::uint32_t station) {
    Station& s = stations_[station];
    s.is_sending = false;
    s.idle_at = std::max(s.idle_at, s.ends_at);
    s.counts_from = s.idle_at + kDifs;
    if (s.is_hit) return gives_up_after_collision(s) ? Outcome::GivenUp : Outcome::Again;
    s.retries = 0;
    s.window = s.options.window_min;
    draw_backoff(s);
    return Outcome::Sent;
}

}  // namespace subflow
