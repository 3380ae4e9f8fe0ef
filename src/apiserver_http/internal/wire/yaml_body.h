#pragma once

#include <string_view>

#include "apiserver/requests/json_body.h"
#include "apiserver_http/yaml_text.h"

namespace muster::apiserver_http {

/// A body that may be YAML. Most are JSON all the same, which is read as such where it can be: it
/// is quicker, and says which fields come twice.
apiserver::StatusResult<apiserver::JsonBody> parse_yaml_body(std::string_view text,
                                                             const YamlText& yaml);

}  // namespace muster::apiserver_http
