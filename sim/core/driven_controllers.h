// Controllers of one connection without a sender or a network. The caller supplies each acknowledgement and loss, in
// order to compare a controller with a reference step by step.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cc/controllers.h"

namespace subflow {

// Subflows are numbered from 0. Each has an RTT estimate from the beginning, as after a handshake, and its packet
// numbers begin at 0. Fast recovery sets cwnd to ssthresh immediately (RFC 6675 section 5, step (4.2)); a timeout sets
// cwnd to one packet.
class DrivenControllers {
public:
    // Makes one subflow for each smoothed RTT in `srtts`. Throws ScenarioError for an unknown controller or option, for
    // no subflow, or for more than kMaxSubflows.
    DrivenControllers(const AlgorithmChoice& choice, const std::vector<Nanos>& srtts, double cwnd_pkts);

    // An acknowledgement of `pkts` more packets. `rtt`: RTT sample of this acknowledgement; `srtt`: smoothed RTT after
    // the sample; `snd_nxt`: next packet number to be sent; `is_cwnd_limited`: the window was fully used.
    void acknowledge(std::size_t subflow, std::uint32_t pkts, Nanos rtt, Nanos srtt, std::uint32_t snd_nxt,
                     bool is_cwnd_limited);
    // A loss was detected, by duplicate ACKs (FastRetransmit) or by the retransmission timer (Timeout). Other kinds are
    // not supported.
    void lose(std::size_t subflow, CongestionKind kind);
    // The latest acknowledgement ended fast recovery, or the recovery after a timeout.
    void recover(std::size_t subflow, std::uint32_t snd_nxt);
    // Sets cwnd without calling the controller, like a change by the sender itself.
    void set_window(std::size_t subflow, double cwnd_pkts);

    // Throws std::out_of_range if the subflow does not exist, like acknowledge(), lose(), recover() and set_window().
    const Window& window(std::size_t subflow) const { return subflows_.at(subflow).window; }

private:
    struct Driven {
        Controller controller;
        Window window;
        Nanos srtt{};
        Nanos rtt{};  // RTT sample of the latest acknowledgement
        Nanos min_rtt = kNever;
        std::uint32_t snd_una = 0;
        bool in_recovery = false;
        double acked_since_loss_pkts = 0;
        double acked_between_losses_pkts = 0;
    };

    Siblings siblings_of(std::size_t subflow);
    static AckSample sample_of(const Driven& driven, std::uint32_t pkts, std::uint32_t snd_nxt);

    std::vector<Driven> subflows_;
    std::array<Sibling, kMaxSubflows> siblings_{};
    CommonState common_;
};

}  // namespace subflow
