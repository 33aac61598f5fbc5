// DualPI2: two queues for one link. A short L queue for senders with a proportional response to marks is coupled to the
// classic queue of all others, so that each flow gets about the same rate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "../fields.h"
#include "../memory.h"
#include "../packet.h"
#include "../ring.h"
#include "../units.h"
#include "codel.h"

namespace subflow {

// Defaults of RFC 9332 appendix A.1, with a step as in Linux instead of its ramp from 0.8 to 1.2 ms.
struct DualPi2Options {
    static constexpr std::string_view kName = "dualpi2";
    Nanos target{15'000'000};  // delay of the classic queue
    Nanos update{16'000'000};  // update period of the probability
    double alpha_hz = 0.16;    // gain for the deviation of the delay from the target
    double beta_hz = 3.2;      // gain for the change of the delay
    double coupling = 2;       // k: coupled marking probability / square root of the classic probability
    Nanos step{1'000'000};     // packets that waited longer in the L queue are marked
    Nanos ramp{};              // range above the step in which the marking probability rises to 1 ("range")

    bool may_mark() const { return true; }
    std::string_view problem() const {
        const auto is_positive = [](Nanos time) { return time > Nanos(0) && is_time(time); };
        if (!is_positive(target) || !is_positive(step)) return "DualPI2's target and step must be positive times";
        if (!is_time(ramp)) return "DualPI2's ramp must be a time or 0";
        // Each update costs run time, even without packets.
        if (update < Nanos(100'000) || !is_time(update)) return "DualPI2's update must be at least 0.1 ms";
        if (!(coupling >= 1 && coupling <= 10)) return "DualPI2's coupling must be in [1, 10]";
        if (!(alpha_hz >= 0 && alpha_hz <= 1000 && beta_hz >= 0 && beta_hz <= 1000))
            return "DualPI2's gains must be in [0, 1000] Hz";
        return {};
    }
};
SUBFLOW_FIELDS(DualPi2Options, target, update, alpha_hz, beta_hz, coupling, step, ramp)

// Source: RFC 9332 appendix A, whose names appear in quotes; the scheduler is a weighted round robin as in Linux
// sch_dualpi2.c, with a tenth for the classic queue. Packets with ECT(1) or CE enter the L queue.
class DualPi2Queue {
public:
    using Options = DualPi2Options;

    DualPi2Queue() = default;
    explicit DualPi2Queue(const DualPi2Options& options) : options_(options) {}

    std::int64_t pkts() const { return scalable_.packets.size() + classic_.packets.size(); }
    Bytes bytes() const { return scalable_.size + classic_.size; }

    void enqueue(const Waiting& waiting) {
        advance(waiting.since);
        const Ecn ecn = waiting.packet.ecn();
        (ecn == Ecn::Ect1 || ecn == Ecn::Marked ? scalable_ : classic_).push(waiting);
    }

    // The packet to send now; empty if the queues are empty or all packets were dropped. drop(waiting) gets the dropped
    // packets, and `marks` counts the marks.
    template <class Drop>
    std::optional<Waiting> dequeue(Nanos now, Drop&& drop, std::int64_t& marks) {
        advance(now);
        while (pkts() != 0) {
            const bool is_scalable = takes_scalable();
            Waiting next = (is_scalable ? scalable_ : classic_).pop();
            spend(next, is_scalable);
            if (is_scalable ? !passes_scalable(next, now, marks) : !passes_classic(next, marks)) {
                drop(next);
                continue;
            }
            return next;
        }
        return std::nullopt;
    }

    template <class Drop>
    void clear(Drop&& drop) {
        for (Fifo* fifo : {&scalable_, &classic_})
            while (!fifo->packets.empty()) drop(fifo->pop());
    }

    // Calls visit(waiting) for each packet: first the L queue from its head, then the classic queue.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const Fifo* fifo : {&scalable_, &classic_})
            for (std::uint32_t pos = fifo->packets.begin_pos(); pos != fifo->packets.end_pos(); ++pos)
                visit(fifo->packets[pos]);
    }

    // p': the classic queue marks or drops with its square, the L queue marks with `coupling` times p'.
    double base_probability() const { return base_; }
    double classic_probability() const { return std::min(base_ * base_, most_classic()); }
    double coupled_probability() const { return std::min(options_.coupling * base_, 1.0); }
    // "laqm": marking probability from the waiting time in the L queue, independent of the classic queue.
    double native_probability(Nanos waited) const {
        if (waited <= options_.step) return 0;
        const Nanos beyond = waited - options_.step;
        return beyond < options_.ramp ? to_seconds(beyond) / to_seconds(options_.ramp) : 1;
    }

    std::size_t heap_bytes() const { return heap_bytes_of(scalable_.packets, classic_.packets); }

private:
    struct Fifo {
        Ring<Waiting> packets;
        Bytes size{};
        void push(const Waiting& waiting) {
            packets.push_back(waiting);
            size += Bytes(waiting.packet.size);
        }
        Waiting pop() {
            const Waiting head = packets.front();
            packets.pop_front();
            size -= Bytes(head.packet.size);
            return head;
        }
        Nanos delay(Nanos now) const { return packets.empty() ? Nanos(0) : now - packets.front().since; }
    };

    // "p_Cmax": when the L queue marks all packets, the classic queue drops as much as its flows tolerate.
    double most_classic() const { return std::min(1 / (options_.coupling * options_.coupling), 1.0); }
    bool is_overloaded() const { return options_.coupling * base_ >= 1; }

    // Applies the updates of the probability that are due by `now`. Call it before a packet enters or leaves: between
    // calls, the queues do not change.
    void advance(Nanos now) {
        if (next_update_ > now) return;
        if (pkts() == 0 && base_ == 0) {
            next_update_ = now + options_.update;
            last_delay_s_ = 0;
            return;
        }
        for (; next_update_ <= now; next_update_ += options_.update) {
            const double delay_s = to_seconds(std::max(scalable_.delay(next_update_), classic_.delay(next_update_)));
            base_ += options_.alpha_hz * (delay_s - to_seconds(options_.target)) +
                     options_.beta_hz * (delay_s - last_delay_s_);
            base_ = std::clamp(base_, 0.0, 1.0);
            last_delay_s_ = delay_s;
        }
    }

    bool takes_scalable() const {
        if (scalable_.packets.empty()) return false;
        return classic_.packets.empty() || credit_ > 0;
    }
    // The classic queue gets kClassicShare per cent of the link while both queues hold packets.
    void spend(const Waiting& next, bool is_scalable) {
        constexpr std::int64_t kClassicShare = 10;
        if (is_scalable) {
            if (!classic_.packets.empty()) credit_ -= kClassicShare * next.packet.size;
        } else if (!scalable_.packets.empty()) {
            credit_ += (100 - kClassicShare) * next.packet.size;
        }
    }

    bool passes_scalable(Waiting& next, Nanos now, std::int64_t& marks) {
        if (is_overloaded()) {
            if (recurs(scalable_count_, classic_probability())) return false;
            mark(next, marks);
            return true;
        }
        // A packet that leaves the L queue empty is not marked for its waiting time (RFC 9332 appendix A.1, "Th_len").
        const double native = scalable_.packets.empty() ? 0 : native_probability(now - next.since);
        if (recurs(scalable_count_, std::max(native, coupled_probability()))) mark(next, marks);
        return true;
    }
    bool passes_classic(Waiting& next, std::int64_t& marks) {
        if (!recurs(classic_count_, classic_probability())) return true;
        if (is_overloaded() || next.packet.ecn() == Ecn::NotCapable) return false;
        mark(next, marks);
        return true;
    }
    static void mark(Waiting& next, std::int64_t& marks) {
        if (next.packet.ecn() != Ecn::Marked && next.packet.mark()) ++marks;
    }
    // "recur": true for a share `likelihood` of the calls, evenly spaced.
    static bool recurs(double& count, double likelihood) {
        count += likelihood;
        if (count < 1) return false;
        count -= 1;
        return true;
    }

    DualPi2Options options_;
    Fifo scalable_;
    Fifo classic_;
    double base_ = 0;
    double last_delay_s_ = 0;
    double scalable_count_ = 0;
    double classic_count_ = 0;
    std::int64_t credit_ = 0;
    Nanos next_update_{};
};

}  // namespace subflow
