#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kube/values/json.h"
#include "manifest/yaml/source_map.h"
#include "manifest/yaml/yaml_text.h"

namespace muster::manifest {

struct YamlProblem {
    Place place;
    std::string message;
};

struct YamlDocument {
    json::value value;
    SourcePtr places;
    std::vector<YamlProblem> problems;
};

/// Parses one document; `text` is the part of the indexed whole that starts at `offset`. If there
/// are problems, the value is made from the rest.
YamlDocument parse_yaml_document(std::string_view text, std::size_t offset, const LineIndex& lines);

}  // namespace muster::manifest
