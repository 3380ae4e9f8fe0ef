#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"
#include "cli/internal/run/views.h"
#include "kube/client/client.h"
#include "kube/objects/resource_type.h"
#include "kube/values/json.h"
#include "manifest/check.h"

namespace muster::cli {

/// Jobs (and bare pods) of a run, their pods and the events about them, as they were last seen.
struct RunObjects {
    std::vector<kube::ObjectPtr> jobs;
    std::vector<kube::ObjectPtr> pods;  ///< bare ones, too
    std::vector<kube::ObjectPtr> events;

    /// The pods that a job's name labels. Pure.
    std::vector<kube::ObjectPtr> pods_of(const json::value& job) const;
};

/// Where the objects of a run are on its server.
struct RunPlace {
    kube::ResourceType type;
    std::string namespace_;
    std::string name;
};
/// Of the manifest's workloads.
std::vector<RunPlace> places_of(const std::vector<manifest::CheckedObject>& objects);

/// What is there now; those that are gone are left out.
Task<Result<RunObjects>> collect_run_objects(kube::Client& client, std::vector<RunPlace> places);

/// The text of `objects.json`, and back. Pure. kInvalid: it is not such a text.
std::string to_text(const RunObjects& objects);
Result<RunObjects> run_objects(std::string_view text);

}  // namespace muster::cli
