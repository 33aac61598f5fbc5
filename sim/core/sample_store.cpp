#include "sample_store.h"

#include <array>
#include <bit>
#include <cstring>

namespace subflow {

namespace {

// A packed column begins with a header of two bytes, followed by a table of words and one code of equal width per row.
// With one word, a value is this word plus its code, shifted to the left. With several words, a value is the word that
// its code numbers.
struct Header {
    std::uint8_t width = 0;
    std::uint8_t detail = 0;  // the shift, or kTable plus the number of words
};
constexpr std::uint8_t kTable = 64;
constexpr std::size_t kMostWords = 16;
// Codes are read eight bytes at a time.
constexpr std::size_t kPadding = 8;

std::size_t words_of(Header header) {
    return header.detail < kTable ? 1 : header.detail - kTable;
}
std::size_t packed_bytes(Header header, std::size_t rows) {
    return sizeof(Header) + words_of(header) * sizeof(std::uint32_t) + (rows * header.width + 7) / 8;
}

Header header_at(const std::uint8_t* packed) {
    Header header;
    std::memcpy(&header, packed, sizeof header);
    return header;
}

// The distinct words of a column and the code of each row, if the words are few.
struct Table {
    std::array<std::uint32_t, kMostWords> words{};
    std::size_t count = 0;

    // Position of a word, which is added if it is new; kMostWords if the table is full.
    std::size_t find(std::uint32_t word) {
        const auto known = std::find(words.begin(), words.begin() + count, word);
        const auto at = static_cast<std::size_t>(known - words.begin());
        if (at == count && count < kMostWords) words[count++] = word;
        return at;
    }
};

void append(std::vector<std::uint8_t>& to, const void* from, std::size_t bytes) {
    const auto* const first = static_cast<const std::uint8_t*>(from);
    to.insert(to.end(), first, first + bytes);
}

template <class CodeOf>
void append_codes(std::vector<std::uint8_t>& to, std::size_t rows, std::uint32_t width, CodeOf&& code_of) {
    if (width == 0) return;
    std::array<std::uint8_t, SampleStore::kHeight * sizeof(std::uint32_t)> codes;
    std::size_t bytes = 0;
    std::uint64_t waiting = 0;
    std::uint32_t bits = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        waiting |= std::uint64_t{code_of(row)} << bits;
        for (bits += width; bits >= 8; bits -= 8, waiting >>= 8) codes[bytes++] = static_cast<std::uint8_t>(waiting);
    }
    if (bits > 0) codes[bytes++] = static_cast<std::uint8_t>(waiting);
    append(to, codes.data(), bytes);
}

void append_column(std::vector<std::uint8_t>& to, std::span<const float> values) {
    const auto word = [&](std::size_t row) { return std::bit_cast<std::uint32_t>(values[row]); };
    std::uint32_t least = word(0);
    Table table;
    bool is_table = true;
    for (std::size_t row = 0; row < values.size(); ++row) {
        if (row > 0 && word(row) == word(row - 1)) continue;
        least = std::min(least, word(row));
        is_table = is_table && table.find(word(row)) < kMostWords;
    }
    std::uint32_t differences = 0;
    for (std::size_t row = 0; row < values.size(); ++row) differences |= word(row) - least;
    const int shift = differences == 0 ? 0 : std::countr_zero(differences);
    const Header plain{static_cast<std::uint8_t>(std::bit_width(differences >> shift)),
                       static_cast<std::uint8_t>(shift)};
    const Header tabled{static_cast<std::uint8_t>(std::bit_width(table.count - 1)),
                        static_cast<std::uint8_t>(kTable + table.count)};
    if (is_table && packed_bytes(tabled, values.size()) < packed_bytes(plain, values.size())) {
        append(to, &tabled, sizeof tabled);
        append(to, table.words.data(), table.count * sizeof(std::uint32_t));
        append_codes(to, values.size(), tabled.width,
                     [&](std::size_t row) { return static_cast<std::uint32_t>(table.find(word(row))); });
    } else {
        append(to, &plain, sizeof plain);
        append(to, &least, sizeof least);
        append_codes(to, values.size(), plain.width, [&](std::size_t row) { return (word(row) - least) >> shift; });
    }
}

// Reads the rows of a packed column from `first` on.
void read_column(const std::uint8_t* packed, std::size_t first, std::span<float> values) {
    const Header header = header_at(packed);
    std::array<std::uint32_t, kMostWords> words;
    std::memcpy(words.data(), packed + sizeof header, words_of(header) * sizeof(std::uint32_t));
    const std::uint8_t* const codes = packed + sizeof header + words_of(header) * sizeof(std::uint32_t);
    const std::uint64_t mask = (std::uint64_t{1} << header.width) - 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t bit = (first + i) * header.width;
        std::uint64_t eight = 0;
        for (std::size_t byte = 0; byte < sizeof eight; ++byte)
            eight |= std::uint64_t{codes[bit / 8 + byte]} << (8 * byte);
        const auto code = static_cast<std::uint32_t>(eight >> bit % 8 & mask);
        values[i] = std::bit_cast<float>(header.detail < kTable ? words[0] + (code << header.detail) : words[code]);
    }
}

}  // namespace

void SampleStore::read(std::size_t column, std::size_t first, std::span<float> values) const {
    for (std::size_t done = 0; done < values.size();) {
        const std::size_t block = (first + done) / kHeight;
        const std::size_t row = (first + done) % kHeight;
        const std::span<float> part = values.subspan(done, std::min(kHeight - row, values.size() - done));
        if (block == open_) {
            std::copy_n(open_rows_.begin() + static_cast<std::ptrdiff_t>(column * height_ + row), part.size(),
                        part.begin());
        } else {
            const Block& from = blocks_[block];
            const std::uint8_t* packed = from.packed.data() + from.starts[column / kColumnsStep];
            for (std::size_t i = 0; i < column % kColumnsStep; ++i) packed += packed_bytes(header_at(packed), height_);
            read_column(packed, row, part);
        }
        done += part.size();
    }
}

void SampleStore::change_block(std::size_t block) {
    blocks_.resize(std::max(blocks_.size(), std::max(block, open_) + 1));
    blocks_[open_] = pack();
    open_ = block;
    unpack(blocks_[open_]);
    blocks_[open_] = {};
}

SampleStore::Block SampleStore::pack() const {
    std::vector<std::uint8_t> packed;
    Block block;
    block.starts.reserve((columns_ + kColumnsStep - 1) / kColumnsStep);
    for (std::size_t column = 0; column < columns_; ++column) {
        if (column % kColumnsStep == 0) block.starts.push_back(static_cast<std::uint32_t>(packed.size()));
        append_column(packed, std::span(open_rows_).subspan(column * height_, height_));
    }
    packed.resize(packed.size() + kPadding);
    block.packed.assign(packed.begin(), packed.end());  // without the spare capacity
    return block;
}

void SampleStore::unpack(const Block& block) {
    if (block.packed.empty()) return;
    const std::uint8_t* packed = block.packed.data();
    for (std::size_t column = 0; column < columns_; ++column) {
        read_column(packed, 0, std::span(open_rows_).subspan(column * height_, height_));
        packed += packed_bytes(header_at(packed), height_);
    }
}

}  // namespace subflow
