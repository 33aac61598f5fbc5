// After warm-up a step allocates nothing: counted by replacing the global operator new of this test program.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "network.h"
#include "scenarios.h"

namespace {
std::atomic<long> allocations = 0;
}

// Not inlined: g++ would see malloc on the one side and operator delete on the other, and warn of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* p = std::malloc(size)) return p;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
    std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept {
    std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, const std::nothrow_t&) noexcept {
    std::free(p);
}

namespace subflow {
namespace {

using namespace testing;

TEST(Allocations, NoneAfterWarmUp) {
    // Loss on one path and a full queue on the other keep SACK blocks, retransmissions and reassembly busy.
    Scenario scenario = linux_profile(100_s);
    add_mptcp(scenario, {add_path(scenario, {.loss = 0.01}), add_path(scenario, {.one_way = 10_ms})}, "lia");
    add_tcp(scenario, scenario.flows[0].paths[1]);
    Network network(scenario, 1);
    network.run_until(60_s);
    network.take_marks();
    const long before = allocations;
    network.run_until(100_s);
    EXPECT_EQ(allocations - before, 0);
    EXPECT_GT(network.subflow_result(0).retransmits, 20);
}

}  // namespace
}  // namespace subflow
