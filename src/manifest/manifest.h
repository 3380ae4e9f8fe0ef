#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jobs/conversion.h"
#include "kube/values/json.h"
#include "manifest/problem.h"
#include "manifest/yaml/manifest_limits.h"
#include "manifest/yaml/source_map.h"

namespace muster::manifest {

/// One object of a manifest: its JSON and the place of each part.
struct Document {
    std::string source{};       ///< file name, "-" for standard input
    bool of_directory = false;  ///< the source was found in a directory that was named
    std::string prefix{};       ///< "items[2]" for an item of a List, else empty
    json::value object{};
    SourcePtr places{};  ///< of `object`
    /// Fields that a flag has set: path and flag. Problems with these fields name the flag.
    std::vector<std::pair<std::string, std::string>> overrides{};
    /// For an object that was converted: the original places of its fields. Problems name the field
    /// of the manifest.
    std::vector<jobs::Origin> origins{};

    Problem problem(Severity severity, std::string field, std::string message) const;
    /// The same for a key that should not exist.
    Problem key_problem(Severity severity, std::string field, std::string message) const;
};

struct Manifest {
    std::vector<Document> documents;  ///< without empty and broken ones
    std::vector<Problem> problems;    ///< all errors
};

/// YAML or JSON text with any number of documents; a List is split into its items. Pure: never
/// throws, never recurses deeper than kMaxManifestDepth, and uses memory in proportion to the
/// limits above. A document that can't be parsed is left out, with one problem; the others are
/// read.
Manifest read_manifest(std::string_view text, std::string source);

}  // namespace muster::manifest
