// What a packet scheduler is: given the subflows of a connection, the one the next packet goes to.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>

#include "../algorithm.h"
#include "../units.h"

namespace subflow {

// A subflow as the scheduler sees it; the terms are those of Linux MPTCP (mptcp_sched.c).
struct Candidate {
    bool is_usable = false;      // established and not presumed dead
    bool is_available = false;   // usable, and its window has room for a packet
    bool has_sent_this = false;  // the packet went out here before (reinjections avoid such subflows)
    Nanos srtt{};                // 0 before the first sample
};

// Answers with a position in the span, or nothing: send no new packet now. Asked again for every packet for which some
// subflow is available; not asked where one that declares `static constexpr bool kIsWorkConserving = true` has no
// choice because a single one is.
template <class T>
concept PacketScheduler = std::copyable<T> && std::constructible_from<T, const Options&> &&
                          requires(T scheduler, std::span<const Candidate> subflows) {
                              { T::kInfo } -> std::convertible_to<const AlgorithmInfo&>;
                              { scheduler.select(subflows) } -> std::same_as<std::optional<std::size_t>>;
                          };

template <class T>
concept WorkConserving = T::kIsWorkConserving;

}  // namespace subflow
