// Powers computed without the standard library.
#include <gtest/gtest.h>

#include <cmath>

#include "cc/power.h"

namespace subflow {
namespace {

TEST(Power, AgreesWithTheLibraryToSomePartsInTenToTheFifteen) {
    for (double x = 1e-6; x < 1e12; x *= 1.13) {
        for (const double exponent : {0.05, 0.5, 0.9, 0.999, 1.2, 3.0, -0.1})
            EXPECT_NEAR(power(x, exponent) / std::pow(x, exponent), 1, 2e-14) << x << " " << exponent;
    }
}

TEST(Power, IsExactWhereNothingIsLeftToRound) {
    EXPECT_EQ(power(1, 0.9), 1);
    EXPECT_EQ(power(17, 0), 1);
}

TEST(Power, GrowsWithItsBase) {
    // Controllers compare differences of it.
    double last = 0;
    for (double x = 0.2; x < 1e4; x *= 1.0001) {
        const double next = power(x, 0.9);
        EXPECT_GT(next, last) << x;
        last = next;
    }
}

}  // namespace
}  // namespace subflow
