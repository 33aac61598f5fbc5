// A learned function of a set of rows: an encoder over all of them, and layers behind it.
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

// The tensors of a file, each to be taken once and in the shape that is expected.
class TensorSource {
public:
    explicit TensorSource(TensorFile file) : tensors_(std::move(file.tensors)) {}
    // Throws PolicyError if there is none of that name and shape.
    std::vector<float> take(const std::string& name, std::initializer_list<std::uint64_t> shape);
    // Throws PolicyError if some were not taken.
    void require_empty() const;

private:
    std::map<std::string, Tensor, std::less<>> tensors_;
};

class SetNetwork {
public:
    // `name`: what its tensors' names begin with. `outputs`: numbers per row that acts, for the actions a critic takes.
    SetNetwork(const NetworkSpec& spec, std::uint32_t row_width, std::uint32_t outputs, const std::string& name,
               TensorSource& tensors);

    // Whether it makes the same h of the same rows.
    bool has_encoder_of(const SetNetwork& other) const;
    // Numbers of workspace that its functions use.
    std::size_t workspace() const { return encoder_workspace_ + head_workspace_; }
    std::size_t code_width() const { return spec_.encoder.width(); }
    const NetworkSpec& spec() const { return spec_; }

    // Writes h, [code_width()].
    void encode(const Observation& observation, float* space, float* code) const;
    // What the last layer gives, in the workspace. Input Slot: for the acting row at `position` of the list of those;
    // else for all at once. `actions`: [acting, outputs], for a critic that takes them.
    std::span<const float> run(const Observation& observation, std::span<const float> code, std::size_t position,
                               std::span<const float> actions, float* space) const;

private:
    struct Layer {
        LayerKind kind;
        Affine affine;  // of Linear
    };

    void encode_lstm(const Observation& observation, float* space, float* code) const;
    void encode_pool(const Observation& observation, float* space, float* code) const;

    NetworkSpec spec_;
    std::uint32_t row_width_;
    std::uint32_t outputs_;
    std::vector<Affine> encoder_;  // Lstm: one, of [row, h] to the gates; Pool: its layers
    std::vector<Layer> layers_;
    std::size_t widest_ = 0;  // padded output of the layers, those of a pool encoder included
    std::size_t encoder_workspace_ = 0;
    std::size_t head_workspace_ = 0;
};

}  // namespace subflow
