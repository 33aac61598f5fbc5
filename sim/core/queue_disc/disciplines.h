// Queue disciplines other than drop-tail. A new discipline needs a header in this folder and its class in a list below.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <variant>

#include "../visit_inline.h"
#include "codel.h"
#include "dual_pi2.h"
#include "fq_codel.h"
#include "red.h"

namespace subflow {

// Queues that decide about a packet when it leaves, or that reorder packets.
using ManagedQueue = std::variant<std::monostate, CodelQueue, FqCodelQueue, DualPi2Queue>;

template <class Queue>
concept MakesRoom = requires(Queue& queue, void (*drop)(const Waiting&)) { queue.make_room(drop); };

template <class>
struct OptionsOf;
template <class... Queues>
struct OptionsOf<std::variant<std::monostate, Queues...>> {
    using Type = std::variant<std::monostate, RedOptions, typename Queues::Options...>;
};

// Options of a queue's discipline; monostate: drop-tail.
using Discipline = OptionsOf<ManagedQueue>::Type;

// The queue with these options; monostate for drop-tail and RED, which need no managed queue.
inline ManagedQueue make_queue(const Discipline& discipline) {
    ManagedQueue made;
    const auto make = [&]<class... Queues>(const std::variant<std::monostate, Queues...>&) {
        const auto make_one = [&]<class Queue>(const Queue*) {
            if (const auto* options = std::get_if<typename Queue::Options>(&discipline)) made.emplace<Queue>(*options);
        };
        (make_one(static_cast<const Queues*>(nullptr)), ...);
    };
    make(made);
    return made;
}

// Calls visit(queue) with a managed queue and returns its result; returns an empty result without a managed queue.
template <class Queue, class Visit>
SF_INLINE auto visit_queue(Queue& queue, Visit&& visit) {
    using Result = decltype(visit(*std::get_if<1>(&queue)));
    return visit_inline(
        [&]<class Managed>(Managed& managed) -> Result {
            if constexpr (std::same_as<std::remove_const_t<Managed>, std::monostate>) {
                return Result();
            } else {
                return visit(managed);
            }
        },
        queue);
}

// Calls visit(options) unless the discipline is drop-tail; returns its result or `otherwise`.
template <class Result, class Visit>
Result visit_options(const Discipline& discipline, Result otherwise, Visit&& visit) {
    return std::visit(
        [&]<class Options>(const Options& options) -> Result {
            if constexpr (std::same_as<Options, std::monostate>) {
                return otherwise;
            } else {
                return visit(options);
            }
        },
        discipline);
}

// True if the discipline may mark packets.
inline bool may_mark(const Discipline& discipline) {
    return visit_options(discipline, false, [](const auto& options) { return options.may_mark(); });
}

// The first problem of a discipline's options; empty if valid.
inline std::string problem_of(const Discipline& discipline) {
    return visit_options(discipline, std::string(), [](const auto& options) { return std::string(options.problem()); });
}

}  // namespace subflow
