// Flow queueing with CoDel: each flow has a separate queue, served in turn, new flows first.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "../memory.h"
#include "../rng.h"
#include "codel.h"

namespace subflow {

struct FqCodelOptions {
    static constexpr std::string_view kName = "fq_codel";
    CodelOptions codel;
    Bytes quantum{1514};
    std::uint32_t flows = 1024;

    bool may_mark() const { return codel.may_mark(); }
    std::string_view problem() const {
        if (const std::string_view found = codel.problem(); !found.empty()) return found;
        // A smaller quantum would take thousands of turns per large packet.
        if (quantum.value < 64 || quantum.value > 1'000'000) return "FQ-CoDel's quantum must be in [64, 1000000] bytes";
        if (flows < 1 || flows > 65536) return "FQ-CoDel needs 1 to 65536 queues";
        return {};
    }
};
SUBFLOW_FIELDS(FqCodelOptions, codel, quantum, flows)

// Source: RFC 8290 sections 3 and 4. A flow is the data or ACKs of one subflow in one direction. Its queue is a pure
// function of the flow, so that hash collisions are the same in each run.
class FqCodelQueue {
public:
    using Options = FqCodelOptions;

    FqCodelQueue() = default;
    explicit FqCodelQueue(const FqCodelOptions& options) : options_(options), flows_(options.flows) {}

    std::int64_t pkts() const { return pkts_; }
    Bytes bytes() const { return bytes_; }

    void enqueue(const Waiting& waiting);

    // The packet to send now; empty if the queue is empty or all packets were dropped. drop(waiting) gets the packets
    // that CoDel drops, and `marks` counts its marks.
    template <class Drop>
    std::optional<Waiting> dequeue(Nanos now, Drop&& drop, std::int64_t& marks) {
        for (;;) {
            List& list = new_.head != kNone ? new_ : old_;
            if (list.head == kNone) return std::nullopt;
            const std::uint32_t index = list.head;
            Flow& flow = flows_[index];
            if (flow.deficit <= 0) {
                flow.deficit += options_.quantum.value;
                move_head(list, &old_);
                continue;
            }
            FlowView view{*this, flow};
            const std::optional<Waiting> next = flow.control.dequeue(view, now, options_.codel, mtu_, drop, marks);
            if (next) {
                flow.deficit -= next->packet.size;
                return next;
            }
            // An empty new queue passes through the old list once; otherwise a flow of single packets could starve the
            // others.
            move_head(list, &list == &new_ ? &old_ : nullptr);
        }
    }

    // Makes room: drops half the packets, at least one and at most 64, from the head of the queue with the most bytes.
    template <class Drop>
    void make_room(Drop&& drop) {
        Flow& flow = flows_[largest_queue()];
        FlowView view{*this, flow};
        for (std::int64_t left = flow.pkts < 4 ? 1 : flow.pkts < 128 ? flow.pkts / 2 : 64; left > 0; --left)
            drop(view.pop());
    }

    template <class Drop>
    void clear(Drop&& drop) {
        for (Flow& flow : flows_) {
            FlowView view{*this, flow};
            while (!view.empty()) drop(view.pop());
        }
    }

    // Calls visit(waiting) for each packet, in the order of dequeue() without arrivals or drops. Too slow to be called
    // for every packet.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const std::uint32_t node : order_of_service()) visit(nodes_[node].waiting);
    }

    std::size_t heap_bytes() const { return heap_bytes_of(flows_, nodes_); }

private:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    struct Node {
        Waiting waiting;
        std::uint32_t next = kNone;
    };
    struct Flow {
        std::uint32_t first = kNone;  // indices into nodes_
        std::uint32_t last = kNone;
        std::uint32_t next_listed = kNone;
        bool is_listed = false;
        std::int64_t pkts = 0;
        Bytes bytes{};
        std::int64_t deficit = 0;
        Codel control;
    };
    struct List {
        std::uint32_t head = kNone;  // indices into flows_
        std::uint32_t tail = kNone;
    };
    // A flow's queue in the form that CoDel expects.
    struct FlowView {
        FqCodelQueue& all;
        Flow& flow;
        bool empty() const { return flow.first == kNone; }
        Bytes bytes() const { return flow.bytes; }
        Waiting pop() { return all.pop(flow); }
    };

    Waiting pop(Flow& flow);
    std::uint32_t largest_queue() const;
    std::vector<std::uint32_t> order_of_service() const;  // indices into nodes_
    void append(List& list, std::uint32_t flow);
    // Moves the first flow of a list to the end of another; removes it if `to` is null.
    void move_head(List& from, List* to);

    FqCodelOptions options_;
    std::vector<Flow> flows_;
    std::vector<Node> nodes_;
    std::uint32_t free_node_ = kNone;
    List new_;
    List old_;
    std::int64_t pkts_ = 0;
    Bytes bytes_{};
    Bytes mtu_{};
};

}  // namespace subflow
