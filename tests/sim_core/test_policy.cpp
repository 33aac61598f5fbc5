// Actions of trained policies for given observations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "allocations.h"
#include "policy/kernels.h"
#include "policy/policy_error.h"
#include "policy_files.h"

namespace subflow {
namespace {

using namespace testing;

struct Seen {
    std::vector<float> rows;
    std::vector<std::uint32_t> acting;
    std::uint32_t width;

    Observation observation() const { return {.rows = rows, .width = width, .acting = acting}; }
};

Seen random_rows(std::uint32_t count, std::uint32_t width, std::vector<std::uint32_t> acting, std::uint64_t seed) {
    std::mt19937_64 luck(seed);
    std::normal_distribution<float> normal;
    Seen seen{std::vector<float>(count * width), std::move(acting), width};
    for (float& value : seen.rows) value = normal(luck);
    return seen;
}

NetworkPolicy make_policy(const PolicyDocument& document, const Tensors& tensors) {
    return NetworkPolicy(read_policy_file(file_bytes(document.text, tensors)), fake_agent(!document.choices.empty()));
}

struct Acted {
    std::vector<float> action;
    double value = 0;
};

Acted act(const NetworkPolicy& policy, const Seen& seen) {
    Policy::Workspace space;
    const std::size_t width = policy.document().choices.empty() ? policy.document().actions.size() : 1;
    Acted acted{std::vector<float>(seen.acting.size() * width), 0};
    acted.value = policy.act(seen.observation(), space, acted.action);
    return acted;
}

// Every kind of network, with each kind of critic.
std::vector<PolicyPlan> plans() {
    std::vector<PolicyPlan> all;
    for (const EncoderKind encoder : {EncoderKind::None, EncoderKind::Lstm, EncoderKind::Pool}) {
        for (const InputKind input : {InputKind::Slot, InputKind::Target, InputKind::All}) {
            for (const std::uint32_t history : {1u, 4u}) {
                all.push_back({.encoder = encoder, .input = input, .history = history});
                all.push_back({.encoder = encoder, .input = input, .has_critic = true, .history = history});
                all.push_back({.encoder = encoder,
                               .input = input,
                               .has_critic = true,
                               .critic_takes_action = true,
                               .history = history});
                all.push_back(
                    {.encoder = encoder, .input = input, .has_choices = true, .has_critic = true, .history = history});
            }
        }
    }
    return all;
}

class EveryPlan : public ::testing::TestWithParam<PolicyPlan> {};

TEST_P(EveryPlan, GivesWhatTheFormulasSay) {
    const PolicyDocument document = plan_document(GetParam());
    const Tensors tensors = random_tensors(document, 1);
    const NetworkPolicy policy = make_policy(document, tensors);
    // Fewer rows than slots, as many, and more; rows that are observed but do not act.
    const std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> cases{
        {1, {0}}, {2, {1}}, {3, {0, 1, 2}}, {5, {1, 4}}, {6, {0, 2, 3, 5}}};
    for (const auto& [rows, acting] : cases) {
        const Seen seen = random_rows(rows, document.row_width(), acting, rows);
        const Expected expected = by_the_book(document, tensors, seen.observation());
        const Acted acted = act(policy, seen);
        ASSERT_EQ(acted.action.size(), expected.action.size());
        for (std::size_t i = 0; i < acted.action.size(); ++i)
            EXPECT_NEAR(static_cast<double>(acted.action[i]), expected.action[i], 1e-5) << rows << " " << i;
        if (GetParam().has_critic) {
            EXPECT_NEAR(acted.value, expected.value, 1e-5) << rows;
        } else {
            EXPECT_TRUE(std::isnan(acted.value));
        }
    }
}

TEST_P(EveryPlan, GivesTheSameAgainWithoutAllocating) {
    const PolicyDocument document = plan_document(GetParam());
    const NetworkPolicy policy = make_policy(document, random_tensors(document, 2));
    Policy::Workspace space;
    const std::size_t width = document.choices.empty() ? document.actions.size() : 1;
    const Seen few = random_rows(1, document.row_width(), {0}, 3);
    const Seen many = random_rows(9, document.row_width(), {0, 1, 2, 3, 4, 5, 6, 7, 8}, 4);
    std::vector<float> first(9 * width), again(9 * width);
    policy.act(few.observation(), space, std::span(first).first(width));
    const long before = allocation_count();
    policy.act(many.observation(), space, first);
    policy.act(few.observation(), space, std::span(again).first(width));
    policy.act(many.observation(), space, again);
    EXPECT_EQ(allocation_count(), before);
    EXPECT_EQ(first, again);
}

INSTANTIATE_TEST_SUITE_P(Policy, EveryPlan, ::testing::ValuesIn(plans()));

TEST(Policy, OfAPoolDoesNotCareInWhichOrderSubflowsStand) {
    const PolicyDocument document = plan_document({.encoder = EncoderKind::Pool});
    const NetworkPolicy policy = make_policy(document, random_tensors(document, 5));
    const Seen seen = random_rows(4, 3, {0}, 6);
    Seen moved = seen;
    std::rotate(moved.rows.begin() + 3, moved.rows.begin() + 6, moved.rows.end());
    const Acted a = act(policy, seen), b = act(policy, moved);
    for (std::size_t i = 0; i < a.action.size(); ++i) EXPECT_NEAR(a.action[i], b.action[i], 1e-6f);
}

TEST(Policy, OfAnLstmCaresInWhichOrderSubflowsStand) {
    const PolicyDocument document = plan_document({.encoder = EncoderKind::Lstm});
    const NetworkPolicy policy = make_policy(document, random_tensors(document, 5));
    const Seen seen = random_rows(4, 3, {0}, 6);
    Seen moved = seen;
    std::rotate(moved.rows.begin() + 3, moved.rows.begin() + 6, moved.rows.end());
    EXPECT_NE(act(policy, seen).action, act(policy, moved).action);
}

TEST(Policy, LeavesWhatIsBeyondItsSlotsAlone) {
    for (const InputKind input : {InputKind::Target, InputKind::All}) {
        const PolicyDocument document = plan_document({.input = input, .has_choices = true, .slots = 2});
        const NetworkPolicy policy = make_policy(document, random_tensors(document, 7));
        EXPECT_EQ(policy.slots(), 2u);
        const Acted acted = act(policy, random_rows(3, 3, {0, 1, 2}, 8));
        EXPECT_EQ(acted.action.back(), fake_agent(true).neutral_choice);
    }
    const PolicyDocument document = plan_document({.input = InputKind::Target, .slots = 1});
    const Acted acted = act(make_policy(document, random_tensors(document, 7)), random_rows(2, 3, {0, 1}, 8));
    EXPECT_EQ(acted.action[2], 0);
    EXPECT_EQ(acted.action[3], 2);  // the middle of 0 to 4
}

TEST(Policy, ThatOverflowsDoesNothing) {
    const PolicyDocument document = plan_document({.has_critic = true});
    Tensors tensors = random_tensors(document, 9);
    for (auto& [name, tensor] : tensors) std::ranges::fill(tensor.values, 3e38f);
    // inf - inf in the last layer
    std::vector<float>& last = tensors.at("actor.layers.2.weight").values;
    for (std::size_t i = 0; i < last.size(); i += 2) last[i] = -3e38f;
    std::ranges::fill(tensors.at("critic.layers.2.weight").values, 3e38f);
    Seen seen{{1e3f, 1e3f, 1e3f}, {0}, 3};
    const Acted acted = act(make_policy(document, tensors), seen);
    EXPECT_EQ(acted.action, (std::vector<float>{0, 2}));
    EXPECT_TRUE(std::isnan(acted.value));
}

TEST(Policy, CutsWhatAHeadWithoutTanhGives) {
    PolicyDocument document = plan_document({});
    document.actor.layers.pop_back();
    document.text = document_text(document);
    Tensors tensors = random_tensors(document, 10);
    tensors.at("actor.layers.2.bias").values = {1e4f, -1e4f};
    const Acted acted = act(make_policy(document, tensors), random_rows(1, 3, {0}, 11));
    EXPECT_EQ(acted.action, (std::vector<float>{1, 0}));
}

TEST(Policy, SharesTheEncoderOfAnActorAndACriticThatAreAlikeAndNoOther) {
    const PolicyDocument document =
        plan_document({.encoder = EncoderKind::Lstm, .has_critic = true, .critic_takes_action = true});
    Tensors tensors = random_tensors(document, 12);
    for (const char* part : {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"})
        tensors.at(std::string("critic.encoder.") + part) = tensors.at(std::string("actor.encoder.") + part);
    const Seen seen = random_rows(4, 3, {1, 2}, 13);
    EXPECT_NEAR(act(make_policy(document, tensors), seen).value,
                by_the_book(document, tensors, seen.observation()).value, 1e-5);
    tensors.at("critic.encoder.bias_hh_l0").values[3] += 1;
    EXPECT_NEAR(act(make_policy(document, tensors), seen).value,
                by_the_book(document, tensors, seen.observation()).value, 1e-5);
}

TEST(Policy, FitsOnlyTheAgentAndTheHistoryItWasMadeFor) {
    const PolicyDocument document = plan_document({.history = 2});
    const NetworkPolicy policy = make_policy(document, random_tensors(document, 14));
    EXPECT_EQ(policy.controller(), "fake");
    EXPECT_NO_THROW(policy.require_fit(fake_agent(false), 2));
    EXPECT_THROW(policy.require_fit(fake_agent(false), 1), PolicyError);
    EXPECT_THROW(policy.require_fit(fake_agent(true), 2), PolicyError);
}

TEST(Kernels, FunctionsAreThoseOfTheLibraryToTheLastDigits) {
    constexpr double kUnit = 1.2e-7;  // relative distance of floats, at most
    for (float x = -86; x < 86; x += 0.0371f) {
        std::vector<float> t{x}, s{x};
        hyperbolic_tangent(t);
        sigmoid(s);
        const double wide = static_cast<double>(x);
        EXPECT_NEAR(static_cast<double>(t[0]) / std::tanh(wide), 1, 2 * kUnit) << x;
        EXPECT_NEAR(static_cast<double>(s[0]) * (1 + std::exp(-wide)), 1, 2 * kUnit) << x;
    }
}

TEST(Kernels, FunctionsHoldAtTheEndsOfWhatFloatsAre) {
    const float infinity = std::numeric_limits<float>::infinity();
    std::vector<float> t{-infinity, -1e30f, 0, 1e-30f, 100, infinity, std::nanf("")};
    hyperbolic_tangent(t);
    EXPECT_EQ(std::vector(t.begin(), t.end() - 1), (std::vector<float>{-1, -1, 0, 1e-30f, 1, 1}));
    EXPECT_TRUE(std::isnan(t[6]));
    std::vector<float> s{-infinity, -100, 0, 100, infinity};
    sigmoid(s);
    EXPECT_EQ(s, (std::vector<float>{0, 0, 0.5f, 1, 1}));
    std::vector<float> r{-1, -0.0f, 2, std::nanf("")};
    relu(r);
    EXPECT_EQ(r, (std::vector<float>{0, 0, 2, 0}));
    std::vector<float> p{1000, 999, -1e30f, 1000, 1000};
    softmax(p);
    EXPECT_NEAR(static_cast<double>(std::accumulate(p.begin(), p.end(), 0.0f)), 1, 1e-6);
    EXPECT_EQ(p[2], 0);
}

TEST(Kernels, GiveTheSameToTheBitWhateverTheVectorsOfTheProcessor) {
    if (widest_vectors() == Vectors::Four) GTEST_SKIP() << "this processor has no wider vectors than every other";
    std::mt19937_64 luck(16);
    std::normal_distribution<float> normal(0, 3);
    for (const std::size_t outputs : {1u, 4u, 9u, 32u, 35u, 64u, 96u, 127u, 256u}) {
        for (const std::size_t inputs : {1u, 7u, 130u}) {
            std::vector<float> weight(outputs * inputs), bias(outputs), x(inputs);
            for (auto* values : {&weight, &bias, &x}) std::ranges::generate(*values, [&] { return normal(luck); });
            const Affine affine(weight, bias);
            std::vector<float> four(Affine::padded(outputs)), eight(four.size());
            affine.run(x.data(), four.data(), Vectors::Four);
            affine.run(x.data(), eight.data(), Vectors::Eight);
            EXPECT_EQ(four, eight) << outputs << " " << inputs;
            for (auto* function : {&relu, &hyperbolic_tangent, &sigmoid, &softmax}) {
                std::vector<float> a(bias), b(bias);
                function(a, Vectors::Four);
                function(b, Vectors::Eight);
                EXPECT_EQ(a, b) << outputs;
            }
        }
    }
}

TEST(Kernels, ASumHasOneOrderWhateverTheBlockItsOutputFallsInto) {
    // Output 0 lies in a block of 32 in one matrix and in a vector of four in the other.
    std::mt19937_64 luck(15);
    std::normal_distribution<float> normal;
    std::vector<float> weight(33 * 57), bias(33), x(57);
    for (auto* values : {&weight, &bias, &x}) std::ranges::generate(*values, [&] { return normal(luck); });
    std::vector<float> y(36), y4(4), y1(4);
    Affine(weight, bias).run(x.data(), y.data());
    Affine(std::span(weight).first(4 * 57), std::span(bias).first(4)).run(x.data(), y4.data());
    Affine(std::span(weight).first(57), std::span(bias).first(1)).run(x.data(), y1.data());
    EXPECT_EQ(y[0], y4[0]);
    EXPECT_EQ(y[3], y4[3]);
    EXPECT_EQ(y[0], y1[0]);
    float by_hand = bias[0];
    for (std::size_t i = 0; i < x.size(); ++i) by_hand += x[i] * weight[i];
    EXPECT_EQ(y[0], by_hand);
    EXPECT_EQ(y[33], 0);  // padding
}

}  // namespace
}  // namespace subflow
