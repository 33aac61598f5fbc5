// The part of Network that decides how far packets are carried ahead of the clock.
//
// A discrete-event simulator spends most of its time on an event per packet and link. Most of these events are
// unnecessary. The departure of a packet from a drop-tail queue is known when it is enqueued, and with it the arrival
// at the next link. If no other packet can arrive there in between, the packet can be offered to the next link
// immediately, with a time ahead of the clock. The same holds for a receiver that depends only on these packets, and
// for the link of its answers. The simplest networks need only one event per ACK, at the sender.
//
// Each link must be offered packets in order, and neither a change of the scenario nor an observer may find a link that
// has already decided about later packets. Therefore
// - a link is offered packets ahead of the clock only if all of its packets come from one link (or from the receivers
//   that this one link feeds), or if it is a pure delay, on which packets do not influence each other,
// - a link with a managed queue (CoDel) is offered packets at the clock, and carries each packet on when its service
//   begins,
// - a link with overtaking or on a shared medium stays at the clock, and so do the next link and the receiver after it,
// - no packet is carried beyond the horizon: the end of the current run_until or the next change of the timeline. Later
//   packets wait on their link and are carried first when the horizon moves.
//
// The result equals, bit for bit, that of a simulation with one event per packet and link. The subflows of a connection
// share one order of data, which is restored afterwards (data_lane.h).
#include <algorithm>
#include <utility>

#include "network.h"

