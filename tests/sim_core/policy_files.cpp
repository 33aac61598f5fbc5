#include "policy_files.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace subflow::testing {

namespace {

using Values = std::vector<double>;

constexpr std::array<NumberInfo, 3> kFeatures{{{.name = "rate", .unit = "1", .help = "", .minimum = 0, .maximum = 1},
                                               {.name = "rtt", .unit = "1", .help = "", .minimum = 0, .maximum = 1},
                                               {.name = "loss", .unit = "1", .help = "", .minimum = 0, .maximum = 1}}};
constexpr std::array<NumberInfo, 2> kActions{{{.name = "window", .unit = "1", .help = "", .minimum = -1, .maximum = 1},
                                              {.name = "share", .unit = "1", .help = "", .minimum = 0, .maximum = 4}}};
constexpr std::array<std::string_view, 3> kChoices{"less", "same", "more"};
constexpr AgentInfo kNumbers{.features = kFeatures, .actions = kActions, .reward = ""};
constexpr AgentInfo kNames{
    .features = kFeatures, .actions = {}, .choices = kChoices, .neutral_choice = 1, .reward = ""};

std::string quoted(const std::vector<std::string>& names) {
    std::string text = "[";
    for (const std::string& name : names) text += (text.size() > 1 ? "," : "") + ("\"" + name + "\"");
    return text + "]";
}

std::string encoder_text(const EncoderSpec& encoder) {
    if (encoder.kind == EncoderKind::Lstm) return R"({"type":"lstm","hidden":)" + std::to_string(encoder.hidden) + "}";
    if (encoder.kind == EncoderKind::None) return R"({"type":"none"})";
    std::string layers, pool;
    for (const auto width : encoder.layers) layers += (layers.empty() ? "" : ",") + std::to_string(width);
    for (const auto kind : encoder.pool)
        pool += std::string(pool.empty() ? "" : ",") + (kind == PoolKind::Mean ? R"("mean")" : R"("max")");
    return R"({"type":"pool","layers":[)" + layers + R"(],"activation":")" +
           (encoder.activation == LayerKind::Relu ? "relu" : "tanh") + R"(","pool":[)" + pool + "]}";
}

std::string network_text(const NetworkSpec& network, bool is_critic) {
    constexpr std::array<const char*, 3> kInputs{"slot", "target", "all"};
    constexpr std::array<const char*, 4> kKinds{"linear", "relu", "tanh", "softmax"};
    std::string layers;
    for (const LayerSpec& layer : network.layers) {
        layers += std::string(layers.empty() ? "" : ",") + R"({"type":")" +
                  kKinds[static_cast<std::size_t>(layer.kind)] + "\"";
        if (layer.kind == LayerKind::Linear)
            layers += ",\"in\":" + std::to_string(layer.in) + ",\"out\":" + std::to_string(layer.out);
        layers += "}";
    }
    return R"({"encoder":)" + encoder_text(network.encoder) + R"(,"input":")" +
           kInputs[static_cast<std::size_t>(network.input)] + R"(","slots":)" + std::to_string(network.slots) +
           (is_critic ? std::string(R"(,"takes_action":)") + (network.takes_action ? "true" : "false") : "") +
           R"(,"layers":[)" + layers + "]}";
}

NetworkSpec plan_network(const PolicyDocument& document, const PolicyPlan& plan, bool is_critic) {
    NetworkSpec network;
    network.encoder.kind = plan.encoder;
    if (plan.encoder == EncoderKind::Lstm) network.encoder.hidden = 9;
    if (plan.encoder == EncoderKind::Pool) {
        network.encoder.layers = {37, 6};
        network.encoder.activation = is_critic ? LayerKind::Relu : LayerKind::Tanh;
        network.encoder.pool = {PoolKind::Max, PoolKind::Mean};
    }
    network.input = plan.input;
    network.slots = plan.input == InputKind::Slot ? 1 : plan.slots;
    network.takes_action = is_critic && plan.critic_takes_action;
    const std::uint32_t in =
        network.encoder.width() +
        network.answers() * (document.row_width() + (network.takes_action ? document.outputs() : 0));
    const std::uint32_t out = is_critic ? 1 : network.answers() * document.outputs();
    network.layers = {{LayerKind::Linear, in, 41}, {LayerKind::Relu}, {LayerKind::Linear, 41, out}};
    if (!is_critic) network.layers.push_back({plan.has_choices ? LayerKind::Softmax : LayerKind::Tanh});
    return network;
}

