#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/requests/status_error.h"
#include "kube/values/json.h"

namespace muster::apiserver {

struct JsonBody {
    kube::ObjectPtr value;
    /// Keys that an object has more than once ("spec.replicas"; the last one counts), in the order
    /// of the text.
    std::vector<std::string> duplicate_fields;
};

/// 400 if it is not JSON, or nested deeper than any object may be. An empty body is null.
StatusResult<JsonBody> parse_json_body(std::string_view text);

}  // namespace muster::apiserver