namespace subflow {

namespace {

// Origin of the packets that enter a link: one of these values, or the number of the only link that feeds it.
constexpr std::uint32_t kNowhere = 0xffffffff;
constexpr std::uint32_t kClock = 0xfffffffe;    // senders, timers, receivers that do not run ahead
constexpr std::uint32_t kSeveral = 0xfffffffd;  // several of these origins

}  // namespace

void Network::plan_lookahead() {
    // Links that are a pure delay during the whole run
    std::vector<bool> is_order_free(links_.size());
    for (std::size_t i = 0; i < links_.size(); ++i) is_order_free[i] = links_[i].is_order_free();
    for (const std::vector<EventSpec>* changes : {&scenario_->events, &timeline_.live_changes()})
        for (const EventSpec& change : *changes)
            if (change.link && (change.rate || change.loss_model)) is_order_free[*change.link] = false;

    std::vector<std::uint32_t> answering(links_.size(), 0);  // subflows whose ACKs enter the network at this link
    for (const Subflow& s : subflows_)
        if (s.ack_hops > 0) ++answering[hops_[s.ack_route].link];
    // A receiver may not answer ahead if its DATA_ACK depends on other subflows, unless the order of data is restored
    // afterwards. Nor may receivers that announce addresses: announcements can occur at any time.
    const auto may_answer_ahead = [&](const Subflow& s) {
        const Connection& c = connections_[s.connection];
        return !c.signals_addresses && (!c.is_multipath() || c.defers_data) && links_.size() < kNoAckGroup;
    };

    std::vector<std::uint32_t> feeder(links_.size(), kNowhere);
    const auto feed = [&](std::uint32_t link, std::uint32_t from) {
        feeder[link] = feeder[link] == kNowhere || feeder[link] == from ? from : kSeveral;
    };
    for (const Subflow& s : subflows_) {
        feed(hops_[s.route].link, kClock);
        for (std::uint32_t i = 1; i < s.hops; ++i) feed(hops_[s.route + i].link, hops_[s.route + i - 1].link);
        if (s.ack_hops == 0) continue;
        feed(hops_[s.ack_route].link, may_answer_ahead(s) ? hops_[s.route + s.hops - 1].link : kClock);
        for (std::uint32_t i = 1; i < s.ack_hops; ++i)
            feed(hops_[s.ack_route + i].link, hops_[s.ack_route + i - 1].link);
    }
    // True if packets leave a link in the order in which they are offered. False for a pure delay into which several
    // other links run ahead.
    const auto leaves_in_order = [&](std::uint32_t link) {
        while (is_order_free[link]) {
            if (feeder[link] == kClock) return true;
            if (feeder[link] >= kSeveral) return false;
            link = feeder[link];
        }
        return true;
    };
    const auto may_enter_ahead = [&](std::uint32_t link, std::uint32_t from) {
        if (!links_[link].is_predictable() || !links_[from].is_predictable_in_service()) return false;
        return is_order_free[link] || (feeder[link] == from && leaves_in_order(from));
    };

    for (const Subflow& s : subflows_) {
        const auto connect = [&](std::uint32_t first, std::uint32_t count) {
            for (std::uint32_t i = first; i + 1 < first + count; ++i)
                if (may_enter_ahead(hops_[i + 1].link, hops_[i].link)) hops_[i].leads = Leads::ToNextHop;
        };
        connect(s.route, s.hops);
        connect(s.ack_route, s.ack_hops);
        Hop& last = hops_[s.route + s.hops - 1];
        const bool is_one_way = sends_datagrams(connections_[s.connection].kind);
        if ((is_one_way && links_[last.link].is_predictable_in_service()) ||
            (may_answer_ahead(s) && may_enter_ahead(hops_[s.ack_route].link, last.link)))
            last.leads = Leads::ToReceiver;
    }
    order_held_links();
    group_ack_timers(is_order_free, answering);
}

// Receivers that answer ahead on a link in order share their timers of delayed ACKs. On a link without order, or on one
// of its own, a receiver needs only its own timer.
void Network::group_ack_timers(const std::vector<bool>& is_order_free, const std::vector<std::uint32_t>& answering) {
    ack_timers_.clear();
    std::vector<std::uint16_t> group_of(links_.size(), kNoAckGroup);
    for (std::uint32_t i = 0; i < subflows_.size(); ++i) {
        Subflow& s = subflows_[i];
        s.ack_group = kNoAckGroup;
        s.receiver.set_ack_timer(kNever);
        if (s.ack_hops == 0) continue;
        const std::uint32_t link = hops_[s.ack_route].link;
        const bool is_ahead = hops_[s.route + s.hops - 1].leads == Leads::ToReceiver;
        if (is_ahead && !is_order_free[link] && answering[link] > 1 &&
            scenario_->transport.delayed_ack != DelayedAck::Off) {
            if (group_of[link] == kNoAckGroup) {
                group_of[link] = static_cast<std::uint16_t>(ack_timers_.size());
                ack_timers_.emplace_back(i);
            }
            s.ack_group = group_of[link];
        }
        update_packet_checks(s, connections_[s.connection]);
        if (s.receiver.ack_deadline() < kNever) set_ack_timer(s, i);
    }
}

// Called after an unplanned change: a pure delay may have become a link that needs offers in order. All packets offered
// so far have arrived at this link, so that a new plan for later packets suffices.
void Network::replan_lookahead() {
    for (Connection& c : connections_)
        if (c.defers_data && !may_defer_data(c)) stop_deferring(c);
    for (Hop& hop : hops_) hop.leads = Leads::ToEvent;
    held_ahead_.clear();
    plan_lookahead();
    // A packet that waited without an event may need an event now.
    for (std::uint32_t i = 0; i < links_.size(); ++i)
        if (links_[i].next_event() < kNever) events_.schedule(link_source(i), links_[i].next_event());
}

// True if the arrivals on the subflows of a connection may be put into order afterwards. False if each acknowledgement
// needs its DATA_ACK when it leaves: for the receive window, announced addresses, a capture of packets, an agent, or
// copies on several subflows. Also false if the order of arrivals at the same time could be unknown afterwards.
bool Network::may_defer_data(const Connection& c) const {
    if (!c.is_multipath() || c.signals_addresses || c.reassembly.is_limited() || c.copies != Copies::None ||
        c.captured || !agents_.empty())
        return false;
    // Without delay on its last link, a packet may be processed after a packet that should follow it.
    const auto takes_no_time = [](const EventSpec& change) { return change.delay == Nanos(0); };
    const auto becomes_other = [](const EventSpec& change) { return change.rate || change.loss_model; };
    const auto has_change = [&](std::uint32_t link, const auto& is_it) {
        const auto concerns = [&](const EventSpec& change) { return change.link == link && is_it(change); };
        return std::ranges::any_of(scenario_->events, concerns) ||
               std::ranges::any_of(timeline_.live_changes(), concerns);
    };
    for (std::uint32_t i = c.first_subflow; i < c.first_subflow + c.subflow_count; ++i) {
        const Subflow& s = subflows_[i];
        const std::uint32_t last = hops_[s.route + s.hops - 1].link;
        if (links_[last].may_take_no_time() || has_change(last, takes_no_time)) return false;
        for (std::uint32_t hop = s.ack_route; hop < s.ack_route + s.ack_hops; ++hop)
            if (!links_[hops_[hop].link].is_predictable()) return false;
        // If subflows share the last link, either all of them or none run ahead of the clock, and the order of their
        // packets must stay known.
        for (std::uint32_t other = c.first_subflow; other < i; ++other) {
            const Subflow& o = subflows_[other];
            if (hops_[o.route + o.hops - 1].link != last) continue;
            if (hops_[o.ack_route].link != hops_[s.ack_route].link || has_change(last, becomes_other)) return false;
        }
    }
    return true;
}

// From this call on, each acknowledgement carries its DATA_ACK, including acknowledgements under way.
void Network::stop_deferring(Connection& c) {
    for (Link& link : links_) {
        link.for_each_held([&](Packet& p) {
            const Subflow& s = subflows_[p.subflow];
            if (p.kind() == PacketKind::Ack && &connections_[s.connection] == &c)
                p.data_seq = s.lane.data_ack_of(p.data_seq);
        });
    }
    c.defers_data = false;
}

// Fills held_ahead_ so that every link comes after the links it leads to: downstream packets are carried first. If the
// hops form a cycle, all hops wait for the clock instead.
void Network::order_held_links() {
    std::vector<std::vector<std::uint32_t>> next(links_.size());
    std::vector<bool> holds(links_.size(), false);
    for (const Subflow& s : subflows_) {
        const auto follow = [&](std::uint32_t i, std::uint32_t to) {
            if (hops_[i].leads == Leads::ToEvent) return;
            holds[hops_[i].link] = true;
            if (to != hops_[i].link) next[hops_[i].link].push_back(to);
        };
        for (std::uint32_t i = s.route; i + 1 < s.route + s.hops; ++i) follow(i, hops_[i + 1].link);
        follow(s.route + s.hops - 1, s.ack_hops > 0 ? hops_[s.ack_route].link : hops_[s.route + s.hops - 1].link);
        for (std::uint32_t i = s.ack_route; i + 1 < s.ack_route + s.ack_hops; ++i) follow(i, hops_[i + 1].link);
    }

    enum class Visit : std::uint8_t { New, Open, Done };
    std::vector<Visit> visit(links_.size(), Visit::New);
    bool has_circle = false;
    const auto descend = [&](const auto& self, std::uint32_t link) -> void {
        visit[link] = Visit::Open;
        for (const std::uint32_t to : next[link]) {
            if (visit[to] == Visit::New) self(self, to);
            has_circle |= visit[to] == Visit::Open;
        }
        visit[link] = Visit::Done;
        if (holds[link]) held_ahead_.push_back(link);
    };
    for (std::uint32_t link = 0; link < links_.size(); ++link)
        if (visit[link] == Visit::New) descend(descend, link);
    if (!has_circle) return;
    held_ahead_.clear();
    for (Hop& hop : hops_) hop.leads = Leads::ToEvent;
}

// Carries packets whose service has just begun on an unpredictable link.
void Network::carry_served(Link& link) {
    if (!link.has_served()) return;
    link.take_served(
        horizon_, [this](const Packet& p) { return hops_[hop_of(p)].leads != Leads::ToEvent; },
        [this](Packet& packet, Nanos at) { carry_on(packet, at); });
}

// Returns the number of packets that were carried.
std::int64_t Network::carry_held_packets() {
    std::int64_t count = 0;
    for (const std::uint32_t link : held_ahead_) {
        links_[link].take_until(
            horizon_, [this](const Packet& p) { return hops_[hop_of(p)].leads != Leads::ToEvent; },
            [this, &count](Packet& packet, Nanos at) {
                ++count;
                carry_on(packet, at);
            });
    }
    return count;
}

}  // namespace subflow
