#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <map>
#include <string>

#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"
#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// What is left of a namespace that is being deleted.
struct NamespaceContent {
    std::map<std::string, std::size_t> instances = {};     ///< by RESOURCE.GROUP
    std::map<std::string, std::size_t> by_finalizer = {};  ///< how many have it
    std::string undiscovered = {};                         ///< whose kinds are not known, and why
    std::string failure = {};  ///< what could not be deleted or counted, and why

    bool is_gone() const { return instances.empty() && undiscovered.empty() && failure.empty(); }
};

/// Says it in the conditions of the namespace, with the types and reasons of Kubernetes
/// (pkg/controller/namespace/deletion/status_condition_utils.go). What did not change keeps its
/// time.
void set_conditions(json::object& namespace_, const NamespaceContent& left, WallTime now);

/// Writes them. A namespace that is gone is no error.
Task<StatusResult<void>> report_content(ServerState& state, Writer& writer, std::string namespace_,
                                        NamespaceContent left);

}  // namespace muster::apiserver
