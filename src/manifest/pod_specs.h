#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "jobs/kind.h"
#include "manifest/manifest.h"

namespace muster::manifest {

/// The replica type that a key of a manifest means, in any case of letters; null if unknown.
const jobs::ReplicaType* type_named(const jobs::JobKind& kind, std::string_view key);

/// One pod template (or pod) inside a document, as unchecked JSON.
struct PodSpecRef {
    std::string path;          ///< "spec.pytorchReplicaSpecs.Worker.template.spec"
    std::string replica_type;  ///< canonical; empty for a Pod
    json::object* spec = nullptr;
};

/// The parts that exist and are objects; malformed ones are left to the check.
std::vector<PodSpecRef> pod_specs(Document& document);

/// One container, with init containers first.
struct ContainerRef {
    std::string path;
    bool init = false;
    json::object* container = nullptr;
};
std::vector<ContainerRef> containers(const PodSpecRef& pod);

}  // namespace muster::manifest
