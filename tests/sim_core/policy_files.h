// Policy files for tests, and their expected results by a reference implementation.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "agent/agent_info.h"
#include "policy/network_policy.h"

namespace subflow::testing {

using Tensors = std::map<std::string, Tensor>;

// An agent of three features and two actions, or three choices.
const AgentInfo& fake_agent(bool has_choices);

// Choices of a test for a file; the rest of the document follows from them.
struct PolicyPlan {
    EncoderKind encoder = EncoderKind::None;
    InputKind input = InputKind::Slot;
    bool has_choices = false;
    bool has_critic = false;
    bool critic_takes_action = false;
    std::uint32_t history = 1;
    std::uint32_t slots = 3;
};

// A document with small layers for the fake agent.
PolicyDocument plan_document(const PolicyPlan& plan);
// The tensors of the document, with normally distributed weights.
Tensors random_tensors(const PolicyDocument& document, std::uint64_t seed);

std::string document_text(const PolicyDocument& document);
// A file as safetensors writes it. `header`: replaces the header of the tensors if given.
std::vector<std::byte> file_bytes(const std::string& document, const Tensors& tensors);
std::vector<std::byte> with_header(const std::string& header, std::size_t data_bytes);

// The same function in double precision, written for clarity.
struct Expected {
    std::vector<double> action;
    double value = 0;
};
Expected by_the_book(const PolicyDocument& document, const Tensors& tensors, const Observation& observation);

}  // namespace subflow::testing
