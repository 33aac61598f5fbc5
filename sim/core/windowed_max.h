// The largest or the least of the recent values of a series, in constant space.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>

namespace subflow {

// Remembers three candidates: the largest value of the window, the largest after it, the largest after that (or the
// least ones). When the first grows too old the second takes over. The second is chosen no earlier than a quarter of
// the window after the first, the third half a window after it, so that the successors are not all about to expire as
// well. At most, then, the answer is a little below the maximum of the window; it is never above. Source: K. Nichols'
// algorithm, as in Linux lib/win_minmax.c. A queue of all candidates was the alternative: exact, and without a bound on
// its size.
template <class Beats>
class WindowedExtreme {
public:
    // `window` in the unit of the times that follow.
    explicit WindowedExtreme(std::uint32_t window) : window_(window) {}

    // Before there is any: 0 of the largest, infinity of the least.
    double value() const { return candidates_[0].value; }

    // From the next value on.
    void set_window(std::uint32_t window) { window_ = window; }

    // A value at `time`; times do not decrease.
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
