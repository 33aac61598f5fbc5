// Small networks for the tests, with the numbers that matter as arguments.
#pragma once

#include <string>
#include <vector>

#include "cc/controllers.h"
#include "network.h"

namespace subflow::testing {

using namespace subflow::literals;

constexpr double kPacketBits = 12'000;  // of 1500 bytes, the default packet size

struct PathOptions {
    BitsPerSec rate = 10_Mbps;
    Nanos one_way = 50_ms;
    std::int64_t queue_pkts = 84;
    double loss = 0;
};

// Takes the link down between two times, without another event.
void fail_link(Scenario& scenario, std::uint32_t link, Nanos from, Nanos to);

// Adds a link whose reverse direction is a pure delay. Returns the path over it.
PathSpec add_path(Scenario& scenario, const PathOptions& options = {});

FlowSpec& add_tcp(Scenario& scenario, const PathSpec& path, const std::string& name = "tcp");

FlowSpec& add_mptcp(Scenario& scenario, const std::vector<PathSpec>& paths, const std::string& controller,
                    const std::string& name = "mptcp");

// Textbook transport: an ACK per packet, immediate reduction of the window.
Scenario textbook(Nanos duration, Nanos warmup = Nanos(0));

// Profile of current Linux, as far as the core implements it.
Scenario linux_profile(Nanos duration, Nanos warmup = Nanos(0));

// The network of a scenario after its run, with checked counters.
Network finished(const Scenario& scenario, std::uint64_t seed = 1);

// True if a run to `until` is the same in one call, in pieces, and continued by a copy.
bool is_same_however_cut(const Scenario& scenario, Nanos until);

}  // namespace subflow::testing
