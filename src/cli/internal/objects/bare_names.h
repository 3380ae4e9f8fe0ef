#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/internal/connect/connection.h"
#include "cli/internal/objects/object_words.h"
#include "jobs/kind.h"

namespace muster::cli {

/// Whether its objects are jobs.
inline bool is_of_jobs(const ApiResource& resource) {
    return jobs::is_job_resource(resource.type.qualified());
}

/// An object that a bare name means.
struct NamedObject {
    const ApiResource* resource = nullptr;
    kube::ObjectPtr object;
};

/// The kinds whose objects may be called by their name alone: jobs, each kind once, then pods.
Result<std::vector<const ApiResource*>> kinds_of_bare_names(const ResourceCatalog& catalog);

/// A name, and the kinds whose object it may be.
struct PossibleObject {
    std::vector<const ApiResource*> kinds;  ///< of the catalog, never empty
    std::string name;
};
/// What NAME or KIND/NAME means.
Result<PossibleObject> parse_object_name(const std::string& word, const ResourceCatalog& catalog);

/// The first object of that name among the kinds, in the default namespace; `resource` is null if
/// there is none.
Task<Result<NamedObject>> find_named(Connection& connection, std::vector<const ApiResource*> kinds,
                                     std::string name);

/// Like parse_object_words(), but words of which the first means no kind are names of jobs or pods.
/// What is wrong with the words is kInvalid, a name that nothing has kNotFound.
Task<Result<std::vector<Target>>> find_targets(Connection& connection,
                                               const ResourceCatalog& catalog,
                                               std::vector<std::string> words);

}  // namespace muster::cli
