// Controlled delay: drops at the head of the queue when packets have waited above a target for too long.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "../fields.h"
#include "../memory.h"
#include "../packet.h"
#include "../ring.h"
#include "../units.h"

namespace subflow {

struct CodelOptions {
    static constexpr std::string_view kName = "codel";
    Nanos target{5'000'000};
    Nanos interval{100'000'000};
    bool marks = false;  // marks ECN-capable packets instead of dropping them
    // Packets that waited longer are marked, independently of the control law. Source: Linux codel_impl.h
    Nanos ce_threshold = kNever;

    bool may_mark() const { return marks || ce_threshold < kNever; }
    std::string_view problem() const {
        const bool is_right = target > Nanos(0) && is_time(target) && interval > Nanos(0) && is_time(interval);
        return is_right ? "" : "CoDel's target and interval must be positive";
    }
};
SUBFLOW_FIELDS(CodelOptions, target, interval, marks, ce_threshold)

// A packet in a queue that decides about packets when they leave.
struct Waiting {
    Packet packet;
    Nanos since{};
    std::int32_t extra_ns = 0;  // extra propagation delay of this packet on the link
};

// The control law for one first-in-first-out queue. Source: RFC 8289 section 5, with its names apart from the trailing
// underscores.
class Codel {
public:
    // The packet to send now; empty if the queue became empty. `queue` has empty(), pop() and bytes(); drop(waiting)
    // gets the dropped packets, and `marks` counts marks instead of drops. The control law leaves a queue of at most
    // `mtu` bytes alone: a drop would idle the link.
    template <class Queue, class Drop>
    std::optional<Waiting> dequeue(Queue& queue, Nanos now, const CodelOptions& options, Bytes mtu, Drop&& drop,
                                   std::int64_t& marks) {
        std::optional<Waiting> next = dequeue_by_law(queue, now, options, mtu, drop, marks);
        const bool is_late = next && now - next->since > options.ce_threshold && next->packet.ecn() != Ecn::Marked;
        if (is_late && next->packet.mark()) ++marks;
        return next;
    }

    bool is_dropping() const { return dropping_; }

private:
    template <class Queue, class Drop>
    std::optional<Waiting> dequeue_by_law(Queue& queue, Nanos now, const CodelOptions& options, Bytes mtu, Drop&& drop,
                                          std::int64_t& marks) {
        // A mark does not shorten the queue, but as after a drop, the control law waits for the effect on the sender.
        const auto marked = [&](Waiting& waiting) {
            if (!options.marks || !waiting.packet.mark()) return false;
            ++marks;
            return true;
        };
        bool ok_to_drop = false;
        std::optional<Waiting> next = pop(queue, now, options, mtu, ok_to_drop);
        if (dropping_) {
            if (!ok_to_drop) dropping_ = false;
            while (dropping_ && now >= drop_next_) {
                if (marked(*next)) {
                    ++count_;
                    drop_next_ = control_law(drop_next_, options);
                    break;
                }
                drop(*next);
                ++count_;
                next = pop(queue, now, options, mtu, ok_to_drop);
                if (ok_to_drop) {
                    drop_next_ = control_law(drop_next_, options);
                } else {
                    dropping_ = false;
                }
            }
        } else if (ok_to_drop) {
            if (!marked(*next)) {
                drop(*next);
                next = pop(queue, now, options, mtu, ok_to_drop);
            }
            dropping_ = true;
            // Soon after the last drop phase: restart from the drop rate that controlled the queue then.
            const std::uint32_t delta = count_ - last_count_;
            count_ = delta > 1 && now - drop_next_ < options.interval * 16 ? delta : 1;
            drop_next_ = control_law(now, options);
            last_count_ = count_;
        }
        return next;
    }

    template <class Queue>
    std::optional<Waiting> pop(Queue& queue, Nanos now, const CodelOptions& options, Bytes mtu, bool& ok_to_drop) {
        ok_to_drop = false;
        if (queue.empty()) {
            first_above_time_ = kUnset;
            return std::nullopt;
        }
        const Waiting head = queue.pop();
        if (now - head.since < options.target || queue.bytes() <= mtu) {
            first_above_time_ = kUnset;
        } else if (first_above_time_ == kUnset) {
            first_above_time_ = now + options.interval;
        } else {
            ok_to_drop = now >= first_above_time_;
        }
        return head;
    }

    Nanos control_law(Nanos t, const CodelOptions& options) const {
        const double gap = static_cast<double>(options.interval.value) / std::sqrt(static_cast<double>(count_));
        return t + Nanos(static_cast<std::int64_t>(gap));
    }

    static constexpr Nanos kUnset{-1};
    Nanos first_above_time_ = kUnset;
    Nanos drop_next_{};
    std::uint32_t count_ = 0;
    std::uint32_t last_count_ = 0;
    bool dropping_ = false;
};

// One queue under CoDel. The caller drops packets that exceed the limits on arrival.
class CodelQueue {
public:
    using Options = CodelOptions;

    CodelQueue() = default;
    explicit CodelQueue(const CodelOptions& options) : options_(options) {}

    std::int64_t pkts() const { return fifo_.packets.size(); }
    Bytes bytes() const { return fifo_.size; }

    void enqueue(const Waiting& waiting) {
        const Bytes size(waiting.packet.size);
        fifo_.packets.push_back(waiting);
        fifo_.size += size;
        if (size > mtu_) mtu_ = size;
    }

    template <class Drop>
    std::optional<Waiting> dequeue(Nanos now, Drop&& drop, std::int64_t& marks) {
        return control_.dequeue(fifo_, now, options_, mtu_, drop, marks);
    }

    template <class Drop>
    void clear(Drop&& drop) {
        while (!fifo_.empty()) drop(fifo_.pop());
    }

    // Calls visit(waiting) for each packet, starting at the head.
    template <class Visit>
    void for_each(Visit&& visit) const {
        const Ring<Waiting>& packets = fifo_.packets;
        for (std::uint32_t pos = packets.begin_pos(); pos != packets.end_pos(); ++pos) visit(packets[pos]);
    }

    std::size_t heap_bytes() const { return heap_bytes_of(fifo_.packets); }

private:
    struct Fifo {
        Ring<Waiting> packets;
        Bytes size{};
        bool empty() const { return packets.empty(); }
        Bytes bytes() const { return size; }
        Waiting pop() {
            const Waiting head = packets.front();
            packets.pop_front();
            size -= Bytes(head.packet.size);
            return head;
        }
    };

    CodelOptions options_;
    Fifo fifo_;
    Codel control_;
    Bytes mtu_{};  // largest packet so far, as in RFC 8289
};

}  // namespace subflow
