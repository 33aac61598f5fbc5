// The entry of libFuzzer (clang only): python3 dev.py fuzz.
#include <cstddef>
#include <cstdint>

#include "scenario_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    subflow::testing::check_bytes({data, size});  // an exception ends the fuzzer, which keeps the input
    return 0;
}
