// What a policy file says of itself: the JSON document in its metadata.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace subflow {

// Turns the rows of an observation into one vector h that says something about all of them.
enum class EncoderKind : std::uint8_t {
    None,  // h is empty
    Lstm,  // the rows one by one, from a zero state; h is the last hidden state
    Pool,  // each row by the same layers, then mean and maximum over the rows
};
enum class PoolKind : std::uint8_t { Mean, Max };

// What the layers behind the encoder see of the rows themselves, beside h.
enum class InputKind : std::uint8_t {
    Slot,    // one row that acts: they are run once for each
    Target,  // the rows that act, side by side, with zeros where there are fewer than `slots`
    All,     // all rows likewise
};

enum class LayerKind : std::uint8_t { Linear, Relu, Tanh, Softmax };

struct LayerSpec {
    LayerKind kind = LayerKind::Linear;
    std::uint32_t in = 0;  // of Linear
    std::uint32_t out = 0;
};

struct EncoderSpec {
    EncoderKind kind = EncoderKind::None;
    std::uint32_t hidden = 0;                // of Lstm
    std::vector<std::uint32_t> layers;       // of Pool: outputs of its linear layers
    LayerKind activation = LayerKind::Relu;  // of Pool, after each of them
    std::vector<PoolKind> pool;              // of Pool: the parts of h, in order

    std::uint32_t width() const;  // of h
};

struct NetworkSpec {
    EncoderSpec encoder;
    InputKind input = InputKind::Slot;
    std::uint32_t slots = 1;  // of Target and All
    std::vector<LayerSpec> layers;
    bool takes_action = false;  // of a critic: actions, within [-1, 1], stand behind the rows

    // For how many rows at once it answers.
    std::uint32_t answers() const { return input == InputKind::Slot ? 1 : slots; }
    // Numbers that go into the first layer: h, the rows and, if it takes them, as many actions of `outputs` each.
    std::uint32_t input_width(std::uint32_t row_width, std::uint32_t outputs) const {
        return encoder.width() + answers() * (row_width + (takes_action ? outputs : 0));
    }
};

struct PolicyDocument {
    std::string text;  // as it stands in the file
    std::string controller;
    std::string name;
    std::vector<std::string> features;
    std::uint32_t history = 1;
    std::vector<std::string> actions;
    std::vector<std::string> choices;  // not empty: instead of numbers, one of these
    NetworkSpec actor;
    std::optional<NetworkSpec> critic;

    std::uint32_t row_width() const { return static_cast<std::uint32_t>(features.size()) * history; }
    // Numbers that the actor gives for each row it answers for.
    std::uint32_t outputs() const {
        return static_cast<std::uint32_t>(choices.empty() ? actions.size() : choices.size());
    }
};

// Reads and checks the document; the sizes of all layers then fit one another. Throws PolicyError, which names the key.
PolicyDocument read_policy_document(std::string_view text);

}  // namespace subflow
