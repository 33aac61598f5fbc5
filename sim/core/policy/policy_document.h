// Description of a policy: the JSON document in the metadata of a policy file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace subflow {

// Maps the rows of an observation to one vector h that summarises them.
enum class EncoderKind : std::uint8_t {
    None,  // h is empty
    Lstm,  // sequentially over the rows, from a zero state; h is the last hidden state
    Pool,  // the same layers for each row, then the mean, the maximum or both over the rows
};
enum class PoolKind : std::uint8_t { Mean, Max };

// Rows that the layers after the encoder receive, in addition to h.
enum class InputKind : std::uint8_t {
    Slot,    // one acting row per evaluation
    Target,  // the acting rows concatenated, padded with zeros to `slots`
    All,     // all rows concatenated, padded in the same way
};

enum class LayerKind : std::uint8_t { Linear, Relu, Tanh, Softmax };

struct LayerSpec {
    LayerKind kind = LayerKind::Linear;
    std::uint32_t in = 0;  // input width of a Linear layer
    std::uint32_t out = 0;
};

struct EncoderSpec {
    EncoderKind kind = EncoderKind::None;
    std::uint32_t hidden = 0;                // state width of Lstm
    std::vector<std::uint32_t> layers;       // Pool: outputs of its linear layers
    LayerKind activation = LayerKind::Relu;  // Pool: function after each layer
    std::vector<PoolKind> pool;              // Pool: the parts of h, in order

    std::uint32_t width() const;  // length of h
};

struct NetworkSpec {
    EncoderSpec encoder;
    InputKind input = InputKind::Slot;
    std::uint32_t slots = 1;  // rows per evaluation, for Target and All
    std::vector<LayerSpec> layers;
    bool takes_action = false;  // critics: actions within [-1, 1] follow the rows

    // Number of rows per evaluation.
    std::uint32_t answers() const { return input == InputKind::Slot ? 1 : slots; }
    // Input width of the first layer: h, the rows and, if the network takes actions, `outputs` numbers per row.
    std::uint32_t input_width(std::uint32_t row_width, std::uint32_t outputs) const {
        return encoder.width() + answers() * (row_width + (takes_action ? outputs : 0));
    }
};

struct PolicyDocument {
    std::string text;  // verbatim from the file
    std::string controller;
    std::string name;
    std::vector<std::string> features;
    std::uint32_t history = 1;
    std::vector<std::string> actions;
    std::vector<std::string> choices;  // if not empty: an action is one of these instead of numbers
    NetworkSpec actor;
    std::optional<NetworkSpec> critic;

    std::uint32_t row_width() const { return static_cast<std::uint32_t>(features.size()) * history; }
    // Outputs of the actor per row.
    std::uint32_t outputs() const {
        return static_cast<std::uint32_t>(choices.empty() ? actions.size() : choices.size());
    }
};

// Reads and checks the document, including the matching sizes of all layers. Throws PolicyError, whose message names
// the key.
PolicyDocument read_policy_document(std::string_view text);

}  // namespace subflow
