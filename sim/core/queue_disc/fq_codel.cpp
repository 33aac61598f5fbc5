#include "fq_codel.h"

#include <deque>

namespace subflow {

void FqCodelQueue::enqueue(const Waiting& waiting) {
    const Packet& packet = waiting.packet;
    const std::uint64_t key = std::uint64_t{packet.subflow} << 1 | (packet.kind() == PacketKind::Ack ? 1 : 0);
    const auto index = static_cast<std::uint32_t>(mix64(key) % flows_.size());
    std::uint32_t node = free_node_;
    if (node == kNone) {
        node = static_cast<std::uint32_t>(nodes_.size());
        nodes_.emplace_back();
    } else {
        free_node_ = nodes_[node].next;
    }
    nodes_[node] = {waiting, kNone};
    Flow& flow = flows_[index];
    if (flow.last == kNone) {
        flow.first = node;
    } else {
        nodes_[flow.last].next = node;
    }
    flow.last = node;
    const Bytes size(packet.size);
    ++flow.pkts;
    flow.bytes += size;
    ++pkts_;
    bytes_ += size;
    if (size > mtu_) mtu_ = size;
    if (!flow.is_listed) {
        flow.is_listed = true;
        flow.deficit = options_.quantum.value;
        append(new_, index);
    }
}

Waiting FqCodelQueue::pop(Flow& flow) {
    const std::uint32_t node = flow.first;
    const Waiting head = nodes_[node].waiting;
    flow.first = nodes_[node].next;
    if (flow.first == kNone) flow.last = kNone;
    nodes_[node].next = free_node_;
    free_node_ = node;
    const Bytes size(head.packet.size);
    --flow.pkts;
    flow.bytes -= size;
    --pkts_;
    bytes_ -= size;
    return head;
}

// Each flow with packets is in one of the lists, which are shorter than the array of all flows.
std::uint32_t FqCodelQueue::largest_queue() const {
    std::uint32_t found = kNone;
    for (const List& list : {new_, old_}) {
        for (std::uint32_t i = list.head; i != kNone; i = flows_[i].next_listed) {
            if (found == kNone || flows_[i].bytes > flows_[found].bytes) found = i;
        }
    }
    return found;
}

// Simulates the deficit round robin of dequeue() on the current lists.
std::vector<std::uint32_t> FqCodelQueue::order_of_service() const {
    struct Turn {
        std::uint32_t node;
        std::int64_t deficit;
    };
    std::deque<Turn> new_turns;
    std::deque<Turn> old_turns;
    const auto read = [this](const List& list, std::deque<Turn>& turns) {
        for (std::uint32_t i = list.head; i != kNone; i = flows_[i].next_listed)
            turns.push_back({flows_[i].first, flows_[i].deficit});
    };
    read(new_, new_turns);
    read(old_, old_turns);
    std::vector<std::uint32_t> order;
    order.reserve(static_cast<std::size_t>(pkts_));
    while (!new_turns.empty() || !old_turns.empty()) {
        std::deque<Turn>& turns = new_turns.empty() ? old_turns : new_turns;
        Turn& turn = turns.front();
        if (turn.node != kNone && turn.deficit > 0) {
            order.push_back(turn.node);
            turn.deficit -= nodes_[turn.node].waiting.packet.size;
            turn.node = nodes_[turn.node].next;
            continue;
        }
        const Turn next{turn.node, turn.deficit + options_.quantum.value};
        turns.pop_front();
        if (next.node != kNone) old_turns.push_back(next);
    }
    return order;
}

void FqCodelQueue::append(List& list, std::uint32_t flow) {
    flows_[flow].next_listed = kNone;
    if (list.tail == kNone) {
        list.head = flow;
    } else {
        flows_[list.tail].next_listed = flow;
    }
    list.tail = flow;
}

void FqCodelQueue::move_head(List& from, List* to) {
    const std::uint32_t flow = from.head;
    from.head = flows_[flow].next_listed;
    if (from.head == kNone) from.tail = kNone;
    if (to != nullptr) {
        append(*to, flow);
    } else {
        flows_[flow].is_listed = false;
    }
}

}  // namespace subflow
