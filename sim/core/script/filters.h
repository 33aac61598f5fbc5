// Filters for number series in scripts: recent maximum or minimum, and moving average; also time differences.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "../units.h"

namespace subflow {

// a - b for times in seconds. Times are whole nanoseconds, so that their difference is computed in nanoseconds,
// exactly. Times beyond kExact, and infinite times, are subtracted as floating-point numbers.
inline double time_difference(double a, double b) {
    constexpr double kExact = 9e6;  // s; range in which a double resolves nanoseconds
    if (!(std::abs(a) < kExact) || !(std::abs(b) < kExact)) return a - b;
    return to_seconds(from_seconds(a) - from_seconds(b));
}

// Like WindowedExtreme, with real-valued times and window, stored in cells of a frame: value and time of three
// candidates.
template <class Beats>
struct RecentExtreme {
    static constexpr double kNone = Beats{}(1.0, 0.0) ? 0 : std::numeric_limits<double>::infinity();

    double cells[6]{kNone, 0, kNone, 0, kNone, 0};

    double value() const { return cells[0]; }
    void add(double value, double time, double window) { add_to(cells, value, time, window); }

    static void add_to(double* cells, double value, double time, double window) {
        constexpr Beats beats;
        struct Kept {
            double value, time;
        };
        std::array<Kept, 3> c{{{cells[0], cells[1]}, {cells[2], cells[3]}, {cells[4], cells[5]}}};
        const Kept now{value, time};
        const double age = time - c[0].time;
        if (c[0].value == kNone || beats(value, c[0].value) || time - c[2].time > window) {
            c.fill(now);
        } else {
            if (beats(value, c[1].value)) {
                c[1] = c[2] = now;
            } else if (beats(value, c[2].value)) {
                c[2] = now;
            }
            if (age > window) {
                c = {c[1], c[2], now};
                if (time - c[0].time > window) c = {c[1], c[2], now};
            } else if (c[1].time == c[0].time && age > window / 4) {
                c[1] = c[2] = now;
            } else if (c[2].time == c[1].time && age > window / 2) {
                c[2] = now;
            }
        }
        for (int i = 0; i < 3; ++i) {
            cells[2 * i] = c[static_cast<std::size_t>(i)].value;
            cells[2 * i + 1] = c[static_cast<std::size_t>(i)].time;
        }
    }
};
using RecentMaximum = RecentExtreme<std::greater_equal<>>;
using RecentMinimum = RecentExtreme<std::less_equal<>>;

// An exponentially weighted mean, initialised by the first value.
struct MovingAverage {
    double cells[2]{};  // the mean, and 1 once it has a value

    double value() const { return cells[0]; }
    void add(double value, double weight) { add_to(cells, value, weight); }

    static void add_to(double* cells, double value, double weight) {
        cells[0] = cells[1] != 0 ? cells[0] + weight * (value - cells[0]) : value;
        cells[1] = 1;
    }
};

}  // namespace subflow
