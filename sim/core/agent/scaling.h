// Scaling of observations to a magnitude of about 1.
#pragma once

#include <algorithm>
#include <cmath>

#include "../cc/power.h"

namespace subflow {

// Limit r_max of scaled(), which maps a ratio r >= 0 to ln(1 + min(r, r_max)): small ratios nearly unchanged, large
// ones compressed.
inline constexpr double kLargestRatio = 10;
inline constexpr float kScaledMaximum = 2.3978953F;  // ln(1 + kLargestRatio) as the nearest float

inline float scaled(double ratio) {
    if (!(ratio > 0)) return 0;  // zero, or NaN: not measured yet
    return static_cast<float>(natural_log(1 + std::min(ratio, kLargestRatio)));
}

// A change relative to a reference, within [-1, 1]; 0 if unknown.
inline float scaled_change(double change) {
    return std::isnan(change) ? 0 : static_cast<float>(std::clamp(change, -1.0, 1.0));
}

}  // namespace subflow
