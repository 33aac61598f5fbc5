#include "tensor_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

#include "policy_error.h"

namespace subflow {

namespace {

static_assert(std::endian::native == std::endian::little, "tensors are copied byte by byte from the file");

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxRank = 8;

// Position of a tensor's data, counted from the end of the header.
struct DataSpan {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::string_view name;
};

// End of a message: the likely type of a file that is not in the safetensors format; empty if unknown.
std::string guess(std::string_view bytes) {
    if (bytes.starts_with("PK\x03\x04"))
        return "; it is a zip archive, as torch.save writes: such files can carry code and are never opened";
    if (bytes.size() >= 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5)
        return "; it is a Python pickle: such files can carry code and are never opened";
    return "";
}

[[noreturn]] void refuse_tensor(std::string_view name, const std::string& why) {
    throw PolicyError("tensor \"" + std::string(name) + "\": " + why);
}

// A whole number in the range of counts and offsets; empty for any other value.
std::optional<std::uint64_t> whole(const Json& json) {
    constexpr double kMost = 9007199254740992.0;  // 2^53: larger doubles are not exact
    const auto* number = json.get_if<double>();
    if (number == nullptr || *number < 0 || *number > kMost || *number != std::floor(*number)) return std::nullopt;
    return static_cast<std::uint64_t>(*number);
}

std::vector<std::uint64_t> read_shape(std::string_view name, const Json* json) {
    const auto* list = json == nullptr ? nullptr : json->get_if<Json::Array>();
    if (list == nullptr || list->size() > kMaxRank)
        refuse_tensor(name, "shape is not a list of up to " + std::to_string(kMaxRank) + " sizes");
    std::vector<std::uint64_t> shape;
    for (const Json& item : *list) {
        const auto size = whole(item);
        if (!size) refuse_tensor(name, "shape contains other values than whole numbers");
        shape.push_back(*size);
    }
    return shape;
}

DataSpan read_place(std::string_view name, const Json* json, std::uint64_t data_bytes) {
    const auto* list = json == nullptr ? nullptr : json->get_if<Json::Array>();
    if (list == nullptr || list->size() != 2) refuse_tensor(name, "data_offsets is not a pair of numbers");
    const auto begin = whole(list->front()), end = whole(list->back());
    if (!begin || !end || *begin > *end) refuse_tensor(name, "data_offsets is not a range of bytes");
    if (*end > data_bytes)
        refuse_tensor(name, "its data ends at byte " + std::to_string(*end) + ", the file has only " +
                                std::to_string(data_bytes));
    return {*begin, *end, name};
}

// Throws unless the number of bytes matches the shape in float32.
void check_size(std::string_view name, std::span<const std::uint64_t> shape, std::uint64_t bytes) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape) {
        // Saturates at the largest file size, beyond which the exact number does not matter.
        count = size > 0 && count > kMaxPolicyBytes / size ? kMaxPolicyBytes : count * size;
    }
    if (count * sizeof(float) != bytes)
        refuse_tensor(name, "shape " + shape_text(shape) + " does not fit its " + std::to_string(bytes) + " bytes");
}

void check_finite(std::string_view name, std::span<const float> values) {
    const auto it = std::ranges::find_if_not(values, [](float value) { return std::isfinite(value); });
    if (it != values.end())
        refuse_tensor(name, std::string(std::isnan(*it) ? "NaN" : "infinity") + " as element " +
                                std::to_string(it - values.begin()) + "; allowed: finite numbers");
}

// Throws unless each byte of the data belongs to exactly one tensor.
void check_places(std::vector<DataSpan> places, std::uint64_t data_bytes) {
    std::ranges::sort(places, [](const DataSpan& a, const DataSpan& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::uint64_t at = 0;
    for (const DataSpan& place : places) {
        if (place.begin != at)
            refuse_tensor(place.name, place.begin < at ? "its data overlaps that of another tensor"
                                                       : "bytes before its data belong to no tensor");
        at = place.end;
    }
    if (at != data_bytes)
        throw PolicyError("the file continues for " + std::to_string(data_bytes - at) + " bytes after its last tensor");
}

}  // namespace

std::string shape_text(std::span<const std::uint64_t> shape) {
    std::string text = "[";
    for (const std::uint64_t size : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
    return text + "]";
}

TensorFile read_tensors(std::span<const std::byte> file) {
    const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
    if (bytes.size() > kMaxPolicyBytes) throw PolicyError("larger than 64 MiB");
    std::uint64_t length = 0;
    if (bytes.size() < kLengthBytes)
        throw PolicyError("not a safetensors file: it has only " + std::to_string(bytes.size()) + " bytes");
    std::memcpy(&length, bytes.data(), kLengthBytes);
    if (length > kMaxHeaderBytes)
        throw PolicyError("not a safetensors file: its header would have " + std::to_string(length) +
                          " bytes; allowed: 1 MiB" + guess(bytes));
    if (length > bytes.size() - kLengthBytes)
        throw PolicyError("its header of " + std::to_string(length) + " bytes goes beyond the end of the file" +
                          guess(bytes));
    const std::string_view header_text = bytes.substr(kLengthBytes, length);
    if (!header_text.starts_with('{'))
        throw PolicyError("not a safetensors file: its header is not a JSON object" + guess(bytes));
    const Json header = parse_policy_json(header_text, "the header");

    const std::string_view data = bytes.substr(kLengthBytes + length);
    TensorFile out;
    std::vector<DataSpan> places;
    for (const auto& [name, entry] : *header.get_if<Json::Object>()) {
        const auto* members = entry.get_if<Json::Object>();
        if (name == "__metadata__") {
            if (members == nullptr) throw PolicyError("__metadata__ is not a table of texts");
            for (const auto& [key, value] : *members) {
                const auto* text = value.get_if<std::string>();
                if (text == nullptr) throw PolicyError("__metadata__." + key + " is not a text");
                out.metadata.emplace(key, *text);
            }
            continue;
        }
        if (members == nullptr) refuse_tensor(name, "its entry in the header is not a table");
        for (const auto& [key, value] : *members) {
            if (key != "dtype" && key != "shape" && key != "data_offsets")
                refuse_tensor(name, "unknown key \"" + key + "\"; allowed: dtype, shape, data_offsets");
        }
        const Json* dtype = entry.find("dtype");
        const auto* type = dtype == nullptr ? nullptr : dtype->get_if<std::string>();
        if (type == nullptr || *type != "F32")
            refuse_tensor(name, "dtype " + (type == nullptr ? std::string("missing") : *type) + "; allowed: F32");
        Tensor tensor{read_shape(name, entry.find("shape")), {}};
        const DataSpan place = read_place(name, entry.find("data_offsets"), data.size());
        check_size(name, tensor.shape, place.end - place.begin);
        places.push_back(place);
        out.tensors.emplace(name, std::move(tensor));
    }
    check_places(places, data.size());
    for (const DataSpan& place : places) {
        std::vector<float>& values = out.tensors.find(place.name)->second.values;
        values.resize((place.end - place.begin) / sizeof(float));
        if (!values.empty()) std::memcpy(values.data(), data.data() + place.begin, place.end - place.begin);
        check_finite(place.name, values);
    }
    return out;
}

}  // namespace subflow
