#pragma once

#include "apiserver_http/yaml_text.h"

namespace muster::control_plane {

/// YAML of the API's clients, by the reader and writer of manifests.
apiserver_http::YamlText yaml_bodies();

}  // namespace muster::control_plane
