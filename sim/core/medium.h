// What several link directions share: only one of them can send at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "memory.h"
#include "units.h"

namespace subflow {

enum class AccessKind : std::uint8_t {
    Contention,  // listen, wait a random number of slots, collide: Wi-Fi
    Turns,       // a scheduler asks one after the other
};

// How a link direction gets at its medium, and what it sends then.
struct AccessOptions {
    std::uint32_t medium = 0;  // which one, by any number
    AccessKind kind = AccessKind::Contention;
    std::uint32_t aggregation = 1;  // packets that are sent together, at most
    Nanos airtime{};                // none of them begins later than this after the first
    Nanos overhead{};               // of an access beside its packets: preamble, headers, acknowledgement
    std::uint32_t window_min = 15;  // of contention, in slots
    std::uint32_t window_max = 1023;
    std::uint32_t group = 0;  // of contention: who has another one is hidden; 0: hears all, and all hear it
};

// 802.11 at 5 GHz: IEEE 802.11-2020 table 17-21 (slot, SIFS), section 10.3.2.3.7 (DIFS), table 9-155 (retries).
inline constexpr Nanos kSlot{9'000};
inline constexpr Nanos kDifs{34'000};
inline constexpr std::uint32_t kMostRetries = 7;

// Contention is the distributed coordination function with the conventions of Bianchi 2000 ("Performance analysis of
// the IEEE 802.11 distributed coordination function"): a station that has something to send waits for an idle medium
// and counts down a uniform number of slots; the others stop counting while it sends, which counts as one slot; those
// that begin in the same slot collide, double their windows, and try again. DEVIATION: a station whose queue was empty
// counts down as well before its first packet.
//
// Stations of different groups do not hear each other: they count on while the other sends, and what overlaps anywhere
// is lost to both, as to a receiver between them (Tobagi and Kleinrock 1975, "Packet switching in radio channels: Part
// II - The hidden terminal problem in carrier sense multiple-access"). DEVIATION: the acknowledgement, which a hidden
// station would hear, is a part of what overlaps; how long an access takes follows from the mean size of what waits.
class Medium {
public:
    // Returns the number of the station.
    std::uint32_t add(std::uint32_t link, const AccessOptions& options, std::uint64_t stream);

    std::uint32_t station_count() const { return static_cast<std::uint32_t>(stations_.size()); }
    std::uint32_t link_of(std::uint32_t station) const { return stations_[station].link; }
    // When the station will send if no other does before; kNever: it has nothing to send.
    Nanos access_at(std::uint32_t station) const;

    // Says whether the station has something to send.
    void note(std::uint32_t station, bool wants, Nanos now);
    // The stations that send now: one, or several that collide.
    std::vector<std::uint32_t> senders(Nanos now) const;
    // One station sent alone, until `end`.
    void on_sent(std::uint32_t station, Nanos now, Nanos end);
    // Several did. Returns those that give up what they tried to send.
    std::vector<std::uint32_t> on_collision(const std::vector<std::uint32_t>& stations, Nanos now, Nanos end);

    // Whether any are hidden from each other. Then what a station sends is lost or not at its end, and these two take
    // the place of on_sent() and on_collision().
    bool has_hidden() const { return has_hidden_; }
    bool is_sending(std::uint32_t station) const { return stations_[station].is_sending; }
    void begin(std::uint32_t station, Nanos now, Nanos end);
    // It was sent, has to be sent again, or is given up.
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
        bool is_sending = false;  // where some are hidden
        bool is_hit = false;      // what it sends overlaps with something
        Nanos ends_at{};
        Nanos idle_at{};  // when the last that it hears ends
        Nanos counts_from{};
    };

    void draw_backoff(Station& station);
    // The station stops counting until the medium is idle again.
    static void pause_until(Station& station, Nanos end, Nanos now);
    bool gives_up_after_collision(Station& station);

    std::vector<Station> stations_;
    bool has_hidden_ = false;
    std::uint32_t last_turn_ = 0;
    std::int64_t attempts_ = 0;
    std::int64_t collided_attempts_ = 0;
};

}  // namespace subflow
