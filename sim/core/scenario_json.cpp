#include "scenario_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "fields.h"
#include "json.h"
#include "script/program.h"

namespace subflow {

namespace {

template <class T>
concept Words = std::is_enum_v<T>;
template <class T>
concept Whole = std::is_integral_v<T> && !std::is_same_v<T, bool>;

constexpr double kMostExact = 9007199254740992.0;  // 2^53: doubles represent smaller whole numbers exactly

constexpr std::string_view kInfinite = "inf", kMinusInfinite = "-inf", kUndefined = "nan";

// Packs whole numbers into a string, as differences between successive numbers, which are small in traces. A difference
// is doubled, plus 1 if negative, and written in groups of 5 bits, the lowest first, plus 32 if another group follows.
constexpr std::size_t kMostUnpacked = 64;
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";

std::string pack(const std::vector<std::uint32_t>& numbers) {
    std::string text;
    std::int64_t before = 0;
    for (const std::int64_t number : numbers) {
        const std::int64_t step = number - before;
        before = number;
        for (auto rest = static_cast<std::uint64_t>(step < 0 ? -2 * step + 1 : 2 * step);; rest >>= 5) {
            text += kDigits[static_cast<std::size_t>(rest % 32 + (rest >= 32 ? 32 : 0))];
            if (rest < 32) break;
        }
    }
    return text;
}

template <class T>
std::size_t place_in(std::vector<std::shared_ptr<const T>>& all, const std::shared_ptr<const T>& one) {
    const auto it = std::ranges::find(all, one);
    if (it != all.end()) return static_cast<std::size_t>(it - all.begin());
    all.push_back(one);
    return all.size() - 1;
}

class Writer {
public:
    explicit Writer(SharedObjects& shared) : shared_(shared) {}

    template <class T>
    std::string text_of(const T& value) const {
        std::string text;
        put(text, value);
        return text;
    }

private:
    void put(std::string& out, bool value) const { out += value ? "true" : "false"; }
    void put(std::string& out, std::string_view value) const {
        constexpr std::string_view kHex = "0123456789abcdef";
        out += '"';
        for (const char c : value) {
            const auto byte = static_cast<unsigned char>(c);
            if (c == '"' || c == '\\') {
                out += '\\';
                out += c;
            } else if (byte < 0x20) {
                out += "\\u00";
                out += kHex[byte / 16u];
                out += kHex[byte % 16u];
            } else {
                out += c;
            }
        }
        out += '"';
    }
    void put(std::string& out, const std::string& value) const { put(out, std::string_view(value)); }
    void put(std::string& out, double value) const {
        if (!std::isfinite(value))
            return put(out, std::isnan(value) ? kUndefined : value > 0 ? kInfinite : kMinusInfinite);
        char digits[32];
        out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    }
    template <Whole T>
    void put(std::string& out, T value) const {
        const bool is_exact = std::abs(static_cast<double>(value)) < kMostExact;
        if (!is_exact) out += '"';
        out += std::to_string(value);
        if (!is_exact) out += '"';
    }
    template <class Tag, class Rep>
    void put(std::string& out, Quantity<Tag, Rep> value) const {
        put(out, value.value);
    }
    template <Words T>
    void put(std::string& out, T value) const {
        put(out, word_of(value));
    }
    template <class T>
    void put(std::string& out, const std::optional<T>& value) const {
        if (value) {
            put(out, *value);
        } else {
            out += "null";
        }
    }
    void put(std::string& out, const std::variant<double, bool, std::string>& value) const {
        // A non-finite number is written as a string; the enclosing list distinguishes it from a word of the same
        // spelling.
        const double* number = std::get_if<double>(&value);
        if (number != nullptr && !std::isfinite(*number)) {
            out += '[';
            put(out, *number);
            out += ']';
        } else {
            std::visit([&](const auto& each) { put(out, each); }, value);
        }
    }
    void put(std::string& out, const Discipline& value) const {
        const bool is_put = visit_options(value, false, [&]<class Options>(const Options& options) {
            out += '{';
            put(out, Options::kName);
            out += ':';
            put(out, options);
            out += '}';
            return true;
        });
        if (!is_put) out += "null";
    }
    void put(std::string& out, const std::shared_ptr<const Policy>& policy) const {
        if (policy == nullptr) {
            out += "null";
        } else {
            put(out, place_in(shared_.policies, policy));
        }
    }
    void put(std::string& out, const std::shared_ptr<const ScriptProgram>& program) const {
        if (program == nullptr) {
            out += "null";
        } else {
            put(out, place_in(shared_.programs, program));
        }
    }
    void put(std::string& out, const std::vector<std::uint32_t>& numbers) const {
        if (numbers.size() > kMostUnpacked) return put(out, pack(numbers));
        put_list(out, numbers);
    }
    template <class T>
    void put(std::string& out, const std::vector<T>& list) const {
        put_list(out, list);
    }
    template <class T, std::size_t kSize>
    void put(std::string& out, const std::array<T, kSize>& list) const {
        put_list(out, list);
    }
    template <class List>
    void put_list(std::string& out, const List& list) const {
        out += '[';
        for (bool is_first = true; const auto& each : list) {
            if (!std::exchange(is_first, false)) out += ',';
            put(out, each);
        }
        out += ']';
    }
    template <Structure T>
    void put(std::string& out, const T& value) const {
        constexpr auto kNames = names_of<T>();
        const T initial{};
        out += '{';
        bool is_first = true;
        std::size_t i = 0;
        const auto put_field = [&](const auto& field, const auto& by_default) {
            const std::string_view name = kNames[i++];
            const std::string text = text_of(field);
            if (text == text_of(by_default)) return;
            if (!std::exchange(is_first, false)) out += ',';
            put(out, name);
            out += ':';
            out += text;
        };
        const auto fields = fields_of(value), defaults = fields_of(initial);
        [&]<std::size_t... kI>(std::index_sequence<kI...>) {
            (put_field(std::get<kI>(fields), std::get<kI>(defaults)), ...);
        }(std::make_index_sequence<kFieldCount<T>>());
        out += '}';
    }