template <class Visit>
void for_each_tensor(const NetworkSpec& network, std::uint32_t row_width, const std::string& name, Visit&& visit) {
    const std::uint64_t hidden = network.encoder.hidden;
    if (network.encoder.kind == EncoderKind::Lstm) {
        visit(name + ".encoder.weight_ih_l0", {4 * hidden, row_width});
        visit(name + ".encoder.weight_hh_l0", {4 * hidden, hidden});
        visit(name + ".encoder.bias_ih_l0", {4 * hidden});
        visit(name + ".encoder.bias_hh_l0", {4 * hidden});
    }
    std::uint64_t in = row_width;
    for (std::size_t k = 0; k < network.encoder.layers.size(); ++k) {
        const std::uint64_t out = network.encoder.layers[k];
        visit(name + ".encoder." + std::to_string(k) + ".weight", {out, in});
        visit(name + ".encoder." + std::to_string(k) + ".bias", {out});
        in = out;
    }
    for (std::size_t k = 0; k < network.layers.size(); ++k) {
        if (network.layers[k].kind != LayerKind::Linear) continue;
        const LayerSpec& layer = network.layers[k];
        visit(name + ".layers." + std::to_string(k) + ".weight", {layer.out, layer.in});
        visit(name + ".layers." + std::to_string(k) + ".bias", {layer.out});
    }
}

Values linear(const Tensors& tensors, const std::string& weight, const std::string& bias, const Values& x) {
    const Tensor& w = tensors.at(weight);
    Values y(w.shape[0]);
    for (std::size_t o = 0; o < y.size(); ++o) {
        y[o] = static_cast<double>(tensors.at(bias).values[o]);
        for (std::size_t i = 0; i < x.size(); ++i) y[o] += static_cast<double>(w.values[o * x.size() + i]) * x[i];
    }
    return y;
}

void activate(LayerKind kind, Values& x, std::size_t group) {
    if (kind == LayerKind::Relu) {
        for (double& value : x) value = std::max(value, 0.0);
    } else if (kind == LayerKind::Tanh) {
        for (double& value : x) value = std::tanh(value);
    } else if (kind == LayerKind::Softmax) {
        for (std::size_t first = 0; first < x.size(); first += group) {
            double sum = 0;
            for (std::size_t i = first; i < first + group; ++i) sum += std::exp(x[i]);
            for (std::size_t i = first; i < first + group; ++i) x[i] = std::exp(x[i]) / sum;
        }
    }
}

double sigmoid(double x) {
    return 1 / (1 + std::exp(-x));
}

Values row_values(const Observation& observation, std::uint32_t row) {
    const std::span<const float> values = observation.row(row);
    return {values.begin(), values.end()};
}

Values encode(const NetworkSpec& network, const Tensors& tensors, const std::string& name,
              const Observation& observation) {
    const EncoderSpec& encoder = network.encoder;
    const std::uint32_t rows = observation.subflows();
    if (encoder.kind == EncoderKind::Lstm) {
        const std::size_t n = encoder.hidden;
        Values h(n), c(n);
        for (std::uint32_t row = 0; row < rows; ++row) {
            Values z = linear(tensors, name + ".encoder.weight_ih_l0", name + ".encoder.bias_ih_l0",
                              row_values(observation, row));
            const Values more = linear(tensors, name + ".encoder.weight_hh_l0", name + ".encoder.bias_hh_l0", h);
            std::ranges::transform(z, more, z.begin(), std::plus());
            for (std::size_t k = 0; k < n; ++k) {
                c[k] = sigmoid(z[n + k]) * c[k] + sigmoid(z[k]) * std::tanh(z[2 * n + k]);
                h[k] = sigmoid(z[3 * n + k]) * std::tanh(c[k]);
            }
        }
        return h;
    }
    if (encoder.kind == EncoderKind::None) return {};
    Values mean(encoder.layers.back()), most(encoder.layers.back(), -std::numeric_limits<double>::infinity());
    for (std::uint32_t row = 0; row < rows; ++row) {
        Values x = row_values(observation, row);
        for (std::size_t k = 0; k < encoder.layers.size(); ++k) {
            const std::string layer = name + ".encoder." + std::to_string(k);
            x = linear(tensors, layer + ".weight", layer + ".bias", x);
            activate(encoder.activation, x, 1);
        }
        for (std::size_t k = 0; k < x.size(); ++k) {
            mean[k] += x[k] / rows;
            most[k] = std::max(most[k], x[k]);
        }
    }
    Values h;
    for (const PoolKind kind : encoder.pool) {
        const Values& part = kind == PoolKind::Mean ? mean : most;
        h.insert(h.end(), part.begin(), part.end());
    }
    return h;
}

