// Ethernet frames as they cross a link: the fields of IP that links need, and marks in their headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "packet.h"

namespace subflow {

inline constexpr std::size_t kEthernetBytes = 14;

// The fields of a frame that matter to links. Frames without IP (ARP) have only zeros.
struct FrameFields {
    Ecn ecn = Ecn::NotCapable;
    std::uint32_t flow = 0;         // hash of addresses, protocol and ports, the same for all packets of a connection
    std::uint32_t source = 0;       // IPv4 address in host order; 0 for other packets
    std::uint32_t destination = 0;  // IPv4 address in host order
    bool is_udp = false;            // with ports: no later fragment
};

// Reads the headers; a truncated frame has only zeros.
FrameFields fields_of(std::span<const std::uint8_t> frame);

// Addresses and ports of a packet by UDP.
struct UdpEnds {
    std::string source;
    std::string destination;
    std::uint16_t source_port = 0;
    std::uint16_t destination_port = 0;
};

// Empty for other packets and for fragments.
std::optional<UdpEnds> udp_ends_of(std::span<const std::uint8_t> frame);

// Sets the ECN field of an IPv4 or IPv6 packet to CE, with the checksum that follows from it (RFC 1624). Requires a
// frame whose fields_of() are ECN-capable.
void mark_frame(std::span<std::uint8_t> frame);

}  // namespace subflow
