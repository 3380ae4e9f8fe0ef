#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/objects/resource_type.h"
#include "kube/schema/schema.h"

namespace muster::cli {

/// A kind whose fields can be explained.
struct KindWithFields {
    kube::ResourceType type;
    std::vector<std::string> short_names;
    kube::Schema::Ptr schema;  ///< of the whole object
    /// Keys of maps whose keys have a meaning of their own, besides that of their values: the
    /// replica types.
    std::vector<std::string> known_keys;
};

/// The job kinds, with the stored version of each first, and the built-in kinds.
std::vector<KindWithFields> kinds_with_fields();

/// The page about a kind or one of its fields, in the form of `kubectl explain`. Lists and maps
/// take no index in the path; a map may have one of its keys. `api_version` selects one of the
/// versions of a kind, "" the first. kNotFound says what was probably meant. Pure.
Result<std::string> field_page(const std::vector<KindWithFields>& kinds, std::string_view path,
                               std::string_view api_version, bool recursive);

}  // namespace muster::cli
