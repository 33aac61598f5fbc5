// Arithmetic of neural networks in float32, with the same results to the last bit on all machines: the order of each
// sum does not depend on the width of vectors, and exponentials do not come from a library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace subflow {

// Number of elements processed at a time. Affects only the speed.
enum class Vectors : std::uint8_t {
    Four,   // on all processors
    Eight,  // AVX2
};

// The widest vectors of this processor.
Vectors widest_vectors();

// y = W x + b with weights in a matching layout: outputs in blocks, and within a block all weights of the first input
// first. The sums of a block stay in registers during the loop over inputs. Each sum adds in the order of the inputs,
// so that blocks and vectors of any width give the same result.
class Affine {
public:
    Affine() = default;
    // weight [out, in] row by row, bias [out].
    Affine(std::span<const float> weight, std::span<const float> bias);

    std::size_t inputs() const { return inputs_; }
    std::size_t outputs() const { return outputs_; }
    // Size of the output of run(): the outputs, padded with zeros to a multiple of four.
    static std::size_t padded(std::size_t outputs) { return (outputs + 3) / 4 * 4; }
    // Maps x [inputs] to y [padded(outputs)], which must not overlap.
    void run(const float* x, float* y, Vectors vectors = widest_vectors()) const;

    bool operator==(const Affine&) const = default;

private:
    std::size_t inputs_ = 0;
    std::size_t outputs_ = 0;
    std::vector<float> weights_;  // [blocks][inputs][outputs of the block]
    std::vector<float> bias_;     // [padded(outputs)]
};

// These functions change `x` in place, to within two units in the last place of a float. NaN stays NaN, except that
// relu maps it to 0. softmax needs at least one element.
void relu(std::span<float> x, Vectors vectors = widest_vectors());
void hyperbolic_tangent(std::span<float> x, Vectors vectors = widest_vectors());
void sigmoid(std::span<float> x, Vectors vectors = widest_vectors());
void softmax(std::span<float> x, Vectors vectors = widest_vectors());

// PyTorch's LSTM cell after the sums z [4 H] of the gates i, f, g, o: c = f c + i g, h = o tanh c. Overwrites z.
void lstm_cell(std::span<float> z, std::span<float> c, std::span<float> h);

}  // namespace subflow
