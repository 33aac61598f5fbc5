// JSON for a page, without line breaks.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace subflow::web {

class Text {
public:
    explicit Text(std::string& output) : output_(output) {}
    Text& key(std::string_view name) {
        comma();
        quote(name);
        output_ += ':';
        is_first_ = true;
        return *this;
    }
    Text& open(char bracket) {
        comma();
        output_ += bracket;
        is_first_ = true;
        return *this;
    }
    Text& close(char bracket) {
        output_ += bracket;
        is_first_ = false;
        return *this;
    }
    Text& text(std::string_view value) {
        comma();
        quote(value);
        return *this;
    }
    // Writes null instead of a non-finite number, which JSON cannot represent.
    Text& number(double value) {
        comma();
        if (!std::isfinite(value)) {
            output_ += "null";
            return *this;
        }
        char digits[32];
        output_.append(digits, static_cast<std::size_t>(std::snprintf(digits, sizeof digits, "%.17g", value)));
        return *this;
    }
    Text& number(std::string_view name, double value) { return key(name).number(value); }
    Text& number(std::string_view name, std::int64_t value) { return key(name).number(static_cast<double>(value)); }
    Text& text(std::string_view name, std::string_view value) { return key(name).text(value); }

private:
    void comma() {
        if (!is_first_) output_ += ',';
        is_first_ = false;
    }
    void quote(std::string_view value) {
        output_ += '"';
        for (const char c : value) {
            if (static_cast<unsigned char>(c) < 0x20) continue;
            if (c == '"' || c == '\\') output_ += '\\';
            output_ += c;
        }
        output_ += '"';
    }

    std::string& output_;
    bool is_first_ = true;
};

}  // namespace subflow::web
