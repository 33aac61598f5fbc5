#include "set_network.h"

#include <algorithm>
#include <limits>

#include "policy_error.h"

namespace subflow {

namespace {

// Concatenates [out, a] and [out, b] to [out, a + b].
std::vector<float> beside(std::span<const float> left, std::span<const float> right, std::size_t out) {
    const std::size_t a = left.size() / out, b = right.size() / out;
    std::vector<float> both;
    both.reserve(left.size() + right.size());
    for (std::size_t row = 0; row < out; ++row) {
        both.insert(both.end(), left.begin() + static_cast<std::ptrdiff_t>(row * a),
                    left.begin() + static_cast<std::ptrdiff_t>((row + 1) * a));
        both.insert(both.end(), right.begin() + static_cast<std::ptrdiff_t>(row * b),
                    right.begin() + static_cast<std::ptrdiff_t>((row + 1) * b));
    }
    return both;
}

Affine take_linear(TensorSource& tensors, const std::string& name, std::uint32_t in, std::uint32_t out) {
    const std::vector<float> weight = tensors.take(name + ".weight", {out, in});
    return Affine(weight, tensors.take(name + ".bias", {out}));
}

void activate(LayerKind kind, std::span<float> x, std::size_t group) {
    switch (kind) {
        case LayerKind::Relu:
            relu(x);
            break;
        case LayerKind::Tanh:
            hyperbolic_tangent(x);
            break;
        case LayerKind::Softmax:  // separately for each row
            for (std::size_t i = 0; i < x.size(); i += group) softmax(x.subspan(i, group));
            break;
        case LayerKind::Linear:
            break;
    }
}

}  // namespace

std::vector<float> TensorSource::take(const std::string& name, std::initializer_list<std::uint64_t> shape) {
    const auto node = tensors_.extract(name);
    if (node.empty()) throw PolicyError("tensor \"" + name + "\": missing");
    Tensor tensor = std::move(node.mapped());
    if (!std::ranges::equal(tensor.shape, shape))
        throw PolicyError("tensor \"" + name + "\": shape " + shape_text(tensor.shape) +
                          "; allowed: " + shape_text(std::vector(shape)));
    return std::move(tensor.values);
}

void TensorSource::require_empty() const {
    if (!tensors_.empty())
        throw PolicyError("tensor \"" + tensors_.begin()->first + "\": no layer of the document uses it");
}

SetNetwork::SetNetwork(const NetworkSpec& spec, std::uint32_t row_width, std::uint32_t outputs, const std::string& name,
                       TensorSource& tensors)
    : spec_(spec), row_width_(row_width), outputs_(outputs) {
    const auto note_width = [&](const Affine& affine) {
        widest_ = std::max(widest_, Affine::padded(affine.outputs()));
    };
    const std::string encoder = name + ".encoder.";
    if (spec.encoder.kind == EncoderKind::Lstm) {
        const std::uint32_t hidden = spec.encoder.hidden, gates = 4 * hidden;
        const std::vector<float> from_row = tensors.take(encoder + "weight_ih_l0", {gates, row_width});
        const std::vector<float> from_hidden = tensors.take(encoder + "weight_hh_l0", {gates, hidden});
        std::vector<float> bias = tensors.take(encoder + "bias_ih_l0", {gates});
        const std::vector<float> more = tensors.take(encoder + "bias_hh_l0", {gates});
        std::ranges::transform(bias, more, bias.begin(), std::plus());
        encoder_.emplace_back(beside(from_row, from_hidden, gates), bias);
        encoder_workspace_ = row_width + hidden + gates + hidden;
    } else if (spec.encoder.kind == EncoderKind::Pool) {
        std::uint32_t in = row_width;
        for (std::size_t k = 0; k < spec.encoder.layers.size(); ++k) {
            encoder_.push_back(take_linear(tensors, encoder + std::to_string(k), in, spec.encoder.layers[k]));
            in = spec.encoder.layers[k];
            note_width(encoder_.back());
        }
        encoder_workspace_ = 2 * widest_;
    }
    for (std::size_t k = 0; k < spec.layers.size(); ++k) {
        const LayerSpec& layer = spec.layers[k];
        layers_.push_back({layer.kind, {}});
        if (layer.kind != LayerKind::Linear) continue;
        layers_.back().affine = take_linear(tensors, name + ".layers." + std::to_string(k), layer.in, layer.out);
        note_width(layers_.back().affine);
    }
    widest_ = std::max<std::size_t>(widest_, spec.input_width(row_width, outputs));
    head_workspace_ = 2 * widest_;
}

bool SetNetwork::has_encoder_of(const SetNetwork& other) const {
    const EncoderSpec &mine = spec_.encoder, &theirs = other.spec_.encoder;
    return mine.kind == theirs.kind && mine.hidden == theirs.hidden && mine.layers == theirs.layers &&
           mine.activation == theirs.activation && mine.pool == theirs.pool && encoder_ == other.encoder_;
}

void SetNetwork::encode(const Observation& observation, float* space, float* code) const {
    if (spec_.encoder.kind == EncoderKind::Lstm) encode_lstm(observation, space, code);
    if (spec_.encoder.kind == EncoderKind::Pool) encode_pool(observation, space, code);
}

void SetNetwork::encode_lstm(const Observation& observation, float* space, float* code) const {
    const std::size_t hidden = spec_.encoder.hidden;
    const std::span<float> input(space, row_width_ + hidden);
    const std::span<float> h = input.subspan(row_width_);
    const std::span<float> gates(input.data() + input.size(), 4 * hidden);
    const std::span<float> c(gates.data() + gates.size(), hidden);
    std::ranges::fill(h, 0.0f);
    std::ranges::fill(c, 0.0f);
    for (std::uint32_t i = 0; i < observation.subflows(); ++i) {
        std::ranges::copy(observation.row(i), input.begin());
        encoder_.front().run(input.data(), gates.data());
        lstm_cell(gates, c, h);
    }
    std::ranges::copy(h, code);
}

void SetNetwork::encode_pool(const Observation& observation, float* space, float* code) const {
    const std::size_t width = spec_.encoder.layers.back();
    const std::uint32_t rows = observation.subflows();
    for (std::size_t part = 0; part < spec_.encoder.pool.size(); ++part)
        std::fill_n(code + part * width, width,
                    spec_.encoder.pool[part] == PoolKind::Mean ? 0.0f : -std::numeric_limits<float>::infinity());
    for (std::uint32_t i = 0; i < rows; ++i) {
        const float* x = observation.row(i).data();
        float* y = space;
        for (const Affine& layer : encoder_) {
            layer.run(x, y);
            activate(spec_.encoder.activation, {y, layer.outputs()}, 0);
            x = y;
            y = y == space ? space + encoder_workspace_ / 2 : space;
        }
        float* pooled = code;
        for (const PoolKind kind : spec_.encoder.pool) {
            for (std::size_t k = 0; k < width; ++k)
                pooled[k] = kind == PoolKind::Mean ? pooled[k] + x[k] : std::max(pooled[k], x[k]);
            pooled += width;
        }
    }
    for (std::size_t part = 0; part < spec_.encoder.pool.size(); ++part) {
        if (spec_.encoder.pool[part] != PoolKind::Mean) continue;
        for (std::size_t k = 0; k < width; ++k) code[part * width + k] /= static_cast<float>(rows);
    }
}

std::span<const float> SetNetwork::run(const Observation& observation, std::span<const float> code,
                                       std::size_t position, std::span<const float> actions, float* space) const {
    float* x = space;
    float* y = space + widest_;
    std::size_t count = spec_.input_width(row_width_, outputs_);
    std::fill_n(x, count, 0.0f);
    float* const rows = std::ranges::copy(code, x).out;
    float* const taken = rows + spec_.answers() * row_width_;
    const auto put_row = [&](std::size_t place, std::uint32_t row) {
        std::ranges::copy(observation.row(row), rows + place * row_width_);
    };
    const auto put_action = [&](std::size_t place, std::size_t acting) {
        if (spec_.takes_action)
            std::ranges::copy(actions.subspan(acting * outputs_, outputs_), taken + place * outputs_);
    };
    switch (spec_.input) {
        case InputKind::Slot:
            put_row(0, observation.acting[position]);
            put_action(0, position);
            break;
        case InputKind::Target:
            for (std::size_t k = 0; k < observation.acting.size() && k < spec_.slots; ++k) {
                put_row(k, observation.acting[k]);
                put_action(k, k);
            }
            break;
        case InputKind::All:
            for (std::uint32_t row = 0; row < observation.subflows() && row < spec_.slots; ++row) put_row(row, row);
            for (std::size_t k = 0; k < observation.acting.size(); ++k) {
                if (observation.acting[k] < spec_.slots) put_action(observation.acting[k], k);
            }
            break;
    }
    for (const Layer& layer : layers_) {
        if (layer.kind == LayerKind::Linear) {
            layer.affine.run(x, y);
            std::swap(x, y);
            count = layer.affine.outputs();
        } else {
            activate(layer.kind, {x, count}, outputs_);
        }
    }
    return {x, count};
}

}  // namespace subflow