    SharedObjects& shared_;
};

// Path to a value, formatted only for messages.
struct Place {
    const Place* within = nullptr;
    std::string_view name{};
    std::size_t index = 0;  // position in a list, whose elements have no names

    std::string text() const {
        if (within == nullptr) return std::string(name);
        if (name.empty()) return within->text() + "[" + std::to_string(index) + "]";
        const std::string outer = within->text();
        return outer.empty() ? std::string(name) : outer + "." + std::string(name);
    }
};

class Reader {
public:
    Reader(const SharedObjects& beside, std::size_t max_values) : beside_(beside), values_left_(max_values) {}

    template <class T>
    void read(T& to, const Json& json, const Place& place) {
        get(to, json, place);
    }
    [[noreturn]] static void refuse(const Place& place, const std::string& why) {
        const std::string where = place.text();
        throw ScenarioJsonError((where.empty() ? "the scenario" : where) + ": " + why);
    }

private:
    void get(bool& to, const Json& json, const Place& place) {
        const bool* value = json.get_if<bool>();
        if (value == nullptr) refuse(place, "true or false is wanted");
        to = *value;
    }
    void get(std::string& to, const Json& json, const Place& place) {
        const std::string* value = json.get_if<std::string>();
        if (value == nullptr) refuse(place, "a text is wanted");
        to = *value;
    }
    void get(double& to, const Json& json, const Place& place) {
        if (const double* value = json.get_if<double>()) {
            to = *value;
            return;
        }
        const std::string* word = json.get_if<std::string>();
        if (word == nullptr) refuse(place, "a number is wanted");
        if (*word == kInfinite) {
            to = std::numeric_limits<double>::infinity();
        } else if (*word == kMinusInfinite) {
            to = -std::numeric_limits<double>::infinity();
        } else if (*word == kUndefined) {
            to = kNaN;
        } else {
            refuse(place, "\"" + *word +
                              "\" is no number; allowed besides numbers: \"inf\", "
                              "\"-inf\", \"nan\"");
        }
    }
    template <Whole T>
    void get(T& to, const Json& json, const Place& place) {
        const auto is_within = [](auto value) { return std::in_range<T>(value); };
        if (const double* value = json.get_if<double>()) {
            if (std::abs(*value) <= kMostExact && std::trunc(*value) == *value &&
                is_within(static_cast<std::int64_t>(*value))) {
                to = static_cast<T>(*value);
                return;
            }
        } else if (const std::string* text = json.get_if<std::string>()) {
            const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), to);
            if (error == std::errc() && end == text->data() + text->size()) return;
        }
        refuse(place, "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                          std::to_string(std::numeric_limits<T>::max()) + " is wanted");
    }
    template <class Tag, class Rep>
    void get(Quantity<Tag, Rep>& to, const Json& json, const Place& place) {
        get(to.value, json, place);
    }
    template <Words T>
    void get(T& to, const Json& json, const Place& place) {
        to = static_cast<T>(number_of(json, place, [](int i) { return word_of(static_cast<T>(i)); }));
    }
    // Index of the word among those returned by `word`.
    static int number_of(const Json& json, const Place& place, std::string_view (*word)(int)) {
        const std::string* given = json.get_if<std::string>();
        for (int i = 0; given != nullptr && !word(i).empty(); ++i)
            if (*given == word(i)) return i;
        std::string allowed;
        for (int i = 0; !word(i).empty(); ++i) allowed += (i == 0 ? "" : ", ") + std::string(word(i));
        refuse(place,
               (given == nullptr ? "a word is wanted" : "\"" + *given + "\" is not known") + "; allowed: " + allowed);
    }
    template <class T>
    void get(std::optional<T>& to, const Json& json, const Place& place) {
        to.reset();
        if (json.get_if<std::monostate>() == nullptr) get(to.emplace(), json, place);
    }
    void get(std::variant<double, bool, std::string>& to, const Json& json, const Place& place) {
        if (const auto* list = json.get_if<Json::Array>(); list != nullptr && list->size() == 1) {
            get(to.emplace<double>(), list->front(), place);
        } else if (json.get_if<bool>() != nullptr) {
            get(to.emplace<bool>(), json, place);
        } else if (json.get_if<std::string>() != nullptr) {
            get(to.emplace<std::string>(), json, place);
        } else {
            get(to.emplace<double>(), json, place);
        }
    }
    void get(Discipline& to, const Json& json, const Place& place) {
        if (json.get_if<std::monostate>() != nullptr) return;
        const auto* object = json.get_if<Json::Object>();
        if (object == nullptr || object->size() != 1) refuse(place, "one discipline is wanted");
        const auto& discipline = object->front();
        const std::string& key = discipline.key;
        const Json& value = discipline.value;
        std::string names;
        const auto read_as = [&]<class Options>(const Options*) {
            if constexpr (!std::is_same_v<Options, std::monostate>) {
                names += (names.empty() ? "" : ", ") + std::string(Options::kName);
                if (key != Options::kName) return false;
                get(to.emplace<Options>(), value, Place{&place, key});
                return true;
            }
            return false;
        };
        const bool is_known = [&]<class... Options>(const std::variant<Options...>&) {
            return (read_as(static_cast<const Options*>(nullptr)) || ...);
        }(to);
        if (!is_known) refuse(place, "\"" + key + "\" is not known; allowed: " + names);
    }
    template <class T>
    const T& one_of(const std::vector<T>& all, const Json& json, const Place& place) {
        std::size_t i = 0;
        get(i, json, place);
        if (i >= all.size()) refuse(place, "only " + std::to_string(all.size()));
        return all[i];
    }
    void get(std::shared_ptr<const Policy>& to, const Json& json, const Place& place) {
        to = json.get_if<std::monostate>() != nullptr ? nullptr : one_of(beside_.policies, json, place);
    }
    void get(std::shared_ptr<const ScriptProgram>& to, const Json& json, const Place& place) {
        to = json.get_if<std::monostate>() != nullptr ? nullptr : one_of(beside_.programs, json, place);
    }
    void get(std::vector<std::uint32_t>& to, const Json& json, const Place& place) {
        if (const std::string* packed = json.get_if<std::string>()) {
            to = unpack(*packed, place);
        } else if (json.get_if<double>() != nullptr) {
            const std::string_view bytes = one_of(beside_.recordings, json, place);
            to.resize(bytes.size() / sizeof(std::uint32_t));
            if (!to.empty()) std::memcpy(to.data(), bytes.data(), to.size() * sizeof(std::uint32_t));
        } else {
            get_list(to, json, place);
        }
    }
    template <class T>
    void get(std::vector<T>& to, const Json& json, const Place& place) {
        get_list(to, json, place);
    }
    template <class T, std::size_t kSize>
    void get(std::array<T, kSize>& to, const Json& json, const Place& place) {
        const auto* list = json.get_if<Json::Array>();
        if (list == nullptr || list->size() != kSize)
            refuse(place, "a list of " + std::to_string(kSize) + " is wanted");
        for (std::size_t i = 0; i < kSize; ++i) get(to[i], (*list)[i], Place{&place, {}, i});
    }
    template <class T>
    void get_list(std::vector<T>& to, const Json& json, const Place& place) {
        const auto* list = json.get_if<Json::Array>();
        if (list == nullptr) refuse(place, "a list is wanted");
        to.clear();
        to.reserve(list->size());
        for (std::size_t i = 0; i < list->size(); ++i) get(to.emplace_back(), (*list)[i], Place{&place, {}, i});
    }
    template <Structure T>
    void get(T& to, const Json& json, const Place& place) {
        constexpr auto kNames = names_of<T>();
        const auto* object = json.get_if<Json::Object>();
        if (object == nullptr) refuse(place, "an object is wanted");
        std::size_t known = 0;
        std::size_t i = 0;
        const auto get_field = [&](auto& field) {
            const std::string_view name = kNames[i++];
            const Json* value = json.find(name);
            if (value == nullptr) return;
            ++known;
            get(field, *value, Place{&place, name});
        };
        std::apply([&](auto&... field) { (get_field(field), ...); }, fields_of(to));
        if (known == object->size()) return;
        for (const Json::Member& member : *object)
            if (std::ranges::find(kNames, member.key) == kNames.end())
                refuse(place, "\"" + member.key +
                                  "\" is not known; allowed: " + std::string(field_names(std::type_identity<T>())));
    }

