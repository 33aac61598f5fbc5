// Strong types for the quantities of the simulator: mixed units do not compile.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace subflow {

// A value of representation `Rep` in the unit `Tag`. Sums keep the unit, ratios are plain numbers.
template <class Tag, class Rep>
struct Quantity {
    Rep value{};

    constexpr Quantity() = default;
    constexpr explicit Quantity(Rep raw) : value(raw) {}

    friend constexpr auto operator<=>(Quantity, Quantity) = default;
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value + b.value); }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value - b.value); }
    friend constexpr Quantity operator*(Quantity a, Rep k) { return Quantity(a.value * k); }
    friend constexpr Quantity operator*(Rep k, Quantity a) { return Quantity(a.value * k); }
    friend constexpr Quantity operator/(Quantity a, Rep k) { return Quantity(a.value / k); }
    friend constexpr Rep operator/(Quantity a, Quantity b) { return a.value / b.value; }
    constexpr Quantity& operator+=(Quantity other) { return value += other.value, *this; }
    constexpr Quantity& operator-=(Quantity other) { return value -= other.value, *this; }
};

// Simulated time and durations, in integer nanoseconds: sums are exact and the order is total.
using Nanos = Quantity<struct NanosTag, std::int64_t>;
using Bytes = Quantity<struct BytesTag, std::int64_t>;
using BitsPerSec = Quantity<struct BitsPerSecTag, double>;

// Later than any instant of a run; "no deadline". Half the range, so that adding a duration cannot overflow.
inline constexpr Nanos kNever{std::numeric_limits<std::int64_t>::max() / 2};
inline constexpr BitsPerSec kUnlimitedRate{std::numeric_limits<double>::infinity()};
// Value of results that are undefined or unknown.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Half of a duration, which must not be negative. A shift is faster than a division, which would also handle the sign.
constexpr Nanos half(Nanos span) {
    return Nanos(span.value >> 1);
}

constexpr double to_seconds(Nanos t) {
    return static_cast<double>(t.value) * 1e-9;
}

// Rounds to the nearest nanosecond.
constexpr Nanos from_seconds(double seconds) {
    return Nanos(static_cast<std::int64_t>(seconds * 1e9 + (seconds < 0 ? -0.5 : 0.5)));
}

namespace literals {
constexpr Nanos operator""_ns(unsigned long long v) {
    return Nanos(static_cast<std::int64_t>(v));
}
constexpr Nanos operator""_us(unsigned long long v) {
    return Nanos(static_cast<std::int64_t>(v) * 1'000);
}
constexpr Nanos operator""_ms(unsigned long long v) {
    return Nanos(static_cast<std::int64_t>(v) * 1'000'000);
}
constexpr Nanos operator""_s(unsigned long long v) {
    return Nanos(static_cast<std::int64_t>(v) * 1'000'000'000);
}
constexpr Bytes operator""_B(unsigned long long v) {
    return Bytes(static_cast<std::int64_t>(v));
}
constexpr BitsPerSec operator""_Mbps(unsigned long long v) {
    return BitsPerSec(static_cast<double>(v) * 1e6);
}
constexpr BitsPerSec operator""_Gbps(unsigned long long v) {
    return BitsPerSec(static_cast<double>(v) * 1e9);
}
}  // namespace literals

// Limit of a run and of all times in it: sums of a few of them stay far below 2^63 nanoseconds.
inline constexpr Nanos kMaxDuration = from_seconds(1e6);
constexpr bool is_time(Nanos time) {
    return time >= Nanos(0) && time <= kMaxDuration;
}

}  // namespace subflow
