// Invalid policy files: each is refused with its reason, without side effects.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <locale>

#include "json.h"
#include "policy/policy_error.h"
#include "policy_files.h"

namespace subflow {
namespace {

using namespace testing;

std::vector<std::byte> bytes_of(const std::string& text) {
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

// The error for a refused file; empty if it is accepted.
std::string refusal(const std::vector<std::byte>& file) {
    try {
        NetworkPolicy(read_policy_file(file), fake_agent(false));
    } catch (const PolicyError& error) {
        return error.what();
    }
    return "";
}

void expect_refused(const std::vector<std::byte>& file, const std::string& reason) {
    const std::string message = refusal(file);
    EXPECT_NE(message.find(reason), std::string::npos) << "\"" << message << "\" lacks \"" << reason << "\"";
}

struct Parts {
    PolicyDocument document;
    Tensors tensors;
    std::string text;

    std::vector<std::byte> file() const { return file_bytes(text, tensors); }
    // The file with one word of the document replaced.
    std::vector<std::byte> with(const std::string& old, const std::string& other) const {
        std::string changed = text;
        const std::size_t at = changed.find(old);
        EXPECT_NE(at, std::string::npos) << old;
        return file_bytes(changed.replace(at, old.size(), other), tensors);
    }
};

Parts parts(const PolicyPlan& plan = {.encoder = EncoderKind::Lstm, .has_critic = true}) {
    Parts made{plan_document(plan), {}, {}};
    made.tensors = random_tensors(made.document, 1);
    made.text = made.document.text;
    return made;
}

TEST(PolicyFile, IsReadAsItWasWritten) {
    const Parts good = parts();
    EXPECT_EQ(refusal(good.file()), "");
    EXPECT_EQ(read_policy_file(good.file()).document.text, good.text);
}

TEST(PolicyFile, OfAnotherFormatIsNeverOpened) {
    expect_refused({}, "not a safetensors file: it has only 0 bytes");
    expect_refused(bytes_of("PK\x03\x04 and what torch.save packs"), "a zip archive, as torch.save writes");
    expect_refused(bytes_of(std::string("\x80\x04\x95\x10\0\0\0\0\0\0\0\x8c\x05posix", 19)), "a Python pickle");
    expect_refused(bytes_of(std::string("\x80\x02\0\0\0\0\0\0}q\0(X\x05", 14)), "a Python pickle");
    expect_refused(bytes_of("format = 1\nname = \"a scenario\"\n"), "not a safetensors file: its header would have");
    expect_refused(with_header("[1, 2]", 0), "its header is not a JSON object");
    expect_refused(with_header("{}", 0), "its metadata lack \"subflow_policy\"");
}

TEST(PolicyFile, WithLengthsThatDoNotFitIsRefused) {
    std::vector<std::byte> file = with_header("{}", 0);
    const std::uint64_t beyond = 3, huge = kMaxHeaderBytes + 1, all = ~std::uint64_t{0};
    std::memcpy(file.data(), &beyond, sizeof beyond);
    expect_refused(file, "its header of 3 bytes goes beyond the end");
    std::memcpy(file.data(), &huge, sizeof huge);
    expect_refused(file, "its header would have 1048577 bytes; allowed: 1 MiB");
    std::memcpy(file.data(), &all, sizeof all);
    expect_refused(file, "its header would have");
    expect_refused(std::vector<std::byte>(kMaxPolicyBytes + 1), "larger than 64 MiB");
    std::vector<std::byte> longer = parts().file();
    longer.resize(longer.size() + 4);
    expect_refused(longer, "continues for 4 bytes after its last tensor");
    std::vector<std::byte> shorter = parts().file();
    shorter.resize(shorter.size() - 4);
    expect_refused(shorter, "the file has only");
}

TEST(PolicyFile, WithAWrongHeaderIsRefused) {
    const auto entry = [](const std::string& text) { return with_header("{\"a\":" + text + "}", 8); };
    expect_refused(entry(R"({"dtype":"F64","shape":[1],"data_offsets":[0,8]})"),
                   "tensor \"a\": dtype F64; allowed: F32");
    expect_refused(entry(R"({"shape":[2],"data_offsets":[0,8]})"), "dtype missing; allowed: F32");
    expect_refused(entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"code":"x"})"), "unknown key \"code\"");
    expect_refused(entry(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})"), "shape [3] does not fit its 8 bytes");
    expect_refused(entry(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]})"), "does not fit");
    expect_refused(entry(R"({"dtype":"F32","shape":[0,4294967296],"data_offsets":[0,8]})"), "does not fit");
    expect_refused(entry(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"), "other values than whole numbers");
    expect_refused(entry(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,8]})"), "other values than whole numbers");
    expect_refused(entry(R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})"), "shape is not a list");
    expect_refused(entry(R"({"dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]})"), "shape is not a list");
    expect_refused(entry(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"), "not a range of bytes");
    expect_refused(entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0]})"), "not a pair");
    expect_refused(entry(R"({"dtype":"F32","shape":[4],"data_offsets":[0,16]})"),
                   "ends at byte 16, the file has only 8");
    expect_refused(entry("7"), "its entry in the header is not a table");
    expect_refused(with_header(R"({"__metadata__":[]})", 0), "__metadata__ is not a table");
    expect_refused(with_header(R"({"__metadata__":{"a":1}})", 0), "__metadata__.a is not a text");
    const auto two = [](const std::string& first, const std::string& second) {
        return with_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)" + first +
                               R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + second + "}}",
                           8);
    };
    expect_refused(two("[0,4]", "[0,4]"), "tensor \"b\": its data overlaps");
    expect_refused(two("[4,8]", "[2,6]"), "bytes before its data belong to no tensor");
    expect_refused(two("[0,4]", "[2,6]"), "tensor \"b\": its data overlaps");
    expect_refused(with_header(R"({"a":1,"a":2})", 0), "the key \"a\" occurs twice");
}

