#include "kernels.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace subflow {

namespace {

// GCC and Clang make of these whatever the processor has: the operations are those of the elements. Loops over floats
// would do as well, but the choices in the functions below keep GCC from making vectors of them.
using Lanes = float __attribute__((vector_size(Affine::kLanes * sizeof(float))));
using Bits = std::uint32_t __attribute__((vector_size(sizeof(Lanes))));

Lanes load(const float* from) {
    Lanes lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

Lanes all(float x) {
    return Lanes{x, x, x, x};
}

Bits bits_of(Lanes x) {
    return std::bit_cast<Bits>(x);
}

Lanes magnitude(Lanes x) {
    return std::bit_cast<Lanes>(bits_of(x) & 0x7FFFFFFFu);
}

// x = f(x) for each element.
template <class Function>
void for_each_lane(std::span<float> x, const Function& f) {
    std::size_t i = 0;
    for (; i + Affine::kLanes <= x.size(); i += Affine::kLanes) {
        const Lanes y = f(load(x.data() + i));
        std::memcpy(x.data() + i, &y, sizeof y);
    }
    if (i == x.size()) return;
    Lanes rest{};
    std::memcpy(&rest, x.data() + i, (x.size() - i) * sizeof(float));
    rest = f(rest);
    std::memcpy(x.data() + i, &rest, (x.size() - i) * sizeof(float));
}

// kWidth outputs: y = b + x[0] w[0] + x[1] w[1] + ..., from the left.
template <std::size_t kWidth>
const float* run_block(const float* x, std::size_t inputs, const float* w, const float* bias, float* y) {
    constexpr std::size_t kVectors = kWidth / Affine::kLanes;
    Lanes sums[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) sums[v] = load(bias + v * Affine::kLanes);
    for (std::size_t i = 0; i < inputs; ++i, w += kWidth) {
        for (std::size_t v = 0; v < kVectors; ++v) sums[v] += x[i] * load(w + v * Affine::kLanes);
    }
    std::memcpy(y, sums, sizeof sums);
    return w;
}

// e^x for x <= 0, within a unit in the last place; 0 below e^-87, where normal floats end. NaN gives NaN.
// Source: Cephes expf.c (Moshier): x = n ln 2 + r, e^r = 1 + r + r^2 P(r), |r| <= ln(2) / 2.
Lanes exp_negative(Lanes x) {
    constexpr float kLowest = -87.0f;
    const Lanes clamped = x < kLowest ? all(kLowest) : x;
    // Adding 1.5 * 2^23 rounds to whole numbers, which then stand in the lowest bits.
    constexpr float kRound = 12582912.0f;
    const Lanes shifted = clamped * 1.44269504088896341f + kRound;
    const Lanes n = shifted - kRound;
    const Lanes r = (clamped - n * 0.693359375f) - n * -2.12194440e-4f;
    Lanes p = all(1.9875691500e-4f);
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    const Lanes e = p * (r * r) + r + 1.0f;
    // 2^n as a float: n + 127 in the bits of the exponent.
    const Lanes value = e * std::bit_cast<Lanes>((bits_of(shifted) + 127u) << 23);
    return x < kLowest ? Lanes{} : value;
}

// Source: Cephes tanhf.c: near 0 a polynomial, since there the other form loses its digits.
Lanes tanh_of(Lanes x) {
    const Lanes z = x * x;
    Lanes p = all(-5.70498872745e-3f);
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    const Lanes near = p * z * x + x;
    const Lanes a = magnitude(x);
    const Lanes e = exp_negative(a * -2.0f);
    const Lanes far = (1.0f - e) / (1.0f + e);
    const Lanes signed_far = std::bit_cast<Lanes>(bits_of(far) | (bits_of(x) & 0x80000000u));
    return a < 0.625f ? near : signed_far;
}

Lanes sigmoid_of(Lanes x) {
    // Of a negative number only, so that the exponential cannot overflow.
    const Lanes e = exp_negative(-magnitude(x));
    const Lanes s = 1.0f / (1.0f + e);
    return x < 0.0f ? e * s : s;
}

}  // namespace

Affine::Affine(std::span<const float> weight, std::span<const float> bias)
    : inputs_(weight.size() / bias.size()), outputs_(bias.size()), bias_(bias.begin(), bias.end()) {
    bias_.resize(padded(outputs_));
    weights_.reserve(inputs_ * bias_.size());
    for (std::size_t first = 0; first < bias_.size();) {
        const std::size_t width = first + kBlock <= bias_.size() ? kBlock : kLanes;
        for (std::size_t i = 0; i < inputs_; ++i) {
            for (std::size_t o = first; o < first + width; ++o)
                weights_.push_back(o < outputs_ ? weight[o * inputs_ + i] : 0.0f);
        }
        first += width;
    }
}

void Affine::run(const float* x, float* y) const {
    const float* w = weights_.data();
    for (std::size_t first = 0; first < bias_.size();) {
        const float* bias = bias_.data() + first;
        if (first + kBlock <= bias_.size()) {
            w = run_block<kBlock>(x, inputs_, w, bias, y + first);
            first += kBlock;
        } else {
            w = run_block<kLanes>(x, inputs_, w, bias, y + first);
            first += kLanes;
        }
    }
}

void relu(std::span<float> x) {
    for_each_lane(x, [](Lanes lanes) { return lanes > 0.0f ? lanes : Lanes{}; });
}

void hyperbolic_tangent(std::span<float> x) {
    for_each_lane(x, tanh_of);
}

void sigmoid(std::span<float> x) {
    for_each_lane(x, sigmoid_of);
}

void softmax(std::span<float> x) {
    float largest = x.front();
    for (const float value : x) largest = value > largest ? value : largest;
    for_each_lane(x, [&](Lanes lanes) { return exp_negative(lanes - largest); });
    float sum = 0;
    for (const float value : x) sum += value;
    for (float& value : x) value /= sum;
}

void lstm_cell(std::span<float> z, std::span<float> c, std::span<float> h) {
    const std::size_t n = c.size();
    sigmoid(z.first(2 * n));
    hyperbolic_tangent(z.subspan(2 * n, n));
    sigmoid(z.subspan(3 * n, n));
    const float *i = z.data(), *f = i + n, *g = f + n, *o = g + n;
    for (std::size_t k = 0; k < n; ++k) c[k] = f[k] * c[k] + i[k] * g[k];
    for (std::size_t k = 0; k < n; ++k) h[k] = c[k];
    hyperbolic_tangent(h);
    for (std::size_t k = 0; k < n; ++k) h[k] = o[k] * h[k];
}

}  // namespace subflow
