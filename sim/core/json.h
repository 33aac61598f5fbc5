// A reader of JSON texts from anywhere: small, strict, and bounded in what it makes of them.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace subflow {

// A text that is no JSON, or more of it than is allowed.
struct JsonError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A JSON value. Numbers are doubles; the members of an object stand in the order of the text.
struct Json {
    struct Member;
    using Array = std::vector<Json>;
    using Object = std::vector<Member>;

    std::variant<std::monostate, bool, double, std::string, Array, Object> value;  // monostate: null

    template <class T>
    const T* get_if() const {
        return std::get_if<T>(&value);
    }
    // The member of an object by its key; nullptr: there is none, or this is no object.
    const Json* find(std::string_view key) const;
};

struct Json::Member {
    std::string key;
    Json value;
};

// Deeper texts and such with more values are refused: memory and stack that a file may take are bounded by this.
inline constexpr std::size_t kMaxJsonDepth = 32;
inline constexpr std::size_t kMaxJsonValues = 100'000;

// Reads a whole text. Throws JsonError, which says what is wrong and where: not JSON (RFC 8259), not UTF-8, a key that
// stands twice, a number beyond a double, or one of the limits. `what` is how messages call the text.
Json parse_json(std::string_view text, std::string_view what, std::size_t max_values = kMaxJsonValues);

}  // namespace subflow