// `actions`: per acting row, within [-1, 1].
Values run(const PolicyDocument& document, const NetworkSpec& network, const Tensors& tensors, const std::string& name,
           const Observation& observation, std::size_t position, const std::vector<Values>& actions) {
    Values x = encode(network, tensors, name, observation);
    Values rows(network.answers() * document.row_width()), taken(network.answers() * document.outputs());
    const auto put = [&](std::size_t place, std::uint32_t row, std::ptrdiff_t acting) {
        if (place >= network.answers()) return;
        std::ranges::copy(row_values(observation, row),
                          rows.begin() + static_cast<std::ptrdiff_t>(place * document.row_width()));
        if (network.takes_action && acting >= 0)
            std::ranges::copy(actions[static_cast<std::size_t>(acting)],
                              taken.begin() + static_cast<std::ptrdiff_t>(place * document.outputs()));
    };
    const auto& acting = observation.acting;
    if (network.input == InputKind::Slot) {
        put(0, acting[position], static_cast<std::ptrdiff_t>(position));
    } else if (network.input == InputKind::Target) {
        for (std::size_t k = 0; k < acting.size(); ++k) put(k, acting[k], static_cast<std::ptrdiff_t>(k));
    } else {
        for (std::uint32_t row = 0; row < observation.subflows(); ++row) {
            const auto it = std::ranges::find(acting, row);
            put(row, row, it == acting.end() ? -1 : it - acting.begin());
        }
    }
    x.insert(x.end(), rows.begin(), rows.end());
    if (network.takes_action) x.insert(x.end(), taken.begin(), taken.end());
    for (std::size_t k = 0; k < network.layers.size(); ++k) {
        const std::string layer = name + ".layers." + std::to_string(k);
        if (network.layers[k].kind == LayerKind::Linear) {
            x = linear(tensors, layer + ".weight", layer + ".bias", x);
        } else {
            activate(network.layers[k].kind, x, document.outputs());
        }
    }
    return x;
}

}  // namespace

const AgentInfo& fake_agent(bool has_choices) {
    return has_choices ? kNames : kNumbers;
}

PolicyDocument plan_document(const PolicyPlan& plan) {
    PolicyDocument document;
    const AgentInfo& agent = fake_agent(plan.has_choices);
    document.controller = "fake";
    document.name = "fake";
    for (const NumberInfo& feature : agent.features) document.features.emplace_back(feature.name);
    for (const NumberInfo& action : agent.actions) document.actions.emplace_back(action.name);
    for (const std::string_view choice : agent.choices) document.choices.emplace_back(choice);
    document.history = plan.history;
    document.actor = plan_network(document, plan, false);
    if (plan.has_critic) document.critic = plan_network(document, plan, true);
    document.text = document_text(document);
    return document;
}

Tensors random_tensors(const PolicyDocument& document, std::uint64_t seed) {
    Tensors tensors;
    std::mt19937_64 luck(seed);
    std::normal_distribution<float> normal(0, 0.5f);
    const auto add = [&](const std::string& name, const std::vector<std::uint64_t>& shape) {
        Tensor& tensor = tensors[name];
        tensor.shape = shape;
        tensor.values.resize(std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies()));
        for (float& value : tensor.values) value = normal(luck);
    };
    for_each_tensor(document.actor, document.row_width(), "actor", add);
    if (document.critic) for_each_tensor(*document.critic, document.row_width(), "critic", add);
    return tensors;
}

