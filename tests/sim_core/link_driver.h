// Feeds a single link like the network, and collects the packets that leave it.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "link.h"

namespace subflow::testing {

using namespace subflow::literals;

// 8 Mbit/s: a 1000-byte packet takes exactly 1 ms.
inline LinkSpec link_spec(Nanos delay = Nanos(0)) {
    LinkSpec spec;
    spec.name = "l/forward";
    spec.rate = 8_Mbps;
    spec.delay = delay;
    return spec;
}

inline Packet packet(std::uint32_t seq, std::uint16_t size = 1000, std::uint32_t subflow = 0) {
    Packet p;
    p.seq = seq;
    p.size = size;
    p.subflow = subflow;
    return p;
}

struct Delivery {
    Packet packet;
    Nanos at;
};

class LinkDriver {
public:
    explicit LinkDriver(LinkSpec spec, std::uint64_t seed = 1) : spec_(std::move(spec)), link_(spec_, seed) {}
    LinkDriver(const LinkDriver&) = delete;  // the link may refer to the spec
    LinkDriver& operator=(const LinkDriver&) = delete;

    // Offers a packet at `now`, after all earlier and simultaneous events.
    Verdict offer(const Packet& p, Nanos now, std::uint64_t draw = 0) {
        run_until(now);
        const Verdict verdict = link_.offer(p, now, draw);
        Packet kept = p;
        if (verdict == Verdict::Marked) kept.mark();
        if (verdict == Verdict::Accepted || verdict == Verdict::Marked) link_.hold(kept);
        collect(now);
        return verdict == Verdict::Kept ? Verdict::Accepted : verdict;
    }

    void run_until(Nanos until) {
        while (link_.next_event() <= until) {
            const Nanos now = link_.next_event();
            if (!link_.is_predictable()) {
                link_.serve(now);
                collect(now);
            }
            if (link_.next_arrival() <= now) arrived.push_back({link_.take_arrival(), now});
        }
    }

    Link& link() { return link_; }

    std::vector<Delivery> arrived;
    std::vector<Delivery> dropped;  // by a managed queue

    // Arrivals as (sequence number, microseconds).
    std::vector<std::pair<std::uint32_t, std::int64_t>> arrivals_us() const {
        std::vector<std::pair<std::uint32_t, std::int64_t>> out;
        for (const Delivery& d : arrived) out.emplace_back(d.packet.seq, d.at / 1_us);
        return out;
    }

private:
    void collect(Nanos now) {
        link_.take_dropped([&](const Packet& p, Verdict) { dropped.push_back({p, now}); });
    }

    LinkSpec spec_;
    Link link_;
};

// Times of a Poisson process: the gaps are -mean * ln(1 - u).
class PoissonTimes {
public:
    PoissonTimes(Nanos mean_gap, std::uint64_t seed) : mean_(mean_gap), seed_(seed) {}
    Nanos next() {
        const double u = to_unit_interval(combine64(seed_, count_++));
        at_ += Nanos(static_cast<std::int64_t>(-std::log1p(-u) * static_cast<double>(mean_.value)));
        return at_;
    }

private:
    Nanos mean_;
    std::uint64_t seed_;
    std::uint64_t count_ = 0;
    Nanos at_{};
};

}  // namespace subflow::testing
