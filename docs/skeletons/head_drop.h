// Head drop: a packet that finds the queue full takes the place of the oldest one. Save as
// sim/core/queue_disc/head_drop.h. Source: Linux sch_fifo.c, pfifo_head_drop.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "../fields.h"
#include "../memory.h"
#include "../ring.h"
#include "codel.h"  // Waiting

namespace subflow {

struct HeadDropOptions {
    static constexpr std::string_view kName = "head_drop";
    std::uint32_t at_once = 1;  // packets that are dropped for one that finds no room

    bool may_mark() const { return false; }
    // In the middle of a message; empty: all is right.
    std::string_view problem() const { return at_once >= 1 ? "" : "head drop drops at least one packet"; }
};
SUBFLOW_FIELDS(HeadDropOptions, at_once)

class HeadDropQueue {
public:
    using Options = HeadDropOptions;

    HeadDropQueue() = default;
    explicit HeadDropQueue(const Options& options) : options_(options) {}

    std::int64_t pkts() const { return packets_.size(); }
    Bytes bytes() const { return size_; }

    void enqueue(const Waiting& waiting) {
        packets_.push_back(waiting);
        size_ += Bytes(waiting.packet.size);
    }
    // The packet to send at `now`; a discipline that marks counts in `marks`.
    template <class Drop>
    std::optional<Waiting> dequeue(Nanos /*now*/, Drop&& /*drop*/, std::int64_t& /*marks*/) {
        return packets_.empty() ? std::nullopt : std::optional(pop());
    }
    // Leave it out where a packet that does not fit is dropped itself.
    template <class Drop>
    void make_room(Drop&& drop) {
        for (std::uint32_t n = 0; n < options_.at_once && !packets_.empty(); ++n) drop(pop());
    }
    template <class Drop>
    void clear(Drop&& drop) {
        while (!packets_.empty()) drop(pop());
    }
    // From the head on, for pictures of a moment.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::uint32_t pos = packets_.begin_pos(); pos != packets_.end_pos(); ++pos) visit(packets_[pos]);
    }
    std::size_t heap_bytes() const { return heap_bytes_of(packets_); }

private:
    Waiting pop() {
        const Waiting head = packets_.front();
        packets_.pop_front();
        size_ -= Bytes(head.packet.size);
        return head;
    }

    Options options_;
    Ring<Waiting> packets_;
    Bytes size_{};
};

}  // namespace subflow