    std::vector<std::uint32_t> unpack(const std::string& text, const Place& place) {
        std::vector<std::uint32_t> numbers;
        std::int64_t number = 0;
        std::uint64_t step = 0;
        unsigned shift = 0;
        for (const char c : text) {
            const std::size_t digit = kDigits.find(c);
            if (digit == std::string_view::npos || shift > 35) refuse(place, "no packed numbers");
            step |= static_cast<std::uint64_t>(digit % 32) << shift;
            shift += 5;
            if (digit >= 32) continue;
            if (values_left_-- == 0) refuse(place, "more numbers than are allowed");
            number += step % 2 == 1 ? -static_cast<std::int64_t>(step / 2) : static_cast<std::int64_t>(step / 2);
            if (!std::in_range<std::uint32_t>(number)) refuse(place, "a packed number is out of range");
            numbers.push_back(static_cast<std::uint32_t>(number));
            step = shift = 0;
        }
        if (shift != 0) refuse(place, "no packed numbers");
        return numbers;
    }

    const SharedObjects& beside_;
    std::size_t values_left_;
};

std::shared_ptr<ScriptProgram> checked_program(Reader& reader, const Json& json, const Place& place) {
    auto program = std::make_shared<ScriptProgram>();
    reader.read(*program, json, place);
    program->check();
    return program;
}

constexpr std::string_view kPrograms = "programs";

}  // namespace

