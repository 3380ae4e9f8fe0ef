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

/// Parses one document, `text` being the piece of the indexed whole that starts at `offset`.
/// With problems, the value is what could be made of the rest.
YamlDocument parse_yaml_document(std::string_view text, std::size_t offset, const LineIndex& lines);

}  // namespace muster::manifest
