// Powers with real exponents, the same to the bit on every platform. Part of the online-learning controllers.
#pragma once

#include <cmath>
#include <cstdint>

namespace subflow {

// x to the power of `exponent`, to within some parts in 10^15, for x > 0 and results that a double can hold: std::pow
// is another function on another platform, and signatures must not be.
inline double power(double x, double exponent) {
    constexpr double kLn2 = 0.693147180559945309417232121458;
    constexpr double kInverseSqrt2 = 0.707106781186547524400844362105;
    // x = fraction * 2^binary, with the fraction around 1
    int binary = 0;
    double fraction = std::frexp(x, &binary);
    if (fraction < kInverseSqrt2) {
        fraction *= 2;
        --binary;
    }
    // ln f = 2 atanh s = 2 s (1 + s^2/3 + s^4/5 + ...) with s = (f - 1) / (f + 1), |s| < 0.172: what comes after eleven
    // terms is below the last digit.
    const double s = (fraction - 1) / (fraction + 1);
    double log_series = 0;
    for (int k = 21; k >= 1; k -= 2) log_series = log_series * (s * s) + 1.0 / k;
    const double y = exponent * (binary * kLn2 + 2 * s * log_series);
    // e^y = 2^n e^r with |r| <= ln(2) / 2: the terms of e^r from the sixteenth on are below the last digit.
    const double n = std::floor(y / kLn2 + 0.5);
    const double r = y - n * kLn2;
    double exp_series = 1;
    for (int k = 15; k >= 1; --k) exp_series = 1 + exp_series * r / k;
    return std::ldexp(exp_series, static_cast<int>(n));
}

}  // namespace subflow
