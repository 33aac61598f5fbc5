// The part of Network for unpredictable links, and for the shared media on which they send in turn.
#include <algorithm>
#include <vector>

#include "network.h"

namespace subflow {

void Network::join_media() {
    std::vector<std::uint32_t> numbers;  // numbers of the media in the scenario
    for (std::uint32_t i = 0; i < links_.size(); ++i) {
        const std::optional<AccessOptions>& access = scenario_->links[i].access;
        if (!access) continue;
        const auto known = std::ranges::find(numbers, access->medium);
        const auto medium = static_cast<std::uint32_t>(known - numbers.begin());
        if (known == numbers.end()) {
            numbers.push_back(access->medium);
            media_.emplace_back();
        }
        AccessOptions options = *access;
        options.medium = medium;
        const std::uint64_t stream =
            combine64(combine64(seed_, hash_name("medium")), hash_name(scenario_->links[i].name));
        links_[i].join_medium(options, media_[medium].add(i, options, stream));
    }
}

// Called when the queue of a link may have changed: updates the medium, and the time at which the link sends.
void Network::update_medium(std::uint32_t link_index) {
    Link& link = links_[link_index];
    const MediumPlace& station = *link.station();
    Medium& medium = media_[station.options.medium];
    medium.note(station.number, link.has_waiting(), now_);
    link.set_access_at(medium.access_at(station.number));
}

// Called at an event of a link. If the link may send now, it sends, or collides with all other links that may send now.
void Network::access_medium(std::uint32_t link_index) {
    Medium& medium = media_[links_[link_index].station()->options.medium];
    if (links_[link_index].station()->access_at > now_) return;
    if (medium.has_hidden()) end_hidden(medium);
    const std::vector<std::uint32_t> senders = medium.senders(now_);
    if (medium.has_hidden()) {
        for (const std::uint32_t sender : senders)
            medium.begin(sender, now_, now_ + links_[medium.link_of(sender)].begin_access(now_));
    } else if (senders.empty()) {
        return;
    } else if (senders.size() == 1) {
        const Nanos end = links_[medium.link_of(senders[0])].access(now_);
        medium.on_sent(senders[0], now_, end);
    } else {
        Nanos longest{};
        for (const std::uint32_t sender : senders)
            longest = std::max(longest, links_[medium.link_of(sender)].access_time());
        for (const std::uint32_t sender : medium.on_collision(senders, now_, now_ + longest))
            links_[medium.link_of(sender)].give_up_access(now_);
    }
    for (std::uint32_t station = 0; station < medium.station_count(); ++station) {
        const std::uint32_t other = medium.link_of(station);
        update_medium(other);
        if (other == link_index) continue;
        take_refused(other);
        events_.schedule(link_source(other), links_[other].next_event());
    }
}

// With hidden stations: ends the accesses that end now. A station that begins at the same time no longer overlaps with
// them.
void Network::end_hidden(Medium& medium) {
    for (std::uint32_t station = 0; station < medium.station_count(); ++station) {
        if (!medium.is_sending(station) || medium.access_at(station) > now_) continue;
        const std::uint32_t sender = medium.link_of(station);
        const Medium::Outcome outcome = medium.end(station);
        if (outcome == Medium::Outcome::Sent) links_[sender].end_access(now_);
        if (outcome == Medium::Outcome::GivenUp) links_[sender].give_up_access(now_);
        update_medium(sender);
    }
}

// Called after an unpredictable link has kept a packet: processes the packets that the link dropped instead or began to
// serve, and schedules its next event.
void Network::attend(std::uint32_t link_index) {
    Link& link = links_[link_index];
    take_refused(link_index);
    if (link.station() != nullptr) update_medium(link_index);
    carry_served(link);
    events_.schedule(link_source(link_index), link.next_event());
}

}  // namespace subflow
