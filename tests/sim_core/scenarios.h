// Small networks for the tests, with the numbers that matter as arguments.
#pragma once

#include <string>
#include <vector>

#include "cc/controllers.h"
#include "network.h"

namespace subflow::testing {

using namespace subflow::literals;

constexpr double kPacketBits = 12'000;  // of 1500 bytes, the size unless a scenario says otherwise

struct PathOptions {
    BitsPerSec rate = 10_Mbps;
    Nanos one_way = 50_ms;
    std::int64_t queue_pkts = 84;
    double loss = 0;
};

// The link is down from one time to the other, and nothing else happens to the network.
void fail_link(Scenario& scenario, std::uint32_t link, Nanos from, Nanos to);

// Adds a link whose way back is a pure delay. Returns the path over it.
PathSpec add_path(Scenario& scenario, const PathOptions& options = {});

FlowSpec& add_tcp(Scenario& scenario, const PathSpec& path, const std::string& name = "tcp");

FlowSpec& add_mptcp(Scenario& scenario, const std::vector<PathSpec>& paths, const std::string& controller,
                    const std::string& name = "mptcp");

// Textbook transport: an ACK per packet, the window cut at once.
Scenario textbook(Nanos duration, Nanos warmup = Nanos(0));

// The current Linux behaviour, as far as the core has it.
Scenario linux_profile(Nanos duration, Nanos warmup = Nanos(0));

// The network of a scenario after its run, its books checked.
Network finished(const Scenario& scenario, std::uint64_t seed = 1);

// Whether a run to `until` is the same in one go, in pieces, and as a copy goes on with it.
bool is_same_however_cut(const Scenario& scenario, Nanos until);

}  // namespace subflow::testing
