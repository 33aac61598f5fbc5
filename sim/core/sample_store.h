// Columns of samples, in as few bits as their values need.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memory.h"

namespace subflow {

// A table of rows of samples. Values are read exactly as they were written.
//
// Rows are written one after the other, with few returns to earlier ones. The block of rows that is being written is
// open: its values are plain. All other blocks are packed. The values of one column in a block are similar: they share
// their first bits, or are few different ones, and rates and counts end in zeros.
class SampleStore {
public:
    SampleStore() = default;
    SampleStore(std::size_t columns, std::size_t rows) : columns_(columns), height_(std::min(rows, kHeight)) {
        open_rows_.resize(columns_ * height_);
    }

    // Call it before set() for a row. Rows that were never set have any value.
    void open(std::size_t row) {
        if (row / kHeight != open_) [[unlikely]]
            change_block(row / kHeight);
    }
    void set(std::size_t column, std::size_t row, float value) { open_rows_[column * height_ + row % kHeight] = value; }

    // Reads the values of a column from the row `first` on.
    void read(std::size_t column, std::size_t first, std::span<float> values) const;

    std::size_t heap_bytes() const { return heap_bytes_of(blocks_, open_rows_); }

    static constexpr std::size_t kHeight = 64;    // rows of a block
    static constexpr double kBytesPerSample = 2;  // a margin over the 1.0 to 1.4 of the bench

private:
    static constexpr std::size_t kColumnsStep = 8;  // columns from one start to the next
    // Columns one after the other, with the position of every kColumnsStep-th one.
    struct Block {
        std::vector<std::uint8_t> packed;
        std::vector<std::uint32_t> starts;

        std::size_t heap_bytes() const { return heap_bytes_of(packed, starts); }
    };

    void change_block(std::size_t block);
    Block pack() const;
    void unpack(const Block& block);

    std::size_t columns_ = 0;
    std::size_t height_ = 0;        // rows of a block, or fewer if the table is shorter
    std::size_t open_ = 0;          // the open block
    std::vector<float> open_rows_;  // column after column
    std::vector<Block> blocks_;     // empty: the open block, and blocks without any row that was set
};

}  // namespace subflow
