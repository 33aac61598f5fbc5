// The largest of the recent values of a series, in constant space.
#pragma once

#include <array>
#include <cstdint>

namespace subflow {

// Remembers three candidates: the largest value of the window, the largest after it, the largest after that. When the
// first grows too old the second takes over. The second is chosen no earlier than a quarter of the window after the
// first, the third half a window after it, so that the successors are not all about to expire as well. At most, then,
// the answer is a little below the maximum of the window; it is never above. Source: K. Nichols' algorithm, as in
// Linux lib/win_minmax.c. A queue of all candidates was the alternative: exact, and without a bound on its size.
class WindowedMax {
public:
    // `window` in the unit of the times that follow.
    explicit WindowedMax(std::uint32_t window) : window_(window) {}

    double value() const { return candidates_[0].value; }

    // A value at `time`; times do not decrease.
    void add(std::uint32_t time, double value) {
        const Candidate now{value, time};
        if (value >= candidates_[0].value || time - candidates_[2].time > window_) {
            candidates_.fill(now);
            return;
        }
        if (value >= candidates_[1].value) {
            candidates_[1] = candidates_[2] = now;
        } else if (value >= candidates_[2].value) {
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
        double value = 0;
        std::uint32_t time = 0;
    };

    void promote(const Candidate& newcomer) { candidates_ = {candidates_[1], candidates_[2], newcomer}; }

    std::uint32_t window_;
    std::array<Candidate, 3> candidates_{};
};

}  // namespace subflow