std::string write_scenario(const Scenario& scenario) {
    SharedObjects shared;
    const Writer writer(shared);
    std::string text = "{\"scenario\":";
    text += writer.text_of(scenario);
    text += ",\"";
    text += kPrograms;
    text += "\":[";
    for (std::size_t i = 0; i < shared.programs.size(); ++i) {
        if (i > 0) text += ',';
        text += writer.text_of(*shared.programs[i]);
    }
    text += "]}";
    return text;
}

std::vector<std::shared_ptr<const Policy>> policies_of(const Scenario& scenario) {
    std::vector<std::shared_ptr<const Policy>> policies;
    for (const FlowSpec& flow : scenario.flows)
        if (flow.decider.policy != nullptr) place_in(policies, flow.decider.policy);
    return policies;
}

Scenario read_scenario(std::string_view text, SharedObjects beside, std::size_t max_values) {
    try {
        return read_scenario(parse_json(text, "the scenario", max_values), std::move(beside), max_values);
    } catch (const JsonError& error) {
        throw ScenarioJsonError(error.what());
    } catch (const ScriptProgramError& error) {
        throw ScenarioJsonError(error.what());
    }
}

Scenario read_scenario(const Json& document, SharedObjects beside, std::size_t max_values) {
    const Json* scenario = document.find("scenario");
    if (scenario == nullptr) Reader::refuse({}, "no scenario");
    Reader reader(beside, max_values);
    if (const Json* programs = document.find(kPrograms)) {
        const Place all{.name = kPrograms};
        const auto* listed = programs->get_if<Json::Array>();
        if (listed == nullptr) Reader::refuse(all, "a list is wanted");
        for (std::size_t i = 0; i < listed->size(); ++i)
            beside.programs.push_back(checked_program(reader, (*listed)[i], {&all, {}, i}));
    }
    Scenario made;
    reader.read(made, *scenario, {});
    return made;
}

std::shared_ptr<ScriptProgram> read_program(const Json& document) {
    const SharedObjects nothing;
    Reader reader(nothing, kMaxJsonValues);
    return checked_program(reader, document, {});
}

}  // namespace subflow
