#include "frames.h"

#include <arpa/inet.h>

#include "rng.h"

namespace subflow {

namespace {

// Offsets in the frame, and values of fields. Source: RFC 791, RFC 8200, RFC 3168
constexpr std::size_t kTypeAt = 12;
constexpr std::size_t kIp = kEthernetBytes;
constexpr std::uint16_t kIpv4 = 0x0800;
constexpr std::uint16_t kIpv6 = 0x86dd;
constexpr std::size_t kIpv4Bytes = 20;
constexpr std::size_t kIpv6Bytes = 40;
constexpr std::uint8_t kTcp = 6;
constexpr std::uint8_t kUdp = 17;
constexpr std::uint16_t kFragmentBits = 0x3fff;  // offset and "more fragments": such packets have no ports to compare

std::uint16_t u16(std::span<const std::uint8_t> bytes, std::size_t at) {
    return static_cast<std::uint16_t>(bytes[at] << 8 | bytes[at + 1]);
}

std::uint32_t u32(std::span<const std::uint8_t> bytes, std::size_t at) {
    return static_cast<std::uint32_t>(u16(bytes, at)) << 16 | u16(bytes, at + 2);
}

std::uint64_t u64(std::span<const std::uint8_t> bytes, std::size_t at) {
    return static_cast<std::uint64_t>(u32(bytes, at)) << 32 | u32(bytes, at + 4);
}

struct Headers {
    int version = 0;  // of IP; 0: another protocol, or a truncated frame
    std::uint8_t protocol = 0;
    std::size_t ports_at = 0;  // 0: none
};

Headers headers_of(std::span<const std::uint8_t> frame) {
    Headers headers;
    if (frame.size() < kIp + kIpv4Bytes) return headers;
    const std::uint16_t type = u16(frame, kTypeAt);
    std::size_t ports_at = kIp + kIpv6Bytes;
    if (type == kIpv4) {
        headers.version = 4;
        headers.protocol = frame[kIp + 9];
        const bool is_fragment = (u16(frame, kIp + 6) & kFragmentBits) != 0;
        ports_at = is_fragment ? frame.size() : kIp + std::size_t{4} * (frame[kIp] & 15u);
    } else if (type == kIpv6 && frame.size() >= kIp + kIpv6Bytes) {
        headers.version = 6;
        headers.protocol = frame[kIp + 6];
    } else {
        return headers;
    }
    const bool has_ports = headers.protocol == kTcp || headers.protocol == kUdp;
    if (has_ports && ports_at + 4 <= frame.size()) headers.ports_at = ports_at;
    return headers;
}

}  // namespace

FrameFields fields_of(std::span<const std::uint8_t> frame) {
    FrameFields fields;
    const Headers headers = headers_of(frame);
    if (headers.version == 0) return fields;
    std::uint64_t hash = headers.protocol;
    if (headers.version == 4) {
        fields.ecn = static_cast<Ecn>(frame[kIp + 1] & 3);
        fields.source = u32(frame, kIp + 12);
        fields.destination = u32(frame, kIp + 16);
        hash = combine64(u64(frame, kIp + 12), hash);
    } else {
        fields.ecn = static_cast<Ecn>(frame[kIp + 1] >> 4 & 3);
        for (std::size_t at = kIp + 8; at < kIp + kIpv6Bytes; at += 8) hash = combine64(hash, u64(frame, at));
    }
    if (headers.ports_at != 0) hash = combine64(hash, u32(frame, headers.ports_at));
    fields.flow = static_cast<std::uint32_t>(hash);
    fields.is_udp = headers.protocol == kUdp && headers.ports_at != 0;
    return fields;
}

std::optional<UdpEnds> udp_ends_of(std::span<const std::uint8_t> frame) {
    const Headers headers = headers_of(frame);
    if (headers.protocol != kUdp || headers.ports_at == 0) return std::nullopt;
    const bool is_four = headers.version == 4;
    const auto address = [&](std::size_t at) {
        char text[INET6_ADDRSTRLEN] = "";
        inet_ntop(is_four ? AF_INET : AF_INET6, frame.data() + at, text, sizeof text);
        return std::string(text);
    };
    const std::size_t source_at = kIp + (is_four ? 12 : 8);
    return UdpEnds{address(source_at), address(source_at + (is_four ? 4 : 16)), u16(frame, headers.ports_at),
                   u16(frame, headers.ports_at + 2)};
}

void mark_frame(std::span<std::uint8_t> frame) {
    if (u16(frame, kTypeAt) == kIpv6) {
        frame[kIp + 1] |= 0x30;
        return;
    }
    const std::uint16_t before = u16(frame, kIp);
    frame[kIp + 1] |= 3;
    const std::uint16_t after = u16(frame, kIp);
    std::uint32_t sum = static_cast<std::uint16_t>(~u16(frame, kIp + 10)) + static_cast<std::uint16_t>(~before) + after;
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    const auto checksum = static_cast<std::uint16_t>(~sum);
    frame[kIp + 10] = static_cast<std::uint8_t>(checksum >> 8);
    frame[kIp + 11] = static_cast<std::uint8_t>(checksum);
}

}  // namespace subflow
