#include "kernels.h"

#include <cstring>

#if defined(__x86_64__)
#define SUBFLOW_HAS_AVX2_CODE 1
// Vectors of eight are passed only to inlined functions, so that the calling convention does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"
#else
#define SUBFLOW_HAS_AVX2_CODE 0
#endif

#define SUBFLOW_INLINE [[gnu::always_inline]] inline

namespace subflow {

namespace {

// Vector extensions of GCC and Clang: operations apply to each element, so that the width does not affect results.
// Loops over floats would also work, but GCC does not vectorise the branches in the functions below.
struct Four {
    using Floats = float __attribute__((vector_size(16)));
    using Bits = std::uint32_t __attribute__((vector_size(16)));
};
struct Eight {
    using Floats = float __attribute__((vector_size(32)));
    using Bits = std::uint32_t __attribute__((vector_size(32)));
};
template <class V>
inline constexpr std::size_t kLanes = sizeof(typename V::Floats) / sizeof(float);
// Number of outputs whose sums stay in registers at the same time.
constexpr std::size_t kBlock = 32;

template <class V>
SUBFLOW_INLINE typename V::Floats load(const float* from) {
    typename V::Floats lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

template <class V>
SUBFLOW_INLINE typename V::Floats all(float x) {
    return x - typename V::Floats{};
}

template <class V>
SUBFLOW_INLINE typename V::Bits bits_of(const typename V::Floats& x) {
    return __builtin_bit_cast(typename V::Bits, x);
}

template <class V>
SUBFLOW_INLINE typename V::Floats floats_of(const typename V::Bits& bits) {
    return __builtin_bit_cast(typename V::Floats, bits);
}

template <class V>
SUBFLOW_INLINE typename V::Floats magnitude(const typename V::Floats& x) {
    return floats_of<V>(bits_of<V>(x) & 0x7FFFFFFFu);
}

// Computes kBlocks blocks of kWidth outputs each: y = b + x[0] w[0] + x[1] w[1] + ..., added from left to right.
template <class V, std::size_t kWidth, std::size_t kBlocks>
SUBFLOW_INLINE void run_blocks(const float* x, std::size_t inputs, const float* w, const float* bias, float* y) {
    constexpr std::size_t kVectors = kWidth / kLanes<V>;
    typename V::Floats sums[kBlocks * kVectors];
    for (std::size_t v = 0; v < kBlocks * kVectors; ++v) sums[v] = load<V>(bias + v * kLanes<V>);
    for (std::size_t i = 0; i < inputs; ++i) {
        for (std::size_t v = 0; v < kBlocks * kVectors; ++v) {
            const std::size_t block = v / kVectors, place = v % kVectors * kLanes<V>;
            sums[v] += x[i] * load<V>(w + block * inputs * kWidth + i * kWidth + place);
        }
    }
    std::memcpy(y, sums, sizeof sums);
}

// Eight vectors of sums at a time: enough to keep the adders busy despite their latency.
template <class V>
SUBFLOW_INLINE void run_affine(const float* x, std::size_t inputs, const float* w, const float* bias,
                               std::size_t outputs, float* y) {
    constexpr std::size_t kBlocks = 8 * kLanes<V> / kBlock;
    std::size_t first = 0;
    for (; first + kBlocks * kBlock <= outputs; first += kBlocks * kBlock)
        run_blocks<V, kBlock, kBlocks>(x, inputs, w + first * inputs, bias + first, y + first);
    for (; first + kBlock <= outputs; first += kBlock)
        run_blocks<V, kBlock, 1>(x, inputs, w + first * inputs, bias + first, y + first);
    for (; first < outputs; first += kLanes<Four>)
        run_blocks<Four, kLanes<Four>, 1>(x, inputs, w + first * inputs, bias + first, y + first);
}

// e^x for x <= 0, within a unit in the last place; 0 for x below -87, the end of normal floats. NaN gives NaN.
// Source: Cephes expf.c (Moshier): x = n ln 2 + r, e^r = 1 + r + r^2 P(r), |r| <= ln(2) / 2.
template <class V>
SUBFLOW_INLINE typename V::Floats exp_negative(const typename V::Floats& x) {
    using Floats = typename V::Floats;
    constexpr float kLowest = -87.0f;
    const Floats clamped = x < kLowest ? all<V>(kLowest) : x;
    // Adding 1.5 * 2^23 rounds to whole numbers, stored in the lowest bits.
    constexpr float kRound = 12582912.0f;
    const Floats shifted = clamped * 1.44269504088896341f + kRound;
    const Floats n = shifted - kRound;
    const Floats r = (clamped - n * 0.693359375f) - n * -2.12194440e-4f;
    Floats p = all<V>(1.9875691500e-4f);
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    const Floats e = p * (r * r) + r + 1.0f;
    // 2^n as a float: n + 127 in the exponent bits.
    const Floats value = e * floats_of<V>((bits_of<V>(shifted) + 127u) << 23);
    return x < kLowest ? Floats{} : value;
}

// Functions for apply(): of(x) maps each element of a vector.
struct Relu {
    template <class V>
    SUBFLOW_INLINE static typename V::Floats of(const typename V::Floats& x) {
        return x > 0.0f ? x : typename V::Floats{};
    }
};

// Source: Cephes tanhf.c: a polynomial near 0, where the other form loses digits.
struct Tanh {
    template <class V>
    SUBFLOW_INLINE static typename V::Floats of(const typename V::Floats& x) {
        using Floats = typename V::Floats;
        const Floats z = x * x;
        Floats p = all<V>(-5.70498872745e-3f);
        p = p * z + 2.06390887954e-2f;
        p = p * z - 5.37397155531e-2f;
        p = p * z + 1.33314422036e-1f;
        p = p * z - 3.33332819422e-1f;
        const Floats near = p * z * x + x;
        const Floats a = magnitude<V>(x);
        const Floats e = exp_negative<V>(a * -2.0f);
        const Floats far = (1.0f - e) / (1.0f + e);
        const Floats signed_far = floats_of<V>(bits_of<V>(far) | (bits_of<V>(x) & 0x80000000u));
        return a < 0.625f ? near : signed_far;
    }
};

struct Sigmoid {
    template <class V>
    SUBFLOW_INLINE static typename V::Floats of(const typename V::Floats& x) {
        // The exponential of -|x|, so that it cannot overflow.
        const typename V::Floats e = exp_negative<V>(-magnitude<V>(x));
        const typename V::Floats s = 1.0f / (1.0f + e);
        return x < 0.0f ? e * s : s;
    }
};

struct ExpNegative {
    template <class V>
    SUBFLOW_INLINE static typename V::Floats of(const typename V::Floats& x) {
        return exp_negative<V>(x);
    }
};

// x = f(x) for each element. The last elements, if fewer than a vector, are padded with zeros.
template <class V, class Function>
SUBFLOW_INLINE void apply(float* x, std::size_t count) {
    std::size_t i = 0;
    for (; i + kLanes<V> <= count; i += kLanes<V>) {
        const typename V::Floats y = Function::template of<V>(load<V>(x + i));
        std::memcpy(x + i, &y, sizeof y);
    }
    if (i == count) return;
    typename V::Floats rest{};
    std::memcpy(&rest, x + i, (count - i) * sizeof(float));
    rest = Function::template of<V>(rest);
    std::memcpy(x + i, &rest, (count - i) * sizeof(float));
}

#if SUBFLOW_HAS_AVX2_CODE
// Without FMA: a fused multiply-add rounds once, and would give other digits than elsewhere.
[[gnu::target("avx2")]] void run_affine_avx2(const float* x, std::size_t inputs, const float* w, const float* bias,
                                             std::size_t outputs, float* y) {
    run_affine<Eight>(x, inputs, w, bias, outputs, y);
}

template <class Function>
[[gnu::target("avx2")]] void apply_avx2(float* x, std::size_t count) {
    apply<Eight, Function>(x, count);
}
#endif

template <class Function>
void apply(std::span<float> x, [[maybe_unused]] Vectors vectors) {
#if SUBFLOW_HAS_AVX2_CODE
    if (vectors == Vectors::Eight) return apply_avx2<Function>(x.data(), x.size());
#endif
    apply<Four, Function>(x.data(), x.size());
}

}  // namespace

Vectors widest_vectors() {
#if SUBFLOW_HAS_AVX2_CODE
    if (__builtin_cpu_supports("avx2")) return Vectors::Eight;
#endif
    return Vectors::Four;
}

Affine::Affine(std::span<const float> weight, std::span<const float> bias)
    : inputs_(weight.size() / bias.size()), outputs_(bias.size()), bias_(bias.begin(), bias.end()) {
    bias_.resize(padded(outputs_));
    weights_.reserve(inputs_ * bias_.size());
    for (std::size_t first = 0; first < bias_.size();) {
        const std::size_t width = first + kBlock <= bias_.size() ? kBlock : kLanes<Four>;
        for (std::size_t i = 0; i < inputs_; ++i) {
            for (std::size_t o = first; o < first + width; ++o)
                weights_.push_back(o < outputs_ ? weight[o * inputs_ + i] : 0.0f);
        }
        first += width;
    }
}

void Affine::run(const float* x, float* y, [[maybe_unused]] Vectors vectors) const {
#if SUBFLOW_HAS_AVX2_CODE
    if (vectors == Vectors::Eight) return run_affine_avx2(x, inputs_, weights_.data(), bias_.data(), bias_.size(), y);
#endif
    run_affine<Four>(x, inputs_, weights_.data(), bias_.data(), bias_.size(), y);
}

void relu(std::span<float> x, Vectors vectors) {
    apply<Relu>(x, vectors);
}

void hyperbolic_tangent(std::span<float> x, Vectors vectors) {
    apply<Tanh>(x, vectors);
}

void sigmoid(std::span<float> x, Vectors vectors) {
    apply<Sigmoid>(x, vectors);
}

void softmax(std::span<float> x, Vectors vectors) {
    float largest = x.front();
    for (const float value : x) largest = value > largest ? value : largest;
    for (float& value : x) value -= largest;
    apply<ExpNegative>(x, vectors);
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
