// The queue disciplines beside drop-tail. A new one is a header in this folder and its class in a list below.
//
// RED decides when a packet arrives. Every other one is a class that decides when a packet leaves:
//
//     struct Options                   its parameters: kName, their fields (SUBFLOW_FIELDS), problem(), may_mark()
//     pkts(), bytes()                  what waits
//     enqueue(waiting)                 takes a packet that the limits admit
//     dequeue(now, drop, marks)        the packet to send now, none if it dropped all that waited
//     clear(drop)                      drops what waits
//     for_each(visit)                  in the order of sending, as far as it is known
//     heap_bytes()
//     make_room(drop)                  instead of refusing what does not fit; optional
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

// Queues that decide about a packet when it leaves, or that serve packets out of turn.
using ManagedQueue = std::variant<std::monostate, CodelQueue, FqCodelQueue, DualPi2Queue>;

template <class Queue>
concept MakesRoom = requires(Queue& queue, void (*drop)(const Waiting&)) { queue.make_room(drop); };

template <class>
struct OptionsOf;
template <class... Queues>
struct OptionsOf<std::variant<std::monostate, Queues...>> {
    using Type = std::variant<std::monostate, RedOptions, typename Queues::Options...>;
};

// How a queue decides what to drop; nothing: drop-tail.
using Discipline = OptionsOf<ManagedQueue>::Type;

// The queue that follows these options; nothing: drop-tail or RED, which need none.
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

// Calls visit(queue) with a managed queue; its result, or the empty one where there is none.
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

// Calls visit(options) with those of a discipline other than drop-tail; its result, or `otherwise`.
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

// True if packets may leave such a queue marked.
inline bool may_mark(const Discipline& discipline) {
    return visit_options(discipline, false, [](const auto& options) { return options.may_mark(); });
}

// The first thing that is wrong with the options of a discipline; empty: nothing.
inline std::string problem_of(const Discipline& discipline) {
    return visit_options(discipline, std::string(), [](const auto& options) { return std::string(options.problem()); });
}

}  // namespace subflow
