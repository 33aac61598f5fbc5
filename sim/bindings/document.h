// Conversion of Python values into a document that the core reads.
#pragma once

#include <nanobind/nanobind.h>

#include "json.h"
#include "scenario_json.h"

namespace subflow::bindings {

struct Document {
    Json json;
    SharedObjects beside;
};

// Converts bool, int, float and str directly, and list, tuple and dict recursively; members that are None are omitted.
// Policies, programs and bytes (uint32 each) are stored beside the document, after the given policies; the bytes must
// outlive the document.
Document document_of(nanobind::handle value, std::vector<std::shared_ptr<const Policy>> policies = {});

}  // namespace subflow::bindings
