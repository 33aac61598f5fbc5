// Values of Python as a document that the core reads.
#pragma once

#include <nanobind/nanobind.h>

#include "json.h"
#include "scenario_json.h"

namespace subflow::bindings {

struct Document {
    Json json;
    BesideScenario beside;
};

// bool, int, float and str stand for themselves, list, tuple and dict for what they hold; members that are None are
// left out. Policies, programs and bytes (uint32 each) come beside the document, behind the given policies; the bytes
// have to outlive it.
Document document_of(nanobind::handle value, std::vector<std::shared_ptr<const Policy>> policies = {});

}  // namespace subflow::bindings