TEST(PolicyFile, WithNumbersThatAreNoneIsRefused) {
    Parts bad = parts();
    bad.tensors.at("actor.layers.0.weight").values[7] = std::nanf("");
    expect_refused(bad.file(), "tensor \"actor.layers.0.weight\": NaN as element 7");
    bad.tensors.at("actor.layers.0.weight").values[7] = -std::numeric_limits<float>::infinity();
    expect_refused(bad.file(), "tensor \"actor.layers.0.weight\": infinity as element 7");
}

TEST(PolicyFile, WithOtherTensorsThanItsDocumentSaysIsRefused) {
    Parts bad = parts();
    bad.tensors.erase("critic.encoder.bias_hh_l0");
    expect_refused(bad.file(), "tensor \"critic.encoder.bias_hh_l0\": missing");
    bad = parts();
    bad.tensors["optimizer.step"] = {{1}, {0}};
    expect_refused(bad.file(), "tensor \"optimizer.step\": no layer of the document uses it");
    bad = parts();
    std::swap(bad.tensors.at("actor.layers.0.weight").shape[0], bad.tensors.at("actor.layers.0.weight").shape[1]);
    expect_refused(bad.file(), "tensor \"actor.layers.0.weight\": shape [12, 41]; allowed: [41, 12]");
}

TEST(PolicyFile, WithAnUnusableDocumentIsRefused) {
    const Parts good = parts();
    expect_refused(file_bytes("{", good.tensors), "the document is no usable JSON: expected a key");
    expect_refused(file_bytes("[]", good.tensors), "the document is not a JSON object");
    expect_refused(good.with(R"("format":1)", R"("format":2)"), "format: of another version");
    expect_refused(good.with(R"("format":1,)", ""), "format: missing");
    expect_refused(good.with(R"("name":"fake",)", R"("name":7,)"), "name: expected text");
    expect_refused(good.with(R"("options":{})", R"("options":{},"code":"import os")"), "unknown key \"code\"");
    expect_refused(good.with(R"("card":{})", R"("card":3)"), "card: expected a JSON object");
    expect_refused(good.with(R"("history":1)", R"("history":0)"),
                   "observation.history: expected a whole number from 1");
    expect_refused(good.with(R"("history":1)", R"("history":1.5)"), "observation.history: expected a whole number");
    expect_refused(good.with(R"(["rate","rtt","loss"])", R"(["rate","rtt","rtt"])"),
                   "features[2]: \"rtt\" occurs twice");
    expect_refused(good.with(R"(["rate","rtt","loss"])", "[]"), "observation.features: no feature");
    expect_refused(good.with(R"(["window","share"])", "[]"), "action.names: no action and no choices");
    expect_refused(good.with(R"("choices":[])", R"("choices":["one"])"), "action.choices: only one");
    expect_refused(good.with(R"("type":"lstm")", R"("type":"gru")"),
                   "actor.encoder.type: unknown \"gru\"; allowed: none");
    expect_refused(good.with(R"("hidden":9)", R"("hidden":9,"bidirectional":true)"), "unknown key \"bidirectional\"");
    expect_refused(good.with(R"("hidden":9)", R"("hidden":1e9)"), "actor.encoder.hidden: expected a whole number");
    expect_refused(good.with(R"("input":"slot")", R"("input":"each")"), "actor.input: unknown \"each\"");
    expect_refused(good.with(R"("type":"relu")", R"("type":"gelu")"),
                   "actor.layers[1].type: unknown \"gelu\"; allowed: linear");
    expect_refused(good.with(R"("type":"relu")", R"("type":"softmax")"), "softmax is only for the last layer");
    expect_refused(good.with(R"("type":"relu")", R"("type":"relu","in":3)"), "actor.layers[1]: unknown key \"in\"");
    expect_refused(good.with(R"("type":"tanh")", R"("type":"softmax")"), "softmax is only for the last layer");
    expect_refused(good.with(R"("in":12)", R"("in":13)"), "actor.layers[0].in: 13, but 12 numbers come from before it");
    expect_refused(good.with(R"("out":2)", R"("out":3)"), "actor.layers: they end with 3 numbers; allowed: 2");
    expect_refused(good.with(R"("out":1})", R"("out":2})"), "critic.layers: they end with 2 numbers; allowed: 1");
    expect_refused(good.with(R"(,"takes_action":false)", ""), "critic.takes_action: missing");
    expect_refused(good.with(R"("takes_action":false)", R"("takes_action":0)"), "expected true or false");
}

