// Tensors from the bytes of a safetensors file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace subflow {

// Size limits of files and headers.
inline constexpr std::size_t kMaxPolicyBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 20;

struct Tensor {
    std::vector<std::uint64_t> shape;
    std::vector<float> values;  // row by row; finite
};

struct TensorFile {
    std::map<std::string, std::string, std::less<>> metadata;
    std::map<std::string, Tensor, std::less<>> tensors;
};

// Reads a file of float32 tensors. Throws PolicyError for any violation of the format: wrong lengths, a header that is
// not JSON, other types, shapes that do not fit their bytes, bytes that belong to two tensors or to none, NaN and
// infinity.
//
// Source: the safetensors format, https://huggingface.co/docs/safetensors (8 bytes little endian: length N of the
// header; N bytes of JSON; the data).
TensorFile read_tensors(std::span<const std::byte> file);

// "[128, 78]"
std::string shape_text(std::span<const std::uint64_t> shape);

}  // namespace subflow
