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
// Policies, programs and bytes (arrays of uint32) are appended to the lists of `beside`, and the JSON contains their
// positions; `policies` come first. The bytes must outlive the document. Throws nb::type_error for any other type.
Document document_of(nanobind::handle value, std::vector<std::shared_ptr<const Policy>> policies = {});

}  // namespace subflow::bindings
