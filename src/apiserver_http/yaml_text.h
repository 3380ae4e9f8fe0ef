#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/values/json.h"

namespace muster::apiserver_http {

/// How bodies in YAML become values and answers become YAML: the YAML library is at home with
/// whoever starts the server. Null members: YAML is neither read nor written.
struct YamlText {
    /// One document. kBadRequest for what is not YAML, and for what JSON can't hold; a key that is
    /// there twice is such a fault, other than in JSON.
    Result<json::value> (*read)(std::string_view text) = nullptr;
    std::string (*write)(const json::value& value) = nullptr;
};

}  // namespace muster::apiserver_http
