// Controllers of one connection, driven by hand in place of a sender: for comparison of a controller with an oracle,
// acknowledgement by acknowledgement, without a network.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cc/controllers.h"

namespace subflow {

// Subflows are numbered from 0. Each has a round-trip time from the beginning, as after a handshake, and packet numbers
// that begin at 0. Fast recovery sets cwnd to ssthresh at once (RFC 6675 section 5, step (4.2)); a timeout sets it to
// one packet.
class DrivenControllers {
public:
    // One subflow for each round-trip time.
    // Throws ScenarioError for an unknown controller or option.
    DrivenControllers(const AlgorithmChoice& choice, const std::vector<Nanos>& srtts, double cwnd_pkts);

    // An acknowledgement of `pkts` more packets. `rtt`: the round-trip time that it measured; `srtt`: the smoothed one
    // after it; `snd_nxt`: next packet number to be sent; `is_cwnd_limited`: the window was fully used.
    void acknowledge(std::size_t subflow, std::uint32_t pkts, Nanos rtt, Nanos srtt, std::uint32_t snd_nxt,
                     bool is_cwnd_limited);
    // A loss was detected, by duplicate ACKs or by the retransmission timer.
    void lose(std::size_t subflow, CongestionKind kind);
    // The latest acknowledgement ended fast recovery, or the recovery after a timeout.
    void recover(std::size_t subflow, std::uint32_t snd_nxt);
    // The sender itself changes the window.
    void set_window(std::size_t subflow, double cwnd_pkts);

    // Throws std::out_of_range, like all functions above, if the subflow does not exist.
    const Window& window(std::size_t subflow) const { return subflows_.at(subflow).window; }

private:
    struct Driven {
        Controller controller;
        Window window;
        Nanos srtt{};
        Nanos rtt{};  // of the latest acknowledgement
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
