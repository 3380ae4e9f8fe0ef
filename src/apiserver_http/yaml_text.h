#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/values/json.h"

namespace muster::apiserver_http {

/// Converts YAML bodies to values and answers to YAML: the program that starts the server provides
/// the YAML library. Null members: YAML is neither read nor written.
struct YamlText {
    /// One document. kBadRequest if it is not YAML, or JSON can't hold it; a duplicate key is an
    /// error, other than in JSON.
    Result<json::value> (*read)(std::string_view text) = nullptr;
    std::string (*write)(const json::value& value) = nullptr;
};

}  // namespace muster::apiserver_http
