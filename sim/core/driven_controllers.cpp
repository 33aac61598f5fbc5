#include "driven_controllers.h"

namespace subflow {

DrivenControllers::DrivenControllers(const AlgorithmChoice& choice, const std::vector<Nanos>& srtts, double cwnd_pkts) {
    if (srtts.empty() || srtts.size() > kMaxSubflows)
        throw ScenarioError("a connection has from 1 to " + std::to_string(kMaxSubflows) + " subflows");
    for (const Nanos srtt : srtts)
        subflows_.push_back({.controller = make_controller(choice), .window = {cwnd_pkts}, .srtt = srtt});
}

Siblings DrivenControllers::siblings_of(std::size_t subflow) {
    for (std::size_t i = 0; i < subflows_.size(); ++i) {
        const Driven& each = subflows_[i];
        siblings_[i] = {.cwnd_pkts = each.in_recovery ? each.window.ssthresh_pkts : each.window.cwnd_pkts,
                        .srtt_s = to_seconds(each.srtt),
                        .advertised = each.window.advertised,
                        .window_pkts = each.window.cwnd_pkts,
                        .acked_since_loss_pkts = each.acked_since_loss_pkts,
                        .acked_between_losses_pkts = each.acked_between_losses_pkts};
    }
    return {.all = std::span(siblings_).first(subflows_.size()), .self = subflow, .common = &common_};
}

AckSample DrivenControllers::sample_of(const Driven& driven, std::uint32_t pkts, std::uint32_t snd_nxt) {
    return {.acked_pkts = static_cast<double>(pkts),
            .rtt = driven.rtt,
            .oldest_rtt = driven.rtt,
            .srtt = driven.srtt,
            .min_rtt = driven.min_rtt,
            .in_recovery = driven.in_recovery,
            .snd_una = driven.snd_una,
            .snd_nxt = snd_nxt,
            .advanced_pkts = pkts};
}

void DrivenControllers::acknowledge(std::size_t subflow, std::uint32_t pkts, Nanos rtt, Nanos srtt,
                                    std::uint32_t snd_nxt, bool is_cwnd_limited) {
    Driven& driven = subflows_.at(subflow);
    const Siblings siblings = siblings_of(subflow);
    driven.snd_una += pkts;
    driven.rtt = rtt;
    driven.srtt = srtt;
    driven.min_rtt = std::min(driven.min_rtt, rtt);
    driven.acked_since_loss_pkts += pkts;
    AckSample sample = sample_of(driven, pkts, snd_nxt);
    sample.is_cwnd_limited = is_cwnd_limited;
    std::visit(
        [&]<class C>(C& controller) {
            if constexpr (SeesEveryAck<C>) controller.on_every_ack(driven.window, sample, siblings);
            if constexpr (GrowsPerAck<C>) {
                if (is_cwnd_limited && !driven.in_recovery) controller.on_ack(driven.window, sample, siblings);
            }
        },
        static_cast<AnyController&>(driven.controller));
}

void DrivenControllers::lose(std::size_t subflow, CongestionKind kind) {
    Driven& driven = subflows_.at(subflow);
    const Siblings siblings = siblings_of(subflow);
    const CongestionEvent event{kind, driven.window.cwnd_pkts, {}};
    std::visit([&](auto& controller) { controller.on_congestion_event(driven.window, event, siblings); },
               static_cast<AnyController&>(driven.controller));
    driven.in_recovery = kind == CongestionKind::FastRetransmit;
    driven.window.cwnd_pkts = driven.in_recovery ? driven.window.ssthresh_pkts : 1;
    if (driven.acked_since_loss_pkts == 0) return;
    driven.acked_between_losses_pkts = driven.acked_since_loss_pkts;
    driven.acked_since_loss_pkts = 0;
}

void DrivenControllers::recover(std::size_t subflow, std::uint32_t snd_nxt) {
    Driven& driven = subflows_.at(subflow);
    if (driven.in_recovery) driven.window.cwnd_pkts = driven.window.ssthresh_pkts;
    driven.in_recovery = false;
    const Siblings siblings = siblings_of(subflow);
    const AckSample sample = sample_of(driven, 0, snd_nxt);
    std::visit(
        [&]<class C>(C& controller) {
            if constexpr (FollowsRecovery<C>) controller.on_recovery_exit(driven.window, sample, siblings);
        },
        static_cast<AnyController&>(driven.controller));
}

void DrivenControllers::set_window(std::size_t subflow, double cwnd_pkts) {
    subflows_.at(subflow).window.cwnd_pkts = cwnd_pkts;
}

}  // namespace subflow
