// The arithmetic of networks, float32, the same to the bit on every machine: each sum has one order, whatever the
// vectors of the processor, and exponentials are our own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace subflow {

// Elements that are worked on at once. Nothing but the time depends on it.
enum class Vectors : std::uint8_t {
    Four,   // what every x86-64 has
    Eight,  // AVX2
};

// The most that this processor has.
Vectors widest_vectors();

// y = W x + b with the weights laid out for that: outputs in blocks, of a block first all that the first input is
// multiplied by. A block's sums stay in registers while the inputs go by, each in the order of the inputs, so that
// blocks and vectors of any width give the same.
class Affine {
public:
    Affine() = default;
    // weight [out, in] row by row, bias [out].
    Affine(std::span<const float> weight, std::span<const float> bias);

    std::size_t inputs() const { return inputs_; }
    std::size_t outputs() const { return outputs_; }
    // Numbers that run() writes: the outputs, and after them zeros up to whole vectors of four.
    static std::size_t padded(std::size_t outputs) { return (outputs + 3) / 4 * 4; }
    // x [inputs] to y [padded(outputs)], which must not overlap.
    void run(const float* x, float* y, Vectors vectors = widest_vectors()) const;

    bool operator==(const Affine&) const = default;

private:
    std::size_t inputs_ = 0;
    std::size_t outputs_ = 0;
    std::vector<float> weights_;  // [blocks][inputs][outputs of the block]
    std::vector<float> bias_;     // [padded(outputs)]
};

// In place, to within two units in the last place of a float. NaN stays NaN but in relu, where it becomes 0.
void relu(std::span<float> x, Vectors vectors = widest_vectors());
void hyperbolic_tangent(std::span<float> x, Vectors vectors = widest_vectors());
void sigmoid(std::span<float> x, Vectors vectors = widest_vectors());
void softmax(std::span<float> x, Vectors vectors = widest_vectors());

// PyTorch's LSTM cell after its sums z [4 H] of the gates i, f, g, o: c = f c + i g, h = o tanh c. Spoils z.
void lstm_cell(std::span<float> z, std::span<float> c, std::span<float> h);

}  // namespace subflow