std::string document_text(const PolicyDocument& document) {
    return R"({"format":1,"controller":")" + document.controller + R"(","name":")" + document.name +
           R"(","observation":{"features":)" + quoted(document.features) + R"(,"history":)" +
           std::to_string(document.history) + R"(},"action":{"names":)" + quoted(document.actions) + R"(,"choices":)" +
           quoted(document.choices) + R"(},"options":{},"card":{},"actor":)" + network_text(document.actor, false) +
           R"(,"critic":)" + (document.critic ? network_text(*document.critic, true) : "null") + "}";
}

std::vector<std::byte> with_header(const std::string& header, std::size_t data_bytes) {
    std::vector<std::byte> bytes(sizeof(std::uint64_t) + header.size() + data_bytes);
    const std::uint64_t length = header.size();
    std::memcpy(bytes.data(), &length, sizeof length);
    std::memcpy(bytes.data() + sizeof length, header.data(), header.size());
    return bytes;
}

std::vector<std::byte> file_bytes(const std::string& document, const Tensors& tensors) {
    std::string escaped;
    for (const char c : document) escaped += c == '"' ? "\\\"" : std::string(1, c);
    std::string header = R"({"__metadata__":{"subflow_policy":")" + escaped + "\"}";
    std::size_t at = 0;
    for (const auto& [name, tensor] : tensors) {
        const std::size_t end = at + tensor.values.size() * sizeof(float);
        header += ",\"" + name + R"(":{"dtype":"F32","shape":)" + shape_text(tensor.shape) + R"(,"data_offsets":[)" +
                  std::to_string(at) + "," + std::to_string(end) + "]}";
        at = end;
    }
    std::vector<std::byte> bytes = with_header(header + "}", at);
    std::byte* data = bytes.data() + bytes.size() - at;
    for (const auto& [name, tensor] : tensors) {
        std::memcpy(data, tensor.values.data(), tensor.values.size() * sizeof(float));
        data += tensor.values.size() * sizeof(float);
    }
    return bytes;
}

Expected by_the_book(const PolicyDocument& document, const Tensors& tensors, const Observation& observation) {
    const AgentInfo& agent = fake_agent(!document.choices.empty());
    const std::size_t outputs = document.outputs();
    std::vector<Values> actions;
    Expected expected;
    for (std::size_t k = 0; k < observation.acting.size(); ++k) {
        const Values all = run(document, document.actor, tensors, "actor", observation, k, {});
        const std::size_t place = document.actor.input == InputKind::Slot     ? 0
                                  : document.actor.input == InputKind::Target ? k
                                                                              : observation.acting[k];
        Values mine(outputs);
        const bool is_answered = place < document.actor.answers();
        if (is_answered)
            mine.assign(all.begin() + static_cast<std::ptrdiff_t>(place * outputs),
                        all.begin() + static_cast<std::ptrdiff_t>((place + 1) * outputs));
        actions.push_back(mine);
        if (!document.choices.empty()) {
            expected.action.push_back(is_answered ? static_cast<double>(std::ranges::max_element(mine) - mine.begin())
                                                  : static_cast<double>(agent.neutral_choice));
            continue;
        }
        for (std::size_t i = 0; i < outputs; ++i) {
            const double low = static_cast<double>(agent.actions[i].minimum);
            const double high = static_cast<double>(agent.actions[i].maximum);
            expected.action.push_back(low + (mine[i] + 1) / 2 * (high - low));
        }
    }
    expected.value = std::numeric_limits<double>::quiet_NaN();
    if (document.critic) {
        const std::size_t answers = document.critic->input == InputKind::Slot ? observation.acting.size() : 1;
        expected.value = 0;
        for (std::size_t k = 0; k < answers; ++k)
            expected.value += run(document, *document.critic, tensors, "critic", observation, k, actions).front() /
                              static_cast<double>(answers);
    }
    return expected;
}

}  // namespace subflow::testing
