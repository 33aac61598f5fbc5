#include "algorithm.h"

#include <algorithm>

namespace subflow {

namespace {
[[noreturn]] void refuse(const AlgorithmInfo& info, std::string_view key, std::string_view why) {
    throw ScenarioError("option '" + std::string(key) + "' of '" + std::string(info.name) + "' " + std::string(why));
}
}  // namespace

Options::Options(const AlgorithmInfo& info, std::span<const OptionValue> given) : info_(info), given_(given) {
    for (const OptionValue& option : given) {
        const OptionInfo& declaration = declared(option.key);
        if (declaration.kind == OptionKind::Choice) {
            const auto* text = std::get_if<std::string>(&option.value);
            if (text == nullptr ||
                std::ranges::find(declaration.choices, std::string_view(*text)) == declaration.choices.end())
                refuse(info, option.key, "is not one of its choices");
        } else if (declaration.kind == OptionKind::Policy) {
            if (!std::holds_alternative<std::string>(option.value)) refuse(info, option.key, "must be text");
        } else if (declaration.kind == OptionKind::Flag) {
            if (!std::holds_alternative<bool>(option.value)) refuse(info, option.key, "must be true or false");
        } else {
            const auto* number = std::get_if<double>(&option.value);
            if (number == nullptr || !(*number >= declaration.minimum && *number <= declaration.maximum))
                refuse(info, option.key, "is out of range");
        }
    }
}

const OptionInfo& Options::declared(std::string_view key) const {
    const auto it = std::ranges::find(info_.options, key, &OptionInfo::key);
    if (it == info_.options.end()) refuse(info_, key, "does not exist");
    return *it;
}

const OptionValue* Options::given(std::string_view key) const {
    const auto it = std::ranges::find(given_, key, [](const OptionValue& o) { return std::string_view(o.key); });
    return it == given_.end() ? nullptr : &*it;
}

double Options::number(std::string_view key) const {
    const OptionInfo& declaration = declared(key);
    const OptionValue* value = given(key);
    if (value == nullptr) return declaration.default_number;
    if (const auto* flag = std::get_if<bool>(&value->value)) return *flag ? 1.0 : 0.0;
    return std::get<double>(value->value);
}

Options Options::of_part(const AlgorithmInfo& part) const {
    Options own(part, {});
    own.given_ = given_;
    return own;
}

std::string_view Options::choice(std::string_view key) const {
    const OptionInfo& declaration = declared(key);
    const OptionValue* value = given(key);
    return value == nullptr ? declaration.default_choice : std::string_view(std::get<std::string>(value->value));
}

}  // namespace subflow
