// Samples are read exactly as they were written, whatever their values and the order of writing.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "random_scenario.h"
#include "sample_store.h"

namespace subflow {
namespace {

using testing::Draws;

// A table of samples, with the store that has to hold the same.
class Table {
public:
    Table(std::size_t columns, std::size_t rows) : store_(columns, rows), plain_(columns, std::vector<float>(rows)) {}

    void set_row(std::size_t row, const auto& value_of) {
        store_.open(row);
        for (std::size_t column = 0; column < plain_.size(); ++column) {
            plain_[column][row] = value_of(column);
            store_.set(column, row, plain_[column][row]);
        }
    }
    void expect_equal(std::size_t first, std::size_t end) const {
        for (std::size_t column = 0; column < plain_.size(); ++column) {
            std::vector<float> values(end - first);
            store_.read(column, first, values);
            for (std::size_t row = first; row < end; ++row)
                ASSERT_EQ(std::bit_cast<std::uint32_t>(values[row - first]),
                          std::bit_cast<std::uint32_t>(plain_[column][row]))
                    << column << ", " << row;
        }
    }
    std::size_t heap_bytes() const { return store_.heap_bytes(); }

private:
    SampleStore store_;
    std::vector<std::vector<float>> plain_;
};

// Columns like those of traces, and columns of arbitrary bits.
float value(Draws& draw, std::size_t column) {
    switch (column % 6) {
        case 0:
            return static_cast<float>(draw.between(0, 1000)) * 115'840;
        case 1:
            return draw.chance(0.3) ? std::numeric_limits<float>::quiet_NaN() : 2.5f;
        case 2:
            return static_cast<float>(draw.between(-3, 3));
        case 3:
            return static_cast<float>(draw.number(20, 40));
        case 4:
            return 0;
        default:
            return std::bit_cast<float>(static_cast<std::uint32_t>(draw.between(0, 0xffffffff)));
    }
}

TEST(SampleStore, ReadsTheBitsOfEveryValue) {
    for (const std::size_t rows : {1u, 2u, 63u, 64u, 65u, 128u, 1000u}) {
        Draws draw(rows);
        Table table(13, rows);
        for (std::size_t row = 0; row < rows; ++row)
            table.set_row(row, [&](std::size_t column) { return value(draw, column); });
        table.expect_equal(0, rows);
        table.expect_equal(rows / 3, rows);
        table.expect_equal(rows, rows);
    }
}

TEST(SampleStore, ReturnsToEarlierRowsAndKeepsLaterOnes) {
    Draws draw(1);
    Table table(9, 700);
    for (int turn = 0; turn < 30; ++turn) {
        const auto first = static_cast<std::size_t>(draw.between(0, 699));
        const auto end = std::min<std::size_t>(700, first + static_cast<std::size_t>(draw.between(1, 200)));
        if (turn == 0) {
            for (std::size_t row = 0; row < 700; ++row)
                table.set_row(row, [&](std::size_t column) { return value(draw, column); });
        }
        for (std::size_t row = first; row < end; ++row)
            table.set_row(row, [&](std::size_t column) { return value(draw, column); });
        table.expect_equal(0, 700);
    }
}

TEST(SampleStore, TakesFewBitsForSimilarValues) {
    Table table(8, 10'000);
    for (std::size_t row = 0; row < 10'000; ++row) table.set_row(row, [](std::size_t) { return 0.04f; });
    EXPECT_LT(table.heap_bytes(), 8 * 10'000 * sizeof(float) / 10);
    Draws draw(2);
    for (std::size_t row = 0; row < 10'000; ++row)
        table.set_row(row, [&](std::size_t) { return static_cast<float>(draw.between(30, 45)); });
    EXPECT_LT(table.heap_bytes(), 8 * 10'000 * sizeof(float) / 4);
}

}  // namespace
}  // namespace subflow
