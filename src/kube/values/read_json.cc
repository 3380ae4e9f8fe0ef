#include "kube/values/read_json.h"

#include <boost/json/parse.hpp>

namespace muster::kube {

std::optional<json::value> read_json(std::string_view text) {
    json::parse_options options;
    options.max_depth = kDeepestJson;
    json::error_code failed;
    json::value value = json::parse(text, failed, {}, options);
    if (failed) return std::nullopt;
    return value;
}

}  // namespace muster::kube