TEST(PolicyFile, WithAnUnusableEncoderOrInputIsRefused) {
    const Parts pool = parts({.encoder = EncoderKind::Pool, .input = InputKind::All});
    expect_refused(pool.with(R"("layers":[37,6])", R"("layers":[])"), "actor.encoder.layers: no layer");
    expect_refused(pool.with(R"("pool":["max","mean"])", R"("pool":[])"), "neither mean nor max");
    expect_refused(pool.with(R"(["max","mean"])", R"(["max","max"])"), "actor.encoder.pool[1]: occurs twice");
    expect_refused(pool.with(R"(["max","mean"])", R"(["sum"])"), "actor.encoder.pool[0]: unknown \"sum\"");
    expect_refused(pool.with(R"("activation":"tanh")", R"("activation":"softmax")"), "activation: unknown \"softmax\"");
    expect_refused(pool.with(R"("slots":3,)", ""), "actor.slots: missing");
    expect_refused(pool.with(R"("slots":3)", R"("slots":0)"), "actor.slots: expected a whole number from 1 to 256");
    const Parts choices = parts({.has_choices = true, .has_critic = true});
    expect_refused(choices.with(R"("takes_action":false)", R"("takes_action":true)"), "a critic of choices takes none");
}

TEST(PolicyFile, ForAnotherAgentIsRefused) {
    const Parts good = parts();
    expect_refused(good.with(R"("rtt")", R"("queue")"), "observation.features[1]: \"queue\"; this version has \"rtt\"");
    expect_refused(good.with(R"("share")", R"("rate")"), "action.names[1]: \"rate\"; this version has \"share\"");
    // It is read without the name of a controller.
    EXPECT_THROW(read_policy(good.file()), PolicyError);
    const Parts choices = parts({.has_choices = true});
    EXPECT_NE(refusal(choices.file()), "");
}

TEST(PolicyFile, ChangedAnywhereIsReadOrRefusedAndNeverAnythingElse) {
    constexpr std::string_view kMarks = "{}[],:\"\\0123456789eE+-.untrf";  // the characters of JSON
    std::mt19937_64 luck(1);
    int read = 0, refused = 0;
    for (const EncoderKind encoder : {EncoderKind::None, EncoderKind::Lstm, EncoderKind::Pool}) {
        const Parts good = parts({.encoder = encoder, .has_critic = true, .critic_takes_action = true});
        const std::vector<std::byte> original = good.file();
        const std::size_t header = original.size() - 4 * [&] {
            std::size_t count = 0;
            for (const auto& [name, tensor] : good.tensors) count += tensor.values.size();
            return count;
        }();
        for (int round = 0; round < 1500; ++round) {
            std::vector<std::byte> file = original;
            for (std::uint64_t changes = 1 + luck() % 3; changes > 0; --changes) {
                const std::size_t at = luck() % (luck() % 4 == 0 ? file.size() : std::min(header, file.size()));
                switch (luck() % 5) {
                    case 0:
                        file.resize(at + 1);
                        break;
                    case 1:
                        file.erase(file.begin() + static_cast<std::ptrdiff_t>(at));
                        break;
                    case 2:
                        file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), file[luck() % file.size()]);
                        break;
                    case 3:
                        file[at] = static_cast<std::byte>(kMarks[luck() % kMarks.size()]);
                        break;
                    default:
                        file[at] ^= static_cast<std::byte>(1u << (luck() % 8));
                }
            }
            (refusal(file).empty() ? read : refused) += 1;
        }
    }
    EXPECT_GT(refused, 1000);
    EXPECT_GT(read, 50);  // changed weights, mostly
}

