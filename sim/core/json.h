// A strict reader of JSON texts from untrusted sources, with bounded memory and stack.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace subflow {

// The text is not JSON, or exceeds a limit.
struct JsonError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A JSON value. Numbers are doubles; the members of an object keep the order of the text.
struct Json {
    struct Member;
    using Array = std::vector<Json>;
    using Object = std::vector<Member>;

    std::variant<std::monostate, bool, double, std::string, Array, Object> value;  // monostate: null

    template <class T>
    const T* get_if() const {
        return std::get_if<T>(&value);
    }
    // The member of an object with this key; nullptr if the object has no such member or the value is not an object.
    const Json* find(std::string_view key) const;
};

struct Json::Member {
    std::string key;
    Json value;
};

// Texts with deeper nesting or more values are refused, which bounds the memory and stack needed to read a file.
inline constexpr std::size_t kMaxJsonDepth = 32;
inline constexpr std::size_t kMaxJsonValues = 100'000;

// Reads a whole text. Throws JsonError with the reason and the position: not JSON (RFC 8259), not UTF-8, a duplicate
// key, a number outside the range of a double, or a limit exceeded. `what`: name of the text in messages.
Json parse_json(std::string_view text, std::string_view what, std::size_t max_values = kMaxJsonValues);

}  // namespace subflow
