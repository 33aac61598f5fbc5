#include "policy_document.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "policy_error.h"

namespace subflow {

namespace {

constexpr std::uint32_t kMaxWidth = 16384;  // limit of each layer; bounds the workspace
constexpr std::uint32_t kMaxLayers = 64;
constexpr std::uint32_t kMaxNames = 64;
constexpr std::uint32_t kMaxHistory = 256;
constexpr std::uint32_t kMaxSlots = 256;

template <class T>
using Names = std::span<const std::pair<std::string_view, T>>;

constexpr std::array<std::pair<std::string_view, EncoderKind>, 3> kEncoders{
    {{"none", EncoderKind::None}, {"lstm", EncoderKind::Lstm}, {"pool", EncoderKind::Pool}}};
constexpr std::array<std::pair<std::string_view, InputKind>, 3> kInputs{
    {{"slot", InputKind::Slot}, {"target", InputKind::Target}, {"all", InputKind::All}}};
constexpr std::array<std::pair<std::string_view, LayerKind>, 4> kLayers{{{"linear", LayerKind::Linear},
                                                                         {"relu", LayerKind::Relu},
                                                                         {"tanh", LayerKind::Tanh},
                                                                         {"softmax", LayerKind::Softmax}}};
constexpr std::array<std::pair<std::string_view, LayerKind>, 2> kActivations{
    {{"relu", LayerKind::Relu}, {"tanh", LayerKind::Tanh}}};
constexpr std::array<std::pair<std::string_view, PoolKind>, 2> kPools{
    {{"mean", PoolKind::Mean}, {"max", PoolKind::Max}}};

// A value of the document and its path, for messages.
class Place {
public:
    Place(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

    [[noreturn]] void refuse(std::string_view why) const { throw PolicyError(path_ + ": " + std::string(why)); }

    // Throws unless the value is an object with only these keys.
    void require_keys(std::initializer_list<std::string_view> known) const {
        const auto* object = json_.get_if<Json::Object>();
        if (object == nullptr) refuse("expected a JSON object");
        for (const auto& member : *object) {
            if (std::ranges::find(known, member.key) != known.end()) continue;
            std::string allowed;
            for (const std::string_view key : known) allowed += (allowed.empty() ? "" : ", ") + std::string(key);
            refuse("unknown key \"" + member.key + "\"; allowed: " + allowed);
        }
    }

    std::optional<Place> find(std::string_view key) const {
        const Json* value = json_.find(key);
        return value == nullptr ? std::nullopt : std::optional<Place>(std::in_place, *value, child(key));
    }

    Place at(std::string_view key) const {
        const auto place = find(key);
        if (!place) throw PolicyError(child(key) + ": missing");
        return *place;
    }

    bool is_null() const { return std::holds_alternative<std::monostate>(json_.value); }
    bool is_object() const { return json_.get_if<Json::Object>() != nullptr; }

    const std::string& text() const {
        const auto* text = json_.get_if<std::string>();
        if (text == nullptr) refuse("expected text");
        return *text;
    }

    std::uint32_t count(std::uint32_t least, std::uint32_t most) const {
        const auto* number = json_.get_if<double>();
        if (number == nullptr || *number != std::floor(*number) || *number < least || *number > most)
            refuse("expected a whole number from " + std::to_string(least) + " to " + std::to_string(most));
        return static_cast<std::uint32_t>(*number);
    }

    bool flag() const {
        const auto* flag = json_.get_if<bool>();
        if (flag == nullptr) refuse("expected true or false");
        return *flag;
    }

    std::vector<Place> list(std::size_t most) const {
        const auto* array = json_.get_if<Json::Array>();
        if (array == nullptr || array->size() > most) refuse("expected a list of at most " + std::to_string(most));
        std::vector<Place> items;
        for (std::size_t i = 0; i < array->size(); ++i)
            items.emplace_back((*array)[i], path_ + "[" + std::to_string(i) + "]");
        return items;
    }

    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const Place& item : list(kMaxNames)) {
            if (std::ranges::find(names, item.text()) != names.end())
                item.refuse("\"" + item.text() + "\" occurs twice");
            names.push_back(item.text());
        }
        return names;
    }

    template <class T>
    T one_of(Names<T> known) const {
        std::string allowed;
        for (const auto& [name, meant] : known) {
            if (text() == name) return meant;
            allowed += (allowed.empty() ? "" : ", ") + std::string(name);
        }
        refuse("unknown \"" + text() + "\"; allowed: " + allowed);
    }

private:
    std::string child(std::string_view key) const { return (path_.empty() ? "" : path_ + ".") + std::string(key); }

