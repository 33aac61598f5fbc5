// Raw packets of all interfaces of the current network namespace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "units.h"

namespace subflow {

// Receives through a ring that the kernel shares (packet(7), PACKET_RX_RING of version 2), and sends several frames
// with one call. The other ends of the interfaces must not use offloads that make frames larger than `mtu`. Throws
// std::system_error if the kernel refuses an operation.
class PacketPort {
public:
    struct Arrived {
        std::span<const std::uint8_t> frame;  // valid until release()
        int interface = 0;
        Nanos at{};  // by the real-time clock
    };

    // `all_protocols`: also ARP and IPv6, besides IPv4.
    PacketPort(std::size_t mtu_bytes, bool all_protocols);
    ~PacketPort();
    PacketPort(const PacketPort&) = delete;
    PacketPort& operator=(const PacketPort&) = delete;

    // The next frame, if one has arrived. Its memory returns to the kernel with release(), in order.
    bool receive(Arrived& arrived);
    void release();
    // Sends a frame. One that the interface refuses is lost, as at the end of a run, when its far end is gone.
    void send(std::span<const std::uint8_t> frame, int interface);

    // Descriptor that becomes readable when a frame arrives.
    int descriptor() const { return input_; }
    struct Counts {
        std::int64_t received = 0;
        std::int64_t overruns = 0;  // frames for which the ring had no room
    };
    Counts counts();

    // Index of an interface.
    static int interface_of(const std::string& name);

private:
    int input_ = -1;
    int output_ = -1;
    std::uint8_t* ring_ = nullptr;
    std::size_t ring_bytes_ = 0;
    std::size_t slot_bytes_ = 0;
    std::size_t slots_ = 0;
    std::size_t next_ = 0;
    Counts counts_;
};

}  // namespace subflow
