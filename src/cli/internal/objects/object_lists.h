#pragma once

#include <string>
#include <vector>

#include "cli/internal/connect/connection.h"
#include "cli/internal/objects/object_options.h"
#include "cli/internal/objects/object_table.h"
#include "cli/internal/objects/object_words.h"

namespace muster::cli {

/// One request for objects: their kind, place, and selection.
struct ObjectQuery {
    const ApiResource* resource = nullptr;
    std::string namespace_;  ///< empty: all, or not namespaced
    std::string name;        ///< empty: those that the selectors match
    std::string label_selector;
    std::string field_selector;
};

/// The requests for a verb's words: one for each kind, or for each name. kInvalid for combinations
/// that don't fit together.
Result<std::vector<ObjectQuery>> make_queries(const std::vector<Target>& targets,
                                              const ObjectOptions& options,
                                              const std::string& default_namespace);

/// Rows for people, fetched page by page.
Task<Result<ObjectTable>> fetch_table(Connection& connection, ObjectQuery query);

/// The objects themselves, with the revision to watch from.
Task<Result<kube::ListResult>> fetch_objects(Connection& connection, ObjectQuery query);

/// One object chosen by the words of a verb.
struct ChosenObject {
    kube::ResourceType type;
    std::string shown;       ///< "pytorchjob.kubeflow.org/digits"
    std::string namespace_;  ///< empty: of the whole cluster
    std::string name;
};

/// The objects of one query. One that is named is not looked up, and need not exist.
Task<Result<std::vector<ChosenObject>>> chosen_by(Connection& connection, ObjectQuery query);

/// The text of a field selector that also selects one name.
std::string with_name(const std::string& field_selector, const std::string& name);

}  // namespace muster::cli
