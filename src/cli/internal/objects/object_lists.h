#pragma once

#include <string>
#include <vector>

#include "cli/internal/connect/connection.h"
#include "cli/internal/objects/object_options.h"
#include "cli/internal/objects/object_table.h"
#include "cli/internal/objects/object_words.h"

namespace muster::cli {

/// One request for objects: of which kind, where, and which of them.
struct ObjectQuery {
    const ApiResource* resource = nullptr;
    std::string namespace_;  ///< empty: all, or not namespaced
    std::string name;        ///< empty: those that the selectors choose
    std::string label_selector;
    std::string field_selector;
};

/// The requests that a verb's words mean: one for each kind, or for each name. kInvalid for what
/// does not go together.
Result<std::vector<ObjectQuery>> make_queries(const std::vector<Target>& targets,
                                              const ObjectOptions& options,
                                              const std::string& default_namespace);

/// As rows for people, page by page; all of them together.
Task<Result<ObjectTable>> fetch_table(Connection& connection, ObjectQuery query);

/// The objects themselves, with the revision to watch from.
Task<Result<kube::ListResult>> fetch_objects(Connection& connection, ObjectQuery query);

/// The text of a field selector that also chooses one name.
std::string with_name(const std::string& field_selector, const std::string& name);

}  // namespace muster::cli
