// A medium that several link directions share: overlapping transmissions collide, or a scheduler prevents them.
#pragma once

#include <cstdint>
#include <vector>

#include "fields.h"
#include "memory.h"
#include "units.h"

namespace subflow {

enum class AccessKind : std::uint8_t {
    Contention,  // stations listen, wait a random number of slots, and may collide: Wi-Fi
    Turns,       // a scheduler polls the stations in turn
};
SUBFLOW_WORDS(AccessKind, "wifi", "cell")

// Options for the access of a link direction to its medium.
struct AccessOptions {
    std::uint32_t medium = 0;  // any number, equal for all links of a medium
    AccessKind kind = AccessKind::Contention;
    std::uint32_t aggregation = 1;  // largest number of packets sent together
    Nanos airtime{};                // no packet of an access begins later than this after the first
    Nanos overhead{};               // time of an access besides its packets: preamble, headers, acknowledgement
    std::uint32_t window_min = 15;  // contention window, in slots
    std::uint32_t window_max = 1023;
    std::uint32_t group = 0;  // contention: groups are hidden from each other, but not from group 0
};
SUBFLOW_FIELDS(AccessOptions, medium, kind, aggregation, airtime, overhead, window_min, window_max, group)

// 802.11 at 5 GHz: IEEE 802.11-2020 table 17-21 (slot, SIFS), section 10.3.2.3.7 (DIFS), table 9-155 (retries).
inline constexpr Nanos kSlot{9'000};
inline constexpr Nanos kDifs{34'000};
inline constexpr std::uint32_t kMostRetries = 7;

// Contention is the distributed coordination function with the conventions of Bianchi 2000 ("Performance analysis of
// the IEEE 802.11 distributed coordination function"). A station with packets waits for an idle medium and counts down
// a uniform number of slots. While a station sends, all other stations stop counting, and the transmission counts as
// one slot. Stations that begin in the same slot collide, double their windows, and try again.
// DEVIATION: a station whose queue was empty also counts down before its first packet.
//
// Stations of different groups do not hear each other: they keep counting while another group sends, and overlapping
// accesses are all lost, as at a receiver between the stations (Tobagi and Kleinrock 1975, "Packet switching in radio
// channels: Part II - The hidden terminal problem in carrier sense multiple-access").
// DEVIATION: the acknowledgement, which a hidden station would hear, is a part of the access that may overlap; the
// duration of an access follows from the mean size of the waiting packets.
class Medium {
public:
    // Returns the number of the station.
    std::uint32_t add(std::uint32_t link, const AccessOptions& options, std::uint64_t stream);

    std::uint32_t station_count() const { return static_cast<std::uint32_t>(stations_.size()); }
    std::uint32_t link_of(std::uint32_t station) const { return stations_[station].link; }
    // Time at which the station sends if no other station sends earlier; while it sends, the end of its access. kNever:
    // no packets to send.
    Nanos access_at(std::uint32_t station) const;

    // Updates whether the station has packets to send.
    void note(std::uint32_t station, bool wants, Nanos now);
    // The stations that send now: none, one, or several that collide.
    std::vector<std::uint32_t> senders(Nanos now) const;
    // Records that only this station sends, from `now` to `end`; an end at `now` is a turn that the station skips.
    void on_sent(std::uint32_t station, Nanos now, Nanos end);
    // Records that these stations collide, from `now` to `end`. Returns the stations that discard their packets.
    std::vector<std::uint32_t> on_collision(const std::vector<std::uint32_t>& stations, Nanos now, Nanos end);

    // True if some stations are hidden from each other. Only the end of an access then decides about its loss, and
    // begin() and end() replace on_sent() and on_collision().
    bool has_hidden() const { return has_hidden_; }
    bool is_sending(std::uint32_t station) const { return stations_[station].is_sending; }
    void begin(std::uint32_t station, Nanos now, Nanos end);
    // Fate of an access: received, to be repeated, or its packets discarded after too many attempts.
    enum class Outcome : std::uint8_t { Sent, Again, GivenUp };
    Outcome end(std::uint32_t station);

    std::int64_t attempts() const { return attempts_; }
    std::int64_t collided_attempts() const { return collided_attempts_; }
    std::size_t heap_bytes() const { return heap_bytes_of(stations_); }

private:
    struct Station {
        std::uint32_t link = 0;
        AccessOptions options;
        std::uint64_t stream = 0;
        std::uint64_t draws = 0;
        std::uint32_t window = 0;
        std::uint32_t backoff = 0;  // slots to count down from counts_from
        std::uint32_t retries = 0;
        bool wants = false;
        bool is_sending = false;  // only with hidden stations
        bool is_hit = false;      // its access overlaps with another
        Nanos ends_at{};
        Nanos idle_at{};  // end of the latest access that the station hears
        Nanos counts_from{};
    };

    void draw_backoff(Station& station);
    // Stops the count of the station until the medium is idle again.
    static void pause_until(Station& station, Nanos end, Nanos now);
    bool gives_up_after_collision(Station& station);

    std::vector<Station> stations_;
    bool has_hidden_ = false;
    std::uint32_t last_turn_ = 0;
    std::int64_t attempts_ = 0;
    std::int64_t collided_attempts_ = 0;
};

}  // namespace subflow
