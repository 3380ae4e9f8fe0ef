#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/kind.h"
#include "kube/objects/resource_type.h"
#include "manifest/manifest.h"

namespace muster::manifest {

struct CheckOptions {
    bool strict = false;           ///< unknown fields are errors
    bool runs_here = false;        ///< what objects do not do on one machine is noted
    bool files_apart = false;      ///< two files may have objects of one name
    jobs::Platform platform = {};  ///< of jobs that run here
};

/// An object that can be posted.
struct CheckedObject {
    Document document;
    kube::ResourceType type;
    std::string namespace_;  ///< "default" where the manifest names none; empty if cluster-scoped
    std::string name;
    std::optional<jobs::Job> job;  ///< defaulted; empty for the built-in kinds
};

struct CheckResult {
    std::vector<CheckedObject> objects;  ///< those without errors, in manifest order
    std::vector<Problem> problems;
};

/// Checks everything about the objects that does not depend on this machine. Pure.
CheckResult check_documents(std::vector<Document> documents, const CheckOptions& options);

}  // namespace muster::manifest
