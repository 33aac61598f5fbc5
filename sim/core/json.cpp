#include "json.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <unordered_set>

#if defined(__cpp_lib_to_chars) || (defined(_LIBCPP_VERSION) && _LIBCPP_VERSION >= 200000)
#define SUBFLOW_HAS_FROM_CHARS
#else
#include <locale>
#include <sstream>
#endif

namespace subflow {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

class Parser {
public:
    Parser(std::string_view text, std::string_view what, std::size_t max_values)
        : text_(text), what_(what), max_values_(max_values) {}

    Json parse() {
        Json json = parse_value(0);
        skip_space();
        if (at_ != text_.size()) refuse("something follows after its end");
        return json;
    }

private:
    [[noreturn]] void refuse(std::string_view why) const {
        throw JsonError(std::string(what_) + " is no usable JSON: " + std::string(why) + ", at byte " +
                        std::to_string(at_));
    }

    bool is_at(char c) const { return at_ < text_.size() && text_[at_] == c; }

    void skip_space() {
        while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos) ++at_;
    }

    void expect(std::string_view word) {
        if (text_.substr(at_, word.size()) != word) refuse("expected " + std::string(word));
        at_ += word.size();
    }

    Json parse_value(std::size_t depth) {
        if (depth > kMaxJsonDepth) refuse("nested deeper than " + std::to_string(kMaxJsonDepth));
        if (++values_ > max_values_) refuse("more than " + std::to_string(max_values_) + " values");
        skip_space();
        if (at_ == text_.size()) refuse("it ends too early");
        switch (text_[at_]) {
            case '{':
                return {parse_object(depth)};
            case '[':
                return {parse_array(depth)};
            case '"':
                return {parse_string()};
            case 't':
                expect("true");
                return {true};
            case 'f':
                expect("false");
                return {false};
            case 'n':
                expect("null");
                return {};
            default:
                return {parse_number()};
        }
    }

    Json::Object parse_object(std::size_t depth) {
        Json::Object object;
        std::unordered_set<std::string> keys;
        ++at_;
        skip_space();
        if (is_at('}')) {
            ++at_;
            return object;
        }
        for (;;) {
            skip_space();
            if (!is_at('"')) refuse("expected a key in quotes");
            std::string key = parse_string();
            if (!keys.insert(key).second) refuse("the key \"" + key + "\" occurs twice");
            skip_space();
            expect(":");
            object.push_back({std::move(key), parse_value(depth + 1)});
            skip_space();
            if (is_at('}')) {
                ++at_;
                return object;
            }
            expect(",");
        }
    }

    Json::Array parse_array(std::size_t depth) {
        Json::Array array;
        ++at_;
        skip_space();
        if (is_at(']')) {
            ++at_;
            return array;
        }
        for (;;) {
            array.push_back(parse_value(depth + 1));
            skip_space();
            if (is_at(']')) {
                ++at_;
                return array;
            }
            expect(",");
        }
    }

    std::string parse_string() {
        std::string string;
        ++at_;
        for (;;) {
            if (at_ == text_.size()) refuse("a string without end");
            const auto byte = static_cast<unsigned char>(text_[at_]);
            if (byte == '"') {
                ++at_;
                return string;
            }
            if (byte < 0x20) refuse("a control character in a string");
            if (byte == '\\') {
                parse_escape(string);
            } else if (byte < 0x80) {
                string += text_[at_++];
            } else {
                parse_multibyte(string);
            }
        }
    }

