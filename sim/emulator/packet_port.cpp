#include "packet_port.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <system_error>

#include "frames.h"

namespace subflow {

namespace {

constexpr std::size_t kRingBytes = std::size_t{16} << 20;
constexpr std::size_t kBlockBytes = std::size_t{1} << 16;

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

template <class Value>
void set(int socket, int option, const Value& value, const char* what) {
    if (setsockopt(socket, SOL_PACKET, option, &value, sizeof value) != 0) fail(what);
}

}  // namespace

PacketPort::PacketPort(std::size_t mtu_bytes, bool all_protocols) {
    // The header of a slot, and alignment of the frame in it, take less than 128 bytes.
    slot_bytes_ = std::bit_ceil(mtu_bytes + kEthernetBytes + 128);
    if (slot_bytes_ > kBlockBytes) throw std::system_error(EMSGSIZE, std::generic_category(), "packet ring");
    slots_ = kRingBytes / slot_bytes_;
    ring_bytes_ = kRingBytes;
    // Without a protocol, the socket receives nothing until the ring is ready.
    input_ = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (input_ < 0) fail("packet socket");
    output_ = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (output_ < 0) fail("packet socket");
    set(input_, PACKET_VERSION, static_cast<int>(TPACKET_V2), "packet ring");
    set(input_, PACKET_IGNORE_OUTGOING, 1, "packet socket without outgoing packets");
    tpacket_req request{};
    request.tp_block_size = kBlockBytes;
    request.tp_frame_size = static_cast<unsigned>(slot_bytes_);
    request.tp_block_nr = static_cast<unsigned>(kRingBytes / kBlockBytes);
    request.tp_frame_nr = static_cast<unsigned>(slots_);
    set(input_, PACKET_RX_RING, request, "packet ring");
    void* const mapped = mmap(nullptr, ring_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, input_, 0);
    if (mapped == MAP_FAILED) fail("packet ring");
    ring_ = static_cast<std::uint8_t*>(mapped);
    // The far ends have queues of their own: the queueing discipline of these interfaces would only cost time.
    set(output_, PACKET_QDISC_BYPASS, 1, "packet socket");
    sockaddr_ll all{};
    all.sll_family = AF_PACKET;
    all.sll_protocol = htons(all_protocols ? ETH_P_ALL : ETH_P_IP);
    if (bind(input_, reinterpret_cast<const sockaddr*>(&all), sizeof all) != 0) fail("packet socket");
}

PacketPort::~PacketPort() {
    if (ring_ != nullptr) munmap(ring_, ring_bytes_);
    if (input_ >= 0) close(input_);
    if (output_ >= 0) close(output_);
}

bool PacketPort::receive(Arrived& arrived) {
    std::uint8_t* const slot = ring_ + next_ * slot_bytes_;
    auto* const header = reinterpret_cast<tpacket2_hdr*>(slot);
    if ((std::atomic_ref(header->tp_status).load(std::memory_order_acquire) & TP_STATUS_USER) == 0) return false;
    const auto* const from = reinterpret_cast<const sockaddr_ll*>(slot + TPACKET_ALIGN(sizeof(tpacket2_hdr)));
    arrived.frame = {slot + header->tp_mac, header->tp_snaplen};
    arrived.interface = from->sll_ifindex;
    arrived.at = Nanos(static_cast<std::int64_t>(header->tp_sec) * 1'000'000'000 + header->tp_nsec);
    return true;
}

void PacketPort::release() {
    auto* const header = reinterpret_cast<tpacket2_hdr*>(ring_ + next_ * slot_bytes_);
    std::atomic_ref(header->tp_status).store(TP_STATUS_KERNEL, std::memory_order_release);
    if (++next_ == slots_) next_ = 0;
}

void PacketPort::send(std::span<const std::uint8_t> frame, int interface) {
    sockaddr_ll place{};
    place.sll_family = AF_PACKET;
    place.sll_ifindex = interface;
    [[maybe_unused]] const ssize_t sent =
        sendto(output_, frame.data(), frame.size(), 0, reinterpret_cast<const sockaddr*>(&place), sizeof place);
}

PacketPort::Counts PacketPort::counts() {
    tpacket_stats stats{};
    socklen_t size = sizeof stats;
    if (getsockopt(input_, SOL_PACKET, PACKET_STATISTICS, &stats, &size) == 0) {  // Reading resets the kernel's counts.
        counts_.received += stats.tp_packets;
        counts_.overruns += stats.tp_drops;
    }
    return counts_;
}

int PacketPort::interface_of(const std::string& name) {
    const unsigned index = if_nametoindex(name.c_str());
    if (index == 0) fail(("interface " + name).c_str());
    return static_cast<int>(index);
}

}  // namespace subflow
