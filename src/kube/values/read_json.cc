#include "kube/values/read_json.h"

#include <boost/json/parse.hpp>

namespace muster::kube {

json::parse_options json_limits() {
    json::parse_options options;
    options.max_depth = kDeepestJson;
    return options;
}

std::optional<json::value> read_json(std::string_view text) {
    json::error_code failed;
    json::value value = json::parse(text, failed, {}, json_limits());
    if (failed) return std::nullopt;
    return value;
}

}  // namespace muster::kube