TEST(Json, IsReadAsTheStandardSays) {
    const Json json =
        parse_json(" { \"a\" : [1, -2.5e1, true, null, \"x\\n\\u00e9\\ud83d\\ude00\\u0041\"], \"b\":{} } ", "it");
    const auto& list = *json.find("a")->get_if<Json::Array>();
    EXPECT_EQ(*list[0].get_if<double>(), 1);
    EXPECT_EQ(*list[1].get_if<double>(), -25);
    EXPECT_TRUE(*list[2].get_if<bool>());
    EXPECT_TRUE(std::holds_alternative<std::monostate>(list[3].value));
    EXPECT_EQ(*list[4].get_if<std::string>(),
              "x\n\xc3\xa9\xf0\x9f\x98\x80"
              "A");
    EXPECT_TRUE(json.find("b")->get_if<Json::Object>()->empty());
    EXPECT_EQ(json.find("c"), nullptr);
}

TEST(Json, NumbersAreTheNearestDoubleInEveryLocale) {
    struct Comma : std::numpunct<char> {
        char do_decimal_point() const override { return ','; }
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\3"; }
    };
    struct Number {
        const char* text;
        double value;
    };
    const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
    for (const auto& [text, value] :
         {Number{"0", 0}, Number{"0.1", 0.1}, Number{"-12345.678", -12345.678},
          Number{"3.141592653589793", 0x1.921fb54442d18p+1},
          Number{"1.7976931348623157e308", std::numeric_limits<double>::max()},
          Number{"2.2250738585072014E-308", std::numeric_limits<double>::min()},
          Number{"5e-324", std::numeric_limits<double>::denorm_min()}, Number{"0e-999", 0},
          // 2^53 + 1 lies halfway: it rounds to even, and any larger value rounds up.
          Number{"9007199254740993", 0x1p+53},
          Number{"9007199254740993.0000000000000000000000000000000001", 0x1.0000000000001p+53}})
        EXPECT_EQ(*parse_json(text, "it").get_if<double>(), value) << text;
    EXPECT_TRUE(std::signbit(*parse_json("-0.0", "it").get_if<double>()));
    std::locale::global(before);
}

TEST(Json, OfWhichSomethingIsWrongIsRefused) {
    for (const char* text : {"",
                             "{",
                             "[1,]",
                             "[1 2]",
                             "{\"a\"}",
                             "{\"a\":}",
                             "{a:1}",
                             "01",
                             "1.",
                             ".5",
                             "+1",
                             "1e",
                             "-",
                             "NaN",
                             "Infinity",
                             "tru",
                             "\"a",
                             "\"\\x\"",
                             "\"\\u12\"",
                             "\"\\ud800\"",
                             "\"\\udc00\"",
                             "\"\\ud800\\u0041\"",
                             "\"\t\"",
                             "\"\xff\"",
                             "\"\xc0\x80\"",
                             "\"\xed\xa0\x80\"",
                             "\"\xf4\x90\x80\x80\"",
                             "\"\xe2\x82\"",
                             "1e999",
                             "-1e999",
                             "1e-999",
                             "{\"a\":1,\"a\":2}",
                             "1 2",
                             "'a'"})
        EXPECT_THROW(parse_json(text, "it"), JsonError) << text;
    EXPECT_THROW(parse_json(std::string(100'000, '['), "it"), JsonError);
    std::string many = "[0";
    for (int i = 0; i < 100'000; ++i) many += ",0";
    EXPECT_THROW(parse_json(many + "]", "it"), JsonError);
    EXPECT_NO_THROW(parse_json(many + "]", "it", 200'000));
}

}  // namespace
}  // namespace subflow
