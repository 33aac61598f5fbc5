// A learned function of a set of rows: an encoder over all rows, followed by layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../agent/decider.h"
#include "kernels.h"
#include "policy_document.h"
#include "tensor_file.h"

namespace subflow {

// The tensors of a file; each is taken once, with the expected shape.
class TensorSource {
public:
    explicit TensorSource(TensorFile file) : tensors_(std::move(file.tensors)) {}
    // Throws PolicyError unless a tensor of that name and shape remains.
    std::vector<float> take(const std::string& name, std::initializer_list<std::uint64_t> shape);
    // Throws PolicyError if any tensor remains.
    void require_empty() const;

private:
    std::map<std::string, Tensor, std::less<>> tensors_;
};

class SetNetwork {
public:
    // `name`: prefix of the tensor names. `outputs`: numbers per acting row, for a critic that takes actions.
    SetNetwork(const NetworkSpec& spec, std::uint32_t row_width, std::uint32_t outputs, const std::string& name,
               TensorSource& tensors);

    // True if both networks compute the same h from the same rows.
    bool has_encoder_of(const SetNetwork& other) const;
    // Size of the workspace in numbers.
    std::size_t workspace() const { return encoder_workspace_ + head_workspace_; }
    std::size_t code_width() const { return spec_.encoder.width(); }
    const NetworkSpec& spec() const { return spec_; }

    // Writes h, [code_width()].
    void encode(const Observation& observation, float* space, float* code) const;
    // Output of the last layer, stored in the workspace. Input Slot: for the acting row at `position` in the list of
    // acting rows; otherwise for all rows at once. `actions`: [acting, outputs], for a critic that takes actions.
    std::span<const float> run(const Observation& observation, std::span<const float> code, std::size_t position,
                               std::span<const float> actions, float* space) const;

private:
    struct Layer {
        LayerKind kind;
        Affine affine;  // weights of a Linear layer
    };

    void encode_lstm(const Observation& observation, float* space, float* code) const;
    void encode_pool(const Observation& observation, float* space, float* code) const;

    NetworkSpec spec_;
    std::uint32_t row_width_;
    std::uint32_t outputs_;
    std::vector<Affine> encoder_;  // Lstm: one, from [row, h] to the gates; Pool: its layers
    std::vector<Layer> layers_;
    std::size_t widest_ = 0;  // largest padded output width of all layers, and at least the input width
    std::size_t encoder_workspace_ = 0;
    std::size_t head_workspace_ = 0;
};

}  // namespace subflow
