#pragma once

#include <string_view>

#include "apiserver/requests/json_body.h"
#include "apiserver_http/yaml_text.h"

namespace muster::apiserver_http {

/// Parses a body that may be YAML. Most are JSON all the same, and are parsed as such if possible:
/// that is faster, and reports duplicate fields.
apiserver::StatusResult<apiserver::JsonBody> parse_yaml_body(std::string_view text,
                                                             const YamlText& yaml);

}  // namespace muster::apiserver_http