    const Json& json_;
    std::string path_;
};

EncoderSpec read_encoder(const Place& place) {
    EncoderSpec encoder;
    if (!place.is_object()) place.refuse("expected a JSON object");
    encoder.kind = place.at("type").one_of<EncoderKind>(kEncoders);
    switch (encoder.kind) {
        case EncoderKind::None:
            place.require_keys({"type"});
            break;
        case EncoderKind::Lstm:
            place.require_keys({"type", "hidden"});
            encoder.hidden = place.at("hidden").count(1, kMaxWidth / 4);
            break;
        case EncoderKind::Pool:
            place.require_keys({"type", "layers", "activation", "pool"});
            for (const Place& item : place.at("layers").list(kMaxLayers))
                encoder.layers.push_back(item.count(1, kMaxWidth));
            if (encoder.layers.empty()) place.at("layers").refuse("no layer");
            encoder.activation = place.at("activation").one_of<LayerKind>(kActivations);
            for (const Place& item : place.at("pool").list(kPools.size())) {
                const PoolKind kind = item.one_of<PoolKind>(kPools);
                if (std::ranges::find(encoder.pool, kind) != encoder.pool.end()) item.refuse("occurs twice");
                encoder.pool.push_back(kind);
            }
            if (encoder.pool.empty()) place.at("pool").refuse("neither mean nor max");
            break;
    }
    return encoder;
}

// `width`: input width of the first layer; `out`: required output width of the last layer.
std::vector<LayerSpec> read_layers(const Place& place, std::uint32_t width, std::uint32_t out, bool allows_softmax) {
    std::vector<LayerSpec> layers;
    const std::vector<Place> items = place.list(kMaxLayers);
    bool has_linear = false;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Place& item = items[i];
        if (!item.is_object()) item.refuse("expected a JSON object");
        LayerSpec layer{.kind = item.at("type").one_of<LayerKind>(kLayers)};
        if (layer.kind == LayerKind::Linear) {
            item.require_keys({"type", "in", "out"});
            layer.in = item.at("in").count(1, kMaxWidth);
            layer.out = item.at("out").count(1, kMaxWidth);
            if (layer.in != width)
                item.at("in").refuse(std::to_string(layer.in) + ", but " + std::to_string(width) +
                                     " numbers come from before it");
            width = layer.out;
            has_linear = true;
        } else {
            item.require_keys({"type"});
            if (layer.kind == LayerKind::Softmax && (!allows_softmax || i + 1 < items.size()))
                item.refuse("softmax is only for the last layer of an actor with choices");
        }
        layers.push_back(layer);
    }
    if (!has_linear) place.refuse("no linear layer");
    if (width != out)
        place.refuse("they end with " + std::to_string(width) + " numbers; allowed: " + std::to_string(out));
    return layers;
}

NetworkSpec read_network(const Place& place, const PolicyDocument& document, bool is_critic) {
    NetworkSpec network;
    network.encoder = read_encoder(place.at("encoder"));
    network.input = place.at("input").one_of<InputKind>(kInputs);
    const auto slots = place.find("slots");
    if (network.input != InputKind::Slot) {
        network.slots = place.at("slots").count(1, kMaxSlots);
    } else if (slots) {
        slots->count(1, kMaxSlots);  // no effect here: rows are evaluated separately
    }
    if (is_critic) {
        network.takes_action = place.at("takes_action").flag();
        if (network.takes_action && !document.choices.empty())
            place.at("takes_action").refuse("a critic of choices takes none; allowed: false");
    }
    const std::uint32_t width = network.input_width(document.row_width(), document.outputs());
    if (width > kMaxWidth)
        place.at("layers").refuse(std::to_string(width) + " numbers go in; allowed: " + std::to_string(kMaxWidth));
    const std::uint32_t out = is_critic ? 1 : network.answers() * document.outputs();
    network.layers = read_layers(place.at("layers"), width, out, !is_critic && !document.choices.empty());
    return network;
}

}  // namespace

std::uint32_t EncoderSpec::width() const {
    switch (kind) {
        case EncoderKind::Lstm:
            return hidden;
        case EncoderKind::Pool:
            return layers.back() * static_cast<std::uint32_t>(pool.size());
        default:
            return 0;
    }
}

PolicyDocument read_policy_document(std::string_view text) {
    const Json json = parse_policy_json(text, "the document");
    const Place root(json, "");
    if (!root.is_object()) throw PolicyError("the document is not a JSON object");
    // Checked first, because another format may have other keys.
    if (const Place format = root.at("format"); format.count(0, kMaxWidth) != 1)
        format.refuse("of another version of Subflow; allowed: 1");
    root.require_keys({"format", "controller", "name", "observation", "action", "options", "actor", "critic", "card"});
    PolicyDocument document;
    document.text = text;
    document.controller = root.at("controller").text();
    document.name = root.at("name").text();
    const Place observation = root.at("observation");
    observation.require_keys({"features", "history"});
    document.features = observation.at("features").names();
    if (document.features.empty()) observation.at("features").refuse("no feature");
    document.history = observation.at("history").count(1, kMaxHistory);
    const Place action = root.at("action");
    action.require_keys({"names", "choices"});
    document.actions = action.at("names").names();
    document.choices = action.at("choices").names();
    if (document.choices.size() == 1) action.at("choices").refuse("only one, which leaves no choice");
    if (document.choices.empty() && document.actions.empty()) action.at("names").refuse("no action and no choices");
    for (const std::string_view key : {"options", "card"}) {
        const auto place = root.find(key);
        if (place && !place->is_object()) place->refuse("expected a JSON object");
    }
    const Place actor = root.at("actor");
    actor.require_keys({"encoder", "input", "slots", "layers"});
    document.actor = read_network(actor, document, false);
    if (const auto critic = root.find("critic"); critic && !critic->is_null()) {
        critic->require_keys({"encoder", "input", "slots", "layers", "takes_action"});
        document.critic = read_network(*critic, document, true);
    }
    return document;
}

}  // namespace subflow