    void parse_escape(std::string& string) {
        ++at_;
        if (at_ == text_.size()) refuse("a string without end");
        const char c = text_[at_++];
        constexpr std::string_view kNames = "\"\\/bfnrt";
        constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
        if (const std::size_t i = kNames.find(c); i != std::string_view::npos) {
            string += kMeant[i];
            return;
        }
        if (c != 'u') refuse("an unknown escape");
        std::uint32_t code = parse_hex4();
        if (code >= 0xDC00 && code < 0xE000) refuse("half a surrogate pair");
        if (code >= 0xD800 && code < 0xDC00) {
            expect("\\u");
            const std::uint32_t low = parse_hex4();
            if (low < 0xDC00 || low >= 0xE000) refuse("half a surrogate pair");
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        append_utf8(string, code);
    }

    std::uint32_t parse_hex4() {
        std::uint32_t code = 0;
        const std::string_view digits = text_.substr(at_, 4);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        if (digits.size() < 4 || error != std::errc() || end != digits.data() + 4) refuse("expected four hex digits");
        at_ += 4;
        return code;
    }

    static void append_utf8(std::string& string, std::uint32_t code) {
        const auto tail = [&](int shift) { string += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
        if (code < 0x80) {
            string += static_cast<char>(code);
        } else if (code < 0x800) {
            string += static_cast<char>(0xC0 | (code >> 6));
            tail(0);
        } else if (code < 0x10000) {
            string += static_cast<char>(0xE0 | (code >> 12));
            tail(6);
            tail(0);
        } else {
            string += static_cast<char>(0xF0 | (code >> 18));
            tail(12);
            tail(6);
            tail(0);
        }
    }

    // RFC 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF.
    void parse_multibyte(std::string& string) {
        const auto lead = static_cast<unsigned char>(text_[at_]);
        const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
        std::uint32_t code = length == 4 ? lead & 0x07u : length == 3 ? lead & 0x0Fu : lead & 0x1Fu;
        bool is_valid = lead >= 0xC2 && lead <= 0xF4 && at_ + length <= text_.size();
        for (std::size_t i = 1; is_valid && i < length; ++i) {
            const auto next = static_cast<unsigned char>(text_[at_ + i]);
            is_valid = (next & 0xC0) == 0x80;
            code = (code << 6) | (next & 0x3Fu);
        }
        const std::uint32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
        if (!is_valid || code < least || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) refuse("not UTF-8");
        string += text_.substr(at_, length);
        at_ += length;
    }

    double parse_number() {
        std::size_t end = at_;
        const auto skip_digits = [&] {
            const std::size_t first = end;
            while (end < text_.size() && is_digit(text_[end])) ++end;
            if (end == first) refuse("expected a value");
        };
        const auto is_there = [&](std::string_view any) {
            return end < text_.size() && any.find(text_[end]) != std::string_view::npos;
        };
        if (is_there("-")) ++end;
        if (is_there("0")) {
            ++end;  // only a fraction or an exponent may follow a leading zero
        } else {
            skip_digits();
        }
        if (is_there(".")) {
            ++end;
            skip_digits();
        }
        if (is_there("eE")) {
            ++end;
            if (is_there("+-")) ++end;
            skip_digits();
        }
        const std::string_view written = text_.substr(at_, end - at_);
        double number = 0;
        bool is_read = true;
#if defined(SUBFLOW_HAS_FROM_CHARS)
        is_read = std::from_chars(written.data(), written.data() + written.size(), number).ec == std::errc();
#else
        // Before version 20, libc++ has from_chars only for integers. With the classic locale, a stream also reads the
        // nearest double, whatever the locale of the program.
        std::istringstream stream{std::string(written)};
        stream.imbue(std::locale::classic());
        stream >> number;
        is_read = !stream.fail();
#endif
        // A number too small for a double is read as 0, which only some libraries report as a failure.
        const bool is_zero = written.substr(0, written.find_first_of("eE")).find_first_of("123456789") == written.npos;
        if (!is_read || (number == 0 && !is_zero)) refuse("a number that a double cannot hold");
        at_ = end;
        return number;
    }

    std::string_view text_;
    std::string_view what_;
    std::size_t max_values_;
    std::size_t at_ = 0;
    std::size_t values_ = 0;
};

}  // namespace

const Json* Json::find(std::string_view key) const {
    const auto* object = get_if<Object>();
    if (object == nullptr) return nullptr;
    const auto it = std::ranges::find(*object, key, &Member::key);
    return it == object->end() ? nullptr : &it->value;
}

Json parse_json(std::string_view text, std::string_view what, std::size_t max_values) {
    return Parser(text, what, max_values).parse();
}

}  // namespace subflow
