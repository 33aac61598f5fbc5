// The maximum or minimum of recent values of a series, in constant space.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>

namespace subflow {

// Stores three candidates: the maximum of the window, the maximum after it, and the maximum after that (likewise for
// minima). When the first candidate expires, the second replaces it. Without better values, the second is taken a
// quarter of the window after the first, and the third half a window after the first, so that the candidates do not
// expire together. The result may be slightly below the true maximum, never above it. A queue of all candidates would
// be exact, but of unbounded size. Source: K. Nichols' algorithm, as in Linux lib/win_minmax.c
template <class Beats>
class WindowedExtreme {
public:
    // `window`: in the unit of the times passed to add().
    explicit WindowedExtreme(std::uint32_t window) : window_(window) {}

    // Before the first value: 0 for the maximum, infinity for the minimum.
    double value() const { return candidates_[0].value; }

    // Takes effect with the next value.
    void set_window(std::uint32_t window) { window_ = window; }

    // Adds a value at `time`; times must not decrease.
    void add(std::uint32_t time, double value) {
        const Candidate now{value, time};
        if (Beats{}(value, candidates_[0].value) || time - candidates_[2].time > window_) {
            candidates_.fill(now);
            return;
        }
        if (Beats{}(value, candidates_[1].value)) {
            candidates_[1] = candidates_[2] = now;
        } else if (Beats{}(value, candidates_[2].value)) {
            candidates_[2] = now;
        }
        const std::uint32_t age = time - candidates_[0].time;
        if (age > window_) {
            promote(now);
            if (time - candidates_[0].time > window_) promote(now);
        } else if (candidates_[1].time == candidates_[0].time && age > window_ / 4) {
            candidates_[1] = candidates_[2] = now;
        } else if (candidates_[2].time == candidates_[1].time && age > window_ / 2) {
            candidates_[2] = now;
        }
    }

private:
    struct Candidate {
        double value = Beats{}(1.0, 0.0) ? 0 : std::numeric_limits<double>::infinity();
        std::uint32_t time = 0;
    };

    void promote(const Candidate& newcomer) { candidates_ = {candidates_[1], candidates_[2], newcomer}; }

    std::uint32_t window_;
    std::array<Candidate, 3> candidates_{};
};

using WindowedMax = WindowedExtreme<std::greater_equal<>>;
using WindowedMin = WindowedExtreme<std::less_equal<>>;

}  // namespace subflow
